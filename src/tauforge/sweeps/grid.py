"""The grid of a sweep: axes, which are names with their values, and blocks of points.

Axes are given as arrays or as the texts of a command line. A block is one task and one shard of the store, and consists
of a few chunks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauforge.arrays import Array, real_numbers
from tauforge.errors import ModelError
from tauforge.units import UNITS, in_si

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*")  # of a folder, too
WHOLE_NUMBER = re.compile(r"\s*[-+]?\d+\s*")
LONGEST_AXIS = 10_000_000  # values of one axis: 80 MB, which every reader of the store holds in memory
LARGEST_COUNT = 2**63 - 1  # int64: grid points are counted by it
FORMS = "NAME=FIRST:LAST:COUNT, NAME=FIRST:END for whole numbers below END, or NAME=VALUE,VALUE,..."
CHUNK_POINTS = 2**16  # what a reader decodes at once; a quarter of it doubles the time of writing
MOST_BLOCKS = 1_000_000  # each has a file for every result and one of its own

Index = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Axis:
    """A named axis of a grid.

    name:   letters, digits, "_", "-", "." and single spaces between them, beginning with a letter or "_"
    values: (k,) finite and all different; whole numbers are kept as int64, others as float64
    unit:   of the values, SI; "" where none is known
    """

    name: str
    values: Array
    unit: str = ""

    def __post_init__(self) -> None:
        check_name("axis", self.name)
        try:
            values = real_numbers(self.values)
            whole = values.dtype.kind in "iu"
            values = np.atleast_1d(values).astype(np.int64 if whole else np.float64)
        except ValueError:
            raise _bad(self.name, f"expected numbers, got {self.values!r}") from None
        if values.ndim != 1:
            raise _bad(self.name, f"expected values (k,), got shape {values.shape}")
        if not len(values):
            raise _bad(self.name, "the axis has zero points")
        _check_length(self.name, len(values))
        if not np.isfinite(values).all():
            raise _bad(self.name, "a value is not finite")
        if len(np.unique(values)) < len(values):
            raise _bad(self.name, "a value occurs twice")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.values, self.unit)

    @classmethod
    def from_text(cls, text: str) -> Axis:
        """Reads an axis as the command line gives it.

        text: "x=-0.5:0.5:101" is 101 values from -0.5 to 0.5; "seed=0:1000" is the whole numbers 0 to 999;
              "mass=0,1,2" is a list. Numbers may carry units: "theta_x=-30deg:30deg:61" is in rad.
        """
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or not name or not values.strip():
            raise ModelError(f"expected an axis, got {text!r}", field="axis", remedy=f"Write {FORMS}")
        check_name("axis", name)
        parts = values.split(":")
        if len(parts) == 1:
            numbers, unit = _numbers(name, values.split(","))
            return cls(name, np.array(numbers), unit)
        if len(parts) == 2:
            return cls(name, _whole_range(name, parts))
        if len(parts) == 3:
            (first, last), unit = _numbers(name, parts[:2])
            return cls(name, _spaced(name, first, last, parts[2]), unit)
        raise _bad(name, f"expected at most two colons, got {values!r}", f"Write {FORMS}")


def check_axes(axes: Iterable[Axis]) -> tuple[Axis, ...]:
    """Checks axes: there are some, their names differ, and int64 can count the points of their grid."""
    found = tuple(axes)
    if not found:
        raise ModelError("a sweep needs an axis", field="axis", remedy=f"Write {FORMS}")
    names = [axis.name for axis in found]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise _bad(double, "the axis is given twice", "Give its values once")
    points = math.prod(len(axis) for axis in found)
    if points > LARGEST_COUNT:
        raise _too_large(f"{points:.3g} points, more than the largest that can be counted, {LARGEST_COUNT:.3g}")
    return found


def with_units(axes: Sequence[Axis], units: dict[str, str]) -> tuple[Axis, ...]:
    """The axes with the units that belong to their names; ModelError for an unknown name or a unit of another kind."""
    checked = check_axes(axes)
    for axis in checked:
        if axis.name not in units:
            raise _bad(axis.name, "unknown axis", f"The axes are {', '.join(units)}")
        if axis.unit and axis.unit != units[axis.name]:
            expected = units[axis.name] or "no unit"
            raise _bad(axis.name, f"expected values in {expected}, got {axis.unit}")
    return tuple(Axis(axis.name, axis.values, units[axis.name]) for axis in checked)


def check_name(what: str, name: str) -> None:
    """Raises ModelError for a name that no folder and no variable should have."""
    if not VARIABLE_NAME.fullmatch(name):
        raise ModelError(
            f"{name!r} cannot be the name of an {what}" if what == "axis" else f"{name!r} cannot name a {what}",
            field=what,
            remedy='Use letters, digits, "_", "-", "." and single spaces between them, and begin with a letter or "_"',
        )


def _bad(name: str, problem: str, remedy: str | None = None) -> ModelError:
    return ModelError(problem, field=f"axis {name}", remedy=remedy)


def _too_large(size: str) -> ModelError:
    return ModelError(f"the grid has {size}", field="axis", remedy="Take fewer values or fewer axes")


def _check_length(name: str, count: int) -> None:
    if count > LONGEST_AXIS:
        remedy = f"One axis has at most {LONGEST_AXIS:,}: split it into two"
        raise _bad(name, f"{count:,} values are too many for one axis", remedy)


def _numbers(name: str, texts: Sequence[str]) -> tuple[list[float] | list[int], str]:
    """The numbers in SI units, and their unit, "" for none. Numbers without a unit go with any of the others."""
    if not any(not WHOLE_NUMBER.fullmatch(text) for text in texts):
        return [int(text) for text in texts], ""
    values, kinds = [], set()
    for text in texts:
        if (found := in_si(text)) is None:
            raise _bad(name, f"expected a number, got {text.strip()!r}", f"Units are {', '.join(UNITS)}")
        values.append(found[0])
        kinds.add(found[1])
    if len(kinds) > 1:
        raise _bad(name, f"the values have different units: {', '.join(sorted(kinds))}", "Give every value its unit")
    return values, kinds.pop()


def _whole_range(name: str, parts: Sequence[str]) -> Array:
    if not all(WHOLE_NUMBER.fullmatch(part) for part in parts):
        problem = f"expected whole numbers FIRST:END, got {':'.join(parts)!r}"
        raise _bad(name, problem, "For others give a count: FIRST:LAST:COUNT")
    first, end = (int(part) for part in parts)
    if end == first:
        raise _bad(name, "the axis has zero points", "END is not one of the values")
    if end < first:
        raise _bad(name, f"the bounds are reversed: {first} is above {end}")
    _check_length(name, end - first)
    if max(abs(first), abs(end)) > LARGEST_COUNT:
        raise _bad(name, f"a value is larger than {LARGEST_COUNT:.3g}")
    return np.arange(first, end, dtype=np.int64)


def _spaced(name: str, first: float, last: float, count: str) -> Array:
    if not WHOLE_NUMBER.fullmatch(count):
        raise _bad(name, f"expected a whole number of points, got {count.strip()!r}")
    points = int(count)
    if points < 1:
        raise _bad(name, f"the axis has {'zero' if points == 0 else points} points", "Ask for 1 or more")
    _check_length(name, points)
    if first > last:
        raise _bad(name, f"the bounds are reversed: {first:g} is above {last:g}")
    if points == 1 and first != last:
        raise _bad(name, f"one point cannot be both {first:g} and {last:g}", "Ask for 2 or more")
    if points > 1 and first == last:
        raise _bad(name, f"{points} points between {first:g} and itself are the same", "Ask for 1")
    return np.linspace(first, last, points)


@dataclass(frozen=True)
class Grid:
    """Points in row-major order, the last axis fastest, cut into blocks.

    shape: points along each axis
    block: shape of a block; blocks at the far ends may be smaller
    chunk: shape of a chunk, of which a block has a whole number along each axis
    """

    shape: tuple[int, ...]
    block: tuple[int, ...]
    chunk: tuple[int, ...]

    @property
    def points(self) -> int:
        return math.prod(self.shape)

    @property
    def counts(self) -> tuple[int, ...]:
        """Blocks along each axis."""
        return tuple(-(-size // step) for size, step in zip(self.shape, self.block, strict=True))

    @property
    def blocks(self) -> int:
        return math.prod(self.counts)

    def slices(self, index: Index) -> tuple[slice, ...]:
        """Slices of the grid that are a block."""
        starts = (k * step for k, step in zip(index, self.block, strict=True))
        ends = zip(starts, self.block, self.shape, strict=True)
        return tuple(slice(start, min(start + step, size)) for start, step, size in ends)

    def lengths(self, index: Index) -> tuple[int, ...]:
        """Points of a block along each axis."""
        return tuple(part.stop - part.start for part in self.slices(index))

    def coordinates(self, axes: Sequence[Axis], index: Index) -> dict[str, Array]:
        """The coordinates (N,) of the N points of a block along each axis, in row-major order."""
        lengths = self.lengths(index)
        along = np.ix_(*(axis.values[part] for axis, part in zip(axes, self.slices(index), strict=True)))
        return {
            axis.name: np.broadcast_to(values, lengths).reshape(-1) for axis, values in zip(axes, along, strict=True)
        }


def grid_of(shape: Sequence[int], block_points: int, largest_core: int = 1) -> Grid:
    """The grid in blocks of at most `block_points` points, which depends on nothing else, so that every run agrees.

    largest_core: numbers of the largest result at one point; chunks have fewer points if there are many
    """
    chunk = _run(shape, max(1, min(CHUNK_POINTS // largest_core, block_points)), (1,) * len(shape))
    grid = Grid(tuple(shape), _run(shape, block_points, chunk), chunk)
    if grid.blocks > MOST_BLOCKS:
        raise _too_large(f"{grid.points:.3g} points in {grid.blocks:.3g} blocks, more than {MOST_BLOCKS:,}")
    return grid


def _run(shape: Sequence[int], most: int, unit: Sequence[int]) -> tuple[int, ...]:
    """The shape of a run in row-major order: whole last axes, a part of one axis, one unit of those before it.

    unit: what the run is made of: its extent is a multiple of it along each axis
    """
    found = list(unit)
    for k in reversed(range(len(shape))):
        units = -(-shape[k] // unit[k])
        fitting = max(1, most // math.prod(found))
        parts = -(-units // fitting)
        found[k] = -(-units // parts) * unit[k]  # parts of nearly the same size
        if parts > 1:
            break
    return tuple(found)
