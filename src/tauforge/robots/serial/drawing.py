"""An arm as a picture shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.robots.drawing import Action, Drawing, Frame, Point, Segment

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm


def drawn(arm: SerialArm, position: ArrayLike) -> Drawing:
    """Joints where they are, links from joint to joint and on to the tool, mass centres and frames.

    position: (..., n) joint coordinates
    """
    frames, tool = np.asarray(arm.link_frames(position)), np.asarray(arm.forward_kinematics(position))
    places = [frame @ np.array(joint.before) for frame, joint in zip(_along(frames), arm.joints, strict=False)]
    joints = tuple(
        Point(joint.name, place[..., :3, 3], "joint") for joint, place in zip(arm.joints, places, strict=True)
    )
    centres = tuple(
        Point(arm.body_name(i), (frames[..., i + 1, :, :] @ np.array([*joint.com, 1.0]))[..., :3], "centre of mass")
        for i, joint in enumerate(arm.joints)
    )
    corners = [frames[..., 0, :3, 3], *(joint.place for joint in joints), tool[..., :3, 3]]
    names = ["base", *(arm.body_name(i) for i in range(arm.n))]
    parts = ["base", *["link"] * arm.n]
    segments = tuple(Segment(*each) for each in zip(names, corners, corners[1:], parts, strict=False))
    named = [Frame("base", frames[..., 0, :, :])]
    named += [Frame(joint.name, frames[..., i + 1, :, :]) for i, joint in enumerate(arm.joints)]
    actions = tuple(
        Action(joint.name, place[..., :3, 3], place[..., :3, 2], joint.kind == "R")
        for joint, place in zip(arm.joints, places, strict=True)
    )
    return Drawing((*joints, *centres), segments, (*named, Frame("tool", tool)), actions)


def _along(frames: np.ndarray) -> list[np.ndarray]:
    """The frames (..., n + 1, 4, 4) one after another."""
    return [frames[..., i, :, :] for i in range(frames.shape[-3])]
