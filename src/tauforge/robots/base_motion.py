"""Motion of the base that a robot stands on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.evaluation.array_libraries import common_arrays, joined, library_of
from tauforge.evaluation.functions import Argument
from tauforge.field_docs import with_field_docs
from tauforge.validation import broadcast_shape, real_vectors


@with_field_docs
class BaseMotion(NamedTuple):
    """Motion of the base frame, each (..., 3): world axes for an arm, base axes for a platform.

    A platform's base axes are the world's axes at the instant; its gravity is given in them too.

    angular_velocity:     rad/s, of the base frame
    angular_acceleration: rad/s^2, of the base frame
    linear_acceleration:  m/s^2, of the base frame's origin
    """

    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_acceleration: ArrayLike = (0.0, 0.0, 0.0)
    linear_acceleration: ArrayLike = (0.0, 0.0, 0.0)

    def numbers(self) -> Array:
        """(..., 9)."""
        if library_of(self) is not None:
            return self._of_library()
        parts = {
            name: real_vectors(f"base_motion.{name}", value) for name, value in zip(self._fields, self, strict=True)
        }
        shape = broadcast_shape("base_motion", {name: part[..., 0] for name, part in parts.items()})
        return np.concatenate([np.broadcast_to(part, (*shape, 3)) for part in parts.values()], axis=-1)

    def _of_library(self) -> Array:
        namespace, parts = common_arrays(self)
        for name, part in zip(self._fields, parts, strict=True):
            if tuple(part.shape[-1:]) != (3,):
                raise ShapeError(f"base_motion.{name}", expected="(..., 3)", got=str(tuple(part.shape)))
        broadcast_shape("base_motion", {name: part[..., 0] for name, part in zip(self._fields, parts, strict=True)})
        numbers: Array = joined(namespace, parts)
        return numbers


BASE_MOTION = Argument("base_motion", (9,), "angular velocity and acceleration, linear acceleration", BaseMotion)
