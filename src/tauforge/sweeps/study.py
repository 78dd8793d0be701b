"""Study of a sweep: a function of blocks of grid points, and the results that it gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.sweeps.fingerprint import described
from tauforge.sweeps.grid import Axis, check_axes, check_name

BLOCK_POINTS = 2**18  # of kernels that take 0.3 us a point: 80 ms on one thread, where tasks should take 10 to 100 ms
LEDGER = "blocks"  # the group in a store that says which blocks are done
STORED_DTYPES = ("uint8", "uint16", "uint32", "int8", "int16", "int32", "int64", "float32", "float64")

Compute = Callable[[Mapping[str, Array]], Mapping[str, Array]]


@dataclass(frozen=True)
class Result:
    """One result of a study, an array over the grid.

    name:    of the variable in the store, as of an axis
    dtype:   "float32" by default; other floats and integers
    unit:    SI; "" for a pure number
    meaning: what it is, in words
    fill:    what stands where nothing was computed: NaN for floats, the largest number of an unsigned type (255 for
             uint8), the smallest of a signed one
    core:    names and sizes of further dimensions, such as {"leg": 6}; none for one number a point
    codes:   what the numbers of an integer mean, such as {0: "holds", 1: "leg too long"}
    """

    name: str
    dtype: str = "float32"
    unit: str = ""
    meaning: str = ""
    fill: float | int | None = None
    core: Mapping[str, int] = field(default_factory=dict)
    codes: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name("result", self.name)
        if self.dtype not in STORED_DTYPES:
            known = f"Use {', '.join(STORED_DTYPES)}"
            raise ModelError(f"expected a dtype, got {self.dtype!r}", field=f"result {self.name}", remedy=known)
        for name in self.core:
            check_name("dimension", name)
        if self.fill is None:
            ends = np.iinfo(self.dtype) if self.integer else None
            usual = np.nan if ends is None else ends.min or ends.max  # the largest of integers without a sign
            object.__setattr__(self, "fill", usual)
        if self.fill in self.codes:
            raise ModelError(f"the fill {self.fill} is also a code", field=f"result {self.name}")

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return np.dtype(self.dtype)

    @property
    def integer(self) -> bool:
        return np.issubdtype(self.numpy_dtype, np.integer)

    @property
    def core_shape(self) -> tuple[int, ...]:
        return tuple(self.core.values())

    def stored(self, values: Any, points: int) -> Array:
        """Computed values as they are stored, (points, *core); ShapeError for another shape or numbers that do not fit.

        Floats are rounded. Integers must fit as they are.
        """
        found, shape = np.asarray(values), (points, *self.core_shape)
        if found.shape != shape:
            raise ShapeError(self.name, expected=f"{shape} of a block of {points} points", got=str(found.shape))
        if found.dtype.kind not in ("iub" if self.integer else "iuf"):
            raise ShapeError(self.name, expected=f"numbers for {self.dtype}", got=str(found.dtype))
        with np.errstate(over="ignore"):
            made = np.ascontiguousarray(found, dtype=self.numpy_dtype)
        if self.integer and not (made == found).all():
            got = f"{found.min()} to {found.max()}"
            raise ShapeError(self.name, expected=f"numbers that fit {self.dtype}", got=got)
        return made


@dataclass(frozen=True)
class Study:
    """A function of named axes over arrays.

    name:         such as "holding-forces"
    axes:         of the grid; the last varies fastest
    results:      what `compute` gives
    compute:      compute(block): `block` has for every axis the coordinates (N,) of the N points of a block, in
                  row-major order; returned is an array (N, *core) for every result. A point's results may depend on
                  nothing but its coordinates. Workers of a cluster get a pickled copy, so give a dataclass with
                  `__call__` or a function of a module.
    fingerprint:  what was asked beside axes and results, as JSON; a store goes on only if it is the same. By default it
                  describes `compute`: its class, or its code, and what it holds, a robot field by field
    title:        one line for people
    attributes:   for the store, as JSON, such as {"robot": "puma560"}
    block_points: how many points a block has at most; choose it so that one takes 10 to 100 ms
    """

    name: str
    axes: tuple[Axis, ...]
    results: tuple[Result, ...]
    compute: Compute
    fingerprint: Mapping[str, Any] | None = None
    title: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    block_points: int = BLOCK_POINTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", check_axes(self.axes))
        object.__setattr__(self, "results", tuple(self.results))
        if not self.results:
            raise ModelError("a study needs a result", field="results")
        if self.block_points < 1:
            raise ModelError(f"expected 1 or more, got {self.block_points}", field="block_points")
        dimensions: dict[str, int] = {axis.name: len(axis) for axis in self.axes}
        names = [*dimensions, LEDGER]
        for result in self.results:
            if result.name in names:
                raise ModelError(f"the name {result.name!r} is taken", field="results", remedy="Name it otherwise")
            names.append(result.name)
            for name, size in result.core.items():
                if dimensions.setdefault(name, size) != size or name in (axis.name for axis in self.axes):
                    problem = f"the dimension {name!r} is taken"
                    raise ModelError(problem, field=f"result {result.name}", remedy="Name it otherwise")
        asked = described(self.compute) if self.fingerprint is None else self.fingerprint
        object.__setattr__(self, "fingerprint", _as_json("fingerprint", asked))
        object.__setattr__(self, "attributes", _as_json("attributes", self.attributes))

    def computed(self, block: Mapping[str, Array]) -> dict[str, Array]:
        """The results of a block as they are stored, by name."""
        found = self.compute(block)
        points = len(next(iter(block.values())))
        if missing := [result.name for result in self.results if result.name not in found]:
            raise ShapeError("compute", expected=f"a result {missing[0]!r}", got=", ".join(found) or "none")
        return {result.name: result.stored(found[result.name], points) for result in self.results}


def _as_json(field: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping as a store gives it back."""
    try:
        found: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ModelError(f"JSON cannot hold it: {error}", field=field) from None
    return found
