"""The solids of a drawing as triangles, in their own frames: made once, placed by the drawing of any position."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.pictures import triangles
from tauforge.pictures.mesh_files import read_mesh
from tauforge.pictures.triangles import Mesh, sound, stretched, thinned
from tauforge.robots.drawing import Box, Cylinder, Drawing, MeshFile, Shape, Solid, Sphere
from tauforge.robots.plausibility import levels_to_the_caller

UNSAID = (0.62, 0.66, 0.71, 1.0)  # of solids without a colour
MOST_TOLD = 3  # files that the warning names


class Body(NamedTuple):
    """One solid as triangles.

    solid:    which of the drawing's solids it is
    mesh:     m, in its own frame
    rgba:     (4,) 0 to 1
    is_round: whether its corners have the normals of a smooth surface
    """

    solid: int
    mesh: Mesh
    rgba: tuple[float, ...]
    is_round: bool


def bodies_of(robot: str, solids: Sequence[Solid], most: int) -> list[Body]:
    """Every solid that can be seen. Mesh files are read here; one warning names those that cannot be.

    robot: its name, for the warning
    most:  triangles of one body; finer ones are thinned out
    """
    found: list[Body] = []
    read: dict[Shape, Mesh | None] = {}  # many robots use one file several times
    faults: list[str] = []
    for index, solid in enumerate(solids):
        rgba = UNSAID if solid.rgba is None else solid.rgba
        if rgba[3] == 0:
            continue
        if solid.shape not in read:
            try:
                read[solid.shape] = thinned(mesh_of(solid.shape), most)
            except ModelError as error:
                read[solid.shape] = None
                faults.append(str(error))
        mesh = read[solid.shape]
        if mesh is not None and len(mesh.faces):
            found.append(Body(index, mesh, rgba, not isinstance(solid.shape, MeshFile)))
    if faults:
        more = f" and {len(faults) - MOST_TOLD} more" if len(faults) > MOST_TOLD else ""
        text = f"{robot} is drawn without some of its meshes: {'; '.join(faults[:MOST_TOLD])}{more}"
        warnings.warn(text, TauforgeWarning, stacklevel=levels_to_the_caller())
    return found


def mesh_of(shape: Shape) -> Mesh:
    """The triangles of a shape, m, in its own frame; ModelError for a file that is not read."""
    match shape:
        case Box(size):
            return sound(stretched(triangles.box(), np.array(size)))
        case Cylinder(radius, length):
            vertices, faces = triangles.cylinder()
            centred = Mesh(vertices - (0.0, 0.0, 0.5), faces)
            return sound(stretched(centred, np.array([radius, radius, length])))
        case Sphere(radius):
            return sound(stretched(triangles.ball(), np.full(3, radius)))
        case MeshFile():
            return read_mesh(shape)


def corners_at(bodies: Sequence[Body], drawing: Drawing, k: int) -> list[Array]:
    """The triangles (f, 3, 3) m of every body in position k of the drawing, world."""
    return [_placed(body, drawing.solids[body.solid].transform[k])[body.mesh.faces] for body in bodies]


def extent_with(bodies: Sequence[Body], drawing: Drawing) -> tuple[Array, Array]:
    """(3,) the smallest and the largest coordinates in all positions of the drawing, m, bodies included."""
    lows, highs = ([each] for each in drawing.extent)
    for body in bodies:
        for pose in drawing.solids[body.solid].transform.reshape(-1, 4, 4):
            vertices = _placed(body, pose)
            lows.append(vertices.min(axis=0))
            highs.append(vertices.max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _placed(body: Body, pose: Array) -> Array:
    return np.asarray(body.mesh.vertices @ pose[:3, :3].T + pose[:3, 3])
