"""A pose in which a platform is within its own limits. Limits that no pose satisfies are a mistake in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.stewart.pose_search import default_guess

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

LEVEL_POSES = 21  # level poses between the shortest and the longest legs
RANDOM_POSES = 2000  # poses about those
RANDOM_TILT = 0.5  # rad, standard deviation of their angles
RANDOM_SHIFT = 0.3  # standard deviation of their positions, relative to the height
DESCENTS = 40  # from the best of them
DESCENT_STEPS = 40  # steps of a descent
DIFFERENCE_STEP = 1e-7  # of difference quotients
NAN_VIOLATION = 1e3  # instead of a violation that is NaN
SLIGHT = 1e-6  # violation at which a descent ends: it approaches the limit from outside


def issues_of_limits(platform: StewartPlatform) -> list[str]:
    """What `tauforge check` says about limits that nobody can keep."""
    hint = "stroke is the range of a leg's length between its joints, not of its travel"
    if platform.stroke is not None and min(shortest for shortest, _ in platform.stroke) == 0:
        return [f"stroke: the shortest leg has length 0; {hint}"]
    if fitting_pose(platform) is None:
        return ["no pose was found that keeps all limits" + (f"; {hint}" if platform.stroke is not None else "")]
    return []


def fitting_pose(platform: StewartPlatform, seed: int = 0) -> Array | None:
    """A pose (6,) in which all limits except those of forces hold, or None if the search finds none.

    The search tries level poses above the base, then random ones about those, then descents from the best of them.
    """
    shortest, longest = _leg_range(platform)
    legs = np.linspace(shortest, longest, LEVEL_POSES)
    level = default_guess(platform, legs)
    rng = np.random.default_rng(seed)
    about = level[rng.integers(LEVEL_POSES, size=RANDOM_POSES)]
    about[:, 3:] += RANDOM_TILT * rng.normal(size=(RANDOM_POSES, 3))
    about[:, :3] += RANDOM_SHIFT * np.abs(about[:, 2:3]) * rng.normal(size=(RANDOM_POSES, 3))
    for poses in (level, about):
        holds = platform.within_limits(poses).hold
        if holds.any():
            return np.asarray(poses[np.argmax(holds)])
    starts = np.concatenate([level, about])
    order = np.argsort((_violations(platform, starts) ** 2).sum(axis=-1))
    return _descended(platform, starts[order[:DESCENTS]])


def pictured_pose(platform: StewartPlatform) -> Array:
    """A level pose (6,) in the middle of those that keep the limits; without a stroke, one of modest height."""
    shortest, longest = _leg_range(platform)
    level = default_guess(platform, np.linspace(shortest, longest, LEVEL_POSES))
    held = level[platform.within_limits(level).hold]
    poses = held if len(held) else level
    return np.asarray(poses[len(poses) // (2 if platform.stroke is not None else 4)])


def _leg_range(platform: StewartPlatform) -> Array:
    """(2, 6) m: the shortest and the longest legs; without a stroke, multiples of the size of base and platform."""
    if platform.stroke is not None:
        return np.array(platform.stroke).T
    size = max(np.ptp(platform.base_points, axis=0).max(), np.ptp(platform.platform_points, axis=0).max())
    return np.outer((0.3, 3.0), np.full(6, size))


def _violations(platform: StewartPlatform, poses: Array) -> Array:
    """(..., k) how far each limit is exceeded, lengths relative to the longest leg, angles in rad; 0 where it holds."""
    size = _leg_range(platform).max()
    margins = platform.within_limits(poses).margins(size)
    broken = np.concatenate([np.zeros((*poses.shape[:-1], 1)), margins], axis=-1)
    return np.asarray(np.where(np.isnan(broken), NAN_VIOLATION, np.maximum(-broken, 0.0)))


def _descended(platform: StewartPlatform, poses: Array) -> Array | None:
    """The first pose without violations that Levenberg-Marquardt steps reach from one of these poses (k, 6)."""
    scale = np.array([_leg_range(platform).max()] * 3 + [1.0] * 3)
    broken, damping = _violations(platform, poses), np.full((len(poses), 1), 1e-3)
    for _ in range(DESCENT_STEPS):
        arrived = broken.max(axis=-1) < SLIGHT
        if arrived.any():
            return np.asarray(poses[np.argmax(arrived)])
        aside = poses[:, None] + DIFFERENCE_STEP * np.diag(scale)
        slopes = (_violations(platform, aside) - broken[:, None]) / DIFFERENCE_STEP  # (k, 6, limits)
        normal = np.einsum("kil,kjl->kij", slopes, slopes) + damping[..., None] * np.eye(6)
        step = np.linalg.solve(normal, -np.einsum("kil,kl->ki", slopes, broken)[..., None])[..., 0]
        tried = poses + step * scale
        then = _violations(platform, tried)
        better = (then**2).sum(axis=-1, keepdims=True) < (broken**2).sum(axis=-1, keepdims=True)
        poses, broken = np.where(better, tried, poses), np.where(better, then, broken)
        damping = np.where(better, damping / 4, damping * 4)
    return None
