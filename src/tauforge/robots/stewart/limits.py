"""How far a Stewart platform is from its limits: strokes, joint cones, legs that touch."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.field_docs import with_field_docs
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.array_libraries import arithmetic_of
from tauforge.robots.evaluate import as_argument, finite_rows
from tauforge.robots.parts import LimitedQuantity
from tauforge.robots.validation import Rows

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

STEPS = 65  # poses that are tried on a way
PARALLEL = 1e-12  # sine squared of the angle of two legs that are taken to be parallel


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


def within_limits(platform: StewartPlatform, pose: ArrayLike, forces: ArrayLike | None) -> Limits:
    legs = platform.leg_motion(pose)
    stroke = base = top = clearance = nearest = None
    if platform.stroke is not None:
        shortest, longest = np.array(platform.stroke).T
        stroke = np.minimum(legs.lengths - shortest, longest - legs.lengths)
    if platform.cone_angles is not None:
        half_base, half_top = platform.cone_angles
        base = half_base - angles_between(legs.directions, np.array(platform.base_joint_axes))
        top = half_top - legs.spherical_angles
    if platform.leg_radius is not None:
        lower = np.array(platform.base_points)
        upper = lower + legs.directions * legs.lengths[..., None]
        apart, nearest = nearest_segments(np.broadcast_to(lower, upper.shape), upper)
        nearest = np.where(np.isnan(apart)[..., None], 0, nearest)
        clearance = apart - 2 * platform.leg_radius
    hold = finite_rows({"lengths": legs.lengths})  # a row that is not finite is within no limits
    force = None
    if forces is not None:
        given = as_argument("forces", forces, LEGS, "one for each leg")
        known = finite_rows({"forces": given})
        hold = hold & known
        if platform.force_limit is not None:
            force = np.where(known[..., None], np.array(platform.force_limit) - np.abs(given), np.nan)
    for margin in (stroke, base, top, force):
        hold = hold if margin is None else hold & (margin >= 0).all(axis=-1)
    hold = hold if clearance is None else hold & (clearance >= 0)
    return Limits(stroke, base, top, clearance, nearest, force, hold)


def towards(platform: StewartPlatform, start: Array, way: Array) -> Array:
    """The pose (6,) on a straight way as far as the limits allow; its end from a start that is beyond them.

    start: (6,) pose; way: (6,) from there to the end
    """
    poses = start + np.linspace(0.0, 1.0, STEPS)[:, None] * way
    beyond = np.flatnonzero(~np.asarray(within_limits(platform, poses, None).hold))
    return np.asarray(poses[-1] if not len(beyond) or beyond[0] == 0 else poses[beyond[0] - 1])


def limited_quantities(platform: StewartPlatform, pose: Array) -> list[LimitedQuantity]:
    """Lengths and cones of all legs, and the gap between the nearest two, along poses (k, 6)."""
    found = within_limits(platform, pose, None)
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


def angles_between(a: Array, b: Array) -> Array:
    """Angles between unit vectors. Small angles keep their digits, which the arc cosine loses."""
    xp = arithmetic_of(a).xp
    apart, together = (xp.sqrt((x * x).sum(-1)) for x in (a - b, a + b))
    angles: Array = 2 * xp.arctan2(apart, together)
    return angles


def rotation(pose: Array) -> Array:
    """(..., 3, 3) from the angles of a pose."""
    from tauforge.algebra.rotations import rotation_of
    from tauforge.algebra.vectors import Vector

    with np.errstate(invalid="ignore"):  # of infinite angles
        rows = rotation_of(Vector(pose[..., 3], pose[..., 4], pose[..., 5])).rows
    xp = arithmetic_of(pose).xp
    stacked: Array = xp.stack([xp.stack([xp.broadcast_to(x, pose.shape[:-1]) for x in row], -1) for row in rows], -2)
    return stacked


def spherical_angles(platform: StewartPlatform, pose: Array, directions: Array) -> Array:
    """Between each leg and its platform joint's axis, (..., 6) rad."""
    xp, constant = arithmetic_of(directions)
    axes = constant(np.array(platform.platform_joint_axes or [(0.0, 0.0, 1.0)] * LEGS))
    turned = xp.einsum("...ij,kj->...ki", rotation(pose), axes)
    return angles_between(directions, turned)


def universal_angles(axes: Rows, directions: Array) -> Array:
    """(..., 6, 2): the leg's turn about the fixed axis k, from where it is nearest to the base's z; and towards k."""
    k = np.array(axes)
    up = np.broadcast_to((0.0, 0.0, 1.0), k.shape)
    reference = up - k * (k * up).sum(-1, keepdims=True)
    flat = np.linalg.norm(reference, axis=-1, keepdims=True) < 1e-9  # k along z: measure from x instead
    reference = np.where(flat, np.array([1.0, 0.0, 0.0]) - k * k[:, :1], reference)
    reference = reference / np.linalg.norm(reference, axis=-1, keepdims=True)
    xp, constant = arithmetic_of(directions)
    along, across, fixed = (constant(x) for x in (reference, np.cross(k, reference), k))
    about = xp.arctan2((directions * across).sum(-1), (directions * along).sum(-1))
    towards = xp.arcsin(xp.clip((directions * fixed).sum(-1), -1.0, 1.0))
    angles: Array = xp.stack([about, towards], -1)
    return angles


def nearest_segments(start: Array, end: Array) -> tuple[Array, Array]:
    """Smallest distance between any two of the six segments, (...), and which two, (..., 2) from 1."""
    pairs = np.array(list(combinations(range(LEGS), 2)))
    p1, q1, p2, q2 = (x[..., pairs[:, k], :] for k in (0, 1) for x in (start, end))
    distance = segment_distance(p1, q1, p2, q2)
    which = distance.argmin(axis=-1)
    return distance.min(axis=-1), pairs[which] + 1


def segment_distance(p1: Array, q1: Array, p2: Array, q2: Array) -> Array:
    """Between segments p1 q1 and p2 q2, by clamping the nearest points of their lines."""
    d1, d2, r = q1 - p1, q2 - p2, p1 - p2
    a, e, f = (d1 * d1).sum(-1), (d2 * d2).sum(-1), (d2 * r).sum(-1)
    b, c = (d1 * d2).sum(-1), (d1 * r).sum(-1)
    denominator = a * e - b * b
    parallel = denominator <= PARALLEL * a * e
    s = np.where(parallel, 0.0, np.clip((b * f - c * e) / np.where(parallel, 1.0, denominator), 0.0, 1.0))
    t = (b * s + f) / e
    s = np.where(t < 0, np.clip(-c / a, 0.0, 1.0), np.where(t > 1, np.clip((b - c) / a, 0.0, 1.0), s))
    t = np.clip(t, 0.0, 1.0)
    between = (p1 + d1 * s[..., None]) - (p2 + d2 * t[..., None])
    return np.asarray(np.linalg.norm(between, axis=-1))
