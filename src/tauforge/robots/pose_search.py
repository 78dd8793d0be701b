"""From leg lengths to poses: from a guess, along a motion, or all of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.errors import ConvergenceError, ShapeError, SingularityWarning
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.evaluate import as_argument
from tauforge.robots.platform_limits import condition_numbers

if TYPE_CHECKING:
    from tauforge.robots.stewart_platform import StewartPlatform

Array = NDArray[Any]
TOLERANCE = 1e-12  # of a length, relative to the longest leg
ROUNDS = 12  # calls of the Newton kernel, a few steps each, before giving up
NEAR_SINGULAR = 1e4  # condition number above which a tracked branch may be lost
SAME_POSE = 1e-6  # two assembly modes nearer than that, in metres and in quaternion, are one
START_ROUNDS = 8
BATCH = 1000  # starts at a time


def default_guess(platform: StewartPlatform, lengths: ArrayLike) -> Array:
    """No turn, above the middle of the base at about the height the lengths ask for, on the side of z > 0."""
    b, p = np.array(platform.base_points), np.array(platform.platform_points)
    level = (p.mean(axis=0) - b.mean(axis=0))[:2]
    spread = np.linalg.norm((p - b)[:, :2] - level, axis=1)
    given = as_argument("lengths", lengths, LEGS, "one for each leg").astype(float)
    with np.errstate(invalid="ignore"):
        height = np.sqrt(np.maximum((given**2 - spread**2).mean(axis=-1), (0.1 * given.mean(axis=-1)) ** 2))
    guess = np.zeros(given.shape[:-1] + (6,))
    guess[..., 0], guess[..., 1] = -level
    guess[..., 2] = height + b[:, 2].mean() - p[:, 2].mean()
    return guess


def forward_kinematics(platform: StewartPlatform, lengths: ArrayLike, guess: ArrayLike) -> Array:
    pose, residual, steps = solved(platform, lengths, guess)
    bad = residual > TOLERANCE * np.abs(np.asarray(lengths, float)).max(axis=-1)
    if bad.any():
        where = tuple(np.argwhere(bad)[0])
        row = f" in row {', '.join(map(str, where))}" if where else ""
        raise ConvergenceError(
            f"{platform.name}: no pose with these leg lengths was reached{row}. Give another guess, or ask"
            " assembly_modes whether there is one",
            residual=float(np.nanmax(np.where(bad, residual, 0.0))),
            iterations=steps,
        )
    return pose


def solved(platform: StewartPlatform, lengths: ArrayLike, guess: ArrayLike) -> tuple[Array, Array, int]:
    """Poses, residuals (NaN only where the input is), and the number of Newton steps."""
    from tauforge.robots.stewart_formulas import NEWTON_STEPS

    pose, residual = platform._evaluate("tracked_pose", {"lengths": lengths, "guess": guess})
    wanted = np.broadcast_to(np.asarray(lengths, float), pose.shape[:-1] + (LEGS,))
    start = np.broadcast_to(np.asarray(guess, float), pose.shape)
    usable = np.isfinite(wanted).all(axis=-1) & np.isfinite(start).all(axis=-1)
    bound = TOLERANCE * np.abs(wanted).max(axis=-1, initial=0.0)
    rounds = 1
    while rounds < ROUNDS:
        going = usable & ~(residual <= bound)
        lost = going & ~np.isfinite(residual)
        if not (going & ~lost).any():
            break
        better, error = platform._evaluate("tracked_pose", {"lengths": wanted[going], "guess": pose[going]})
        pose[going], residual[going] = better, error
        rounds += 1
    residual = np.where(usable & ~np.isfinite(residual), np.inf, residual)
    return pose, residual, rounds * NEWTON_STEPS


def track(platform: StewartPlatform, lengths: ArrayLike, guess: ArrayLike) -> Array:
    wanted = as_argument("lengths", lengths, LEGS, "one for each leg").astype(float)
    if wanted.ndim != 2:
        raise ShapeError("lengths", expected="(k, 6), one row for each time", got=str(wanted.shape))
    pose = as_argument("guess", guess, 6, "a pose").astype(float)
    if pose.ndim != 1:
        raise ShapeError("guess", expected="(6,), one pose", got=str(pose.shape))
    poses = np.empty((len(wanted), 6))
    for k, row in enumerate(wanted):
        try:
            pose = poses[k] = forward_kinematics(platform, row, pose)
        except ConvergenceError as error:
            raise ConvergenceError(
                f"{platform.name}: the branch was lost at row {k}", residual=error.residual, iterations=error.iterations
            ) from None
    H = platform.force_matrix(poses)
    near = condition_numbers(H) > NEAR_SINGULAR
    crossed = np.diff(np.sign(np.linalg.det(H))) != 0
    if near.any() or crossed.any():
        row = int(np.argmax(near)) if near.any() else int(np.argmax(crossed))
        warnings.warn(
            f"{platform.name}: the motion comes near a singularity at row {row}; beyond it the branch may be another",
            SingularityWarning,
            stacklevel=3,
        )
    return poses


class AssemblyModes(NamedTuple):
    """All poses that were met, and how sure it is that these are all.

    starts_since_new: starts that were made after the last new pose; the chance that another one as easy to reach as
    the rarest met was missed falls with exp(-starts_since_new * times_rarest / starts)
    """

    poses: Array  # (m, 6)
    residual: float  # m, largest error of a length
    starts: int
    converged: int
    starts_since_new: int
    times_met: Array  # (m,)

    @property
    def confidence(self) -> float:
        """1 - exp(-...) of the above; 0 where nothing was met."""
        if not len(self.poses):
            return 0.0
        return float(1 - np.exp(-self.starts_since_new * self.times_met.min() / self.starts))


def assembly_modes(platform: StewartPlatform, lengths: ArrayLike, starts: int, seed: int) -> AssemblyModes:
    wanted = as_argument("lengths", lengths, LEGS, "one for each leg").astype(float)
    if wanted.shape != (LEGS,) or not np.isfinite(wanted).all() or (wanted <= 0).any():
        raise ShapeError("lengths", expected="6 finite numbers > 0", got=f"{np.asarray(lengths).tolist()!r}")
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise ShapeError("starts", expected="a whole number >= 1", got=repr(starts))
    rng = np.random.default_rng(seed)
    found = np.empty((0, 7))
    times = np.empty(0, int)
    converged = last_new = 0
    worst = 0.0
    for begin in range(0, starts, BATCH):
        state = random_states(platform, wanted, min(BATCH, starts - begin), rng)
        state, residual = refined(platform, wanted, state)
        good = np.flatnonzero(residual <= TOLERANCE * wanted.max())
        converged += len(good)
        for k in good:
            near = nearest(found, state[k])
            if near is None:
                found, times = np.vstack([found, state[k]]), np.append(times, 1)
                last_new, worst = begin + int(k) + 1, max(worst, float(residual[k]))
            else:
                times[near] += 1
    return AssemblyModes(poses_of(found), worst, starts, converged, starts - last_new, times)


def random_states(platform: StewartPlatform, lengths: Array, count: int, rng: np.random.Generator) -> Array:
    """Origins within reach of the legs, turned at random: (count, 7) x, y, z and a unit quaternion."""
    quaternion = rng.normal(size=(count, 4))
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    b, p = np.array(platform.base_points), np.array(platform.platform_points)
    reach = float((lengths + np.linalg.norm(p, axis=1)).min())
    place = b.mean(axis=0) + reach * rng.uniform(-1, 1, size=(count, 3))
    return np.concatenate([place, quaternion], axis=1)


def refined(platform: StewartPlatform, lengths: Array, state: Array) -> tuple[Array, Array]:
    residual = np.full(len(state), np.inf)
    for _ in range(START_ROUNDS):
        going = ~(residual <= TOLERANCE * lengths.max())
        if not going.any():
            break
        better, error = platform._evaluate("refine", {"lengths": lengths, "state": state[going]})
        state[going], residual[going] = better, error
    return state, residual


def nearest(found: Array, state: Array) -> int | None:
    """Which of the found states this one is, or None; a quaternion and its opposite are one turn."""
    if not len(found):
        return None
    same = np.linalg.norm(found[:, :3] - state[:3], axis=1)
    turn = np.minimum(
        np.linalg.norm(found[:, 3:] - state[3:], axis=1), np.linalg.norm(found[:, 3:] + state[3:], axis=1)
    )
    apart = np.maximum(same, turn)
    k = int(apart.argmin())
    return k if apart[k] < SAME_POSE else None


def poses_of(states: Array) -> Array:
    """(m, 6) from x, y, z and quaternions."""
    from tauforge.algebra.rotations import Quaternion, angles_of

    if not len(states):
        return np.empty((0, 6))
    angles = angles_of(Quaternion(*states[:, 3:].T).rotation())
    return np.column_stack([states[:, :3], *angles])
