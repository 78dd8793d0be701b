"""Drawings of a platform, and the joint reactions in them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.evaluation.arguments import as_argument
from tauforge.robots.drawing import Action, Drawing, Ellipsoid, Frame, Point, Reaction, Segment, inertia_ellipsoid
from tauforge.robots.loads import BODY_SHARES
from tauforge.robots.poses import transforms

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

SLEEVE = 0.6  # of a leg's shortest length: its lower part
MIDDLE = 0.5  # of a leg, where the reaction between its parts is drawn


def drawn(platform: StewartPlatform, position: ArrayLike) -> Drawing:
    """Joints on the base and on the platform, legs of two parts between them, the outlines of both, the frames.

    position: (..., 6) pose
    """
    T = transforms(as_argument("position", position, 6, "a pose").astype(float))
    lower, upper = _joints(platform, T)
    points = [Point(f"base joint {i + 1}", lower[..., i, :]) for i in range(6)]
    points += [Point(f"platform joint {i + 1}", upper[..., i, :]) for i in range(6)]
    if platform.platform_com is not None:
        centre = (T @ np.array([*platform.platform_com, 1.0]))[..., :3]
        points.append(Point("platform", centre, "centre of mass"))
    segments = [
        Segment(f"leg {i + 1}", lower[..., i, :], upper[..., i, :], "leg", sleeve)
        for i, sleeve in enumerate(platform.sleeves)
    ]
    for part, corners in (("base", lower), ("platform", upper)):
        order = _around(corners)
        closed = pairwise([*order, order[0]])
        segments += [Segment(part, corners[..., a, :], corners[..., b, :], part) for a, b in closed]
    base = np.broadcast_to(np.eye(4), T.shape)
    legs = upper - lower
    along = legs / np.linalg.norm(legs, axis=-1, keepdims=True)  # a positive force lengthens the leg
    actions = tuple(
        Action(actuator.name, upper[..., i, :], along[..., i, :], turns=False)
        for i, actuator in enumerate(platform.actuators)
    )
    frames = (Frame("base", base), Frame("platform", T))
    return Drawing(tuple(points), tuple(segments), frames, actions, _ellipsoids(platform, T, lower, upper, along))


def sleeves(platform: StewartPlatform) -> tuple[float, ...]:
    """Lengths of the legs' lower parts, m: a share of the shortest length, or of that at the pictured pose."""
    lengths = [row[0] for row in platform.stroke or ()] or platform.inverse_kinematics(platform.positions.default)
    return tuple(SLEEVE * float(length) for length in lengths)


def reactions(
    platform: StewartPlatform, position: Array, velocity: Array, acceleration: Array, **loads: Any
) -> tuple[Reaction, ...]:
    """At every leg: of the base on the leg, of its lower part on its upper part, of the platform on the leg."""
    T = transforms(np.asarray(position, float))
    lower, upper = _joints(platform, T)
    middle = lower + MIDDLE * (upper - lower)
    found = platform.joint_reactions(position, velocity, acceleration, **loads)
    slid = np.array(found.prismatic)
    slid[..., 3:] -= np.cross(middle - lower, slid[..., :3])  # the paper takes its moment about the base joint
    joints = (
        ("base joint", lower, found.universal),
        ("slider", middle, slid),
        ("platform joint", upper, found.spherical),
    )
    return tuple(
        Reaction(f"{name} {i + 1}", place[..., i, :], wrench[..., i, :3], wrench[..., i, 3:])
        for name, place, wrench in joints
        for i in range(6)
    )


def _joints(platform: StewartPlatform, T: Array) -> tuple[Array, Array]:
    """Places of the joints on the base and on the platform, (..., 6, 3) each."""
    lower = np.broadcast_to(np.array(platform.base_points), (*T.shape[:-2], 6, 3))
    return lower, np.array(platform.platform_points) @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3]


def _ellipsoids(platform: StewartPlatform, T: Array, lower: Array, upper: Array, along: Array) -> tuple[Ellipsoid, ...]:
    """The ellipsoids of legs, two each, and of the platform.

    Leg axes are x along the leg and y across the universal joint's axis.
    """
    if not platform.has_masses:
        return ()
    # Legs between spherical joints are bodies of revolution: any axis across them will do, such as the farthest one.
    fixed = np.array(platform.universal_axes or np.eye(3)[np.abs(along).argmin(axis=-1)])
    y = np.cross(fixed, along)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    axes = np.stack([along, y, np.cross(along, y)], axis=-1)
    found = []
    for part, origins in (("lower", lower), ("upper", upper)):
        masses, centres, inertias = (getattr(platform, f"{part}_{field}") for field in BODY_SHARES)
        for i in range(6):
            frame = np.zeros(T.shape)
            frame[..., :3, :3], frame[..., :3, 3], frame[..., 3, 3] = axes[..., i, :, :], origins[..., i, :], 1.0
            name = f"{part} part of leg {i + 1}"
            found.append(inertia_ellipsoid(name, frame, masses[i], centres[i], inertias[i]))
    found.append(inertia_ellipsoid("platform", T, *(getattr(platform, f"platform_{field}") for field in BODY_SHARES)))
    return tuple(body for body in found if body is not None)


def _around(corners: np.ndarray) -> list[int]:
    """The order of six points (..., 6, 3) around their middle, by those of the first row."""
    flat = corners.reshape(-1, 6, 3)[0]
    from_middle = flat - flat.mean(axis=0)
    _, _, axes = np.linalg.svd(from_middle)
    return [int(k) for k in np.argsort(np.arctan2(from_middle @ axes[1], from_middle @ axes[0]))]
