"""The state of a robot as one vector for the integrators: joint coordinates, or a place and a quaternion.

A platform's orientation is integrated as a rotation: no angles, no special orientation. States are (m,) or (..., m).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tauforge.algebra.rotations import Quaternion, angles_of, quaternion_of
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Vector
from tauforge.arrays import Array
from tauforge.control.controller import Robot
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.stewart.stewart_platform import StewartPlatform

FAR = 1e9  # rad, m and their rates: beyond, angles have lost their digits, kernels know no sines, a motion has run away


def ran_away(states: Array) -> Array:
    """Which of the states (..., m) are beyond FAR or no numbers, (...)."""
    return np.asarray(~(np.abs(states) <= FAR).all(axis=-1))


class StateSpace(Protocol):
    """y and what it means."""

    n: int

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
        return np.concatenate([position, velocity], axis=-1)

    def position(self, y: Array) -> Array:
        return y[..., : self.n]

    def velocity(self, y: Array) -> Array:
        return y[..., self.n :]

    def rates(self, y: Array, acceleration: Array) -> Array:
        return np.concatenate([y[..., self.n :], acceleration], axis=-1)

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
        quaternion = quaternion_of(Vector(*_components(position[..., 3:])))
        return np.concatenate([position[..., :3], np.stack(list(quaternion), axis=-1), velocity], axis=-1)

    def position(self, y: Array) -> Array:
        angles = angles_of(Quaternion(*_components(y[..., 3:7])).rotation())
        return np.concatenate([y[..., :3], np.stack(list(angles), axis=-1)], axis=-1)

    def velocity(self, y: Array) -> Array:
        return y[..., 7:]

    def rates(self, y: Array, acceleration: Array) -> Array:
        w, x, yy, z = _components(y[..., 3:7])
        a, b, c = (0.5 * component for component in _components(y[..., 10:]))
        turning = [
            -(a * x + b * yy + c * z),
            a * w + b * z - c * yy,
            b * w + c * x - a * z,
            c * w + a * yy - b * x,
        ]
        return np.concatenate([y[..., 7:10], np.stack(turning, axis=-1), acceleration], axis=-1)

    def acceleration(self, position: Array, velocity: Array, force: Array, wrench: Array | None) -> Array:
        if wrench is None:
            return self.robot.forward_dynamics(position, velocity, force)
        return self.robot.forward_dynamics(position, velocity, force, external_wrench=wrench)

    def renewed(self, y: Array) -> Array:
        """With the quaternion's length set back to one."""
        y = y.copy()
        y[..., 3:7] /= np.linalg.norm(y[..., 3:7], axis=-1, keepdims=True)
        return y


def _components(x: Array) -> list[Scalar]:
    """Plain numbers of one state, which are many times quicker than arrays; columns of several."""
    return x.tolist() if x.ndim == 1 else list(np.moveaxis(x, -1, 0))


def state_space(robot: Robot) -> ArmState | PlatformState:
    return ArmState(robot) if isinstance(robot, SerialArm) else PlatformState(robot)
