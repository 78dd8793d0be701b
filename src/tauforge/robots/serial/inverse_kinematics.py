"""Inverse kinematics of arms: damped least squares within the limits, for batches of poses, from many starts at once.

Every start of every pose is a row of one batch, which advances by a few steps (`levenberg_marquardt`) a call. A pose
leaves the batch as soon as one of its starts arrives. Results of a pose do not depend on the others.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge import validation
from tauforge.arrays import Array, real_number, real_numbers
from tauforge.errors import ConvergenceError, ModelError, ShapeError
from tauforge.evaluation.arguments import as_argument
from tauforge.robots.serial.formulas import INVERSE_KINEMATICS_STEPS

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm

POSE_TOLERANCE = 1e-10  # of the pose error, m and rad together
ROUNDING_ERROR = 1e-12  # of that error, for lengths of a metre: what double precision may leave
CALLS_PER_START = 10  # calls before a start is given up: 30 steps, where one that arrives at all takes 10 to 20
STARTS = (8, 32, 128)  # random starts of the first, second and third attempt
MAX_ROWS = 32_768  # rows of one call: bounds the memory
FULL_TURN = 2 * np.pi
TASK = 6  # directions


class JointRanges(NamedTuple):
    """Limits of an arm's joints, and the ranges that starts are taken from.

    lower, upper: (n,) limits; those that are absent are as large as a parameter of a robot may be
    middle, half: (n,) of where starts are taken from; half is NaN for prismatic joints without limits
    revolute:     (n,)
    origin:       (3,) of the base, world axes
    stretched:    m, more than the distance from there to the tool
    """

    lower: Array
    upper: Array
    middle: Array
    half: Array
    revolute: Array
    origin: Array
    stretched: float

    def clipped(self, q: Array) -> Array:
        return np.minimum(np.maximum(q, self.lower), self.upper)  # in a fraction of the time of np.clip


class PoseTasks(NamedTuple):
    """Tasks of a batch, row by row: target (k, 12), asked (6,), lower and upper (n,), length (k, 1)."""

    target: Array
    asked: Array
    lower: Array
    upper: Array
    length: Array

    def rows(self, chosen: Any) -> PoseTasks:
        return self._replace(target=self.target[chosen], length=self.length[chosen])

    def repeated(self, times: int) -> PoseTasks:
        return self._replace(target=self.target.repeat(times, axis=0), length=self.length.repeat(times, axis=0))


def joint_ranges(arm: SerialArm) -> JointRanges:
    revolute = np.array([joint.kind == "R" for joint in arm.joints])
    lower, upper = np.clip(arm.limits, -validation.LARGEST, validation.LARGEST).T
    half = (upper - lower) / 2
    half = np.where(revolute, np.minimum(half, np.pi), np.where(half < validation.LARGEST, half, np.nan))
    links = [np.array(T)[:3, 3] for joint in arm.joints for T in (joint.before, joint.after)]
    lengths = np.linalg.norm([*links, np.array(arm.tool)[:3, 3]], axis=1).sum()
    slides = [abs(joint.offset) + max(map(abs, joint.limits or (0.0,))) for joint in arm.joints if joint.kind == "P"]
    origin, stretched = np.array(arm.base)[:3, 3], float(lengths + sum(slides))
    return JointRanges(lower, upper, (lower + upper) / 2, half, revolute, origin, stretched)


@cache
def directions(count: int, n: int) -> Array:
    """Random starts (count, n), from -1 to 1 within the ranges of the joints; the same in every call."""
    return np.random.default_rng(count).uniform(-1, 1, (count, n))


def solve(
    arm: SerialArm, pose: ArrayLike, guess: ArrayLike | None, mask: ArrayLike | None, tolerance: float, on_failure: str
) -> Array:
    """Solves `SerialArm.inverse_kinematics`, which documents it."""
    poses, starts = checked_poses(pose), None
    asked, enough = checked_mask(mask), checked_tolerance(tolerance)
    if on_failure not in ("raise", "nan"):
        raise ShapeError("on_failure", expected="'raise' or 'nan'", got=repr(on_failure))
    batch = poses.shape[:-2]
    if guess is not None:
        starts = as_argument("guess", guess, arm.n, f"{arm.name} has {arm.n} joints").astype(float)
        try:
            batch = np.broadcast_shapes(batch, starts.shape[:-1])
        except ValueError:
            expected = f"a leading shape that broadcasts with that of pose {poses.shape}"
            raise ShapeError("guess", expected=expected, got=str(starts.shape)) from None
        starts = np.broadcast_to(starts, (*batch, arm.n)).reshape(-1, arm.n)
    targets = np.broadcast_to(poses, (*batch, 4, 4)).reshape(-1, 16)[:, :12]
    usable = np.isfinite(targets).all(axis=-1)
    if starts is not None:
        usable &= np.isfinite(starts).all(axis=-1)
    found, residuals = np.full((len(targets), arm.n), np.nan), np.full(len(targets), np.nan)
    task = task_of(targets, asked, arm._joint_ranges)
    rows = np.flatnonzero(usable)
    found[rows], residuals[rows], steps = searched(
        arm, task.rows(rows), None if starts is None else starts[rows], enough
    )
    failed = residuals > enough
    if failed.any():
        if on_failure == "raise":
            first = int(np.argmax(failed))
            reason = "no joint coordinates within the limits reach the pose"
            remedy = "Give a guess near the answer, or say by mask= which directions count"
            if residuals[first] <= ROUNDING_ERROR * max(1.0, task.length[first, 0]):
                reason = f"rounding alone exceeds the tolerance of {enough:.3g}"
                remedy = f"Give a larger tolerance; the default is {POSE_TOLERANCE:g}"
            raise ConvergenceError(
                f"{arm.name}: {reason}",
                residual=float(residuals[first]),
                iterations=steps,
                row=np.unravel_index(first, batch),
                remedy=remedy,
            )
        found[failed] = np.nan
    return found.reshape(*batch, arm.n)


def task_of(targets: Array, asked: Array, ranges: JointRanges) -> PoseTasks:
    """Tasks whose lengths are measured against a third of the stretched arm, or of a longer way to the target."""
    away = np.linalg.norm(targets[:, 3::4] - ranges.origin, axis=1, keepdims=True)
    length = np.maximum(away, ranges.stretched) / 3
    return PoseTasks(targets, asked, ranges.lower, ranges.upper, np.where(length > 0, length, 1.0))


def searched(arm: SerialArm, task: PoseTasks, guess: Array | None, enough: float) -> tuple[Array, Array, int]:
    """Joint coordinates (k, n) and residuals (k,) of every row, and the largest number of steps of a row.

    The guess comes first, then random starts, more of them at every attempt. The best start goes on in the next one:
    near a singular posture it comes nearer by only a half in every step.
    """
    ranges, count, steps = arm._joint_ranges, len(task.target), 0
    near = np.broadcast_to(ranges.middle if guess is None else guess, (count, arm.n))
    found, best = ranges.clipped(near), np.full(count, np.inf)
    for starts in STARTS if guess is None else (1, *STARTS):
        left = np.flatnonzero(best > enough)
        for first in range(0, len(left), MAX_ROWS // starts):
            rows = left[first : first + MAX_ROWS // starts]
            part = task.rows(rows)
            half = np.where(np.isnan(ranges.half), 3 * part.length, ranges.half)
            q = ranges.clipped(ranges.middle + half[:, None] * directions(starts, arm.n))
            q[:, 0] = found[rows]
            found[rows], best[rows] = best_of_starts(arm, part, q, enough)
        steps += starts * CALLS_PER_START * INVERSE_KINEMATICS_STEPS if len(left) else 0
    return nearest_turns(found, near, ranges), best, steps


def best_of_starts(arm: SerialArm, task: PoseTasks, q: Array, enough: float) -> tuple[Array, Array]:
    """The start of each row, of those in q (k, s, n), that arrives in the fewest calls, or else ends nearest."""
    count, starts, n = q.shape
    found, best = np.empty((count, n)), np.empty(count)
    going, task, q = np.arange(count), task.repeated(starts), q.reshape(-1, n)
    for left in reversed(range(CALLS_PER_START)):
        q, residuals = advanced(arm, task, q)
        nearest = residuals.reshape(-1, starts)
        if not left:
            nearest = np.where(np.isfinite(nearest), nearest, np.inf)
        arrived = nearest <= enough
        done = arrived.any(axis=1) if left else np.ones(len(going), bool)
        if not done.any():
            continue
        rows = np.flatnonzero(done)
        chosen = np.where(arrived[rows].any(axis=1), arrived[rows].argmax(axis=1), nearest[rows].argmin(axis=1))
        found[going[rows]], best[going[rows]] = q[rows * starts + chosen], nearest[rows, chosen]
        if len(rows) == len(going):
            break
        going, again = going[~done], np.repeat(~done, starts)
        task, q = task.rows(again), q[again]
    return found, best


def approached(arm: SerialArm, poses: Array, q: Array, enough: float = POSE_TOLERANCE) -> tuple[Array, Array]:
    """Joint coordinates (k, n) and residuals (k,) from starts near the answer, without other starts and limits.

    poses: (k, 4, 4), q: (k, n)
    """
    ranges = arm._joint_ranges
    beyond = np.full(arm.n, validation.LARGEST)
    targets = poses.reshape(-1, 16)[:, :12]
    task = task_of(targets, np.ones(TASK), ranges._replace(lower=-beyond, upper=beyond))
    return best_of_starts(arm, task, q[:, None], enough)


def towards(arm: SerialArm, pose: Array, near: Array) -> Array:
    """Joint coordinates (n,) within the limits nearest to the pose, from one position, without other starts.

    Where it cannot be reached the tool comes as near as a few steps bring it, so that a hand can go on dragging.
    """
    task = task_of(checked_poses(pose).reshape(1, 16)[:, :12], np.ones(TASK), arm._joint_ranges)
    start = arm._joint_ranges.clipped(np.asarray(near, float)[None])
    found, _ = best_of_starts(arm, task, start[:, None], POSE_TOLERANCE)
    return np.asarray(found[0] if np.isfinite(found).all() else near)


def advanced(arm: SerialArm, task: PoseTasks, q: Array) -> tuple[Array, Array]:
    """Joint coordinates (k, n) and residuals (k,) after a few more steps."""
    arguments = {"target": task.target, "q": q, **task._asdict()}  # in the order of the table
    moved, residuals = arm._evaluator("inverse_kinematics_steps", arguments)
    return moved, residuals


def nearest_turns(q: Array, reference: Array, ranges: JointRanges) -> Array:
    """Revolute joints less the whole turns that bring them, within the limits, nearest to the reference."""
    if np.abs(q - reference).max(initial=0.0) <= np.pi:
        return q
    turns = np.clip(
        np.round((reference - q) / FULL_TURN),
        np.ceil((ranges.lower - q) / FULL_TURN),
        np.floor((ranges.upper - q) / FULL_TURN),
    )
    moved = ranges.clipped(q + FULL_TURN * turns)
    return np.where(ranges.revolute & (turns != 0), moved, q)


def checked_poses(pose: ArrayLike) -> Array:
    """(..., 4, 4) in double precision, with rotations made orthonormal; rows that are not finite stay as they are."""
    expected = "real numbers (..., 4, 4), world <- tool"
    try:
        poses = as_argument("pose", pose, 4, expected).astype(float)
    except ShapeError as error:
        raise ShapeError("pose", expected=expected, got=error.got) from None
    if poses.shape[-2:] != (4, 4):
        raise ShapeError("pose", expected=expected, got=str(poses.shape))
    flat = poses.reshape(-1, 4, 4)
    R = flat[:, :3, :3]
    with np.errstate(all="ignore"):
        apart = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2), initial=0.0)
        sound = (apart <= validation.ROUNDING_TOLERANCE) & (np.linalg.det(R) > 0)
        sound &= (flat[:, 3] == (0, 0, 0, 1)).all(axis=-1) & (np.abs(flat) <= validation.LARGEST).all(axis=(-1, -2))
    if sound.all():
        return poses
    for row in np.flatnonzero(~sound & np.isfinite(flat).all(axis=(-1, -2))):  # few digits, or wrong: that says which
        try:
            flat[row] = validation.transform(flat[row], "pose")
        except ModelError as error:
            raise error.in_batch(np.unravel_index(row, poses.shape[:-2])) from None
    return flat.reshape(poses.shape)


def checked_mask(mask: ArrayLike | None) -> Array:
    if mask is None:
        return np.ones(TASK)
    try:
        given = real_numbers(mask, "biuf")
    except ValueError:
        given = np.zeros(0)
    if given.shape != (TASK,) or not np.isin(given, (0, 1)).all() or not given.any():
        raise ShapeError(
            "mask",
            expected="six of True and False, at least one True: x, y, z and rotations about x, y, z, world axes",
            got=validation.shown(mask),
        )
    return given.astype(float)


def checked_tolerance(tolerance: float) -> float:
    number = real_number(tolerance)
    if not 0 < number < np.inf:
        raise ShapeError("tolerance", expected="a finite number > 0", got=validation.shown(tolerance))
    return number
