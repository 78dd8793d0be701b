"""CSV with named columns that carry their units, as in `time [s], q1 [rad]`: read strictly into SI, written exactly."""

from __future__ import annotations

import csv
import difflib
import io
import math
import os
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, NamedTuple, NoReturn

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.motion.digits import quanta
from tauforge.units import UNITS, known_spelling

MAX_BYTES = 256 * 2**20
HEADER_ROW = 1  # rows are counted as a spreadsheet does
NAMES_FIRST = "The first row names the columns, as in: time [s], q1 [rad]"
MAX_HEADER = 100_000  # characters of the first line
PIECE = 2**16  # characters that are split into lines at a time
SHOWN = 40  # characters of a cell in a message
HEADER = re.compile(r"(?P<name>[^\[\]]+?)\s*(?:\[(?P<unit>[^\[\]]*)\])?")
PARENTHESES = re.compile(r"(?P<name>.*\S)\s*\((?P<unit>[^()]*)\)")


class Column(NamedTuple):
    """A name, and its SI unit; without a unit any is accepted."""

    name: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name


class CsvTable:
    """Numbers of a file by the names of their columns, with their rows.

    units:    as written, None where there is none; unknown units matter only for columns that are taken
    numbers:  (k, columns); NaN where a cell holds something else
    faults:   for columns that hold more than numbers: the first fault and its row
    synonyms: other names that columns of the file may have, and ours; ours is used where a file has both
    """

    def __init__(
        self,
        path: str | Path,
        names: list[str],
        units: list[str | None],
        numbers: Array,
        rows: Array,
        faults: dict[int, ModelError],
        synonyms: Mapping[str, str],
    ) -> None:
        self.path, self.names, self.units = path, names, units
        self.numbers, self.rows, self.faults = numbers, rows, faults
        self._synonyms = {ours: name for name, ours in synonyms.items()}
        self._place_of = {synonyms.get(name, name): place for place, name in enumerate(names)}
        self._place_of |= {name: place for place, name in enumerate(names)}

    def has(self, columns: Iterable[Column]) -> bool:
        """Whether any of them is there."""
        return any(column.name in self._place_of for column in columns)

    def unread(self, known: Collection[str]) -> list[str]:
        """Columns of the file that are not among the known ones."""
        places = {self._place_of[name] for name in known if name in self._place_of}
        return [name for place, name in enumerate(self.names) if place not in places]

    def take(self, columns: Sequence[Column]) -> Array:
        """(k, len(columns)) in SI units. ModelError where a column is missing or its unit does not fit."""
        for column in columns:
            if column.name not in self._place_of:
                self._missing(column)
        places, scales = self._places(columns)
        faulty = [self.faults[place] for place in places if place in self.faults]
        if faulty:
            raise faulty[0].located(self.path)
        return np.asarray(self.numbers[:, places] * scales)

    def steps(self, columns: Sequence[Column]) -> Array:
        """(k, len(columns)) in SI units: the step in which each number was rounded, as its digits show."""
        places, scales = self._places(columns)
        return np.asarray(quanta(self.numbers[:, places]) * scales)

    def step_as_written(self, column: Column) -> str:
        """A column's usual step with the unit of the file, for messages."""
        place = self._place_of[column.name]
        return f"{np.median(quanta(self.numbers[:, [place]])):g} {self.units[place]}"

    def take_times(self, column: Column) -> Array:
        """(k,) s, strictly increasing."""
        times = np.asarray(self.take([column])[:, 0])
        late = np.flatnonzero(np.diff(times) <= 0)
        if len(late):
            k = int(late[0])
            what = "again" if times[k + 1] == times[k] else "earlier than the row before"
            self.fail(
                f"times must increase, {times[k + 1]:g} s is {what}",
                int(self.rows[k + 1]),
                column.name,
                "Sort the rows, and drop repeated ones",
            )
        return times

    def _places(self, columns: Sequence[Column]) -> tuple[list[int], Array]:
        """The indices of the columns, and the values of their units in SI units."""
        places = [self._place_of[column.name] for column in columns]
        return places, np.array([self._scale(place, column) for place, column in zip(places, columns, strict=True)])

    def _missing(self, column: Column) -> NoReturn:
        alike = {name.lower(): name for name in self.names}
        near = difflib.get_close_matches(column.name.lower(), alike, n=1, cutoff=0.75)
        hint = f"Did you mean {alike[near[0]]!r}? " if near else ""
        for name in self.names:
            found = PARENTHESES.fullmatch(name)
            if found and found["name"].lower() == column.name.lower():
                hint = f"Units are written in brackets: write {column} instead of {name!r}. "
        there = ", ".join(self.names[:SHOWN]) + (", ..." if len(self.names) > SHOWN else "")
        synonym = self._synonyms.get(column.name)
        other = "" if synonym is None else f" or {str(column._replace(name=synonym))!r}"
        case = ". Upper and lower case differ" if column.name.lower() in alike else ""
        self.fail(
            f"there is no column {str(column)!r}{other}", HEADER_ROW, None, f"{hint}The columns are: {there}{case}"
        )

    def _scale(self, place: int, column: Column) -> float:
        unit, name = self.units[place], self.names[place]
        column = column._replace(name=name)
        fitting = [name for name, (kind, _) in UNITS.items() if column.unit in ("", kind)]
        if unit is None:
            example = column._replace(unit=column.unit or "m")
            self.fail(
                "the column has no unit",
                HEADER_ROW,
                name,
                f"Write for example {example}; known units: {', '.join(fitting)}",
            )
        if unit not in UNITS:
            self.fail(f"unknown unit [{unit}]", HEADER_ROW, name, f"Known: {', '.join(fitting)}")
        if column.unit and UNITS[unit][0] != column.unit:
            remedy = f"Use one of {', '.join(fitting)}"
            self.fail(f"unit [{unit}] does not measure this column", HEADER_ROW, name, remedy)
        return UNITS[unit][1]

    def fail(self, problem: str, row: int, column: str | None, remedy: str | None = None) -> NoReturn:
        raise ModelError(problem, file=self.path, row=row, field=column, remedy=remedy)


def read_csv(path: str | os.PathLike[str], synonyms: Mapping[str, str] = MappingProxyType({})) -> CsvTable:
    """A UTF-8 file: one header row of names with units, then rows of finite numbers, commas between them.

    synonyms: other names that columns may have, and ours

    A ModelError names the row (the header is row 1, empty rows count) and the column of what cannot be read. Units and
    cells are checked when their column is taken; other columns may hold anything.
    """
    text = _text(Path(path))
    try:
        names, units, start = _header(text)
        numbers, rows, faults = _numbers(text, names, start)
    except ModelError as error:
        raise error.located(Path(path)) from None
    except csv.Error as error:
        raise ModelError(f"not a valid CSV file: {error}", file=path if isinstance(path, str) else str(path)) from None
    return CsvTable(Path(path), names, units, numbers, rows, faults, synonyms)


def write_csv(file: IO[str], columns: Iterable[object], rows: Iterable[Sequence[float]]) -> None:
    """Columns' names and units, then rows of numbers in their shortest exact form."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([str(column) for column in columns])
    writer.writerows([repr(float(x)) for x in row] for row in rows)


def _text(path: Path) -> str:
    try:
        if path.is_dir():
            raise ModelError("expected a CSV file, got a folder", file=path)
        if not path.exists():
            raise ModelError("no such file", file=path)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # pipes and devices have no size that could be checked first
        if len(data) > MAX_BYTES:
            remedy = "Split it, or take fewer samples a second"
            raise ModelError(
                f"the file has more than {MAX_BYTES / 2**20:.3g} MiB, the most a file may have",
                file=path,
                remedy=remedy,
            )
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}", file=path) from None
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            raise ModelError(f"the file is encoded in {encoding.upper()}", file=path, remedy="Save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        problem = f"the text is not UTF-8: byte {data[error.start]:#04x}"
        raise ModelError(problem, file=path, row=row, remedy="Save it as UTF-8") from None
    if not text.strip():
        raise ModelError("the file is empty", file=path, remedy=NAMES_FIRST)
    return text


def _header(text: str) -> tuple[list[str], list[str | None], int]:
    """Names, units, and the index in the text where the numbers start."""
    end = text.find("\n")
    line = text if end < 0 else text[:end]
    if not line.strip():
        raise ModelError("the header is blank", row=HEADER_ROW, remedy=NAMES_FIRST)
    if len(line) > MAX_HEADER:
        raise ModelError(f"the header has {len(line)} characters; at most {MAX_HEADER} are accepted", row=HEADER_ROW)
    if ";" in line or "\t" in line:
        mark = "semicolons" if ";" in line else "tabs"
        raise ModelError(
            f"columns are separated by {mark}",
            row=HEADER_ROW,
            remedy="Save with commas between columns and a point in decimal numbers",
        )
    names: list[str] = []
    units: list[str | None] = []
    for place, cell in enumerate(next(csv.reader([line.rstrip("\r")]), []), 1):
        found = HEADER.fullmatch(cell.strip())
        if found is None:
            raise ModelError(
                f"expected a name and a unit, got {_shown(cell)}",
                row=HEADER_ROW,
                field=str(place),
                remedy="Write for example: time [s], q1 [rad]",
            )
        name, unit = found["name"].strip(), found["unit"]
        rounded = PARENTHESES.fullmatch(name)
        if unit is None and rounded and known_spelling(rounded["unit"].strip()) in UNITS:
            name, unit = rounded["name"], rounded["unit"]
        if _is_number(name) and unit is None:
            raise ModelError(
                f"expected the name of a column, got the number {name}",
                row=HEADER_ROW,
                field=str(place),
                remedy=NAMES_FIRST,
            )
        if name in names:
            raise ModelError(
                "the column appears twice", row=HEADER_ROW, field=name, remedy="Give every column a name of its own"
            )
        names.append(name)
        units.append(None if unit is None else known_spelling(unit.strip()))
    return names, units, len(text) if end < 0 else end + 1


def _numbers(text: str, names: list[str], start: int) -> tuple[Array, Array, dict[int, ModelError]]:
    """(k, columns), the row of each, and the faults of columns. NumPy reads the numbers, or `_cells` where it fails."""
    if not re.compile(r"\S").search(text, start):
        remedy = "Write a row of numbers for each time below the header"
        raise ModelError("the file has no rows below the header", row=HEADER_ROW + 1, remedy=remedy)
    try:
        numbers = np.loadtxt(_lines(text, start), delimiter=",", ndmin=2, comments=None, quotechar='"')
    except ValueError:
        numbers = None
    if numbers is None or numbers.shape[1] != len(names) or not np.isfinite(numbers).all():
        return _cells(text, names, start)
    count = text.count("\n", start) + (not text.endswith("\n"))
    rows = np.arange(2, 2 + len(numbers))
    if count != len(numbers):  # empty rows, or line ends that are not "\n"
        rows = np.array([row for row, _ in _rows(text, start)])
    return numbers, rows, {}


def _cells(text: str, names: list[str], start: int) -> tuple[Array, Array, dict[int, ModelError]]:
    """As `_numbers`, cell by cell; numbers are kept as eight bytes each, not as objects."""
    numbers, rows = array("d"), array("q")
    faults: dict[int, ModelError] = {}
    for row, cells in _rows(text, start):
        if len(cells) != len(names):
            remedy = "Write decimal numbers with a point, not a comma" if len(cells) == 2 * len(names) else None
            column = names[len(cells)] if len(cells) < len(names) else None
            raise ModelError(f"expected {len(names)} numbers, got {len(cells)}", row=row, field=column, remedy=remedy)
        rows.append(row)
        found = [float(cell) if _is_number(cell) else math.nan for cell in cells]
        numbers.extend(found)
        for place, number in enumerate(found):
            if place not in faults and not math.isfinite(number):
                faults[place] = _fault(cells[place], row, names[place])
    return np.frombuffer(numbers).reshape(-1, len(names)), np.frombuffer(rows, np.int64), faults


def _lines(text: str, start: int) -> Iterator[str]:
    """Lines with their ends, one after the other: a list of all would take several times the size of the text."""
    while start < len(text):
        end = text.find("\n", start + PIECE) + 1 or len(text)
        for k, line in enumerate(io.StringIO(text[start:end], newline="")):
            if len(line) > MAX_HEADER and line.count(",") > MAX_HEADER:
                row = text.count("\n", 0, start) + k + 1
                raise ModelError(f"the row has more than {MAX_HEADER} columns", row=row)
            yield line
        start = end


def _rows(text: str, start: int) -> Iterator[tuple[int, list[str]]]:
    for row, cells in enumerate(csv.reader(_lines(text, start)), 2):
        if cells and any(cell.strip() for cell in cells):
            yield row, cells
        elif len(cells) > 1:
            raise ModelError("the row is blank", row=row, remedy="Delete the row")


def _fault(cell: str, row: int, column: str) -> ModelError:
    """What is wrong with a cell that holds no finite number."""
    if _is_number(cell):
        problem = f"expected a finite number, got {_shown(cell)}"
        return ModelError(problem, row=row, field=column, remedy="Delete the row or fill the gap")
    got = "nothing" if not cell.strip() else _shown(cell)
    decimal = re.fullmatch(r"\s*[-+]?\d+[;,]\d*([eE][-+]?\d+)?\s*", cell)
    remedy = "Write decimal numbers with a point" if decimal else None
    return ModelError(f"expected a number, got {got}", row=row, field=column, remedy=remedy)


def _is_number(cell: str) -> bool:
    """As NumPy reads it: without digits grouped by underscores."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _shown(cell: str) -> str:
    text = cell.strip()
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")
