"""Legs in closed form: the joints of a loop that follow from known ones without Newton's method.

A loop closes where its two sides meet in a point. Let w be one of its unknown joints, and let F be the other unknown
ones. What F cannot change of the point gives an equation for the coordinate of w alone:

    height     F is a hinge:    the point's distance from a plane across its axis
    radius     F is a hinge:    the point's distance from its axis
    distance   F are two hinges whose axes meet: the point's distance from their meeting point
    across     F is a slider:   the point's coordinate along a direction across it
    (none)     F is empty:      the joint turns or slides the point to where it has to be

The point depends on the coordinate of a hinge as p + a cos + b sin, where a and b are perpendicular and equally long,
and on that of a slider as p + t a. So the equation is A cos + B sin = C, or linear or quadratic in t. It has two roots
where the leg can be assembled in two ways; the one that is assembled as a position nearby is taken. In this way legs of
the kinds UPS, RUS, PUS and planar dyads of hinges and sliders are closed, joint after joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars, absolute, arctangent, is_zero, reciprocal, select, sqrt
from tauforge.algebra.vectors import E_Z, IDENTITY, ZERO, Matrix, Vector, dot, rotation_z
from tauforge.formulations.mechanism.cuts import Posed, sides
from tauforge.formulations.mechanism.parameters import (
    ACROSS_X,
    ACROSS_Y,
    DISTANCE,
    HEIGHT,
    RADIUS,
    LegStep,
    MechanismParameters,
    TiedStep,
)
from tauforge.formulations.trees.frames import JointFrame, Placement, placement, placements

OUT_OF_REACH = 1e-13  # share by which rounding may push a root out of reach
BETWEEN_WAYS = 1e-9  # share below which a leg is at the point between its two ways: rounding must not choose
INVARIANTS = {RADIUS: (1.0, 1.0, 0.0), DISTANCE: (1.0, 1.0, 1.0), HEIGHT: (0.0, 0.0, 1.0)}
INVARIANTS |= {ACROSS_X: (1.0, 0.0, 0.0), ACROSS_Y: (0.0, 1.0, 0.0)}  # by components of the point


class MovingPoint(NamedTuple):
    """A point that depends on the coordinate of one joint: p + a cos + b sin of a hinge, p + a t of a slider."""

    p: Vector
    a: Vector = ZERO
    b: Vector = ZERO

    def shifted(self, by: Vector) -> MovingPoint:
        return self._replace(p=self.p + by)

    def turned(self, R: Matrix) -> MovingPoint:
        return MovingPoint(*(R @ v for v in self))

    def components(self, kept: Sequence[float]) -> MovingPoint:
        """Those that are kept, and zeros."""
        return MovingPoint(*(Vector(*(share * x for share, x in zip(kept, v, strict=True))) for v in self))

    @property
    def rests(self) -> bool:
        return all(is_zero(x) for v in (self.a, self.b) for x in v)


class OpenLoop:
    """A loop whose joints are placed but for one, `joint`: where its point is, beside the coordinate of that joint."""

    def __init__(self, m: MechanismParameters, posed: Posed, step: LegStep) -> None:
        self.posed, self.joint = posed, step.joint
        self.a, self.b = sides(posed.frames, m.cuts[step.cut])

    def beyond(self, k: int) -> MovingPoint:
        """The point on the side of joint k, in its frame."""
        side = self.a if k in self.a.path else self.b
        point = MovingPoint(side.place.displacement.translation)
        for j in side.path[: side.path.index(k)]:
            point = self._inward(j, point)
        return point

    def before(self, k: int) -> MovingPoint:
        """The point on the other side, in the axes that joint k moves in."""
        own, other = (self.a, self.b) if k in self.a.path else (self.b, self.a)
        point = MovingPoint(other.place.displacement.translation)
        for j in other.path:
            point = self._inward(j, point)
        for j in reversed(own.path[own.path.index(k) + 1 :]):
            point = self._outward(j, self._in_axes_of(j, point))
        return self._in_axes_of(k, point)

    def _in_axes_of(self, k: int, point: MovingPoint) -> MovingPoint:
        """From the parent's frame of joint k to the axes that it moves in."""
        R, t = self.posed.frames[k].before
        return point.shifted(-t).turned(R.T)

    def _inward(self, k: int, point: MovingPoint) -> MovingPoint:
        """From the frame of joint k to its parent's."""
        frame, place = self.posed.frames[k], self.posed.places[k]
        if k != self.joint:
            point = point.turned(place.turn).shifted(place.travel)
        elif frame.revolute:
            x, y, z = point.p
            point = MovingPoint(Vector(0.0, 0.0, z), Vector(x, y, 0.0), Vector(-y, x, 0.0))
        else:
            point = MovingPoint(point.p, E_Z)
        return point.turned(frame.before.rotation).shifted(frame.before.translation)

    def _outward(self, k: int, point: MovingPoint) -> MovingPoint:
        """From the axes that joint k moves in to its frame."""
        if k != self.joint:
            place = self.posed.places[k]
            return point.shifted(-place.travel).turned(place.turn.T)
        x, y, z = point.p
        if self.posed.frames[k].revolute:
            return MovingPoint(Vector(0.0, 0.0, z), Vector(x, y, 0.0), Vector(y, -x, 0.0))
        return MovingPoint(point.p, -E_Z)


def closed_by_legs(m: MechanismParameters, tree: Scalars, near: Scalars) -> tuple[list[Scalar], Posed]:
    """The tree's coordinates after all legs are closed, and the placements of its joints.

    tree: coordinates, those of joints that the legs find do not count; near: coordinates of a position nearby
    """
    found, places = list(tree), placements(m.frames, tree)
    nearby = Posed(m.frames, placements(m.frames, near))
    for step in m.legs:
        frame = m.frames[step.joint]
        if isinstance(step, TiedStep):
            tie = m.ties[step.tie]
            found[frame.at] = tie.factor * found[tie.leader] + tie.offset
            places[step.joint] = placement(frame, [found[frame.at]])
            continue
        place = _solved(m, Posed(m.frames, places), step, nearby)
        places[step.joint] = place
        found[frame.at] = _coordinate(frame, place, near[frame.at], nearby.places[step.joint])
    return found, Posed(m.frames, places)


def _coordinate(frame: JointFrame, place: Placement, near: Scalar, nearby: Placement) -> Scalar:
    """That of a hinge is within half a turn of the one nearby, so that it goes on beyond a full turn."""
    if not frame.revolute:
        return place.travel.z - frame.offset
    between = nearby.turn.T.times(place.turn)
    return near + arctangent(between[1, 0], between[0, 0])


def _solved(m: MechanismParameters, posed: Posed, step: LegStep, nearby: Posed) -> Placement:
    """Placement of the step's joint. posed: other unknown joints of the loop do not count"""
    loop, frame, before = OpenLoop(m, posed, step), posed.frames[step.joint], nearby.places[step.joint]
    if step.kept is None:
        return _met(frame, loop.beyond(step.joint).p, loop.before(step.joint).p)
    A, B, C = _equation(loop, step)
    A_near, B_near, _ = _equation(OpenLoop(m, nearby, step), step)
    if frame.revolute:
        c, s = _root_of_hinge(A, B, C, A_near * before.turn[1, 0] - B_near * before.turn[0, 0])
        return Placement(rotation_z(c, s), ZERO)
    return Placement(IDENTITY, E_Z * _root_of_slider(A, B, C, A_near * before.travel.z + B_near))


def _met(frame: JointFrame, own: Vector, wanted: Vector) -> Placement:
    """The joint moves its own point to where it is wanted, or as near as it can."""
    if not frame.revolute:
        return Placement(IDENTITY, E_Z * (wanted.z - own.z))
    scale = reciprocal(sqrt((own.x * own.x + own.y * own.y) * (wanted.x * wanted.x + wanted.y * wanted.y)))
    c = (own.x * wanted.x + own.y * wanted.y) * scale
    s = (own.x * wanted.y - own.y * wanted.x) * scale
    return Placement(rotation_z(c, s), ZERO)


def _equation(loop: OpenLoop, step: LegStep) -> tuple[Scalar, Scalar, Scalar]:
    """A, B, C of A cos + B sin = C; of a slider A t^2 + 2 B t = C."""
    assert step.kept is not None
    own = loop.beyond(step.without[-1]).shifted(E_Z * -step.centres[1])
    other = loop.before(step.without[0]).shifted(E_Z * -step.centres[0])
    moving, still = (other, own) if own.rests else (own, other)
    (p, a, b), (wanted, _, _) = (point.components(INVARIANTS[step.kept]) for point in (moving, still))
    slides = not loop.posed.frames[step.joint].revolute
    if step.kept in (RADIUS, DISTANCE):
        if slides:
            return 1.0, dot(p, a), dot(wanted, wanted) - dot(p, p)
        return 2.0 * dot(p, a), 2.0 * dot(p, b), dot(wanted, wanted) - dot(p, p) - dot(a, a)
    right = sum(wanted - p)
    return (0.0, 0.5 * sum(a), right) if slides else (sum(a), sum(b), right)


def _root_of_hinge(A: Scalar, B: Scalar, C: Scalar, slope_nearby: Scalar) -> tuple[Scalar, Scalar]:
    """cos and sin with A cos + B sin = C; A sin - B cos has the sign that it has nearby."""
    square = A * A + B * B
    root = _signed_root(square - C * C, square, slope_nearby)
    scale = reciprocal(square)
    return (A * C - B * root) * scale, (B * C + A * root) * scale


def _root_of_slider(A: Scalar, B: Scalar, C: Scalar, slope_nearby: Scalar) -> Scalar:
    """t with A t^2 + 2 B t = C; A t + B has the sign that it has nearby."""
    if is_zero(A):
        return C * reciprocal(2.0 * B)
    return _signed_root(B * B + C, B * B + absolute(C), slope_nearby) - B


def _signed_root(square: Scalar, whole: Scalar, side: Scalar) -> Scalar:
    """The root with the sign of `side`; NaN where the square is negative by more than rounding."""
    root = sqrt(select(absolute(square), OUT_OF_REACH * whole, 0.0, square))
    return select(side, -BETWEEN_WAYS * sqrt(whole), -root, root)
