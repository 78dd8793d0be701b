"""Limits of a Stewart platform: strokes, joint cones, legs that touch; and poses within them.

Limits that no pose satisfies are a mistake in the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalars
from tauforge.arrays import Array
from tauforge.class_tools import computed_once, with_field_docs
from tauforge.evaluation.arguments import as_argument, finite_rows
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.stewart.limits import LEG_PAIRS
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.capabilities import Bounds
from tauforge.robots.records import Limit, LimitedQuantity
from tauforge.robots.stewart import formulas
from tauforge.robots.stewart.model import PlatformModel
from tauforge.robots.stewart.pose_search import default_guess
from tauforge.robots.summary import summarised

if TYPE_CHECKING:
    from tauforge.robots.stewart.description import PlatformDescription
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

POSES_TRIED = 65  # poses that are tried on a way
LEVEL_POSES = 21  # level poses between the shortest and the longest legs
SCATTERED_POSES = 2000  # poses about those
RANDOM_TILT = 0.5  # rad, standard deviation of their angles
RANDOM_SHIFT = 0.3  # standard deviation of their positions, relative to the height
DESCENTS = 40  # from the best of them
DESCENT_STEPS = 40  # steps of a descent
VIOLATION_STEP = 1e-7  # of difference quotients
NAN_VIOLATION = 1e3  # instead of a violation that is NaN
SLIGHT_VIOLATION = 1e-6  # violation at which a descent ends: it approaches the limit from outside


@summarised
@with_field_docs
class Limits(NamedTuple):
    """Margins, positive where a limit holds; None where it was not given.

    Margins of a row that is not finite are NaN, and it does not hold.

    stroke:        (..., 6) m, from the leg's length to the nearer end of its stroke
    base_cone:     (..., 6) rad, from the leg to the cone of its base joint
    platform_cone: (..., 6) rad, from the leg to the cone of its platform joint
    clearance:     (...) m, between the surfaces of the nearest two legs
    nearest_legs:  (..., 2) the numbers of these two, from 1; 0 where there is no clearance
    force:         (..., 6) N, from the size of the leg's force to its limit
    hold:          (...) whether all limits that were given hold
    """

    stroke: Array | None
    base_cone: Array | None
    platform_cone: Array | None
    clearance: Array | None
    nearest_legs: Array | None
    force: Array | None
    hold: Array

    def margins(self, length: float) -> Array:
        """(..., k) all margins of the pose side by side, without forces: lengths beside this one (m), angles in rad."""
        lengths = (self.stroke, None if self.clearance is None else self.clearance[..., None])
        given = [x / length for x in lengths if x is not None]
        given += [x for x in (self.base_cone, self.platform_cone) if x is not None]
        return np.concatenate(given, axis=-1) if given else np.zeros((*self.hold.shape, 0))


def named(platform: PlatformDescription) -> tuple[Limit, ...]:
    """The limits of a pose, in the order of the formula's margins."""
    found: list[Limit] = []
    numbers = range(1, LEGS + 1)
    if platform.stroke is not None:
        ends = np.array(platform.stroke).T.tolist()
        for length, sense, words in zip(ends, (-1, 1), ("short", "long"), strict=True):
            found += [
                Limit(f"leg {i} is too {words}", "stroke", "m", bound, sense, f"the length of leg {i}")
                for i, bound in zip(numbers, length, strict=True)
            ]
    if platform.cone_angles is not None:
        for joint, widest in zip(("base", "platform"), platform.cone_angles, strict=True):
            joints = [f"the {joint} joint of leg {i}" for i in numbers]
            found += [
                Limit(f"{one} tilts too far", f"{joint} cone", "rad", widest, 1, f"the tilt of {one}") for one in joints
            ]
    if platform.leg_radius is not None:
        found += [
            Limit(f"legs {i} and {j} touch", "clearance", "m", 0.0, -1, f"the gap between legs {i} and {j}")
            for i, j in (np.array(LEG_PAIRS) + 1).tolist()
        ]
    return tuple(found)


def told(platform: PlatformDescription) -> int:
    """Count of the numbers of `nearest_limits`."""
    cones, touching = platform.cone_angles is not None, platform.leg_radius is not None
    return LEGS * (platform.stroke is not None) + 2 * LEGS * cones + 3 * touching + 1


def within_limits(platform: StewartPlatform, pose: ArrayLike, forces: ArrayLike | None = None) -> Limits:
    """Margins of the limits, and where all hold; a limit that was not given is None.

    forces: (..., 6) N of the legs, if those are to be judged too
    """
    stroke = base = top = clearance = nearest = force = None
    if platform.bounds.limits:
        found = platform.nearest_limits(pose)
        hold, begin = found[..., -1] >= 0, 0
        if platform.stroke is not None:
            stroke, begin = found[..., :LEGS], LEGS
        if platform.cone_angles is not None:
            base, top = found[..., begin : begin + LEGS], found[..., begin + LEGS : begin + 2 * LEGS]
        if platform.leg_radius is not None:
            clearance, pair = found[..., -4], found[..., -3:-1]
            nearest = np.where(np.isnan(found[..., -4:-3]), 0.0, pair).astype(int)
    else:
        hold = finite_rows({"pose": as_argument("pose", pose, LEGS, "x, y, z and angles")})
    if forces is not None:
        given = as_argument("forces", forces, LEGS, "one for each leg")
        known = finite_rows({"forces": given})
        hold = hold & known
        if platform.force_limit is not None:
            force = np.where(known[..., None], np.array(platform.force_limit) - np.abs(given), np.nan)
            hold = hold & (force >= 0).all(axis=-1)
    return Limits(stroke, base, top, clearance, nearest, force, hold)


def pose_within_limits(platform: StewartPlatform, start: Array, way: Array) -> Array:
    """The pose (6,) on a straight way as far as the limits allow; its end from a start that is beyond them.

    start: (6,) pose; way: (6,) from there to the end
    """
    poses = start + np.linspace(0.0, 1.0, POSES_TRIED)[:, None] * way
    beyond = np.flatnonzero(~np.asarray(within_limits(platform, poses).hold))
    return np.asarray(poses[-1] if not len(beyond) or beyond[0] == 0 else poses[beyond[0] - 1])


@ours
class PoseBounds(Bounds):
    """Strokes, joint cones and the clearance of legs."""

    robot: StewartPlatform

    @computed_once
    def limits(self) -> tuple[Limit, ...]:
        return named(self.robot)

    def margins(self, position: ArrayLike) -> Array:
        return self.robot.limit_margins(position)

    def formula(self, model: PlatformModel, position: Scalars, *, signs: bool = False) -> Scalars:
        return formulas.limit_tests(model, position) if signs else formulas.limit_margins(model, position)

    def quantities(self, position: Array, velocity: Array) -> list[LimitedQuantity]:
        """Lengths and cones of all legs, and the gap between the nearest two, along poses (k, 6)."""
        platform, pose = self.robot, position
        found = within_limits(platform, pose)
        quantities: list[LimitedQuantity] = []

        def add(name: str, values: Array, lower: float, upper: float, unit: str, phrase: str) -> None:
            quantities.append(LimitedQuantity(name, values, lower, upper, unit, lambda _: phrase))

        if platform.stroke is not None:
            lengths = platform.inverse_kinematics(pose)
            for i, (shortest, longest) in enumerate(platform.stroke):
                add(f"stroke of leg {i + 1}", lengths[..., i], shortest, longest, "m", f"leg {i + 1} has the length")
        if platform.cone_angles is not None:
            cones = zip(("base", "platform"), platform.cone_angles, (found.base_cone, found.platform_cone), strict=True)
            for joint, widest, margin in cones:
                assert margin is not None
                for i in range(LEGS):
                    phrase = f"the {joint} joint of leg {i + 1} tilts by"
                    add(f"{joint} cone of leg {i + 1}", widest - margin[..., i], -widest, widest, "rad", phrase)
        if found.clearance is not None and found.nearest_legs is not None:
            nearest = found.nearest_legs

            def gap(k: int) -> str:
                one, other = nearest[k]
                return f"the gap between legs {one} and {other} is"

            quantities.append(LimitedQuantity("clearance of legs", found.clearance, 0.0, np.inf, "m", gap))
        return quantities


def issues_of_limits(platform: StewartPlatform) -> list[str]:
    """Warnings of `tauforge check` about limits that nobody can keep."""
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
    about = level[rng.integers(LEVEL_POSES, size=SCATTERED_POSES)]
    about[:, 3:] += RANDOM_TILT * rng.normal(size=(SCATTERED_POSES, 3))
    about[:, :3] += RANDOM_SHIFT * np.abs(about[:, 2:3]) * rng.normal(size=(SCATTERED_POSES, 3))
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
        arrived = broken.max(axis=-1) < SLIGHT_VIOLATION
        if arrived.any():
            return np.asarray(poses[np.argmax(arrived)])
        aside = poses[:, None] + VIOLATION_STEP * np.diag(scale)
        slopes = (_violations(platform, aside) - broken[:, None]) / VIOLATION_STEP  # (k, 6, limits)
        normal = np.einsum("kil,kjl->kij", slopes, slopes) + damping[..., None] * np.eye(6)
        step = np.linalg.solve(normal, -np.einsum("kil,kl->ki", slopes, broken)[..., None])[..., 0]
        tried = poses + step * scale
        then = _violations(platform, tried)
        better = (then**2).sum(axis=-1, keepdims=True) < (broken**2).sum(axis=-1, keepdims=True)
        poses, broken = np.where(better, tried, poses), np.where(better, then, broken)
        damping = np.where(better, damping / 4, damping * 4)
    return None
