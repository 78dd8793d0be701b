"""The state of a robot as one vector for the integrators. States are (m,) or (..., m)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tauforge.arrays import Array


class StateSpace(Protocol):
    """y and what it means.

    1. `pack` makes y from a position and a velocity, `position` and `velocity` take it apart.
    2. `rates` gives y' from y and the acceleration; `velocity` of y' is that acceleration.
    3. `renewed` puts right what rounding does to y between two steps, such as the length of a quaternion.
    """

    def pack(self, position: Array, velocity: Array) -> Array: ...

    def position(self, y: Array) -> Array: ...

    def velocity(self, y: Array) -> Array: ...

    def rates(self, y: Array, acceleration: Array) -> Array: ...

    def renewed(self, y: Array) -> Array: ...


class PlainState:
    """y = position, velocity, where velocities are the rates of the coordinates."""

    def __init__(self, n: int) -> None:
        self.n = n

    def pack(self, position: Array, velocity: Array) -> Array:
        return np.concatenate([position, velocity], axis=-1)

    def position(self, y: Array) -> Array:
        return y[..., : self.n]

    def velocity(self, y: Array) -> Array:
        return y[..., self.n :]

    def rates(self, y: Array, acceleration: Array) -> Array:
        return np.concatenate([y[..., self.n :], acceleration], axis=-1)

    def renewed(self, y: Array) -> Array:
        return y
