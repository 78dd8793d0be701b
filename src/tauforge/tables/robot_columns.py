"""The names of columns in CSV files: one convention for motions that are read and results that are written.

time [s], and of an arm with n joints
    q1 [rad] ... qn      coordinates, prismatic ones in m
    qd1 [rad/s] ...      rates
    qdd1 [rad/s^2] ...   accelerations
    tau1 [N m] ...       actuator forces, prismatic ones in N
of a platform
    x, y, z [m], theta_x, theta_y, theta_z [rad]                          pose
    v_x, v_y, v_z [m/s], omega_x, omega_y, omega_z [rad/s]                twist
    a_x, a_y, a_z [m/s^2], alpha_x, alpha_y, alpha_z [rad/s^2]            acceleration
    l1 [m] ... l6, f1 [N] ... f6                                          leg lengths and forces
A mechanism has an arm's columns for its independent coordinates and actuators; recordings have x2 ... for other entries
of its positions, numbered by their place.
Desired quantities have the same names with the prefix `target_`. A file that is read may name the columns of an arm
after its joints: `shoulder [deg]`, `shoulder_velocity [deg/s]`, `shoulder_acceleration [deg/s^2]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tauforge.robots.robot import Robot
from tauforge.tables.table import CsvColumn, CsvTable
from tauforge.units import UNITS

TIME = CsvColumn("time", "s")
AXIS_NAMES = ("x", "y", "z")
POSE = (*(CsvColumn(axis, "m") for axis in AXIS_NAMES), *(CsvColumn(f"theta_{axis}", "rad") for axis in AXIS_NAMES))
JOINT_NAME_ENDINGS = ("", "_velocity", "_acceleration")  # of columns that are named after a joint
GROUP_UNITS = (("rad", "m"), ("rad/s", "m/s"), ("rad/s^2", "m/s^2"), ("N m", "N"))  # units, in the order of `Columns`
RATE_ENDINGS = ("", "/s", "/s^2")  # after the unit of a coordinate
Units = dict[str, str | None]  # of the columns of a file, in SI


class Columns(NamedTuple):
    """Columns of a robot's coordinates, their rates and its actuator forces."""

    position: tuple[CsvColumn, ...]
    velocity: tuple[CsvColumn, ...]
    acceleration: tuple[CsvColumn, ...]
    force: tuple[CsvColumn, ...]

    @property
    def target_position(self) -> tuple[CsvColumn, ...]:
        return _targets(self.position)

    @property
    def target_velocity(self) -> tuple[CsvColumn, ...]:
        return _targets(self.velocity)

    @property
    def names(self) -> set[str]:
        """Names of all columns but targets."""
        return {column.name for group in self for column in group}


def _targets(columns: Sequence[CsvColumn]) -> tuple[CsvColumn, ...]:
    return tuple(column._replace(name=f"target_{column.name}") for column in columns)


def _numbered(letters: str, units: Sequence[str]) -> tuple[CsvColumn, ...]:
    return tuple(CsvColumn(f"{letters}{i}", unit) for i, unit in enumerate(units, 1))


def arm_columns(units: Sequence[str]) -> Columns:
    """units: of the joints' coordinates, rad or m."""
    q, qd, qdd = (_numbered(f"q{'d' * k}", [unit + rate for unit in units]) for k, rate in enumerate(RATE_ENDINGS))
    return Columns(q, qd, qdd, _numbered("tau", ["N m" if unit == "rad" else "N" for unit in units]))


def _vector(linear: str, angular: str, per: str) -> tuple[CsvColumn, ...]:
    parts = ((linear, "m"), (angular, "rad"))
    return tuple(CsvColumn(f"{letter}_{axis}", unit + per) for letter, unit in parts for axis in AXIS_NAMES)


PLATFORM_COLUMNS = Columns(POSE, _vector("v", "omega", "/s"), _vector("a", "alpha", "/s^2"), _numbered("f", ["N"] * 6))


def joint_names(robot: Robot) -> dict[str, str]:
    """Other names of columns, after an arm's joints, with ours: shoulder is q2, shoulder_velocity qd2.

    A name that could mean two columns is none of them. Poses have no other names: twists are not the rates of their
    numbers.
    """
    if robot.positions.pose:
        return {}
    columns = columns_of(robot)
    ours = {TIME.name, *columns.names, *(c.name for c in (*columns.target_position, *columns.target_velocity))}
    pairs = [
        (coordinate.name + ending, column.name)
        for ending, group in zip(JOINT_NAME_ENDINGS, columns[:3], strict=True)
        for coordinate, column in zip(robot.coordinates, group, strict=True)
    ]
    names = [name for name, _ in pairs]
    return {name: column for name, column in pairs if name not in ours and names.count(name) == 1}


def columns_of(robot: Robot) -> Columns:
    """The robot's own."""
    coordinates = robot.coordinates
    return Columns(
        tuple(CsvColumn(c.column, c.unit) for c in coordinates),
        tuple(CsvColumn(c.velocity_column, f"{c.unit}/s") for c in coordinates),
        tuple(CsvColumn(c.acceleration_column, f"{c.unit}/s^2") for c in coordinates),
        tuple(CsvColumn(actuator.column, actuator.unit) for actuator in robot.actuators),
    )


def state_columns(robot: Robot) -> Columns:
    """The same with a column for every entry of a position, of which a mechanism has more than coordinates."""
    return columns_of(robot)._replace(position=tuple(CsvColumn(c.column, c.unit) for c in robot.positions.entries))


def sensor_columns(robot: Robot) -> tuple[CsvColumn, ...]:
    """The columns of the sensors at its actuators."""
    return tuple(CsvColumn(sensor.column, sensor.unit) for sensor in robot.sensors.quantities)


def columns_in(table: CsvTable) -> tuple[Columns, tuple[str, ...]]:
    """The columns of a recording, and names of coordinates with rates where positions have more entries; else none.

    They are an arm's or a platform's columns where the file has no others, else groups by the units of the columns. A
    mechanism's position has entries without rates: x and their place, beside the coordinates q1, q2 ... A robot of the
    user's own may have some columns with the names of an arm or a platform. ModelError where neither names nor units
    tell what the columns are.
    """
    given = zip(table.names, table.units, strict=True)
    units = {name: UNITS[unit][0] if unit in UNITS else None for name, unit in given}
    by_units, by_names = _by_units(units), _by_names(units)
    paired = _paired(by_units)
    if not paired and (of_mechanism := _of_mechanism(units)):
        return of_mechanism
    if by_names is None:
        if not paired:
            counts = ", ".join(str(len(group)) for group in by_units[:3])
            problem = f"expected as many velocities and accelerations as positions, in their units, got {counts}"
            table.fail(problem, "Give the units of all columns, coordinates in the same order")
        return by_units, ()
    complete = all(units.get(column.name, "none") in (None, column.unit) for group in by_names for column in group)
    if complete and by_units.names <= by_names.names:
        return by_names, ()  # in the order of their numbers, whatever order the file has
    # an incomplete file of an arm is told what it lacks when its columns are taken
    return by_units if by_units.force and paired else by_names, ()


def _of_mechanism(units: Units) -> tuple[Columns, tuple[str, ...]] | None:
    """The columns of a mechanism whose positions are q1 ... and x with their place; None if the names are others."""
    further, own = _by_number(units, "x", GROUP_UNITS[0]), _by_number(units, "q", GROUP_UNITS[0])
    count = len(own) + len(further)
    if not own or not further or max(further) > count or sorted(own) != list(range(1, len(own) + 1)):
        return None
    left = iter(own.values())  # in the order of the file: which place a coordinate has, its number does not say
    position = tuple(further.get(place) or next(left) for place in range(1, count + 1))
    coordinates, forces = (
        tuple(found[k] for k in sorted(found)) for found in (own, _by_number(units, "tau", GROUP_UNITS[3]))
    )
    rates = arm_columns([column.unit for column in coordinates])
    columns = Columns(position, rates.velocity, rates.acceleration, forces)
    return columns, tuple(column.name for column in coordinates)


def _by_number(units: Units, letters: str, group: tuple[str, ...]) -> dict[int, CsvColumn]:
    """Columns called by these letters and a number, in one of the units."""
    named = re.compile(f"{letters}[1-9][0-9]*")
    found = (CsvColumn(name, unit) for name, unit in units.items() if unit in group and named.fullmatch(name))
    return {int(column.name.removeprefix(letters)): column for column in found}


def _by_names(units: Units) -> Columns | None:
    """The columns of an arm or a platform; None where only the units can tell."""
    sure = (PLATFORM_COLUMNS.position, PLATFORM_COLUMNS.velocity)  # a name such as x may be a column of other robots
    if any({column.name for column in group} <= units.keys() for group in sure):
        return PLATFORM_COLUMNS
    count = 0
    while f"q{count + 1}" in units:
        count += 1
    if not count and set(GROUP_UNITS[0]) & set(units.values()):
        return None
    own = [units.get(f"q{i}") for i in range(1, max(count, 1) + 1)]
    return arm_columns([unit if unit in GROUP_UNITS[0] else "rad" for unit in own])


def _by_units(units: Units) -> Columns:
    named = {name: unit for name, unit in units.items() if name != TIME.name and not name.startswith("target_")}
    groups = ([CsvColumn(name, unit) for name, unit in named.items() if unit in group] for group in GROUP_UNITS)
    return Columns(*map(tuple, groups))


def _paired(columns: Columns) -> bool:
    """True if every position has a velocity and an acceleration in its units, in the same order."""
    expected = [[column.unit + rate for column in columns.position] for rate in RATE_ENDINGS]
    return expected == [[column.unit for column in group] for group in columns[:3]]
