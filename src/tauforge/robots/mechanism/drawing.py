"""A mechanism as a picture shows it: bodies as lines and outlines between their joints, springs, actuators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.robots.drawing import Action, Drawing, Frame, Point, Reaction, Segment, Solid, inertia_ellipsoid
from tauforge.robots.mechanism.parts import GROUND_NAME, Body, Free, MechanismJoint, body_in_text
from tauforge.validation import from_transform

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism


Corners = list[tuple[str, Any]]  # (body, point) of each: points of the home position that move with these bodies
SAME_POINT = 1e-6  # of the extent: points that lie together, or on a line
SLEEVE = 0.6  # of the length of a sliding leg at home: its first part


def drawn(mechanism: Mechanism, position: ArrayLike) -> Drawing:
    """Bodies are drawn from joint to joint, or as an outline round them.

    A body with one joint is drawn through its mass centre to its origin. Where a joint slides, the inner body ends
    where the outer one is now: both are one leg of two parts. The parts: "leg"; "platform" for a tool body with an
    outline; "rod" for a bar that no actuator turns; "spring"; "base" for the ground; "link" for the others.
    """
    frames = mechanism.body_frames(position)
    batch = frames.shape[:-3]
    moved = {GROUND_NAME: np.broadcast_to(np.eye(4), (*batch, 4, 4))}
    for k, body in enumerate(mechanism.bodies):
        back = np.array(from_transform(body.home_frame.inverse()))
        moved[body.name] = frames[..., k, :, :] @ back  # points of the home position to where they are now

    def seen(body: str, point: ArrayLike) -> Array:
        T = moved[body]
        return np.asarray(T[..., :3, :3] @ np.asarray(point, float) + T[..., :3, 3])

    def turned(body: str, axis: ArrayLike) -> Array:
        return np.asarray(moved[body][..., :3, :3] @ np.asarray(axis, float))

    places = [joint for joint in mechanism.joints if not isinstance(joint, Free)]  # a free joint is nowhere
    points = [Point(joint.name, seen(joint.child, joint.at)) for joint in places]
    shown = partial(body_in_text, joints={joint.name for joint in mechanism.joints})
    points += [Point(shown(b.name), seen(b.name, b.com), "centre of mass") for b in mechanism.bodies if b.mass]
    segments = [part._replace(name=shown(b.name)) for b in mechanism.bodies for part in _segments(mechanism, b, seen)]
    ground = [(GROUND_NAME, joint.at) for joint in places if GROUND_NAME in (joint.parent, joint.child)]
    segments += _lines(GROUND_NAME, ground, outline([point for _, point in ground]), "base", seen)
    segments += [
        Segment(f"spring {k}", seen(spring.body_a, spring.point_a), seen(spring.body_b, spring.point_b), "spring")
        for k, spring in enumerate(mechanism.springs, 1)
    ]
    actions = []
    for joint in mechanism.joints:
        if joint.actuated:
            for name, letter, axis in zip(joint.coordinate_names, joint.letters, axes_of(joint), strict=True):
                actions.append(Action(name, seen(joint.child, joint.at), turned(joint.parent, axis), letter == "R"))
    ellipsoids = [inertia_ellipsoid(shown(b.name), moved[b.name], b.mass, b.com, b.inertia) for b in mechanism.bodies]
    named = {body.name: Frame(body.name, frames[..., k, :, :]) for k, body in enumerate(mechanism.bodies)}
    tool = named.pop(mechanism.tool_body)
    ends_of_branches = [frame for name, frame in named.items() if len(_joints_of(name, mechanism.joints)) == 1]
    return Drawing(
        tuple(points),
        tuple(segments),
        (Frame("base", moved[GROUND_NAME]), *ends_of_branches, tool),
        tuple(actions),
        tuple(found for found in ellipsoids if found is not None),
        tuple(
            Solid(
                visual.name,
                (frames[..., visual.link - 1, :, :] if visual.link else moved[GROUND_NAME])
                @ np.array(visual.placement),
                visual.shape,
                visual.rgba,
            )
            for visual in mechanism.visuals
        ),
    )


def _joints_of(body: str, joints: Sequence[MechanismJoint]) -> list[MechanismJoint]:
    return [joint for joint in joints if body in (joint.parent, joint.child)]


def _segments(mechanism: Mechanism, body: Body, seen: Callable[[str, ArrayLike], Array]) -> list[Segment]:
    """seen: where a point of a body is now that was at this place in the home position"""
    corners = _corners(body, mechanism.joints) + [
        (body.name, point)
        for spring in mechanism.springs
        for name, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
        if name == body.name
    ]
    order = outline([point for _, point in corners])
    if len(order) == 2 and any(name != body.name for name, _ in corners):
        first, last = (corners[k] for k in sorted(order, key=lambda k: corners[k][0] != body.name))
        length = float(np.linalg.norm(np.subtract(last[1], first[1])))
        return [Segment(body.name, seen(*first), seen(*last), "leg", SLEEVE * length)]
    part = _part(body.name, mechanism, is_loop(order))
    return _lines(body.name, corners, order, part, seen)


def _lines(
    body: str, corners: Corners, order: Sequence[int], part: str, seen: Callable[[str, ArrayLike], Array]
) -> list[Segment]:
    """The outline, and from it a line to each point of the body inside."""
    found = [Segment(body, a, b, part) for a, b in pairwise([seen(*corners[k]) for k in order])]
    inner = inner_points([point for _, point in corners], order)
    return found + [
        Segment(body, seen(body, foot), seen(*corners[k]), part) for k, foot in inner if corners[k][0] == body
    ]


def _part(body: str, mechanism: Mechanism, is_outline: bool) -> str:
    if is_outline:
        return "platform" if body == mechanism.tool_body else "link"
    own = _joints_of(body, mechanism.joints)
    moved = any((joint.actuated or joint.mimic) and joint.child == body for joint in own)
    return "rod" if len(own) == 2 and not moved else "link"


def _corners(body: Body, joints: Sequence[MechanismJoint]) -> Corners:
    found: Corners = []
    own = [joint for joint in _joints_of(body.name, joints) if not isinstance(joint, Free)]
    for joint in own:
        slides = "P" in joint.letters and joint.parent == body.name
        found.append((joint.child if slides else body.name, joint.at))
    in_leg = any("P" in joint.letters and joint.child == body.name and joint.parent != GROUND_NAME for joint in own)
    if len({point for _, point in found}) < 2 and not in_leg:
        found += [(body.name, body.com), (body.name, body.origin)]
    return found


def reactions(
    mechanism: Mechanism, position: Array, velocity: Array, acceleration: Array, **loads: Any
) -> tuple[Reaction, ...]:
    """Forces and moments of the joints on their children; components that redundant constraints leave open are NaN."""
    if not mechanism._analysis.controlled:
        return ()
    wrenches = np.asarray(mechanism.joint_wrenches(position, velocity, acceleration, **loads))
    places = {point.name: point.place for point in drawn(mechanism, position).points if point.part == "joint"}
    return tuple(
        Reaction(joint.name, places[joint.name], wrenches[..., k, :3], wrenches[..., k, 3:])
        for k, joint in enumerate(mechanism.joints)
        if joint.name in places
    )


def axes_of(joint: MechanismJoint) -> list[ArrayLike]:
    """One for each coordinate, world axes, home position."""
    if hasattr(joint, "axes"):
        return list(joint.axes)
    axis = getattr(joint, "axis", None)
    if axis is None:
        return [*np.eye(3)] if len(joint.letters) == 3 else [*np.eye(3), *np.eye(3)]
    if joint.letters == "PPR":
        along = np.asarray(getattr(joint, "along"))  # noqa: B009
        return [along, np.cross(axis, along), axis]
    return [axis] * len(joint.letters)


def outline(points: Sequence[ArrayLike]) -> list[int]:
    """Places of the points in the order in which lines join them.

    Two points or points of one line: from end to end. Others: round their convex outline, seen at right angles to the
    plane that fits them best, with the first one again at the end. Points that lie together count once.
    """
    if not len(points):
        return []
    places = np.array([np.asarray(point, float) for point in points])
    size = float(np.ptp(places, axis=0).max())
    distinct = [
        k
        for k in range(len(places))
        if not any(np.abs(places[k] - places[i]).max() <= SAME_POINT * size for i in range(k))
    ]
    if len(distinct) < 2:
        return distinct
    chosen = places[distinct] - places[distinct].mean(axis=0)
    _, extents, axes = np.linalg.svd(chosen, full_matrices=False)
    along = chosen @ axes[0]
    if len(distinct) < 3 or extents[1] <= SAME_POINT * size:
        return [distinct[k] for k in np.argsort(along, kind="stable")]
    order = _convex_hull(np.column_stack([along, chosen @ axes[1]]), SAME_POINT * size)
    return [distinct[k] for k in (*order, order[0])]


def inner_points(points: Sequence[ArrayLike], order: Sequence[int]) -> list[tuple[int, Array]]:
    """Places of the points that are on no line of the outline, each with the nearest point (3,) of the lines."""
    if not is_loop(order):
        return []
    places = np.array([np.asarray(point, float) for point in points])
    starts = places[list(order[:-1])]
    ways = places[list(order[1:])] - starts
    shares = np.einsum("pei,ei->pe", places[:, None] - starts, ways) / np.einsum("ei,ei->e", ways, ways)
    feet = starts + np.clip(shares, 0.0, 1.0)[..., None] * ways
    distances = np.linalg.norm(places[:, None] - feet, axis=-1)
    inner = np.flatnonzero(distances.min(axis=1) > SAME_POINT * np.ptp(places, axis=0).max())
    return [(int(k), feet[k, distances[k].argmin()]) for k in inner]


def is_loop(order: Sequence[int]) -> bool:
    return len(order) > 3 and order[0] == order[-1]


def _convex_hull(points: Array, near: float) -> list[int]:
    """Places of its corners, one after another: Andrew's monotone chain."""
    order = np.lexsort(points.T[::-1]).tolist()

    def chain(listed: Sequence[int]) -> list[int]:
        found: list[int] = []
        for k in listed:
            while len(found) > 1 and _turn(points[found[-2]], points[found[-1]], points[k]) <= near**2:
                found.pop()
            found.append(k)
        return found[:-1]

    return chain(order) + chain(order[::-1])


def _turn(a: Array, b: Array, c: Array) -> float:
    """Twice the area of a triangle, positive where it turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
