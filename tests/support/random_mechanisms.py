"""Random mechanisms and their states for the tests: trees and loops of all joints, full inertias, tilted gravity.

A joint is given in the home position, so a joint between any two bodies closes a loop there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tauforge as tf
from support.strategies import random_inertia
from tauforge.robots.mechanism.parts import MechanismJoint

Array = NDArray[Any]
TREE_KINDS = (tf.Hinge, tf.Slider, tf.Universal, tf.Spherical, tf.Cylinder, tf.Planar, tf.Free, tf.Weld)
LOOP_KINDS = (tf.Spherical, tf.Hinge, tf.Universal, tf.Slider, tf.Cylinder, tf.Planar)


def unit(v: Array) -> Array:
    found: Array = v / np.linalg.norm(v)
    return found


def random_body(rng: np.random.Generator, name: str) -> tf.Body:
    com, origin = rng.uniform(-0.5, 0.5, (2, 3)).tolist()
    return tf.Body(name, rng.uniform(0.5, 5), com, random_inertia(rng), origin=origin)


def bar(name: str, a: Any, b: Any, mass: float, radius: float = 0.02) -> tf.Body:
    """A round bar between two points, as built."""
    start, end = np.array(a, float), np.array(b, float)
    length = float(np.linalg.norm(end - start))
    e = (end - start) / length
    across, along = mass * (length**2 / 12 + radius**2 / 4), mass * radius**2 / 2
    inertia = across * (np.eye(3) - np.outer(e, e)) + along * np.outer(e, e)
    return tf.Body(name, mass, tuple(((start + end) / 2).tolist()), inertia.tolist())


def random_joint(
    rng: np.random.Generator, kind: type[MechanismJoint], name: str, parent: str, child: str, **more: Any
) -> MechanismJoint:
    """Its home coordinates are random where it has lengths or single angles."""
    given: dict[str, Any] = {"at": rng.uniform(-0.5, 0.5, 3).tolist()}
    if kind in (tf.Hinge, tf.Slider, tf.Cylinder, tf.Planar):
        given["axis"] = rng.normal(size=3).tolist()
    if kind is tf.Planar and rng.random() < 0.5:
        given["along"] = rng.normal(size=3).tolist()
    if kind is tf.Universal:
        given["axes"] = rng.normal(size=(2, 3)).tolist()
    if kind not in (tf.Spherical, tf.Free, tf.Weld):
        given["home"] = rng.uniform(-1, 1, len(kind.letters)).tolist()
    return kind(name, parent, child, **(given | more))


def random_drive(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "viscous": rng.uniform(0, 0.1),
        "coulomb": rng.uniform(0, 0.5, 2).tolist(),
        "motor_inertia": rng.uniform(0, 1e-3),
        "gear_ratio": rng.uniform(5, 20) * rng.choice([-1, 1]),
    }


def random_springs(rng: np.random.Generator, names: Sequence[str], count: int) -> list[tf.Spring]:
    found = []
    for _ in range(count):
        a, b = rng.choice(["ground", *names], 2, replace=False).tolist()
        pa, pb = rng.uniform(-0.5, 0.5, (2, 3)).tolist()
        stiffness, length, damping = rng.uniform(1, 100), rng.uniform(0, 1), rng.uniform(0, 5)
        found.append(tf.Spring(a, pa, b, pb, stiffness, length, damping))
    return found


def random_mechanism(
    rng: np.random.Generator,
    kinds: Sequence[type[MechanismJoint]],
    loops: Sequence[type[MechanismJoint]] = (),
    *,
    drives: bool = False,
    springs: int = 0,
    reverse: float = 0.3,
    actuated: float = 0.7,
    mimic: bool = False,
    branching: float = 0.4,
    **more: Any,
) -> tf.Mechanism:
    """A tree with these joints, one for each body, and loops closed by others.

    reverse:   share of the joints whose child is nearer to the ground
    branching: share of the bodies that do not hang from the last one
    """
    names = [f"body{k}" for k in range(len(kinds))]
    joints: list[MechanismJoint] = []
    for k, kind in enumerate(kinds):
        inner = (["ground", *names[:k]])[rng.integers(k + 1)] if rng.random() < branching else (["ground", *names])[k]
        ends = (inner, names[k])
        if kind is not tf.Free and rng.random() < reverse:
            ends = ends[::-1]
        given: dict[str, Any] = {}
        if kind.letters and kind is not tf.Free:
            given["actuated"] = bool(rng.random() < actuated)
            given |= random_drive(rng) if drives else {}
        joints.append(random_joint(rng, kind, f"joint{k}", *ends, **given))
    for k, kind in enumerate(loops):
        ends = tuple(rng.choice(["ground", *names], 2, replace=False).tolist())
        joints.append(random_joint(rng, kind, f"loop{k}", *ends))
    if mimic:
        joints = with_mimic(rng, joints)
    return tf.Mechanism(
        bodies=[random_body(rng, name) for name in names],
        joints=joints,
        springs=random_springs(rng, names, springs),
        gravity=rng.uniform(-9, 9, 3).tolist(),
        **more,
    )


def with_mimic(rng: np.random.Generator, joints: Sequence[MechanismJoint]) -> list[MechanismJoint]:
    """The last hinge or slider of the tree follows the first."""
    found = list(joints)
    single = [k for k, joint in enumerate(found) if len(joint.letters) == 1 and joint.name.startswith("joint")]
    leader, follower = found[single[0]], found[single[-1]]
    factor = float(rng.uniform(-2, 2))
    offset = float(np.ravel(follower.home)[0] - factor * np.ravel(leader.home)[0])
    found[single[-1]] = dataclasses.replace(follower, mimic=(leader.name, factor, offset), actuated=False)
    return found


def closed_positions(
    m: tf.Mechanism, rng: np.random.Generator, count: int, spread: float = 0.3, near: Array | None = None
) -> Array:
    """(k, N) positions near home whose loops close; at least one, for home is among them."""
    start = m.home if near is None else near
    q = m.positions.coordinates(start) + rng.uniform(-spread, spread, (count, m.n))
    x = m.configuration(q, near=start, on_failure="nan")
    return np.concatenate([x[np.isfinite(x).all(axis=-1)], start[None]])


# ------------------------------------------------------------------------------------------------ well-known mechanisms


def tilt(rng: np.random.Generator, mechanism: tf.Mechanism) -> tf.Mechanism:
    """The same mechanism in another place, with gravity as it was: no axis lies along the world's."""
    from support.strategies import random_rotation

    R, p = random_rotation(rng), rng.uniform(-0.3, 0.3, 3)

    def point(v: Any) -> list[float]:
        return (R @ np.array(v) + p).tolist()

    bodies = [
        dataclasses.replace(
            b, com=point(b.com), origin=point(b.origin), inertia=(R @ np.array(b.inertia) @ R.T).tolist()
        )
        for b in mechanism.bodies
    ]
    joints = []
    for joint in mechanism.joints:
        changes: dict[str, Any] = {"at": point(joint.at)}
        for field in ("axis", "along", "axes"):
            if getattr(joint, field, None) is not None:
                changes[field] = (np.array(getattr(joint, field)) @ R.T).tolist()
        joints.append(dataclasses.replace(joint, **changes))
    return mechanism.replace(bodies=bodies, joints=joints)


def random_masses(rng: np.random.Generator, mechanism: tf.Mechanism) -> tf.Mechanism:
    """Full inertias and centres of mass off every axis."""
    size = mechanism._analysis.size
    bodies = [
        dataclasses.replace(
            b,
            mass=rng.uniform(0.5, 3),
            com=(np.array(b.com) + rng.uniform(-0.2, 0.2, 3) * size).tolist(),
            inertia=(random_inertia(rng) * size**2).tolist(),
        )
        for b in mechanism.bodies
    ]
    return mechanism.replace(bodies=bodies, gravity=rng.uniform(-9, 9, 3).tolist())


def five_bar(**more: Any) -> tf.Mechanism:
    A, B, C, D, E = (0, 0, 0), (-0.1, 0.28, 0), (0.12, 0.55, 0), (0.35, 0.28, 0), (0.25, 0, 0)
    return tf.Mechanism(
        bodies=[bar("crank 1", A, B, 1), bar("rod 1", B, C, 0.7), bar("crank 2", E, D, 1), bar("rod 2", D, C, 0.7)],
        joints=[
            tf.Hinge("left", "ground", "crank 1", at=A, actuated=True),
            tf.Hinge("elbow 1", "crank 1", "rod 1", at=B),
            tf.Hinge("right", "ground", "crank 2", at=E, actuated=True),
            tf.Hinge("elbow 2", "crank 2", "rod 2", at=D),
            tf.Hinge("middle", "rod 1", "rod 2", at=C),
        ],
        **({"gravity": (0, -9.81, 0), "name": "five-bar"} | more),
    )


def four_bar(driven: str = "crank", lengths: Sequence[float] = (0.2, 0.5, 0.4, 0.45), **more: Any) -> tf.Mechanism:
    """Crank, coupler, rocker, ground; home with the crank at 60 degrees."""
    crank, coupler, rocker, ground = lengths
    A, D = np.zeros(3), np.array([ground, 0, 0])
    B = crank * np.array([np.cos(np.pi / 3), np.sin(np.pi / 3), 0])
    between = D - B
    d = np.linalg.norm(between)
    along = (coupler**2 - rocker**2 + d**2) / (2 * d)
    height = np.sqrt(coupler**2 - along**2)
    e = between / d
    C = B + along * e + height * np.array([-e[1], e[0], 0])
    points = [tuple(p.tolist()) for p in (A, B, C, D)]
    return tf.Mechanism(
        bodies=[
            bar("crank", points[0], points[1], 0.5),
            bar("coupler", points[1], points[2], 1.0),
            bar("rocker", points[3], points[2], 0.8),
        ],
        joints=[
            tf.Hinge("crank", "ground", "crank", at=points[0], actuated=driven == "crank"),
            tf.Hinge("pin 1", "crank", "coupler", at=points[1]),
            tf.Hinge("rocker", "ground", "rocker", at=points[3], actuated=driven == "rocker"),
            tf.Hinge("pin 2", "rocker", "coupler", at=points[2]),
        ],
        **({"gravity": (0, -9.81, 0), "name": "four-bar", "independent": (driven,)} | more),
    )


def chain_of_hinges(
    points: Array, axes: Array, masses: Sequence[float], *, actuated: Sequence[int] = (0,), **more: Any
) -> tf.Mechanism:
    """A closed chain: hinge k between links k - 1 and k, the ground being link -1 and the last one."""
    n = len(points)
    names = ["ground", *(f"link{k}" for k in range(n - 1)), "ground"]
    joints = [
        tf.Hinge(
            f"hinge{k}", names[k], names[k + 1], at=points[k].tolist(), axis=axes[k].tolist(), actuated=k in actuated
        )
        for k in range(n)
    ]
    bodies = [bar(f"link{k}", points[k], points[k + 1], masses[k]) for k in range(n - 1)]
    return tf.Mechanism(bodies=bodies, joints=joints, **more)


def bennett(**more: Any) -> tf.Mechanism:
    """Bennett's linkage: opposite sides a, b and twists alpha, beta with a / sin(alpha) = b / sin(beta)."""
    a, b, alpha = 1.0, 0.7, 1.1
    beta = float(np.arcsin(b * np.sin(alpha) / a))
    theta = 1.2  # of the first hinge; the second follows
    k = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    phi = 2 * float(np.arctan(k / np.tan(theta / 2)))
    T, points, axes = np.eye(4), [], []
    for length, twist, angle in ((a, alpha, theta), (b, beta, phi), (a, alpha, -theta), (b, beta, -phi)):
        points.append(T[:3, 3].copy())
        axes.append(T[:3, 2].copy())
        T = T @ _denavit(angle, length, twist)
    assert np.abs(T - np.eye(4)).max() < 1e-12, np.abs(T - np.eye(4)).max()
    return chain_of_hinges(np.array(points), np.array(axes), [1.0, 2.0, 1.5], **({"name": "Bennett"} | more))


def _denavit(theta: float, a: float, alpha: float) -> Array:
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, 0], [0, 0, 0, 1]])


def bricard(**more: Any) -> tf.Mechanism:
    """Bricard's mechanism of six equal bars along the edges of a cube (IFToMM's benchmark A04)."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
    axes = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], float)
    return chain_of_hinges(points, axes, [1.0] * 5, **({"name": "Bricard"} | more))


def sarrus(**more: Any) -> tf.Mechanism:
    """Two chains of three parallel hinges in planes across: the top moves straight up."""
    bodies = [tf.Body("top", 2.0, (0.1, 0.05, 0.8), (0.1, 0.2, 0.25), origin=(0, 0, 0.8))]
    joints: list[MechanismJoint] = []
    for k, (out, axis) in enumerate((((1, 0), (0, 1, 0)), ((0, 1), (1, 0, 0)))):
        low, elbow, high = (np.array([*(r * np.array(out)), z]) for r, z in ((0.5, 0.0), (0.8, 0.4), (0.5, 0.8)))
        bodies += [bar(f"lower{k}", low, elbow, 0.5), bar(f"upper{k}", elbow, high, 0.4)]
        joints += [
            tf.Hinge(f"foot{k}", "ground", f"lower{k}", at=low.tolist(), axis=axis, actuated=k == 0),
            tf.Hinge(f"knee{k}", f"lower{k}", f"upper{k}", at=elbow.tolist(), axis=axis),
            tf.Hinge(f"hip{k}", f"upper{k}", "top", at=high.tolist(), axis=axis),
        ]
    return tf.Mechanism(bodies=bodies, joints=joints, **({"name": "Sarrus"} | more))


def parallelograms(**more: Any) -> tf.Mechanism:
    """Three equal cranks under one coupler: planar, and one crank more than the motion needs."""
    feet = [(0.0, 0, 0), (0.3, 0, 0), (0.7, 0, 0)]
    rise = np.array([0.15, 0.25, 0])
    bodies = [bar("coupler", feet[0] + rise, feet[2] + rise, 1.2)]
    joints: list[MechanismJoint] = []
    for k, foot in enumerate(feet):
        bodies.append(bar(f"crank{k}", foot, foot + rise, 0.4))
        joints.append(tf.Hinge(f"foot{k}", "ground", f"crank{k}", at=foot, actuated=k == 0))
        joints.append(tf.Hinge(f"pin{k}", f"crank{k}", "coupler", at=tuple((foot + rise).tolist())))
    return tf.Mechanism(bodies=bodies, joints=joints, **({"gravity": (0, -9.81, 0), "name": "parallelograms"} | more))
