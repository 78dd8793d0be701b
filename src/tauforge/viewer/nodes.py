"""Nodes of viser's scene that hold many bodies of one shape: made once, then placed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.pictures import unit_bodies
from tauforge.pictures.triangles import Mesh
from tauforge.viewer.colours import linear
from tauforge.viewer.figure import Arrows, Bodies

HEAD_SIDES = 14
# m, what viser gets for a unit body. viser lets the mouse hit the body itself, too: unseen, at the origin, unscaled.
UNIT = 1e-4


class ArrowNodes:
    """Shafts as one node, heads as another."""

    def __init__(self, api: Any, name: str, arrows: Arrows, width: float) -> None:
        self.shafts: Any = Absent()
        if len(arrows.lines):
            self.shafts = api.add_line_segments(
                f"{name}/shafts", arrows.lines, linear(arrows.line_rgb), thickness=width
            )
        heads = Bodies(arrows.heads, ("",) * len(arrows.head_rgb), arrows.head_rgb)
        self.heads = added(api, f"{name}/heads", heads, unit_bodies.cone(HEAD_SIDES), None)

    @property
    def visible(self) -> bool:
        return bool(self.shafts.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self.shafts.visible = self.heads.visible = visible

    def place(self, arrows: Arrows) -> None:
        self.shafts.points, self.shafts.colors = arrows.lines, linear(arrows.line_rgb)
        place(self.heads, Bodies(arrows.heads, (), arrows.head_rgb))


class Absent:
    """Stands for a node that has nothing to show, such as the ellipsoids of a robot without masses."""

    visible = False

    def on_click(self, act: Any) -> None:
        """There is nothing to click on."""


def added(api: Any, name: str, bodies: Bodies, mesh: Mesh, opacity: float | None) -> Any:
    """A node of many bodies of one shape."""
    if not bodies.names:
        return Absent()
    return api.add_batched_meshes_simple(
        name,
        mesh.vertices * np.float32(UNIT),
        mesh.faces,
        batched_wxyzs=bodies.placed.wxyzs,
        batched_positions=bodies.placed.places,
        batched_scales=_scales(bodies),
        batched_colors=linear(bodies.rgb),
        opacity=opacity,
        lod="off",
        cast_shadow=False,
        receive_shadow=False,
    )


def place(node: Any, bodies: Bodies) -> None:
    """Moves and paints the bodies of a node."""
    placed = bodies.placed
    node.batched_positions, node.batched_wxyzs, node.batched_scales = placed.places, placed.wxyzs, _scales(bodies)
    node.batched_colors = linear(bodies.rgb)


def _scales(bodies: Bodies) -> Array:
    """(k, 3) of what viser got."""
    return bodies.placed.scales / UNIT
