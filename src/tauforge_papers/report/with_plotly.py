"""A figure for plotly: one plain dict for each panel, as plotly.js and `plotly.graph_objects.Figure` take it.

The page sets the colours of background, text and grid, because it knows whether it is light or dark. It also makes the
legend. Numbers are float32, and long curves have fewer points: what a screen shows. The files of data have everything.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from tauforge.charts.figure import (
    AREA_OPACITY,
    ARROW_HEAD,
    CROWD,
    CROWD_OPACITY,
    LINE_WIDTH,
    MARK_COLOUR,
    THICK_WIDTH,
    ChartPanel,
    Figure,
    Key,
    Line,
    categories,
    colours,
    key,
    scripted,
    window,
    wrapped,
)

DASHES = {"dashed": "dash", "dotted": "dot"}  # others are solid
MOST_POWERS = 8  # labels along a logarithmic axis
FEWEST_DECADES = 2.5  # for ticks at powers of ten alone
MOST_POINTS = 320  # of a curve in a page: as many as a panel is wide in pixels
PER_STRETCH = 4  # points that a stretch of a long curve keeps: its first and last, its least and largest
MOST_AT_ONCE = 8  # lines whose values are shown together under the pointer; more would cover the curves


def panels(figure: Figure) -> list[dict[str, Any]]:
    """{"data": traces in the order of the lines, "layout": axes and marks}, for each panel."""
    return [
        {
            "data": [(_sketched if panel.sketch else _trace)(line, colour) for line in panel.lines],
            "layout": _sketch_layout(panel) if panel.sketch else _layout(panel),
        }
        for panel, colour in zip(figure.panels, colours(figure), strict=True)
    ]


def _trace(line: Line, colour: dict[Key, str]) -> dict[str, Any]:
    line_colour = colour[key(line)]
    kept = np.arange(len(line.y)) if line.style in ("bars", "points") else _kept(line.y)
    x = [_text(name) for name in line.x] if isinstance(line.x, list) else _packed(np.asarray(line.x)[kept])
    y = _packed(line.y[kept])
    trace: dict[str, Any] = {"name": _text(line.label), "x": x, "y": y, "hoverlabel": {"namelength": -1}}
    if line.style == "bars":
        return trace | {"type": "bar", "marker": {"color": line_colour}}
    if line.style == "points":
        size = {"size": 4, "opacity": CROWD_OPACITY} if len(line.x) > CROWD else {"size": 7}
        return trace | {"type": "scatter", "mode": "markers", "marker": {"color": line_colour, **size}}
    look = {"color": line_colour, "width": LINE_WIDTH, "dash": DASHES.get(line.style, "solid")}
    return trace | {"type": "scatter", "mode": "lines", "line": look}


def _sketched(line: Line, colour: dict[Key, str]) -> dict[str, Any]:
    """A line of a sketch: its name under the pointer, not its numbers."""
    line_colour = colour[key(line)]
    trace = _trace(line, colour)
    trace |= {"hoverinfo": "name"} if line.label else {"hoverinfo": "skip"}
    if line.style == "thick":
        trace["line"] = trace["line"] | {"width": THICK_WIDTH}
    elif line.style == "area":
        trace |= {"fill": "toself", "fillcolor": _faint(line_colour), "hoveron": "points"}
    elif line.style == "arrow":
        head = [0.0] * (len(line.y) - 1) + [float(ARROW_HEAD)]
        trace |= {"mode": "lines+markers", "cliponaxis": False}
        trace["marker"] = {
            "symbol": "arrow",
            "angleref": "previous",
            "size": head,
            "color": line_colour,
            "opacity": 1,
            "line": {"width": 0},
        }
    return trace


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{AREA_OPACITY})"


def _kept(y: np.ndarray) -> np.ndarray:
    """Places of the points of a curve that are drawn: all of a short one; extremes and gaps of a long one stay."""
    if len(y) <= MOST_POINTS:
        return np.arange(len(y))
    places = set[int]()
    for stretch in np.array_split(np.arange(len(y)), MOST_POINTS // PER_STRETCH):
        values = y[stretch]
        gaps = np.isnan(values)
        ends = stretch if gaps.any() else stretch[[0, -1, int(values.argmin()), int(values.argmax())]]
        places.update(ends.tolist())
    return np.array(sorted(places))


def _packed(values: np.ndarray) -> dict[str, str]:
    """An array as plotly.js unpacks it, smaller than digits."""
    return {"dtype": "f4", "bdata": base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()}


def _layout(panel: ChartPanel) -> dict[str, Any]:
    names = categories(panel)
    x_axis = _axis(panel.x_label, 60)
    y_axis = _axis(panel.y_label, 28) | {"automargin": "left"}
    if panel.log_x:
        x_axis |= _logarithmic([line.x for line in panel.lines])
    if panel.log_y:
        y_axis |= _logarithmic([line.y for line in panel.lines] if panel.y_range is None else [panel.y_range])
    if names is None:
        # Automatic margins and ticks that make room for each other may never settle, so each axis has its own side.
        x_axis |= {"tickangle": 0, "nticks": 8, "automargin": "bottom"}
    else:
        x_axis |= {"type": "category", "categoryorder": "array", "categoryarray": [_text(name) for name in names]}
    if panel.y_range is not None:
        y_axis["range"] = [float(np.log10(end) if panel.log_y else end) for end in panel.y_range]
    word: dict[str, Any] = {
        "yref": "y domain",
        "y": 1,
        "yanchor": "top",
        "xanchor": "right",
        "textangle": -90,
        "showarrow": False,
    }
    word |= {"xshift": -1, "font": {"size": 11}}
    dashes = {"color": MARK_COLOUR, "width": 1, "dash": "dot"}
    line = {"type": "line", "yref": "y domain", "y0": 0, "y1": 1, "line": dashes, "layer": "below"}
    # On a logarithmic axis plotly takes ranges and the positions of words as exponents, but those of lines as values.
    return {
        "xaxis": x_axis,
        "yaxis": y_axis,
        "shapes": [{**line, "x0": float(at), "x1": float(at)} for at, _ in panel.marks],
        "annotations": [
            {**word, "x": float(np.log10(at) if panel.log_x else at), "text": _text(said)} for at, said in panel.marks
        ],
        "showlegend": False,
        "hovermode": "x unified" if len(panel.lines) <= MOST_AT_ONCE else "closest",
        "margin": {"l": 12, "r": 22, "t": 14, "b": 12},
        "barmode": "group",
    }


def _sketch_layout(panel: ChartPanel) -> dict[str, Any]:
    across, up = window(panel)
    word: dict[str, Any] = {"showarrow": False, "font": {"size": 12}, "borderpad": 0}
    notes = [
        {
            **word,
            "x": note.x,
            "y": note.y,
            "text": scripted(_text(note.text), "<sub>{}</sub>", "<sup>{}</sup>").replace("\n", "<br>"),
            "xshift": note.shift[0],
            "yshift": note.shift[1],
            "xanchor": _side(note.shift[0], ("left", "center", "right")),
            "yanchor": _side(note.shift[1], ("bottom", "middle", "top")),
        }
        for note in panel.notes
    ]
    return {
        "xaxis": {"visible": False, "range": list(across), "constrain": "domain"},
        "yaxis": {"visible": False, "range": list(up), "scaleanchor": "x", "constrain": "domain"},
        "annotations": notes,
        "showlegend": False,
        "hovermode": "closest",
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
    }


def _side(shift: float, names: tuple[str, str, str]) -> str:
    """Which side of the words is near their point."""
    return names[0] if shift > 0 else names[2] if shift < 0 else names[1]


def _axis(label: str, width: int) -> dict[str, Any]:
    """width: characters in a line of its title."""
    title = {"text": "<br>".join(map(_text, wrapped(label, width))), "standoff": 8, "font": {"size": 13}}
    look = {"automargin": True, "zeroline": False, "showline": True, "ticks": "outside", "tickfont": {"size": 12}}
    return {"title": title, "exponentformat": "power", **look}


def _logarithmic(values: Sequence[Any]) -> dict[str, Any]:
    """Ticks at powers of ten alone, where there are enough of them; else at 1, 2 and 5 too."""
    numbers = np.concatenate([np.asarray(some, float) for some in values])
    positive = numbers[np.isfinite(numbers) & (numbers > 0)]
    decades = float(np.log10(positive.max() / positive.min())) if positive.size else 0.0
    return {"type": "log", "dtick": math.ceil(decades / MOST_POWERS) if decades > FEWEST_DECADES else "D2"}


def _text(label: str) -> str:
    """Escape a label: plotly would read tags and formulas in it."""
    return escape(label, quote=False).replace("$", "&#36;")
