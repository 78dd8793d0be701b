"""From bodies, joints and a spanning tree to joint frames: the geometry alone, in plain numbers.

Every joint of the tree becomes one to three joint frames; a weld becomes none, and its bodies share a frame. Where a
frame is in the home position is all that bodies, cuts and springs need to find their places in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.algebra.rotations import angles_of
from tauforge.algebra.vectors import IDENTITY, NO_DISPLACEMENT, ZERO, ZERO_MATRIX, Matrix, Transform, Vector
from tauforge.arrays import Array
from tauforge.formulations.mechanism.cuts import Posed
from tauforge.formulations.mechanism.kinematics import world_frames
from tauforge.formulations.mechanism.parameters import HINGE, POINT, WELD, Cut, FixedFrame
from tauforge.formulations.trees.economical_frames import COORDINATE_ERROR, aligned, slid, tidy
from tauforge.formulations.trees.frames import GROUND, JointFrame, placements
from tauforge.robots.mechanism import parts
from tauforge.robots.mechanism.spanning_tree import SpanningTree
from tauforge.validation import Floats


class Assembly(NamedTuple):
    """The geometry of a mechanism.

    frames:      without masses
    reads:       of each of the tree's coordinates its place in x
    home:        (N,) x in the home position
    of_body:     the joint frame that each body is fixed to, by name; copies without mass included
    numbers:     of the bodies by name, copies after them
    at_home:     world <- joint frame, in the home position
    joint_rates: of each joint its rates' places in the tree, None for a joint that was cut
    size:        m, the largest coordinate: displacements are differences of such
    """

    frames: tuple[JointFrame, ...]
    reads: tuple[int, ...]
    home: Array
    of_body: dict[str, int]
    numbers: dict[str, int]
    at_home: tuple[Transform, ...]
    joint_rates: tuple[tuple[int, ...] | None, ...]
    size: float

    def fixed_frame(self, body: str, world: Transform) -> FixedFrame:
        """A frame that is given in the world and in the home position, on a body."""
        k = self.of_body[body]
        inner = NO_DISPLACEMENT if k == GROUND else self.at_home[k]
        return FixedFrame(k, tidied(inner.inverse().then(world), self.size), self.numbers[body])


def largest_coordinate(bodies: Sequence[parts.Body], joints: Sequence[parts.MechanismJoint]) -> float:
    """The largest coordinate, m, of the points that describe a mechanism."""
    points = [point for body in bodies for point in (body.com, body.origin or ())] + [joint.at for joint in joints]
    return max(abs(x) for point in points for x in point)


def tidied(T: Transform, size: float) -> Transform:
    """The transform with 0 and 1 for what rounding left of them, in coordinates of this size."""
    rows = [[round(x) if abs(x - round(x)) <= COORDINATE_ERROR else x for x in row] for row in T.rotation.rows]
    return Transform(Matrix.of([[float(x) for x in row] for row in rows]), tidy(T.translation, size))


def axis_frame(at: Sequence[float], z: Sequence[float], x: Sequence[float] | None = None) -> Transform:
    """World <- a frame at a point whose third axis is z, and whose first is near x."""
    axis = np.asarray(z, float)
    near = np.eye(3)[np.abs(axis).argmin()] if x is None else np.asarray(x, float)
    first = near - axis * (axis @ near)
    first /= np.linalg.norm(first)
    columns = np.column_stack([first, np.cross(axis, first), axis])
    return tidied(Transform(Matrix.of(columns.tolist()), Vector(*map(float, at))), 0.0)


def own_axes(joint: parts.MechanismJoint) -> Transform:
    """World <- a frame at the joint, at home: z along its axis, of a universal joint the child's; else world axes."""
    if isinstance(joint, parts.Universal):
        return axis_frame(joint.at, joint.axes[1])
    if isinstance(joint, parts.Planar):
        return axis_frame(joint.at, joint.axis, joint.along)
    if isinstance(joint, parts.Hinge | parts.Slider | parts.Cylinder):
        return axis_frame(joint.at, joint.axis)
    return Transform(IDENTITY, Vector(*joint.at))


class ElementaryJoint(NamedTuple):
    """One joint frame of a joint: its kind, where it is at home, and which of the joint's coordinates it has."""

    kind: str
    world: Transform
    coordinates: tuple[int, ...]


def elementary_joints(joint: parts.MechanismJoint, outward: bool, outer: Transform) -> list[ElementaryJoint]:
    """The joint's frames from the inner body to the outer. A joint that is passed from its child to its parent has its
    axes turned round: so its coordinates stay the child's beside the parent.
    """
    axes: Sequence[tuple[str, Floats, int]]  # kind, axis, coordinate
    match joint:
        case parts.Hinge() | parts.Slider():
            axes = [(joint.letters, joint.axis, 0)]
        case parts.Cylinder():
            axes = [("P", joint.axis, 1), ("R", joint.axis, 0)]
        case parts.Universal():
            axes = [("R", joint.axes[0], 0), ("R", joint.axes[1], 1)]
        case parts.Planar():
            assert joint.along is not None
            across = tuple(np.cross(joint.axis, joint.along).tolist())
            axes = [("P", joint.along, 0), ("P", across, 1), ("R", joint.axis, 2)]
        case parts.Spherical():
            return [ElementaryJoint("B", Transform(IDENTITY, Vector(*joint.at)), (0, 1, 2))]
        case parts.Free():
            return [ElementaryJoint("F", outer, (0, 1, 2, 3, 4, 5))]
        case _:
            return []
    sign = 1.0 if outward else -1.0
    steps = [ElementaryJoint(kind, axis_frame(joint.at, [sign * x for x in v]), (k,)) for kind, v, k in axes]
    return steps if outward else steps[::-1]


def assembled(bodies: Sequence[parts.Body], joints: Sequence[parts.MechanismJoint], tree: SpanningTree) -> Assembly:
    """The tree's joint frames in the axes that cost least."""
    size = largest_coordinate(bodies, joints)
    own_frames = {body.name: body.home_frame for body in bodies} | {parts.GROUND_NAME: NO_DISPLACEMENT}
    first = np.cumsum([0, *(len(joint.letters) for joint in joints)]).tolist()
    of_body = {parts.GROUND_NAME: GROUND}
    frames: list[JointFrame] = []
    worlds: list[Transform] = []
    reads: list[int] = []
    home = [x for joint in joints for x in np.ravel(joint.home).tolist()]
    rates: list[tuple[int, ...] | None] = [None] * len(joints)
    for branch in tree.branches:
        floating = parts.Free("floating", parts.GROUND_NAME, branch.outer)
        joint = floating if branch.joint is None else joints[branch.joint]
        outer = branch.copy_of or branch.outer
        outward = joint.child == outer
        start = len(home) if branch.joint is None else first[branch.joint]
        if isinstance(joint, parts.Free):
            pose = own_frames[branch.inner].inverse().then(own_frames[outer])
            home[start : start + 6] = [*pose.translation, *angles_of(pose.rotation)]
        parent, own = of_body[branch.inner], dict[int, int]()
        for step in elementary_joints(joint, outward, own_frames[outer]):
            inner = NO_DISPLACEMENT if parent == GROUND else worlds[parent]
            # coordinates of a pose are in the inner body's frame
            world = own_frames[branch.inner] if step.kind == "F" else step.world
            offset = 0.0 if step.kind in "BF" else -home[start + step.coordinates[0]]
            frames.append(
                JointFrame(
                    parent,
                    step.kind,
                    len(reads),
                    offset,
                    tidied(inner.inverse().then(world), size),
                    0.0,
                    ZERO,
                    ZERO_MATRIX,
                    inverted=step.kind == "B" and not outward,
                )
            )
            own |= {c: len(reads) + i for i, c in enumerate(step.coordinates)}
            reads += [start + c for c in step.coordinates]
            worlds.append(step.world)
            parent = len(frames) - 1
        of_body[branch.outer] = parent
        if branch.joint is not None:
            rates[branch.joint] = tuple(own[c] for c in range(len(joint.letters)))
    masses = _centres(bodies, of_body)
    cut_at = {of_body[name]: Vector(*joints[k].at) for k in tree.cut for name in (joints[k].parent, joints[k].child)}

    def at_home(frames: Sequence[JointFrame]) -> list[Transform]:
        return world_frames(Posed(frames, placements(frames, [home[k] for k in reads])))

    placed = aligned(frames, _seen(at_home(frames), masses | cut_at), size)
    ends, centres = (_seen(at_home(placed), points) for points in (cut_at, masses))
    placed = slid(placed, ends, centres, size)
    copies = [branch.outer for branch in tree.branches if branch.copy_of is not None]
    numbers = {name: k for k, name in enumerate([*(body.name for body in bodies), *copies])}
    numbers[parts.GROUND_NAME] = GROUND
    x, worlds = np.array(home, float), at_home(placed)
    return Assembly(tuple(placed), tuple(reads), x, of_body, numbers, tuple(worlds), tuple(rates), size)


def _centres(bodies: Sequence[parts.Body], of_body: dict[str, int]) -> dict[int, Vector]:
    """Centres of mass of what moves with each joint frame, in the world and in the home position."""
    mass: dict[int, float] = {}
    for body in bodies:
        mass[of_body[body.name]] = mass.get(of_body[body.name], 0.0) + body.mass
    found: dict[int, Vector] = {}
    for body in bodies:
        k = of_body[body.name]
        if mass[k]:  # the share of the mass, for a product with a mass near 0 is rounded to 0
            found[k] = found.get(k, ZERO) + Vector(*body.com) * (body.mass / mass[k])
    return found


def _seen(at_home: Sequence[Transform], points: dict[int, Vector]) -> dict[int, Vector]:
    """Points of the world, in the home position, in the joint frames that they are on."""
    return {
        k: at_home[k].inverse().then(Transform(IDENTITY, point)).translation
        for k, point in points.items()
        if k != GROUND
    }


def cuts_of(assembly: Assembly, joints: Sequence[parts.MechanismJoint], tree: SpanningTree) -> tuple[Cut, ...]:
    """The cuts at joints and those through bodies, with rows in the ground's axes."""
    first = np.cumsum([0, *(len(joint.letters) for joint in joints)]).tolist()
    found = []
    for k in tree.cut:
        joint = joints[k]
        if isinstance(joint, parts.Hinge):
            world, kind, offset = axis_frame(joint.at, joint.axis), HINGE, float(np.ravel(joint.home)[0])
        else:
            world, kind, offset = Transform(IDENTITY, Vector(*joint.at)), POINT, 0.0
        a, b = (assembly.fixed_frame(name, world) for name in (joint.parent, joint.child))
        found.append(Cut(kind, a, b, GROUND, first[k], offset))
    for branch in tree.branches:
        if branch.copy_of is not None:
            assert branch.joint is not None
            world = Transform(IDENTITY, Vector(*joints[branch.joint].at))
            a, b = (assembly.fixed_frame(name, world) for name in (branch.copy_of, branch.outer))
            found.append(Cut(WELD, a, b, GROUND, None))
    return tuple(found)


def mechanism_size(bodies: Sequence[parts.Body], joints: Sequence[parts.MechanismJoint]) -> float:
    """The size of a mechanism, m: the diagonal of the box round its points."""
    points = np.array([joint.at for joint in joints] + [body.com for body in bodies] + [body.origin for body in bodies])
    return float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
