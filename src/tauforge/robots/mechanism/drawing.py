"""A mechanism as a picture shows it: bodies as lines between their joints and centres of mass."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.robots.drawing import Action, Drawing, Frame, Point, Segment, Solid, inertia_ellipsoid
from tauforge.robots.mechanism.parts import GROUND_NAME, MechanismJoint
from tauforge.robots.validation import from_transform

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism


def drawn(mechanism: Mechanism, position: ArrayLike) -> Drawing:
    """Bodies are drawn from joint to joint; one with a single joint to its centre of mass."""
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

    points = [Point(joint.name, seen(joint.child, joint.at)) for joint in mechanism.joints]
    points += [Point(body.name, seen(body.name, body.com), "centre of mass") for body in mechanism.bodies if body.mass]
    segments = []
    for body in mechanism.bodies:
        places = [joint.at for joint in mechanism.joints if body.name in (joint.parent, joint.child)]
        ends = [*places, body.com] if len(places) < 2 else places
        pairs = list(pairwise(ends)) + ([(ends[-1], ends[0])] if len(ends) > 2 else [])
        for a, b in pairs:
            if not np.allclose(a, b):
                segments.append(Segment(body.name, seen(body.name, a), seen(body.name, b)))
    ground = [joint.at for joint in mechanism.joints if GROUND_NAME in (joint.parent, joint.child)]
    for a, b in pairwise(ground):
        if not np.allclose(a, b):
            segments.append(Segment(GROUND_NAME, seen(GROUND_NAME, a), seen(GROUND_NAME, b), "base"))
    actions = []
    for joint in mechanism.joints:
        if joint.actuated:
            for name, letter, axis in zip(joint.coordinate_names, joint.letters, axes_of(joint), strict=True):
                actions.append(Action(name, seen(joint.child, joint.at), turned(joint.parent, axis), letter == "R"))
    ellipsoids = [
        inertia_ellipsoid(body.name, moved[body.name], body.mass, body.com, body.inertia) for body in mechanism.bodies
    ]
    bodies = tuple(Frame(body.name, frames[..., k, :, :]) for k, body in enumerate(mechanism.bodies))
    return Drawing(
        tuple(points),
        tuple(segments),
        (Frame("base", moved[GROUND_NAME]), *bodies),
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
