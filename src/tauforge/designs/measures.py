"""Measures of a design: numbers over all of its states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import TauforgeError, UnsupportedFeatureError
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import check_quantities
from tauforge.validation import check_known


@with_field_docs
class Measure(NamedTuple):
    """One number of a design.

    quantity: at a position, see `tauforge.robots.static_quantities`
    over:     how it is taken over the states: "largest", "smallest", "mean", or "share" of those within limits
    unit:     SI; "" for a pure number
    meaning:  in a line
    larger:   whether larger is better
    """

    quantity: str
    over: str
    unit: str
    meaning: str
    larger: bool = False

    def of(self, values: Array) -> Array:
        """Measures (N,) from the quantity (S, N) at S states of N designs. NaN stays NaN."""
        match self.over:
            case "largest":
                return np.asarray(values.max(axis=0))
            case "smallest":
                return np.asarray(values.min(axis=0))
            case "mean":  # state by state: NumPy's sum of one design would be taken in another order
                return np.asarray(sum(values) / len(values))
            case _:
                return np.asarray((values == 0).mean(axis=0))


MEASURES = {
    "condition": Measure("condition", "largest", "", "largest condition number"),
    "mean_condition": Measure("condition", "mean", "", "mean condition number"),
    "stiffness": Measure("stiffness", "smallest", "N/m", "smallest eigenvalue of the stiffness matrix", larger=True),
    "force": Measure("force", "largest", "N or N m", "largest force that holds the robot at rest"),
    "force_share": Measure("force_share", "largest", "", "largest share of an actuator's limit that holds the robot"),
    "within_limits": Measure("limit", "share", "", "share of the states within all limits", larger=True),
}


def unit_of(robot: Robot, name: str) -> str:
    """The unit of a measure; that of forces is the actuators'."""
    if MEASURES[name].quantity == "force":
        return " or ".join(sorted({actuator.unit for actuator in robot.actuators}))
    return MEASURES[name].unit


def measures_of(robot: Robot) -> tuple[str, ...]:
    """The names of `MEASURES` that the robot has: forces need masses, shares need limits."""
    return tuple(name for name in MEASURES if not _missing(robot, name))


def check_measures(robot: Robot, names: Sequence[str]) -> tuple[str, ...]:
    """Checks that the robot has all of the measures, and gives their names as a tuple."""
    for name in names:
        check_known(name, MEASURES, f"{name!r} is no measure of a design", "objective")
        if problem := _missing(robot, name):
            raise problem
    return tuple(names)


def judges_forces(robot: Robot) -> bool:
    """True if the limits of a state include those of the forces that hold the robot."""
    return not _missing(robot, "force_share")


def has_limits(robot: Robot) -> bool:
    return bool(robot.bounds.limits) or judges_forces(robot)


def _missing(robot: Robot, name: str) -> TauforgeError | None:
    """Reason for which the robot has no such measure; None where it has it."""
    if name == "within_limits":
        return None if has_limits(robot) else UnsupportedFeatureError(f"{robot.name} has no limits", field=name)
    try:
        check_quantities(robot, (MEASURES[name].quantity,))
    except TauforgeError as problem:
        return problem
    return None
