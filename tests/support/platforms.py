"""Random Stewart platforms and states for the tests: every leg its own data, nothing aligned, diagonal or zero."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.strategies import random_inertia
from tauforge.robots.poses import transforms

HOME = np.array([0.05, -0.03, 1.1, 0.1, -0.15, 0.2])  # near the middle of what a random platform reaches
DIETMAIER = (1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071)  # leg lengths with 40 poses
BODY = {"mass": (), "com": (3,), "inertia": (3, 3)}
LIMITS = ("stroke", "force_limit", "base_joint_axes", "platform_joint_axes", "cone_angles", "leg_radius")


def ring(radius, half_angle, turn=0.0):
    """Six points on a circle, in pairs half_angle degrees to both sides of three directions."""
    angles = np.radians([turn + 120 * k + side * half_angle for k in range(3) for side in (-1, 1)])
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


def random_platform(rng, *, masses=True, **changes):
    base = ring(0.9, 12) + rng.uniform(-0.1, 0.1, (6, 3))
    top = ring(0.6, 48) + rng.uniform(-0.1, 0.1, (6, 3))
    data = {
        "base_points": base,
        "platform_points": top,
        "universal_axes": np.cross([0, 0, 1], base) + 0.3 * rng.normal(size=(6, 3)),
        "gravity": rng.uniform(-9, 9, 3),
        "stroke": np.column_stack([rng.uniform(0.3, 0.7, 6), rng.uniform(1.3, 2.0, 6)]),
        "force_limit": rng.uniform(1e3, 1e4, 6),
        "base_joint_axes": rng.normal(size=(6, 3)),
        "platform_joint_axes": rng.normal(size=(6, 3)),
        "cone_angles": rng.uniform(0.1, 3.0, 2),
        "leg_radius": 0.02,
        "reflected_mass": rng.uniform(1, 10, 6),
        "name": "random",
    }
    if masses:
        data |= {
            "lower_mass": rng.uniform(1, 5, 6),
            "upper_mass": rng.uniform(1, 5, 6),
            "lower_com": rng.uniform(-0.2, 0.4, (6, 3)),
            "upper_com": rng.uniform(-0.4, 0.2, (6, 3)),
            "lower_inertia": [random_inertia(rng) for _ in range(6)],
            "upper_inertia": [random_inertia(rng) for _ in range(6)],
            "platform_mass": rng.uniform(10, 50),
            "platform_com": rng.uniform(-0.2, 0.2, 3),
            "platform_inertia": random_inertia(rng, 1.0),
            "friction": rng.uniform(0, 5, 3),
        }
    return tf.StewartPlatform(**(data | changes))


def without_legs(platform, **changes):
    """Points, platform and gravity alone: legs without masses and friction, the smallest formulas."""
    names = ("base_points", "platform_points", "platform_mass", "platform_com", "platform_inertia", "gravity")
    legs = {f"{part}_{field}": np.zeros((6, *core)) for part in ("lower", "upper") for field, core in BODY.items()}
    return tf.StewartPlatform(**{name: getattr(platform, name) for name in names} | legs | changes)


def with_spherical_legs(platform, rng):
    """The same with spherical joints at both ends of the legs, each of them symmetric about itself in its own way."""

    def symmetric():
        across = rng.uniform(0.05, 0.3, 6)
        return np.column_stack([rng.uniform(0.2, 1.9, 6) * across, across, across])

    def on_axis(side):
        return np.outer(side * rng.uniform(0.2, 0.5, 6), [1.0, 0.0, 0.0])

    return platform.replace(
        base_joint="spherical",
        lower_com=on_axis(1.0),
        upper_com=on_axis(-1.0),
        lower_inertia=symmetric(),
        upper_inertia=symmetric(),
        friction=(*platform.friction[:2], 0.0),
    )


def random_motion(rng, shape=(), around=HOME):
    """Pose, twist and acceleration, each (*shape, 6)."""
    pose = around + rng.uniform(-0.1, 0.1, (*shape, 6))
    return pose, rng.normal(size=(*shape, 6)), rng.normal(size=(*shape, 6))


def similar_platform():
    """Base and platform are similar, their points on circles: its matrix H is singular in every pose."""
    base = ring(1.0, 12)
    whole = tf.load("motion-rig").replace(**dict.fromkeys(LIMITS), name="similar")
    return whole.replace(base_points=base, platform_points=0.6 * base, universal_axes=None)


def quarter_turned(aside=0.0):
    """A pose of motion-rig a quarter turn about z from home, where its legs cannot hold it (Fichter 1986).

    aside: rad, from there
    """
    return np.array([0.0, 0.0, 1.0, 0.0, 0.0, np.pi / 2 + aside])


def plain_H(platform, poses):
    """Columns [s; q x s], from the points and SciPy's rotations."""
    q, S = plain_legs(platform, poses)
    s = S / np.linalg.norm(S, axis=-1, keepdims=True)
    return np.swapaxes(np.concatenate([s, np.cross(q, s)], axis=-1), -1, -2)


def plain_legs(platform, poses):
    """(k, 6, 3) each: platform joints from the platform's origin, and legs; base axes."""
    poses = np.asarray(poses, float)
    turn = Rotation.from_euler("xyz", poses[:, 3:]).as_matrix()
    q = np.einsum("kij,lj->kli", turn, platform.platform_points)
    return q, q + poses[:, None, :3] - platform.base_points


def calls(platform, rng, shape=()):
    """Every public method of a state: its name with plain arguments."""
    pose, twist, acceleration = random_motion(rng, shape)
    lengths = platform.inverse_kinematics(pose)
    return {
        "inverse_kinematics": (pose,),
        "leg_motion": (pose, twist, acceleration),
        "leg_bodies": (pose, twist, acceleration),
        "force_matrix": (pose,),
        "condition_number": (pose,),
        "within_limits": (pose,),
        "forward_kinematics": (lengths, pose + 0.01),
        "forward_rates": (pose, twist, acceleration),
        "inverse_dynamics": (pose, twist, acceleration),
        "forward_dynamics": (pose, twist, 100 * acceleration),
        "joint_reactions": (pose, twist, acceleration),
        "mass_matrix": (pose,),
        "bias_wrench": (pose, twist),
        "energy": (pose, twist),
    }


def parts(result):
    """The arrays of a result, without what is None."""
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,)) if part is not None]


def rotation(pose):
    """(..., 3, 3) base <- platform."""
    return transforms(np.asarray(pose, float))[..., :3, :3]
