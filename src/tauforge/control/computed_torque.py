"""Computed torque: Lee, Chung, Mudge & Turney 1982, L4.1, in its Newton-Euler form L4.4.

The forces are one call of inverse dynamics with the corrected acceleration qdd_d + Kv (qd_d - qd) + Kp (q_d - q) (L4.4
as it is meant: the correction replaces the acceleration). With a perfect model and continuous control the error then
follows e'' + Kv e' + Kp e = 0 (L4.2, L4.3) in the robot's coordinates: those of a platform are x, y, z and the angles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_number, real_numbers
from tauforge.control.controller import (
    GAIN_ROUNDING,
    Controller,
    Feedback,
    check_actuated,
    check_has,
    check_inverse_dynamics,
    gain_matrix,
    pulling_matrix,
    times,
)
from tauforge.control.model_based import MeasuredWrench, ModelBasedLaw
from tauforge.errors import ModelError
from tauforge.evaluation.unmodified import ours
from tauforge.motion.motion import MotionSample, positive
from tauforge.robots.formulations import forces_by_rows
from tauforge.robots.robot import Robot, check_robot
from tauforge.validation import shown

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm
    from tauforge.robots.stewart.stewart_platform import StewartPlatform


@ours
class ComputedTorque(ModelBasedLaw):
    """robot: the controller's own model, which may differ from the plant's; it has an actuator for every coordinate.

    kp, kv:      a number, n numbers or an (n, n) matrix, 1/s^2 and 1/s
    formulation: of inverse dynamics, one of `robot.formulations`; default that of a plain call
    wrench:      what the environment exerts on the tool (world axes) or on the platform (base axes), as a sensor
                 measures it (Turney, Mudge & Lee 1980, after 3.21): a function of (t, position, velocity), which is
                 asked whenever the law is, or (6,) N and N m
    check:       refuse gains that violate the paper's conditions of stability (after L4.3)
    """

    def __init__(
        self,
        robot: Robot,
        kp: ArrayLike = 100.0,
        kv: ArrayLike = 20.0,
        *,
        formulation: str | None = None,
        wrench: MeasuredWrench = None,
        check: bool = True,
    ) -> None:
        super().__init__(robot, formulation, wrench)
        self.kp, self.kv = gain_matrix("kp", kp, robot.n), gain_matrix("kv", kv, robot.n)
        if check:
            check_gains(self.kp, self.kv)

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        e, e_dot, second = self.errors(position, velocity, target)
        return self.forces(t, position, velocity, second + times(self.kv, e_dot) + times(self.kp, e))  # L4.4

    def feedback(self) -> Feedback:
        return Feedback(self.kp, self.kv)


def gains(natural_frequency: ArrayLike, damping: ArrayLike = 1.0) -> tuple[Array, Array]:
    """kp = w^2 and kv = 2 d w, with which errors under computed torque follow e'' + 2 d w e' + w^2 e = 0 (Lee sec. 5).

    natural_frequency: w, rad/s, a number or (n,), one for each coordinate
    damping:           d, 1 where an error dies out without overshooting as fast as it can
    """
    w, d = (_positive("natural_frequency", natural_frequency), _positive("damping", damping))
    return np.asarray(w**2), np.asarray(2.0 * d * w)


def _positive(name: str, given: ArrayLike) -> Array:
    try:
        found = real_numbers(given).astype(float)
    except ValueError:
        found = np.array(np.nan)
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise ModelError(f"expected numbers > 0, got {shown(given)}", field=name)
    return found


def check_gains(kp: Array, kv: Array) -> None:
    """(a) Kv symmetric and non-negative definite, (b) Kp symmetric and positive definite, (c) [Kv | Kp Kv | ...] of
    full rank: the error then converges to zero.
    """

    def check(name: str, holds: bool, condition: str) -> None:
        if not holds:
            problem = f"condition {condition}"
            raise ModelError(problem, field=name, remedy="Give other gains, or check=False")

    n = len(kp)
    for name, K in (("kv", kv), ("kp", kp)):
        symmetric = np.abs(K - K.T).max() <= GAIN_ROUNDING * np.abs(K).max(initial=0.0)
        check(name, symmetric, "of stability: the gain matrix must be symmetric")
    least = -GAIN_ROUNDING * np.abs(kv).max(initial=0.0)
    check("kv", np.linalg.eigvalsh(kv).min() >= least, "(a) of stability: the matrix must be non-negative definite")
    check("kp", np.linalg.eigvalsh(kp).min() > 0, "(b) of stability: the matrix must be positive definite")
    scaled = kp / np.abs(kp).max()
    blocks = [kv]
    for _ in range(n - 1):
        blocks.append(scaled @ blocks[-1])
    whole = bool(np.linalg.matrix_rank(np.hstack(blocks)) == n)
    check("kv", whole, "(c) of stability: [Kv | Kp Kv | ...] must have full rank, or some error is never damped")


class LegSpaceComputedTorque(Controller):
    """robot: the controller's own model; kp, kv: a number, 6 numbers or a (6, 6) matrix, 1/s^2 and 1/s.

    resolution: m, one step of the converters of the leg lengths; 0 for exact lengths
    """

    def __init__(
        self,
        robot: StewartPlatform,
        kp: ArrayLike = 100.0,
        kv: ArrayLike = 20.0,
        *,
        resolution: float = 0.0,
        check: bool = True,
    ) -> None:
        check_has(self, check_robot("robot", robot), "leg_motion" in robot.functions, "legs")
        check_inverse_dynamics(self, robot)
        self.robot: StewartPlatform = robot
        self.kp, self.kv = gain_matrix("kp", kp, 6), gain_matrix("kv", kv, 6)
        if check:
            check_gains(self.kp, self.kv)
        if not 0 <= real_number(resolution) < np.inf:
            raise ModelError(f"expected a length >= 0, got {resolution!r}", field="resolution")
        self.resolution = float(resolution)
        self.reset()

    def reset(self) -> None:
        self._pose: Array | None = None

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        """position and velocity represent the legs' sensors: only lengths and their rates are taken from them."""
        measured = self.robot.leg_motion(position, velocity)
        lengths = measured.lengths
        if self.resolution:
            lengths = np.round(lengths / self.resolution) * self.resolution
        guess = target.position if self._pose is None else self._pose
        lost = "raise" if lengths.ndim == 1 else "nan"  # one row of a batch must not stop the others
        pose = self._pose = self.robot.forward_kinematics(lengths, guess, on_failure=lost)
        twist = self.robot.forward_rates(pose, measured.rates)
        wanted = self.robot.leg_motion(*target)
        e, e_dot = wanted.lengths - lengths, wanted.rates - measured.rates
        asked = wanted.accelerations + times(self.kv, e_dot) + times(self.kp, e)
        _, acceleration = self.robot.forward_rates(pose, measured.rates, asked)
        return forces_by_rows(self.robot, pose, np.asarray(twist), acceleration)

    def feedback(self) -> Feedback:
        return Feedback(self.kp, self.kv)


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
        check_has(self, check_robot("robot", robot), "regressor" in robot.functions, "a regressor")
        check_actuated(self, robot)
        self.robot: SerialArm = robot
        self.rate = pulling_matrix("rate", rate, robot.n)
        own = self.rate @ np.diag(np.diag(robot.mass_matrix(np.zeros(robot.n))))
        self.damping = own if damping is None else pulling_matrix("damping", damping, robot.n)
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
