"""Surfaces as triangles: moved, cleaned and thinned out, and bodies of unit size. Arrays only."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array

FINEST = 512  # cells along the longest side of a mesh that is thinned out
AROUND = 20
RINGS = 10


class Mesh(NamedTuple):
    """vertices: (v, 3); faces: (f, 3) places of vertices, counterclockwise from outside."""

    vertices: Array
    faces: Array


def stretched(mesh: Mesh, scale: Array) -> Mesh:
    """Scaled by factors (3,) along the axes; a mirrored surface is turned inside out again."""
    faces = mesh.faces[:, ::-1] if np.prod(np.sign(scale)) < 0 else mesh.faces
    return Mesh(mesh.vertices * scale, faces)


def sound(mesh: Mesh) -> Mesh:
    """Without triangles that have no area or a corner that is not finite, and without corners that none has.

    Such triangles have no normal to be lit by.
    """
    corners = np.asarray(mesh.vertices, float)[mesh.faces]
    with np.errstate(invalid="ignore", over="ignore"):
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        sizes = np.linalg.norm(normals, axis=-1)
    kept = np.isfinite(sizes) & (sizes > 0)
    if kept.all():
        return mesh
    used, faces = np.unique(mesh.faces[kept], return_inverse=True)
    return Mesh(mesh.vertices[used], faces.reshape(-1, 3))


def thinned(mesh: Mesh, most: int) -> Mesh:
    """At most so many triangles: corners in a cell of a grid become their mean, the grid as fine as it can be."""
    thin, cells = mesh, FINEST
    while len(thin.faces) > most and cells > 1:
        thin = _clustered(mesh, cells)
        cells //= 2
    return thin if len(thin.faces) <= most else Mesh(thin.vertices, thin.faces[:most])


def _clustered(mesh: Mesh, cells: int) -> Mesh:
    vertices = np.asarray(mesh.vertices, float)
    low = vertices.min(axis=0)
    side = float(np.ptp(vertices, axis=0).max()) / cells or 1.0
    places = np.minimum(((vertices - low) / side).astype(np.int64), cells)
    keys = (places * (1, cells + 1, (cells + 1) ** 2)).sum(axis=1)
    _, cell = np.unique(keys, return_inverse=True)
    counts = np.bincount(cell)
    means = np.stack([np.bincount(cell, vertices[:, k]) / counts for k in range(3)], axis=1)
    faces = cell[mesh.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return sound(Mesh(means, faces[np.sort(first)]))


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
