"""Linear feedback about a nominal motion (Lee sec. 4): forces known beforehand, and gains for every control period."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.errors import ShapeError
from tauforge.motion.motion import MotionSample, positive
from tauforge.robots.robot import Robot, check_robot
from tauforge.validation import real_array


class LinearFeedback(Controller):
    """u = u_d + K (x_d - x) with the gains of the control period, x being the coordinates and the velocities.

    forces: (k, m) u_d, N m or N, of each period
    gains:  (k, m, 2n) K
    period: s, of control; `simulate` and `rollout` must have the same. After the last instant its row holds

    `tf.analysis.linear_feedback` makes one from a motion and weights.
    """

    def __init__(self, robot: Robot, forces: ArrayLike, gains: ArrayLike, period: float) -> None:
        self.robot, self.period = check_robot("robot", robot), positive("period", period)
        m, n = len(robot.actuators), robot.n
        given = {"forces": forces, "gains": gains}
        self.forces, self.gains = (np.array(real_array(name, x), float) for name, x in given.items())
        count = len(self.forces) if self.forces.ndim == 2 else 1
        for name, x, core in (("forces", self.forces, (m,)), ("gains", self.gains, (m, 2 * n))):
            if x.shape != (count, *core) or not count or not np.isfinite(x).all():
                raise ShapeError(name, expected=f"finite numbers {('k', *core)}".replace("'", ""), got=str(x.shape))

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        k = min(round(t / self.period), len(self.forces) - 1)  # type: ignore[operator]
        error = self.robot.positions.error(target.position, position)
        error, error_rate = np.broadcast_arrays(error, target.velocity - velocity)
        return np.asarray(self.forces[k] + np.concatenate([error, error_rate], axis=-1) @ self.gains[k].T)
