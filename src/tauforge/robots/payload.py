"""What acts on a robot besides its motors: payloads and a moving base."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.errors import ShapeError
from tauforge.field_docs import with_field_docs
from tauforge.robots.physical import warn_of_faults
from tauforge.robots.validation import SYMMETRY_TOLERANCE, rows

SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class Payload:
    """A body held by the tool of an arm or by a platform: an argument of a call, not a change of the robot.

    mass:    (...,)      kg
    com:     (..., 3)    m, in the tool frame, or the platform's
    inertia: (..., 3, 3) kg m^2, about its centre of mass, axes of that frame; (3,) principal moments; default none
    Leading dimensions are a payload per batch row.
    """

    def __init__(self, mass: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None) -> None:
        self.mass = _real("payload mass", mass)
        self.com = _vector("payload com", com)
        tensor = _real("payload inertia", np.zeros((3, 3)) if inertia is None else inertia)
        if tensor.shape == (3,):
            tensor = np.diag(tensor)
        if tensor.shape[-2:] != (3, 3):
            raise ShapeError("payload inertia", expected="(3,) or (..., 3, 3)", got=str(tensor.shape))
        if (self.mass < 0).any():
            raise ShapeError("payload mass", expected="numbers >= 0", got=f"{self.mass.min()}")
        other = np.swapaxes(tensor, -1, -2)
        if (np.abs(tensor - other).max() > SYMMETRY_TOLERANCE * np.abs(tensor).max()).any():
            raise ShapeError("payload inertia", expected="a symmetric tensor", got=f"{tensor.tolist()}")
        self.inertia = (tensor + other) / 2
        _broadcast("payload", {"mass": self.mass, "com": self.com[..., 0], "inertia": self.inertia[..., 0, 0]})
        for row in self.inertia.reshape(-1, 3, 3):
            if np.isfinite(row).all():
                warn_of_faults("payload", {"body": rows(row)}, ())

    def numbers(self) -> NDArray[Any]:
        """(..., 10): mass, com, Ixx, Ixy, Ixz, Iyy, Iyz, Izz."""
        parts = [self.mass[..., None], self.com]
        parts += [self.inertia[..., a, b][..., None] for a, b in SYMMETRIC]
        shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        return np.concatenate([np.broadcast_to(part, shape + part.shape[-1:]) for part in parts], axis=-1)

    def __repr__(self) -> str:
        return f"Payload(mass={self.mass!r}, com={self.com!r}, inertia={self.inertia!r})"


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

    def numbers(self) -> NDArray[Any]:
        """(..., 9)."""
        parts = {name: _vector(f"base_motion.{name}", value) for name, value in zip(self._fields, self, strict=True)}
        shape = _broadcast("base_motion", {name: part[..., 0] for name, part in parts.items()})
        return np.concatenate([np.broadcast_to(part, (*shape, 3)) for part in parts.values()], axis=-1)


def _broadcast(name: str, parts: dict[str, NDArray[Any]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(part.shape for part in parts.values()))
    except ValueError:
        shapes = ", ".join(f"{field} {part.shape}" for field, part in parts.items())
        raise ShapeError(name, expected="leading shapes that broadcast together", got=shapes) from None


def _vector(name: str, value: ArrayLike) -> NDArray[Any]:
    v = _real(name, value)
    if v.shape[-1:] != (3,):
        raise ShapeError(name, expected="(..., 3)", got=str(v.shape))
    return v


def _real(name: str, value: ArrayLike) -> NDArray[Any]:
    """Real numbers; what is not finite spoils its own row, as in a state."""
    try:
        result = np.asarray(value)
        if result.dtype.kind not in "iuf":
            raise ValueError
    except ValueError:
        raise ShapeError(name, expected="numbers", got=f"{value!r}") from None
    return result if result.dtype == np.float32 else result.astype(np.float64)
