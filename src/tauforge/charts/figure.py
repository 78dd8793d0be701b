"""A figure as data: what is drawn, with names and units, independent of the library that draws it.

Colours and legends of its lines are the same for both drawing libraries.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Style = Literal["line", "dashed", "dotted", "points", "bars", "thick", "arrow", "area"]
# Okabe and Ito's colours, which differ for any colour vision, on white and on black; their yellow is too faint.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A")
LINE_WIDTH = 1.6  # points in matplotlib, pixels in plotly
THICK_WIDTH = 4.5
AREA_OPACITY = 0.18
ARROW_HEAD = 12  # length, points or pixels
SKETCH_MARGIN = 0.03  # of the larger extent, on each side
LETTER, ROW, POINT = 0.018, 0.04, 0.0025  # of the larger extent: letters, rows of words and points on a small screen
MARK_COLOUR = "#7A7A7A"
CROWD = 200  # points from which on they are drawn smaller and translucent
CROWD_OPACITY = 0.45

SCRIPT = re.compile(r"(?<=\S)([_^])(?:\{([^{}]*)\}|(\w))")

Key = tuple[str, str]  # label and style: lines of several panels with the same key are one entry of the legend


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
class ChartPanel:
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
    panels: tuple[ChartPanel, ...] = field(default_factory=tuple)
    columns: int = 1


def key(line: Line) -> Key:
    return line.label, line.style


def has_one_legend(figure: Figure) -> bool:
    """True if one panel names the lines of all panels."""
    panels = [{key(line) for line in panel.lines} for panel in figure.panels]
    return set().union(*panels) in panels


def legend_lines(figure: Figure, where: Iterable[int]) -> list[Line]:
    """Lines of these panels with an entry: each name once, and no line alone whose name stands in a title or label."""
    panels = [figure.panels[k] for k in where]
    entries: dict[Key, Line] = {}
    for line in (line for panel in panels for line in panel.lines if line.label):
        entries.setdefault(key(line), line)
    said = " ".join([figure.title, *(f"{panel.title} {panel.y_label}" for panel in panels)]).lower()
    if len(entries) == 1 and all(line.label.lower() in said for line in entries.values()):
        return []
    return list(entries.values())


def colours(figure: Figure) -> list[dict[Key, str]]:
    """For each panel the colour of each line; a name keeps its colour through the panels while there are enough."""
    everything = [line for panel in figure.panels for line in panel.lines]
    if has_one_legend(figure) or len({line.like or line.label for line in everything}) <= len(PALETTE):
        return [_assigned(everything)] * len(figure.panels)
    return [_assigned(panel.lines) for panel in figure.panels]


def _assigned(lines: Sequence[Line]) -> dict[Key, str]:
    """By label. Where curves come in sets by style (six solid, six dashed), the sets go through the same colours."""
    colour_of = {key(line): line.like or line.label for line in lines}
    keys, labels = list(colour_of), list(dict.fromkeys(colour_of.values()))
    sets = Counter(style for _, style in keys)
    in_sets = len(sets) > 1 and len(set(sets.values())) == 1 and len(keys) > len(sets)
    if len(labels) > len(PALETTE) or (in_sets and len(labels) == len(keys)):
        places: dict[Key, int] = {}
        for label, style in keys:
            places[label, style] = sum(other == style for _, other in places)
    else:
        places = {one: labels.index(label) for one, label in colour_of.items()}
    return {one: PALETTE[place % len(PALETTE)] for one, place in places.items()}


def wrapped(label: str, width: int) -> list[str]:
    """A label in lines of about `width` characters, so that it is not cut at the edge."""
    return textwrap.wrap(label, width, break_long_words=False) or [""]


def categories(panel: ChartPanel) -> list[str] | None:
    """The labels along x, in order of appearance; None where x are numbers."""
    named = [x for line in panel.lines if isinstance(line.x, list) for x in line.x]
    return list(dict.fromkeys(named)) or None


def description(figure: Figure) -> str:
    """The figure in words, for readers who cannot see it."""
    parts = ((f"{panel.title}: " if panel.title else "") + panel_description(panel) for panel in figure.panels)
    return f"{figure.title}. " + "; ".join(parts) + "."


def panel_description(panel: ChartPanel) -> str:
    lines = ", ".join(dict.fromkeys(line.label for line in panel.lines if line.label))
    if panel.sketch:
        words = ", ".join(dict.fromkeys(note.text for note in panel.notes))
        return "a drawing" + (f" of {lines}" if lines else "") + (f", with the words {words}" if words else "")
    return f"{panel.y_label} against {panel.x_label}" + (f" for {lines}" if lines else "")


def scripted(text: str, lowered: str, raised: str) -> str:
    """A note with its subscripts and superscripts put into these patterns, such as "<sub>{}</sub>"."""
    patterns = {"_": lowered, "^": raised}
    return SCRIPT.sub(lambda found: patterns[found[1]].format(found[2] or found[3]), text)


def window(panel: ChartPanel) -> tuple[tuple[float, float], tuple[float, float]]:
    """The window of a sketch: least and largest x, least and largest y, with a margin and room for its words."""
    x = [value for line in panel.lines for value in np.asarray(line.x, float)]
    y = [value for line in panel.lines for value in line.y]
    extent = max(np.ptp(x), np.ptp(y))
    for note in panel.notes:
        rows = scripted(note.text, "{}", "{}").split("\n")
        for ends, at, shift, size in (
            (x, note.x, note.shift[0], LETTER * max(map(len, rows))),
            (y, note.y, note.shift[1], ROW * len(rows)),
        ):
            middle = at + extent * (POINT * shift + np.sign(shift) * size / 2)
            ends += [middle - extent * size / 2, middle + extent * size / 2]
    margin = SKETCH_MARGIN * extent
    return (float(min(x) - margin), float(max(x) + margin)), (float(min(y) - margin), float(max(y) + margin))


def aspect(panel: ChartPanel) -> float:
    """Width of a sketch over its height."""
    (left, right), (bottom, top) = window(panel)
    return (right - left) / (top - bottom)
