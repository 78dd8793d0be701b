"""Pictures of maps, reach and surfaces; every limit has one colour in all pictures of a figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.pictures.in_space import finish, new_figure, space_axes
from tauforge.robots.static_quantities import HOLDS

if TYPE_CHECKING:
    from tauforge.workspace.maps import Map
    from tauforge.workspace.reaching import Reach
    from tauforge.workspace.surfaces import Polar, Surface

SLICES = 6  # of a map with three axes
SLICE_COLUMNS = 3
STEEP_RATIO = 50.0  # ratio of the largest and the median value from which on colours are logarithmic
LINE = "#0072B2"
GREY = "#8a8f98"
# Pairs of a strong and a pale hue: the limits of a robot often come in pairs, such as too short and too long.
LIMIT_COLOURS = (
    "#0072B2", "#8CC5E3", "#D55E00", "#F2B38C", "#009E73", "#8FD3BF", "#CC79A7", "#EBC7DB", "#B58900", "#EBD68C",
    "#5B4FA0", "#BDB6E0", "#7A3B12", "#CDA68C", "#4A4F58", "#B5B9C0",
)  # fmt: skip
HOLDS_COLOUR = "#E9F3EA"
LABELS = {"condition": "condition number", "force": "largest holding force", "force_share": "largest share of a limit"}
NAMED = 16  # entries of a legend; what is beyond shares the last colour


def drawn(found: Map) -> Any:
    """A matplotlib Figure: a curve over one axis, a slice in colours over two, slices through three."""
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
    columns = min(len(cuts), SLICE_COLUMNS)
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
    if len(set(list(found.units.values())[:2])) == 1:  # alike
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
    """Scale of the colours: logarithmic where few values are far larger than most, as near a singularity."""
    from matplotlib.colors import LogNorm, Normalize

    finite = values[np.isfinite(values)]
    if not finite.size:
        return Normalize(0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    steep = low > 0 and high > STEEP_RATIO * float(np.median(finite))
    return LogNorm(low, high) if steep else Normalize(low, high)


def _colours(found: Map) -> dict[str, str]:
    return limit_colours(found.name(int(code)) for code in np.unique(found.values))


def _label(found: Map) -> str:
    words = LABELS.get(found.quantity, "largest mass that can be held")
    return f"{words} ({found.unit})" if found.unit else words


def _title(figure: Any, found: Map) -> None:
    title = "which limit is exceeded" if found.codes else found.meaning
    figure.suptitle(f"{found.robot}: {title}", parse_math=False)


def bars(found: Reach) -> Any:
    """Bars in a panel for m and one for rad; to the right in the positive sense, to the left in the negative one."""
    units = [unit for unit in ("m", "rad") if any(end.unit == unit for end in found.ends)]
    sizes = [len({end.direction for end in found.ends if end.unit == unit}) for unit in units]
    figure = new_figure(figsize=(9.4, 1.0 + 0.42 * sum(sizes) + 0.5 * len(units)), layout="constrained")
    panels = figure.subplots(len(units), squeeze=False, height_ratios=sizes)[:, 0]
    colours = limit_colours(end.limit or "no limit" for end in found.ends)
    for axes, unit in zip(panels, units, strict=True):
        ends = [end for end in found.ends if end.unit == unit]
        names = list(dict.fromkeys(end.direction for end in ends))
        finite = [end.distance for end in ends if np.isfinite(end.distance)]
        widest = max(finite, default=1.0)
        for end in ends:
            length = end.sense * min(end.distance, 1.1 * widest)
            axes.barh(names.index(end.direction), length, color=colours[end.limit or "no limit"], height=0.7)
        axes.axvline(0.0, color="#1d2026", linewidth=0.8)
        axes.set_yticks(range(len(names)), names, parse_math=False)
        axes.invert_yaxis()
        axes.set_xlabel(f"from home ({unit})")
        axes.grid(alpha=0.3, axis="x")
        axes.set_axisbelow(True)
    legend(figure, colours)
    figure.suptitle(f"{found.robot}: how far it gets, and what ends it", parse_math=False)
    return figure


def polar_picture(found: Polar, axes: Any) -> Any:
    """The ends of the ways around home, each with the colour of the limit that ends it."""
    own = axes is None
    if own:
        axes = new_figure(figsize=(7.6, 5.0), layout="constrained").add_subplot(projection="polar")
    if getattr(axes, "name", "") != "polar":
        raise ShapeError("axes", expected="matplotlib axes with projection='polar'", got=type(axes).__name__)
    colours = limit_colours(sorted(found.limits.tolist()))
    shown = np.where(np.isfinite(found.distance), found.distance, np.nan)
    width = 2 * np.pi / len(found.angle)
    axes.bar(found.angle, shown, width=width, color=[colours[name] for name in found.limits], alpha=0.85, linewidth=0)
    axes.plot(np.append(found.angle, found.angle[0]), np.append(shown, shown[0]), color="#1d2026", linewidth=0.8)
    axes.set_axisbelow(False)
    ends = [f"+{found.axes[0]}", f"+{found.axes[1]}", f"-{found.axes[0]}", ""]
    axes.set_xticks(np.arange(4) * np.pi / 2, ends, parse_math=False)
    below = -np.pi / 2, 1.18 * float(np.nanmax(shown))
    axes.text(*below, f"-{found.axes[1]}", ha="center", va="center", parse_math=False)
    axes.set_rlabel_position(20.0)
    axes.grid(color=GREY, alpha=0.5, linewidth=0.6)
    if own:
        legend(axes.figure, colours)
    axes.set_title(f"{found.robot}: reach ({found.unit})", parse_math=False, pad=14)
    return axes.figure


def surface_in_space(found: Surface) -> Any:
    """Surface whose cells have the colour of the limit at their first corner; open where nothing ends the ways."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = new_figure(figsize=(8.4, 6.0), layout="constrained")
    axes = space_axes(figure)
    colours = limit_colours(sorted(set(found.limits.ravel().tolist())))
    corners, names = _faces(found)
    whole = np.isfinite(corners).all(axis=(1, 2))
    look: dict[str, Any] = {"edgecolors": "#ffffff", "linewidths": 0.15, "shade": True, "zsort": "average"}
    axes.add_collection3d(Poly3DCollection(corners[whole], facecolors=[colours[x] for x in names[whole]], **look))
    places = found.places[np.isfinite(found.distance)]
    low, high = places.min(axis=0), places.max(axis=0)
    finish(axes, low, high, float((high - low).max()))
    legend(figure, colours)
    figure.suptitle(f"{found.robot}: where straight ways from home end", parse_math=False)
    return figure


def _faces(found: Surface) -> tuple[Array, Array]:
    """Corners (k, 4, 3) of the cells between neighbouring directions, and the limit of each; caps join the poles."""
    places, limits = found.places, found.limits
    right = np.roll(places, -1, axis=1)
    sides = np.stack([places[:-1], right[:-1], right[1:], places[1:]], axis=2).reshape(-1, 4, 3)
    names = [limits[:-1].ravel()]
    caps = []
    for ring, following, name in ((places[0], right[0], limits[0]), (places[-1], right[-1], limits[-1])):
        middle = np.broadcast_to(ring.mean(axis=0), ring.shape)
        caps.append(np.stack([ring, following, middle, middle], axis=1))
        names.append(name)
    return np.concatenate([sides, *caps]), np.concatenate(names)


def limit_colours(names: Iterable[str]) -> dict[str, str]:
    """Colours by the names of limits, in order of appearance; what holds is pale."""
    known = list(dict.fromkeys(names))
    exceeded = [name for name in known if name != HOLDS]
    colours = dict(zip(exceeded, chain(LIMIT_COLOURS, repeat(LIMIT_COLOURS[-1])), strict=False))
    return {name: colours.get(name, HOLDS_COLOUR) for name in known}


def legend(figure: Any, colours: Mapping[str, str]) -> None:
    """Adds a legend beside the axes, a patch for each name."""
    from matplotlib.patches import Patch

    shown = list(colours.items())
    if len(shown) > NAMED:
        shown[NAMED - 1 :] = [(f"{len(shown) - NAMED + 1} more", shown[-1][1])]
    handles = [Patch(facecolor=colour, edgecolor="#8a8f98", linewidth=0.5) for _, colour in shown]
    made = figure.legend(handles, [str(k) for k, _ in enumerate(shown)], loc="outside right center", frameon=False)
    for text, (name, _) in zip(made.get_texts(), shown, strict=True):  # afterwards: a name may begin with an underscore
        text.set(text=name, parse_math=False, fontsize="small")
