"""Figures as data, drawn by matplotlib and by plotly: the same lines, words and colours."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from support.made_up_studies import bars_figure, mixed_figure, sketch_figure, time_figure
from tauforge.charts.figure import PALETTE, ChartPanel, Figure, Line, colours, has_one_legend, legend_lines
from tauforge.charts.with_matplotlib import drawn
from tauforge.errors import ModelError
from tauforge_papers.report.with_plotly import MOST_POINTS, PER_STRETCH, panels


def unpacked(values: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])


@pytest.mark.parametrize("figure", [time_figure(), bars_figure(), mixed_figure()], ids=lambda figure: figure.name)
def test_both_draw_the_same_in_the_same_colours(figure: Figure) -> None:
    import matplotlib.colors
    import plotly.graph_objects as go

    canvas = drawn(figure)
    for axes, panel, plotted in zip(canvas.axes, figure.panels, panels(figure), strict=True):
        shown = go.Figure(plotted)  # checks every name and value
        assert (axes.get_xscale() == "log") == panel.log_x == (shown.layout.xaxis.type == "log")
        assert (axes.get_yscale() == "log") == panel.log_y == (shown.layout.yaxis.type == "log")
        curves, bars = iter(axes.lines), iter(axes.containers)
        for line, trace in zip(panel.lines, shown.data, strict=True):
            assert np.array_equal(unpacked(trace.y), line.y.astype(np.float32), equal_nan=True)
            if line.style == "bars":
                patches = next(bars).patches
                assert [bar.get_height() for bar in patches] == list(line.y)
                drawn_colour, colour = patches[0].get_facecolor(), trace.marker.color
            else:
                curve = next(curves)
                assert np.array_equal(curve.get_ydata(), line.y, equal_nan=True)
                drawn_colour, colour = curve.get_color(), (trace.marker if line.style == "points" else trace.line).color
            assert matplotlib.colors.same_color(drawn_colour, colour)
            assert colour in PALETTE


def test_a_long_curve_keeps_its_extremes_and_gaps() -> None:
    x = np.linspace(0.0, 1.0, 5003)
    y = np.sin(40 * x)
    y[1234], y[4321], y[3000:3007] = 9.0, -9.0, np.nan
    (trace,) = panels(Figure("f", "t", "c", (ChartPanel("", "x", "y", (Line("", x, y),)),)))[0]["data"]
    shown_x, shown_y = unpacked(trace["x"]), unpacked(trace["y"])
    assert len(shown_x) == len(shown_y) < MOST_POINTS + len(x) / (MOST_POINTS / PER_STRETCH)  # and one whole stretch
    assert [shown_x[0], shown_x[-1], np.nanmax(shown_y), np.nanmin(shown_y)] == [0.0, 1.0, 9.0, -9.0]
    assert np.isnan(shown_y).sum() == 7
    assert np.nanmax(np.diff(shown_x)) < PER_STRETCH / MOST_POINTS
    curve = np.abs(shown_y) <= 1
    assert np.abs(shown_y - np.sin(40 * shown_x))[curve].max() < 1e-5


def test_both_draw_sketches() -> None:
    import matplotlib.colors
    import plotly.graph_objects as go

    figure = sketch_figure()
    canvas = drawn(figure)
    for axes, panel, plotted in zip(canvas.axes, figure.panels, panels(figure), strict=True):
        shown = go.Figure(plotted)
        curves, areas = iter(axes.lines), iter(axes.patches)
        for line, trace in zip(panel.lines, shown.data, strict=True):
            assert np.array_equal(unpacked(trace.x), np.float32(line.x))
            assert np.array_equal(unpacked(trace.y), np.float32(line.y))
            one = next(areas) if line.style == "area" else next(curves)
            points = one.get_xy() if line.style == "area" else np.stack([one.get_xdata(), one.get_ydata()], axis=-1)
            assert np.array_equal(points, np.stack([line.x, line.y], axis=-1))
            colour = one.get_edgecolor() if line.style == "area" else one.get_color()
            assert matplotlib.colors.same_color(colour, (trace.marker if line.style == "points" else trace.line).color)
        for note, said in zip(panel.notes, shown.layout.annotations, strict=True):
            assert (said.x, said.y) == (note.x, note.y)
            assert (said.xshift, said.yshift) == note.shift
    words = [text.get_text() for text in canvas.axes[0].texts if text.get_text()]
    assert words == [r"f$_{\mathrm{i+1}}$$^{\mathrm{P}}$", r"ω$_{\mathrm{i}}$"]
    layouts = [one["layout"] for one in panels(figure)]
    assert layouts[0]["annotations"][0]["text"] == "f<sub>i+1</sub><sup>P</sup>"
    assert "<b>" not in layouts[1]["annotations"][0]["text"]


def test_labels_are_no_markup_for_plotly() -> None:
    layout = panels(mixed_figure())[1]["layout"]
    shown = layout["xaxis"]["title"]["text"].replace("<br>", " ")
    assert not set("<>$") & set(shown)


def test_sets_of_lines_go_through_the_same_colours() -> None:
    x = np.arange(3.0)
    solid = tuple(Line(f"leg {k}, exact", x, x) for k in range(3))
    dashed = tuple(Line(f"leg {k}, printed", x, x, "dashed") for k in range(3))
    (colour,) = colours(Figure("f", "t", "c", (ChartPanel("", "x", "y", solid + dashed),)))
    assert [colour[line.label, "line"] for line in solid] == [colour[line.label, "dashed"] for line in dashed]
    assert len(set(colour.values())) == 3


def test_one_legend_where_one_panel_names_all() -> None:
    assert has_one_legend(time_figure())
    assert not has_one_legend(mixed_figure())
    assert [line.label for line in legend_lines(time_figure(), [0, 1])] == [f"leg {k}" for k in range(1, 7)]
    alone = Figure(
        "f", "Condition number", "c", (ChartPanel("", "t", "y", (Line("condition number", np.zeros(1), np.zeros(1)),)),)
    )
    assert legend_lines(alone, [0]) == []


def test_names_and_numbers_along_one_axis_are_refused() -> None:
    lines = (Line("named", ["a", "b"], np.ones(2), "bars"), Line("numbered", np.arange(2.0), np.ones(2)))
    with pytest.raises(ModelError, match="'numbered' has numbers along x, but other lines of its panel have names"):
        drawn(Figure("f", "t", "c", (ChartPanel("", "x", "y", lines),)))
