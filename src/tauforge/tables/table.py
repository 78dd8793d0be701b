"""A table of numbers whose named columns carry their units, as in `time [s], q1 [rad]`."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.units import UNITS

HEADER_ROW = 1  # rows are counted as a spreadsheet does
PARENTHESES = re.compile(r"(?P<name>.*\S)\s*\((?P<unit>[^()]*)\)")
MAX_NAMES_SHOWN = 40  # columns in a message
MAX_SEEN = 1000  # numbers of a column, evenly spread
SURE_COUNT = 10  # different numbers, of which one surely does not end in 0


class CsvColumn(NamedTuple):
    """A name, and its SI unit; without a unit any is accepted."""

    name: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name


@dataclass(frozen=True, eq=False)
class CsvTable:
    """Numbers of a file by the names of their columns, with their rows.

    units:    as written, None where there is none; unknown units matter only for columns that are taken
    numbers:  (k, columns); NaN where a cell holds something else
    faults:   for columns that hold more than numbers: the first fault and its row
    synonyms: other names that columns of the file may have, and ours; ours is used where a file has both
    """

    path: Path
    names: list[str]
    units: list[str | None]
    numbers: Array
    rows: Array
    faults: dict[int, ModelError]
    synonyms: Mapping[str, str]

    @cached_property
    def _place_of(self) -> dict[str, int]:
        own = {name: place for place, name in enumerate(self.names)}
        return {self.synonyms.get(name, name): place for name, place in own.items()} | own

    def has(self, columns: Iterable[CsvColumn]) -> bool:
        """True if the table has any of the columns."""
        return any(column.name in self._place_of for column in columns)

    def unread(self, known: Collection[str]) -> list[str]:
        """Columns of the file that are not among the known ones."""
        places = {self._place_of[name] for name in known if name in self._place_of}
        return [name for place, name in enumerate(self.names) if place not in places]

    def take(self, columns: Sequence[CsvColumn]) -> Array:
        """(k, len(columns)) in SI units. ModelError where a column is missing or its unit does not fit."""
        for column in columns:
            if column.name not in self._place_of:
                self._missing(column)
        places, scales = self._places(columns)
        for place in places:
            if place in self.faults:
                raise self.faults[place].located(self.path)
        return np.asarray(self.numbers[:, places] * scales)

    def take_times(self, column: CsvColumn) -> Array:
        """(k,) s, strictly increasing."""
        times = np.asarray(self.take([column])[:, 0])
        late = np.flatnonzero(np.diff(times) <= 0)
        if len(late):
            k = int(late[0])
            problem = "again" if times[k + 1] == times[k] else "earlier than the row before"
            problem = f"times must increase, {times[k + 1]:g} s is {problem}"
            self.fail(problem, "Sort the rows, and drop repeated ones", column.name, int(self.rows[k + 1]))
        return times

    def steps(self, columns: Sequence[CsvColumn]) -> Array:
        """(k, len(columns)) in SI units: the step in which each number was rounded, as its digits show."""
        places, scales = self._places(columns)
        return np.asarray(quanta(self.numbers[:, places]) * scales)

    def step_as_written(self, column: CsvColumn) -> str:
        """A column's usual step with the unit of the file, for messages."""
        place = self._place_of[column.name]
        return f"{np.median(quanta(self.numbers[:, [place]])):g} {self.units[place]}"

    def fail(self, problem: str, remedy: str, column: str | None = None, row: int = HEADER_ROW) -> NoReturn:
        """ModelError about a place in the file."""
        raise ModelError(problem, file=self.path, row=row, field=column, remedy=remedy)

    def _places(self, columns: Sequence[CsvColumn]) -> tuple[list[int], Array]:
        """The indices of the columns, and the values of their units in SI units."""
        places = [self._place_of[column.name] for column in columns]
        return places, np.array([self._scale(place, column) for place, column in zip(places, columns, strict=True)])

    def _missing(self, column: CsvColumn) -> NoReturn:
        alike = {name.lower(): name for name in self.names}
        near = difflib.get_close_matches(column.name.lower(), alike, n=1, cutoff=0.75)
        hint = f"Did you mean {alike[near[0]]!r}? " if near else ""
        for name in self.names:
            found = PARENTHESES.fullmatch(name)
            if found and found["name"].lower() == column.name.lower():
                hint = f"Units are written in brackets: write {column} instead of {name!r}. "
        there = ", ".join(self.names[:MAX_NAMES_SHOWN]) + (", ..." if len(self.names) > MAX_NAMES_SHOWN else "")
        synonym = next((name for name, ours in self.synonyms.items() if ours == column.name), None)
        other = "" if synonym is None else f" or {str(column._replace(name=synonym))!r}"
        case = ". Upper and lower case differ" if column.name.lower() in alike else ""
        self.fail(f"there is no column {str(column)!r}{other}", f"{hint}The columns are: {there}{case}")

    def _scale(self, place: int, column: CsvColumn) -> float:
        unit, name = self.units[place], self.names[place]
        fitting = ", ".join(known for known, (kind, _) in UNITS.items() if column.unit in ("", kind))
        if unit is None:
            example = CsvColumn(name, column.unit or "m")
            self.fail("the column has no unit", f"Write for example {example}; known units: {fitting}", name)
        if unit not in UNITS:
            self.fail(f"unknown unit [{unit}]", f"Known: {fitting}", name)
        if column.unit and UNITS[unit][0] != column.unit:
            self.fail(f"unit [{unit}] does not measure this column", f"Use one of {fitting}", name)
        return UNITS[unit][1]


def write_csv(file: IO[str], columns: Iterable[object], rows: Iterable[Sequence[float]]) -> None:
    """Columns' names and units, then rows of numbers in their shortest exact form."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([str(column) for column in columns])
    writer.writerows([repr(float(x)) for x in row] for row in rows)


def quanta(numbers: Array) -> Array:
    """The steps, at most 1, in which the numbers of columns (k, n) were rounded: the value of their last digit.

    A number is taken to have as many decimals as are seen in numbers of its magnitude or larger. With a fixed number of
    decimals they are the same for all; with a fixed number of digits larger numbers have fewer.
    """
    return np.stack([_steps(column) for column in numbers.T], axis=-1)


def _steps(column: Array) -> Array:
    seen = np.unique(np.abs(column[:: max(1, len(column) // MAX_SEEN)]))
    exponents = [Decimal(repr(x)).normalize().as_tuple().exponent for x in seen.tolist()]
    decimals = np.maximum(-np.array(exponents, float), 0.0)
    most = np.maximum.accumulate(decimals[::-1])[::-1]  # of this magnitude or larger
    decade = 10.0 ** np.floor(np.log10(np.maximum(np.abs(column), np.finfo(float).tiny)))
    return np.asarray(10.0 ** -most[np.minimum(np.searchsorted(seen, decade), max(len(seen) - SURE_COUNT, 0))])
