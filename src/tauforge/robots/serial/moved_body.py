"""The tool of an arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.condition import by_singular_values, check_length
from tauforge.evaluation.unmodified import ours
from tauforge.robots.positions import MovedBody, Scalars
from tauforge.robots.serial import inverse_kinematics as ik
from tauforge.robots.serial.functions import jacobian
from tauforge.robots.serial.model import ArmModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tauforge.robots.serial.serial_arm import SerialArm


@ours
class Tool(MovedBody):
    """The tool, which the Jacobian is about."""

    robot: SerialArm
    name = "tool"

    def frames(self, position: Array) -> Array:
        return self.robot.forward_kinematics(position)

    def towards(self, pose: Array, near: Array) -> Array:
        return ik.towards(self.robot, pose, near)

    def jacobian(self, position: Array) -> Array:
        return self.robot.jacobian(position)

    def condition(self, position: Array, characteristic_length: float | None = None) -> Array:
        if characteristic_length is None:
            return self.robot.condition_number(position)
        scale = np.repeat([1.0, check_length(characteristic_length)], 3)
        return by_singular_values(self.jacobian(position) * scale[:, None])

    def velocity_matrix(self, model: ArmModel, position: Scalars) -> Sequence[Scalars]:
        return jacobian(model, position)
