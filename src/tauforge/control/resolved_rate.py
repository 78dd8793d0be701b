"""Resolved-motion-rate control (Whitney 1969): a tool that follows a motion in space, by the robot's Jacobian.

The joint rates qd_r solve J qd_r = twist_d + K (pose error) by least squares. Near a singular pose they are damped
(Nakamura & Hanafusa 1986) and bounded, so that the tool lags and the joints do not diverge. A velocity loop with the
robot's own model follows them, tau = ID(q, qd, qdd) with qdd = Kv (qd_r - qd).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller, Feedback, check_actuated, check_has, pulling_matrix, times
from tauforge.motion.motion import MotionSample, positive
from tauforge.robots.poses import pose_error, transforms
from tauforge.robots.positions import body_of
from tauforge.robots.robot import Robot, check_robot

DIVISION_GUARD = 1e-30  # avoids 0 / 0


class ResolvedRate(Controller):
    """For motions of poses: the tool's origin and its angles in the world (R = Rz Ry Rx), with twists.

    gain:    1/s, of position and orientation errors
    kv:      1/s, of the velocity loop, a number, n numbers or an (n, n) matrix
    damping: the singular value of J below which the least squares are damped and the tool lags
    fastest: rad/s or m/s, of any joint; rates beyond are scaled down together

    The robot is an arm, or a mechanism, whose tool body follows. The tool of a robot with fewer than six coordinates
    comes as near as possible; a metre counts as much as a radian.
    """

    task_space = True

    def __init__(
        self, robot: Robot, gain: float = 10.0, kv: ArrayLike = 100.0, *, damping: float = 0.05, fastest: float = 3.0
    ) -> None:
        known = check_robot("robot", robot)
        body = known.moved_body
        check_has(self, known, body is not None and body.jacobian(known.positions.default) is not None, "a Jacobian")
        check_actuated(self, known)
        self.robot = known
        self.gain, self.damping = positive("gain", gain), positive("damping", damping)
        self.fastest = positive("fastest", fastest)
        self.kv = pulling_matrix("kv", kv, robot.n)

    def rates(self, position: Array, target: MotionSample) -> Array:
        """Joint rates (..., n) that bring the tool back to the motion."""
        body = body_of(self.robot)
        tool = body.frames(position)
        apart = pose_error(transforms(target.position), tool)
        wanted = target.velocity + self.gain * apart
        jacobian = body.jacobian(position)
        assert jacobian is not None
        U, singular_values, V = np.linalg.svd(jacobian, full_matrices=False)
        near = np.maximum(1 - (singular_values[..., -1:] / self.damping) ** 2, 0.0) * self.damping**2
        squares = singular_values**2 + near + DIVISION_GUARD
        within = (np.swapaxes(U, -1, -2) @ wanted[..., None])[..., 0] * singular_values / squares
        rates = (np.swapaxes(V, -1, -2) @ within[..., None])[..., 0]
        over = np.abs(rates).max(axis=-1, keepdims=True) / self.fastest
        return np.asarray(rates / np.maximum(over, 1.0))

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        acceleration = times(self.kv, self.rates(position, target) - velocity)
        return self.robot.inverse_dynamics(position, velocity, acceleration)

    def feedback(self) -> Feedback:
        return Feedback(self.gain * self.kv, self.kv)
