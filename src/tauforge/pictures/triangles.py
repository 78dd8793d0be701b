"""Surfaces as triangles: moved, cleaned and thinned out. Arrays only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array

FINEST = 512  # cells along the longest side of a mesh that is thinned out


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
    cells = FINEST
    thin = mesh
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
