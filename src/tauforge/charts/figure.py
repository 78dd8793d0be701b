"""A figure as data: what is drawn, with names and units, independent of the library that draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Style = Literal["line", "dashed", "dotted", "points", "bars", "thick", "arrow", "area"]


@dataclass(frozen=True)
class Line:
    """One curve (or row of points or bars): x (k,) or k labels, y (k,); NaN in y is a gap.

    Styles for sketches: "thick", "arrow" with its head at the last point, "area" closed and filled.

    like: label of the line whose colour it shares, such as the line that it estimates; "": a colour of its own
    """

    label: str
    x: np.ndarray | list[str]
    y: np.ndarray
    style: Style = "line"
    like: str = ""


@dataclass(frozen=True)
class Note:
    """Words at a point of a sketch; f_i and f_{i+1} have a subscript, f^P a superscript.

    shift: points right and up, from the point to the near side of the words
    """

    text: str
    x: float
    y: float
    shift: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Panel:
    """Curves over one pair of axes; units stand in the labels, as in "leg force (N)".

    marks:   instants on the x axis worth a thin vertical line, with a word beside each
    y_range: the range that is shown where a curve goes to infinity; None: all of it
    sketch:  a schematic drawing: equal scales and no axes; the labels of the axes are only in its data
    notes:   words at points of a sketch
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    marks: tuple[tuple[float, str], ...] = ()
    y_range: tuple[float, float] | None = None
    sketch: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Figure:
    """Panels in rows of `columns`. name: for files, in lower case with dashes; caption: one or two sentences."""

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...] = field(default_factory=tuple)
    columns: int = 1
