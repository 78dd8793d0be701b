"""Mechanisms of the literature and of our own, as they are built: bodies and joints in the world, at home."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import tauforge as tf

Point = Sequence[float]
Z = (0.0, 0.0, 1.0)
# Andrews' squeezing mechanism. Source: Test Set for IVP Solvers, release 2.4, problem Andrews' squeezing mechanism;
# after Schiehlen (ed.) 1990, Multibody Systems Handbook. Angles at the start; the others follow from Theta = 0.
ANDREWS_START = {
    "K1": -0.0617138900142764,
    "K2": 0.0,
    "K3": 0.455279819163070,
    "K4": 0.222668390165885,
    "K5": 0.487364979543842,
    "K6": -0.222668390165885,
    "K7": 1.23054744454982,
}
ANDREWS_TORQUE = 0.033  # N m on K1


def bar(name: str, a: Point, b: Point, mass: float, radius: float = 0.02) -> tf.Body:
    """A cylinder between two points."""
    start, end = np.array(a, float), np.array(b, float)
    length = float(np.linalg.norm(end - start))
    along = np.outer(end - start, end - start) / length**2
    inertia = mass * length**2 / 12 * (np.eye(3) - along) + mass * radius**2 / 2 * along
    return tf.Body(name, mass, tuple((start + end) / 2), inertia.tolist())


def andrews() -> tf.Mechanism:
    """Seven bodies in a plane, one degree of freedom, without weight; joints are named after their outer bodies."""
    beta, theta, gamma, phi, delta, omega, epsilon = ANDREWS_START.values()
    A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), (0.014, 0.072)

    def at(origin: Any, angle: float, x: float, y: float = 0.0) -> Any:
        c, s = math.cos(angle), math.sin(angle)
        return np.asarray(origin) + [c * x - s * y, s * x + c * y]

    F = at((0, 0), beta, 7e-3)
    P5, P7 = at(A, delta, 4e-2), at(A, epsilon, 0.0, -4e-2)
    E = at(F, beta + theta, -28e-3)
    D = at(B, gamma, 2e-2, -18e-3)
    # name: mass, centre of mass, moment of inertia
    data: dict[str, tuple[float, Any, float]] = {
        "K1": (0.04325, at((0, 0), beta, 92e-5), 2.194e-6),
        "K2": (0.00365, at(F, beta + theta, -115e-4), 4.410e-7),
        "K3": (0.02373, at(B, gamma, 1043e-5, -1874e-5), 5.255e-6),
        "K4": (0.00706, at(P5, phi + delta, 0.0, -(2e-2 - 1421e-5)), 5.667e-7),
        "K5": (0.07050, at(A, delta, 2308e-5, 916e-5), 1.169e-5),
        "K6": (0.00706, at(P7, omega + epsilon, 2e-2 - 1421e-5), 5.667e-7),
        "K7": (0.05498, at(A, epsilon, -449e-5, -1228e-5), 1.912e-5),
    }

    def hinge(name: str, parent: str, child: str, place: Any, **more: Any) -> tf.Hinge:
        return tf.Hinge(name, parent, child, at=(*place, 0.0), axis=Z, **more)

    homes = ANDREWS_START
    bodies = [tf.Body(name, m, (*c, 0.0), (0.5 * I, 0.5 * I, I)) for name, (m, c, I) in data.items()]
    return tf.Mechanism(
        name="Andrews' squeezing mechanism",
        bodies=bodies,
        joints=[
            hinge("K1", "ground", "K1", (0.0, 0.0), actuated=True, home=homes["K1"]),
            hinge("K2", "K1", "K2", F, home=homes["K2"]),
            hinge("K3", "ground", "K3", B, home=homes["K3"]),
            hinge("K5", "ground", "K5", A, home=homes["K5"]),
            hinge("K4", "K5", "K4", P5, home=homes["K4"]),
            hinge("K7", "ground", "K7", A, home=homes["K7"]),
            hinge("K6", "K7", "K6", P7, home=homes["K6"]),
            hinge("E3", "K2", "K3", E),
            hinge("E4", "K2", "K4", E),
            hinge("E6", "K2", "K6", E),
        ],
        springs=[tf.Spring("ground", (*C, 0.0), "K3", (*D, 0.0), stiffness=4530.0, length=0.07785)],
        gravity=(0.0, 0.0, 0.0),
    )


def pendulum() -> tf.Mechanism:
    """IFToMM A01: a point mass of 1 kg on a bar of 1 m without mass, horizontal at home; gravity along -y."""
    return tf.Mechanism(
        name="pendulum",
        bodies=[tf.Body("bob", 1.0, (1.0, 0.0, 0.0))],
        joints=[tf.Hinge("pivot", "ground", "bob", at=(0.0, 0.0, 0.0), axis=Z)],
        gravity=(0.0, -9.81, 0.0),
    )


def four_bars(windows: int) -> tf.Mechanism:
    """IFToMM A02: square windows of bars of 1 m and 1 kg, upright at home; gravity along -y."""
    bodies, joints = [], []
    for i in range(windows + 1):
        foot, head = (float(i), 0.0, 0.0), (float(i), 1.0, 0.0)
        bodies.append(bar(f"crank{i}", foot, head, 1.0, radius=0.0))
        joints.append(tf.Hinge(f"foot{i}", "ground", f"crank{i}", at=foot, axis=Z))
    for i in range(windows):
        left, right = (float(i), 1.0, 0.0), (i + 1.0, 1.0, 0.0)
        bodies.append(bar(f"coupler{i}", left, right, 1.0, radius=0.0))
        joints.append(tf.Hinge(f"left{i}", f"crank{i}", f"coupler{i}", at=left, axis=Z))
        joints.append(tf.Hinge(f"right{i}", f"coupler{i}", f"crank{i + 1}", at=right, axis=Z))
    return tf.Mechanism(name="four-bars", bodies=bodies, joints=joints, gravity=(0.0, -9.81, 0.0))


def bricard() -> tf.Mechanism:
    """IFToMM A04: five square rods of 1 m, 0.1 m wide and of 1 kg, six hinges along the edges of a cube."""
    points = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    bodies = []
    for i in range(5):
        a, b = (np.array(points[k], float) for k in (i, i + 1))
        along = np.abs(b - a)
        inertia = (1.0 + 0.1**2) / 12 * (1 - along) + 2 * 0.1**2 / 12 * along
        bodies.append(tf.Body(f"rod{i + 1}", 1.0, tuple((a + b) / 2), tuple(inertia)))
    names = ["ground", *(body.name for body in bodies), "ground"]
    joints = [
        tf.Hinge(f"hinge{k + 1}", names[k], names[k + 1], at=points[k], axis=axes[k])
        if k < 5
        else tf.Hinge("hinge6", "ground", "rod5", at=points[k], axis=axes[k])
        for k in range(6)
    ]
    return tf.Mechanism(name="Bricard's mechanism", bodies=bodies, joints=joints, gravity=(0.0, -9.81, 0.0))


def governor(*, damping: float = 4e4, stiffness: float = 8e5) -> tf.Mechanism:
    """IFToMM A05: a flyball governor whose couplers are springs with dampers; the shaft turns about z."""
    side, slider = (1.0, 0.01), 0.1
    rod_mass, slider_mass = 3000 * 1.0 * 0.01**2, 3000 * slider**3
    small, large = rod_mass * 2 * side[1] ** 2 / 12, rod_mass * (side[0] ** 2 + side[1] ** 2) / 12
    cube = slider_mass * 2 * slider**2 / 12
    bodies = [
        tf.Body("shaft", rod_mass, (0.0, 0.0, 0.5), (large, large, small)),
        tf.Body("slider", slider_mass, (0.0, 0.0, 0.5), (cube, cube, cube)),
    ]
    joints: list[Any] = [
        tf.Hinge("spin", "ground", "shaft", at=(0.0, 0.0, 0.0), axis=Z),
        tf.Slider("slide", "shaft", "slider", at=(0.0, 0.0, 0.5), axis=Z),
    ]
    springs = []
    for name, sign in (("right", 1.0), ("left", -1.0)):
        top = np.array([sign * 0.05, 0.0, 1.0])
        along = np.array([sign * math.cos(math.radians(30)), 0.0, -math.sin(math.radians(30))])
        middle, ball = top + 0.5 * along, top + along
        inertia = large * np.eye(3) + (small - large) * np.outer(along, along)
        mass, com = rod_mass + 5.0, (rod_mass * middle + 5.0 * ball) / (rod_mass + 5.0)
        for m, c in ((rod_mass, middle), (5.0, ball)):
            d = c - com
            inertia = inertia + m * (d @ d * np.eye(3) - np.outer(d, d))
        bodies.append(tf.Body(name, mass, tuple(com), inertia.tolist()))
        joints.append(tf.Hinge(f"{name} hinge", "shaft", name, at=tuple(top), axis=(0.0, 1.0, 0.0)))
        ends = ((sign * 0.05, 0.0, 0.5), tuple(middle))
        springs.append(tf.Spring("slider", ends[0], name, ends[1], stiffness=stiffness, length=0.5, damping=damping))
    return tf.Mechanism(name="governor", bodies=bodies, joints=joints, springs=springs)


def five_bar(**changes: Any) -> tf.Mechanism:
    """Two cranks in a plane, both actuated, two rods between them."""
    A, B, C, D, E = (0, 0, 0), (-0.1, 0.28, 0), (0.12, 0.55, 0), (0.35, 0.28, 0), (0.25, 0, 0)
    given: dict[str, Any] = {
        "name": "five-bar",
        "bodies": [bar("c1", A, B, 1.0), bar("r1", B, C, 0.7), bar("c2", E, D, 1.0), bar("r2", D, C, 0.7)],
        "joints": [
            tf.Hinge("left", "ground", "c1", at=A, actuated=True),
            tf.Hinge("e1", "c1", "r1", at=B),
            tf.Hinge("right", "ground", "c2", at=E, actuated=True),
            tf.Hinge("e2", "c2", "r2", at=D),
            tf.Hinge("mid", "r1", "r2", at=C),
        ],
        "gravity": (0.0, -9.81, 0.0),
    }
    return tf.Mechanism(**(given | changes))


def crank_rocker(independent: tuple[str, ...] | None = None, **more: Any) -> tf.Mechanism:
    """A crank that turns fully, a coupler and a rocker, which rests at its two dead centres."""
    A, B, C, D = (0, 0, 0), (0, 0.1, 0), (0.35, 0.3, 0), (0.4, 0, 0)
    return tf.Mechanism(
        name="crank-rocker",
        bodies=[bar("crank", A, B, 0.5), bar("coupler", B, C, 0.4), bar("rocker", D, C, 0.6)],
        joints=[
            tf.Hinge("crank", "ground", "crank", at=A, actuated=True, **more),
            tf.Hinge("coupler", "crank", "coupler", at=B),
            tf.Hinge("rocker", "ground", "rocker", at=D),
            tf.Hinge("tip", "coupler", "rocker", at=C),
        ],
        independent=independent,
        gravity=(0.0, -9.81, 0.0),
    )


def _elbow(base: Any, out: Any, tip: Any, crank: float, rod: float) -> Any:
    """Where a crank about a horizontal axis and a rod to the tip meet, outside."""
    up = np.array([0.0, 0.0, 1.0])
    d = np.asarray(tip) - base
    # |crank (cos a out + sin a up) - d| = rod
    x, z = d @ out, d @ up
    reach = (crank**2 + d @ d - rod**2) / (2 * crank)
    half = math.acos(reach / math.hypot(x, z))
    angle = max((math.atan2(z, x) + half, math.atan2(z, x) - half), key=math.cos)
    return base + crank * (math.cos(angle) * out + math.sin(angle) * up)


def _leg(i: str, base: Any, out: Any, elbow: Any, tip: Any, crank: str) -> tuple[tf.Body, list[Any]]:
    """A rod from a universal joint on the crank to a ball on the platform."""
    side = np.array([-out[1], out[0], 0.0])
    across = np.cross(side, tip - elbow)
    across /= np.linalg.norm(across)
    joints = [
        tf.Universal(f"elbow{i}", crank, f"rod{i}", at=tuple(elbow), axes=(tuple(side), tuple(across))),
        tf.Spherical(f"ball{i}", f"rod{i}", "platform", at=tuple(tip)),
    ]
    return bar(f"rod{i}", elbow, tip, 0.1), joints


def delta(independent: str | None = None) -> tf.Mechanism:
    """Three cranks, six rods in parallel pairs, a platform that does not turn; chosen by us."""
    height, half = -0.55, 0.06
    bodies = [tf.Body("platform", 0.8, (0.0, 0.0, height + 0.01), (2e-3, 2e-3, 3e-3), origin=(0.0, 0.0, height))]
    joints: list[Any] = []
    for i in range(3):
        c, s = math.cos(2 * math.pi * i / 3), math.sin(2 * math.pi * i / 3)
        out, side = np.array([c, s, 0.0]), np.array([-s, c, 0.0])
        base, tip = 0.2 * out, 0.05 * out + [0.0, 0.0, height]
        elbow = _elbow(base, out, tip, 0.25, 0.6)
        bodies.append(bar(f"arm{i}", base, elbow, 0.5))
        joints.append(tf.Hinge(f"motor{i}", "ground", f"arm{i}", at=tuple(base), axis=tuple(-side), actuated=True))
        for k, sign in enumerate((-1.0, 1.0)):
            shift = sign * half * side
            rod, own = _leg(f"{i}{'ab'[k]}", base + shift, out, elbow + shift, tip + shift, f"arm{i}")
            bodies.append(rod)
            joints += own
    return tf.Mechanism(name="Delta", bodies=bodies, joints=joints, independent=independent)


def six_rus(independent: str | None = None) -> tf.Mechanism:
    """Six cranks, six rods between universal joints and balls, a platform with six degrees of freedom; ours."""
    feet, tops = np.radians([10, 110, 130, 230, 250, 350]), np.radians([50, 70, 170, 190, 290, 310])
    bodies = [tf.Body("platform", 5.0, (0.0, 0.0, 0.47), (0.05, 0.05, 0.09), origin=(0.0, 0.0, 0.45))]
    joints: list[Any] = []
    for i, (foot, top) in enumerate(zip(feet, tops, strict=True)):
        out = np.array([math.cos(foot), math.sin(foot), 0.0])
        base, tip = 0.3 * out, np.array([0.2 * math.cos(top), 0.2 * math.sin(top), 0.45])
        elbow = _elbow(base, out, tip, 0.15, 0.45)
        bodies.append(bar(f"crank{i}", base, elbow, 0.6))
        side = (-out[1], out[0], 0.0)
        joints.append(tf.Hinge(f"motor{i}", "ground", f"crank{i}", at=tuple(base), axis=side, actuated=True))
        rod, own = _leg(str(i), base, out, elbow, tip, f"crank{i}")
        bodies.append(rod)
        joints += own
    return tf.Mechanism(name="6-RUS", bodies=bodies, joints=joints, independent=independent)


def ball_pendulum() -> tf.Mechanism:
    """A bob that hangs from a ball, whose state is a quaternion, and that carries a hinge with a motor."""
    bob = tf.Body("bob", 1.2, (0.1, 0.05, -0.3), ((0.03, 0.002, 0), (0.002, 0.04, 0.001), (0, 0.001, 0.02)))
    wheel = tf.Body("wheel", 0.4, (0.1, 0.02, -0.4), ((0.003, 0, 0), (0, 0.002, 0), (0, 0, 0.002)))
    joints = [
        tf.Spherical("ball", "ground", "bob", at=(0, 0, 0)),
        tf.Hinge("spin", "bob", "wheel", at=(0.1, 0, -0.4), axis=(0, 1, 0), actuated=True),
    ]
    return tf.Mechanism(bodies=[bob, wheel], joints=joints, name="ball")
