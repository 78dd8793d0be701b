"""One motion in every formulation, and how far they disagree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import UnsupportedFeatureError
from tauforge.robots.robot import Robot
from tauforge.robots.summary import Summary, SummaryTable, summarised
from tauforge.validation import real_array


@summarised
@with_field_docs
class Comparison(NamedTuple):
    """Torques by formulation, and how far the formulations disagree.

    torques:      formulation -> (..., n)
    disagreement: formulation -> its largest disagreement with any other
    """

    torques: dict[str, Array]
    disagreement: dict[str, float]

    @property
    def largest(self) -> float:
        return max(self.disagreement.values())

    def summary(self) -> Summary:
        """The disagreements as a table."""
        shape = next(iter(self.torques.values())).shape
        table = SummaryTable("", ("formulation", "largest disagreement with another"), tuple(self.disagreement.items()))
        return Summary(f"{len(self.torques)} formulations, torques {shape}", (table,))


def row_errors(a: Array, b: Array) -> Array:
    """Largest absolute difference in a row over the largest magnitude in that row: (..., n) to (...)."""
    a, b = real_array("a", a), real_array("b", b)
    largest = np.maximum(np.abs(a).max(axis=-1), np.abs(b).max(axis=-1))
    difference = np.abs(a - b).max(axis=-1)
    return np.asarray(np.divide(difference, largest, out=np.zeros_like(difference), where=difference != 0))


def relative_error(a: Array, b: Array) -> float:
    """The largest of the row errors."""
    return float(row_errors(a, b).max(initial=0.0))


def compare(robot: Robot, *state: ArrayLike, **loads: Any) -> Comparison:
    """Inverse dynamics of a state or a batch in every formulation that takes these loads.

    state: position, velocity and acceleration, as `inverse_dynamics` of the robot takes them
    loads: what else it takes, such as tip_wrench, payload, base_motion and wrench_frame of an arm
    """
    names = robot.formulations.taking([name for name, value in loads.items() if value is not None])
    if len(robot.formulations) == 1:
        raise UnsupportedFeatureError(f"{robot.name} has one formulation: there is nothing to compare", field="robot")
    torques = {name: robot.inverse_dynamics(*state, formulation=name, **loads) for name in names}
    disagreement = {name: max(relative_error(torques[name], torques[other]) for other in names) for name in names}
    return Comparison(torques, disagreement)


def random_states(robot: Robot, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Positions within the limits, velocities and accelerations of order one: (count, n) each."""
    return robot.random_states(count, seed)
