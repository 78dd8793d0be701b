"""Bodies of unit size as triangles."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product

import numpy as np

from tauforge.arrays import Array
from tauforge.pictures.triangles import Mesh

AROUND = 20
RINGS = 10


def _revolved(profile: list[tuple[float, float]], around: int) -> Mesh:
    """A surface about z from its profile: radius and height of every ring, from the bottom up.

    Rings at one place have corners of their own and no surface between them: that makes an edge sharp.
    """
    angles = np.linspace(0.0, 2 * np.pi, around, endpoint=False)
    rings = [np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(around, z)]) for r, z in profile]
    k, after = np.arange(around), (np.arange(around) + 1) % around
    faces = []
    for ring, (lower, upper) in enumerate(pairwise(profile)):
        low, high = ring * around, (ring + 1) * around
        if lower != upper and lower[0] > 0:
            faces.append(np.column_stack([low + k, low + after, high + after]))
        if lower != upper and upper[0] > 0:
            faces.append(np.column_stack([low + k, high + after, high + k]))
    return Mesh(np.concatenate(rings).astype(np.float32), np.concatenate(faces).astype(np.uint32))


@cache
def cylinder(around: int = AROUND) -> Mesh:
    """Radius 1, from 0 to 1 along z, with rims so that its ends look flat."""
    return _revolved([(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (1.0, 1.0), (0.0, 1.0)], around)


@cache
def cone(around: int = AROUND) -> Mesh:
    """Radius 1 at 0, its tip at 1 along z."""
    return _revolved([(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.0, 1.0)], around)


@cache
def ball(around: int = AROUND, rings: int = RINGS) -> Mesh:
    """Radius 1."""
    heights = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)[1:-1]
    between = [(float(np.cos(a)), float(np.sin(a))) for a in heights]
    return _revolved([(0.0, -1.0), *between, (0.0, 1.0)], around)


@cache
def box() -> Mesh:
    """Edges of length 1, its centre at the origin; every side has corners of its own, so that it looks flat."""
    corners: list[Array] = []
    faces: list[tuple[int, int, int]] = []
    for axis, side in product(range(3), (-1, 1)):
        others = ((-1, -1), (1, -1), (1, 1), (-1, 1))[::side]
        first = len(corners)
        corners += [np.roll((side, u, v), axis) for u, v in others]
        faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return Mesh(0.5 * np.array(corners, np.float32), np.array(faces, np.uint32))
