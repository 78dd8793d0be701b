"""Inverse kinematics of reachable poses, without a guess: how many are found, and what a pose costs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from arms import ur5
from measure import Task, nanoseconds, take_turns, timed

import tauforge as tf
from tauforge.robots.poses import pose_error
from tauforge.robots.serial.inverse_kinematics import POSE_TOLERANCE

POSES = 1_000
ALONE = 50  # poses that are asked for one after another in one turn
FOUND = 0.995  # of the poses, at least
LIMIT = 100_000  # ns a pose in a batch
ROUNDING = 1e-13  # of whole turns that are added to an answer


def inverse_kinematics(seconds: float) -> list[dict[str, Any]]:
    """Poses of joint coordinates drawn evenly within the limits; answers are checked before anything is timed."""
    return [case(arm, seconds) for arm in (ur5(), tf.load("panda"))]


def case(arm: tf.SerialArm, seconds: float) -> dict[str, Any]:
    lower, upper = arm.limits.T
    poses = arm.forward_kinematics(np.random.default_rng(0).uniform(lower, upper, (POSES, arm.n)))
    first = timed(partial(arm.inverse_kinematics, poses[0], on_failure="nan"))
    q = arm.inverse_kinematics(poses, on_failure="nan")
    found = np.isfinite(q).all(axis=-1)
    error = np.linalg.norm(pose_error(poses, arm.forward_kinematics(q)), axis=-1)[found].max()
    if not error <= POSE_TOLERANCE + ROUNDING or (q < lower).any() or (q > upper).any():
        raise ValueError(f"{arm.name}: answers miss their poses by {error:.1e} or the limits: nothing is timed")

    def alone() -> None:
        for pose in poses[:ALONE]:
            arm.inverse_kinematics(pose, on_failure="nan")

    tasks = [
        Task("batch", partial(arm.inverse_kinematics, poses, on_failure="nan"), POSES),
        Task("alone", alone, ALONE),
    ]
    ns = nanoseconds(take_turns(tasks, seconds))
    row = {
        "arm": arm.name,
        "poses": POSES,
        "found": float(found.mean()),
        "found_required": FOUND,
        "limit_ns": LIMIT,
        "first_use_s": first,
        "ns": ns,
    }
    print(
        f"inverse kinematics of {arm.name}: {found.mean():.2%} of {POSES:,} poses, "
        f"{ns['batch']['fastest'] / 1e3:.1f} us a pose in a batch, {ns['alone']['fastest'] / 1e3:.0f} us alone; "
        f"first answer {first:.2f} s",
        flush=True,
    )
    return row
