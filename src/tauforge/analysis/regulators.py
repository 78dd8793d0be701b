"""Gains of linear feedback along a motion: the linear quadratic regulator of the linearised robot, period by period."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.analysis.linearisation import linearise
from tauforge.arrays import Array, real_numbers
from tauforge.control.linear_feedback import LinearFeedback
from tauforge.errors import ModelError, ShapeError
from tauforge.motion.motion import Motion, in_velocities_of, positive
from tauforge.robots.robot import Robot, check_robot
from tauforge.validation import real_array


def linear_feedback(
    robot: Robot,
    motion: Motion,
    *,
    period: float,
    state_weights: ArrayLike = 1.0,
    force_weights: ArrayLike = 1.0,
    forces: ArrayLike | None = None,
) -> LinearFeedback:
    """A law that keeps the robot near a motion at the least sum of x'Q x + u'R u over the control periods.

    x is the error of coordinates and velocities, u what the law adds to the forces of the motion.

    period:        s, of control; forces are held in between
    state_weights: Q, a number, (2n,) of the coordinates and of the velocities, or (2n, 2n)
    force_weights: R, a number, (m,) or (m, m)
    forces:        (k, m) that the motion takes at each instant k period; default by inverse dynamics

    Identity: a small error becomes (A_d - B_d K) times itself in every period, A_d and B_d being the linearised robot
    over a period with forces that are held.
    """
    n, m, T = check_robot("robot", robot).n, len(robot.actuators), positive("period", period)
    if not isinstance(motion, Motion):
        raise ModelError(f"expected a Motion, got {motion!r}", field="motion")
    Q, R = _weights("state_weights", state_weights, 2 * n), _weights("force_weights", force_weights, m)
    times = T * np.arange(int(np.ceil(motion.duration / T * (1 - 1e-9))) + 1)
    target = in_velocities_of(robot, motion).sample(times)
    position = robot.positions.at(target.position)
    if forces is None:
        nominal = robot.inverse_dynamics(position, target.velocity, target.acceleration)
    else:
        nominal = np.array(real_array("forces", forces), float)
        if nominal.shape != (len(times), m):
            raise ShapeError("forces", expected=str((len(times), m)), got=str(nominal.shape))
    A, B = discretised(*linearise(robot, position, target.velocity, nominal), T)
    return LinearFeedback(robot, nominal, regulator_gains(A, B, Q, R), T)


def discretised(A: Array, B: Array, period: float) -> tuple[Array, Array]:
    """A_d and B_d (..., 2n, 2n), (..., 2n, m) of x' = A x + B u with u held over a period."""
    from scipy.linalg import expm

    states, m = A.shape[-1], B.shape[-1]
    whole = np.zeros((*A.shape[:-2], states + m, states + m))
    whole[..., :states, :] = period * np.concatenate([A, B], axis=-1)
    found = expm(whole)[..., :states, :]
    return found[..., :states], found[..., states:]


def regulator_gains(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """(k, m, 2n) by Riccati's recursion from the last instant, where P = Q, back to the first."""
    P, gains = Q, []
    for a, b in zip(A[::-1], B[::-1], strict=True):
        K = np.linalg.solve(R + b.T @ P @ b, b.T @ P @ a)
        P = Q + a.T @ P @ (a - b @ K)
        P = (P + P.T) / 2
        gains.append(K)
    return np.array(gains[::-1])


def _weights(name: str, given: ArrayLike, size: int) -> Array:
    try:
        W = real_numbers(given).astype(float)
    except ValueError:
        W = np.full((), np.nan)
    W = np.eye(size) * W if W.ndim == 0 else np.diag(W) if W.shape == (size,) else W
    if W.shape != (size, size) or not np.isfinite(W).all():
        raise ModelError(f"expected a number, {size} numbers or a matrix ({size}, {size}), got {given!r}", field=name)
    least = np.linalg.eigvalsh((W + W.T) / 2).min()
    if (least < 0) if name == "state_weights" else (least <= 0):
        sign = "no negative eigenvalue" if name == "state_weights" else "positive eigenvalues alone"
        raise ModelError(f"expected a matrix with {sign}, got {least:.4g} as the least", field=name)
    return np.asarray((W + W.T) / 2)
