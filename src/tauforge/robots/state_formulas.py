"""The state of a robot over any scalars, so that an integrator's steps can be recorded and compiled with a law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tauforge.algebra.scalars import Scalar
from tauforge.evaluation.functions import choices, flat, results_of

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot

Scalars = Sequence[Scalar]
Loads = Mapping[str, Any]


class Judged(NamedTuple):
    """Values of a state or of its rates, and where they are good.

    doubts:      they are good where all of these are below 1
    preferences: the robot's own methods know a better way where one of these is not below 1. They lose digits as it
                 grows, and are good up to `ALONE` where there is no other way
    """

    values: list[Scalar]
    doubts: tuple[Scalar, ...] = ()
    preferences: tuple[Scalar, ...] = ()


ALONE = 50.0  # of preferences, where formulas cannot leave a state to methods: on a GPU, and for gradients


class StateFormulas(Protocol):
    """`StateSpace` over any scalars. y is a flat list, `model` what the robot's formulas take first.

    1. `parts` are the names of the parts of y, and how many numbers each has: they are arguments of kernels.
    2. `packed` makes y from a position and a velocity, `position` and `velocity` take it apart.
    3. `rates` gives y' under actuator forces and with loads, such as a payload.
    4. `renewed` puts right what a step leaves.
    Rows that are not good take that step by `Robot.state_rates` and `StateSpace.renewed`.
    """

    @property
    def parts(self) -> Mapping[str, int]: ...

    def packed(self, model: Any, position: Scalars, velocity: Scalars) -> list[Scalar]: ...

    def position(self, model: Any, y: Scalars) -> list[Scalar]: ...

    def velocity(self, y: Scalars) -> list[Scalar]: ...

    def rates(self, model: Any, y: Scalars, force: Scalars, loads: Loads) -> Judged: ...

    def renewed(self, model: Any, y: Scalars) -> Judged: ...


class PlainFormulas:
    """y = position, velocity, where velocities are the rates of the coordinates."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.n = robot, robot.n

    @property
    def parts(self) -> Mapping[str, int]:
        return {"q": self.n, "qd": self.n}

    def packed(self, model: Any, position: Scalars, velocity: Scalars) -> list[Scalar]:
        return [*position, *velocity]

    def position(self, model: Any, y: Scalars) -> list[Scalar]:
        return list(y[: self.n])

    def velocity(self, y: Scalars) -> list[Scalar]:
        return list(y[self.n :])

    def rates(self, model: Any, y: Scalars, force: Scalars, loads: Loads) -> Judged:
        q, qd = y[: self.n], y[self.n :]
        return Judged([*qd, *formula_results(self.robot, "forward_dynamics", model, q, qd, force, loads=loads)])

    def renewed(self, model: Any, y: Scalars) -> Judged:
        return Judged(list(y))


def formula_results(robot: Robot, name: str, model: Any, *arguments: Any, loads: Loads | None = None) -> list[Scalar]:
    """A formula's results for a plain call, one after another. loads: its optional arguments, by name"""
    function = robot.functions[name]
    given = {argument.name: list(x) for argument, x in zip(function.arguments, arguments, strict=True)}
    return flat(results_of(function.formula(model, **given, **(loads or {}), **choices(function.options)[0])))
