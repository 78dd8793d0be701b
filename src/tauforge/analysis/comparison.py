"""One motion in every formulation, and how far they disagree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.charts.along_time import panels_along, times_of, with_difference
from tauforge.charts.figure import Figure
from tauforge.charts.with_matplotlib import drawn
from tauforge.class_tools import with_field_docs
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.robots.formulations import Simplification
from tauforge.robots.robot import Robot
from tauforge.robots.summary import Summary, SummaryTable, summarised
from tauforge.units import number
from tauforge.validation import check_known, real_array


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

    def plot(self, time: ArrayLike, first: str, second: str) -> Any:
        """A matplotlib figure with a panel for each actuator: forces by two of the formulations, and their difference.

        time: (k,) s, of the states along a motion, at which the torques are (k, n)

        Two models of a platform are Pedrammehr et al.'s Figs 9 and 10.
        """
        for name in (first, second):
            check_known(name, self.torques, f"{name!r} was not compared", "formulation")
        t = times_of(time, self.torques[first])
        curves = with_difference((first, self.torques[first]), (second, self.torques[second]))
        panels = panels_along("actuator", t, "force (N) or torque (N m)", curves)
        return drawn(Figure("comparison", f"{first} and {second}", "", panels, columns=3))

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


@with_field_docs
class SimplificationErrors(NamedTuple):
    """Errors of one simplification along a motion, for each leg.

    simplification: the published model
    largest:        (6,) N
    rms:            (6,) N
    percent:        (6,) the largest, of the leg's largest exact force
    """

    simplification: Simplification
    largest: Array
    rms: Array
    percent: Array

    @property
    def worst(self) -> float:
        """The largest error of any leg at any time, N."""
        return float(self.largest.max())

    def __repr__(self) -> str:
        name, share = self.simplification.name, float(self.percent.max())
        return f"{type(self).__name__}({name!r}, at most {number(self.worst)} N, {number(share)} %)"


def assess(
    robot: Robot, pose: ArrayLike, twist: ArrayLike, acceleration: ArrayLike, external_wrench: ArrayLike | None = None
) -> list[SimplificationErrors]:
    """Every published simplification of the robot beside its exact model, at the states (..., n) of a motion.

    At least one state is needed. A robot without published simplifications gets an empty list.
    """
    state = (pose, twist, acceleration)
    loads = {} if external_wrench is None else {"external_wrench": external_wrench}
    actuators = len(robot.actuators)
    exact = robot.inverse_dynamics(*state, **loads).reshape(-1, actuators)
    if not len(exact):
        raise ShapeError("pose", expected="at least one state", got=str(np.shape(pose)))
    peak = np.abs(exact).max(axis=0)
    verdicts = []
    for simplification in robot.formulations.simplifications:
        chosen = {"formulation": simplification.model, "corrections": simplification.corrections}
        error = robot.inverse_dynamics(*state, **loads, **chosen).reshape(-1, actuators) - exact
        largest, rms = np.abs(error).max(axis=0), np.sqrt((error**2).mean(axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            verdicts.append(SimplificationErrors(simplification, largest, rms, 100 * largest / peak))
    return verdicts
