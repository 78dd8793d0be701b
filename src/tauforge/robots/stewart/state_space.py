"""The state of a platform for the integrators: position, a quaternion, which no orientation troubles, and twist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tauforge.algebra.rotations import (
    Quaternion,
    angles_of,
    normalised,
    quaternion_of,
    quaternion_rates,
    with_positive_w,
)
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import ZERO, Vector
from tauforge.arrays import Array
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.stewart.parameters import PlatformMotion
from tauforge.robots.state_space import Judged, Loads, StateFormulas, StateSpace
from tauforge.robots.stewart.formulas import forward_dynamics_at
from tauforge.robots.stewart.model import PlatformModel


@ours
class PoseState(StateSpace):
    """y = x, y, z, a unit quaternion, v, omega."""

    def pack(self, position: Array, velocity: Array) -> Array:
        return _rows(PoseFormulas().packed(None, _components(position), _components(velocity)))

    def position(self, y: Array) -> Array:
        return _rows(PoseFormulas().position(None, _components(y)))

    def velocity(self, y: Array) -> Array:
        return y[..., 7:]

    def rates(self, y: Array, acceleration: Array) -> Array:
        return _rows([*placement_rates(_components(y)), *_components(acceleration)])

    def renewed(self, y: Array) -> Array:
        return _rows(PoseFormulas().renewed(None, _components(y)).values)

    @property
    def formulas(self) -> StateFormulas | None:
        return PoseFormulas() if type(self) is PoseState else None


def _components(x: Array) -> list[Scalar]:
    """Plain numbers of one state, which are many times quicker than arrays; columns of several."""
    return x.tolist() if x.ndim == 1 else list(np.moveaxis(x, -1, 0))


def _rows(components: Scalars) -> Array:
    return np.moveaxis(np.array(components), 0, -1)


class PoseFormulas:
    """y as in `PoseState`, over any scalars. The quaternion has w >= 0 after every step, as where it begins.

    So the same pose is the same state, and a gradient by the one is the gradient by the other.
    """

    parts: Mapping[str, int] = {"placement": 7, "twist": 6}
    float64_for = ""

    def packed(self, model: Any, position: Scalars, velocity: Scalars) -> list[Scalar]:
        return [*position[:3], *with_positive_w(quaternion_of(Vector(*position[3:]))), *velocity]

    def position(self, model: Any, y: Scalars) -> list[Scalar]:
        return [*y[:3], *angles_of(normalised(Quaternion(*y[3:7])).rotation())]

    def velocity(self, y: Scalars) -> list[Scalar]:
        return list(y[7:])

    def rates(self, model: PlatformModel, y: Scalars, force: Scalars, loads: Loads) -> Judged:
        """The quaternion need not have length one: between the stages of a step it does not."""
        R, v, omega = normalised(Quaternion(*y[3:7])).rotation(), Vector(*y[7:10]), Vector(*y[10:])
        motion = PlatformMotion(Vector(*y[:3]), R, v, omega, ZERO, ZERO)
        acceleration, doubt = forward_dynamics_at(model, motion, force, **loads)
        return Judged([*placement_rates(y), *acceleration], suspicions=(doubt(),))

    def renewed(self, model: Any, y: Scalars) -> Judged:
        return Judged([*y[:3], *with_positive_w(normalised(Quaternion(*y[3:7]))), *y[7:]])

    def at(self, model: Any, coordinates: Scalars, near: Scalars) -> Judged:
        return Judged(list(coordinates))


def placement_rates(y: Scalars) -> list[Scalar]:
    return [*y[7:10], *quaternion_rates(Quaternion(*y[3:7]), Vector(*y[10:]))]
