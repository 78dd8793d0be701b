"""The states over which a design is judged: the same for every design of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tauforge.arrays import Array, real_number
from tauforge.errors import ModelError
from tauforge.robots.robot import Robot
from tauforge.robots.shown_results import summarised
from tauforge.validation import real

COUNT = 20
DISTANCE = 0.05  # m
ANGLE = np.deg2rad(5)


@summarised
@dataclass(frozen=True, eq=False, repr=False)
class States:
    """Coordinates about a home.

    home:    (n,) rad and m
    offsets: (S, n) rad and m, added to home
    """

    home: Array
    offsets: Array

    def coordinates(self, moved: Mapping[int, Array]) -> Array:
        """(S, N, n), where coordinates of home, by their places, have values (N,) of each design; N is 1 for none."""
        count = max((len(values) for values in moved.values()), default=1)
        home = np.tile(self.home, (count, 1))
        for place, values in moved.items():
            home[:, place] = values
        return home + self.offsets[:, None]


def states_around(
    robot: Robot,
    count: int = COUNT,
    *,
    distance: float = DISTANCE,
    angle: float = ANGLE,
    at: Mapping[str, float] | None = None,
) -> States:
    """States spread evenly over a box about home; the first is home itself.

    count:    how many
    distance: m, how far coordinates that are lengths go to each side
    angle:    rad, the same for angles
    at:       rad or m, coordinates of home by name; the others are where pictures show the robot

    They are Roberts' additive recurrence: frac(1/2 + k / phi^j) along coordinate j = 1 ... n, with phi the root of
    phi^(n + 1) = phi + 1. It has low discrepancy and, unlike random numbers, is the same on every machine.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ModelError(f"expected a whole number >= 1, got {count!r}", field="states")
    for name, value in (("distance", distance), ("angle", angle)):
        if not 0 <= real_number(value) < np.inf:
            raise ModelError(f"expected a number >= 0, got {value!r}", field=name)
    home, places = np.array(robot.positions.coordinates(robot.positions.default), dtype=float), places_of(robot)
    for name, value in (at or {}).items():
        if name not in places:
            names = ", ".join(coordinate.name for coordinate in robot.coordinates)
            raise ModelError(f"no coordinate is called {name!r}", field="at", remedy=f"They are {names}")
        home[places[name]] = real(value, name)
    phi = 2.0
    for _ in range(64):  # a contraction by more than 2 in every step
        phi = (1 + phi) ** (1 / (robot.n + 1))
    steps = phi ** -np.arange(1.0, robot.n + 1)
    shares = np.remainder(0.5 + np.outer(np.arange(count), steps), 1.0)
    reach = np.array([angle if coordinate.turns else distance for coordinate in robot.coordinates])
    return States(home, reach * (2 * shares - 1))


def places_of(robot: Robot) -> dict[str, int]:
    """Where the coordinates are among all, by their names and by their columns in files."""
    columns = {coordinate.column: k for k, coordinate in enumerate(robot.coordinates)}
    return columns | {coordinate.name: k for k, coordinate in enumerate(robot.coordinates)}
