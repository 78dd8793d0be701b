"""Numerical inverse kinematics: damped least squares with limits and restarts (Levenberg 1944, Marquardt 1963)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tauforge.errors import ConvergenceError

Floats = NDArray[np.float64]
TOLERANCE = 1e-10  # of the pose error, m and rad
ITERATIONS = 100
RESTARTS = 40


def pose_error(target: Floats, pose: Floats) -> Floats:
    """What is missing from pose to target: translation and rotation vector, world axes."""
    R = target[:3, :3] @ pose[:3, :3].T
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine, cosine = float(np.linalg.norm(axis)), (np.trace(R) - 1) / 2
    angle = np.arctan2(sine, cosine)
    if sine > 1e-8:
        turn = axis * (angle / sine)
    elif cosine > 0:
        turn = axis
    else:  # half a turn: the axis is the eigenvector of R for 1
        column = int(np.argmax(np.diag(R)))
        half = (R[:, column] + np.eye(3)[column]) / 2
        turn = half / np.linalg.norm(half) * np.pi
    return np.concatenate([target[:3, 3] - pose[:3, 3], turn])


def solve(
    forward: Callable[[Floats], Floats],
    jacobian: Callable[[Floats], Floats],
    target: Floats,
    guess: Floats | None,
    lower: Floats,
    upper: Floats,
) -> Floats:
    """Joint coordinates within the limits whose pose is `target`; ConvergenceError with the best residual if none."""
    random = np.random.default_rng(0)
    low, high = np.where(np.isfinite(lower), lower, -np.pi), np.where(np.isfinite(upper), upper, np.pi)
    start = (low + high) / 2 if guess is None else guess
    best = np.inf
    for _ in range(RESTARTS):
        q, residual = descend(forward, jacobian, target, np.clip(start, lower, upper), lower, upper)
        if residual <= TOLERANCE:
            return q
        best = min(best, residual)
        start = random.uniform(low, high)
    raise ConvergenceError(
        "no joint coordinates within the limits reach the pose", residual=best, iterations=RESTARTS * ITERATIONS
    )


def descend(
    forward: Callable[[Floats], Floats],
    jacobian: Callable[[Floats], Floats],
    target: Floats,
    q: Floats,
    lower: Floats,
    upper: Floats,
) -> tuple[Floats, float]:
    damping = 1e-3
    error = pose_error(target, forward(q))
    for _ in range(ITERATIONS):
        size = float(np.linalg.norm(error))
        if size <= TOLERANCE or damping > 1e8:
            break
        J = jacobian(q)
        step = np.linalg.solve(J.T @ J + damping * np.eye(len(q)), J.T @ error)
        trial = np.clip(q + step, lower, upper)
        trial_error = pose_error(target, forward(trial))
        if np.linalg.norm(trial_error) < size:
            q, error, damping = trial, trial_error, max(damping * 0.1, 1e-12)
        else:
            damping *= 10
    return q, float(np.linalg.norm(error))
