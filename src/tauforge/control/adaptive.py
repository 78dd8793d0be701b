"""Adaptive computed torque (Slotine & Li 1987): the inertial parameters are learnt while the arm moves.

With s = e' + L e, the reference velocity qd_r = qd_d + L e and Y the regressor with Christoffel's C,

    tau = Y(q, qd, qdd_r, qd_r) a + K s + friction and rotors of the model,     a' = G Y' s,

and s converges to zero from any initial parameters a, because M' - 2 C is skew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller, check_actuated, check_functions, check_pull, gain_matrix, times
from tauforge.motion.motion import MotionSample, positive

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm


class AdaptiveComputedTorque(Controller):
    """robot: the model to start from; its friction and rotors are taken as known, its masses are learnt.

    rate:     L, 1/s, a number or n numbers
    damping:  K, N m s/rad, a number, n numbers or a matrix; default the rate times each joint's own inertia with the
              joints at 0, which is stable for a sampled controller
    learning: G, of every inertial parameter, relative to the magnitude of the robot's own; it is reduced where the
              motion is too fast for the period
    period:   s, between two calls: the control period of the simulation
    """

    def __init__(
        self,
        robot: SerialArm,
        rate: ArrayLike = 10.0,
        damping: ArrayLike | None = None,
        *,
        learning: float = 0.01,
        period: float,
    ) -> None:
        check_functions(self, robot, regressor="a regressor")
        check_actuated(self, robot)
        self.robot: SerialArm = robot
        self.rate = gain_matrix("rate", rate, robot.n)
        check_pull("rate", self.rate)
        own = self.rate @ np.diag(np.diag(robot.mass_matrix(np.zeros(robot.n))))
        self.damping = own if damping is None else gain_matrix("damping", damping, robot.n)
        if damping is not None:
            check_pull("damping", self.damping)
        self.learning = positive("learning", learning)
        self.period: float = positive("period", period)
        own = robot.inertial_parameters.reshape(robot.n, 10)
        groups = (slice(0, 1), slice(1, 4), slice(4, 10))  # masses, first moments, second moments: different units
        magnitude = np.concatenate(
            [np.full((robot.n, g.stop - g.start), np.abs(own[:, g]).max() or 1.0) for g in groups], axis=1
        )
        self._scale = magnitude.ravel() ** 2
        self.reset()

    def reset(self) -> None:
        self.parameters = np.array(self.robot.inertial_parameters)

    def _bounded(self, position: Array, Y: Array) -> Array:
        """period x learning, reduced where a sample would overshoot. Learning acts on s like a spring of stiffness
        Y G Y', and a mass M on such a spring is stable under sampling while period^2 |M^-1 Y G Y'| is small.
        """
        rate = self.period * self.learning
        stiffness = self.learning * (Y * self._scale) @ np.swapaxes(Y, -1, -2)
        quick = np.linalg.solve(self.robot.mass_matrix(position), stiffness)
        return np.asarray(rate / (1 + self.period**2 * np.trace(quick, axis1=-2, axis2=-1)))[..., None]

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        e, e_dot = target.position - position, target.velocity - velocity
        s = e_dot + times(self.rate, e)
        reference = target.velocity + times(self.rate, e)
        slope = target.acceleration + times(self.rate, e_dot)
        Y = self.robot.regressor(position, velocity, slope, qd_ref=reference)
        gradient = np.einsum("...ij,...i->...j", Y, s)
        self.parameters = self.parameters + self._bounded(position, Y) * self._scale * gradient
        drives = [joint.motor_inertia * joint.gear_ratio**2 for joint in self.robot.joints]
        known = np.array(drives) * slope + self.robot.friction_forces(velocity)
        return np.asarray(np.einsum("...ij,...j->...i", Y, self.parameters) + times(self.damping, s) + known)
