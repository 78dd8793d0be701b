"""`reach`: how far a robot gets along and about each axis, and which limit ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ShapeError
from tauforge.robots.loads import Payload
from tauforge.robots.poses import pose_error, pose_of, transforms, turned
from tauforge.robots.positions import body_of
from tauforge.robots.robot import Robot
from tauforge.robots.summary import Rows, Summary, SummaryTable
from tauforge.workspace.rays import FARTHEST, STEPS, TURN_STEPS, Rays, ends_of, size_of
from tauforge.workspace.report import Report
from tauforge.workspace.rules import Rules, check_home, checked_position, rules_of

AXES = ("x", "y", "z")
TOOL = "tool"
BEYOND = 1.01  # of the distance to the bound of a coordinate: how far a search along it goes
TOOL_STEPS = 100  # in the size of the robot, and in half a turn
HALVINGS = 24
ARRIVED = 1e-6  # of the size of the robot, and rad: how near the tool must come to its pose
USED_UP = 1e-3  # of the larger of 1 and the bound: inverse kinematics stops short of a limit
STRETCHED = "out of reach: no joint brings the tool further"
Entry = tuple[str, int, float, str, str, tuple[str, ...], str]


@with_field_docs
class End(NamedTuple):
    """How far the robot gets in one direction.

    direction: "x", "about x" or the name of a coordinate
    sense:     1 or -1
    distance:  m or rad from home; infinite where no limit ends it
    unit:      of the distance
    limit:     what is wrong beyond; "" where no limit ends it
    also:      limits that are reached at the same place
    kind:      of the limit, such as "stroke"
    """

    direction: str
    sense: int
    distance: float
    unit: str
    limit: str
    also: tuple[str, ...]
    kind: str

    @property
    def words(self) -> str:
        """The limit that ends it, and how many others do."""
        return (self.limit or "no limit") + (f", and {len(self.also)} more" if self.also else "")


@dataclass(frozen=True, repr=False)
class Reach(Report):
    """How far a robot gets from home, direction by direction.

    home:   (n,) coordinates where all ways start
    ends:   one for each direction and sense
    steps:  of the search by unit, m and rad: zones thinner than a 64th of a step may be passed over
    judged: what was judged
    """

    robot: str
    home: Array
    ends: tuple[End, ...]
    steps: dict[str, float]
    judged: str

    def end(self, direction: str, sense: int = 1) -> End:
        """The end in one direction."""
        for found in self.ends:
            if found.direction == direction and found.sense == np.sign(sense):
                return found
        known = ", ".join(dict.fromkeys(found.direction for found in self.ends))
        raise ShapeError("direction", expected=f"one of {known}, with sense 1 or -1", got=repr((direction, sense)))

    def summary(self) -> Summary:
        """A row for each direction: how far to both sides, and what ends it."""
        rows: Rows = tuple(
            (
                found.direction,
                "+" if found.sense > 0 else "-",
                found.unit,
                found.words,
                found.distance if np.isfinite(found.distance) else None,
            )
            for found in self.ends
        )
        table = SummaryTable("Reach from home", ("direction", "", "unit", "ended by", "distance"), rows, texts=4)
        steps = ", ".join(f"{step:.3g} {unit}" for unit, step in self.steps.items())
        home = ", ".join(f"{x:.4g}" for x in self.home.round(12) + 0.0)  # no -0
        return Summary(f"{self.robot} from ({home})", (table, f"Judged: {self.judged}. Steps of the search: {steps}."))

    def plot(self) -> Any:
        """A matplotlib figure with a bar to each side for each direction, coloured by the kind of limit at its end."""
        from tauforge.workspace.pictures import bars

        return bars(self)


def reach(
    robot: Robot,
    home: ArrayLike | None = None,
    *,
    directions: str | Sequence[str] | None = None,
    payload: Payload | None = None,
    forces: bool | None = None,
    largest_condition: float | None = None,
    limits: Sequence[str] | None = None,
) -> Reach:
    """How far the robot gets from home in each direction, both senses, until the first limit, and which that is.

    A robot whose positions are poses goes along x, y and z of the base frame, and turns about them from its orientation
    at home: R = exp(s e) R_home. Another robot moves one coordinate and holds the others. `directions="tool"` moves
    the tool of such a robot along and about the axes of the world instead, by inverse kinematics from step to step.

    home:       (n,) default `robot.positions.default`; all limits must hold there
    directions: names such as ["z", "about x"], or of coordinates; "tool"; None for all of them
    payload, forces, largest_condition, limits: as in `explain`
    A singular position ends a way, too: where `singularity` of the moved body changes its sign, or, where loops must be
    closed, the condition number is infinite. So do loops that do not close, and positions that jump into another
    assembly.
    Distances are accurate to 1e-9 of the robot's size, or of a radian; those to singular positions to 1e-6, because
    rounding hides where these begin; those of a tool to the accuracy of inverse kinematics.
    Identity: within the distance every margin is at least 0, and at its end one is 0, unless a singular position, a
    jump or open loops end it.
    """
    rules = rules_of(robot, payload=payload, forces=forces, largest_condition=largest_condition, limits=limits)
    start = checked_position(robot, "home", home)
    check_home(rules, start)
    if directions == TOOL and not robot.positions.pose:
        found, step = tool_ends(rules, start)
        ends = tuple(End(*entry) for entry in found)
        return Reach(robot.name, robot.positions.coordinates(start), ends, step, rules.words)
    rays, named = _rays(robot, start, directions)
    found_ends = ends_of(rules, rays)
    ends = tuple(
        End(name, sense, float(distance), unit, names[0] if names else "", names[1:], kind)
        for (name, sense, unit), distance, names, kind in zip(named, *found_ends, strict=True)
    )
    steps = {unit: float(step) for (_, _, unit), step in zip(named, rays.step, strict=True)}
    return Reach(robot.name, robot.positions.coordinates(start), ends, steps, rules.words)


def _rays(robot: Robot, home: Array, wanted: str | Sequence[str] | None) -> tuple[Rays, list[tuple[str, int, str]]]:
    """The ways, and for each its direction, sense and unit."""
    known = direction_names(robot)
    names = known if wanted is None else [wanted] if isinstance(wanted, str) else list(wanted)
    if not names or not set(names) <= set(known):
        tool = "" if robot.positions.pose else f", or {TOOL!r}"
        raise ShapeError("directions", expected=f"some of {', '.join(known)}{tool}", got=repr(wanted))
    size = size_of(robot, home)
    rows: list[tuple[Array, Array, float, float, float]] = []
    named: list[tuple[str, int, str]] = []
    for name in names:
        along, about = direction_of(robot, name)
        turns = bool(about.any()) or robot.coordinates[int(along.argmax())].turns
        for sense in (1, -1):
            scale = 1.0 if turns else size
            step = 2 * np.pi / TURN_STEPS if turns else size / STEPS
            farthest = 2 * np.pi if turns else FARTHEST * size
            if along.any():
                farthest = max(
                    farthest, _to_bound(robot, robot.positions.coordinates(home), int(along.argmax()), sense)
                )
            rows.append((sense * along, sense * about, step, farthest, scale))
            named.append((name, sense, "rad" if turns else "m"))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Rays(robot, home, *columns), named


def _to_bound(robot: Robot, home: Array, place: int, sense: int) -> float:
    coordinate = robot.coordinates[place]
    bound = coordinate.upper if sense > 0 else coordinate.lower
    return BEYOND * abs(bound - home[place]) if np.isfinite(bound) else 0.0


def direction_names(robot: Robot) -> list[str]:
    """Names of the directions of a robot."""
    if robot.positions.pose:
        return [*AXES, *(f"about {axis}" for axis in AXES)]
    return [coordinate.name for coordinate in robot.coordinates]


def direction_of(robot: Robot, name: str) -> tuple[Array, Array]:
    """Change of the coordinates (n,) along a direction, and the axis (3,) about which the moved body turns."""
    place = direction_names(robot).index(name)
    along, about = np.zeros(robot.n), np.zeros(3)
    if robot.positions.pose and place >= 3:
        about[place - 3] = 1.0
    else:
        along[place] = 1.0
    return along, about


def tool_ends(rules: Rules, home: Array) -> tuple[list[Entry], dict[str, float]]:
    """Ends as `End` takes them, and steps by unit. A way ends where a limit does not hold or the tool falls behind."""
    robot = rules.robot
    name_of_body = body_of(robot, "directions").name
    size, start = size_of(robot, home), pose_of_tool(robot, home[None])[0]
    found: list[Entry] = []
    for turns in (False, True):
        step, farthest = (np.pi / TOOL_STEPS, 2 * np.pi) if turns else (size / TOOL_STEPS, FARTHEST * size)
        for axis, letter in enumerate(AXES):
            for sense in (1, -1):
                way = sense * np.eye(3)[axis]
                distance, names, kind = _end(rules, home, start, way, turns, step, farthest, size)
                name, unit = (f"{name_of_body} about {letter}", "rad") if turns else ("", "m")
                limit, also = (names[0], names[1:]) if names else ("", ())
                found.append((name or f"{name_of_body} along {letter}", sense, distance, unit, limit, also, kind))
    return found, {"m": size / TOOL_STEPS, "rad": np.pi / TOOL_STEPS}


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
