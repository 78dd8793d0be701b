"""Pictures of reach: bars for each direction, polar plots, and the surface in space where straight ways end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.pictures.in_space import finish, new_figure, space_axes
from tauforge.workspace.limit_colours import legend, limit_colours

if TYPE_CHECKING:
    from tauforge.workspace.reaching import Reach
    from tauforge.workspace.surfaces import Polar, Surface

LINE = "#8a8f98"


def bars(found: Reach) -> Any:
    """A panel for m and one for rad; to the right in the positive sense, to the left in the negative one."""
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
    axes.grid(color=LINE, alpha=0.5, linewidth=0.6)
    if own:
        legend(axes.figure, colours)
    axes.set_title(f"{found.robot}: reach ({found.unit})", parse_math=False, pad=14)
    return axes.figure


def surface_in_space(found: Surface) -> Any:
    """Each cell of directions is drawn with the colour of the limit at its first corner; open where nothing ends it."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = new_figure(figsize=(8.4, 6.0), layout="constrained")
    axes = space_axes(figure)
    colours = limit_colours(sorted(set(found.limits.ravel().tolist())))
    corners, names = _faces(found)
    whole = np.isfinite(corners).all(axis=(1, 2))
    faces = Poly3DCollection(
        corners[whole],
        facecolors=[colours[name] for name in names[whole]],
        edgecolors="#ffffff",
        linewidths=0.15,
        shade=True,
        zsort="average",
    )
    axes.add_collection3d(faces)
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
