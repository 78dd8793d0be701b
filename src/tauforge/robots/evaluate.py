"""Where formulations meet arrays: columns in, formula over columns, arrays out.

A formula takes named lists of scalars and returns nested lists of scalars. Here its scalars are contiguous NumPy
columns, one per component, over blocks of rows: the reference evaluation of every public method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.algebra.scalars import Column, Scalar
from tauforge.errors import ShapeError

Array = NDArray[Any]
BLOCK = 8192  # rows at a time: bounds the memory of the temporaries, and keeps them in the cache


def as_argument(name: str, value: ArrayLike, size: int, meaning: str) -> Array:
    """A real array (..., size); float32 stays, every other real type becomes float64."""
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ShapeError(name, expected=f"(..., {size})", got="a ragged sequence") from None
    if raw.dtype.kind not in "biuf":
        raise ShapeError(name, expected=f"real numbers (..., {size})", got=f"{raw.dtype} values")
    if raw.shape[-1:] != (size,):
        raise ShapeError(name, expected=f"(..., {size}): {meaning}", got=str(raw.shape))
    return raw if raw.dtype == np.float32 else raw.astype(np.float64, copy=False)


def batch_shape(arguments: Mapping[str, Array]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(value.shape[:-1] for value in arguments.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in arguments.items())
        raise ShapeError("arguments", expected="leading shapes that broadcast together", got=shapes) from None


def evaluate(formula: Callable[..., Any], arguments: Mapping[str, Array], result: tuple[int, ...]) -> Array:
    """formula(**columns) for every row; returns (..., *result), float32 only if every argument is."""
    batch = batch_shape(arguments)
    if not batch:  # one state is a batch of one, so that it gets the very same digits
        single: Array = evaluate(formula, {name: value[None] for name, value in arguments.items()}, result)[0]
        return single
    dtype = np.result_type(*(value.dtype for value in arguments.values()))
    out = np.empty(batch + result, dtype)
    whole = {name: np.broadcast_to(value, batch + value.shape[-1:]) for name, value in arguments.items()}
    with np.errstate(all="ignore"):
        _fill(out, formula, whole, result)
    return out


def _fill(out: Array, formula: Callable[..., Any], arguments: Mapping[str, Array], result: tuple[int, ...]) -> None:
    batch = out.shape[: out.ndim - len(result)]
    rows = int(np.prod(batch))
    if rows > BLOCK:
        step = max(1, BLOCK * batch[0] // rows)
        for start in range(0, batch[0], step):
            block = slice(start, start + step) if step > 1 or len(batch) == 1 else start
            _fill(out[block], formula, {name: value[block] for name, value in arguments.items()}, result)
        return
    columns = {
        name: [Column(value[..., k].copy()) for k in range(value.shape[-1])] for name, value in arguments.items()
    }
    for index, scalar in zip(np.ndindex(*result), flat(formula(**columns)), strict=True):
        out[(..., *index)] = scalar.value if isinstance(scalar, Column) else scalar


def flat(nested: Any) -> list[Scalar]:
    """Every scalar of nested sequences and vectors, in order."""
    if isinstance(nested, Column) or not hasattr(nested, "__iter__"):
        return [nested]
    return [scalar for item in nested for scalar in flat(item)]
