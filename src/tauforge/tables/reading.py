"""Reads CSV with named columns that carry their units: strictly, with the row and column of what cannot be read."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, in_file
from tauforge.tables.table import HEADER_ROW, PARENTHESES, CsvTable
from tauforge.units import UNITS, known_spelling

MAX_CSV_BYTES = 256 * 2**20
NAMES_FIRST = "The first row names the columns, as in: time [s], q1 [rad]"
MAX_HEADER_LENGTH = 100_000  # characters of the first line
PIECE_LENGTH = 2**16  # characters that are split into lines at a time
MAX_CELL_SHOWN = 40  # characters of a cell in a message
HEADER_CELL = re.compile(r"(?P<name>[^\[\]]+?)\s*(?:\[(?P<unit>[^\[\]]*)\])?")


def read_csv(path: str | os.PathLike[str], synonyms: Mapping[str, str] = MappingProxyType({})) -> CsvTable:
    """A UTF-8 file: one header row of names with units, then rows of finite numbers, commas between them.

    synonyms: other names that columns may have, and ours

    A ModelError names the row (the header is row 1, empty rows count) and the column of what cannot be read. Units and
    cells are checked when their column is taken; other columns may hold anything.
    """
    path = Path(path)
    with in_file(path):
        try:
            text = _text(path)
            names, units, start = _header(text)
            return CsvTable(path, names, units, *_numbers(text, names, start), synonyms)
        except OSError as error:
            raise ModelError(f"the file cannot be read: {error.strerror}") from None
        except csv.Error as error:
            raise ModelError(f"not a valid CSV file: {error}") from None


def _text(path: Path) -> str:
    if path.is_dir():
        raise ModelError("expected a CSV file, got a folder")
    if not path.exists():
        raise ModelError("no such file")
    with path.open("rb") as file:
        data = file.read(MAX_CSV_BYTES + 1)  # pipes and devices have no size that could be checked first
    if len(data) > MAX_CSV_BYTES:
        problem = f"the file has more than {MAX_CSV_BYTES / 2**20:.3g} MiB, the most a file may have"
        raise ModelError(problem, remedy="Split it, or take fewer samples a second")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ModelError("the file is encoded in UTF-16", remedy="Save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        problem = f"the text is not UTF-8: byte {data[error.start]:#04x}"
        raise ModelError(problem, row=row, remedy="Save it as UTF-8") from None
    if not text.strip():
        raise ModelError("the file is empty", remedy=NAMES_FIRST)
    return text


def _bad_header(problem: str, remedy: str | None = None, column: str | None = None) -> ModelError:
    return ModelError(problem, row=HEADER_ROW, field=column, remedy=remedy)


def _header(text: str) -> tuple[list[str], list[str | None], int]:
    """Names, units, and the index in the text where the numbers start."""
    end = text.find("\n")
    line = text if end < 0 else text[:end]
    if not line.strip():
        raise _bad_header("the header is blank", NAMES_FIRST)
    if len(line) > MAX_HEADER_LENGTH:
        raise _bad_header(f"the header has {len(line)} characters; at most {MAX_HEADER_LENGTH} are accepted")
    if ";" in line or "\t" in line:
        remedy = "Save with commas between columns and a point in decimal numbers"
        raise _bad_header(f"columns are separated by {'semicolons' if ';' in line else 'tabs'}", remedy)
    units: dict[str, str | None] = {}
    for place, cell in enumerate(next(csv.reader([line.rstrip("\r")]), []), 1):
        found = HEADER_CELL.fullmatch(cell.strip())
        if found is None:
            remedy = "Write for example: time [s], q1 [rad]"
            raise _bad_header(f"expected a name and a unit, got {_shown(cell)}", remedy, str(place))
        name, unit = found["name"].strip(), found["unit"]
        rounded = PARENTHESES.fullmatch(name)
        if unit is None and rounded and known_spelling(rounded["unit"].strip()) in UNITS:
            name, unit = rounded["name"], rounded["unit"]
        if _is_number(name) and unit is None:
            raise _bad_header(f"expected the name of a column, got the number {name}", NAMES_FIRST, str(place))
        if name in units:
            raise _bad_header("the column appears twice", "Give every column a name of its own", name)
        units[name] = None if unit is None else known_spelling(unit.strip())
    return list(units), list(units.values()), len(text) if end < 0 else end + 1


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
        end = text.find("\n", start + PIECE_LENGTH) + 1 or len(text)
        for k, line in enumerate(io.StringIO(text[start:end], newline="")):
            if len(line) > MAX_HEADER_LENGTH and line.count(",") > MAX_HEADER_LENGTH:
                row = text.count("\n", 0, start) + k + 1
                raise ModelError(f"the row has more than {MAX_HEADER_LENGTH} columns", row=row)
            yield line
        start = end


def _rows(text: str, start: int) -> Iterator[tuple[int, list[str]]]:
    for row, cells in enumerate(csv.reader(_lines(text, start)), 2):
        if cells and any(cell.strip() for cell in cells):
            yield row, cells
        elif len(cells) > 1:
            raise ModelError("the row is blank", row=row, remedy="Delete the row")


def _fault(cell: str, row: int, column: str) -> ModelError:
    """The error about a cell that holds no finite number."""
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
    return repr(text if len(text) <= MAX_CELL_SHOWN else text[:MAX_CELL_SHOWN] + "...")
