"""What the robot's description says it looks like, as nodes of viser's scene: sent once, then only moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauforge.pictures.solids import Body, bodies_of, extent_with
from tauforge.robots.drawing import Drawing
from tauforge.viewer.meshes import quaternions

MOST_FACES = 200_000  # of one body: every tab gets all of them
TRANSLUCENT = 0.4


class ShapeNodes:
    """A node for each solid that can be drawn; none where the robot has no solids.

    picker: makes what is done at a click, from the name of a solid

    extent: (3,) the smallest and the largest coordinates of the first drawing, m, solids included
    """

    def __init__(self, api: Any, robot: str, drawing: Drawing, picker: Callable[[str], Callable[[Any], Any]]) -> None:
        self._bodies = bodies_of(robot, drawing.solids, MOST_FACES)
        self.extent = extent_with(self._bodies, drawing)
        self._nodes = [self._added(api, body) for body in self._bodies]
        for node, body in zip(self._nodes, self._bodies, strict=True):
            node.on_click(picker(drawing.solids[body.solid].name))
        self.place(drawing)

    def __len__(self) -> int:
        return len(self._nodes)

    def show(self, visible: bool, *, translucent: bool) -> None:
        """translucent: so that what is inside can be seen"""
        for node, body in zip(self._nodes, self._bodies, strict=True):
            opacity = body.rgba[3] * (TRANSLUCENT if translucent else 1.0)
            node.visible, node.opacity = visible, None if opacity == 1 else opacity

    def place(self, drawing: Drawing) -> None:
        """To one position."""
        if not self._nodes:
            return
        poses = np.stack([drawing.solids[body.solid].transform for body in self._bodies])
        for node, turn, place in zip(self._nodes, quaternions(poses[:, :3, :3]), poses[:, :3, 3], strict=True):
            node.wxyz, node.position = turn, place

    def _added(self, api: Any, body: Body) -> Any:
        return api.add_mesh_simple(
            f"/shapes/{body.solid}",
            body.mesh.vertices.astype(np.float32),
            body.mesh.faces.astype(np.uint32),
            color=tuple(round(255 * part) for part in body.rgba[:3]),
            flat_shading=not body.is_round,
            side="double",  # files often have some triangles the wrong way round
        )
