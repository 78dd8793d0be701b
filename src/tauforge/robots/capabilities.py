"""Capabilities: objects for what only some robots can do, or do in their own way. None stands for a missing one.

A robot makes each of them once. Callers need nothing but their methods, and raise or skip where one is None.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalars
from tauforge.arrays import Array
from tauforge.class_tools import Weakly, computed_once
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.evaluation.arguments import as_argument, finite_rows
from tauforge.evaluation.unmodified import ours
from tauforge.robots.records import Dampers, DesignParameter, Limit, LimitedQuantity, Sensor
from tauforge.validation import check_known, real_array

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot

Fields = Mapping[str, Array]


@ours
class Capability:
    """Something that a robot can do."""

    def __init__(self, robot: Any) -> None:
        self._robot = Weakly(robot)

    @property
    def robot(self) -> Any:
        """The robot, which keeps this."""
        return self._robot()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.robot,)


# ------------------------------------------------------------------------------------------------------------- bounds


@ours
class Bounds(Capability):
    """The limits of positions and of motions; by default those of the coordinates."""

    def quantities(self, position: Array, velocity: Array) -> list[LimitedQuantity]:
        """All that has a limit, along states (k, n), with names for events and messages."""
        robot, found = self.robot, list[LimitedQuantity]()

        def add(name: str, values: Array, lower: float, upper: float, unit: str, phrase: str) -> None:
            found.append(LimitedQuantity(name, values, lower, upper, unit, lambda _: phrase))

        rates = {c: i for i, c in enumerate(robot.coordinates)}
        for i, c in enumerate(robot.positions.entries):
            moves = "turns" if c.turns else "slides"
            if np.isfinite([c.lower, c.upper]).any():
                add(f"limit of {c.name}", position[..., i], c.lower, c.upper, c.unit, f"{c.name} {moves} to")
            if np.isfinite(c.max_speed) and c in rates:
                speed = np.abs(velocity[..., rates[c]])
                add(f"speed of {c.name}", speed, -c.max_speed, c.max_speed, f"{c.unit}/s", f"{c.name} {moves} at")
        return found

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Those of the position alone."""
        found = []
        for i, bound, sense in self._limited:
            c, side = self.robot.positions.entries[i], "below" if sense < 0 else "above"
            found.append(Limit(f"{c.name} is {side} its range", c.name, c.unit, bound, sense, c.name))
        return tuple(found)

    def margins(self, position: ArrayLike) -> Array:
        """(..., k) how far positions (..., n) are from each of `limits`: positive where it holds."""
        known = as_argument("position", position, self.robot.positions.size, "one for each coordinate")
        places, bounds, senses = self._numbers.astype(known.dtype)
        margins = senses * (bounds - known[..., places.astype(int)])
        return np.where(finite_rows({"position": known})[..., None], margins, np.array(np.nan, known.dtype))

    def formula(self, model: Any, position: Scalars, *, signs: bool = False) -> Scalars:
        """The margins over any scalar, of a model as `varied_model` gives it; signs: only their signs matter."""
        return [sense * (bound - position[i]) for i, bound, sense in self._limited]

    @computed_once
    def _numbers(self) -> Array:
        """(3, k) `_limited`, column by column."""
        return np.array(self._limited, float).reshape(-1, 3).T

    @computed_once
    def _limited(self) -> list[tuple[int, float, int]]:
        """(place in a position, bound, sense) of each of `limits`."""
        return [
            (i, bound, sense)
            for i, c in enumerate(self.robot.positions.entries)
            for bound, sense in ((c.lower, -1), (c.upper, 1))
            if np.isfinite(bound)
        ]


# -------------------------------------------------------------------------------------------------------- dissipation


@ours
class Dissipation(Capability):
    """Energy losses in the robot itself, such as friction of its joints."""

    @property
    def takes_energy(self) -> bool:
        """True if energy is lost with the robot's own numbers."""
        return True

    @property
    def jumps(self) -> bool:
        """True if friction is discontinuous at rest."""
        return False

    def dampers(self, fields: Fields) -> Dampers | None:
        """Smoothed Coulomb friction, with varying fields (k, ...) instead of the robot's own; None if there is none."""
        return None

    def check_integrable(self, fields: Fields) -> None:
        """ModelError where no integrator gets past the friction, with these fields varying."""

    def smoothed(self, speed: float) -> Robot:
        """The same robot with Coulomb friction that is smoothed over a speed, rad/s or m/s."""
        raise UnsupportedFeatureError(f"{self.robot.name} has no Coulomb friction to smooth", field="coulomb_speed")


@ours
class JointFriction(Dissipation):
    """Friction of a robot's `joints`, with its `coulomb_speed`."""

    @property
    def takes_energy(self) -> bool:
        return any(joint.viscous or any(joint.coulomb) for joint in self.robot.joints)

    @property
    def jumps(self) -> bool:
        return not self.robot.coulomb_speed and any(any(joint.coulomb) for joint in self.robot.joints)

    def check_integrable(self, fields: Fields) -> None:
        if self.jumps or ("coulomb" in fields and not self.robot.coulomb_speed):
            problem = f"{self.robot.name} has Coulomb friction, which is discontinuous at rest and cannot be integrated"
            remedy = "Smooth it, for example by replace(coulomb_speed=0.01)"
            raise ModelError(problem, field="coulomb_speed", remedy=remedy)

    def smoothed(self, speed: float) -> Any:
        return self.robot.replace(coulomb_speed=speed)


# ------------------------------------------------------------------------------------------------------------ designs


@ours
class Designs(Capability, ABC):
    """The numbers that a designer chooses, and the robots with other values of them."""

    @property
    @abstractmethod
    def parameters(self) -> tuple[DesignParameter, ...]:
        """Such as radii and lengths, with the robot's own values."""

    @abstractmethod
    def _fields(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """`fields` of values that were checked, arrays (...) that broadcast."""

    def fields(self, values: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """The varying fields (..., *core) of robots with these values (...) of design parameters.

        Identity: `replace` with one row of the fields is `redesign` with one value of each parameter.
        """
        known, found = {parameter.name: parameter for parameter in self.parameters}, {}
        for name, given in values.items():
            check_known(name, known, f"{name!r} is no design parameter", "design")
            value = real_array(name, given)
            if not np.isfinite(value).all():
                raise ModelError("expected finite numbers", field=name)
            if not (value > known[name].above).all():
                raise ModelError(f"expected numbers > {known[name].above:g}, got {value.min():g}", field=name)
            found[name] = value
        return self._fields(found)

    def redesign(self, **values: float) -> Any:
        """The same robot with other values of design parameters."""
        return self.robot.replace(**{field: value.tolist() for field, value in self.fields(values).items()})


def design_parameters(robot: Robot) -> dict[str, DesignParameter]:
    """By name; none where nothing of the robot can be designed."""
    return {parameter.name: parameter for parameter in robot.designs.parameters} if robot.designs else {}


# ------------------------------------------------------------------------------------------------------------ sensors


@ours
class Sensors(Capability):
    """Measurements at the actuators; by default actuators move as the coordinates do, one by one."""

    @property
    def quantities(self) -> tuple[Sensor, ...]:
        """One for each number that `motion` gives first."""
        return tuple(Sensor(c.column, c.unit) for c in self.robot.coordinates)

    def motion(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        """The actuators' own coordinates and their rates, (..., m) each: joint angles, lengths of legs."""
        return position, velocity

    def poses(self, measured: Array, guess: ArrayLike | None = None) -> Array:
        """Poses (k, 6) of the moved body from what is measured, (k, m), row after row.

        guess: (6,) a pose near the first, for robots that `check_guess` lets pass
        """
        raise UnsupportedFeatureError(f"{self.robot.name} has no forward kinematics", field="forward_kinematics")

    def check_guess(self, guess: ArrayLike | None) -> None:
        """UnsupportedFeatureError for a guess where what is measured determines the poses."""
        if guess is not None:
            raise UnsupportedFeatureError(
                f"{self.robot.name} needs no guess: what its sensors measure determines the pose", field="guess"
            )
