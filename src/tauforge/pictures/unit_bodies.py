"""Bodies of unit size as triangles."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from tauforge.arrays import Array
from tauforge.pictures.triangles import Mesh

AROUND = 20
RINGS = 10


def _revolved(profile: list[tuple[float, float]]) -> Mesh:
    """A surface about z from its profile: radius and height of every ring, from the bottom up."""
    angles = np.linspace(0.0, 2 * np.pi, AROUND, endpoint=False)
    rings = [np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(AROUND, z)]) for r, z in profile]
    k, after = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    faces = []
    for ring in range(len(profile) - 1):
        low, high = ring * AROUND, (ring + 1) * AROUND
        faces += [
            np.column_stack([low + k, low + after, high + after]),
            np.column_stack([low + k, high + after, high + k]),
        ]
    return Mesh(np.concatenate(rings).astype(np.float32), np.concatenate(faces).astype(np.uint32))


@cache
def cylinder() -> Mesh:
    """Radius 1, from 0 to 1 along z, with rims so that its ends look flat."""
    return _revolved([(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (1.0, 1.0), (0.0, 1.0)])


@cache
def cone() -> Mesh:
    """Radius 1 at 0, its tip at 1 along z."""
    return _revolved([(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.0, 1.0)])


@cache
def ball() -> Mesh:
    """Radius 1."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, RINGS + 1)
    return _revolved([(float(np.cos(a)), float(np.sin(a))) for a in angles])


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
