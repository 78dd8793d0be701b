"""Proportional and derivative control, alone and with forces from the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import (
    Controller,
    Robot,
    check_pull,
    coordinate_count,
    gain_matrix,
    model_forces,
    times,
)
from tauforge.motion.motion import MotionSample
from tauforge.robots.own_classes import recorded
from tauforge.robots.stewart.stewart_platform import StewartPlatform


@recorded
class PD(Controller):
    """Kp e + Kv e' of each actuator's own coordinate: joints of an arm, leg lengths of a platform.

    kp, kv: a number, n numbers or an (n, n) matrix: N m/rad and N m s/rad, or N/m and N s/m; gains that increase an
            error are refused
    """

    compiles = True

    def __init__(self, robot: Robot, kp: ArrayLike, kv: ArrayLike) -> None:
        n = coordinate_count(robot)
        self.robot = robot
        self.kp, self.kv = gain_matrix("kp", kp, n), gain_matrix("kv", kv, n)
        check_pull("kp", self.kp)
        check_pull("kv", self.kv)

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        e, e_dot = target.position - position, target.velocity - velocity
        if isinstance(self.robot, StewartPlatform):
            here, there = (self.robot.leg_motion(x, v) for x, v in ((position, velocity), target[:2]))
            e, e_dot = there.lengths - here.lengths, there.rates - here.rates
        return times(self.kp, e) + times(self.kv, e_dot)


@recorded
class GravityPD(PD):
    """PD and the forces that hold the robot at its position."""

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        if isinstance(self.robot, StewartPlatform):
            hold = model_forces(self.robot, position, np.zeros(6), np.zeros(6))
        else:
            hold = self.robot.gravity_forces(position)
        return super().force(t, position, velocity, target) + hold


@recorded
class FeedforwardPD(PD):
    """PD and the forces that the motion itself needs, by the model."""

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        return super().force(t, position, velocity, target) + self.robot.inverse_dynamics(*target)
