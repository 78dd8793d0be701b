"""How many bodies of one kind are placed: quaternions, places and scales; and plates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.algebra.rotations import Quaternion, quaternion_of_rotation
from tauforge.algebra.vectors import Matrix
from tauforge.arrays import Array
from tauforge.pictures.triangles import Mesh


class Placed(NamedTuple):
    """Instances of a unit body.

    places: (k, 3) m; wxyzs: (k, 4) world <- body; scales: (k, 3)
    """

    places: Array
    wxyzs: Array
    scales: Array


def plate(corners: Array, thickness: float) -> Mesh:
    """A flat body with these corners (k, 3), in order around it, half its thickness on either side of them."""
    middle = corners.mean(axis=0)
    _, _, axes = np.linalg.svd(corners - middle)
    normal = axes[2]
    turned = np.cross(corners - middle, np.roll(corners, -1, axis=0) - middle).sum(axis=0) @ normal
    if turned < 0:
        normal = -normal
    count = len(corners)
    rims = [corners + side * thickness / 2 * normal for side in (-1, 1)]
    k, after = np.arange(count), (np.arange(count) + 1) % count
    fan = np.array([(0, i, i + 1) for i in range(1, count - 1)])
    faces = [
        fan[:, ::-1],
        fan + count,
        np.column_stack([k, after, after + count]),
        np.column_stack([k, after + count, k + count]),
    ]
    return Mesh(np.concatenate(rims).astype(np.float32), np.concatenate(faces).astype(np.uint32))


def quaternions(rotations: Array) -> Array:
    """(..., 4) w, x, y, z of (..., 3, 3)."""
    R = Matrix.of([[rotations[..., i, j] for j in range(3)] for i in range(3)])
    return np.stack([np.asarray(part) for part in quaternion_of_rotation(R)], axis=-1)


def rotation(wxyz: Array) -> Array:
    """(3, 3) of a quaternion (4,). Identity: undoes `quaternions`."""
    unit = wxyz / np.linalg.norm(wxyz)
    return np.array([list(row) for row in Quaternion(*unit.tolist()).rotation().rows])


def along(starts: Array, ends: Array, radius: Array | float) -> Placed:
    """Unit cylinders or cones from one point to another, (k, 3) each; those of no length have no size."""
    ways = np.asarray(ends, float) - starts
    lengths = np.linalg.norm(ways, axis=-1)
    radii = np.where(lengths > 0, radius, 0.0)
    return Placed(np.asarray(starts, float), turns_from_z(ways), np.column_stack([radii, radii, lengths]))


def turns_from_z(ways: Array) -> Array:
    """(k, 4) the shortest turns that lead z to these directions (k, 3)."""
    lengths = np.linalg.norm(ways, axis=-1, keepdims=True)
    x, y, z = (ways / np.where(lengths > 0, lengths, 1.0)).T
    z = np.where(lengths[:, 0] > 0, z, 1.0)
    half = np.column_stack([1.0 + z, -y, x, np.zeros_like(z)])
    half[z < -1 + 1e-9] = (0.0, 1.0, 0.0, 0.0)
    return np.asarray(half / np.linalg.norm(half, axis=-1, keepdims=True))


def corners(path: Array, tolerance: float) -> Array:
    """Those points of a path (k, 3) m that are enough: no other is farther than the tolerance from the lines between.

    Source: Douglas & Peucker 1973.
    """
    kept = {0, len(path) - 1}
    spans = [(0, len(path) - 1)]
    while spans:
        first, last = spans.pop()
        between = path[first + 1 : last] - path[first]
        if not len(between):
            continue
        way = path[last] - path[first]
        share = np.clip(between @ way / (float(way @ way) or 1.0), 0.0, 1.0)
        off = np.linalg.norm(between - share[:, None] * way, axis=1)
        if off.max() > tolerance:
            middle = first + 1 + int(off.argmax())
            kept.add(middle)
            spans += [(first, middle), (middle, last)]
    return path[sorted(kept)]
