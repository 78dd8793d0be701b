"""Dual numbers: a value and its derivatives with respect to chosen inputs, over any scalar.

A formulation evaluated over duals gives its exact derivatives, the reference for all other derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tauforge.algebra.scalars import FoldingScalar, Scalar, arctangent, cos, function, select, sign, sin

SLOPES: dict[str, Callable[[Scalar, Scalar], Scalar]] = {  # of y, a function of x, by x and y
    "neg": lambda x, y: -1.0,
    "sin": lambda x, y: cos(x),
    "cos": lambda x, y: -sin(x),
    "sqrt": lambda x, y: 0.5 / y,
    "tanh": lambda x, y: 1.0 - y * y,
    "abs": lambda x, y: sign(x),
    "rint": lambda x, y: 0.0,
    "sign": lambda x, y: 0.0,  # flat wherever it has a derivative, and taken as flat at 0
}


class Dual(FoldingScalar):
    """value + sum of tangent[k] eps_k, eps_j eps_k = 0. A missing tangent is zero."""

    __slots__ = ("tangent", "value")
    rank = 1

    def __init__(self, value: Scalar, tangent: dict[int, Scalar]) -> None:
        self.value, self.tangent = value, tangent

    def _binary(self, name: str, a: Scalar, b: Scalar) -> Dual:
        (u, du), (v, dv) = _parts(a), _parts(b)
        match name:
            case "add":
                return Dual(u + v, _combine((du, 1.0), (dv, 1.0)))
            case "sub":
                return Dual(u - v, _combine((du, 1.0), (dv, -1.0)))
            case "mul":
                return Dual(u * v, _combine((du, v), (dv, u)))
            case "atan2":
                scale = 1.0 / (u * u + v * v)
                return Dual(arctangent(u, v), _combine((du, v * scale), (dv, -u * scale)))
            case _:
                reciprocal = 1.0 / v
                quotient = u * reciprocal
                return Dual(quotient, _combine((du, reciprocal), (dv, -quotient * reciprocal)))

    def _unary(self, name: str) -> Dual:
        x = self.value
        y = -x if name == "neg" else function(name, x)
        return Dual(y, _combine((self.tangent, SLOPES[name](x, y))))

    def _select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Dual:
        u, v = primal(a), primal(b)
        (p, dp), (q, dq) = _parts(x), _parts(y)
        tangent = {k: select(u, v, dp.get(k, 0.0), dq.get(k, 0.0)) for k in dp | dq}
        return Dual(select(u, v, p, q), tangent)

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.tangent!r})"


def _parts(x: Scalar) -> tuple[Scalar, dict[int, Scalar]]:
    return (x.value, x.tangent) if isinstance(x, Dual) else (x, {})


def _combine(*terms: tuple[dict[int, Scalar], Scalar]) -> dict[int, Scalar]:
    total: dict[int, Scalar] = {}
    for tangent, factor in terms:
        for k, t in tangent.items():
            total[k] = total[k] + t * factor if k in total else t * factor
    return total


def seeded(values: Iterable[Scalar], first: int = 0) -> list[Dual]:
    """Independent inputs: the k-th value is input `first + k`."""
    return [Dual(value, {first + k: 1.0}) for k, value in enumerate(values)]


def derivative(x: Scalar, k: int) -> Scalar:
    """d x / d input k."""
    return x.tangent.get(k, 0.0) if isinstance(x, Dual) else 0.0


def primal(x: Scalar) -> Scalar:
    return x.value if isinstance(x, Dual) else x
