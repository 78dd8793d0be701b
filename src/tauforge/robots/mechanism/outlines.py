"""In which order the points of a body are joined by lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array

SAME = 1e-6  # of the extent: points that lie together, or on a line


def outline(points: Sequence[ArrayLike]) -> list[int]:
    """Places of the points in the order in which lines join them.

    Two points or points of one line: from end to end. Others: round their convex outline, seen at right angles to the
    plane that fits them best, with the first one again at the end. Points that lie together count once.
    """
    if not len(points):
        return []
    places = np.array([np.asarray(point, float) for point in points])
    size = float(np.ptp(places, axis=0).max())
    distinct = [
        k for k in range(len(places)) if not any(np.abs(places[k] - places[i]).max() <= SAME * size for i in range(k))
    ]
    if len(distinct) < 2:
        return distinct
    chosen = places[distinct] - places[distinct].mean(axis=0)
    _, extents, axes = np.linalg.svd(chosen, full_matrices=False)
    along = chosen @ axes[0]
    if len(distinct) < 3 or extents[1] <= SAME * size:
        return [distinct[k] for k in np.argsort(along, kind="stable")]
    order = _convex_hull(np.column_stack([along, chosen @ axes[1]]), SAME * size)
    return [distinct[k] for k in (*order, order[0])]


def inner_points(points: Sequence[ArrayLike], order: Sequence[int]) -> list[tuple[int, Array]]:
    """Places of the points that are on no line of the outline, each with the nearest point (3,) of the lines."""
    if not is_loop(order):
        return []
    places = np.array([np.asarray(point, float) for point in points])
    starts = places[list(order[:-1])]
    ways = places[list(order[1:])] - starts
    shares = np.einsum("pei,ei->pe", places[:, None] - starts, ways) / np.einsum("ei,ei->e", ways, ways)
    feet = starts + np.clip(shares, 0.0, 1.0)[..., None] * ways
    distances = np.linalg.norm(places[:, None] - feet, axis=-1)
    inner = np.flatnonzero(distances.min(axis=1) > SAME * np.ptp(places, axis=0).max())
    return [(int(k), feet[k, distances[k].argmin()]) for k in inner]


def is_loop(order: Sequence[int]) -> bool:
    return len(order) > 3 and order[0] == order[-1]


def _convex_hull(points: Array, near: float) -> list[int]:
    """Places of its corners, one after another: Andrew's monotone chain."""
    order = np.lexsort(points.T[::-1]).tolist()

    def chain(listed: Sequence[int]) -> list[int]:
        found: list[int] = []
        for k in listed:
            while len(found) > 1 and _turn(points[found[-2]], points[found[-1]], points[k]) <= near**2:
                found.pop()
            found.append(k)
        return found[:-1]

    return chain(order) + chain(order[::-1])


def _turn(a: Array, b: Array, c: Array) -> float:
    """Twice the area of a triangle, positive where it turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
