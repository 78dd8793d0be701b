"""Arrays of recording scalars: NumPy's functions on them are recorded, or refused with the reason.

What compares gives a `Truth`, which `numpy.where` and products take. NaN compares as in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tauforge.algebra import scalars
from tauforge.algebra.scalars import FoldingScalar, Scalar, arctangent, is_number, select
from tauforge.tracing.graph import Traced, UntraceableError

SAME_NUMBER = 1e-37  # two numbers of any precision that are nearer than this are the same


class Truth:
    """1 where something holds and 0 elsewhere. It has no truth, for both sides are computed."""

    def __init__(self, holds: Scalar) -> None:
        self.holds = holds

    def __and__(self, other: Any) -> Truth:
        return Truth(self.holds * _holds(other))

    def __or__(self, other: Any) -> Truth:
        return Truth(select(0.5, self.holds + _holds(other), 1.0, 0.0))

    def __invert__(self) -> Truth:
        return Truth(1.0 - self.holds)

    def __mul__(self, number: Scalar) -> Scalar:
        return self.holds * (number.holds if isinstance(number, Truth) else number)

    __rmul__, __rand__, __ror__ = __mul__, __and__, __or__

    def __bool__(self) -> bool:
        return bool(self.holds)

    def chosen(self, x: Scalar, y: Scalar) -> Scalar:
        return select(0.5, self.holds, x, y)


def _holds(x: Any) -> Scalar:
    return x.holds if isinstance(x, Truth) else float(bool(x))


def _less(a: Scalar, b: Scalar) -> Truth:
    return Truth(select(a, b, 1.0, 0.0))


def _equal(a: Scalar, b: Scalar) -> Truth:
    return Truth(select(scalars.absolute(a - b), SAME_NUMBER, 1.0, 0.0))


def _less_or_equal(a: Scalar, b: Scalar) -> Truth:
    return _less(a, b) | _equal(a, b)


def _maximum(a: Scalar, b: Scalar) -> Scalar:
    if is_number(a):
        a, b = b, a
    return select(a, b, b, a if is_number(b) else select(b, a, a, (a + b) / 2))  # NaN where one of them is


def _minimum(a: Scalar, b: Scalar) -> Scalar:
    return -_maximum(-a, -b)


def _power(x: Scalar, exponent: Scalar) -> Scalar:
    if is_number(x) and is_number(exponent):
        return float(x) ** float(exponent)
    if not is_number(exponent) or not float(2 * exponent).is_integer():
        return (x if isinstance(x, Traced) else exponent).refuse("a power that is no multiple of 1/2 known beforehand")
    whole = float(exponent).is_integer()
    product = math.prod([x] * abs(int(exponent)) if whole else [scalars.sqrt(x)] * abs(int(2 * exponent)), start=1.0)
    return scalars.reciprocal(product) if exponent < 0 else product


RECORDED: dict[str, Callable[..., Any]] = {  # by the name of NumPy's function
    **{name: getattr(scalars, name) for name in ("sin", "cos", "sqrt", "tanh", "sign", "absolute")},
    "fabs": scalars.absolute,
    "rint": scalars.nearest,
    "tan": lambda x: scalars.sin(x) / scalars.cos(x),
    "arctan": lambda x: arctangent(x, 1.0),
    "arcsin": lambda x: arctangent(x, scalars.sqrt((1.0 - x) * (1.0 + x))),
    "arccos": lambda x: arctangent(scalars.sqrt((1.0 - x) * (1.0 + x)), x),
    "arctan2": arctangent,
    "hypot": lambda x, y: scalars.sqrt(x * x + y * y),
    "square": lambda x: x * x,
    "reciprocal": scalars.reciprocal,
    "power": _power,
    "float_power": _power,
    "positive": lambda x: x,
    "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "maximum": _maximum,
    "minimum": _minimum,
    "clip": lambda x, low, high: _minimum(_maximum(x, low), high),
    "less": _less,
    "greater": lambda a, b: _less(b, a),
    "less_equal": _less_or_equal,
    "greater_equal": lambda a, b: _less_or_equal(b, a),
    "equal": _equal,
    "not_equal": lambda a, b: ~_equal(a, b),
    "logical_not": lambda x: ~x,
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "where": lambda holds, x, y: holds.chosen(x, y) if isinstance(holds, Truth) else (x if holds else y),
}
ARITHMETIC = {"add", "subtract", "multiply", "divide", "negative", "matmul", "bitwise_and", "bitwise_or", "invert"}
ARRANGING = set(  # NumPy's functions that move, add and multiply elements, whatever they are
    """
    append array_split atleast_1d atleast_2d broadcast_to clip column_stack concatenate copy copyto cross cumsum delete
    diag diagonal diff dot dstack einsum empty_like expand_dims flip full_like hstack inner insert kron mean moveaxis
    ndim ones_like outer prod ravel repeat reshape roll shape size split squeeze stack sum swapaxes take tensordot tile
    trace transpose tril triu vdot vstack zeros_like
    """.split()  # noqa: SIM905 - fifty names
)


class LawArray(np.ndarray[Any, Any]):
    """An array of objects: recording scalars, and numbers among them."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        name = ufunc.__name__
        if any(not isinstance(array, LawArray) for array in out):
            refuse(inputs, "an array of numbers is to hold what is known only when it runs; make a new one")
        plain = [law_array(x).view(np.ndarray) if np.asarray(x).dtype == object else x for x in inputs]
        if name in ARITHMETIC:
            found = getattr(ufunc, method)(*plain, **options)
        elif name in RECORDED and method == "__call__" and not options:
            found = elementwise(name, *plain)
        else:
            refuse(inputs, f"numpy.{name}{'' if method == '__call__' else '.' + method} is not recorded")
        if out:
            out[0][...] = found
            return out[0]
        return law_array(found)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where and len(args) == 3 and not kwargs:
            return law_array(elementwise("where", *(law_array(x).view(np.ndarray) for x in args)))
        if func.__module__ != "numpy" or func.__name__ not in ARRANGING:
            refuse((self,), f"{func.__module__}.{func.__name__} is not recorded")
        found = super().__array_function__(func, types, args, kwargs)
        return law_array(found) if isinstance(found, np.ndarray | FoldingScalar) else found

    def __getattr__(self, name: str) -> Any:
        """Refuses what numbers have and arrays have not, as scalars that record do."""
        if hasattr(float, name):
            refuse((self,), f"{name} of a number is asked for that is known only when it runs")
        raise AttributeError(name)

    def dot(self, other: Any, out: None = None) -> Any:  # type: ignore[override]
        return np.dot(self, other)

    def __getitem__(self, index: Any) -> Any:
        return law_array(super().__getitem__(index))


def law_array(x: Any) -> LawArray:
    """The array with elements that are no arrays, as those of `numpy.array([x[0], 0.0])` are."""
    array = np.asarray(x, dtype=object)
    if any(isinstance(element, np.ndarray) for element in array.flat):
        array = np.frompyfunc(lambda e: e.item() if isinstance(e, np.ndarray) else e, 1, 1)(array)
    return np.asarray(array, dtype=object).view(LawArray)


def elementwise(name: str, *arrays: Any) -> Any:
    """A function of `RECORDED` on all elements."""
    return np.frompyfunc(RECORDED[name], len(arrays), 1)(*arrays)


def elements(x: Any) -> list[Any]:
    """The elements of nested sequences and arrays, one after another."""
    if isinstance(x, np.ndarray):
        return [element for row in x.ravel().tolist() for element in elements(row)]
    return [element for row in x for element in elements(row)] if isinstance(x, list | tuple) else [x]


def refuse(among: Iterable[Any], why: str) -> Any:
    """UntraceableError, which the recording remembers."""
    for x in elements(list(among)):
        scalar = x.holds if isinstance(x, Truth) else x
        if isinstance(scalar, Traced):
            scalar.refuse(why)
    raise UntraceableError(why)
