"""Panels of curves over time: a panel for each coordinate, and two curves with their difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Line, Style
from tauforge.errors import ShapeError
from tauforge.validation import real_array

TIME_LABEL = "time (s)"
Curve = tuple[str, Array, Style]  # label, (k, n) and style


def panels_along(
    title: str, time: Array, y_label: str, curves: Sequence[Curve], **options: Any
) -> tuple[ChartPanel, ...]:
    """A panel for each of the n columns of the curves, "leg 1" to "leg n" with the title "leg"; options: of a panel."""
    return tuple(
        ChartPanel(
            f"{title} {i + 1}",
            TIME_LABEL,
            y_label,
            tuple(Line(label, time, y[:, i], style) for label, y, style in curves),
            **options,
        )
        for i in range(curves[0][1].shape[1])
    )


def with_difference(
    first: tuple[str, Array], second: tuple[str, Array], label: str = "difference"
) -> tuple[Curve, ...]:
    """Two curves, and the first less the second, which has this label."""
    return (*first, "line"), (*second, "dashed"), (label, first[1] - second[1], "dotted")


def times_of(time: ArrayLike, values: Array) -> Array:
    """The times (k,) of values (k, n). ShapeError for others."""
    t = real_array("time", time).astype(float)
    if values.ndim != 2 or t.shape != values.shape[:1]:
        expected = f"(k,), and results (k, {values.shape[-1]}) at the states of a motion"
        raise ShapeError("time", expected=expected, got=f"{t.shape} and {values.shape}")
    return t
