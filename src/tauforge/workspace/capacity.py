"""How heavy a body a robot can hold at rest, position by position.

Holding forces are linear in the mass that is held: F(m) = F(0) + m (F(1) - F(0)). So the largest mass follows from two
evaluations, without a search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.robots.payload import Payload
from tauforge.robots.robot import Robot
from tauforge.workspace.rules import holding_forces, knows_forces


def check_capacity(robot: Robot) -> None:
    """ModelError where no force limits tell how much the robot can hold."""
    robot.check_function("inverse_dynamics")
    if not knows_forces(robot):
        raise ModelError(f"no actuator of {robot.name} has a force limit", field="force_limit")


def capacities(robot: Robot, positions: Array, com: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """(k,) kg, the largest mass that the actuators hold at rest at positions (k, n).

    com: (3,) m of its mass centre, in the frame of the moved body
    It is 0 where the robot cannot hold itself, infinite where no actuator feels the mass, and NaN at a singular
    position. Identity: `force_share` with a payload of this mass is 1.
    """
    empty = holding_forces(robot, positions)
    slope = holding_forces(robot, positions, Payload(1.0, com)) - empty
    with np.errstate(divide="ignore", invalid="ignore"):
        # the force moves towards one of the two limits, whichever its slope says
        room = (np.sign(slope) * robot.max_forces - empty) / slope
    felt = np.abs(slope) > 0
    most = np.where(felt, room, np.inf).min(axis=-1)
    holds = (np.abs(empty) <= robot.max_forces).all(axis=-1)
    unknown = np.isnan(empty).any(axis=-1) | np.isnan(slope).any(axis=-1)
    return np.where(unknown, np.nan, np.where(holds, np.maximum(most, 0.0), 0.0))
