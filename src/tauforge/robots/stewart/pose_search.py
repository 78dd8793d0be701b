"""From leg lengths to poses: from a guess, along a motion, or all of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.rotations import Quaternion, angles_of
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ConvergenceError, ShapeError, SingularityWarning
from tauforge.evaluation.arguments import as_argument
from tauforge.evaluation.condition import condition_numbers
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.plausibility import levels_to_the_caller
from tauforge.robots.stewart.formulas import TRACKING_STEPS
from tauforge.robots.summary import Rows, Summary, SummaryTable, summarised
from tauforge.validation import LARGEST

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

LENGTH_TOLERANCE = 1e-12  # of the lengths, relative to them
LOOSEST_TOLERANCE = 1e-8
TRACKING_CALLS = 12  # calls of the Newton kernel, a few steps each, before giving up
NEAR_SINGULAR = 1e4  # condition number above which a tracked branch may be lost
# two assembly modes nearer than that, beside the longest leg and in quaternion, are one: a double root
SAME_MODE = 1e-4
START_ROUNDS = 8
SCATTER = 0.1  # of the starts, of the mean length
RIDGE = 1e-9  # keeps the best place unique where legs are parallel


def default_guess(platform: StewartPlatform, lengths: ArrayLike) -> Array:
    """No turn, above the middle of the base at about the height the lengths ask for, on the side of z > 0."""
    b, p = np.array(platform.base_points), np.array(platform.platform_points)
    level = (p.mean(axis=0) - b.mean(axis=0))[:2]
    spread = np.linalg.norm((p - b)[:, :2] - level, axis=1)
    given = as_argument("lengths", lengths, LEGS, "one for each leg").astype(float)
    with np.errstate(invalid="ignore", over="ignore"):
        height = np.sqrt(np.maximum((given**2 - spread**2).mean(axis=-1), (0.1 * given.mean(axis=-1)) ** 2))
    height = np.minimum(height, LARGEST)  # squares of huge lengths overflow
    guess = np.zeros(given.shape[:-1] + (6,))
    guess[..., 0], guess[..., 1] = -level
    guess[..., 2] = height + b[:, 2].mean() - p[:, 2].mean()
    return guess


def tolerance(platform: StewartPlatform, lengths: Array) -> float:
    """Tolerance of the lengths, relative to them. Rounding of far-off points makes it larger."""
    far = max(np.abs(platform.base_points).max(), np.abs(platform.platform_points).max())
    size = float(np.nanmax(np.abs(lengths), initial=0.0)) or 1.0
    return float(min(max(LENGTH_TOLERANCE, 8 * np.finfo(float).eps * far / size), LOOSEST_TOLERANCE))


def forward_kinematics(
    platform: StewartPlatform, lengths: ArrayLike, guess: ArrayLike | None = None, *, on_failure: str = "raise"
) -> Array:
    """The pose (..., 6) with these leg lengths that Newton's method reaches from the guess.

    lengths:    (..., 6) m; guess: (..., 6) pose, default above the base with no turn
    on_failure: "raise" ConvergenceError, with the residual (m) of the first row where none is reached, and
                ShapeError where a length is negative; or "nan" for such rows
    Identity: inverse_kinematics(result) = lengths. A platform has up to 40 such poses (`assembly_modes`).
    """
    if on_failure not in ("raise", "nan"):
        raise ShapeError("on_failure", expected="'raise' or 'nan'", got=repr(on_failure))
    wanted = as_argument("lengths", lengths, LEGS, "one for each leg")
    start = as_argument("guess", default_guess(platform, lengths) if guess is None else guess, 6, "a pose")
    pose, residual = platform._answer("tracked_pose", {"lengths": wanted, "guess": start})
    if residual.size and residual.max() <= LENGTH_TOLERANCE:
        return pose
    enough = tolerance(platform, wanted.astype(float))
    residual, steps = continued(platform, wanted, start, pose, residual, enough)
    bad = residual > enough
    if bad.any() and on_failure == "nan":
        return np.where(bad[..., None], np.array(np.nan, pose.dtype), pose)
    if bad.any():
        refuse_negative(wanted)
        where = tuple(np.argwhere(bad)[0])
        row_wanted = np.broadcast_to(wanted.astype(float), pose.shape)[where]
        apart = np.linalg.norm(platform.inverse_kinematics(pose[where]) - row_wanted)
        raise ConvergenceError(
            f"{platform.name}: no pose with these leg lengths was found",
            residual=float(apart) if np.isfinite(apart) else np.inf,
            iterations=steps,
            row=where,
            remedy="Give another guess, or see whether assembly_modes finds a pose",
        )
    return pose


def refuse_negative(lengths: Array) -> None:
    negative = np.argwhere(lengths < 0)
    if len(negative):
        *row, leg = negative[0].tolist()
        raise ShapeError(
            "lengths",
            expected="distances between the joints of each leg, m, none below 0",
            got=f"{lengths[tuple(negative[0])]:.6g} for leg {leg + 1}",
            row=row,
        )


def continued(
    platform: StewartPlatform, lengths: Array, guess: Array, pose: Array, residual: Array, enough: float
) -> tuple[Array, int]:
    """More steps for the rows that need them, into `pose`. Residuals are NaN only where the input is not finite."""
    poses, residuals = pose.reshape(-1, 6), np.array(residual, float).reshape(-1)
    wanted, start = (np.broadcast_to(np.asarray(x, float), pose.shape).reshape(-1, LEGS) for x in (lengths, guess))
    usable = np.isfinite(wanted).all(axis=-1) & np.isfinite(start).all(axis=-1)
    for rounds in range(1, TRACKING_CALLS + 1):  # those that were made
        going = np.flatnonzero(usable & (residuals > enough))
        if not len(going) or rounds == TRACKING_CALLS:
            break
        state = {"lengths": wanted[going], "guess": poses[going]}
        poses[going], residuals[going] = platform._answer("tracked_pose", state)
    residuals = np.where(usable & ~np.isfinite(residuals), np.inf, residuals)
    return residuals.reshape(residual.shape), rounds * TRACKING_STEPS


def track(platform: StewartPlatform, lengths: ArrayLike, guess: ArrayLike) -> Array:
    """Poses (k, 6) along a motion of the legs, lengths (k, 6), each found from the one before.

    guess: (6,) pose near the first. SingularityWarning where the branch is about to be lost.
    """
    wanted = as_argument("lengths", lengths, LEGS, "one for each leg").astype(float)
    if wanted.ndim != 2:
        raise ShapeError("lengths", expected="(k, 6), one row for each time", got=str(wanted.shape))
    pose = as_argument("guess", guess, 6, "a pose").astype(float)
    if pose.ndim != 1:
        raise ShapeError("guess", expected="(6,), one pose", got=str(pose.shape))
    refuse_negative(wanted)
    poses = np.empty((len(wanted), 6))
    for k, row in enumerate(wanted):
        if not np.isfinite(row).all():
            poses[k] = np.nan
            continue
        try:
            pose = poses[k] = forward_kinematics(platform, row, pose)
        except ConvergenceError as error:
            raise ConvergenceError(
                f"{platform.name}: no pose with these leg lengths was found near the previous one",
                residual=error.residual,
                iterations=error.iterations,
                row=k,
                remedy="Either no pose has these lengths, or the step is too large. Take smaller steps between rows, or"
                " give a guess near the first row",
            ) from None
    rows = np.flatnonzero(np.isfinite(poses).all(axis=-1))
    H = platform.force_matrix(poses[rows])
    near = condition_numbers(H) > NEAR_SINGULAR
    determinants = np.linalg.det(H)
    # the last step, made once more, would cross a singular pose: on which side of it the legs go on nobody can tell
    near[1:-1] |= determinants[1:-1] * (2 * determinants[1:-1] - determinants[:-2]) <= 0
    near[1:] |= determinants[1:] * determinants[:-1] <= 0
    if near.any():
        near_singular = SingularityWarning(
            f"{platform.name}: the motion comes near a singularity",
            row=rows[np.argmax(near)],
            remedy="The poses after it may belong to another assembly mode",
        )
        warnings.warn(near_singular, stacklevel=levels_to_the_caller())
    return poses


@summarised
@with_field_docs
class AssemblyModes(NamedTuple):
    """All poses that were met, and how sure it is that these are all.

    poses:            (m, 6) each once
    residual:         the largest error of the lengths, relative to them
    starts:           how many starts were made
    converged:        how many of them reached a pose
    starts_since_new: starts that were made after the last new pose; the chance that another one as easy to reach as
                      the rarest met was missed falls with exp(-starts_since_new * times_rarest / starts)
    times_met:        (m,) how many starts reached each pose
    """

    poses: Array
    residual: float
    starts: int
    converged: int
    starts_since_new: int
    times_met: Array

    @property
    def confidence(self) -> float:
        """1 - exp(-...) of the above; 0 where nothing was met."""
        if not len(self.poses):
            return 0.0
        return float(1 - np.exp(-self.starts_since_new * self.times_met.min() / self.starts))

    def summary(self) -> Summary:
        """The poses as a table."""
        rows: Rows = tuple((*pose.tolist(), int(met)) for pose, met in zip(self.poses, self.times_met, strict=True))
        angles = (f"theta_{axis} [rad]" for axis in "xyz")
        table = SummaryTable("", ("x [m]", "y [m]", "z [m]", *angles, "times met"), rows, texts=0)
        starts = (f"{self.converged:,} of {self.starts:,} starts reached a pose. Confidence ", self.confidence, ".")
        return Summary(f"{len(self.poses)} assembly modes", (table, starts))


def assembly_modes(
    platform: StewartPlatform, lengths: ArrayLike, *, starts: int = 6000, seed: int = 0
) -> AssemblyModes:
    """All real poses with these leg lengths (6,), by Newton's method from many starts.

    The answer says how many starts were made since the last new pose was met: the more, the surer it is complete.
    """
    wanted = as_argument("lengths", lengths, LEGS, "one for each leg").astype(float)
    if wanted.shape != (LEGS,) or not np.isfinite(wanted).all() or (wanted <= 0).any():
        raise ShapeError("lengths", expected="6 finite numbers > 0", got=f"{np.asarray(lengths).tolist()!r}")
    if isinstance(starts, bool) or not isinstance(starts, int | np.integer) or starts < 1:
        raise ShapeError("starts", expected="a whole number >= 1", got=repr(starts))
    enough = tolerance(platform, wanted)
    with np.errstate(over="ignore", invalid="ignore"):  # of lengths whose squares overflow
        start = random_states(platform, wanted, starts, np.random.default_rng(seed))
        state, residual = refined(platform, wanted, start, enough)
    good = np.flatnonzero(residual <= enough)
    firsts, times = distinct(state[good], wanted.max())
    last_new = int(good[firsts].max()) + 1 if len(firsts) else 0
    worst = float(residual[good].max()) if len(good) else 0.0
    return AssemblyModes(poses_of(state[good[firsts]]), worst, starts, len(good), starts - last_new, times)


def random_states(platform: StewartPlatform, lengths: Array, count: int, rng: np.random.Generator) -> Array:
    """Turned at random, and where the lengths fit best then: (count, 7) x, y, z and a unit quaternion.

    With d_i = R p_i - b_i the differences of |X + d_i|^2 = l_i^2 are linear in X; the rest is left to Newton's method,
    helped by some noise, for the best X of neighbouring turns leads to the same pose.
    """
    quaternion = rng.normal(size=(count, 4))
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    b, p = np.array(platform.base_points), np.array(platform.platform_points)
    d = np.einsum("kij,lj->kli", rotations(quaternion), p) - b
    A = 2 * (d[:, 1:] - d[:, :1])
    squares = lengths**2 - (d * d).sum(axis=-1)
    right = squares[:, 1:] - squares[:, :1]
    normal = np.einsum("kli,klj->kij", A, A) + RIDGE * np.eye(3)
    place = np.linalg.solve(normal, np.einsum("kli,kl->ki", A, right)[..., None])[..., 0]
    place += rng.normal(size=(count, 3)) * lengths.mean() * SCATTER
    return np.concatenate([place, quaternion], axis=1)


def refined(platform: StewartPlatform, lengths: Array, state: Array, enough: float) -> tuple[Array, Array]:
    residual = np.full(len(state), np.inf)
    for _ in range(START_ROUNDS):
        going = np.flatnonzero(residual > enough)  # those that are lost stay lost
        if not len(going):
            break
        state[going], residual[going] = platform._answer("refine", {"lengths": lengths, "state": state[going]})
    return state, residual


def distinct(states: Array, scale: float) -> tuple[Array, Array]:
    """Rows in which different states first occur, in order, and how often each of them occurs.

    scale: m, of what a difference of places is measured against
    """
    places, turns = states[:, :3] / scale, states[:, 3:]
    left = np.arange(len(states))
    firsts, times = [], []
    while len(left):
        apart = ((places[left] - places[left[0]]) ** 2).sum(axis=1)
        turned = 2 - 2 * np.abs(turns[left] @ turns[left[0]])  # q and -q are one turn
        same = apart + turned < SAME_MODE**2
        firsts.append(left[0])
        times.append(int(same.sum()))
        left = left[~same]
    return np.array(firsts, int), np.array(times, int)


def rotations(quaternions: Array) -> Array:
    """(k, 3, 3) from (k, 4)."""
    rows = Quaternion(*quaternions.T).rotation().rows
    return np.stack([np.stack(list(row), axis=-1) for row in rows], axis=-2)


def poses_of(states: Array) -> Array:
    """(m, 6) from x, y, z and quaternions."""
    angles = angles_of(Quaternion(*states[:, 3:].T).rotation())
    return np.column_stack([states[:, :3], *angles])
