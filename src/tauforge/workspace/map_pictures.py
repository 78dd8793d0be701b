"""Pictures of maps: a curve over one axis, a slice in colours over two, slices through three."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.arrays import Array
from tauforge.pictures.in_space import new_figure
from tauforge.workspace.limit_colours import legend, limit_colours

if TYPE_CHECKING:
    from tauforge.workspace.maps import Map

SLICES = 6  # of a map with three axes
COLUMNS = 3
STEEP = 50.0  # ratio of the largest and the median value from which on colours are logarithmic
LINE = "#0072B2"


def drawn(found: Map) -> Any:
    """A matplotlib Figure."""
    return _curve(found) if found.values.ndim == 1 else _slices(found)


def _curve(found: Map) -> Any:
    (name, along), *_ = found.axes.items()
    figure = new_figure(figsize=(7.4, 3.6), layout="constrained")
    axes = figure.subplots()
    if found.codes:
        colours = _colours(found)
        for code in np.unique(found.values):
            here = found.values == code
            axes.scatter(along[here], np.zeros(here.sum()), marker="|", s=900, color=colours[found.name(int(code))])
        axes.set_yticks([])
        legend(figure, colours)
    else:
        axes.plot(along, found.values, color=LINE)
        axes.set_ylabel(_label(found))
        axes.grid(alpha=0.3)
    axes.set_xlabel(f"{name} ({found.units[name]})", parse_math=False)
    _title(figure, found)
    return figure


def _slices(found: Map) -> Any:
    names = list(found.axes)
    cuts = _cuts(found)
    columns = min(len(cuts), COLUMNS)
    rows = -(-len(cuts) // columns)
    size = (8.2, 5.4) if len(cuts) == 1 else (3.3 * columns + 1.6, 3.1 * rows + 0.6)
    figure = new_figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    colours = _colours(found) if found.codes else {}
    scale = None if found.codes else _norm(found.values)
    drawn_last = None
    for axes, (title, values) in zip(grid.ravel(), cuts, strict=False):
        drawn_last = _slice(axes, found, values, colours, scale)
        axes.set_title(title, fontsize="medium", parse_math=False)
    for axes in grid.ravel()[len(cuts) :]:
        axes.set_axis_off()
    for axes in grid[-1]:
        axes.set_xlabel(f"{names[0]} ({found.units[names[0]]})", parse_math=False)
    for axes in grid[:, 0]:
        axes.set_ylabel(f"{names[1]} ({found.units[names[1]]})", parse_math=False)
    if found.codes:
        legend(figure, colours)
    else:
        figure.colorbar(drawn_last, ax=grid.ravel().tolist(), label=_label(found), shrink=0.9)
    _title(figure, found)
    return figure


def _cuts(found: Map) -> list[tuple[str, Array]]:
    """Slices over the first two axes, with a title each."""
    if found.values.ndim == 2:
        return [("", found.values)]
    name = list(found.axes)[2]
    along = found.axes[name]
    chosen = np.unique(np.linspace(0, len(along) - 1, min(SLICES, len(along))).round().astype(int))
    return [(f"{name} = {along[k]:.3g} {found.units[name]}", found.values[..., k]) for k in chosen]


def _slice(axes: Any, found: Map, values: Array, colours: Mapping[str, str], scale: Any) -> Any:
    x, y = list(found.axes.values())[:2]
    alike = len(set(list(found.units.values())[:2])) == 1
    if alike:
        axes.set_aspect("equal")
    if not found.codes:
        shown = np.ma.masked_invalid(values.T)
        return axes.pcolormesh(x, y, shown, cmap="viridis", norm=scale, shading="nearest", rasterized=True)
    from matplotlib.colors import to_rgb

    table = np.zeros((256, 3))
    for code in np.unique(found.values):
        table[code] = to_rgb(colours[found.name(int(code))])
    edges = (_edges(x), _edges(y))
    return axes.pcolormesh(*edges, table[values.T], shading="flat", rasterized=True)


def _edges(values: Array) -> Array:
    """(k + 1,) borders of the cells around values (k,)."""
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])


def _norm(values: Array) -> Any:
    """Logarithmic where few values are far larger than most, such as condition numbers near a singularity."""
    from matplotlib.colors import LogNorm, Normalize

    finite = values[np.isfinite(values)]
    if not finite.size:
        return Normalize(0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    steep = low > 0 and high > STEEP * float(np.median(finite))
    return LogNorm(low, high) if steep else Normalize(low, high)


def _colours(found: Map) -> dict[str, str]:
    return limit_colours(found.name(int(code)) for code in np.unique(found.values))


def _label(found: Map) -> str:
    name = {
        "condition": "condition number",
        "force": "largest holding force",
        "force_share": "largest share of a limit",
    }
    words = name.get(found.quantity, "largest mass that can be held")
    return f"{words} ({found.unit})" if found.unit else words


def _title(figure: Any, found: Map) -> None:
    title = "which limit is exceeded" if found.codes else found.meaning
    figure.suptitle(f"{found.robot}: {title}", parse_math=False)
