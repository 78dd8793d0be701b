"""Formulas over NumPy columns: the reference for kernels, and runs with rounding errors in every operation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.algebra.scalars import BINARY, ArrayScalar, FoldingScalar, Scalar, arctangent, function, is_zero, select
from tauforge.arrays import Array
from tauforge.evaluation.arguments import batch_shape, finite_rows
from tauforge.evaluation.functions import Formula, choices, flat, results_of
from tauforge.kernels.specification import Shape

if TYPE_CHECKING:
    from tauforge.evaluation.with_functions import WithFunctions

ROWS_AT_A_TIME = 8192  # rows at a time: bounds the memory of the temporaries, and keeps them in the cache


def reference_call(
    robot: WithFunctions, name: str, arguments: Mapping[str, Array], fields: Mapping[str, Array]
) -> tuple[Array, ...]:
    """A plain call of the robot's function by the reference, with varying fields (..., *core) instead of its own."""
    function = robot.functions[name]

    def formula(**given: Any) -> Any:
        varied = {field: given.pop(field) for field in fields}
        return results_of(function.formula(robot.varied_model(varied), **given, **choices(function.options)[0]))

    shapes = robot.varying_fields
    flat_fields = {key: x.reshape(*x.shape[: x.ndim - len(shapes[key])], -1) for key, x in fields.items()}
    return reference(formula, {**arguments, **flat_fields}, function.results)


def reference(formula: Formula, arguments: Mapping[str, Array], results: Sequence[Shape]) -> tuple[Array, ...]:
    """The reference: formula(**columns) for every row over NumPy; float32 only if every argument is."""
    batch = batch_shape(arguments)
    if not batch:  # one state is a batch of one, so that it gets the very same digits
        single = reference(formula, {name: value[None] for name, value in arguments.items()}, results)
        return tuple(out[0] for out in single)
    dtype = np.result_type(*(value.dtype for value in arguments.values()))
    outs = tuple(np.empty(batch + core, dtype) for core in results)
    whole = {name: np.broadcast_to(value, batch + value.shape[-1:]) for name, value in arguments.items()}
    with np.errstate(all="ignore"):
        _fill(outs, batch, formula, whole)
    return outs


def _fill(outs: tuple[Array, ...], batch: Shape, formula: Formula, arguments: Mapping[str, Array]) -> None:
    rows = math.prod(batch)
    if rows > ROWS_AT_A_TIME:
        step = max(1, ROWS_AT_A_TIME * batch[0] // rows)
        for start in range(0, batch[0], step):
            whole = step > 1 or len(batch) == 1
            block: slice | int = slice(start, start + step) if whole else start
            part = (min(step, batch[0] - start), *batch[1:]) if whole else batch[1:]
            given = {name: value[block] for name, value in arguments.items()}
            _fill(tuple(out[block] for out in outs), part, formula, given)
        return
    columns = {name: [ArrayScalar(x[..., k].copy()) for k in range(x.shape[-1])] for name, x in arguments.items()}
    spoilt = ~finite_rows(arguments)
    scalars = iter(flat(formula(**columns)))
    for out in outs:
        for index in np.ndindex(*out.shape[len(batch) :]):
            scalar = next(scalars)
            # a result that overflows becomes NaN: 0 x + x; in kernels it may stay infinite
            out[(..., *index)] = scalar.value * 0.0 + scalar.value if isinstance(scalar, ArrayScalar) else scalar
        out[spoilt] = np.nan


RUNS = 6  # that the largest difference of so few is far below the usual one has a chance of less than 1 %
DIFFERENT = 997  # errors; a prime, so that they do not repeat with the steps of a formula
EPSILON = float(np.finfo(float).eps)

Errors = Iterator[Array]


def errors() -> Errors:
    """Factors (RUNS, 1) for the results of operations: 1 in the first run, else 1 but for rounding."""
    units = np.random.default_rng(0).integers(-1, 2, (DIFFERENT, RUNS, 1))
    units[:, 0] = 0
    return cycle(1.0 + EPSILON * units)


class Shaken(FoldingScalar):
    """One number in all runs, (RUNS, k) for k states or (RUNS, 1)."""

    __slots__ = ("errors", "value")

    def __init__(self, value: Any, errors: Errors) -> None:
        self.value, self.errors = value * next(errors), errors

    def _binary(self, name: str, a: Scalar, b: Scalar) -> Shaken:
        operation = arctangent if name == "atan2" else BINARY[name]
        return Shaken(operation(_bare(a), _bare(b)), self.errors)

    def _unary(self, name: str) -> Shaken:
        return Shaken(-self.value if name == "neg" else function(name, self.value), self.errors)

    def _select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Shaken:
        return Shaken(select(_bare(a), _bare(b), _bare(x), _bare(y)), self.errors)


def _bare(x: Scalar) -> Any:
    return x.value if isinstance(x, Shaken) else x


def shaken(values: Array, errors: Errors) -> list[Scalar]:
    """The columns of values (k, n), each known to rounding; a number that is zero stays one."""
    return [0.0 if len(values) == 1 and is_zero(float(x[0])) else Shaken(x, errors) for x in values.T]


def runs(results: Scalar, states: int) -> Array:
    """(RUNS, states, n) of n results."""
    return np.stack([np.broadcast_to(_bare(x), (RUNS, states)) for x in results], axis=-1)
