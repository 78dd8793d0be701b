"""The mechanisms that are compared: closed loops as they are built, and trees from the URDF files of a wheel.

Lengths and masses of the loops are chosen by us, but for Andrews' squeezing mechanism (Schiehlen 1990) and the platform
of Dasgupta 1998. Positions are spread about the home position.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from wheels import unpacked

import tauforge as tf

UP = np.array([0.0, 0.0, 1.0])


class Case(NamedTuple):
    """A mechanism, how far its independent coordinates are spread, and whether it moves in a plane."""

    name: str
    mechanism: tf.Mechanism
    spread: float
    planar: bool = False


def bar(name: str, a: np.ndarray, b: np.ndarray, mass: float, radius: float = 0.02) -> tf.Body:
    """A uniform bar between two points."""
    length = float(np.linalg.norm(b - a))
    e = (b - a) / length
    across = np.eye(3) - np.outer(e, e)
    inertia = mass * length**2 / 12 * across + mass * radius**2 / 2 * np.outer(e, e)
    return tf.Body(name, mass, tuple((a + b) / 2), inertia.tolist())


def five_bar() -> Case:
    left, elbow = np.zeros(3), np.array([-0.1, 0.28, 0.0])
    right, other, tip = np.array([0.25, 0.0, 0.0]), np.array([0.35, 0.28, 0.0]), np.array([0.12, 0.55, 0.0])
    bodies = [
        bar("crank 1", left, elbow, 1.0),
        bar("rod 1", elbow, tip, 0.7),
        bar("crank 2", right, other, 1.0),
        bar("rod 2", other, tip, 0.7),
    ]
    joints = [
        tf.Hinge("left", "ground", "crank 1", at=left, actuated=True),
        tf.Hinge("elbow 1", "crank 1", "rod 1", at=elbow),
        tf.Hinge("right", "ground", "crank 2", at=right, actuated=True),
        tf.Hinge("elbow 2", "crank 2", "rod 2", at=other),
        tf.Hinge("tip", "rod 1", "rod 2", at=tip),
    ]
    mechanism = tf.Mechanism(bodies=bodies, joints=joints, gravity=(0, -9.81, 0), name="five-bar")
    return Case("planar five-bar", mechanism, 0.2, planar=True)


def andrews() -> Case:
    """Angles of the standard start (test set for initial value problems), driven at the crank."""
    beta, theta, gamma, phi, delta, omega, epsilon = (
        -0.0617138900142764496358948458001,
        0.0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    )
    A, B, O = np.array([-0.06934, -0.00227, 0.0]), np.array([-0.03635, 0.03273, 0.0]), np.zeros(3)

    def turned(angle: float, x: float, y: float) -> np.ndarray:
        c, s = math.cos(angle), math.sin(angle)
        return np.array([c * x - s * y, s * x + c * y, 0.0])

    crank = O + turned(beta, 7e-3, 0)
    E = crank + turned(beta + theta, -28e-3, 0)
    H, G = A + turned(delta, 4e-2, 0), A + turned(epsilon, 0, -4e-2)

    def body(name: str, mass: float, at: np.ndarray, angle: float, x: float, y: float, inertia: float) -> tf.Body:
        """Flat bodies: only the turn about z matters."""
        return tf.Body(name, mass, tuple(at + turned(angle, x, y)), (inertia / 2, inertia / 2, inertia))

    bodies = [
        body("K1", 0.04325, O, beta, 92e-5, 0, 2.194e-6),
        body("K2", 0.00365, crank, beta + theta, -115e-4, 0, 4.410e-7),
        body("K3", 0.02373, B, gamma, 1043e-5, -1874e-5, 5.255e-6),
        body("K4", 0.00706, H, delta + phi, 0, -(2e-2 - 1421e-5), 5.667e-7),
        body("K5", 0.07050, A, delta, 2308e-5, 916e-5, 1.169e-5),
        body("K6", 0.00706, G, epsilon + omega, 2e-2 - 1421e-5, 0, 5.667e-7),
        body("K7", 0.05498, A, epsilon, -449e-5, -1228e-5, 1.912e-5),
    ]
    ends = (("beta", "ground", "K1", O), ("theta", "K1", "K2", crank), ("gamma", "ground", "K3", B))
    ends += (
        ("delta", "ground", "K5", A),
        ("phi", "K5", "K4", H),
        ("epsilon", "ground", "K7", A),
        ("omega", "K7", "K6", G),
    )
    ends += (("E3", "K2", "K3", E), ("E4", "K2", "K4", E), ("E6", "K2", "K6", E))
    joints = [tf.Hinge(name, a, b, at=at, actuated=name == "beta") for name, a, b, at in ends]
    mechanism = tf.Mechanism(bodies=bodies, joints=joints, gravity=(0, 0, 0), name="Andrews")
    return Case("Andrews' squeezer", mechanism, 0.3, planar=True)


def elbow_of(base: np.ndarray, out: np.ndarray, crank: float, tip: np.ndarray, rod: float) -> np.ndarray:
    """The end of a crank in the plane of `out` and z that is as far from the tip as the rod is long; the outer one."""
    d = tip - base
    u, w, square = float(d @ out), float(d @ UP), float(d @ d)
    # 2 crank (u cos + w sin) = crank^2 + |d|^2 - rod^2
    angle = math.atan2(w, u) + math.acos((crank**2 + square - rod**2) / (2 * crank * math.hypot(u, w)))
    other = 2 * math.atan2(w, u) - angle
    ends = [base + crank * (math.cos(x) * out + math.sin(x) * UP) for x in (angle, other)]
    return max(ends, key=lambda end: float(end @ out))


def delta_arm(i: int, platform: np.ndarray, width: tuple[float, ...]) -> tuple[np.ndarray, ...]:
    """Base, elbow, tip and side of an arm of the Delta, in the middle between its rods."""
    c, s = math.cos(2 * math.pi * i / 3), math.sin(2 * math.pi * i / 3)
    out, side = np.array([c, s, 0.0]), np.array([-s, c, 0.0])
    base, tip = 0.2 * out, platform + 0.05 * out
    return base, elbow_of(base, out, 0.25, tip, 0.6), tip, side


def universal(name: str, parent: str, child: str, at: np.ndarray, side: np.ndarray, along: np.ndarray) -> tf.Universal:
    """Axes: the crank's own and one across it and the rod."""
    across = np.cross(side, along)
    return tf.Universal(name, parent, child, at=at, axes=(tuple(side), tuple(across / np.linalg.norm(across))))


def delta_six_rods() -> Case:
    """Three arms, two parallel rods each, universal joints at the elbows and balls at the platform, which is free."""
    origin = np.array([0.0, 0.0, -0.55])
    bodies = [tf.Body("platform", 0.8, tuple(origin + 0.01 * UP), (2e-3, 2e-3, 3e-3), origin=tuple(origin))]
    joints: list[tf.Hinge | tf.Universal | tf.Spherical] = []
    for i in range(3):
        base, elbow, tip, side = delta_arm(i, origin, (0.06,))
        bodies.append(bar(f"arm {i}", base, elbow, 0.5))
        joints.append(tf.Hinge(f"motor {i}", "ground", f"arm {i}", at=base, axis=tuple(side), actuated=True))
        for k, y in enumerate((-0.06, 0.06)):
            rod, a, b = f"rod {i} {k}", elbow + y * side, tip + y * side
            bodies.append(bar(rod, a, b, 0.1))
            joints.append(universal(f"elbow {i} {k}", f"arm {i}", rod, a, side, b - a))
            joints.append(tf.Spherical(f"ball {i} {k}", rod, "platform", at=b))
    return Case("Delta, six rods", tf.Mechanism(bodies=bodies, joints=joints, name="Delta, six rods"), 0.05)


def delta_translating() -> Case:
    """The platform on three sliders, one rod an arm: it cannot turn."""
    origin = np.array([0.0, 0.0, -0.55])
    bodies = [tf.Body("x", origin=tuple(origin)), tf.Body("y", origin=tuple(origin))]
    bodies.append(tf.Body("platform", 0.8, tuple(origin + 0.01 * UP), (2e-3, 2e-3, 3e-3), origin=tuple(origin)))
    joints: list[tf.Slider | tf.Hinge | tf.Universal | tf.Spherical] = [
        tf.Slider(name, parent, child, at=origin, axis=tuple(axis))
        for name, parent, child, axis in zip(
            "xyz", ("ground", "x", "y"), ("x", "y", "platform"), np.eye(3), strict=True
        )
    ]
    for i in range(3):
        base, elbow, tip, side = delta_arm(i, origin, (0.0,))
        bodies += [bar(f"arm {i}", base, elbow, 0.5), bar(f"rod {i}", elbow, tip, 0.2)]
        joints.append(tf.Hinge(f"motor {i}", "ground", f"arm {i}", at=base, axis=tuple(side), actuated=True))
        joints.append(universal(f"elbow {i}", f"arm {i}", f"rod {i}", elbow, side, tip - elbow))
        joints.append(tf.Spherical(f"ball {i}", f"rod {i}", "platform", at=tip))
    return Case("Delta, translating", tf.Mechanism(bodies=bodies, joints=joints, name="Delta, translating"), 0.05)


def hexapod_rus(independent: str | None = None) -> Case:
    """Six cranks, six rods with universal joints and balls, a free platform."""
    origin = np.array([0.0, 0.0, 0.45])
    bodies = [tf.Body("platform", 5.0, tuple(origin + 0.02 * UP), (0.05, 0.05, 0.09), origin=tuple(origin))]
    joints: list[tf.Hinge | tf.Universal | tf.Spherical] = []
    angles = np.radians([10, 110, 130, 230, 250, 350]), np.radians([50, 70, 170, 190, 290, 310])
    for i, (theta, phi) in enumerate(zip(*angles, strict=True)):
        out, side = np.array([math.cos(theta), math.sin(theta), 0]), np.array([-math.sin(theta), math.cos(theta), 0])
        base, tip = 0.3 * out, origin + 0.2 * np.array([math.cos(phi), math.sin(phi), 0])
        elbow = elbow_of(base, out, 0.15, tip, 0.45)
        bodies += [bar(f"crank {i}", base, elbow, 0.6), bar(f"rod {i}", elbow, tip, 0.4)]
        joints.append(tf.Hinge(f"motor {i}", "ground", f"crank {i}", at=base, axis=tuple(side), actuated=True))
        joints.append(universal(f"elbow {i}", f"crank {i}", f"rod {i}", elbow, side, tip - elbow))
        joints.append(tf.Spherical(f"ball {i}", f"rod {i}", "platform", at=tip))
    name = "6-RUS" if independent is None else "6-RUS, pose rates"
    return Case(name, tf.Mechanism(bodies=bodies, joints=joints, name="6-RUS", independent=independent), 0.03)


def hexapod_ups() -> tuple[Case, tf.StewartPlatform]:
    """The platform of Dasgupta 1998 without friction as a mechanism, and as it is."""
    platform = tf.load("dasgupta1998").without_friction()
    pose = np.array([0.2, 0.0, 0.5, 0.0, 0.0, 0.0])
    origin, legs = pose[:3], platform.leg_motion(pose).directions
    com = origin + np.array(platform.platform_com)
    bodies = [tf.Body("platform", platform.platform_mass, tuple(com), platform.platform_inertia, origin=tuple(origin))]
    joints: list[tf.Universal | tf.Slider | tf.Spherical] = []
    for i, s in enumerate(legs):
        base, tip = np.array(platform.base_points[i]), origin + np.array(platform.platform_points[i])
        fixed = np.array(platform.universal_axes[i], float)
        moving = np.cross(fixed, s)
        moving /= np.linalg.norm(moving)
        R = np.column_stack([s, moving, np.cross(s, moving)])  # world <- axes of the leg
        for part, at in (("lower", base), ("upper", tip)):
            mass, c, inertia = (np.array(getattr(platform, f"{part}_{what}")[i]) for what in ("mass", "com", "inertia"))
            bodies.append(tf.Body(f"{part} {i}", float(mass), tuple(at + R @ c), (R @ inertia @ R.T).tolist()))
        axes = (tuple(fixed), tuple(moving))
        joints.append(tf.Universal(f"base {i}", "ground", f"lower {i}", at=base, axes=axes))
        joints.append(tf.Slider(f"leg {i}", f"lower {i}", f"upper {i}", at=base, axis=tuple(s), actuated=True))
        joints.append(tf.Spherical(f"ball {i}", f"upper {i}", "platform", at=tip))
    mechanism = tf.Mechanism(
        bodies=bodies, joints=joints, name="6-UPS", gravity=platform.gravity, independent="platform"
    )
    return Case("6-UPS, pose rates", mechanism, 0.1), platform


# --------------------------------------------------------------------------------------------------------------- trees

URDF = {
    "Allegro hand": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "Baxter": "baxter_description/urdf/baxter.urdf",
    "iCub": "icub_description/robots/icub.urdf",
    "dual Tiago": "tiago_description/robots/tiago_dual.urdf",
}


def urdf_path(name: str) -> str:
    folder = unpacked("example-robot-data", "cmeel.prefix/share/example-robot-data/robots/*.urdf")
    return str(folder / "cmeel.prefix" / "share" / "example-robot-data" / "robots" / URDF[name])


LOOPS: tuple[Callable[[], Case], ...] = (five_bar, andrews, delta_translating, delta_six_rods, hexapod_rus)


def tree(name: str) -> Case:
    """The robot of a URDF file, as Pinocchio reads it: links that are fixed to each other are one body."""
    import pinocchio

    model = pinocchio.buildModelFromUrdf(urdf_path(name))
    data = model.createData()
    pinocchio.forwardKinematics(model, data, pinocchio.neutral(model))
    labels = ["ground", *(str(joint).replace(".", " ") for joint in model.names[1:])]
    bodies, joints = [], []
    for k in range(1, model.njoints):
        world, inertia, kind = data.oMi[k], model.inertias[k], model.joints[k].shortname()
        R, at = world.rotation, world.translation
        com = at + R @ inertia.lever
        bodies.append(tf.Body(labels[k], inertia.mass, tuple(com), (R @ inertia.inertia @ R.T).tolist()))
        own = np.eye(3)["XYZ".index(kind[-1])] if kind[-1] in "XYZ" else np.array(model.joints[k].extract().axis)
        joint = tf.Slider if kind.startswith("JointModelP") else tf.Hinge
        parent = labels[model.parents[k]]
        joints.append(joint(labels[k], parent, labels[k], at=tuple(at), axis=tuple(R @ own), actuated=True))
    gravity = tuple(model.gravity.linear)
    return Case(name, tf.Mechanism(bodies=bodies, joints=joints, name=name, gravity=gravity), math.pi)
