"""Drawings of an arm, and the joint reactions in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.robots.drawing import Action, Drawing, Frame, Point, Reaction, Segment, Solid, inertia_ellipsoid

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm


def drawn(arm: SerialArm, position: ArrayLike) -> Drawing:
    """Joints where they are, links from joint to joint and on to the tool, mass centres, frames and visuals.

    position: (..., n) joint coordinates
    """
    frames, tool = np.asarray(arm.link_frames(position)), np.asarray(arm.forward_kinematics(position))
    places = [frames[..., i, :, :] @ np.array(joint.before) for i, joint in enumerate(arm.joints)]
    links = [frames[..., i + 1, :, :] for i in range(arm.n)]
    moved = list(zip(arm.joints, places, links, strict=True))
    joints = tuple(Point(joint.name, place[..., :3, 3], "joint") for joint, place, _ in moved)
    centres = tuple(
        Point(joint.link_name, (frame @ np.array([*joint.com, 1.0]))[..., :3], "centre of mass")
        for joint, _, frame in moved
    )
    corners = [frames[..., 0, :3, 3], *(joint.place for joint in joints), tool[..., :3, 3]]
    names = ["base", *(joint.link_name for joint in arm.joints)]
    parts = ["base", *["link"] * arm.n]
    segments = tuple(Segment(*each) for each in zip(names, corners, corners[1:], parts, strict=False))
    named = [Frame("base", frames[..., 0, :, :]), *(Frame(joint.name, frame) for joint, _, frame in moved)]
    actions = tuple(
        Action(joint.name, place[..., :3, 3], place[..., :3, 2], joint.kind == "R") for joint, place, _ in moved
    )
    bodies = (inertia_ellipsoid(one.link_name, frame, one.mass, one.com, one.inertia) for one, _, frame in moved)
    ellipsoids = tuple(body for body in bodies if body is not None)
    solids = tuple(
        Solid(visual.name, frames[..., visual.link, :, :] @ np.array(visual.placement), visual.shape, visual.rgba)
        for visual in arm.visuals
    )
    return Drawing((*joints, *centres), segments, (*named, Frame("tool", tool)), actions, ellipsoids, solids)


def reactions(
    arm: SerialArm, position: Array, velocity: Array, acceleration: Array, **loads: Any
) -> tuple[Reaction, ...]:
    """Wrenches of link i-1 on link i, for every joint."""
    frames = np.asarray(arm.link_frames(position))
    wrenches = np.asarray(arm.joint_wrenches(position, velocity, acceleration, **loads))
    R = frames[..., :-1, :3, :3]
    force, moment = ((R @ part[..., None])[..., 0] for part in (wrenches[..., :3], wrenches[..., 3:]))
    at_frame_before = arm.convention == "standard"
    origins = frames[..., :-1, :3, 3] if at_frame_before else frames[..., 1:, :3, 3]
    if arm.convention == "general":  # the moved joint: the link's frame without what follows the joint
        undone = [np.linalg.inv(np.array(joint.after))[:, 3] for joint in arm.joints]
        origins = np.stack([(frames[..., i + 1, :, :] @ x)[..., :3] for i, x in enumerate(undone)], axis=-2)
    return tuple(
        Reaction(joint.name, origins[..., i, :], force[..., i, :], moment[..., i, :])
        for i, joint in enumerate(arm.joints)
    )
