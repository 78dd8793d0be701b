"""Arguments of functions: as users name them in a call, as arrays of the right shape and type; fields that vary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_numbers
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.functions import Argument, Function
from tauforge.kernels.specification import Shape
from tauforge.validation import did_you_mean, real_array

if TYPE_CHECKING:
    from tauforge.evaluation.with_functions import WithFunctions

ON_SINGULAR = "on_singular"


def by_name(
    robot: str, name: str, function: Function, given: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """All that a call gives, by name: the arguments may be given by position or by name, the rest by name.

    TypeError as Python words it where an argument is missing, or given twice. UnsupportedFeatureError for a keyword
    that the function does not have.
    """
    state = [argument.name for argument in function.arguments]
    guarded = [ON_SINGULAR] if function.guard is not None else []
    keywords = [*(load.name for load in function.optional), *function.options, *guarded]
    if unknown := sorted(set(named) - {*state, *keywords}):
        remedy = f"{did_you_mean(unknown[0], keywords)}Known: {', '.join(keywords) or 'none'}"
        raise UnsupportedFeatureError(f"{name} of {robot} takes no {unknown[0]}=", field=unknown[0], remedy=remedy)
    taken = f"{name} takes {len(state)} arguments ({', '.join(state)})"
    if len(given) > len(state):
        raise TypeError(f"{taken}, got {len(given)}")
    if twice := [argument for argument in state[: len(given)] if argument in named]:
        raise TypeError(f"{taken}, got {twice[0]} twice")
    found = {**dict(zip(state, given, strict=False)), **named}
    if missing := [argument for argument in state if argument not in found]:
        raise TypeError(f"{taken}, got {len(state) - len(missing)}: {missing[0]} is missing")
    return found


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
    for argument in (*function.arguments, *function.optional):
        value: Any = given.get(argument.name)
        if value is None and argument in function.optional:
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
    """Mask (...) of the rows of the batch that are finite in every argument."""
    return reduce(np.logical_and, (np.asarray(np.isfinite(value).all(axis=-1)) for value in arguments.values()))


NEVER_NEGATIVE = ("mass", "viscous", "coulomb", "motor_inertia", "friction")  # ends of names of fields
NEVER_ZERO = {"universal_axes": "axes other than zero", "gear_ratio": "numbers other than 0"}


def check_names(robot: WithFunctions, varying: Sequence[str]) -> tuple[str, ...]:
    """The names as a tuple, if these fields of the robot may vary, each once."""
    fields = known_fields(robot, varying)
    if len(set(fields)) < len(fields):
        raise UnsupportedFeatureError("a field is named twice", field="varying")
    robot._check_varying(fields)
    return fields


def known_fields(robot: WithFunctions, names: Sequence[str]) -> tuple[str, ...]:
    """The names as a tuple, if each is one of `varying_fields`."""
    if isinstance(names, str):
        raise UnsupportedFeatureError(f"expected a sequence of names, got {names!r}", field="varying")
    fields, known = tuple(names), robot.varying_fields
    for field in fields:
        if field not in known:
            robot._check_varying((field,))  # it may know why
            listed = f"{did_you_mean(field, known)}Use one of {', '.join(known)}"
            remedy = listed if known else f"No field of {robot.name} can vary"
            raise UnsupportedFeatureError(f"{field!r} cannot vary", field="varying", remedy=remedy)
    return fields


def check_values(robot: WithFunctions, given: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Arrays (N, *core) or (*core) of the fields that vary, with values that a robot may have."""
    fields = {}
    for name in check_names(robot, tuple(given)):
        value = real_array(name, given[name]).astype(float, copy=False)
        core = robot.varying_fields[name]
        if value.ndim < len(core) or value.shape[value.ndim - len(core) :] != core:
            raise ShapeError(name, expected=f"(N, {', '.join(map(str, core))})", got=str(value.shape))
        _check_range(name, value)
        fields[name] = value
    return fields


def _check_range(field: str, value: Array) -> None:
    if not np.isfinite(value).all():
        raise ShapeError(field, expected="finite numbers", got=str(value[~np.isfinite(value)][0]))
    if field.endswith(NEVER_NEGATIVE) and (value < 0).any():
        raise ShapeError(field, expected="numbers >= 0", got=str(value.min()))
    zero = ~value.any(axis=-1) if field == "universal_axes" else value == 0
    if field in NEVER_ZERO and zero.any():
        raise ShapeError(field, expected=NEVER_ZERO[field], got=str(value[zero][0].tolist()))


def in_rows(robot: WithFunctions, fields: Mapping[str, Array], rows: int) -> dict[str, Array]:
    """A share for every row, (rows, *core)."""
    return {name: np.broadcast_to(x, (rows, *robot.varying_fields[name])) for name, x in fields.items()}


def without_choices(options: Mapping[str, object]) -> dict[str, object]:
    """The first of each choice: forward derivatives. Reverse ones would record the robot's parameters twice."""
    return {name: value[0] if isinstance(value, tuple) else value for name, value in options.items()}
