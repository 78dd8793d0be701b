"""Loops on top of a tree. A home position that does not close is closed by Newton's method, and described anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge import validation
from tauforge.algebra.inertias import rotated
from tauforge.algebra.vectors import IDENTITY, Matrix, Transform, Vector
from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.formulations.mechanism.kinematics import body_frames
from tauforge.formulations.mechanism.parameters import HINGE, POINT, WELD, Cut
from tauforge.formulations.trees.frames import GROUND
from tauforge.robots.mechanism import parts
from tauforge.robots.mechanism.assembly import axis_frame
from tauforge.robots.mechanism.loop_matrices import LoopEquations
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.mobility import closing_step, stepped
from tauforge.validation import Floats

HOME_STEPS = 100  # of Newton's method
HOME_GAP = 1e-12  # of the mechanism's size, m or rad


class ClosingJoint(NamedTuple):
    """A joint that closes a loop: given on its parent, and on its child where that differs in the position given."""

    joint: parts.MechanismJoint
    at: Floats  # on the child
    axis: Floats | None  # on the child, of a hinge

    @property
    def is_closed(self) -> bool:
        return self.at == self.joint.at and self.axis == getattr(self.joint, "axis", None)


def loops_of(given: Sequence[Any]) -> tuple[ClosingJoint, ...]:
    """given: joints; or (joint, point) or (joint, point, axis), the point and axis on the child."""
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        raise ModelError(f"expected a sequence of joints, got {validation.shown(given)}", field="loops")
    found = []
    for k, entry in enumerate(given, 1):
        where = f"loops[{k}]"
        loop = entry if isinstance(entry, tuple) else (entry,)
        if not 1 <= len(loop) <= 3 or not isinstance(loop[0], parts.MechanismJoint):
            problem = f"expected a joint, or (joint, point of its child), got {validation.shown(entry)}"
            remedy = 'Write for example tf.Spherical("ball", "rod", "platform", at=(0.1, 0.0, 0.3))'
            raise ModelError(problem, field=where, remedy=remedy)
        joint = loop[0]
        at = joint.at if len(loop) < 2 else validation.vector(loop[1], where)
        axis = getattr(joint, "axis", None)
        if len(loop) == 3:
            if not isinstance(joint, parts.Hinge):
                raise ModelError("only a Hinge takes an axis of its child", field=where)
            axis = dataclasses.replace(joint, axis=loop[2]).axis
        found.append(ClosingJoint(joint, at, axis))
    return tuple(found)


def closed(description: Mapping[str, Any], loops: Sequence[Any], start: Mapping[str, float]) -> Mechanism:
    """The mechanism whose tree is described, with loops.

    description: arguments of Mechanism, without loops, in its home position
    loops:       as in `loops_of`, in that home position
    start:       coordinates of hinges and sliders from which the loops are closed. Without any, and where all loops are
                 closed as they are given, home stays as it is
    """
    wanted = loops_of(loops)
    if not start and all(loop.is_closed for loop in wanted):
        joints = (*description["joints"], *(loop.joint for loop in wanted))
        return Mechanism(**{**description, "joints": joints})
    plain = {**description, "independent": None, "cut": None}
    tree = Mechanism(**plain)
    cut = {tree.joints[k].name for k in tree._analysis.tree.cut}
    if cut:  # loops that are closed as given, to be kept closed while the others are
        wanted = (*loops_of([joint for joint in tree.joints if joint.name in cut]), *wanted)
        tree = Mechanism(**{**plain, "joints": tuple(joint for joint in tree.joints if joint.name not in cut)})
    if tree.structure.through:
        problem = f"the loop at {tree.structure.through[0][0]} would open while others are closed"
        raise ModelError(problem, field="loops", remedy="Describe the mechanism in a position where all loops close")
    for loop in wanted:
        if not isinstance(loop.joint, parts.Hinge | parts.Spherical | parts.Weld):
            kind = type(loop.joint).__name__
            problem = f"a {kind} can only close a loop where it is closed as given, and no start is"
            remedy = "Use a Hinge, a Spherical or a Weld, or describe the mechanism in a position that closes"
            raise ModelError(problem, field=loop.joint.name, remedy=remedy)
    x = _closed_position(tree, wanted, start)
    found = _described_at(tree, wanted, x)
    given = [joint.name for joint in (*description["joints"], *(loop.joint for loop in wanted))]
    found["joints"] = tuple(sorted(found["joints"], key=lambda joint: given.index(joint.name)))
    return Mechanism(**{**description, **found})


def _closed_position(tree: Mechanism, loops: Sequence[ClosingJoint], start: Mapping[str, float]) -> Array:
    loops_open = LoopEquations(tree._analysis.parameters._replace(cuts=_cuts(tree, loops)))
    x = _with_followers(tree, start)
    for _ in range(HOME_STEPS + 1):
        J, gaps = loops_open.matrix_and_gaps(x[None])
        scaled = gaps / loops_open.row_scale
        if np.abs(scaled).max(initial=0.0) <= HOME_GAP:
            return np.asarray(x)
        step = closing_step(J / loops_open.row_scale[:, None], scaled, loops_open.scale)
        x = stepped(loops_open.parameters, x[None], step)[0]
    rows = loops_open.parameters.rows_of_cuts
    open_by = {loop.joint.name: float(np.abs(gaps[0, own]).max()) for loop, own in zip(loops, rows, strict=True)}
    worst = max(open_by, key=lambda name: open_by[name]) if open_by else "a mimic"
    raise ModelError(
        f"the loops cannot be closed from here: the loop at {worst} stays open by {open_by.get(worst, 0.0):.3g} (m or "
        "rad)",
        field="loops",
        remedy="Give coordinates nearer to a closed position by home=, [start] in a file, or correct the points",
    )


def _with_followers(tree: Mechanism, start: Mapping[str, float]) -> Array:
    x = tree.home
    places = {name: k for k, name in enumerate(tree.coordinate_names)}
    for name, value in start.items():
        x[places[name]] = value
    for _ in tree.joints:  # a joint may follow one that follows another
        for joint in tree.joints:
            if joint.mimic is not None and joint.name not in start:
                leader, factor, offset = joint.mimic
                x[places[joint.name]] = factor * x[places[leader]] + offset
    return x


def _cuts(tree: Mechanism, loops: Sequence[ClosingJoint]) -> tuple[Cut, ...]:
    assembly = tree._analysis.assembly
    found = []
    for joint, at, axis in loops:
        for field in ("parent", "child"):
            parts.check_part("body", getattr(joint, field), assembly.numbers, f"{joint.name}.{field}")
        if isinstance(joint, parts.Hinge):
            assert axis is not None
            ends = axis_frame(joint.at, joint.axis), axis_frame(at, axis)
            kind = HINGE
        else:
            ends = Transform(IDENTITY, Vector(*joint.at)), Transform(IDENTITY, Vector(*at))
            kind = WELD if isinstance(joint, parts.Weld) else POINT
        a, b = map(assembly.fixed_frame, (joint.parent, joint.child), ends)
        found.append(Cut(kind, a, b, GROUND, None))
    return tuple(found)


def _described_at(tree: Mechanism, loops: Sequence[ClosingJoint], x: Array) -> dict[str, Any]:
    """Bodies, joints and springs of the tree in another position as home, and the loops, closed there."""
    moved = _displacements(tree, x)
    first, joints = 0, []
    for joint in tree.joints:
        own = tuple(x[first : first + len(joint.letters)].tolist())
        joints.append(_moved_joint(joint, moved, own))
        first += len(joint.letters)
    joints += [_moved_joint(loop.joint, moved, loop.joint.home) for loop in loops]
    return {
        "bodies": tuple(_moved_body(body, moved[body.name]) for body in tree.bodies),
        "joints": tuple(joints),
        "springs": tuple(_moved_spring(spring, moved) for spring in tree.springs),
    }


def _displacements(tree: Mechanism, x: Array) -> dict[str, Transform]:
    """World <- world, from home to where a body is at x, for each body."""
    now = body_frames(tree._analysis.parameters, x.tolist())
    found = {body.name: T.then(body.home_frame.inverse()) for body, T in zip(tree.bodies, now, strict=False)}
    return found | {parts.GROUND_NAME: Transform(IDENTITY, Vector(0.0, 0.0, 0.0))}


def _point(T: Transform, p: Sequence[float]) -> Floats:
    return tuple(T.rotation @ Vector(*p) + T.translation)


def _axis(T: Transform, v: Sequence[float]) -> Floats:
    return tuple(T.rotation @ Vector(*v))


def _moved_body(body: parts.Body, T: Transform) -> parts.Body:
    inertia = rotated(Matrix.of(body.inertia), T.rotation)
    inertia = (inertia + inertia.T) * 0.5
    frame = validation.from_transform(T.then(body.home_frame))
    return parts.Body(body.name, body.mass, _point(T, body.com), tuple(tuple(row) for row in inertia.rows), frame=frame)


def _moved_joint(joint: parts.MechanismJoint, moved: Mapping[str, Transform], home: Any) -> parts.MechanismJoint:
    parent, child = moved[joint.parent], moved[joint.child]
    changes: dict[str, Any] = {"at": _point(parent, joint.at)}
    if isinstance(joint, parts.Universal):
        changes["axes"] = _axis(parent, joint.axes[0]), _axis(child, joint.axes[1])
    elif hasattr(joint, "axis"):
        changes["axis"] = _axis(parent, joint.axis)
    if isinstance(joint, parts.Planar) and joint.along is not None:
        changes["along"] = _axis(parent, joint.along)
    if joint.letters and not isinstance(joint, parts.Spherical) and joint.letters != "PPPRRR":
        changes["home"] = home
    return dataclasses.replace(joint, **changes)


def _moved_spring(spring: parts.Spring, moved: Mapping[str, Transform]) -> parts.Spring:
    a, b = _point(moved[spring.body_a], spring.point_a), _point(moved[spring.body_b], spring.point_b)
    return dataclasses.replace(spring, point_a=a, point_b=b)
