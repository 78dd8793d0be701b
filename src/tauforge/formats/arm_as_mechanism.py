"""A serial arm as a mechanism, for formats that describe bodies and joints one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tauforge.formats.toml_schema import DRIVE_KEYS
from tauforge.plugins import save
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import GROUND_NAME, Body, Hinge, MechanismJoint, Slider, Weld
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.validation import IDENTITY_ROWS, rows

TOOL_NAME = "tool"


def write(arm: SerialArm, path: Path) -> None:
    """Write the arm as URDF or MJCF, in the way of mechanisms."""
    save(mechanism_of_arm(arm), path)


def mechanism_of_arm(arm: SerialArm) -> Mechanism:
    """Home is where every coordinate is 0. Bodies have the arm's link frames, and the tool is a body without mass."""
    frames = np.asarray(arm.link_frames(np.zeros(arm.n)))
    bodies: list[Body] = []
    joints: list[MechanismJoint] = []
    parent = GROUND_NAME
    for i, joint in enumerate(arm.joints):
        here, link = frames[i] @ np.array(joint.before), frames[i + 1]
        name = joint.link_name
        inertia = link[:3, :3] @ np.array(joint.inertia) @ link[:3, :3].T
        com = link[:3, :3] @ joint.com + link[:3, 3]
        bodies.append(Body(name, joint.mass, com.tolist(), rows((inertia + inertia.T) / 2), frame=rows(link)))
        kind = Hinge if joint.kind == "R" else Slider
        joints.append(
            kind(
                joint.name,
                parent,
                name,
                here[:3, 3].tolist(),
                actuated=True,
                **{key: getattr(joint, key) for key in ("limits", *DRIVE_KEYS)},
                axis=here[:3, 2].tolist(),
            )
        )
        parent = name
    if arm.tool != IDENTITY_ROWS:
        tool = frames[-1] @ np.array(arm.tool)
        place, name = tool[:3, 3].tolist(), _unused(TOOL_NAME, [body.name for body in bodies])
        bodies.append(Body(name, com=place, frame=rows(tool)))
        joints.append(Weld(_unused(TOOL_NAME, [joint.name for joint in joints]), parent, name, place))
    return Mechanism(
        bodies=tuple(bodies),
        joints=tuple(joints),
        **{key: getattr(arm, key) for key in ("gravity", "coulomb_speed", "name", "known_exceptions", "sources")},
    )


def _unused(name: str, names: list[str]) -> str:
    while name in names:
        name += "'"
    return name
