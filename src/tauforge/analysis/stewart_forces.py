"""Forces of a Stewart platform: their balance of power, the worst of them, and singular poses.

The balance of power is independent of every model of inverse dynamics: energies of positions and velocities are
differentiated by dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar

from tauforge.algebra.dual import Dual, derivative
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ShapeError, SingularityError
from tauforge.evaluation.arguments import as_argument
from tauforge.evaluation.condition import check_length, condition_numbers
from tauforge.robots.poses import pose_rates
from tauforge.robots.stewart.functions import SINGULAR_FORCE_MATRIX
from tauforge.robots.summary import summarised

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform


@summarised
@with_field_docs
class PowerBalance(NamedTuple):
    """Powers on the robot, W, each (...).

    actuators: of the actuator forces
    external:  of the wrench on the tool or the platform
    gravity:   of the weights
    friction:  never positive
    kinetic:   the rate of the kinetic energy
    """

    actuators: Array
    external: Array
    gravity: Array
    friction: Array
    kinetic: Array

    @property
    def imbalance(self) -> Array:
        """Power in, less the rate of the kinetic energy: zero for forces that produce the motion."""
        return self.actuators + self.external + self.gravity + self.friction - self.kinetic


def power_balance(
    platform: StewartPlatform,
    pose: ArrayLike,
    twist: ArrayLike,
    acceleration: ArrayLike,
    forces: ArrayLike,
    external_wrench: ArrayLike | None = None,
) -> PowerBalance:
    """Powers at states and leg forces (..., 6), N.

    external_wrench: (..., 6) N, N m at the platform's origin, base axes
    """
    load = np.zeros(6) if external_wrench is None else external_wrench
    given = {"pose": pose, "twist": twist, "acceleration": acceleration, "forces": forces, "external_wrench": load}
    read = (as_argument(name, value, 6, "six numbers").astype(float) for name, value in given.items())
    p, t, a, F, wrench = np.broadcast_arrays(*read)
    rates, _ = pose_rates(p, t)
    along = [[Dual(x[..., k], {0: dx[..., k]}) for k in range(6)] for x, dx in ((p, rates), (t, a))]
    energies = platform.functions["energy"].formula(platform.model, *along)
    kinetic, potential = (np.asarray(derivative(e, 0)) for e in energies)
    legs = platform.leg_motion(p, t)
    c_u, c_p, c_s = platform.friction
    W, relative = legs.angular_velocities, legs.angular_velocities - t[..., None, 3:]
    rubbing = ((c_u, W), (c_p, legs.rates), (c_s, relative))
    friction = -sum(c * (x**2).reshape(*p.shape[:-1], -1).sum(axis=-1) for c, x in rubbing)
    return PowerBalance((F * legs.rates).sum(axis=-1), (wrench * t).sum(axis=-1), -potential, friction, kinetic)


SINGULAR_VALUE = 1e-9  # of H, beside the largest: more than the rounding of the time of a `Crossing`
TIME_TOLERANCE = 1e-12  # of a crossing, relative to the motion's duration


@with_field_docs
class Crossing(NamedTuple):
    """A time at which det H changes its sign: the legs cannot hold the platform, and another branch begins.

    time: s
    pose: (6,) x, y, z, theta_x, theta_y, theta_z
    """

    time: float
    pose: Array


def crossings(
    platform: StewartPlatform, poses: Callable[[Array], Array], start: float, end: float, *, samples: int = 1000
) -> list[Crossing]:
    """All changes of sign of det H between two times that `samples` steps can separate, each to full precision.

    poses: (k,) times -> (k, 6) poses, such as `lambda t: motion.sample(t).position`
    """
    if samples < 2 or not end > start:
        raise ShapeError("samples", expected="at least 2 samples, and end > start", got=f"{samples}, {start} to {end}")

    def determinant(t: float) -> float:
        return float(np.linalg.det(platform.force_matrix(poses(np.array([t])))[0]))

    times = np.linspace(start, end, samples + 1)
    H = platform.force_matrix(poses(times))
    conditions = condition_numbers(H)
    lost = ~(conditions < SINGULAR_FORCE_MATRIX)  # the sign of the determinant is only rounding there
    if lost.sum() > 2:
        row, some = int(np.argmax(lost)), f"{lost.sum()} of {len(times)} samples"
        problem = f"{platform.name}: the motion is singular at {some}, not at isolated times"
        pose = poses(times[row : row + 1])[0].tolist()
        raise SingularityError(problem, pose=pose, condition_number=float(conditions[row]))
    signs = np.where(lost, 0.0, np.sign(np.linalg.det(H)))
    found = []
    for k in np.flatnonzero(signs[:-1] * signs[1:] < 0):
        t = float(brentq(determinant, times[k], times[k + 1], xtol=TIME_TOLERANCE * (end - start)))
        found.append(Crossing(t, poses(np.array([t]))[0]))
    found += [Crossing(float(times[k]), poses(times[k : k + 1])[0]) for k in np.flatnonzero(signs == 0)]
    return sorted(found)


def best_characteristic_length(platform: StewartPlatform, pose: ArrayLike) -> tuple[float, float]:
    """The length (m) by which moments are divided to minimise the condition number of H, and that condition number.

    A condition number of forces and moments together depends on the unit of length; this one does not.
    pose: (6,)
    """
    H = np.array(platform.force_matrix(pose))
    if H.ndim != 2:
        raise ShapeError("pose", expected="(6,), one pose", got=str(np.shape(pose)))

    def condition(logarithm: float) -> float:
        scaled = H.copy()
        scaled[3:] /= np.exp(logarithm)
        return float(np.log(condition_numbers(scaled)))

    if not condition_numbers(H) < SINGULAR_FORCE_MATRIX:
        problem, own = f"{platform.name}: the pose is singular with every characteristic length", np.asarray(pose)
        raise SingularityError(problem, pose=own.tolist(), condition_number=float(condition_numbers(H)))
    middle = np.log(np.linalg.norm(H[3:]) / np.linalg.norm(H[:3]))  # a mean arm: platforms may be far from their origin
    best = minimize_scalar(condition, bounds=(middle - 2, middle + 2), method="bounded", options={"xatol": 1e-9})
    return float(np.exp(best.x)), float(np.exp(best.fun))


@summarised
@with_field_docs
class WorstForces(NamedTuple):
    """The largest magnitude of each leg's force over all directions of a unit load.

    per_force:  (..., 6) N per N
    per_moment: (..., 6) N per N m
    """

    per_force: Array
    per_moment: Array


def worst_leg_forces(platform: StewartPlatform, pose: ArrayLike) -> WorstForces:
    """The largest force of each leg under a unit force, and under a unit moment, at the platform's origin.

    They are infinite where H is singular, and NaN where the pose is not finite.
    """
    H = platform.force_matrix(pose)
    holds = condition_numbers(H) < SINGULAR_FORCE_MATRIX
    inverse = np.linalg.inv(np.where(holds[..., None, None], H, np.eye(6)))
    forces, moments = (np.linalg.norm(part, axis=-1) for part in (inverse[..., :3], inverse[..., 3:]))
    none = np.where(np.isfinite(H).all(axis=(-2, -1)), np.inf, np.nan)[..., None]
    return WorstForces(np.where(holds[..., None], forces, none), np.where(holds[..., None], moments, none))


@summarised
@with_field_docs
class SingularFreedoms(NamedTuple):
    """Motions that the legs leave free, and what they cannot carry.

    values:    (..., 6) singular values of H, the least first
    freedoms:  (...) number of those that vanish beside the largest
    twists:    (..., 6, 6) unit twists that belong to the values, one a row; the first `freedoms` of them change no
               length, to first order
    uncarried: (..., 6) N, N m, part of the load along these: no leg forces balance it
    """

    values: Array
    freedoms: Array
    twists: Array
    uncarried: Array


def singular_freedoms(
    platform: StewartPlatform,
    pose: ArrayLike,
    load: ArrayLike | None = None,
    *,
    characteristic_length: float | None = None,
    tolerance: float = SINGULAR_VALUE,
) -> SingularFreedoms:
    """Motions that a singular pose leaves free, and loads that it cannot carry (Dasgupta & Mruthyunjaya sec. 4.2).

    pose:                  (..., 6)
    load:                  (..., 6) force and moment at the platform's origin, base axes; default the weight of all
    characteristic_length: m, divides moments and multiplies turns, so that all are of one unit; None for 1 m
    tolerance:             of a singular value that vanishes, beside the largest

    Identity: force_matrix(pose)' twist is 0 for the free twists, and the load less `uncarried` is
    force_matrix(pose) F for some F.
    """
    H = platform.force_matrix(pose)
    scale = np.ones(6)
    scale[3:] = 1.0 if characteristic_length is None else check_length(characteristic_length)
    finite = np.isfinite(H).all(axis=(-2, -1), keepdims=True)
    U, values, _ = np.linalg.svd(np.where(finite, H / scale[:, None], 0.0))
    values, rows = np.where(finite[..., 0], values[..., ::-1], np.nan), np.swapaxes(U[..., ::-1], -1, -2)
    free = values < tolerance * values[..., -1:]
    given = -platform.bias_wrench(pose, np.zeros(6)) if load is None else as_argument("load", load, 6, "six numbers")
    along = free * (rows @ (given / scale)[..., None])[..., 0]
    uncarried = np.where(finite[..., 0], (along[..., None, :] @ rows)[..., 0, :] * scale, np.nan)
    return SingularFreedoms(values, free.sum(axis=-1), np.where(finite, rows / scale, np.nan), uncarried)
