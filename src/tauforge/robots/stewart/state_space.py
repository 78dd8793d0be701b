"""The state of a platform for the integrators: its orientation is integrated as a rotation, without angles."""

from __future__ import annotations

import numpy as np

from tauforge.algebra.rotations import Quaternion, angles_of, quaternion_of, quaternion_rates
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Vector
from tauforge.arrays import Array
from tauforge.evaluation.unmodified import ours
from tauforge.robots.state_space import StateSpace


@ours
class PoseState(StateSpace):
    """y = x, y, z, a unit quaternion, v, omega."""

    def pack(self, position: Array, velocity: Array) -> Array:
        quaternion = quaternion_of(Vector(*_components(position[..., 3:])))
        return np.concatenate([position[..., :3], np.stack(list(quaternion), axis=-1), velocity], axis=-1)

    def position(self, y: Array) -> Array:
        angles = angles_of(Quaternion(*_components(y[..., 3:7])).rotation())
        return np.concatenate([y[..., :3], np.stack(list(angles), axis=-1)], axis=-1)

    def velocity(self, y: Array) -> Array:
        return y[..., 7:]

    def rates(self, y: Array, acceleration: Array) -> Array:
        turning = quaternion_rates(Quaternion(*_components(y[..., 3:7])), Vector(*_components(y[..., 10:])))
        return np.concatenate([y[..., 7:10], np.stack(list(turning), axis=-1), acceleration], axis=-1)

    def renewed(self, y: Array) -> Array:
        """With the quaternion's length set back to one."""
        y = y.copy()
        y[..., 3:7] /= np.linalg.norm(y[..., 3:7], axis=-1, keepdims=True)
        return y


def _components(x: Array) -> list[Scalar]:
    """Plain numbers of one state, which are many times quicker than arrays; columns of several."""
    return x.tolist() if x.ndim == 1 else list(np.moveaxis(x, -1, 0))
