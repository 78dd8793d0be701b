"""Which columns of a .csv file are positions, velocities, accelerations and forces of a recording."""

from __future__ import annotations

import re
from typing import NamedTuple

from tauforge.motion.columns import PLATFORM, TIME, Columns, arm_columns
from tauforge.motion.csv_table import HEADER_ROW, Column, CsvTable
from tauforge.units import UNITS

GROUPS = (("rad", "m"), ("rad/s", "m/s"), ("rad/s^2", "m/s^2"), ("N m", "N"))  # units, in the order of `Columns`
RATES = ("", "/s", "/s^2")
ENTRY = re.compile("[qx][1-9][0-9]*")
FORCE = re.compile("tau[1-9][0-9]*")


class Recorded(NamedTuple):
    """Columns of a recording. coordinates: names of those with rates, where positions have more entries; else none"""

    columns: Columns
    coordinates: tuple[str, ...] = ()


def columns_in(table: CsvTable) -> Recorded:
    """An arm's or a platform's columns where they are all that the file has; else groups by the units of the columns.

    A mechanism's position has entries without rates: x and their place, beside the coordinates q1, q2 ...

    A robot of the user's own may have some columns with the names of an arm or a platform. ModelError where neither
    names nor units tell what the columns are.
    """
    units = {
        name: UNITS[unit][0] if unit in UNITS else None for name, unit in zip(table.names, table.units, strict=True)
    }
    by_units, by_names = _by_units(units), _by_names(units)
    of_mechanism = None if _paired(by_units) else _of_mechanism(units)
    if of_mechanism is not None:
        return of_mechanism
    if by_names is None:
        if not _paired(by_units):
            counts = ", ".join(str(len(group)) for group in by_units[:3])
            problem = f"expected as many velocities and accelerations as positions, in their units, got {counts}"
            table.fail(problem, HEADER_ROW, None, "Give the units of all columns, coordinates in the same order")
        return Recorded(by_units)
    complete = all(units.get(column.name, "none") in (None, column.unit) for group in by_names for column in group)
    if complete and _names(by_units) <= _names(by_names):
        return Recorded(by_names)  # in the order of their numbers, whatever order the file has
    # an incomplete file of an arm is told what it lacks when its columns are taken
    return Recorded(by_units if by_units.force and _paired(by_units) else by_names)


def _of_mechanism(units: dict[str, str | None]) -> Recorded | None:
    """Where all positions are named as a mechanism's are, and some of them x: coordinates fill the other places."""
    entries = [Column(name, unit) for name, unit in units.items() if unit in GROUPS[0] and ENTRY.fullmatch(name)]
    further = {int(column.name[1:]): column for column in entries if column.name.startswith("x")}
    own = [column for column in entries if column.name.startswith("q")]
    if not own or not further or max(further) > len(entries):
        return None
    by_number = sorted(own, key=lambda column: int(column.name[1:]))
    if [column.name for column in by_number] != [f"q{i}" for i in range(1, len(own) + 1)]:
        return None
    left = iter(own)  # in the order of the file: which place a coordinate has, its number does not say
    position = tuple(further.get(place) or next(left) for place in range(1, len(entries) + 1))
    rates = arm_columns([column.unit for column in by_number])
    forces = [Column(name, unit) for name, unit in units.items() if unit in GROUPS[3] and FORCE.fullmatch(name)]
    forces.sort(key=lambda column: int(column.name[3:]))
    columns = Columns(position, rates.velocity, rates.acceleration, tuple(forces))
    return Recorded(columns, tuple(column.name for column in by_number))


def _by_names(units: dict[str, str | None]) -> Columns | None:
    """The columns of an arm or a platform; None where only the units can tell."""
    sure = (PLATFORM.position, PLATFORM.velocity)  # a name such as x may be a column of other robots
    if any({column.name for column in group} <= units.keys() for group in sure):
        return PLATFORM
    count = 0
    while f"q{count + 1}" in units:
        count += 1
    if not count and set(GROUPS[0]) & set(units.values()):
        return None
    own = [units.get(f"q{i}") for i in range(1, max(count, 1) + 1)]
    return arm_columns([unit if unit in GROUPS[0] else "rad" for unit in own])


def _by_units(units: dict[str, str | None]) -> Columns:
    given = [
        Column(name, unit)
        for name, unit in units.items()
        if unit is not None and name != TIME.name and not name.startswith("target_")
    ]
    return Columns(*(tuple(column for column in given if column.unit in group) for group in GROUPS))


def _paired(columns: Columns) -> bool:
    """Whether every position has a velocity and an acceleration in its units, in the same order."""
    expected = [[column.unit + rate for column in columns.position] for rate in RATES]
    return expected == [[column.unit for column in group] for group in columns[:3]]


def _names(columns: Columns) -> set[str]:
    return {column.name for group in columns for column in group}
