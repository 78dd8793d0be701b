"""Serial arms and platforms, described as mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import tauforge as tf
from tauforge.robots.records import KnownException

Array = NDArray[Any]


def arm_as_mechanism(arm: tf.SerialArm) -> tf.Mechanism:
    """The home position is the arm's at q = 0. The tool body's frame is the tool's but for its axes."""
    T = np.array(arm.base, float)
    bodies, joints, inner = [], [], "ground"
    frames = arm.link_frames(np.zeros(arm.n))
    for k, joint in enumerate(arm.joints):
        T = T @ np.array(joint.before)
        name = f"link{k + 1}"
        kind = tf.Hinge if joint.kind == "R" else tf.Slider
        at, axis = T[:3, 3].tolist(), T[:3, 2].tolist()
        drive = {key: getattr(joint, key) for key in ("viscous", "coulomb", "motor_inertia", "gear_ratio")}
        joints.append(kind(joint.name, inner, name, at=at, axis=axis, actuated=True, **drive))
        T = frames[k + 1]
        R = T[:3, :3]
        com, inertia = (R @ joint.com + T[:3, 3]).tolist(), (R @ np.array(joint.inertia) @ R.T).tolist()
        origin = (T @ np.array(arm.tool))[:3, 3].tolist() if k == arm.n - 1 else com
        bodies.append(tf.Body(name, joint.mass, com, inertia, origin=origin))
        inner = name
    return tf.Mechanism(
        bodies=bodies,
        joints=joints,
        gravity=arm.gravity,
        coulomb_speed=arm.coulomb_speed,
        known_exceptions=[KnownException(body.name, "of the arm") for body in bodies],
        name=arm.name,
    )


def platform_as_mechanism(platform: tf.StewartPlatform, position: Array) -> tf.Mechanism:
    """Six legs with universal, sliding and ball joints, at home in the pose (position, no rotation); no friction."""
    p: Any = platform
    bodies = [
        tf.Body(
            "platform",
            p.platform_mass,
            (position + np.array(p.platform_com)).tolist(),
            p.platform_inertia,
            origin=position.tolist(),
        )
    ]
    joints: list[Any] = []
    for i in range(6):
        low, high, k = (
            np.array(p.base_points[i]),
            position + np.array(p.platform_points[i]),
            np.array(p.universal_axes[i]),
        )
        x = (high - low) / np.linalg.norm(high - low)
        y = np.cross(k, x)
        y /= np.linalg.norm(y)
        R = np.column_stack([x, y, np.cross(x, y)])
        for name, start, mass, com, inertia in (
            (f"lower{i}", low, p.lower_mass[i], p.lower_com[i], p.lower_inertia[i]),
            (f"upper{i}", high, p.upper_mass[i], p.upper_com[i], p.upper_inertia[i]),
        ):
            tensor = (R @ np.array(inertia) @ R.T).tolist()
            bodies.append(tf.Body(name, mass, (start + R @ np.array(com)).tolist(), tensor))
        axes = (k.tolist(), y.tolist())
        rotor = 0.0 if p.reflected_mass is None else p.reflected_mass[i]
        joints += [
            tf.Universal(f"universal{i}", "ground", f"lower{i}", at=low.tolist(), axes=axes),
            tf.Slider(
                f"leg{i}",
                f"lower{i}",
                f"upper{i}",
                at=low.tolist(),
                axis=x.tolist(),
                actuated=True,
                motor_inertia=rotor,
            ),
            tf.Spherical(f"ball{i}", f"upper{i}", "platform", at=high.tolist()),
        ]
    exceptions = [KnownException(body.name, "of the platform") for body in bodies]
    return tf.Mechanism(
        bodies=bodies, joints=joints, gravity=p.gravity, independent="platform", known_exceptions=exceptions
    )
