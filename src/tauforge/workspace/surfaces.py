"""`surface` and `polar`: ends of ways in all directions of space, or of a plane, and the limits there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.robots.summary import Rows, Summary, SummaryTable
from tauforge.workspace.criteria import Criteria, Report, checked_count, checked_home, criteria_of
from tauforge.workspace.rays import Rays, ends_of, search_of, size_of
from tauforge.workspace.reaching import direction_names, direction_of

LATITUDES = 36
RAYS = 180


@dataclass(frozen=True, repr=False)
class Surface(Report):
    """The places where straight ways from home end, at one orientation.

    directions: (a, b, 3) unit vectors in the base frame: a latitudes from -z to z, b longitudes from x on
    distance:   (a, b) m; infinite where no limit ends the way
    limits:     (a, b) names of the limits that end the ways
    home:       (n,)
    """

    robot: str
    home: Array
    directions: Array
    distance: Array
    limits: Array
    judged: str

    @property
    def places(self) -> Array:
        """(a, b, 3) m, the ends of the ways."""
        return np.asarray(self.home[:3] + self.distance[..., None] * self.directions)

    @property
    def volume(self) -> float:
        """Volume that straight ways from home reach, m^3: the integral of r^3 / 3 over all directions.

        It is the volume of the workspace where every place of it is seen from home, and less elsewhere.
        """
        return float(4.0 * np.pi / 3.0 * (self.distance**3).mean())  # the directions have equal areas

    def summary(self) -> Summary:
        """Shares of the directions by the limit that ends them, and the volume that straight ways reach."""
        volume = ("Straight ways from home reach ", self.volume, " m^3.")
        parts = (_shares(self.limits), volume, f"Judged: {self.judged}.")
        return Summary(f"{self.robot}: ends of ways in all directions", parts)

    def plot(self) -> Any:
        """A matplotlib figure of the surface in space, coloured by the limit that ends each way."""
        from tauforge.workspace.pictures import surface_in_space

        return surface_in_space(self)


@dataclass(frozen=True, repr=False)
class Polar(Report):
    """Distances that a robot reaches in the directions of a plane.

    axes:     the two directions that span the plane, such as ("x", "y")
    angle:    (k,) rad, from the first axis to the second
    distance: (k,) m or rad; infinite where no limit ends the way
    limits:   (k,) names of the limits that end the ways
    """

    robot: str
    home: Array
    axes: tuple[str, str]
    unit: str
    angle: Array
    distance: Array
    limits: Array
    judged: str

    def summary(self) -> Summary:
        """The nearest and the furthest end, and shares of the directions by the limit that ends them."""
        span = ("From ", float(self.distance.min()), " to ", float(self.distance.max()), f" {self.unit}.")
        return Summary(f"{self.robot} in the plane of {' and '.join(self.axes)}", (span, _shares(self.limits)))

    def plot(self, axes: Any = None) -> Any:
        """A matplotlib figure in polar coordinates, coloured by the limit that ends each way.

        axes: matplotlib axes with projection="polar" to draw into instead of a new figure
        """
        from tauforge.workspace.pictures import polar_picture

        return polar_picture(self, axes)


def surface(
    robot: Robot,
    home: ArrayLike | None = None,
    *,
    latitudes: int = LATITUDES,
    payload: Payload | None = None,
    forces: bool | None = None,
    largest_condition: float | None = None,
    limits: Sequence[str] | None = None,
) -> Surface:
    """Ends of straight ways from home in all directions, at the orientation of home.

    home:      (n,) default `robot.positions.default`; all limits must hold there
    latitudes: rings of directions, of equal areas on the sphere; each has twice as many longitudes
    payload, forces, largest_condition, limits: as in `explain`
    Identity: each distance is that of `reach` in its direction.
    """
    criteria = criteria_of(robot, payload, forces, largest_condition, limits)
    if not robot.positions.pose:
        raise UnsupportedFeatureError(
            f"positions of {robot.name} are not poses", field="surface", remedy="Use reach, polar or volume"
        )
    start = checked_home(criteria, home)
    count = checked_count("latitudes", latitudes)
    z = np.linspace(-1.0, 1.0, 2 * count + 1)[1::2]
    longitude = np.arange(2 * count) * np.pi / count
    r = np.sqrt(1.0 - z**2)[:, None]
    directions = np.stack(np.broadcast_arrays(r * np.cos(longitude), r * np.sin(longitude), z[:, None]), axis=-1)
    along = np.zeros((directions[..., 0].size, robot.n))
    along[:, :3] = directions.reshape(-1, 3)
    distance, names = _ends(criteria, start, along, np.zeros((len(along), 3)), False)
    distance, names = (x.reshape(directions.shape[:2]) for x in (distance, names))
    return Surface(robot.name, robot.positions.coordinates(start), directions, distance, names, criteria.words)


def polar(
    robot: Robot,
    axes: tuple[str, str] | None = None,
    home: ArrayLike | None = None,
    *,
    rays: int = RAYS,
    payload: Payload | None = None,
    forces: bool | None = None,
    largest_condition: float | None = None,
    limits: Sequence[str] | None = None,
) -> Polar:
    """Measures how far the robot gets in the directions of a plane.

    axes: two directions of `reach` with the same unit, such as ("x", "z") or ("about x", "about y"); the latter turn
          about axes between the two. Default the first two
    home: (n,) default `robot.positions.default`; all limits must hold there
    rays: number of directions
    payload, forces, largest_condition, limits: as in `explain`
    Identity: along the axes the distances are those of `reach`.
    """
    criteria = criteria_of(robot, payload, forces, largest_condition, limits)
    start = checked_home(criteria, home)
    if len(known := direction_names(robot)) < 2:
        problem = f"{robot.name} has only one direction, {known[0]}; a polar plot needs two"
        raise UnsupportedFeatureError(problem, field="polar", remedy="Use reach or map")
    chosen = tuple(known[:2] if axes is None else axes)
    if len(chosen) != 2 or not set(chosen) <= set(known) or chosen[0] == chosen[1]:
        raise ShapeError("axes", expected=f"two of {', '.join(known)}", got=repr(axes))
    (along_one, about_one, turns), (along_two, about_two, other) = (direction_of(robot, name) for name in chosen)
    if turns != other:
        raise ShapeError("axes", expected="two axes with the same unit", got=f"{chosen[0]} and {chosen[1]}")
    angle = np.arange(checked_count("rays", rays)) * 2 * np.pi / rays
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    along, about = c * along_one + s * along_two, c * about_one + s * about_two
    distance, names = _ends(criteria, start, along, about, turns)
    unit, plane, found_home = "rad" if turns else "m", (chosen[0], chosen[1]), robot.positions.coordinates(start)
    return Polar(robot.name, found_home, plane, unit, angle, distance, names, criteria.words)


def _ends(criteria: Criteria, home: Array, along: Array, about: Array, turns: bool) -> tuple[Array, Array]:
    """Distances and names of the limits that end the ways, (k,) each."""
    search = (np.full(len(along), x) for x in search_of(size_of(criteria.robot, home), turns))
    found = ends_of(criteria, Rays(criteria.robot, home, along, about, *search))
    return found.distance, np.array([names[0] if names else "no limit" for names in found.limits])


def _shares(limits: Array) -> SummaryTable:
    names, counts = np.unique(limits, return_counts=True)
    rows: Rows = tuple((str(name), float(count / limits.size)) for name, count in zip(names, counts, strict=True))
    return SummaryTable("What ends the ways: share of the directions", ("limit", "share"), rows)
