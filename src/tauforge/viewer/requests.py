"""What the panels and the handle may ask of a session."""

from __future__ import annotations

from typing import Any, Protocol

from tauforge.arrays import Array
from tauforge.robots.robot import Robot
from tauforge.viewer.evaluation import Evaluation, State
from tauforge.viewer.playback import Clip, Clock
from tauforge.viewer.scene import Shown


class Requests(Protocol):
    """None of these waits: what is asked for is shown a little later, by the session's own thread."""

    robot: Robot
    evaluation: Evaluation

    @property
    def state(self) -> State: ...

    @property
    def clip(self) -> Clip | None: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def has_shapes(self) -> bool: ...

    def change(self, group: str, k: int, value: float) -> None:
        """One coordinate, or one number of velocity or acceleration."""

    def load(self, **changes: Any) -> None:
        """Payload, gravity or formulation."""

    def reset_loads(self) -> None:
        """The robot as it was given: no payload, its own gravity and formulation."""

    def show(self, shown: Shown) -> None:
        """Another choice of what is visible."""

    def rest(self, home: bool = False) -> None:
        """Without velocity and acceleration; home: in the position of pictures."""

    def drag(self, pose: Array) -> None:
        """The moved body towards a pose (4, 4)."""

    def let_go(self) -> None:
        """The hand has let go of the moved body."""

    def choose(self, clip: Clip) -> None:
        """Another clip, from its start."""

    def play(self, playing: bool) -> None:
        """From where the clock is, or stop there."""

    def go(self, when: float) -> None:
        """To a time of the clip, s."""

    def set_speed(self, speed: float) -> None:
        """How fast the clock goes, beside real time."""
