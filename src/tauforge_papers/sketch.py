"""A schematic drawing as data: points in space, seen from one side without perspective, as lines of a panel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Line, Note, Style
from tauforge.pictures.schematic import View

Shift = tuple[float, float]
ARC_POINTS = 33  # of a full turn
BESIDE = 6.0  # points between the end of an arrow and its words
ASKEW = 0.35  # of the distance: words less to one side than this are centred


class Plane(View):
    """Points that have two coordinates already."""

    def __init__(self) -> None:
        self.axes = np.eye(2)


class Sketch:
    """Gathers the lines and words of one panel."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._lines: list[Line] = []
        self._notes: list[Note] = []

    def line(self, label: str, *points: ArrayLike, style: Style = "line") -> None:
        """A line through the points; with style "area" it is closed and filled."""
        x, y = self.view(np.array(points, float)).T
        self._lines.append(Line(label, x, y, style))

    def closed(self, label: str, *points: ArrayLike, style: Style = "area") -> None:
        self.line(label, *points, points[0], style=style)

    def flat_area(self, label: str, points: Array) -> None:
        """A filled area in the plane of the drawing. points: (k, 2), across and up."""
        x, y = np.concatenate([points, points[:1]]).T
        self._lines.append(Line(label, x, y, "area"))

    def points(self, label: str, *points: ArrayLike) -> None:
        self.line(label, *points, style="points")

    def note(self, text: str, at: ArrayLike, shift: Shift = (0.0, 0.0)) -> None:
        x, y = self.view(at)
        self._notes.append(Note(text, float(x), float(y), shift))

    def arrow(
        self,
        label: str,
        start: ArrayLike,
        end: ArrayLike,
        text: str = "",
        shift: Shift | None = None,
        at: float = 1.0,
    ) -> None:
        """text: beside the arrow, `at` 1 at its head and 0 at its foot; without a shift it stands beyond that end."""
        a, b = np.asarray(start, float), np.asarray(end, float)
        self.line(label, a, b, style="arrow")
        if text:
            self.note(text, a + at * (b - a), self.beyond(b - a if at else a - b) if shift is None else shift)

    def beyond(self, direction: ArrayLike, distance: float = BESIDE) -> Shift:
        """The shift of words that lie in this direction from their point."""
        seen = self.view(direction)
        x, y = (float(part) for part in seen / max(float(np.linalg.norm(seen)), 1e-12))
        return (0.0 if abs(x) < ASKEW else x * distance, 0.0 if abs(y) < ASKEW else y * distance)

    def arc(
        self,
        label: str,
        centre: ArrayLike,
        start: ArrayLike,
        axis: ArrayLike,
        angle: float,
        text: str = "",
        shift: Shift | None = None,
    ) -> None:
        """An arrow that turns `start`, a vector from the centre, about the unit vector `axis` by `angle`, rad."""
        middle, r, k = (np.asarray(v, float) for v in (centre, start, axis))
        turns = np.linspace(0.0, angle, max(3, math.ceil(ARC_POINTS * abs(angle) / math.tau)))[:, None]
        along = k * (k @ r)
        points = middle + along + np.cos(turns) * (r - along) + np.sin(turns) * np.cross(k, r)
        self.line(label, *points, style="arrow")
        if text:
            at = points[len(points) // 2]
            self.note(text, at, self.beyond(at - middle) if shift is None else shift)

    def frame(self, label: str, origin: ArrayLike, axes: ArrayLike, length: float, names: Sequence[str]) -> None:
        """Three arrows. axes: (3, 3), unit vectors in its columns; names "": without words."""
        for axis, name in zip(np.asarray(axes, float).T, names, strict=True):
            self.arrow(label, origin, np.asarray(origin, float) + length * axis, name)

    def panel(self, title: str = "", unit: str = "m") -> ChartPanel:
        words = f" ({unit})" if unit else ""
        return ChartPanel(
            title, f"across{words}", f"up{words}", tuple(self._lines), sketch=True, notes=tuple(self._notes)
        )


class Arrows:
    """Vectors of one unit, drawn to one scale. longest: m, the length of the largest as an arrow."""

    def __init__(self, label: str, unit: str, vectors: Sequence[ArrayLike], longest: float) -> None:
        self.label, self.unit = label, unit
        self.vectors = [np.asarray(vector, float) for vector in vectors]
        self.metres = longest / max(float(np.linalg.norm(vector)) for vector in self.vectors)  # for one unit

    @property
    def scale(self) -> str:
        """The magnitude that an arrow of 0.1 m represents, with its unit."""
        return f"{0.1 / self.metres:.3g} {self.unit}"

    def draw(
        self, sketch: Sketch, k: int, at: ArrayLike, text: str, shift: Shift | None = None, *, pushing: bool = False
    ) -> None:
        """Vector k. pushing: the arrow ends at the point instead of beginning there, and has its words at its foot."""
        point, arrow = np.asarray(at, float), self.metres * self.vectors[k]
        start, end = (point - arrow, point) if pushing else (point, point + arrow)
        sketch.arrow(self.label, start, end, text, shift, 0.0 if pushing else 1.0)
