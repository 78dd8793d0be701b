"""A figure for plotly: one plain dict for each panel, as plotly.js and `plotly.graph_objects.Figure` take it.

Colours of paper, text and grid are left to the page, which knows whether it is light or dark, and so is the legend.
"""

from __future__ import annotations

import base64
from html import escape
from typing import Any

import numpy as np

from tauforge.plots.figure import Figure, Line, Panel
from tauforge.plots.pens import LINE_WIDTH, MARK_COLOUR, Key, categories, colours, key, wrapped

DASHES = {"line": "solid", "dashed": "dash", "dotted": "dot"}
MOST_AT_ONCE = 8  # lines whose values are shown together under the pointer; more would cover the curves


def panels(figure: Figure) -> list[dict[str, Any]]:
    """{"data": traces in the order of the lines, "layout": axes and marks}, for each panel."""
    return [
        {"data": [_trace(line, colour) for line in panel.lines], "layout": _layout(panel)}
        for panel, colour in zip(figure.panels, colours(figure), strict=True)
    ]


def _trace(line: Line, colour: dict[Key, str]) -> dict[str, Any]:
    pen = colour[key(line)]
    x = [_text(name) for name in line.x] if isinstance(line.x, list) else _packed(line.x)
    trace: dict[str, Any] = {"name": _text(line.label), "x": x, "y": _packed(line.y), "hoverlabel": {"namelength": -1}}
    if line.style == "bars":
        return trace | {"type": "bar", "marker": {"color": pen}}
    if line.style == "points":
        return trace | {"type": "scatter", "mode": "markers", "marker": {"color": pen, "size": 7}}
    look = {"color": pen, "width": LINE_WIDTH, "dash": DASHES[line.style]}
    return trace | {"type": "scatter", "mode": "lines", "line": look}


def _packed(values: np.ndarray) -> dict[str, str]:
    """An array as plotly.js unpacks it: exact, and smaller than digits."""
    return {"dtype": "f8", "bdata": base64.b64encode(np.asarray(values, "<f8").tobytes()).decode()}


def _layout(panel: Panel) -> dict[str, Any]:
    names = categories(panel)
    x_axis = _axis(panel.x_label, 60, panel.log_x)
    if names is not None:
        x_axis |= {"type": "category", "categoryorder": "array", "categoryarray": [_text(name) for name in names]}
    y_axis = _axis(panel.y_label, 28, panel.log_y)
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
    # On a logarithmic axis plotly takes ranges and the places of words as exponents, and those of lines as they are.
    return {
        "xaxis": x_axis,
        "yaxis": y_axis,
        "shapes": [{**line, "x0": float(at), "x1": float(at)} for at, _ in panel.marks],
        "annotations": [
            {**word, "x": float(np.log10(at) if panel.log_x else at), "text": _text(said)} for at, said in panel.marks
        ],
        "showlegend": False,
        "hovermode": "x unified" if len(panel.lines) <= MOST_AT_ONCE else "closest",
        "margin": {"l": 12, "r": 12, "t": 12, "b": 12},
        "barmode": "group",
    }


def _axis(label: str, width: int, logarithmic: bool) -> dict[str, Any]:
    scale = {"type": "log", "exponentformat": "power"} if logarithmic else {"exponentformat": "power"}
    title = {"text": "<br>".join(map(_text, wrapped(label, width))), "standoff": 8, "font": {"size": 13}}
    return {"title": title, "automargin": True, "zeroline": False, "showline": True, "ticks": "outside", **scale}


def _text(label: str) -> str:
    """Plotly reads tags and formulas in labels; ours have none."""
    return escape(label, quote=False).replace("$", "&#36;")
