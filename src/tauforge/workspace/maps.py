"""`map`: a quantity over one to three coordinates, the others at home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_numbers
from tauforge.errors import ModelError, ShapeError, UnsupportedFeatureError
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot, check_robot
from tauforge.robots.static_quantities import (
    HOLDS,
    QUANTITIES,
    UNKNOWN_LIMIT,
    Quantity,
    at_positions,
    check_quantities,
    unknown_words,
)
from tauforge.robots.summary import Rows, Summary, SummaryTable
from tauforge.validation import did_you_mean
from tauforge.workspace.criteria import (
    Report,
    check_payload,
    checked_position,
    criteria_of,
    holding_forces,
)
from tauforge.workspace.position_grid import PositionGrid, beyond_crossings

CAPACITY = "capacity"
MAPPED_QUANTITIES = {**QUANTITIES, CAPACITY: Quantity("kg", "largest mass that the actuators hold at rest")}
MOST_AXES = 3
BEYOND_SINGULAR = "a singular position is here, or between home and here"


@dataclass(frozen=True, repr=False)
class Map(Report):
    """A quantity over a grid.

    quantity:  "limit", "condition", "force", "force_share" or "capacity"
    meaning:   of the quantity, in words
    unit:      of the values; "" for a number
    axes:      the values (k,) of each axis by its name, m or rad
    units:     of the axes
    values:    (k, l, ...) in the order of the axes; codes (uint8) for "limit", NaN where there is no value
    codes:     names of the codes of "limit"; empty for other quantities
    unknown:   what code 255 of "limit" means
    home:      (n,) the coordinates that do not vary
    """

    robot: str
    quantity: str
    meaning: str
    unit: str
    axes: dict[str, Array]
    units: dict[str, str]
    values: Array
    codes: tuple[str, ...]
    home: Array
    judged: str
    unknown: str = "the position is not finite"

    def summary(self) -> Summary:
        """The axes; for "limit" the share of each limit, else the range of the values."""
        axes: Rows = tuple(
            (name, self.units[name], float(values[0]), float(values[-1]), len(values))
            for name, values in self.axes.items()
        )
        parts: list[SummaryTable | tuple[str | float, ...] | str] = [
            SummaryTable("Axes", ("axis", "unit", "from", "to", "points"), axes, texts=2)
        ]
        if self.codes:
            parts.append(SummaryTable("Share of the positions", ("limit", "share"), tuple(self.shares().items())))
        else:
            finite = self.values[np.isfinite(self.values)]
            unit = f" {self.unit}" if self.unit else ""
            if finite.size:
                low, middle, high = np.quantile(finite, [0.0, 0.5, 1.0]).tolist()
                parts.append(("From ", low, " to ", high, f"{unit}; half of them below ", middle, "."))
            if missing := self.values.size - finite.size:
                parts.append(f"{missing} of {self.values.size} positions have no finite value.")
        if self.judged:
            parts.append(f"Judged: {self.judged}.")
        return Summary(f"{self.robot}: {self.meaning}", tuple(parts))

    def shares(self) -> dict[str, float]:
        """Share of the positions for each code that occurs, by its name; for "limit" alone."""
        codes, counts = np.unique(self.values, return_counts=True)
        return {self.name(int(code)): count / self.values.size for code, count in zip(codes, counts, strict=True)}

    def name(self, code: int) -> str:
        """Words for a code of "limit"."""
        return self.unknown if code == UNKNOWN_LIMIT else self.codes[code]

    def to_xarray(self) -> Any:
        """An xarray.DataArray with the axes as coordinates; units, names of codes and the robot are attributes."""
        try:
            import xarray
        except ImportError:
            raise ModelError("to_xarray needs xarray", remedy="Run pip install xarray") from None
        coordinates = {name: (name, values, {"units": self.units[name]}) for name, values in self.axes.items()}
        attributes: dict[str, Any] = {
            "robot": self.robot,
            "long_name": self.meaning,
            "units": self.unit,
            "home": self.home.tolist(),
        }
        if self.codes:
            attributes |= {"flag_values": list(range(len(self.codes))), "flag_meanings": list(self.codes)}
        return xarray.DataArray(self.values, coordinates, tuple(self.axes), name=self.quantity, attrs=attributes)

    def plot(self) -> Any:
        """A matplotlib figure: a curve, a slice in colours, or slices through a map with three axes."""
        from tauforge.workspace.pictures import drawn

        return drawn(self)


def map(
    robot: Robot,
    quantity: str,
    axes: Mapping[str, tuple[float, float, int] | ArrayLike],
    *,
    home: ArrayLike | None = None,
    payload: Payload | None = None,
    forces: bool | None = None,
    largest_condition: float | None = None,
    limits: Sequence[str] | None = None,
) -> Map:
    """Computes a quantity over one to three coordinates of a robot, at rest.

    quantity: "limit" (code of the first limit that is exceeded, 0 where all hold), "condition" (condition number),
              "force" (largest holding force), "force_share" (largest share of an actuator's limit), "capacity"
              (largest mass, kg, that the actuators hold at the origin of the moved body, or at the payload's com)
    axes:     by the name of a coordinate, in the order of the result: a tuple (from, to, points), or an array of
              values that increase; m or rad. Angles of a pose are theta_x, theta_y, theta_z of R = Rz Ry Rx
    home:     (n,) the other coordinates; default `robot.positions.default`
    payload:  held by the robot
    forces, largest_condition, limits: what "limit" judges, as in `explain`
    Where loops must be closed "limit" also tells positions that are singular, or that are separated from home by
    singular positions between neighbours of the grid.
    Identity: each other value is that of `robots.at_positions` at its position.
    """
    check_robot("robot", robot)
    if quantity not in MAPPED_QUANTITIES:
        remedy = f"{did_you_mean(quantity, MAPPED_QUANTITIES)}Use one of {', '.join(MAPPED_QUANTITIES)}"
        raise UnsupportedFeatureError(f"unknown quantity {quantity!r}", field="quantity", remedy=remedy)
    places, values = _axes(robot, axes)
    start = checked_position(robot, "home", home)
    grid = PositionGrid(robot, start, places, values)
    check_payload(payload)
    names: tuple[str, ...] = ()
    judged = ""
    if quantity == "limit":
        criteria = criteria_of(robot, payload, forces, largest_condition, limits)
        found = grid.evaluated(criteria.codes, "uint8")
        names = (HOLDS, *(limit.name for limit in criteria.judged))
        if robot.loops is not None:
            beyond = beyond_crossings(grid, found != UNKNOWN_LIMIT)
            names = (*names, BEYOND_SINGULAR)
            found[beyond & ((found == 0) | (found == UNKNOWN_LIMIT))] = len(names) - 1
        judged = criteria.words
    elif quantity == CAPACITY:
        check_quantities(robot, ("force_share",))  # needs the same: forces, and limits of them
        com = (0.0, 0.0, 0.0) if payload is None else payload.com
        found = grid.evaluated(lambda positions: capacities(robot, positions, com))
    else:
        check_quantities(robot, (quantity,))
        found = grid.evaluated(lambda positions: at_positions(robot, (quantity,), positions, payload=payload)[quantity])
    known = MAPPED_QUANTITIES[quantity]
    return Map(
        robot=robot.name,
        quantity=quantity,
        meaning=known.meaning,
        unit=" or ".join(dict.fromkeys(a.unit for a in robot.actuators)) if quantity == "force" else known.unit,
        axes=dict(zip(axes, values, strict=True)),
        units={name: robot.coordinates[place].unit for name, place in zip(axes, places, strict=True)},
        values=found,
        codes=names,
        home=robot.positions.coordinates(start),
        judged=judged,
        unknown=unknown_words(robot),
    )


def _axes(robot: Robot, axes: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[Array, ...]]:
    """Places of the coordinates, and the values along them."""
    known = [coordinate.name for coordinate in robot.coordinates]
    if not isinstance(axes, Mapping) or not 1 <= len(axes) <= MOST_AXES:
        got = f"{len(axes)} axes" if isinstance(axes, Mapping) else repr(axes)
        raise ShapeError("axes", expected=f"one to {MOST_AXES} axes by name, among {', '.join(known)}", got=got)
    if unknown := [name for name in axes if name not in known]:
        raise ShapeError("axes", expected=f"names among {', '.join(known)}", got=repr(unknown[0]))
    return tuple(known.index(name) for name in axes), tuple(axis_values(name, axis) for name, axis in axes.items())


def axis_values(name: str, axis: Any) -> Array:
    """Values (k,) of an axis, from (from, to, points) or from increasing values."""
    spaced = isinstance(axis, tuple) and len(axis) == 3 and isinstance(axis[2], int | np.integer)
    try:
        numbers = real_numbers(axis).astype(float)
    except ValueError:
        raise ShapeError(f"axis {name}", expected="(from, to, points), or numbers", got=repr(axis)) from None
    if not np.isfinite(numbers).all():
        raise ShapeError(f"axis {name}", expected="finite numbers", got=repr(axis))
    if spaced:
        low, high, count = axis
        if count < 1:
            raise ShapeError(f"axis {name}", expected="at least one point", got=f"{count}")
        if not low < high and (count > 1 or low != high):
            raise ShapeError(f"axis {name}", expected="a lower bound below the upper one", got=f"{low:g} to {high:g}")
        return np.linspace(low, high, count)
    if numbers.ndim != 1 or not len(numbers):
        raise ShapeError(f"axis {name}", expected="(k,) at least one value", got=str(numbers.shape))
    if not (np.diff(numbers) > 0).all():
        raise ShapeError(f"axis {name}", expected="strictly increasing values", got=repr(axis))
    return numbers


def capacities(robot: Robot, positions: Array, com: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """(k,) kg, the largest mass that the actuators hold at rest at positions (k, n).

    com: (3,) m of its mass centre, in the frame of the moved body
    Holding forces are linear in the mass that is held, F(m) = F(0) + m (F(1) - F(0)): two evaluations tell, no search.
    It is 0 where the robot cannot hold itself, infinite where no actuator feels the mass, and NaN at a singular
    position. Identity: `force_share` with a payload of this mass is 1.
    """
    empty = holding_forces(robot, positions)
    slope = holding_forces(robot, positions, Payload(1.0, com)) - empty
    with np.errstate(divide="ignore", invalid="ignore"):
        # the force moves towards one of the two limits, whichever its slope says
        room = (np.sign(slope) * robot.max_forces - empty) / slope
    felt = np.abs(slope) > 0
    most = np.where(felt, room, np.inf).min(axis=-1)
    holds = (np.abs(empty) <= robot.max_forces).all(axis=-1)
    unknown = np.isnan(empty).any(axis=-1) | np.isnan(slope).any(axis=-1)
    return np.where(unknown, np.nan, np.where(holds, np.maximum(most, 0.0), 0.0))
