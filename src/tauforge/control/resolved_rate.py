"""Resolved-motion-rate control (Whitney 1969): a tool that follows a motion in space, by the arm's Jacobian.

Joint rates qd_r with J qd_r = twist_d + K (pose error), by damped least squares: near a singular pose the tool lags
instead of the joints running away. A velocity loop with the arm's own model follows them, tau = ID(q, qd, qdd) with
qdd = Kv (qd_r - qd).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.algebra.rotations import rotation_of
from tauforge.algebra.vectors import Vector
from tauforge.control.controller import Controller, gain_matrix, times
from tauforge.errors import ModelError
from tauforge.motion.motion import MotionSample, positive
from tauforge.robots.serial_arm import SerialArm

Array = NDArray[Any]


class ResolvedRate(Controller):
    """For motions of poses: the tool's origin and its angles in the world (R = Rz Ry Rx), with twists.

    gain:    1/s, of position and orientation errors
    kv:      1/s, of the velocity loop, a number, n numbers or an (n, n) matrix
    damping: of the least squares; with singular values of J below it the tool begins to lag
    """

    task_space = True

    def __init__(self, robot: SerialArm, gain: float = 10.0, kv: ArrayLike = 100.0, *, damping: float = 1e-2) -> None:
        if not isinstance(robot, SerialArm):
            raise ModelError("resolved rates are for arms", field="robot", remedy="Use ComputedTorque for platforms")
        self.robot: SerialArm = robot
        self.gain, self.damping = positive("gain", gain), positive("damping", damping)
        self.kv = gain_matrix("kv", kv, robot.n)

    def rates(self, position: Array, target: MotionSample) -> Array:
        """Joint rates (..., n) that bring the tool back to the motion."""
        tool = self.robot.forward_kinematics(position)
        R = np.array([list(row) for row in rotation_of(Vector(*target.position[3:].tolist())).rows])
        apart = [target.position[:3] - tool[..., :3, 3], turn_between(tool[..., :3, :3], R)]
        wanted = target.velocity + self.gain * np.concatenate(apart, axis=-1)
        J = self.robot.jacobian(position)
        J_T = np.swapaxes(J, -1, -2)
        damped = np.linalg.solve(J @ J_T + self.damping**2 * np.eye(6), wanted[..., None])
        return np.asarray((J_T @ damped)[..., 0])

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        acceleration = times(self.kv, self.rates(position, target) - velocity)
        return self.robot.inverse_dynamics(position, velocity, acceleration)


def turn_between(here: Array, there: Array) -> Array:
    """The rotation vector, world axes, that turns `here` into `there`, for turns up to half a turn."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(there @ np.swapaxes(here, -1, -2)).as_rotvec())
