"""A figure drawn by matplotlib: for paper, as PNG and SVG files. Figures of matplotlib as files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from tauforge.charts import figure as figures
from tauforge.charts.figure import ChartPanel, Figure, Key, Line, Note, key, legend_lines, scripted, wrapped
from tauforge.errors import ModelError
from tauforge.extras import extra_for
from tauforge.files import written_whole

FIGURE_WIDTHS = {1: 7.4, 2: 8.8}  # inches, by columns
WIDEST_FIGURE = 9.8
MOST_TICKS = 6
PANEL_HEIGHTS = {1: 2.7, 2: 2.5}
LOWEST_PANEL = 2.3
HIGHEST_SKETCH = 6.2
BELOW_AXES = 0.48  # inches that ticks and label take
DOTS_PER_INCH = 150
LOOK: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.labelsize": 9.5,
    "legend.fontsize": 9,
    "axes.edgecolor": "#8a8f98",
    "axes.labelcolor": "#2b2f36",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": "#4a4f58",
    "ytick.color": "#4a4f58",
    "text.color": "#1d2026",
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "path.simplify_threshold": 0.3,  # pixels: not visible, and the files are much smaller
    "svg.hashsalt": "tauforge",  # the same figure gives the same file
}
DASHES: dict[str, Any] = {"line": "-", "dashed": (0, (5, 2)), "dotted": (0, (1.2, 1.6))}
IMAGE_SUFFIXES = (".png", ".svg", ".pdf")


def drawn(figure: Figure) -> Any:
    """A matplotlib Figure on its own canvas; pyplot is not used, so no figure stays open."""
    with extra_for("plots need", "plots"):
        import matplotlib
        from matplotlib.figure import Figure as Canvas
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    rows = math.ceil(len(figure.panels) / figure.columns)
    shared = figures.has_one_legend(figure)
    everywhere = range(len(figure.panels))
    entries = legend_lines(figure, everywhere) if shared else []
    longest = 0 if shared else max((len(legend_lines(figure, [k])) for k in everywhere), default=0)
    with matplotlib.rc_context(LOOK):
        width = FIGURE_WIDTHS.get(figure.columns, WIDEST_FIGURE)
        height = 0.75 + rows * (_panel_height(figure, width) + 0.15 * longest) + 0.05 * len(entries)
        canvas = Canvas(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.07))
        canvas.suptitle(plain(figure.title), fontsize=11.5, fontweight="bold")
        grid = canvas.subplots(rows, figure.columns, squeeze=False).ravel()
        handles: dict[Key, Any] = {}
        for k, (panel, colour) in enumerate(zip(figure.panels, figures.colours(figure), strict=True)):
            own = _draw_panel(grid[k], panel, colour)
            handles |= own
            if not shared:
                _legend_below(grid[k], legend_lines(figure, [k]), own, width / figure.columns)
        for axes in grid[len(figure.panels) :]:
            axes.remove()
        if entries:
            _legend(canvas, entries, handles, width, loc="outside lower center")
    return canvas


def save_images(figure: Figure, stem: Path) -> None:
    """Write STEM.png and STEM.svg."""
    canvas = drawn(figure)
    import matplotlib

    with matplotlib.rc_context(LOOK):
        canvas.get_layout_engine().execute(canvas)  # places everything, once for both files
        canvas.set_layout_engine(None)
        canvas.savefig(stem.with_name(f"{stem.name}.png"), dpi=DOTS_PER_INCH)
        canvas.savefig(stem.with_name(f"{stem.name}.svg"), metadata={"Date": None})


def _panel_height(figure: Figure, width: float) -> float:
    """Height in inches. That of a sketch follows from its width, since both axes have one scale."""
    sketches = [width / figure.columns / figures.aspect(panel) for panel in figure.panels if panel.sketch]
    return min(HIGHEST_SKETCH, max(sketches)) if sketches else PANEL_HEIGHTS.get(figure.columns, LOWEST_PANEL)


def _draw_sketch(axes: Any, panel: ChartPanel, colour: dict[Key, str]) -> dict[Key, Any]:
    handles = {}
    for line in panel.lines:
        line_colour = colour[key(line)]
        if line.style == "area":
            look: dict[str, Any] = {"facecolor": (line_colour, figures.AREA_OPACITY), "edgecolor": line_colour}
            (handles[key(line)],) = axes.fill(line.x, line.y, linewidth=figures.LINE_WIDTH, **look)
        elif line.style == "points":
            (handles[key(line)],) = axes.plot(line.x, line.y, "o", color=line_colour, markersize=5.5, markeredgewidth=0)
        else:
            width = figures.THICK_WIDTH if line.style == "thick" else figures.LINE_WIDTH
            look = {"linestyle": DASHES.get(line.style, "-"), "color": line_colour, "linewidth": width}
            (handles[key(line)],) = axes.plot(line.x, line.y, solid_capstyle="round", **look)
        if line.style == "arrow":
            ends = [(line.x[k], line.y[k]) for k in (-1, -2)]
            head = {"arrowstyle": "-|>", "mutation_scale": figures.ARROW_HEAD, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", *ends, arrowprops=head | {"color": line_colour, "linewidth": figures.LINE_WIDTH})
    for note in panel.notes:
        _write_note(axes, note)
    across, up = figures.window(panel)
    axes.set(xlim=across, ylim=up, aspect="equal")
    axes.set_axis_off()
    axes.set_title(plain(panel.title), loc="left")
    return handles


def _write_note(axes: Any, note: Note) -> None:
    right, up = note.shift
    text = scripted(plain(note.text), r"$_{{\mathrm{{{}}}}}$", r"$^{{\mathrm{{{}}}}}$")
    side = "left" if right > 0 else "right" if right < 0 else "center"
    edge = "bottom" if up > 0 else "top" if up < 0 else "center"
    axes.annotate(text, (note.x, note.y), xytext=note.shift, textcoords="offset points", ha=side, va=edge)


def _draw_panel(axes: Any, panel: ChartPanel, colour: dict[Key, str]) -> dict[Key, Any]:
    """Returns the handle of each line, for a legend."""
    if panel.sketch:
        return _draw_sketch(axes, panel, colour)
    names = figures.categories(panel)
    bars = [line for line in panel.lines if line.style == "bars"]
    handles = {}
    for line in panel.lines:
        x = _places(line, names)
        line_colour = colour[key(line)]
        if line.style == "bars":
            apart = float(np.diff(np.unique(x)).min(initial=np.inf))  # bars take most of the room of a place
            step = 0.8 * (apart if np.isfinite(apart) else 1.0) / len(bars)
            shift = (bars.index(line) - (len(bars) - 1) / 2) * step
            handles[key(line)] = axes.bar(x + shift, line.y, width=0.92 * step, color=line_colour)
        elif line.style == "points":
            size, opacity = (2.5, figures.CROWD_OPACITY) if len(x) > figures.CROWD else (4.5, None)
            look = {"markersize": size, "alpha": opacity, "color": line_colour, "markeredgewidth": 0}
            (handles[key(line)],) = axes.plot(x, line.y, "o", **look)
        else:
            look = {"linestyle": DASHES[line.style], "color": line_colour, "linewidth": figures.LINE_WIDTH}
            (handles[key(line)],) = axes.plot(x, line.y, **look)
    axes.locator_params(nbins=MOST_TICKS)
    if panel.y_range is not None:
        axes.set_ylim(panel.y_range)
    if panel.log_x:
        axes.set_xscale("log")
        _place_ticks(axes.xaxis, *axes.get_xlim())
    if panel.log_y:
        axes.set_yscale("log")
        _place_ticks(axes.yaxis, *axes.get_ylim())
    if names is not None:
        _name_ticks(axes, names)
    height = axes.get_position().height * axes.figure.get_size_inches()[1]
    axes.set_title(plain(panel.title), loc="left")
    axes.set_xlabel(plain(panel.x_label))
    axes.set_ylabel("\n".join(wrapped(plain(panel.y_label), max(24, int(14 * height)))))
    for where, word in panel.marks:
        axes.axvline(where, color=figures.MARK_COLOUR, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        place = {"xycoords": ("data", "axes fraction"), "xytext": (-3, -3), "textcoords": "offset points"}
        text = {"rotation": 90, "ha": "right", "va": "top", "fontsize": 7.5, "color": "#5a5f68"}
        axes.annotate(plain(word), (where, 1.0), **place, **text)
    return handles


def _places(line: Line, names: list[str] | None) -> np.ndarray:
    if names is None:
        return np.asarray(line.x)
    if not isinstance(line.x, list):
        problem = f"line {line.label!r} has numbers along x, but other lines of its panel have names"
        raise ModelError(problem, remedy="Use one of the two")
    return np.array([names.index(name) for name in line.x], dtype=float)


def _place_ticks(axis: Any, low: float, high: float) -> None:
    """Ticks of a logarithmic axis: plain numbers where it spans too few powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_minor_formatter(NullFormatter())
    if high < 100 * low:
        axis.set_major_locator(LogLocator(subs=range(1, 10) if high < 10 * low else (1, 2, 5)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _name_ticks(axes: Any, names: list[str]) -> None:
    room = 16 * axes.get_position().width * axes.figure.get_size_inches()[0] / len(names)  # characters for each
    long = max(map(len, names)) > room
    folded = ["\n".join(wrapped(plain(name), 22 if long else 40)) for name in names]
    slant = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if long else {}
    axes.set_xticks(range(len(names)), folded, **slant)
    axes.grid(visible=False, axis="x")


def _legend(where: Any, lines: list[Line], handles: dict[Key, Any], width: float, **place: Any) -> None:
    """As many names side by side as fit into `width` inches."""
    if not lines:
        return
    longest = max(len(line.label) for line in lines)
    columns = max(1, min(len(lines), int(width / (0.075 * longest + 0.65))))
    # Labels are set afterwards, because matplotlib leaves out names that begin with an underscore.
    names = [f"{k}" for k, _ in enumerate(lines)]
    legend = where.legend([handles[key(line)] for line in lines], names, ncols=columns, frameon=False, **place)
    for text, line in zip(legend.get_texts(), lines, strict=True):
        text.set_text(plain(line.label))


def _legend_below(axes: Any, lines: list[Line], handles: dict[Key, Any], width: float) -> None:
    """Under the axis' label, where it hides no curve."""
    from matplotlib.transforms import ScaledTranslation

    below = axes.transAxes + ScaledTranslation(0, -BELOW_AXES, axes.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": below, "borderaxespad": 0}
    _legend(axes, lines, handles, width, **place)


def plain(text: str) -> str:
    """Escape dollar signs, which would start a formula."""
    return text.replace("$", r"\$")


def check_ending(path: Path) -> None:
    """ModelError for a name whose ending is no format of pictures, before anything is drawn."""
    if path.suffix.lower() not in IMAGE_SUFFIXES:
        known = ", ".join(IMAGE_SUFFIXES)
        raise ModelError(f"expected a file name that ends in {known}, got {path.name!r}", field="picture")


def save_figure(figure: Any, path: Path) -> None:
    """Writes a matplotlib Figure in the format that the name ends in, whole or not at all."""
    check_ending(path)
    with written_whole(path) as file:
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=DOTS_PER_INCH)
