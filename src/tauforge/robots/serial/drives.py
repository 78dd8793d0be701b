"""Friction of an arm's joints, and what their sensors measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Fields, JointFriction, Sensors
from tauforge.robots.poses import pose_of
from tauforge.robots.records import Dampers

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm


@ours
class ArmFriction(JointFriction):
    """At the motors: the joints feel viscous G^2 and coulomb |G|."""

    def dampers(self, fields: Fields) -> Dampers | None:
        arm = self.robot
        if not arm.coulomb_speed:
            return None

        def number(field: str) -> Array:
            return fields.get(field, np.array([getattr(joint, field) for joint in arm.joints])[None])

        ratio = np.abs(number("gear_ratio"))
        return Dampers(ratio * number("coulomb").max(axis=-1), ratio**2 * number("viscous"), arm.coulomb_speed)


@ours
class JointSensors(Sensors):
    """The joints themselves."""

    robot: SerialArm

    def poses(self, measured: Array, guess: ArrayLike | None = None) -> Array:
        self.check_guess(guess)
        return pose_of(self.robot.forward_kinematics(measured))
