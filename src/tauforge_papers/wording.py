"""Measured numbers in words that hold on every machine."""

from __future__ import annotations

ROUNDING = 1e-12  # of the largest value: the most that rounding may leave, on any processor


def within(error: float, bound: float = ROUNDING) -> str:
    """An error of rounding in words: the bound that it keeps, since the error itself changes with the processor."""
    return f"within {bound:g}" if error < bound else f"{error:.1e} off"


def less_or_more(value: float, bound: float, unit: str) -> str:
    """A time in words that hold on every machine of some age."""
    return f"{'less' if value < bound else 'more'} than {bound:g} {unit}"
