"""How far the tool of a robot gets along and about the axes of the world, by inverse kinematics from step to step."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.poses import pose_error, pose_of, transforms, turned
from tauforge.robots.positions import body_of
from tauforge.robots.robot import Robot
from tauforge.workspace.rays import FARTHEST, size_of
from tauforge.workspace.rules import Rules

AXES = ("x", "y", "z")
STEPS = 100  # in the size of the robot, and in half a turn
HALVINGS = 24
ARRIVED = 1e-6  # of the size of the robot, and rad: how near the tool must come to its pose
USED_UP = 1e-3  # of the larger of 1 and the bound: inverse kinematics stops short of a limit
STRETCHED = "out of reach: no joint brings the tool further"

Entry = tuple[str, int, float, str, str, tuple[str, ...], str]


def tool_ends(rules: Rules, home: Array) -> tuple[list[Entry], dict[str, float]]:
    """Ends as `End` takes them, and steps by unit. A way ends where a limit does not hold or the tool falls behind."""
    robot = rules.robot
    name_of_body = body_of(robot, "directions").name
    size, start = size_of(robot, home), pose_of_tool(robot, home[None])[0]
    found: list[Entry] = []
    for turns in (False, True):
        step, farthest = (np.pi / STEPS, 2 * np.pi) if turns else (size / STEPS, FARTHEST * size)
        for axis, letter in enumerate(AXES):
            for sense in (1, -1):
                way = sense * np.eye(3)[axis]
                distance, names, kind = _end(rules, home, start, way, turns, step, farthest, size)
                name, unit = (f"{name_of_body} about {letter}", "rad") if turns else ("", "m")
                limit, also = (names[0], names[1:]) if names else ("", ())
                found.append((name or f"{name_of_body} along {letter}", sense, distance, unit, limit, also, kind))
    return found, {"m": size / STEPS, "rad": np.pi / STEPS}


def _end(
    rules: Rules, home: Array, start: Array, way: Array, turns: bool, step: float, farthest: float, size: float
) -> tuple[float, tuple[str, ...], str]:
    robot, near, distance = rules.robot, home, 0.0

    def position(s: float, near: Array) -> Array | None:
        """Where the tool is s further; None where it does not get there or a limit does not hold."""
        pose = turned(start, s * way) if turns else np.concatenate([start[:3] + s * way, start[3:]])
        wanted = transforms(pose)
        found = body_of(robot).towards(wanted, near)
        error = np.abs(pose_error(wanted, transforms(pose_of_tool(robot, found[None])[0])))
        arrived = error[:3].max() <= ARRIVED * size and error[3:].max() <= ARRIVED
        return found if arrived and not rules.codes(found) else None

    while distance < farthest:
        found = position(distance + step, near)
        if found is None:
            break
        near, distance = found, distance + step
    else:
        return np.inf, (), ""
    for _ in range(HALVINGS):
        step /= 2
        found = position(distance + step, near)
        if found is not None:
            near, distance = found, distance + step
    return float(distance), *_ending(rules, near)


def _ending(rules: Rules, position: Array) -> tuple[tuple[str, ...], str]:
    """Limits whose margin is used up; where none is, the tool is at the end of its reach."""
    reached = rules.reached(position[None], USED_UP)[0]
    return (tuple(limit.name for limit in reached), reached[0].kind) if reached else ((STRETCHED,), "reach")


def pose_of_tool(robot: Robot, positions: Array) -> Array:
    """(k, 6) poses of the moved body at positions (k, N)."""
    if robot.positions.pose:
        return robot.positions.coordinates(positions)
    return pose_of(body_of(robot).frames(positions))
