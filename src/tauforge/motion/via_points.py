"""The free poses of a path, by SLSQP: first its largest condition number is minimised, then the integral."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.motion.path_task import BROKEN, Task
from tauforge.motion.roadmap import roadmap

ROUNDS = 60  # of SLSQP, at most
SETTLED = 1e-7  # change of its measure at which SLSQP ends
NO_LENGTH = 1e-300  # instead of 0, to avoid a division by zero
SLACK = 1e-3  # loss of the best worst quality that is accepted for a lower integral


def found_points(task: Task) -> tuple[Array, int]:
    """The knots (k, 6) of the best path, and how many rounds SLSQP made.

    First the largest condition number is minimised; then, with at most a thousandth more, the integral of the condition
    number over the length of the path.
    """
    best, rounds = task.straight, 0
    for start in (roadmap(task), task.straight):
        points, made = _climbed(task, start)
        best, rounds = max(best, points, key=lambda one: _worst(task, one)), rounds + made
        if _worst(task, best) >= 1 - SLACK:
            break
    points, made = _lowered(task, best)
    return points, rounds + made


def _worst(task: Task, points: Array) -> float:
    """The smallest quality on the path, at most 1; less than any quality where a limit is exceeded."""
    poses = task.basis @ points
    broken = min(0.0, float(task.margins(poses).min(initial=0.0)))
    quality = min(1.0, float(task.quality(poses).min()))
    return quality if broken > -task.safety else broken - BROKEN


def _climbed(task: Task, start: Array) -> tuple[Array, int]:
    """The knots with the best worst quality, at most 1, that SLSQP reaches from these."""
    level = min(1.0, float(task.quality(task.basis @ start).min()))

    def objective(x: Array) -> tuple[float, Array]:
        return -float(x[-1]), np.append(np.zeros(len(x) - 1), -1.0)

    return _solved(task, start, objective, level)


def _lowered(task: Task, start: Array) -> tuple[Array, int]:
    """The path with the least integral of the condition number over its length; its worst pose is as good as before.

    The integral is multiplied by the mean square of the speed over the square of its mean, which is 1 where the speed
    is even. Otherwise knots could slide along the path at no cost.
    """
    level = float(min(1.0, task.quality(task.basis @ start).min())) * (1 - SLACK)
    if level <= 0:
        return start, 0
    middles = (task.basis[:-1] + task.basis[1:]) / 2
    steps, times = np.diff(task.basis, axis=0), np.diff(task.fractions)

    def objective(x: Array) -> tuple[float, Array]:
        points = _points(task, x)
        poses, ways = middles @ points, steps @ points / task.scale
        condition, by_quality = _inverse(task.quality(poses), level / 2)
        lengths = np.maximum(np.linalg.norm(ways, axis=1), NO_LENGTH)
        whole, integral = lengths.sum(), condition @ lengths
        uneven = (lengths**2 / times).sum() / whole**2
        by_length = uneven * condition + integral * 2 * (lengths / times / whole**2 - uneven / whole)
        by_pose = (uneven * lengths * by_quality)[:, None] * task.slopes(task.quality, poses)
        slope = middles.T @ by_pose + steps.T @ ((by_length / lengths)[:, None] * ways)
        return float(integral * uneven), slope[np.ix_(task.free, task.movable)].ravel()

    return _solved(task, start, objective, level, fixed=True)


def _inverse(quality: Array, least: float) -> tuple[Array, Array]:
    """1 / quality and its slope; below the least quality a straight line, so that a step too far meets no pole."""
    held = np.maximum(quality, least)
    return 1 / held + (held - quality) / least**2, -1 / held**2


def _points(task: Task, x: Array) -> Array:
    """The knots (k, 6) from the scaled offsets of the free ones, knot by knot; an element after them is ignored."""
    points = task.straight.copy()
    offsets = x[: task.free.sum() * task.movable.sum()].reshape(-1, task.movable.sum())
    points[np.ix_(task.free, task.movable)] += task.scale[task.movable] * offsets
    return points


def _solved(task: Task, start: Array, objective: Any, level: float, fixed: bool = False) -> tuple[Array, int]:
    """SLSQP over the free knots and, unless it is fixed, the level that every quality must reach."""
    from scipy.optimize import Bounds, minimize

    if not task.movable.any():
        return start, 0
    inner = slice(1, -1)  # the ends are given
    basis = task.basis[inner][:, task.free]
    safety = task.safety * task.slackness[inner]

    def values(x: Array) -> Array:
        poses = (task.basis @ _points(task, x))[inner]
        reached = task.quality(poses) - (level if fixed else x[-1])
        return np.concatenate([reached, (task.margins(poses) - safety).ravel()])

    def slopes(x: Array) -> Array:
        poses = (task.basis @ _points(task, x))[inner]
        of_quality, of_margins = (task.slopes(of, poses)[..., task.movable] for of in (task.quality, task.margins))
        of_quality = np.einsum("sk,sc->skc", basis, of_quality).reshape(len(poses), -1)
        of_margins = np.einsum("sk,smc->smkc", basis, of_margins).reshape(-1, of_quality.shape[1])
        rows = np.concatenate([of_quality, of_margins])
        return rows if fixed else np.column_stack([rows, -(np.arange(len(rows)) < len(poses)).astype(float)])

    offsets = ((start - task.straight) / task.scale)[np.ix_(task.free, task.movable)].ravel()
    reach = np.tile((task.room / task.scale)[task.movable], int(task.free.sum()))
    x, bounds = (
        (offsets, Bounds(-reach, reach))
        if fixed
        else (np.append(offsets, level), Bounds(np.append(-reach, -np.inf), np.append(reach, 1.0)))
    )
    found = minimize(
        objective,
        x,
        jac=True,
        bounds=bounds,
        method="SLSQP",
        constraints={"type": "ineq", "fun": values, "jac": slopes},
        options={"maxiter": ROUNDS, "ftol": SETTLED},
    )
    return _points(task, np.clip(found.x, bounds.lb, bounds.ub)), int(found.nit)
