"""How wrong each published simplification of a Stewart platform is, for a platform and a motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ShapeError
from tauforge.robots.formulations import Simplification
from tauforge.robots.robot import Robot
from tauforge.units import number


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
