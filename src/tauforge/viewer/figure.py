"""A robot in one position as bodies of a few kinds: cylinders, balls, ellipsoids, plates, arrows. Arrays only.

Bodies of one kind are placed by quaternions, places and scales. Parts that have names tell where their labels are, and
what a mouse can point at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from tauforge.algebra.rotations import Quaternion, quaternion_of_rotation
from tauforge.algebra.vectors import Matrix
from tauforge.arrays import Array
from tauforge.pictures.animation_frames import outlines
from tauforge.pictures.in_space import force_line
from tauforge.pictures.triangles import Mesh
from tauforge.robots.drawing import Drawing, Point, Reaction, Segment
from tauforge.viewer import colours

# all in shares of the robot's extent
LINK_RADIUS, SLEEVE_RADIUS, ROD_RADIUS, EDGE_RADIUS = 0.02, 0.016, 0.009, 0.007
JOINT_RADIUS, CENTRE_RADIUS = 0.02, 0.011
DRUM_RADIUS, DRUM_LENGTH = 0.03, 0.075
THICKNESS = 0.02
HEAD_LENGTH, HEAD_RADIUS = 0.045, 0.017
REACTION_LENGTH = 0.2
JOINT = "joint"  # the part of a drawing's points
LEAST_SHARE = 0.01  # of the largest force, below which an arrow is left out
PAGE_DIGITS = 4  # of places on the page, beside the robot's extent
SHARED_LABEL = 0.01  # of the robot's extent: joints so close have one label


class Bodies(NamedTuple):
    """Bodies of one kind, with what they are called and their colours (k, 3)."""

    placed: Placed
    names: tuple[str, ...]
    rgb: Array


class Arrows(NamedTuple):
    """lines: (k, 2, 3) m, pieces of all shafts; line_rgb: (k, 2, 3); heads: a cone for each arrow; head_rgb: (m, 3)."""

    lines: Array
    line_rgb: Array
    heads: Placed
    head_rgb: Array


class Bar(NamedTuple):
    """Straight bar of the drawing. start, end: (3,) m; radius: m"""

    name: str
    start: Array
    end: Array
    radius: float
    colour: str


def bars_of(drawing: Drawing, size: float) -> list[Bar]:
    """Links, the two parts of legs, the edges of outlines, and a drum for every turning actuator."""
    found = [piece for segment in drawing.segments for piece in _bars_of(segment, size)]
    for action in drawing.actions:
        if action.turns:
            half = DRUM_LENGTH / 2 * size * action.axis
            drum = action.name, action.place - half, action.place + half, DRUM_RADIUS * size, colours.JOINT
            found.append(Bar(*drum))
    return found


def _bars_of(segment: Segment, size: float) -> list[Bar]:
    name, start, end = segment.name, segment.start, segment.end
    if segment.sleeve is not None:
        length = float(np.linalg.norm(end - start))
        middle = start + min(segment.sleeve / length, 1.0) * (end - start) if length else end
        return [
            Bar(name, start, middle, SLEEVE_RADIUS * size, colours.SLEEVE),
            Bar(name, middle, end, ROD_RADIUS * size, colours.ROD),
        ]
    colour = colours.PARTS.get(segment.part, colours.LINK)
    radius = LINK_RADIUS if segment.part == "link" else EDGE_RADIUS
    return [Bar(name, start, end, radius * size, colour)]


def bars(drawing: Drawing, size: float) -> Bodies:
    """The bars as cylinders."""
    names, starts, ends, radii, kinds = zip(*found, strict=True) if (found := bars_of(drawing, size)) else ((),) * 5
    placed = along(np.reshape(starts, (-1, 3)), np.reshape(ends, (-1, 3)), np.array(radii, float))
    return Bodies(placed, tuple(names), colours.rgb_rows(list(kinds)))


def name_of(point: Point) -> str:
    """Name of a point: a joint by its name, another by what it is a point of."""
    return point.name if point.part == JOINT else f"{point.part} of {point.name}"


def points(drawing: Drawing, size: float, part: str, radius: float, colour: str) -> Bodies:
    """Balls at the points of one part, such as "joint"."""
    chosen = [point for point in drawing.points if point.part == part]
    return _balls([p.place for p in chosen], tuple(map(name_of, chosen)), radius * size, colour)


def marks(places: Array, name: str, radius: float, colour: str) -> Bodies:
    """Balls of one name at places (k, 3)."""
    return _balls(list(places), (name,) * len(places), radius, colour)


def _balls(places: Sequence[Array], names: tuple[str, ...], radius: float, colour: str) -> Bodies:
    count = len(names)
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    placed = Placed(np.reshape(np.array(places, float), (-1, 3)), turns, np.full((count, 3), radius))
    return Bodies(placed, names, colours.rgb_rows([colour] * count))


def ellipsoids(drawing: Drawing, size: float) -> Bodies:
    """Ellipsoids of inertia; flat ones keep a little thickness."""
    bodies = drawing.ellipsoids
    frames = np.reshape([body.transform for body in bodies], (-1, 4, 4))
    scales = np.maximum(np.reshape([body.semi_axes for body in bodies], (-1, 3)), 1e-3 * size)
    placed, names = Placed(frames[:, :3, 3], quaternions(frames[:, :3, :3]), scales), (body.name for body in bodies)
    return Bodies(placed, tuple(names), colours.rgb_rows([colours.CENTRE] * len(bodies)))


def plates(drawing: Drawing, size: float) -> list[tuple[str, Mesh]]:
    """The bodies that outlines go round, with the part they belong to."""
    rings = [[drawing.segments[k] for k in outline] for outline in outlines(drawing.segments)]
    return [(ring[0].part, plate(np.array([edge.start for edge in ring]), THICKNESS * size)) for ring in rings]


def force_arrows(drawing: Drawing, shares: Array, rgb: Array, size: float) -> Arrows:
    """An arrow for every actuator whose place the drawing says: for all of them or for none.

    shares: (m,) of the largest force, with their signs; rgb: (m, 3)
    """
    lines = []
    for action, share in zip(drawing.actions, np.nan_to_num(shares), strict=False):
        line = force_line(action.place, action.axis, action.turns, float(share), size)
        # A line of no length is drawn as a dot: it is hidden inside the joint.
        lines.append(line if abs(share) > LEAST_SHARE else np.broadcast_to(action.place, line.shape))
    return _arrows(lines, rgb[: len(lines)], size)


def reaction_arrows(reactions: Sequence[Reaction], size: float) -> Arrows:
    """Forces and moments of joints as straight arrows; the largest of each has the longest.

    Components that are not unique are left out.
    """
    lines, kinds = [], []
    for quantity, colour in (("force", colours.REACTION), ("moment", colours.MOMENT)):
        vectors = [np.nan_to_num(getattr(reaction, quantity)) for reaction in reactions]
        largest = max((float(np.linalg.norm(v)) for v in vectors), default=0.0) or 1.0
        for reaction, vector in zip(reactions, vectors, strict=True):
            lines.append(np.stack([reaction.place, reaction.place + REACTION_LENGTH * size / largest * vector]))
            kinds.append(colour)
    return _arrows(lines, colours.rgb_rows(kinds), size)


def _arrows(lines: Sequence[Array], rgb: Array, size: float) -> Arrows:
    pieces = [np.stack([line[:-1], line[1:]], axis=1) for line in lines]
    shafts = np.concatenate(pieces) if pieces else np.zeros((0, 2, 3))
    counts = [len(piece) for piece in pieces]
    line_rgb = np.repeat(np.repeat(rgb, counts, axis=0)[:, None], 2, axis=1)
    tips = np.array([line[-1] for line in lines]).reshape(-1, 3)
    ways = np.array([line[-1] - line[-2] for line in lines]).reshape(-1, 3)
    whole = np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines])
    heads = np.minimum(HEAD_LENGTH * size, 0.5 * whole)[:, None]  # a small force has a small head
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    units = ways / np.where(lengths > 0, lengths, 1.0)
    cones = along(tips, tips + heads * units, HEAD_RADIUS / HEAD_LENGTH * heads[:, 0])
    return Arrows(shafts.astype(np.float32), line_rgb.astype(np.uint8), cones, rgb)


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
    """Quaternions (..., 4) w, x, y, z of rotations (..., 3, 3)."""
    R = Matrix.of([[rotations[..., i, j] for j in range(3)] for i in range(3)])
    return np.stack([np.asarray(part) for part in quaternion_of_rotation(R)], axis=-1)


def rotation(wxyz: Array) -> Array:
    """Rotation (3, 3) of a quaternion (4,). Identity: undoes `quaternions`."""
    unit = wxyz / np.linalg.norm(wxyz)
    return np.array([list(row) for row in Quaternion(*unit.tolist()).rotation().rows])


def along(starts: Array, ends: Array, radius: Array | float) -> Placed:
    """Unit cylinders or cones from one point to another, (k, 3) each; those of no length have no size."""
    ways = np.asarray(ends, float) - starts
    lengths = np.linalg.norm(ways, axis=-1)
    radii = np.where(lengths > 0, radius, 0.0)
    return Placed(np.asarray(starts, float), turns_from_z(ways), np.column_stack([radii, radii, lengths]))


def turns_from_z(ways: Array) -> Array:
    """Quaternions (k, 4) of the shortest turns that lead z to these directions (k, 3)."""
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


def named_parts(drawing: Drawing, size: float) -> list[Bar]:
    """Joints, links, legs and edges, as thick as they are drawn. A joint is a bar without a length.

    size: m, the robot's extent
    """
    joints = [point for point in drawing.points if point.part == JOINT]
    balls = [Bar(joint.name, joint.place, joint.place, JOINT_RADIUS * size, colours.JOINT) for joint in joints]
    return bars_of(drawing, size) + balls


def parts_html(parts: Iterable[Bar], size: float) -> str:
    """The parts as data for the page's script, names.js."""
    digits = PAGE_DIGITS - math.floor(math.log10(size))
    rows = [
        [part.name, *(round(float(x), digits) for x in (*part.start, *part.end, part.radius))]
        for part in parts
        if np.isfinite([part.start, part.end]).all()
    ]
    return f'<div hidden data-parts="{escape(json.dumps(rows, separators=(",", ":")))}"></div>'


def label_places(drawing: Drawing) -> dict[str, Array]:
    """Places (3,) m by name: joints and mass centres, and the middles of everything else."""
    places = {name_of(point): point.place for point in drawing.points}
    ends: dict[str, list[Array]] = {}
    for segment in drawing.segments:  # the edges of an outline share a name
        ends.setdefault(segment.name, []).extend((segment.start, segment.end))
    bodies = {name: np.mean(each, axis=0) for name, each in ends.items()}
    solids = {solid.name: solid.transform[:3, 3] for solid in drawing.solids}
    masses = {ellipsoid.name: ellipsoid.transform[:3, 3] for ellipsoid in drawing.ellipsoids}
    return solids | masses | bodies | places


def joint_labels(drawing: Drawing, size: float) -> dict[str, Array]:
    """Places (3,) m by text; joints at the same place share a label.

    size: m, the robot's extent
    """
    groups: list[tuple[list[str], Array]] = []
    for point in (point for point in drawing.points if point.part == JOINT):
        near = (names for names, place in groups if np.linalg.norm(point.place - place) < SHARED_LABEL * size)
        names = next(near, None)
        if names is None:
            groups.append(([point.name], point.place))
        else:
            names.append(point.name)
    return {", ".join(names): place for names, place in groups}
