"""The state of a robot as one vector for the integrators; and over any scalars, for steps that are compiled with a law.

States are (m,) or (..., m).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.functions import Doubtful, choices, flat, results_of
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Capability, Fields
from tauforge.robots.formulations import WRENCH

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot

NO_FIELDS: Fields = {}


@ours
class StateSpace(Capability):
    """y and what it means.

    1. `pack` makes y from a position and a velocity, `position` and `velocity` take it apart.
    2. `rates` gives y' from y and the acceleration; `velocity` of y' is that acceleration.
    3. `renewed` puts right what rounding does to y between two steps, such as the length of a quaternion.
    4. `rates_under` gives y' under actuator forces; `formulas` are all of these over any scalars.
    """

    @abstractmethod
    def pack(self, position: Array, velocity: Array) -> Array: ...

    @abstractmethod
    def position(self, y: Array) -> Array: ...

    @abstractmethod
    def velocity(self, y: Array) -> Array: ...

    @abstractmethod
    def rates(self, y: Array, acceleration: Array) -> Array: ...

    def renewed(self, y: Array) -> Array:
        return y

    def rates_under(self, y: Array, force: Array, wrench: Array | None = None, fields: Fields = NO_FIELDS) -> Array:
        """y' under actuator forces and an external wrench (..., 6).

        fields: varying fields (..., *core) instead of the robot's own
        """
        if fields:
            raise UnsupportedFeatureError(f"the fields of {self.robot.name} cannot vary here", field="varying")
        if wrench is not None and not self.robot.formulations.take_wrench:
            raise UnsupportedFeatureError(f"{self.robot.name} takes no external wrench", field="wrench")
        loads = {} if wrench is None else {WRENCH: wrench}
        return self.rates(y, self.robot.forward_dynamics(self.position(y), self.velocity(y), force, **loads))

    @property
    def formulas(self) -> StateFormulas | None:
        """The state over any scalars, for compiled steps; None where steps are not compiled."""
        return None

    def start_refusals(self, position: Array, velocity: Array, fields: Fields) -> dict[int, str]:
        """Reasons why no motion starts at rows of positions (k, N) and velocities (k, n), by row number.

        fields: varying, (k, ...) each, instead of the robot's own
        """
        return {}

    def coordinates_used(self, position: Array) -> list[tuple[str, ...]] | None:
        """Names of the coordinates that `rates_under` computes by at positions (k, N); None if they never change."""
        return None


@ours
class PlainState(StateSpace):
    """y = position, velocity, where velocities are the rates of the coordinates."""

    def pack(self, position: Array, velocity: Array) -> Array:
        return np.concatenate([position, velocity], axis=-1)

    def position(self, y: Array) -> Array:
        return y[..., : y.shape[-1] // 2]

    def velocity(self, y: Array) -> Array:
        return y[..., y.shape[-1] // 2 :]

    def rates(self, y: Array, acceleration: Array) -> Array:
        return np.concatenate([self.velocity(y), acceleration], axis=-1)

    @property
    def formulas(self) -> StateFormulas | None:
        return PlainFormulas(self.robot) if type(self) is PlainState else None


Loads = Mapping[str, Any]


class Judged(NamedTuple):
    """Values of a state or of its rates, and where they are good.

    doubts:      they are good where all of these are below 1
    preferences: the robot's own methods know a better way where one of these is not below 1. They lose digits as it
                 grows, and are good up to `ALONE` where there is no other way
    suspicions:  the robot's own methods look closer where one of these is not below 1, if there are any
    """

    values: list[Scalar]
    doubts: tuple[Scalar, ...] = ()
    preferences: tuple[Scalar, ...] = ()
    suspicions: tuple[Scalar, ...] = ()


ALONE = 50.0  # of preferences, where formulas cannot leave a state to methods: on a GPU, and for gradients


class StateFormulas(Protocol):
    """`StateSpace` over any scalars. y is a flat list, `model` what the robot's formulas take first.

    1. `parts` are the names of the parts of y, and how many numbers each has: they are arguments of kernels.
    2. `packed` makes y from a position and a velocity, `position` and `velocity` take it apart.
    3. `rates` gives y' under actuator forces and with loads, such as a payload.
    4. `renewed` puts right what a step leaves.
    5. `at` is `Positions.at`, from a position that is near.
    6. `float64_for` says what float32 would not do; empty where it will do.
    Rows that are not good take that step by `StateSpace.rates_under` and `renewed`.
    """

    float64_for: str

    @property
    def parts(self) -> Mapping[str, int]: ...

    def packed(self, model: Any, position: Scalars, velocity: Scalars) -> list[Scalar]: ...

    def position(self, model: Any, y: Scalars) -> list[Scalar]: ...

    def velocity(self, y: Scalars) -> list[Scalar]: ...

    def rates(self, model: Any, y: Scalars, force: Scalars, loads: Loads) -> Judged: ...

    def renewed(self, model: Any, y: Scalars) -> Judged: ...

    def at(self, model: Any, coordinates: Scalars, near: Scalars) -> Judged: ...


class PlainFormulas:
    """y = position, velocity, where velocities are the rates of the coordinates."""

    float64_for = ""

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
        found = judged_results(self.robot, "forward_dynamics", model, q, qd, force, loads=loads)
        return found._replace(values=[*qd, *found.values])

    def renewed(self, model: Any, y: Scalars) -> Judged:
        return Judged(list(y))

    def at(self, model: Any, coordinates: Scalars, near: Scalars) -> Judged:
        return Judged(list(coordinates))


def judged_results(
    robot: Robot,
    name: str,
    model: Any,
    *arguments: Any,
    loads: Loads | None = None,
    options: Mapping[str, Any] | None = None,
) -> Judged:
    """A formula's results, one after another, and a suspicion where its function has a guard.

    loads:   its optional arguments, by name
    options: those that are not as in a plain call
    """
    function = robot.functions[name]
    given = {argument.name: list(x) for argument, x in zip(function.arguments, arguments, strict=True)}
    chosen = choices(function.options)[0] | dict(options or {})
    found = function.formula(model, **given, **(loads or {}), **chosen)
    if function.guard is None or not isinstance(found, Doubtful):
        return Judged(flat(results_of(found)))
    return Judged(flat(found.results), suspicions=(found.doubt() * (1.0 / function.guard.limit),))


def formula_results(robot: Robot, name: str, model: Any, *arguments: Any, loads: Loads | None = None) -> list[Scalar]:
    """The results alone."""
    return judged_results(robot, name, model, *arguments, loads=loads).values
