"""Arguments of functions: as a user names them in a call, and as arrays of the right shape and type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_numbers
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.functions import Argument, Function
from tauforge.kernels.specification import Shape
from tauforge.validation import did_you_mean

ON_SINGULAR = "on_singular"


class Call(NamedTuple):
    """What a call gives.

    arguments:   by name: the state and the loads
    options:     of the formula
    on_singular: what happens to singular rows, "raise" or "nan"
    """

    arguments: dict[str, Any]
    options: dict[str, Any]
    on_singular: str


def sorted_call(robot: str, name: str, function: Function, given: Sequence[Any], named: Mapping[str, Any]) -> Call:
    """The arguments may be given by position or by name, the rest by name; on_singular= where there is a guard.

    TypeError as Python words it where an argument is missing, or given twice. UnsupportedFeatureError for a keyword
    that the function does not have.
    """
    state = [argument.name for argument in function.arguments]
    loads = [argument.name for argument in function.optional]
    guarded = [ON_SINGULAR] if function.guard is not None else []
    keywords = [*loads, *function.options, *guarded]
    if unknown := sorted(set(named) - {*state, *keywords}):
        raise UnsupportedFeatureError(
            f"{name} of {robot} takes no {unknown[0]}=",
            field=unknown[0],
            remedy=f"{did_you_mean(unknown[0], keywords)}Known: {', '.join(keywords) or 'none'}",
        )
    taken = f"{name} takes {len(state)} arguments ({', '.join(state)})"
    if len(given) > len(state):
        raise TypeError(f"{taken}, got {len(given)}")
    if twice := [argument for argument in state[: len(given)] if argument in named]:
        raise TypeError(f"{taken}, got {twice[0]} twice")
    arguments = {
        **dict(zip(state, given, strict=False)),
        **{key: named[key] for key in [*state, *loads] if key in named},
    }
    if missing := [argument for argument in state if argument not in arguments]:
        raise TypeError(f"{taken}, got {len(state) - len(missing)}: {missing[0]} is missing")
    options = {key: named[key] for key in function.options if key in named}
    return Call(arguments, options, named.get(ON_SINGULAR, "raise"))


def as_argument(name: str, value: ArrayLike, size: int, meaning: str) -> Array:
    """A real array (..., size); float32 stays, every other real type becomes float64; masked elements become NaN."""
    try:
        raw = real_numbers(value, "biuf")
    except ValueError as error:
        raise ShapeError(name, expected=f"real numbers (..., {size})", got=str(error)) from None
    check_core(name, raw.shape, size, meaning)
    return raw if raw.dtype == np.float32 else raw.astype(np.float64, copy=False)


def check_core(name: str, shape: Shape, size: int, meaning: str) -> None:
    """ShapeError where an array has another last dimension than the argument."""
    if shape[-1:] != (size,):
        raise ShapeError(name, expected=f"(..., {size}): {meaning}", got=str(tuple(shape)))


def checked(robot: str, function: Function, given: Mapping[str, Any]) -> dict[str, Array]:
    """Arrays of the right core size, in the order of the table; absent optional arguments are left out."""
    return {
        argument.name: value
        if argument.kind is not None
        else as_argument(argument.name, value, argument.numbers, argument.meaning.format(name=robot))
        for argument, value in present(function, given)
    }


def present(function: Function, given: Mapping[str, Any]) -> Iterator[tuple[Argument, Any]]:
    """The arguments that a call gives, in the order of the table; of a payload and the like its numbers."""
    optional = {argument.name for argument in function.optional}
    for argument in (*function.arguments, *function.optional):
        value: Any = given.get(argument.name)
        if value is None and argument.name in optional:
            continue
        if argument.kind is None:
            yield argument, value
        elif isinstance(value, argument.kind):
            yield argument, value.numbers()  # type: ignore[attr-defined]
        else:
            expected = f"a tauforge.{argument.kind.__name__}"
            raise ShapeError(argument.name, expected=expected, got=type(value).__name__)


def batch_shape(arguments: Mapping[str, Array]) -> Shape:
    try:
        return np.broadcast_shapes(*(value.shape[:-1] for value in arguments.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in arguments.items())
        raise ShapeError("arguments", expected="leading shapes that broadcast together", got=shapes) from None


def finite_rows(arguments: Mapping[str, Array]) -> Array:
    """Which rows of the batch (...) are finite in every argument."""
    return reduce(np.logical_and, (np.asarray(np.isfinite(value).all(axis=-1)) for value in arguments.values()))
