"""Scalars that a formulation may be evaluated over. Products with 0 and 1 are folded here and nowhere else.

A formulation adds, subtracts, multiplies and divides its scalars, and applies the functions below: `sin`, `cos`,
`sqrt`, `sign`, `tanh`, `absolute`, `nearest`, `arctangent` and `select`. Plain floats are constants of the robot. A
value that varies may be a float too, an array of any library (a batch per component), a symbol, or a subclass of
`FoldingScalar`. For the latter, products with 0, 1 and -1 and sums with 0 cost nothing: structural zeros stay zeros.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

Scalar = Any
Scalars = Sequence[Scalar]

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}
NUMBER_TYPES = (int, float)
# functions that some libraries name differently
OTHER_NAMES = {("casadi", "abs"): "fabs", ("sympy", "abs"): "Abs", ("torch", "rint"): "round"}


def is_number(x: Scalar) -> bool:
    """True for a Python number (NumPy's float64 is one): a constant, which may fold."""
    return isinstance(x, NUMBER_TYPES)


def is_zero(x: Scalar) -> bool:
    return is_number(x) and bool(x == 0)


class FoldingScalar:
    """A scalar that folds 0, 1 and -1 and leaves the rest to `_binary` and `_unary` of the subclass."""

    __slots__ = ()
    __array_ufunc__ = None  # a NumPy number on the left defers to us
    rank = 0  # between two kinds of scalar, the higher rank does the operation: duals contain the others

    def _binary(self, name: str, a: Scalar, b: Scalar) -> Scalar:
        raise NotImplementedError

    def _unary(self, name: str) -> Scalar:
        raise NotImplementedError

    def _select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        raise NotImplementedError

    def _operation(self, name: str, other: Scalar, a: Scalar, b: Scalar) -> Scalar:
        if isinstance(other, FoldingScalar) and other.rank > self.rank:
            return NotImplemented
        return self._binary(name, a, b)

    def __add__(self, other: Scalar) -> Scalar:
        return self if is_zero(other) else self._operation("add", other, self, other)

    def __radd__(self, other: Scalar) -> Scalar:
        return self if is_zero(other) else self._operation("add", other, other, self)

    def __sub__(self, other: Scalar) -> Scalar:
        return self if is_zero(other) else self._operation("sub", other, self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self if is_zero(other) else self._operation("sub", other, other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        return self._times(other, self, other)

    def __rmul__(self, other: Scalar) -> Scalar:
        return self._times(other, other, self)

    def _times(self, other: Scalar, a: Scalar, b: Scalar) -> Scalar:
        if is_number(other):
            if other == 0:
                return 0.0
            if other == 1:
                return self
            if other == -1:
                return -self
        return self._operation("mul", other, a, b)

    def __truediv__(self, other: Scalar) -> Scalar:
        if is_number(other) and abs(other) == 1:
            return self if other == 1 else -self
        return self._operation("div", other, self, other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return 0.0 if is_zero(other) else self._operation("div", other, other, self)

    def __neg__(self) -> Scalar:
        return self._unary("neg")


class ArrayScalar(FoldingScalar):
    """One component of a batch: an array (or symbol) of any library, with folding around it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def _binary(self, name: str, a: Scalar, b: Scalar) -> ArrayScalar:
        operation = arctangent if name == "atan2" else BINARY[name]
        return ArrayScalar(operation(_bare(a), _bare(b)))

    def _unary(self, name: str) -> ArrayScalar:
        return ArrayScalar(-self.value if name == "neg" else function(name, self.value))

    def _select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> ArrayScalar:
        return ArrayScalar(select(_bare(a), _bare(b), _bare(x), _bare(y)))

    def __repr__(self) -> str:
        return f"ArrayScalar({self.value!r})"


def _bare(x: Scalar) -> Any:
    return x.value if isinstance(x, ArrayScalar) else x


def function(name: str, x: Scalar) -> Scalar:
    """The function `name` of x, from the library that x comes from."""
    if isinstance(x, FoldingScalar):
        return x._unary(name)
    if is_number(x):
        return _of_number(name, float(x))
    label, library = _library(x)
    return getattr(library, OTHER_NAMES.get((label, name), name))(x)


def _library(x: Any) -> tuple[str, Any]:
    """Name and functions of the library that x comes from."""
    label = type(x).__module__.partition(".")[0]
    namespace = getattr(x, "__array_namespace__", None)
    return label, sys.modules[label] if namespace is None else namespace()


def _of_number(name: str, x: float) -> float:
    if name == "sign":
        return x if x == 0 or math.isnan(x) else math.copysign(1.0, x)
    if name == "abs":
        return abs(x)
    if name == "rint":
        return float(round(x)) if math.isfinite(x) else x
    try:
        return float(getattr(math, name)(x))
    except ValueError:  # sin(inf), sqrt(-1): NaN, as arrays give it
        return math.nan


def reciprocal(x: Scalar) -> Scalar:
    """1 / x; infinite for the number 0, as arrays give it."""
    return math.inf if is_zero(x) else 1.0 / x


def sin(x: Scalar) -> Scalar:
    return function("sin", x)


def cos(x: Scalar) -> Scalar:
    return function("cos", x)


def sqrt(x: Scalar) -> Scalar:
    return function("sqrt", x)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1; 0 at 0, with derivative 0 everywhere."""
    return function("sign", x)


def tanh(x: Scalar) -> Scalar:
    return function("tanh", x)


def absolute(x: Scalar) -> Scalar:
    return function("abs", x)


def nearest(x: Scalar) -> Scalar:
    """The nearest whole number, the even one of two; with derivative 0."""
    return function("rint", x)


def arctangent(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y), in (-pi, pi]."""
    if is_number(y) and is_number(x):
        return math.atan2(y, x)
    scalars = [s for s in (y, x) if isinstance(s, FoldingScalar)]
    if scalars:
        return max(scalars, key=lambda s: s.rank)._binary("atan2", y, x)
    return _library(x if is_number(y) else y)[1].atan2(y, x)


def select(a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
    """x where a < b, y elsewhere, and y where a or b is NaN. Both x and y are evaluated."""
    if is_number(a) and is_number(b):
        return x if a < b else y
    scalars = [s for s in (a, b, x, y) if isinstance(s, FoldingScalar)]
    if scalars:
        return max(scalars, key=lambda s: s.rank)._select(a, b, x, y)
    label, library = _library(b if is_number(a) else a)
    match label:
        case "casadi":
            return library.if_else(a < b, x, y)
        case "sympy":
            return library.Piecewise((x, a < b), (y, True))
        case _:
            return library.where(a < b, x, y)


def cos_sin(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine; a constant goes through `cos_sin_of_constant`."""
    return cos_sin_of_constant(float(angle)) if is_number(angle) else (cos(angle), sin(angle))


def cos_sin_of_constant(angle: float) -> tuple[float, float]:
    """Cosine and sine of a constant angle, exact at multiples of a quarter turn.

    math.cos(math.pi / 2) is 6e-17: a structural zero lost. An angle within 4 rounding errors of such a multiple is
    taken as that multiple.
    """
    quarters = angle / (math.pi / 2)
    nearest = round(quarters)
    if abs(quarters - nearest) <= 4 * sys.float_info.epsilon * max(1, abs(nearest)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[nearest % 4]
    return math.cos(angle), math.sin(angle)
