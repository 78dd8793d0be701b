"""A workspace as coloured points, for the viewer: where ways end, or where sampled positions bring a tool."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import TauforgeError
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.workspace.reaching import pose_of_tool
from tauforge.workspace.rules import rules_of
from tauforge.workspace.sampled_volume import sampled_positions
from tauforge.workspace.surfaces import surface

SAMPLES = 20_000


class Places(NamedTuple):
    """points: (k, 3) m, in the frame of the robot's drawing; limits: (k,) what ends the way there, or is exceeded."""

    points: Array
    limits: Array


def has_places(robot: Robot) -> bool:
    """Whether the robot has limits, and tells where its moved body is."""
    try:
        rules_of(robot)
    except TauforgeError:
        return False
    return robot.moved_body is not None


def places(robot: Robot, home: Array, *, payload: Payload | None = None) -> Places:
    """The surface where straight ways from home end, for poses; else places of the tool at sampled positions.

    home:    (N,) must hold for poses; else it says how the robot is assembled
    payload: held by the robot
    """
    if robot.positions.pose:
        found = surface(robot, home, payload=payload)
        ended = np.isfinite(found.distance)
        return Places(found.places[ended], found.limits[ended])
    rules = rules_of(robot, payload=payload)
    positions = np.concatenate(list(sampled_positions(robot, home, SAMPLES)))
    positions = positions[np.isfinite(positions).all(axis=-1)]  # one that does not close is nowhere
    names = np.array([rules.name(int(code)) for code in rules.codes(positions)])
    return Places(pose_of_tool(robot, positions)[:, :3], names)
