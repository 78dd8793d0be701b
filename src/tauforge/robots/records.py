"""Data that robots give about themselves: coordinates, actuators, sensors, limits, friction, and their sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs


@with_field_docs
class Coordinate(NamedTuple):
    """One entry of a robot's position, and the names of its columns in files.

    name:                what people call it, such as a joint's name
    unit:                "rad" or "m"
    column:              of the position, such as "q1"
    velocity_column:     of the velocity, such as "qd1"
    acceleration_column: of the acceleration, such as "qdd1"
    lower:               limit, infinite where there is none
    upper:               limit, infinite where there is none
    max_speed:           rad/s or m/s, infinite where there is no limit
    wraps:               whether it is an angle that a full turn leaves unchanged: then errors go the short way round
    """

    name: str
    unit: str
    column: str
    velocity_column: str
    acceleration_column: str
    lower: float = -np.inf
    upper: float = np.inf
    max_speed: float = np.inf
    wraps: bool = False

    @property
    def turns(self) -> bool:
        """True for an angle."""
        return self.unit == "rad"

    @property
    def usual_range(self) -> tuple[float, float]:
        """Its limits; one that is missing is a turn or 1 m beyond the other, -pi to pi stand for both."""
        bounded, reach = np.isfinite([self.lower, self.upper]), 2 * np.pi if self.turns else 1.0
        if not bounded.any():
            return -np.pi, np.pi
        return (self.lower if bounded[0] else self.upper - reach), (self.upper if bounded[1] else self.lower + reach)


@with_field_docs
class Actuator(NamedTuple):
    """An actuator of a robot.

    name:      such as a joint's name, or "leg1"
    unit:      of its force: "N m" or "N"
    column:    of its force in files, such as "tau1"
    max_force: N m or N, infinite where there is no limit
    label:     what tables and sentences call it, such as "leg 1"; "" where that is its name
    """

    name: str
    unit: str
    column: str
    max_force: float = np.inf
    label: str = ""

    @property
    def words(self) -> str:
        """Its name in tables and sentences."""
        return self.label or self.name


@with_field_docs
class Sensor(NamedTuple):
    """A quantity that is measured at an actuator.

    column: of its values in files, such as "q1" or "l1"
    unit:   "rad" or "m"
    """

    column: str
    unit: str


@with_field_docs
class Limit(NamedTuple):
    """A limit of positions: one side of the range of one quantity.

    name:     what is wrong beyond it, such as "leg 3 is too long"
    kind:     what legends call all limits of its kind, such as "stroke"
    unit:     of the quantity and of the margin: "m" or "rad"
    bound:    of the quantity
    sense:    1 where the bound is the largest allowed value, -1 where it is the smallest
    quantity: such as "the length of leg 3"
    """

    name: str
    kind: str
    unit: str
    bound: float
    sense: int
    quantity: str

    def value(self, margin: Array) -> Array:
        """The quantity, from its margin."""
        return self.bound - self.sense * margin


@with_field_docs
class DesignParameter(NamedTuple):
    """A number that a designer chooses, such as a radius.

    name:    such as "base_radius"
    unit:    SI, such as "m"
    value:   of the robot itself
    meaning: what is measured, in a line
    above:   values must be larger than that
    """

    name: str
    unit: str
    value: float
    meaning: str
    above: float = -np.inf


class LimitedQuantity(NamedTuple):
    """Something that a motion may take beyond its limits.

    name:         what events call it, such as "limit of shoulder"
    values:       (...) along the motion
    lower, upper: its limits
    unit:         of all of them
    phrase:       phrase(k) begins a sentence about row k that the value ends: "shoulder turns to"
    """

    name: str
    values: Array
    lower: float
    upper: float
    unit: str
    phrase: Callable[[int], str]

    @property
    def margin(self) -> Array:
        """(...) positive where the limits hold."""
        return np.minimum(self.values - self.lower, self.upper - self.values)


class Dampers(NamedTuple):
    """Friction of every coordinate, (..., n).

    coulomb: N m or N, the largest friction
    viscous: N m s/rad or N s/m
    speed:   rad/s or m/s, over which Coulomb friction is smoothed
    """

    coulomb: Array
    viscous: Array
    speed: float

    def slopes(self) -> Array:
        """The largest slopes of the friction about rest."""
        return np.asarray(self.coulomb / self.speed + self.viscous)


class KnownException(NamedTuple):
    """A body whose unphysical inertia is as published: it loads without a warning."""

    body: str
    reason: str


class Source(NamedTuple):
    """Publication that parameters of a catalogue entry come from."""

    fields: tuple[str, ...]
    source: str
    note: str = ""
