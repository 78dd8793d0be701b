"""Options of the built-in studies: numbers and axes, checked, positions of the robot, and motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.designs.evaluation import home_at, places_of
from tauforge.errors import ModelError
from tauforge.motion.csv_motion import CsvMotion
from tauforge.motion.motion import Motion, PoseMotion
from tauforge.motion.waypoints import JointMove
from tauforge.robots.robot import Robot
from tauforge.sweeps.grid import Axis, with_units
from tauforge.units import in_si

MOVE_SAMPLES = 201  # of a move
MOVE_TIME = 1.0  # s, unless an option says otherwise


def number_option(options: Mapping[str, str], name: str, unit: str, default: float) -> float:
    """The number of an option in an SI unit, "" for a pure number; the default where it is not given."""
    return default if name not in options else float(numbers_option(options, name, [unit])[0])


def positive_option(options: Mapping[str, str], name: str, unit: str, default: float) -> float:
    """The number of an option, as `number_option`; ModelError unless it is above 0."""
    found = number_option(options, name, unit, default)
    if found <= 0:
        raise ModelError(f"expected a number above 0, got {found:g}", field=f"option {name}")
    return found


def numbers_option(options: Mapping[str, str], name: str, units: Sequence[str]) -> Array:
    """The numbers of an option, separated by commas, one for each of the SI units."""
    texts = options[name].split(",")
    if len(texts) != len(units):
        several = f"{len(units)} numbers separated by commas, got {len(texts)}"
        problem = several if len(units) > 1 else f"one number, got {options[name]!r}"
        raise ModelError(f"expected {problem}", field=f"option {name}")
    found = []
    for text, unit in zip(texts, units, strict=True):
        value = in_si(text)
        if value is None or value[1] not in ("", unit):
            words = f"a number in {unit}" if unit else "a number without a unit"
            raise ModelError(f"expected {words}, got {text.strip()!r}", field=f"option {name}")
        found.append(value[0])
    return np.array(found)


def point_option(options: Mapping[str, str], name: str) -> Array:
    """A point (3,) m; the origin where the option is not given."""
    return numbers_option(options, name, ["m"] * 3) if name in options else np.zeros(3)


def check_values(axes: Iterable[Axis], name: str, holds: Callable[[Array], Array], words: str) -> None:
    """Raises ModelError where values of an axis do not hold. words: what they must be, such as ">= 0"."""
    for axis in axes:
        if axis.name == name and not (good := holds(axis.values)).all():
            raise ModelError(f"expected {words}, got {axis.values[~good][0]:g}", field=f"axis {name}")


def common_unit(units: Iterable[str]) -> str:
    """The unit of numbers that lie in one array: "N m or N" where they have different ones."""
    return " or ".join(sorted(set(units)))


@dataclass(frozen=True)
class SweptPositions:
    """Positions of a robot of which some coordinates are axes.

    home:    (n,) rad and m, of the coordinates that are no axes
    columns: for each axis that is a coordinate, its place among them
    """

    home: Array
    columns: Mapping[str, int]

    def of(self, robot: Robot, block: Mapping[str, Array]) -> Array:
        """Positions (k, N) from the coordinates (k,) of a block; NaN where there is no position."""
        found = np.tile(self.home, (len(next(iter(block.values()))), 1))
        for name, column in self.columns.items():
            found[:, column] = block[name]
        return robot.positions.at(found, on_failure="nan")

    def held(self, robot: Robot) -> dict[str, float]:
        """Coordinates that are no axes, by name."""
        every = enumerate(zip(robot.coordinates, self.home.tolist(), strict=True))
        return {c.name: x for k, (c, x) in every if k not in self.columns.values()}


def positions_and_axes(
    robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], others: Mapping[str, str] | None = None
) -> tuple[SweptPositions, tuple[Axis, ...]]:
    """The positions that the axes mean, and the axes with units.

    axes:   named as coordinates of the robot, or as their columns in files
    at:     rad or m, coordinates that are not axes; the others are where pictures show the robot
    others: names of axes that are no coordinates, with their units
    """
    places = places_of(robot)
    names = {coordinate.name: coordinate.unit for coordinate in robot.coordinates}
    columns = {coordinate.column: coordinate.unit for coordinate in robot.coordinates}
    given = {axis.name for axis in axes} & set(columns)
    checked = with_units(axes, {**names, **{name: columns[name] for name in given}, **(others or {})})
    swept = {axis.name: places[axis.name] for axis in checked if axis.name not in (others or {})}
    if len(set(swept.values())) < len(swept):
        raise ModelError("two axes are the same coordinate", field="axis", remedy="Give it once")
    if taken := next((name for name in at if places.get(name) in swept.values()), None):
        raise ModelError(f"{taken} is an axis", field="at", remedy="Give it as an axis or at a value")
    return SweptPositions(home_at(robot, at), swept), checked


@with_field_docs
class MotionSamples(NamedTuple):
    """A motion at some times.

    times:        (k,) s, strictly increasing
    position:     (k, N) rad or m, loops closed; of a platform poses
    velocity:     (k, n); of a platform twists
    acceleration: (k, n)
    """

    times: Array
    position: Array
    velocity: Array
    acceleration: Array


def motions_of(robot: Robot, at: Mapping[str, float], options: Mapping[str, str]) -> dict[str, Motion]:
    """The motions that the options ask for, by their names. Options as in `builtin_studies`."""
    if "motions" in options:
        if given := next((name for name in ("end", "duration") if name in options), "at" if at else None):
            raise ModelError(f"`motions` cannot be combined with {given}", field="option motions")
        return _files(robot, options)
    if "smooth" in options:
        raise ModelError("only motions from files are smoothed", field="option smooth")
    if "end" not in options:
        remedy = "Give motions=FILE.csv, or end=... of a move"
        raise ModelError("there is no motion", field="option motions", remedy=remedy)
    end = numbers_option(options, "end", [coordinate.unit for coordinate in robot.coordinates])
    move = JointMove(home_at(robot, at), end, positive_option(options, "duration", "s", MOVE_TIME))
    return {"move": PoseMotion(move) if robot.positions.pose else move}


def sampled(robot: Robot, name: str, motion: Motion) -> MotionSamples:
    """The motion at the times of its file; a move at `MOVE_SAMPLES` times."""
    times = motion.times if isinstance(motion, CsvMotion) else np.linspace(0.0, motion.duration, MOVE_SAMPLES)
    coordinates, velocity, acceleration = motion.samples if isinstance(motion, CsvMotion) else motion.sample(times)
    position = robot.positions.at(coordinates, on_failure="nan")
    lost = np.isnan(position).any(axis=-1) & np.isfinite(coordinates).all(axis=-1)
    if lost.any():
        after = times[lost.argmax()] - times[0]
        raise ModelError(
            f"{name}: the loops of {robot.name} do not close {after:.3g} s after its start",
            field="option motions" if isinstance(motion, CsvMotion) else "option end",
            remedy="tauforge.workspace.explain tells about a position; take others",
        )
    return MotionSamples(times, position, velocity, acceleration)


def _files(robot: Robot, options: Mapping[str, str]) -> dict[str, Motion]:
    smooth = positive_option(options, "smooth", "", 1.0) if "smooth" in options else None
    found: dict[str, Motion] = {}
    for text in options["motions"].split(","):
        if not (path := text.strip()):
            raise ModelError("a name is missing", field="option motions", remedy="Write motions=A.csv,B.csv")
        if path in found:
            raise ModelError(f"{path} is given twice", field="option motions", remedy="Give it once")
        found[path] = CsvMotion(path, robot, smooth=smooth)
    return found


def shares_of_time(times: Array) -> Array:
    """Weights (k,) of the trapezoidal rule at times (k,) s, strictly increasing; their sum is 1."""
    steps = np.diff(times)
    found = np.zeros(len(times))
    found[:-1] += steps / 2
    found[1:] += steps / 2
    return np.asarray(found / (times[-1] - times[0]))


def root_mean_square(values: Array, shares: Array) -> Array:
    """Root mean squares (..., n) over the times of values (..., k, n), weighted by shares (k,).

    The sums go from the first time to the last. NumPy's own sums take an order that depends on the shape of the whole
    array, and then a point's result would depend on the block in which it is computed.
    """
    return np.asarray(np.sqrt(np.cumsum(values**2 * shares[:, None], axis=-2)[..., -1, :]))


def largest_size(values: Array) -> Array:
    """Largest sizes (..., n) over the times of values (..., k, n); NaN where one is."""
    return np.asarray(np.abs(values).max(axis=-2))
