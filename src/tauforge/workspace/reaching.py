"""`reach`: distances from home along and about each axis, and the limit that ends each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
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
from tauforge.workspace.criteria import Criteria, Report, checked_home, criteria_of
from tauforge.workspace.rays import SEARCHED_SIZES, Rays, ends_of, search_of, size_of

AXIS_LETTERS = ("x", "y", "z")
TOOL = "tool"
BEYOND_BOUND = 1.01  # of the distance to the bound of a coordinate: how far a search along it goes
TOOL_STEPS = 100  # in the size of the robot, and in half a turn
TOOL_HALVINGS = 24  # of the last step of a tool
ARRIVED = 1e-6  # of the size of the robot, and rad: how near the tool must come to its pose
USED_UP = 1e-3  # of the larger of 1 and the bound: inverse kinematics stops short of a limit
STRETCHED = "out of reach: no joint brings the tool further"


@with_field_docs
class End(NamedTuple):
    """End of the way in one direction.

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
    """Distances from home that a robot reaches, direction by direction.

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
            (e.direction, "+" if e.sense > 0 else "-", e.unit, e.words, e.distance if np.isfinite(e.distance) else None)
            for e in self.ends
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
    """Measures how far the robot gets from home in each direction, both senses, until the first limit.

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
    criteria = criteria_of(robot, payload, forces, largest_condition, limits)
    start = checked_home(criteria, home)
    if directions == TOOL and not robot.positions.pose:
        ends, steps = tool_ends(criteria, start)
    else:
        rays, named = _rays(robot, start, directions)
        ends = tuple(
            _named_end(name, sense, unit, float(distance), names, kind)
            for (name, sense, unit), distance, names, kind in zip(named, *ends_of(criteria, rays), strict=True)
        )
        steps = {unit: float(step) for (_, _, unit), step in zip(named, rays.step, strict=True)}
    return Reach(robot.name, robot.positions.coordinates(start), ends, steps, criteria.words)


def _named_end(direction: str, sense: int, unit: str, distance: float, limits: tuple[str, ...], kind: str) -> End:
    return End(direction, sense, distance, unit, limits[0] if limits else "", limits[1:], kind)


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
        along, about, turns = direction_of(robot, name)
        for sense in (1, -1):
            step, farthest, scale = search_of(size, turns)
            if along.any():
                place = int(along.argmax())
                bound = robot.coordinates[place].upper if sense > 0 else robot.coordinates[place].lower
                if np.isfinite(bound):
                    farthest = max(farthest, BEYOND_BOUND * abs(bound - robot.positions.coordinates(home)[place]))
            rows.append((sense * along, sense * about, step, farthest, scale))
            named.append((name, sense, "rad" if turns else "m"))
    return Rays(robot, home, *(np.array(column) for column in zip(*rows, strict=True))), named


def direction_names(robot: Robot) -> list[str]:
    """Names of the directions of a robot."""
    if robot.positions.pose:
        return [*AXIS_LETTERS, *(f"about {axis}" for axis in AXIS_LETTERS)]
    return [coordinate.name for coordinate in robot.coordinates]


def direction_of(robot: Robot, name: str) -> tuple[Array, Array, bool]:
    """Change of the coordinates (n,) along a direction, axis (3,) about which the body turns, and whether it is rad."""
    place = direction_names(robot).index(name)
    along, about = np.zeros(robot.n), np.zeros(3)
    if robot.positions.pose and place >= 3:
        about[place - 3] = 1.0
    else:
        along[place] = 1.0
    return along, about, bool(about.any()) or robot.coordinates[place].turns


def tool_ends(criteria: Criteria, home: Array) -> tuple[tuple[End, ...], dict[str, float]]:
    """Ends of the tool's ways, and steps by unit. A way ends where a limit does not hold or the tool falls behind."""
    robot = criteria.robot
    body, size, start = body_of(robot, "directions").name, size_of(robot, home), pose_of_tool(robot, home[None])[0]
    steps = {"m": size / TOOL_STEPS, "rad": np.pi / TOOL_STEPS}
    found = []
    for unit, word, farthest in (("m", "along", SEARCHED_SIZES * size), ("rad", "about", 2 * np.pi)):
        for (letter, axis), sense in product(zip(AXIS_LETTERS, np.eye(3), strict=True), (1, -1)):
            ended = _end(criteria, home, start, sense * axis, unit == "rad", steps[unit], farthest, size)
            found.append(_named_end(f"{body} {word} {letter}", sense, unit, *ended))
    return tuple(found), steps


def _end(
    criteria: Criteria, home: Array, start: Array, way: Array, turns: bool, step: float, farthest: float, size: float
) -> tuple[float, tuple[str, ...], str]:
    robot, near, distance = criteria.robot, home, 0.0

    def position(s: float, near: Array) -> Array | None:
        """Position with the tool s further; None where it does not get there or a limit does not hold."""
        pose = turned(start, s * way) if turns else np.concatenate([start[:3] + s * way, start[3:]])
        wanted = transforms(pose)
        found = body_of(robot).towards(wanted, near)
        error = np.abs(pose_error(wanted, transforms(pose_of_tool(robot, found[None])[0])))
        arrived = error[:3].max() <= ARRIVED * size and error[3:].max() <= ARRIVED
        return found if arrived and not criteria.codes(found) else None

    while distance < farthest:
        if (found := position(distance + step, near)) is None:
            break
        near, distance = found, distance + step
    else:
        return np.inf, (), ""
    for _ in range(TOOL_HALVINGS):
        step /= 2
        if (found := position(distance + step, near)) is not None:
            near, distance = found, distance + step
    if not (used_up := criteria.reached(near[None], USED_UP)[0]):  # the tool is at the end of its reach
        return float(distance), (STRETCHED,), "reach"
    return float(distance), tuple(limit.name for limit in used_up), used_up[0].kind


def pose_of_tool(robot: Robot, positions: Array) -> Array:
    """(k, 6) poses of the moved body at positions (k, N)."""
    if robot.positions.pose:
        return robot.positions.coordinates(positions)
    return pose_of(body_of(robot).frames(positions))
