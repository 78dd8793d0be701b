"""Computed torque of a platform in the lengths of its legs, which its sensors measure.

The pose is found from the lengths by forward kinematics, starting from the previous pose. Errors are those of the
lengths: l_d'' + Kv (l_d' - l') + Kp (l_d - l) is the acceleration required of the legs, and the platform's acceleration
and the forces follow from it. With a perfect model each leg's error converges to zero independently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_number
from tauforge.control.computed_torque import check_gains
from tauforge.control.controller import (
    Controller,
    Feedback,
    check_functions,
    check_inverse_dynamics,
    gain_matrix,
    times,
)
from tauforge.errors import ModelError
from tauforge.motion.motion import MotionSample
from tauforge.robots.formulations import forces_by_rows

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform


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
        check_functions(self, robot, leg_motion="legs")
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
