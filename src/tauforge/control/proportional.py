"""Proportional and derivative control, alone and with forces from the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import (
    Controller,
    Feedback,
    check_actuator_motion,
    check_inverse_dynamics,
    pulling_matrix,
    times,
)
from tauforge.evaluation.unmodified import ours
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot, check_robot

WITHOUT_MODEL = "Use PD, which needs no forces of the model, or a law of your own"


@ours
class PD(Controller):
    """Kp e + Kv e' of each actuator's own coordinate: joints of an arm, leg lengths of a platform.

    kp, kv: a number, m numbers or an (m, m) matrix for m actuators: N m/rad and N m s/rad, or N/m and N s/m; gains that
            drive an error further away are refused
    """

    traceable = True

    def __init__(self, robot: Robot, kp: ArrayLike, kv: ArrayLike) -> None:
        self.robot = check_robot("robot", robot)
        check_actuator_motion(self, robot)
        m = len(robot.actuators)
        self.kp, self.kv = pulling_matrix("kp", kp, m), pulling_matrix("kv", kv, m)

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        place, rate = self.robot.sensors.motion(position, velocity)
        wanted, wanted_rate = self.robot.sensors.motion(target.position, target.velocity)
        return times(self.kp, wanted - place) + times(self.kv, wanted_rate - rate)

    def feedback(self) -> Feedback:
        return Feedback(self.kp, self.kv, of_forces=True)


@ours
class GravityPD(PD):
    """PD and the forces that hold the robot at its position. The actuators must be able to."""

    def __init__(self, robot: Robot, kp: ArrayLike, kv: ArrayLike) -> None:
        super().__init__(robot, kp, kv)
        check_inverse_dynamics(self, robot, WITHOUT_MODEL)

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        return super().force(t, position, velocity, target) + self.robot.holding_forces(position)

    feedback = PD.feedback  # what the model adds hardly depends on the errors


@ours
class FeedforwardPD(PD):
    """PD and the forces that the motion itself needs, by the model. The actuators must be able to give them."""

    def __init__(self, robot: Robot, kp: ArrayLike, kv: ArrayLike) -> None:
        super().__init__(robot, kp, kv)
        check_inverse_dynamics(self, robot, WITHOUT_MODEL)

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        wanted = self.robot.positions.at(target.position, near=position)
        needed = self.robot.inverse_dynamics(wanted, target.velocity, target.acceleration)
        return np.asanyarray(super().force(t, position, velocity, target) + needed)

    feedback = PD.feedback  # what the model adds hardly depends on the errors
