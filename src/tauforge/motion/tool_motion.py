"""A motion of an arm's tool as a motion of its joints, by inverse kinematics along the whole motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ConvergenceError, ShapeError, SingularityError, UnsupportedFeatureError
from tauforge.evaluation.functions import has
from tauforge.motion.motion import Motion, coordinates, positive
from tauforge.robots.poses import transforms
from tauforge.robots.robot import check_robot
from tauforge.robots.serial.formulas import INVERSE_KINEMATICS_STEPS
from tauforge.robots.serial.inverse_kinematics import CALLS_PER_START, POSE_TOLERANCE, approached

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm

POSITION_TOLERANCE = POSE_TOLERANCE / 100  # so that rates that follow from positions are as exact as the tolerance says
SINGULAR_JACOBIAN = 1e8  # condition number of the Jacobian above which joint rates are not determined
TWIST_TOLERANCE = 1e-7  # m/s and rad/s, relative to 1 + the tool's speed: error that an arm with few joints may leave


class ToolMotion(Motion):
    """The joints of an arm whose tool follows a motion of poses (world axes, R = Rz Ry Rx).

    arm:    with at most six joints, because the tool does not determine more
    motion: of poses, such as `StraightLine` or `PoseMotion`
    guess:  (n,) joint coordinates near the start, which choose among the arm's postures
    knots:  s, between the poses at which inverse kinematics is solved when the motion is constructed

    Identity: forward_kinematics(position) is the pose, and the Jacobian times velocity its twist. It raises
    ConvergenceError if a pose is out of reach or beyond the arm's limits, and SingularityError if the motion passes a
    singular posture.
    """

    def __init__(self, arm: SerialArm, motion: Motion, guess: ArrayLike | None = None, *, knots: float = 0.01) -> None:
        if not has(check_robot("arm", arm), "forward_kinematics", "jacobian"):
            remedy = "Give the motion of poses to the platform itself"
            raise UnsupportedFeatureError("a tool motion needs an arm", field="arm", remedy=remedy)
        if arm.n > 6:
            problem = f"the pose of the tool does not determine the {arm.n} joints of {arm.name}"
            raise UnsupportedFeatureError(problem, field="arm", remedy="Use control.ResolvedRate")
        if not isinstance(motion, Motion) or not motion.of_poses:
            hint = "Wrap a motion of x, y, z, theta_x, theta_y, theta_z and their rates in motion.PoseMotion"
            raise ShapeError("motion", expected="a motion of poses, such as StraightLine", got=repr(motion), hint=hint)
        self.arm, self.motion, self.duration = arm, motion, motion.duration
        count = max(2, int(np.ceil(self.duration / positive("knots", knots))) + 1)
        self._times = np.linspace(0.0, self.duration, count)
        start = None if guess is None else coordinates("guess", guess)
        self._knots = self._followed(motion.sample(self._times).position, start)

    def _followed(self, poses: Array, guess: Array | None) -> Array:
        """(k, n), each found from the one before, so that it never jumps from one posture to another."""
        tools = transforms(poses)
        q = self.arm.inverse_kinematics(tools[0], guess)[None]
        lower, upper = self.arm.limits.T
        found = []
        for t, tool in zip(self._times, tools, strict=True):
            q, (missing,) = approached(self.arm, tool[None], q, POSITION_TOLERANCE)
            if not missing <= POSE_TOLERANCE or (q < lower).any() or (q > upper).any():
                why = "beyond the limits of its joints" if missing <= POSE_TOLERANCE else "out of reach"
                problem = f"{self.arm.name} cannot follow: the pose at t = {t:.6g} s is {why}"
                steps = CALLS_PER_START * INVERSE_KINEMATICS_STEPS
                raise ConvergenceError(problem, residual=float(missing), iterations=steps)
            found.append(q[0])
        return np.array(found)

    def _solved(self, q: Array, wanted: Array) -> Array:
        """x with J x = wanted, by least squares, (..., n)."""
        U, singular_values, V = np.linalg.svd(self.arm.jacobian(q), full_matrices=False)
        condition = singular_values[..., 0] / np.maximum(singular_values[..., -1], np.finfo(float).tiny)
        if (condition > SINGULAR_JACOBIAN).any():
            worst = int(np.argmax(condition))
            posture, number = q.reshape(-1, self.arm.n)[worst].tolist(), float(condition.ravel()[worst])
            problem = f"{self.arm.name} cannot follow the motion through a singular posture"
            raise SingularityError(problem, pose=posture, condition_number=number)
        within = (np.swapaxes(U, -1, -2) @ wanted[..., None]) / singular_values[..., None]
        return np.asarray((np.swapaxes(V, -1, -2) @ within)[..., 0])

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        times = np.nan_to_num(t.ravel())
        pose, twist, acceleration = (x.reshape(-1, 6) for x in self.motion._within(times))
        near = np.stack([np.interp(times, self._times, knots) for knots in self._knots.T], axis=-1)
        q, _ = approached(self.arm, transforms(pose), near, POSITION_TOLERANCE)
        qd = self._solved(q, twist)
        J = self.arm.jacobian(q)
        missed = np.abs((J @ qd[..., None])[..., 0] - twist).max(initial=0.0)
        if missed > TWIST_TOLERANCE * (1 + np.abs(twist).max(initial=0.0)):
            problem = f"{self.arm.name} cannot turn its tool as the motion requires"
            raise ConvergenceError(problem, residual=float(missed), iterations=0)
        qdd = self._solved(q, acceleration - bias_acceleration(J, qd))
        spoilt = np.where(np.isnan(t), np.nan, 0.0)[..., None]
        shape = (*t.shape, self.arm.n)
        return q.reshape(shape) + spoilt, qd.reshape(shape) + spoilt, qdd.reshape(shape) + spoilt

    def __repr__(self) -> str:
        return f"ToolMotion({self.arm.name}, {self.motion!r})"


def bias_acceleration(J: Array, qd: Array) -> Array:
    """J' qd (..., 6), from the columns of J (..., 6, n) alone: the axis of joint k, and the tool's velocity by joint k,
    turn with every joint i <= k.
    """
    v, w = np.swapaxes(J[..., :3, :], -1, -2), np.swapaxes(J[..., 3:, :], -1, -2)  # (..., n, 3)
    v, w = v * qd[..., None], w * qd[..., None]
    turned = np.cumsum(w, axis=-2) - w  # omega of the link before each joint
    linear, angular = 2 * np.cross(turned, v) + np.cross(w, v), np.cross(turned, w)
    return np.concatenate([linear.sum(axis=-2), angular.sum(axis=-2)], axis=-1)
