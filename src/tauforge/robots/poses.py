"""Poses, their rates and twists as arrays. Angles become angular velocities, and back, only here.

A pose is (..., 6): x, y, z, theta_x, theta_y, theta_z with R = Rz Ry Rx; a twist v, omega; an acceleration v', omega'.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.rotations import (
    angle_accelerations,
    angle_rates,
    angles_of,
    angular_acceleration,
    angular_velocity,
    rotation_of,
    rotation_vector,
)
from tauforge.algebra.scalars import FoldingScalar, Scalar, absolute, cos, is_number, select
from tauforge.algebra.vectors import Matrix, Vector
from tauforge.arrays import Array, real_numbers
from tauforge.errors import ShapeError

QUARTER_TURN = 1e-12  # cosine of theta_y below which angles have no rates


def twists(pose: ArrayLike, rates: ArrayLike, accelerations: ArrayLike | None = None) -> tuple[Array, Array]:
    """Twist and acceleration, each (..., 6), from the time derivatives of a pose's six coordinates."""
    p, r, a = _aligned(pose, rates, np.zeros(6) if accelerations is None else accelerations)
    theta, theta_dot, theta_ddot = _angles(p), _angles(r), _angles(a)
    omega = angular_velocity(theta, theta_dot)
    alpha = angular_acceleration(theta, theta_dot, theta_ddot)
    return _joined(r, omega), _joined(a, alpha)


def pose_rates(pose: ArrayLike, twist: ArrayLike, acceleration: ArrayLike | None = None) -> tuple[Array, Array]:
    """First and second time derivatives of a pose's six coordinates. Identity: undoes `twists`.

    They are not finite where theta_y is a quarter turn.
    """
    p, t, a = _aligned(pose, twist, np.zeros(6) if acceleration is None else acceleration)
    theta = _angles(p)
    traced = p.dtype == object  # scalars that record cannot be compared
    upright = np.zeros(p.shape[:-1], bool) if traced else np.abs(np.cos(p[..., 4])) < QUARTER_TURN
    if p.ndim == 1 and upright:
        return np.full(6, np.nan), np.full(6, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = angle_rates(theta, _angles(t))
        if traced:
            none: Scalar = select(absolute(cos(theta.y)), QUARTER_TURN, math.nan, 0.0)
            rates = rates + Vector(none, none, none)
        found = _joined(t, rates), _joined(a, angle_accelerations(theta, rates, _angles(a)))
    if np.any(upright):
        for result in found:
            result[upright] = np.nan
    return found


def pose_of(transform: ArrayLike) -> Array:
    """(..., 6) from (..., 4, 4). Identity: its rotation and translation are the transform's."""
    T = np.asarray(transform, float)
    angles = angles_of(Matrix.of([[T[..., i, j] for j in range(3)] for i in range(3)]))
    return np.concatenate([T[..., :3, 3], np.stack([np.asarray(a) for a in angles], axis=-1)], axis=-1)


def transforms(poses: Array) -> Array:
    """(..., 4, 4) of poses (..., 6). Identity: undoes `pose_of`."""
    R = rotation_of(Vector(*np.moveaxis(poses[..., 3:], -1, 0)))
    result = np.zeros((*poses.shape[:-1], 4, 4))
    for i, j in np.ndindex(3, 3):
        result[..., i, j] = R[i, j]
    result[..., :3, 3], result[..., 3, 3] = poses[..., :3], 1.0
    return result


def pose_error(target: Array, transforms: Array) -> Array:
    """(..., 6) from transforms (..., 4, 4) to the target: translation and rotation vector, both in world axes."""
    R = target[..., :3, :3] @ np.swapaxes(transforms[..., :3, :3], -1, -2)
    turn = rotation_vector(Matrix.of([[R[..., i, j] for j in range(3)] for i in range(3)])).vector
    return np.concatenate([target[..., :3, 3] - transforms[..., :3, 3], np.stack(list(turn), axis=-1)], axis=-1)


def turned(pose: Array, vectors: Array) -> Array:
    """Poses (..., 6) that rotation vectors (..., 3), rad in base axes, make of the orientation of one pose (6,).

    Identity: for less than half a turn `pose_error` from the pose to the result is the vector.
    """
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    K = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)
    # Rodrigues: 1 + sin(a)/a K + (1 - cos(a))/a^2 K K, with K of the vector itself; np.sinc(t) is sin(pi t)/(pi t)
    turn = np.eye(3) + np.sinc(angle / np.pi) * K + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * (K @ K)
    made = np.broadcast_to(transforms(pose), (*x.shape, 4, 4)).copy()
    made[..., :3, :3] = turn @ made[..., :3, :3]
    return pose_of(made)


def _aligned(*values: ArrayLike) -> tuple[Array, ...]:
    arrays = [_taken(value) for value in values]
    traced = any(array.dtype == object for array in arrays)
    arrays = [array.astype(object if traced else float, copy=False) for array in arrays]
    if any(array.shape[-1:] != (6,) for array in arrays):
        raise ShapeError("poses", expected="(..., 6)", got=", ".join(str(array.shape) for array in arrays))
    if all(array.shape == arrays[0].shape for array in arrays):
        return tuple(arrays)
    return tuple(np.broadcast_arrays(*arrays))


def _taken(value: Any) -> Array:
    """An array of real numbers, or of what stands for them while a control law is recorded."""
    recorded = isinstance(value, np.ndarray) and value.dtype == object
    if recorded and all(isinstance(x, FoldingScalar) or is_number(x) for x in value.flat):
        return np.asarray(value)
    try:
        return real_numbers(value)
    except ValueError as error:
        raise ShapeError("poses", expected="real numbers (..., 6)", got=str(error)) from None


def _angles(x: Array) -> Vector:
    if x.ndim == 1:  # plain floats are many times faster than arrays without dimensions
        return Vector(*x[3:].tolist())
    return Vector(x[..., 3], x[..., 4], x[..., 5])


def _joined(x: Array, angular: Vector) -> Array:
    if x.ndim == 1:
        return np.array([*x[:3].tolist(), *angular])
    shape = x.shape[:-1]
    return np.stack([x[..., 0], x[..., 1], x[..., 2], *(np.broadcast_to(c, shape) for c in angular)], axis=-1)
