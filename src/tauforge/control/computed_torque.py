"""Computed torque: Lee, Chung, Mudge & Turney 1982, L4.1, in its Newton-Euler form L4.4.

The forces are one call of inverse dynamics with the corrected acceleration qdd_d + Kv (qd_d - qd) + Kp (q_d - q) (L4.4
as it is meant: the correction replaces the acceleration). With a perfect model and continuous control the error then
follows e'' + Kv e' + Kp e = 0 (L4.3) in the robot's coordinates: those of a platform are x, y, z and the angles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import GAIN_ROUNDING, Controller, Feedback, check_actuated, gain_matrix, times
from tauforge.errors import ModelError
from tauforge.evaluation.unmodified import ours
from tauforge.motion.motion import MotionSample
from tauforge.robots.formulations import forces_by_rows
from tauforge.robots.robot import Robot, check_robot


@ours
class ComputedTorque(Controller):
    """robot: the controller's own model, which may differ from the plant's; it has an actuator for every coordinate.

    kp, kv: a number, n numbers or an (n, n) matrix, 1/s^2 and 1/s
    check:  refuse gains that violate the paper's conditions of stability (after L4.3)
    """

    compiles = True

    def __init__(self, robot: Robot, kp: ArrayLike = 100.0, kv: ArrayLike = 20.0, *, check: bool = True) -> None:
        self.robot = check_robot("robot", robot)
        check_actuated(self, robot)
        n = robot.n
        self.kp, self.kv = gain_matrix("kp", kp, n), gain_matrix("kv", kv, n)
        if check:
            check_gains(self.kp, self.kv)

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        robot = self.robot
        rates = robot.positions.rates(position, velocity)[0]
        target_rates, target_seconds = robot.positions.rates(*target)
        e, e_dot = robot.positions.error(target.position, position), target_rates - rates
        wanted = target_seconds + times(self.kv, e_dot) + times(self.kp, e)  # L4.4
        acceleration = robot.positions.from_rates(position, rates, wanted)[1]
        return forces_by_rows(robot, position, velocity, acceleration)

    def feedback(self) -> Feedback:
        return Feedback(self.kp, self.kv)


def check_gains(kp: Array, kv: Array) -> None:
    """(a) Kv symmetric and non-negative definite, (b) Kp symmetric and positive definite, (c) [Kv | Kp Kv | ...] of
    full rank: the error then converges to zero.
    """
    n = len(kp)
    for name, K in (("kv", kv), ("kp", kp)):
        if np.abs(K - K.T).max() > GAIN_ROUNDING * np.abs(K).max(initial=0.0):
            raise ModelError(
                "condition of stability: the gain matrix must be symmetric", field=name, remedy=GAINS_REMEDY
            )
    if np.linalg.eigvalsh(kv).min() < -GAIN_ROUNDING * np.abs(kv).max(initial=0.0):
        raise ModelError(
            "condition (a) of stability: the matrix must be non-negative definite", field="kv", remedy=GAINS_REMEDY
        )
    if np.linalg.eigvalsh(kp).min() <= 0:
        raise ModelError(
            "condition (b) of stability: the matrix must be positive definite", field="kp", remedy=GAINS_REMEDY
        )
    scaled = kp / np.abs(kp).max()
    blocks = [kv]
    for _ in range(n - 1):
        blocks.append(scaled @ blocks[-1])
    if np.linalg.matrix_rank(np.hstack(blocks)) < n:
        raise ModelError(
            "condition (c) of stability: [Kv | Kp Kv | ...] must have full rank, or some error is never damped",
            field="kv",
            remedy=GAINS_REMEDY,
        )


GAINS_REMEDY = "Give other gains, or check=False"
