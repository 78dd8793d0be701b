"""Exact polynomials in the number of joints, for operation counts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Polynomial(NamedTuple):
    """c0 + c1 n + c2 n^2 + ..., exactly."""

    coefficients: tuple[Fraction, ...]

    def __call__(self, n: int) -> Fraction:
        return sum((c * n**k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __str__(self) -> str:
        text = ""
        for k, c in reversed(list(enumerate(self.coefficients))):
            if c:
                factor = "" if abs(c) == 1 and k else str(abs(c))
                power = "" if k == 0 else "n" if k == 1 else f"n^{k}"
                sign = " - " if c < 0 and text else "-" if c < 0 else " + " if text else ""
                text += sign + " ".join(part for part in (factor, power) if part)
        return text or "0"


def poly(*coefficients: int | str) -> Polynomial:
    """Coefficients of 1, n, n^2, ...; "32/3" is a fraction."""
    return Polynomial(tuple(Fraction(c) for c in coefficients))


def added(terms: Sequence[Polynomial]) -> Polynomial:
    length = max(len(term.coefficients) for term in terms)
    sums = [sum((t.coefficients[k] for t in terms if k < len(t.coefficients)), Fraction(0)) for k in range(length)]
    while len(sums) > 1 and not sums[-1]:
        sums.pop()
    return Polynomial(tuple(sums))


def interpolated(points: list[int], values: list[int]) -> Polynomial:
    """The polynomial of lowest degree through all points, exactly (Newton's divided differences)."""
    table = [Fraction(v) for v in values]
    differences = [table[0]]
    for order in range(1, len(points)):
        table = [(table[i + 1] - table[i]) / (points[i + order] - points[i]) for i in range(len(points) - order)]
        differences.append(table[0])
    result, factor = [Fraction(0)] * len(points), [Fraction(1)]
    for point, difference in zip(points, differences, strict=True):
        for k, c in enumerate(factor):
            result[k] += difference * c
        factor = [
            (factor[k - 1] if k else Fraction(0)) - point * (factor[k] if k < len(factor) else Fraction(0))
            for k in range(len(factor) + 1)
        ]
    return added([Polynomial(tuple(result))])
