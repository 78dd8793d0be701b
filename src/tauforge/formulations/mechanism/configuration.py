"""Closing the loops: all coordinates from the independent ones, by Newton's method from a position nearby, or by legs.

Orientations are quaternions on the way: rates of angles are not finite where theta_y is a quarter turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tauforge.algebra.elimination import Elimination
from tauforge.algebra.rotations import (
    Quaternion,
    angle_rates,
    angles_of,
    angular_velocity,
    quaternion_of,
    turned_slightly,
)
from tauforge.algebra.scalars import Scalar, Scalars, absolute, arctangent, cos, select, sin
from tauforge.algebra.vectors import ZERO, Vector
from tauforge.formulations.mechanism.complement import Complement
from tauforge.formulations.mechanism.cuts import Posed, loop_gaps, posed_at, relative_rotation
from tauforge.formulations.mechanism.legs import closed_by_legs
from tauforge.formulations.mechanism.parameters import HINGE, Cut, MechanismParameters
from tauforge.formulations.trees.frames import JointFrame, Placement, placement
from tauforge.formulations.trees.recursion import FrameVelocity, twists


class JointState(NamedTuple):
    """Coordinates of a joint without angles: a hinge's or slider's own, or a travel and a quaternion."""

    own: Scalar
    travel: Vector
    orientation: Quaternion | None


def joint_state(frame: JointFrame, q: Scalars) -> JointState:
    if not frame.turns_and_slides:
        return JointState(q[0], ZERO, None)
    travel = Vector(*q[:3]) if frame.kind == "F" else ZERO
    return JointState(0.0, travel, quaternion_of(Vector(*q[-3:])))


def placed(frame: JointFrame, state: JointState) -> Placement:
    if state.orientation is None:
        return placement(frame, [state.own])
    turn = state.orientation.rotation()
    return Placement(turn.T if frame.inverted else turn, state.travel)


def stepped(frame: JointFrame, state: JointState, step: Scalars) -> JointState:
    if state.orientation is None:
        return state._replace(own=state.own + step[0])
    turned = turned_slightly(state.orientation, Vector(*step[-3:]))
    return state._replace(travel=state.travel + Vector(*step[:3]) if frame.kind == "F" else ZERO, orientation=turned)


def joint_coordinates(frame: JointFrame, state: JointState) -> list[Scalar]:
    if state.orientation is None:
        return [state.own]
    angles = [*angles_of(state.orientation.rotation())]
    return [*state.travel, *angles] if frame.kind == "F" else angles


def closed(m: MechanismParameters, q: Scalars, near: Scalars, steps: int = 3) -> tuple[list[Scalar], Scalar]:
    """The position x after some steps of Newton's method, and the largest gap of the loops that is left, m or rad.

    q: the independent coordinates, near: x to start from
    """
    tree = _with_independent(m, [near[k] for k in m.reads], q)
    states = [joint_state(frame, [tree[k] for k in frame.span]) for frame in m.frames]
    states, posed, gaps = newton(m, states, steps, q=q)
    tree = _with_independent(m, tree_coordinates(m, states), q)
    return with_cut_coordinates(m, posed, with_tree(m, near, tree)), largest(gaps)


def closed_in_one(m: MechanismParameters, q: Scalars, near: Scalars) -> tuple[list[Scalar], Scalar]:
    """The position with the coordinates q in closed form, every leg assembled as it is at `near`.

    For a mechanism that has one (`legs`); NaN where a leg does not reach.
    """
    before = [near[k] for k in m.reads]
    tree, posed = closed_by_legs(m, _with_independent(m, before, q), before)
    return with_cut_coordinates(m, posed, with_tree(m, near, tree)), largest(loop_gaps(m, posed, tree))


def _with_independent(m: MechanismParameters, tree: Scalars, q: Scalars) -> list[Scalar]:
    """The tree's coordinates with the independent ones as they were given, without rounding."""
    found = list(tree)
    for j, value in zip(m.independent, q, strict=True):
        found[j] = value
    return found


def with_tree(m: MechanismParameters, x: Scalars, tree: Scalars) -> list[Scalar]:
    """x with these coordinates of the tree; those of cut joints stay."""
    found = list(x)
    for k, value in zip(m.reads, tree, strict=True):
        found[k] = value
    return found


def newton(
    m: MechanismParameters, states: list[JointState], steps: int, *, q: Scalars | None = None, shortest: bool = False
) -> tuple[list[JointState], Posed, list[Scalar]]:
    """States after some steps with which the independent rates do not move, and the gaps there.

    q:        independent coordinates, for angles of balls whose rates are not all independent
    shortest: the independent rates move, too, so that the steps are as short as can be
    """

    def here() -> tuple[Posed, list[Scalar]]:
        posed = Posed(m.frames, [placed(frame, state) for frame, state in zip(m.frames, states, strict=True)])
        followers = [state.own for frame, state in zip(m.frames, states, strict=True) for _ in frame.span]
        return posed, loop_gaps(m, posed, followers)  # ties are between hinges and sliders

    for _ in range(steps):
        posed, gaps = here()
        complement = Complement(m, posed, m.independent)
        step = complement.completed([0.0] * len(m.independent), [-gap for gap in gaps])
        if q is not None and (lone := lone_angles(m)):
            now = tree_coordinates(m, states)
            wanted = [q[i] - now[j] if j in lone else 0.0 for i, j in enumerate(m.independent)]
            step = _with_changes(m, complement, now, step, wanted)
        if shortest:
            back = complement.completed(complement.nearest(step), [0.0] * len(gaps))
            step = [x - y for x, y in zip(step, back, strict=True)]
        states = [stepped(frame, s, [step[k] for k in frame.span]) for frame, s in zip(m.frames, states, strict=True)]
    return states, *here()


def lone_angles(m: MechanismParameters) -> dict[int, JointFrame]:
    """Independent angles of balls and free joints of which not all three are: no rate of theirs is an angle's rate."""
    found: dict[int, JointFrame] = {}
    for frame in m.frames:
        if frame.turns_and_slides:
            own = [j for j in frame.span[-3:] if j in m.independent]
            found |= dict.fromkeys(own if len(own) < 3 else [], frame)
    return found


def _with_changes(
    m: MechanismParameters, complement: Complement, now: Scalars, v: Scalars, wanted: Scalars
) -> list[Scalar]:
    """v and a motion of the mechanism by which the independent coordinates change as wanted.

    now: the tree's coordinates
    """
    lone = lone_angles(m)

    def changes(rates: Scalars) -> list[Scalar]:
        found = []
        for j in m.independent:
            if j in lone:
                first = lone[j].span[-3]
                theta, omega = (Vector(*values[first : first + 3]) for values in (now, rates))
                found.append([*angle_rates(theta, omega)][j - first])
            else:
                found.append(rates[j])
        return found

    columns = [changes(column) for column in complement.S]
    matrix = Elimination([list(row) for row in zip(*columns, strict=True)], len(columns))
    shares = matrix.solved([a - b for a, b in zip(wanted, changes(v), strict=True)])
    found = list(v)
    for share, column in zip(shares, complement.S, strict=True):
        found = [x + share * y for x, y in zip(found, column, strict=True)]
    return found


def stepped_tree(m: MechanismParameters, x: Scalars, step: Scalars) -> list[Scalar]:
    """x after a small step of the tree's rates; coordinates of cut joints stay."""
    before = [joint_state(frame, [x[m.reads[k]] for k in frame.span]) for frame in m.frames]
    states = [stepped(frame, s, [step[k] for k in frame.span]) for frame, s in zip(m.frames, before, strict=True)]
    return with_tree(m, x, tree_coordinates(m, states))


def tree_coordinates(m: MechanismParameters, states: Sequence[JointState]) -> list[Scalar]:
    """The coordinates of all joints of the tree."""
    return [c for frame, state in zip(m.frames, states, strict=True) for c in joint_coordinates(frame, state)]


def largest(values: Scalars) -> Scalar:
    found: Scalar = 0.0
    for value in values:
        size = absolute(value)
        found = select(found, size, size, found)
    return found


def gap(m: MechanismParameters, x: Scalars) -> Scalar:
    """The largest gap of the loops, m or rad."""
    return largest(loop_gaps(m, posed_at(m, x), [x[k] for k in m.reads]))


def with_cut_coordinates(m: MechanismParameters, posed: Posed, x: Scalars) -> list[Scalar]:
    """x with the coordinates of the joints that were cut, which follow from the others."""
    found = list(x)
    for cut in m.cuts:
        if cut.reads is None:
            continue
        if cut.kind == HINGE:
            found[cut.reads] = turn_of_hinge(posed, cut, x[cut.reads])
        else:
            found[cut.reads : cut.reads + 3] = [*angles_of(relative_rotation(posed, cut))]
    return found


def turn_of_hinge(posed: Posed, cut: Cut, before: Scalar) -> Scalar:
    """The coordinate of a hinge that was cut, within half a turn of the one before, so that it goes on beyond a full
    turn.
    """
    R = relative_rotation(posed, cut)
    c, s = cos(before - cut.offset), sin(before - cut.offset)
    return before + arctangent(R[1, 0] * c - R[0, 0] * s, R[0, 0] * c + R[1, 0] * s)


def coordinate_changes(m: MechanismParameters, x: Scalars, dq: Scalars) -> list[Scalar]:
    """Changes of all coordinates of x by small changes of the independent ones, as `coordinate_rates` of rates.

    An independent angle of a ball or of a free joint changes by itself: its rates are no angular velocity here.
    """
    y = list(dq)
    for frame in m.frames:
        span = frame.span[-3:]
        if frame.turns_and_slides and all(k in m.independent for k in span):
            places = [m.independent.index(k) for k in span]
            theta, rates = Vector(*(x[m.reads[k]] for k in span)), Vector(*(y[k] for k in places))
            for k, omega in zip(places, angular_velocity(theta, rates), strict=True):
                y[k] = omega
    if lone_angles(m):  # of other joints: they change while whole balls turn
        complement = Complement(m, posed_at(m, x), m.independent)
        v = _with_changes(m, complement, [x[k] for k in m.reads], [0.0] * m.n, y)
        y = [v[j] for j in m.independent]
    return coordinate_rates(m, x, y)


def coordinate_rates(m: MechanismParameters, x: Scalars, qd: Scalars) -> list[Scalar]:
    """Time derivatives of all entries of a position, those of cut joints included."""
    posed = posed_at(m, x)
    v = Complement(m, posed, m.independent).rates(qd)
    return rates_in_x(m, posed, x, v)


def rates_in_x(m: MechanismParameters, posed: Posed, x: Scalars, v: Scalars) -> list[Scalar]:
    """Rates of all coordinates of x from those of the tree."""
    found: list[Scalar] = [0.0] * len(x)
    for frame in m.frames:
        own = [v[k] for k in frame.span]
        if frame.turns_and_slides:
            angles = [x[m.reads[k]] for k in frame.span[-3:]]
            own[-3:] = [*angle_rates(Vector(*angles), Vector(*own[-3:]))]
        for k, rate in zip(frame.span, own, strict=True):
            found[m.reads[k]] = rate
    if any(cut.reads is not None for cut in m.cuts):
        moving = twists(posed.frames, posed.places, v)
        for cut in m.cuts:
            if cut.reads is None:
                continue
            omega = relative_angular_velocity(posed, cut, moving)
            if cut.kind == HINGE:
                found[cut.reads] = omega.z
            else:
                angles = [*x[cut.reads : cut.reads + 3]]
                found[cut.reads : cut.reads + 3] = [*angle_rates(Vector(*angles), omega)]
    return found


def relative_angular_velocity(posed: Posed, cut: Cut, moving: Mapping[int, FrameVelocity]) -> Vector:
    """The angular velocity of side b beside side a, in the axes of side a."""
    a, b = cut.a.joint_frame, cut.b.joint_frame
    across = cut.a.displacement.rotation.T
    return across @ (posed.transported(moving[b].omega, b, a) - moving[a].omega)
