"""The state of a robot as one vector for the integrators: joint coordinates, or a place and a quaternion.

A platform's orientation is integrated as a rotation: no angles, no special orientation.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tauforge.algebra.rotations import Quaternion, angles_of, quaternion_of
from tauforge.algebra.vectors import Vector
from tauforge.control.controller import Robot
from tauforge.robots.serial_arm import SerialArm
from tauforge.robots.stewart_platform import StewartPlatform

Array = NDArray[Any]


class StateSpace(Protocol):
    """y and what it means."""

    def pack(self, position: Array, velocity: Array) -> Array: ...

    def position(self, y: Array) -> Array: ...

    def velocity(self, y: Array) -> Array: ...

    def rates(self, y: Array, acceleration: Array) -> Array: ...

    def acceleration(self, position: Array, velocity: Array, force: Array, wrench: Array | None) -> Array: ...

    def renewed(self, y: Array) -> Array: ...


class ArmState:
    """y = q, qd."""

    def __init__(self, arm: SerialArm) -> None:
        self.robot, self.n = arm, arm.n

    def pack(self, position: Array, velocity: Array) -> Array:
        return np.concatenate([position, velocity])

    def position(self, y: Array) -> Array:
        return y[: self.n]

    def velocity(self, y: Array) -> Array:
        return y[self.n :]

    def rates(self, y: Array, acceleration: Array) -> Array:
        return np.concatenate([y[self.n :], acceleration])

    def acceleration(self, position: Array, velocity: Array, force: Array, wrench: Array | None) -> Array:
        if wrench is None:
            return self.robot.forward_dynamics(position, velocity, force)
        return self.robot.forward_dynamics(position, velocity, force, tip_wrench=wrench)

    def renewed(self, y: Array) -> Array:
        return y


class PlatformState:
    """y = x, y, z, a unit quaternion, v, omega."""

    def __init__(self, platform: StewartPlatform) -> None:
        self.robot, self.n = platform, 6

    def pack(self, position: Array, velocity: Array) -> Array:
        quaternion = quaternion_of(Vector(*map(float, position[3:])))
        return np.concatenate([position[:3], np.array(quaternion), velocity])

    def position(self, y: Array) -> Array:
        angles = angles_of(Quaternion(*map(float, y[3:7])).rotation())
        return np.array([y[0], y[1], y[2], *angles])

    def velocity(self, y: Array) -> Array:
        return y[7:]

    def rates(self, y: Array, acceleration: Array) -> Array:
        w, x, yy, z = map(float, y[3:7])
        a, b, c = (0.5 * float(component) for component in y[10:])
        turning = [
            -(a * x + b * yy + c * z),
            a * w + b * z - c * yy,
            b * w + c * x - a * z,
            c * w + a * yy - b * x,
        ]
        return np.concatenate([y[7:10], turning, acceleration])

    def acceleration(self, position: Array, velocity: Array, force: Array, wrench: Array | None) -> Array:
        if wrench is None:
            return self.robot.forward_dynamics(position, velocity, force)
        return self.robot.forward_dynamics(position, velocity, force, external_wrench=wrench)

    def renewed(self, y: Array) -> Array:
        """With the quaternion's length set back to one."""
        y = y.copy()
        y[3:7] /= np.linalg.norm(y[3:7])
        return y


def state_space(robot: Robot) -> ArmState | PlatformState:
    return ArmState(robot) if isinstance(robot, SerialArm) else PlatformState(robot)
