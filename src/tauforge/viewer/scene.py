"""The robot in viser's scene: made once, then moved.

A node holds many bodies of one shape. What the robot's description says it looks like has a node for each solid.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.pictures import triangles
from tauforge.pictures.solids import SolidMesh, bodies_of, extent_with
from tauforge.pictures.triangles import Mesh
from tauforge.robots.drawing import Drawing, Reaction
from tauforge.robots.positions import body_name
from tauforge.robots.robot import Robot
from tauforge.viewer import colours, figure
from tauforge.viewer.colours import linear
from tauforge.viewer.figure import Arrows, Bodies, corners, joint_labels, label_places, quaternions
from tauforge.viewer.surroundings import Surroundings

GHOST_OPACITY, ELLIPSOID_OPACITY, PLATE_OPACITY = 0.4, 0.35, 0.85
FADED = 0.25  # opacity of the bars behind shapes
GHOST_RADIUS = 0.9  # of the robot's bars
SHAFT = 0.006  # of the robot's extent
AXES_LENGTH, AXES_RADIUS = 0.07, 0.0035  # likewise
MARK_RADIUS = 0.022
PATH_WIDTH = 0.003
# Bars and balls are a few pixels thick: more sides are not seen, but a browser without a GPU takes its time for them.
BAR_SIDES, BALL_SIDES = 14, (14, 8)
HEAD_SIDES = 14
# m, what viser gets for a unit body. viser lets the mouse hit the body itself, too: unseen, at the origin, unscaled.
UNIT = 1e-4
MOST_TAB_FACES = 200_000  # of one body: every tab gets all of them
TRANSLUCENT = 0.4


class VisibleParts(NamedTuple):
    """Parts of the scene that are visible."""

    shapes: bool = True
    forces: bool = True
    reactions: bool = False
    centres: bool = False
    ellipsoids: bool = False
    frames: bool = False
    names: bool = False
    handle: bool = True


class Scene:
    """The nodes of one robot. `size` (m) is its extent, to which all thicknesses are in proportion."""

    def __init__(self, api: Any, robot: Robot, surroundings: Surroundings) -> None:
        self.api, self.robot, self.size = api, robot, surroundings.size
        self._shown, self._picked = VisibleParts(), ""
        self._naming = threading.Lock()  # clicks come from viser's thread, moves from ours
        drawing = robot.drawing(np.asarray(robot.positions.default, float))
        bar, ball = triangles.cylinder(BAR_SIDES), triangles.ball(*BALL_SIDES)
        self._bars = self._bodies("/robot/bars", figure.bars(drawing, self.size), bar)
        self._joints = self._bodies("/robot/joints", self._joint_balls(drawing), ball)
        self._centres = self._bodies("/robot/centres", self._centre_balls(drawing), ball)
        masses = figure.ellipsoids(drawing, self.size)
        self._ellipsoids = self._bodies("/robot/ellipsoids", masses, triangles.ball(), ELLIPSOID_OPACITY)
        self._plates = [
            api.add_mesh_simple(
                f"/robot/plate {k}",
                *mesh,
                color=colours.rgb(colours.PARTS.get(part, colours.BASE)),
                opacity=PLATE_OPACITY,
                flat_shading=True,
            )
            for k, (part, mesh) in enumerate(figure.plates(drawing, self.size))
        ]
        self.shapes = ShapeNodes(api, robot.name, drawing, self._picker_of_one)
        self._ghost = self._bodies("/ghost", self._ghost_bars(drawing), bar, GHOST_OPACITY, clickable=False)
        self._ghost.visible = False
        self._frames = self._axes("/robot/frames", drawing, None)
        self._moved = self._axes("/robot/moved", drawing, body_name(robot))
        count = len(drawing.actions)
        none = figure.force_arrows(drawing, np.zeros(count), colours.rgb_rows([colours.UNLIMITED] * count), self.size)
        self._forces = ArrowNodes(api, "/forces", none, SHAFT * self.size)
        self._reactions: ArrowNodes | None = None
        self._labels: dict[str, Any] = {}
        self._path: list[Any] = []
        self._drawing = drawing
        self.show(self._shown)

    # ------------------------------------------------------------------------------------------------------ changes

    def show(self, shown: VisibleParts) -> None:
        """Makes parts visible or not; the next `move` brings their places up to date."""
        self._shown = shown
        inside = shown.centres or shown.ellipsoids or shown.frames or shown.reactions
        self.shapes.show(shown.shapes, translucent=inside)
        self._bars.opacity = FADED if shown.shapes and len(self.shapes) else None
        self._forces.visible = shown.forces
        self._centres.visible, self._ellipsoids.visible = shown.centres, shown.ellipsoids
        self._frames.visible = shown.frames

    def move(
        self, drawing: Drawing, shares: Array, rgb: Array, target: Drawing | None, reactions: tuple[Reaction, ...]
    ) -> None:
        """Shows the robot in another position.

        drawing:   at one position
        shares:    (m,) forces beside the largest; rgb: (m, 3) their colours
        target:    where a controlled robot should be, as a ghost
        reactions: to draw, if they are visible
        """
        size, shown = self.size, self._shown
        place(self._bars, figure.bars(drawing, size))
        place(self._joints, self._joint_balls(drawing))
        if shown.shapes:
            self.shapes.place(drawing)
        if shown.centres:
            place(self._centres, self._centre_balls(drawing))
        if shown.ellipsoids:
            place(self._ellipsoids, figure.ellipsoids(drawing, size))
        for node, (_, mesh) in zip(self._plates, figure.plates(drawing, size), strict=True):
            node.vertices = mesh.vertices
        if shown.forces:
            self._forces.place(figure.force_arrows(drawing, shares, rgb, size))
        if shown.reactions and reactions:
            arrows = figure.reaction_arrows(reactions, size)
            if self._reactions is None:
                self._reactions = ArrowNodes(self.api, "/reactions", arrows, SHAFT * size)
            self._reactions.place(arrows)
        if self._reactions is not None:
            self._reactions.visible = shown.reactions and bool(reactions)
        for node, name in ((self._frames, None), (self._moved, body_name(self.robot))):
            if node.visible:
                node.batched_wxyzs, node.batched_positions = _axes_of(drawing, name)
        self._ghost.visible = target is not None
        if target is not None:
            place(self._ghost, self._ghost_bars(target))
        self._drawing = drawing
        self._place_labels()

    def mark_path(self, path: Array, singular: Array) -> None:
        """Marks the way of the moved body (k, 3), and places (j, 3) where the actuators lose control of the robot."""
        for node in self._path:
            node.remove()
        self._path = []
        if len(path) > 1:
            width = PATH_WIDTH * self.size
            way = corners(path, width / 4)
            lines = np.stack([way[:-1], way[1:]], axis=1).astype(np.float32)
            colour = colours.rgb(colours.PATH)
            self._path.append(self.api.add_line_segments("/path", lines, colour, thickness=width))
        if len(singular):
            marks = figure.marks(singular, "singular", MARK_RADIUS * self.size, colours.OVER)
            self._path.append(self._bodies("/singular", marks, triangles.ball(*BALL_SIDES), clickable=False))

    def pick(self, name: str) -> None:
        """Shows the name of a part where it is, or hides it again."""
        self._picked = "" if name == self._picked else name
        self._place_labels()

    # --------------------------------------------------------------------------------------------------------- nodes

    def _joint_balls(self, drawing: Drawing) -> Bodies:
        return figure.points(drawing, self.size, figure.JOINT, figure.JOINT_RADIUS, colours.JOINT)

    def _centre_balls(self, drawing: Drawing) -> Bodies:
        return figure.points(drawing, self.size, "centre of mass", figure.CENTRE_RADIUS, colours.CENTRE)

    def _ghost_bars(self, drawing: Drawing) -> Bodies:
        """Bars a little thinner than the robot's own, and so inside them where the robot is on its target."""
        bars = figure.bars(drawing, self.size)
        thin = bars.placed._replace(scales=bars.placed.scales * (GHOST_RADIUS, GHOST_RADIUS, 1.0))
        return bars._replace(placed=thin, rgb=colours.rgb_rows([colours.GHOST] * len(bars.names)))

    def _bodies(
        self, name: str, bodies: Bodies, mesh: Mesh, opacity: float | None = None, clickable: bool = True
    ) -> Any:
        node = added(self.api, name, bodies, mesh, opacity)
        if clickable:
            node.on_click(self._picker(bodies.names))
        return node

    def _picker(self, names: Sequence[str]) -> Callable[[Any], Any]:
        """Handler of clicks on a node of bodies with these names. A hit without an index is of none of them."""

        async def clicked(event: Any) -> None:
            k = event.instance_index
            if k is not None and 0 <= k < len(names):
                self.pick(names[k])

        return clicked

    def _picker_of_one(self, name: str) -> Callable[[Any], Any]:
        """Handler of clicks on a node of one body."""

        async def clicked(event: Any) -> None:
            self.pick(name)

        return clicked

    def _axes(self, path: str, drawing: Drawing, name: str | None) -> Any:
        wxyzs, places = _axes_of(drawing, name)
        if not len(wxyzs):
            return Absent()
        length, radius = AXES_LENGTH * self.size, AXES_RADIUS * self.size
        return self.api.add_batched_axes(path, wxyzs, places, axes_length=length, axes_radius=radius)

    def _place_labels(self) -> None:
        """Updates the labels and their places."""
        with self._naming:
            wanted = joint_labels(self._drawing, self.size) if self._shown.names else {}
            if self._picked:
                known = label_places(self._drawing)
                wanted |= {name: known[name] for name in (self._picked,) if name in known}
            for name in [name for name in self._labels if name not in wanted]:
                self._labels.pop(name).remove()
            for name, place in wanted.items():
                if name in self._labels:
                    self._labels[name].position = place
                else:  # a slash in a name would make a branch of viser's tree
                    self._labels[name] = self.api.add_label(f"/names/{hash(name)}", name, position=place)


def _axes_of(drawing: Drawing, name: str | None) -> tuple[Array, Array]:
    """Quaternions (k, 4) and places (k, 3) of all frames, or of the one of this name."""
    frames = [frame.transform for frame in drawing.frames if name is None or frame.name == name]
    transforms = np.reshape(frames, (-1, 4, 4))
    return figure.quaternions(transforms[:, :3, :3]), transforms[:, :3, 3]


class ArrowNodes:
    """Shafts as one node, heads as another."""

    def __init__(self, api: Any, name: str, arrows: Arrows, width: float) -> None:
        self.shafts: Any = Absent()
        if len(arrows.lines):
            self.shafts = api.add_line_segments(
                f"{name}/shafts", arrows.lines, linear(arrows.line_rgb), thickness=width
            )
        heads = Bodies(arrows.heads, ("",) * len(arrows.head_rgb), arrows.head_rgb)
        self.heads = added(api, f"{name}/heads", heads, triangles.cone(HEAD_SIDES), None)

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
        """Does nothing: there is nothing to click on."""


def added(api: Any, name: str, bodies: Bodies, mesh: Mesh, opacity: float | None) -> Any:
    """A node of many bodies of one shape."""
    if not bodies.names:
        return Absent()
    look = {"opacity": opacity, "lod": "off", "cast_shadow": False, "receive_shadow": False}
    vertices = mesh.vertices * np.float32(UNIT)
    return api.add_batched_meshes_simple(name, vertices, mesh.faces, **_batched(bodies), **look)


def place(node: Any, bodies: Bodies) -> None:
    """Moves and paints the bodies of a node."""
    for name, value in _batched(bodies).items():
        setattr(node, name, value)


def _batched(bodies: Bodies) -> dict[str, Array]:
    """Properties of a node for each of its bodies, by the names of viser."""
    return {
        "batched_positions": bodies.placed.places,
        "batched_wxyzs": bodies.placed.wxyzs,
        "batched_scales": bodies.placed.scales / UNIT,
        "batched_colors": linear(bodies.rgb),
    }


class ShapeNodes:
    """A node for each solid that can be drawn; none where the robot has no solids.

    picker: makes what is done at a click, from the name of a solid

    extent: (3,) the smallest and the largest coordinates of the first drawing, m, solids included
    """

    def __init__(self, api: Any, robot: str, drawing: Drawing, picker: Callable[[str], Callable[[Any], Any]]) -> None:
        self._bodies = bodies_of(robot, drawing.solids, MOST_TAB_FACES)
        self.extent = extent_with(self._bodies, drawing)
        self._nodes = [_mesh_of(api, body) for body in self._bodies]
        for node, body in zip(self._nodes, self._bodies, strict=True):
            node.on_click(picker(drawing.solids[body.solid].name))
        self.place(drawing)

    def __len__(self) -> int:
        return len(self._nodes)

    def show(self, visible: bool, *, translucent: bool) -> None:
        """Makes the solids visible or not. translucent: so that what is inside can be seen"""
        for node, body in zip(self._nodes, self._bodies, strict=True):
            opacity = body.rgba[3] * (TRANSLUCENT if translucent else 1.0)
            node.visible, node.opacity = visible, None if opacity == 1 else opacity

    def place(self, drawing: Drawing) -> None:
        """Places the solids at one position."""
        poses = np.reshape([drawing.solids[body.solid].transform for body in self._bodies], (-1, 4, 4))
        for node, turn, place in zip(self._nodes, quaternions(poses[:, :3, :3]), poses[:, :3, 3], strict=True):
            node.wxyz, node.position = turn, place


def _mesh_of(api: Any, body: SolidMesh) -> Any:
    vertices, faces = body.mesh.vertices.astype(np.float32), body.mesh.faces.astype(np.uint32)
    colour = tuple(round(255 * part) for part in body.rgba[:3])
    # files often have some triangles the wrong way round
    look = {"color": colour, "flat_shading": not body.is_round, "side": "double"}
    return api.add_mesh_simple(f"/shapes/{body.solid}", vertices, faces, **look)
