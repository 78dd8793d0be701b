"""What the sensors of a platform's legs measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.capabilities import Sensors
from tauforge.robots.records import Sensor
from tauforge.robots.stewart.pose_search import default_guess

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform


@ours
class LegSensors(Sensors):
    """The lengths of the legs."""

    robot: StewartPlatform

    quantities = tuple(Sensor(f"l{i}", "m") for i in range(1, LEGS + 1))

    def motion(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        moved = self.robot.leg_motion(position, velocity)
        return moved.lengths, moved.rates

    def poses(self, measured: Array, guess: ArrayLike | None = None) -> Array:
        return self.robot.track(measured, default_guess(self.robot, measured[0]) if guess is None else guess)

    def check_guess(self, guess: ArrayLike | None) -> None:
        """Several poses have the same lengths."""
