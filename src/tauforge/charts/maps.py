"""Maps: values over two axes as filled colours, drawn by matplotlib; numbers with a colour bar, codes with a legend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import PALETTE
from tauforge.charts.with_matplotlib import LOOK, MOST_TICKS, plain
from tauforge.extras import extra_for

MISSING = "#d9dce1"  # where there is no value
DECADES = 3  # positive values that span more have a logarithmic colour bar
MAP_SIZES = {1: (6.4, 4.4), 2: (9.2, 3.9), 3: (11.5, 3.3)}  # inches, by panels in a row: width in all, height of a row
MOST_BESIDE = max(MAP_SIZES)


@dataclass(frozen=True)
class MapPanel:
    """Values over two axes.

    x, y:   (i,), (j,) strictly increasing
    values: (i, j); NaN where there is none
    """

    title: str
    x: Array
    y: Array
    values: Array


@dataclass(frozen=True)
class Maps:
    """Maps with the same axes and colours, beside each other; labels carry their units, as in "force (N)".

    codes:   what whole numbers mean; with them the colours have a legend of the codes that occur
    colours: of codes that have one of their own
    missing: what the legend calls places without a value
    """

    title: str
    x_label: str
    y_label: str
    label: str
    maps: tuple[MapPanel, ...]
    codes: Mapping[int, str] = field(default_factory=dict)
    missing: str = "no value"
    colours: Mapping[int, str] = field(default_factory=dict)


def drawn_maps(figure: Maps) -> Any:
    """A matplotlib Figure on its own canvas; pyplot is not used, so no figure stays open."""
    with extra_for("plots need", "plots"):
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    beside = min(MOST_BESIDE, len(figure.maps))
    rows = -(-len(figure.maps) // beside)
    with matplotlib.rc_context(LOOK):
        width, height = MAP_SIZES[beside]
        canvas = Canvas(figsize=(width, 0.6 + rows * height), layout="constrained")
        canvas.suptitle(plain(figure.title), fontsize=11.5, fontweight="bold")
        grid = canvas.subplots(rows, beside, squeeze=False, sharex=True, sharey=True)
        for axes in grid.flat[len(figure.maps) :]:
            axes.remove()
        draw = _draw_codes if figure.codes else _draw_numbers
        draw(canvas, list(grid.flat[: len(figure.maps)]), figure)
    return canvas


def _draw_numbers(canvas: Any, grid: list[Any], figure: Maps) -> None:
    from matplotlib.colors import LogNorm, Normalize

    finite = np.concatenate([one.values[np.isfinite(one.values)] for one in figure.maps])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    logarithmic = low > 0 and low * 10**DECADES < high
    norm = (LogNorm if logarithmic else Normalize)(low, high if high > low else low + 1)
    for axes, one in zip(grid, figure.maps, strict=True):
        mesh = _fill(axes, figure, one, np.where(np.isfinite(one.values), one.values, np.nan), "viridis", norm)
    canvas.colorbar(mesh, ax=grid, label=plain(figure.label), shrink=0.9)
    if not all(np.isfinite(one.values).all() for one in figure.maps):
        _legend(canvas, {figure.missing: MISSING})


def _draw_codes(canvas: Any, grid: list[Any], figure: Maps) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    everything = np.concatenate([one.values.ravel() for one in figure.maps])
    found = np.unique(everything[np.isfinite(everything)]).astype(int).tolist()
    known = [*figure.codes, *(code for code in found if code not in figure.codes)]
    if len(known) > len(PALETTE):  # not enough colours to keep one for codes that do not occur
        known = found
    others = iter(_colours(len(known)))
    colours = [figure.colours.get(code) or next(others) for code in known]
    norm = BoundaryNorm(np.arange(len(known) + 1) - 0.5, max(2, len(known)))
    for axes, one in zip(grid, figure.maps, strict=True):
        places = np.full(one.values.shape, np.nan)
        for k, code in enumerate(known):
            places[one.values == code] = k
        _fill(axes, figure, one, places, ListedColormap(colours * (2 if len(colours) == 1 else 1)), norm)
    entries = {figure.codes.get(code, f"code {code}"): colours[known.index(code)] for code in known if code in found}
    if not np.isfinite(everything).all():
        entries[figure.missing] = MISSING
    _legend(canvas, entries)


def _colours(count: int) -> list[str]:
    """So many colours that differ: those of lines while there are enough, else evenly spaced ones."""
    import matplotlib
    from matplotlib.colors import to_hex

    if count <= len(PALETTE):
        return list(PALETTE[:count])
    return [to_hex(colour) for colour in matplotlib.colormaps["turbo"](np.linspace(0.05, 0.95, count))]


def _fill(axes: Any, figure: Maps, one: MapPanel, values: Array, colours: Any, norm: Any) -> Any:
    import matplotlib

    scale = matplotlib.colormaps[colours] if isinstance(colours, str) else colours
    look: dict[str, Any] = {"cmap": scale.with_extremes(bad=MISSING), "norm": norm, "shading": "nearest"}
    # a vector for every point would make files of many megabytes
    mesh = axes.pcolormesh(one.x, one.y, np.ma.masked_invalid(values.T), rasterized=True, **look)
    axes.grid(visible=False)
    axes.locator_params(nbins=MOST_TICKS)
    axes.set_title(plain(one.title), loc="left")
    place = axes.get_subplotspec()
    if place.is_last_row() or len(figure.maps) <= MOST_BESIDE:
        axes.set_xlabel(plain(figure.x_label))
    if place.is_first_col():
        axes.set_ylabel(plain(figure.y_label))
    return mesh


def _legend(canvas: Any, entries: Mapping[str, str]) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=colour, label=plain(text)) for text, colour in entries.items()]
    columns = max(1, min(len(patches), 3))
    canvas.legend(handles=patches, loc="outside lower center", ncols=columns, frameon=False)
