"""Axes that are coordinates of a robot, and the positions that a block of them means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.robots.robot import Robot
from tauforge.sweeps.axes import Axis, with_units
from tauforge.validation import real


@dataclass(frozen=True)
class Positions:
    """Positions of a robot of which some coordinates are axes.

    home:    (n,) rad and m, of the coordinates that are no axes
    columns: for each axis that is a coordinate, its place among them
    """

    home: Array
    columns: Mapping[str, int]

    def of(self, robot: Robot, block: Mapping[str, Array]) -> Array:
        """(k, N) from the coordinates (k,) of a block; NaN where there is no position."""
        found = np.tile(self.home, (len(next(iter(block.values()))), 1))
        for name, column in self.columns.items():
            found[:, column] = block[name]
        return robot.positions.at(found, on_failure="nan")


def positions_and_axes(
    robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], others: Mapping[str, str] | None = None
) -> tuple[Positions, tuple[Axis, ...]]:
    """The positions that the axes mean, and the axes with units.

    axes:   named as coordinates of the robot, or as their columns in files
    at:     rad or m, coordinates that are not axes; the others are where pictures show the robot
    others: names of axes that are no coordinates, with their units
    """
    places = _places(robot)
    names = {coordinate.name: coordinate.unit for coordinate in robot.coordinates}
    columns = {coordinate.column: coordinate.unit for coordinate in robot.coordinates}
    given = {axis.name for axis in axes} & set(columns)
    checked = with_units(axes, {**names, **{name: columns[name] for name in given}, **(others or {})})
    swept = {axis.name: places[axis.name] for axis in checked if axis.name not in (others or {})}
    if len(set(swept.values())) < len(swept):
        raise ModelError("two axes are the same coordinate", field="axis", remedy="Give it once")
    if taken := next((name for name in at if places.get(name) in swept.values()), None):
        raise ModelError(f"{taken} is an axis", field="at", remedy="Give it as an axis or at a value")
    return Positions(position_at(robot, at), swept), checked


def position_at(robot: Robot, at: Mapping[str, float]) -> Array:
    """(n,) where pictures show the robot, but for these coordinates, rad or m."""
    places, home = _places(robot), np.array(robot.positions.coordinates(robot.positions.default), dtype=float)
    for name, value in at.items():
        if name not in places:
            names = ", ".join(coordinate.name for coordinate in robot.coordinates)
            raise ModelError(f"no coordinate is called {name!r}", field="at", remedy=f"They are {names}")
        home[places[name]] = real(value, name)
    return home


def _places(robot: Robot) -> dict[str, int]:
    """The place of a coordinate, by its name and by its column."""
    found: dict[str, int] = {}
    for k, coordinate in enumerate(robot.coordinates):
        found |= {coordinate.name: k, coordinate.column: k}
    return found
