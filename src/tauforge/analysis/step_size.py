"""The step of an integrator from the largest speeds (Turney, Mudge & Lee 1980, section 7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.robots.robot import Robot, check_robot
from tauforge.validation import real_array


def suggested_step(
    robot: Robot,
    fastest: ArrayLike | None = None,
    hardest: ArrayLike | None = None,
    *,
    change: ArrayLike = 0.01,
    velocity_change: ArrayLike = 0.1,
) -> float:
    """The longest step, s, in which no position and no velocity changes by more than these.

    fastest:         (n,) or a number, largest velocities, rad/s or m/s; default the robot's own speed limits
    hardest:         (n,) or a number, largest accelerations; without them `velocity_change` bounds nothing
    change:          (n,) or a number, rad or m, largest change of a coordinate in a step
    velocity_change: (n,) or a number, rad/s or m/s, of a velocity

    "Epsilon should be taken small enough so that changes in angle and angular velocity are not excessive": the paper
    prints no numbers, so the defaults are ours. The error of Runge-Kutta falls with the fourth power of the step.

    Identity: the smallest of change / fastest and velocity_change / hardest.
    """
    speeds = [c.max_speed for c in check_robot("robot", robot).coordinates] if fastest is None else fastest
    shares = _each("change", change, robot.n) / _each("fastest", speeds, robot.n)
    if hardest is not None:
        allowed = _each("velocity_change", velocity_change, robot.n) / _each("hardest", hardest, robot.n)
        shares = np.minimum(shares, allowed)
    return float(shares.min())


def _each(name: str, given: ArrayLike, n: int) -> Array:
    found = np.array(real_array(name, given), float)
    if found.shape not in ((), (n,)):
        raise ShapeError(name, expected=f"a number or ({n},)", got=str(found.shape))
    if not (np.isfinite(found) & (found > 0)).all():
        remedy = "Give fastest=, the largest velocities of the motion" if name == "fastest" else None
        raise ModelError(f"expected finite numbers > 0, got {found.tolist()}", field=name, remedy=remedy)
    return np.broadcast_to(found, (n,))
