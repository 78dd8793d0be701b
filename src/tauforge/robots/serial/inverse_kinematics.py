"""Numerical inverse kinematics: damped least squares (Levenberg, Marquardt) within limits, from many starts at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tauforge.errors import ConvergenceError

Floats = NDArray[np.float64]
TOLERANCE = 1e-10  # of the pose error, m and rad
ITERATIONS = 100
RESTARTS = 40
LARGEST_DAMPING = 1e8  # a start that needs more is stuck


def pose_error(target: Floats, poses: Floats) -> Floats:
    """(..., 6) what is missing from the poses to the target or targets: translation and rotation vector, world axes."""
    from scipy.spatial.transform import Rotation  # slow to import, and only needed here

    turn = Rotation.from_matrix(target[..., :3, :3] @ np.swapaxes(poses[..., :3, :3], -1, -2)).as_rotvec()
    return np.concatenate([target[..., :3, 3] - poses[..., :3, 3], turn], axis=-1)


def solve(
    forward: Callable[[Floats], Floats],
    jacobian: Callable[[Floats], Floats],
    target: Floats,
    guess: Floats | None,
    lower: Floats,
    upper: Floats,
) -> Floats:
    """Joint coordinates within the limits whose pose is `target`: from the guess, else from the best of many starts.

    ConvergenceError with the best residual if there are none.
    """
    low, high = np.where(np.isfinite(lower), lower, -np.pi), np.where(np.isfinite(upper), upper, np.pi)
    first = ((low + high) / 2 if guess is None else guess)[None]
    others = np.random.default_rng(0).uniform(low, high, (RESTARTS, len(low)))
    best = np.inf
    for starts in (first, others):
        q, residuals = descend(forward, jacobian, target, np.clip(starts, lower, upper), lower, upper)
        k = int(np.argmin(residuals))
        if residuals[k] <= TOLERANCE:
            return np.asarray(q[k])
        best = min(best, float(residuals[k]))
    raise ConvergenceError(
        "no joint coordinates within the limits reach the pose", residual=best, iterations=2 * ITERATIONS
    )


def descend(
    forward: Callable[[Floats], Floats],
    jacobian: Callable[[Floats], Floats],
    target: Floats,
    q: Floats,
    lower: Floats,
    upper: Floats,
) -> tuple[Floats, Floats]:
    """Every start (s, n) downhill until one arrives; returns where they stand and their residuals."""
    damping = np.full(len(q), 1e-3)
    error = pose_error(target, forward(q))
    for _ in range(ITERATIONS):
        size = np.linalg.norm(error, axis=-1)
        if size.min() <= TOLERANCE or damping.min() > LARGEST_DAMPING:
            break
        J = jacobian(q)
        J_T = np.swapaxes(J, -1, -2)
        normal = J_T @ J + damping[:, None, None] * np.eye(q.shape[-1])
        step = np.linalg.solve(normal, J_T @ error[..., None])[..., 0]
        trial = np.clip(q + step, lower, upper)
        trial_error = pose_error(target, forward(trial))
        better = np.linalg.norm(trial_error, axis=-1) < size
        q, error = np.where(better[:, None], trial, q), np.where(better[:, None], trial_error, error)
        damping = np.where(better, np.maximum(damping * 0.1, 1e-12), damping * 10)
    return q, np.linalg.norm(error, axis=-1)
