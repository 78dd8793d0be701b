"""Witnesses for Stewart platforms, from the platform's public numbers alone: nothing here knows the package's formulas.

Random platforms and states; Newton's and Euler's equations of 13 bodies with every joint force unknown; Lagrange's
equations from energies of positions; and the same platform in Pinocchio. Motions of the legs are derivatives of where
their parts are, taken by JAX (or by Pinocchio's tree), so no formula for a leg's angular velocity is written down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import tauforge as tf
from support.in_doubles import in_doubles
from support.strategies import random_inertia

Array = NDArray[Any]
LEGS, BODIES = 6, 13  # lower parts 0-5, upper parts 6-11, platform 12
WELL_CONDITIONED = 200.0  # of H: farther from singular poses the solves cost three digits at most
STILL = np.zeros((3, 3))  # a base: angular velocity, angular acceleration, and acceleration of its origin
ACROSS = 0.3  # sine of the angle between a leg and its universal joint's fixed axis, at least


# ------------------------------------------------------------------------------------------- random platforms, states


def random_platform(rng: np.random.Generator) -> tf.StewartPlatform:
    """Around a regular hexapod; nothing is equal, aligned, diagonal or zero, so that no term can hide."""
    triad, side = np.repeat(np.arange(3), 2) * 2 * np.pi / 3, np.tile([-1.0, 1.0], 3)

    def ring(radius: float, angles: Array) -> Array:
        points = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(LEGS)], axis=-1)
        return points + rng.uniform(-0.08, 0.08, (LEGS, 3))

    base, top = ring(1.0, triad + 0.8 * side), ring(0.6, triad + 0.25 * side)
    nominal = unit(top + [0, 0, 1.2] - base)
    axes = []
    for s in nominal:
        k = unit(rng.normal(size=3))
        while np.linalg.norm(np.cross(k, s)) < 0.6:
            k = unit(rng.normal(size=3))
        axes.append(k)
    return tf.StewartPlatform(
        base_points=base,
        platform_points=top,
        universal_axes=axes,
        lower_mass=rng.uniform(1, 5, LEGS),
        upper_mass=rng.uniform(1, 5, LEGS),
        lower_com=rng.uniform(-0.1, 0.1, (LEGS, 3)) + [0.3, 0, 0],
        upper_com=rng.uniform(-0.1, 0.1, (LEGS, 3)) - [0.3, 0, 0],
        lower_inertia=[random_inertia(rng) for _ in range(LEGS)],
        upper_inertia=[random_inertia(rng) for _ in range(LEGS)],
        platform_mass=rng.uniform(10, 40),
        platform_com=rng.uniform(-0.15, 0.15, 3),
        platform_inertia=random_inertia(rng, 1.0),
        friction=rng.uniform(0.5, 5, 3),
        gravity=9.81 * unit(rng.normal(size=3)),
        reflected_mass=rng.uniform(0.5, 5, LEGS),
        name="random platform",
    )


def random_platform_state(
    rng: np.random.Generator, platform: tf.StewartPlatform, speed: float = 1.0
) -> tuple[Array, Array, Array, Array]:
    """Pose, twist, acceleration and external wrench, away from singular poses and from legs along their joints' axes.

    speed: m/s and rad/s, about
    """
    while True:
        pose = np.concatenate([rng.uniform(-0.4, 0.4, 2), rng.uniform(0.6, 1.6, 1), rng.uniform(-0.8, 0.8, 3)])
        q = np.array(platform.platform_points) @ pin.rpy.rpyToMatrix(*pose[3:]).T
        s = unit(pose[:3] + q - np.array(platform.base_points))
        H = np.concatenate([s, np.cross(q, s)], axis=-1).T
        across = np.linalg.norm(np.cross(platform.universal_axes, s), axis=-1)
        if np.linalg.cond(H) < WELL_CONDITIONED and across.min() > ACROSS:
            twist, acceleration = speed * rng.normal(size=6), 5 * speed * rng.normal(size=6)
            return pose, twist, acceleration, 100 * rng.normal(size=6)


def unit(x: Any) -> Array:
    x = np.asarray(x, float)
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


# -------------------------------------------------------------------------------------- where all is, and how it moves


def numbers(platform: tf.StewartPlatform) -> dict[str, Array]:
    """The platform's numbers, with those of the 13 bodies stacked."""
    names = ("base_points", "platform_points", "universal_axes", "friction", "gravity", "reflected_mass")
    p = {name: np.array(getattr(platform, name)) for name in names}
    for kind in ("mass", "com", "inertia"):
        lower, upper, top = (np.array(getattr(platform, f"{body}_{kind}")) for body in ("lower", "upper", "platform"))
        p[kind] = np.concatenate([lower, upper, top[None]])
    return p


class Places(NamedTuple):
    centres: Any  # (13, 3) mass centres
    axes: Any  # (13, 3, 3) columns: the axes of every body
    lengths: Any  # (6,)
    tips: Any  # (6, 3) platform joints


def places(p: dict[str, Any], X: Any, R: Any) -> Places:
    """The convention, and nothing else: x along the leg, y = k x s, z = x x y."""
    tips = X + p["platform_points"] @ R.T
    S = tips - p["base_points"]
    L = jnp.linalg.norm(S, axis=-1)
    s = S / L[:, None]
    y = jnp.cross(p["universal_axes"], s)
    y = y / jnp.linalg.norm(y, axis=-1, keepdims=True)
    T = jnp.stack([s, y, jnp.cross(s, y)], axis=-1)
    axes, origins = jnp.concatenate([T, T, R[None]]), jnp.concatenate([p["base_points"], tips, X[None]])
    return Places(origins + jnp.einsum("nij,nj->ni", axes, p["com"]), axes, L, tips)


def hat(w: Any) -> Any:
    return jnp.cross(w, jnp.eye(3), axisc=0)


def turning(rate: Any, axes: Any) -> Any:
    """The vector of the skew part of (axes)' (axes)^T, any number of them: an angular velocity or acceleration."""
    M = rate @ jnp.swapaxes(axes, -1, -2)
    skew = (M - jnp.swapaxes(M, -1, -2)) / 2
    return jnp.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def carried(base: Any, t: Any, at: Places) -> Places:
    """Where all is in the inertial frame at time t, of places on a base that moves; both frames agree at t = 0."""
    turn = t * base[0] + t * t / 2 * base[1]
    psi = hat(turn)
    B, travel = jnp.eye(3) + psi + psi @ psi / 2, t * t / 2 * base[2]
    return Places(travel + at.centres @ B.T, B @ at.axes, at.lengths, travel + at.tips @ B.T)


class Motion(NamedTuple):
    """Places of 13 bodies and six legs, their first and second rates, angular velocities and accelerations."""

    now: Places
    rate: Places
    second: Places
    W: Any
    A: Any


@jax.jit
def _motion(p: dict[str, Any], X: Any, R: Any, twist: Any, acceleration: Any, base: Any) -> Motion:
    def at(t: Any) -> Places:
        """R by exp(t omega + t^2 alpha / 2) to the second order: exact in both derivatives at t = 0."""
        step = t * twist + t * t / 2 * acceleration
        phi = hat(step[3:])
        return carried(base, t, places(p, X + step[:3], (jnp.eye(3) + phi + phi @ phi / 2) @ R))

    def rated(t: Any) -> Any:
        return jax.jvp(at, (t,), (1.0,))

    (now, rate), (_, second) = jax.jvp(rated, (0.0,), (1.0,))
    return Motion(now, rate, second, turning(rate.axes, now.axes), turning(second.axes, now.axes))


def motion(platform: tf.StewartPlatform, pose: Array, twist: Array, acceleration: Array) -> Motion:
    return kinematics_of(numbers(platform), pose, twist, acceleration)


def kinematics_of(p: dict[str, Array], pose: Array, twist: Array, acceleration: Array, base: Array = STILL) -> Motion:
    with in_doubles():
        found = _motion(p, pose[:3], pin.rpy.rpyToMatrix(*pose[3:]), twist, acceleration, base)
        return jax.tree.map(np.asarray, found)


def cut_at_tips(model: Any, ends: list[int], top: int, points: Array) -> list[Any]:
    """Constraints of Pinocchio that hold the legs to the platform, and frames "tip i" and "joint i" where they do."""
    here, cuts = pin.SE3.Identity(), []
    for i, point in enumerate(points):
        there = pin.SE3(np.eye(3), point)
        model.addFrame(pin.Frame(f"tip {i}", ends[i], 0, here, pin.FrameType.OP_FRAME))
        model.addFrame(pin.Frame(f"joint {i}", top, 0, there, pin.FrameType.OP_FRAME))
        cuts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, ends[i], here, top, there, pin.LOCAL))
    return cuts


# --------------------------------------------------------------------------------------- Newton and Euler, 78 unknowns


class JointForces(NamedTuple):
    actuators: Array  # (6,)
    universal: Array  # (6, 6) of the base on the lower part, at the base joint
    prismatic: Array  # (6, 6) of the lower on the upper part, about the base joint
    spherical: Array  # (6, 6) of the platform on the leg, at the platform joint
    condition: float  # of the 78 x 78 system


def newton_euler(
    platform: tf.StewartPlatform,
    pose: Array,
    twist: Array,
    acceleration: Array,
    wrench: Array,
    base: Array = STILL,
    payload: tf.Payload | None = None,
) -> JointForces:
    """13 unknowns per leg: universal joint 3 forces, 1 moment; actuator; prismatic joint 2, 3; spherical joint 3, 0.

    payload: a 14th body, which needs its own wrench from the platform
    """
    p = numbers(platform)
    m = kinematics_of(p, pose, twist, acceleration, base)
    relative = m._replace(W=m.W - base[0])
    I = np.einsum("nij,njk,nlk->nil", m.now.axes, p["inertia"], m.now.axes)
    acting = np.zeros((BODIES, 6, LEGS, 14))  # about the mass centres; the last column is what is known

    def act(body: int, leg: int, point: Array, wrenches: Array) -> None:
        arm = (point - m.now.centres[body])[:, None]
        acting[body, :3, leg] += wrenches[:3]
        acting[body, 3:, leg] += wrenches[3:] + np.cross(arm, wrenches[:3], axis=0)

    joints = np.array([joint_wrenches(p, relative, i, twist[3:]) for i in range(LEGS)])
    for i, (universal, prismatic, spherical) in enumerate(joints):
        b, tip = p["base_points"][i], m.now.tips[i]
        act(i, i, b, universal)
        act(i, i, b, -prismatic)
        act(6 + i, i, b, prismatic)
        act(6 + i, i, tip, spherical)
        act(12, i, tip, -spherical)
    needed = -acting[..., 13].sum(axis=2)
    needed[:, :3] += p["mass"][:, None] * (m.second.centres - p["gravity"])
    needed[:, 3:] += np.einsum("nij,nj->ni", I, m.A) + np.cross(m.W, np.einsum("nij,nj->ni", I, m.W))
    if payload is not None:
        held = {**p, "mass": p["mass"].copy(), "com": p["com"].copy(), "inertia": p["inertia"].copy()}
        held["mass"][12], held["com"][12], held["inertia"][12] = payload.mass, payload.com, payload.inertia
        n = kinematics_of(held, pose, twist, acceleration, base)
        force = payload.mass * (n.second.centres[12] - p["gravity"])
        I_held = n.now.axes[12] @ payload.inertia @ n.now.axes[12].T
        moment = I_held @ n.A[12] + np.cross(n.W[12], I_held @ n.W[12])
        arm = n.now.centres[12] - m.now.centres[12]
        needed[12] += np.concatenate([force, moment + np.cross(arm, force)])
    needed[12] -= np.concatenate([wrench[:3], wrench[3:] + np.cross(pose[:3] - m.now.centres[12], wrench[:3])])
    system = acting[..., :13].reshape(78, 78)
    x = np.linalg.solve(system, needed.reshape(78)).reshape(LEGS, 13)
    found = np.einsum("ijab,ib->jia", joints, np.column_stack([x, np.ones(LEGS)]))
    return JointForces(x[:, 4], *found, float(np.linalg.cond(system)))


def joint_wrenches(p: dict[str, Array], m: Motion, i: int, omega: Array) -> Array:
    """(3, 6, 14): the wrenches of a leg's joints for each of its 13 unknowns, and the known ones of friction and rotor.

    The universal joint's moment is along the normal of its axes, which is the only turn it does not allow.
    """
    k, (s, y, z) = p["universal_axes"][i], m.now.axes[i].T
    c_u, c_p, c_s = p["friction"]
    universal, prismatic, spherical = np.zeros((3, 6, 14))
    universal[:3, :3], universal[3:, 3] = np.eye(3), unit(np.cross(k, y))
    prismatic[:3, 4:7], prismatic[3:, 7:10] = np.stack([s, y, z], axis=-1), np.eye(3)
    spherical[:3, 10:13] = np.eye(3)
    universal[3:, 13] = -c_u * m.W[i]
    prismatic[:3, 13] = -(c_p * m.rate.lengths[i] + p["reflected_mass"][i] * m.second.lengths[i]) * s
    spherical[3:, 13] = -c_s * (m.W[i] - omega)
    return np.array([universal, prismatic, spherical])


# ------------------------------------------------------------------------------------------- Lagrange, from energies


class Lagrange(NamedTuple):
    actuators: Array
    kinetic: Array
    potential: Array
    mass_matrix: Array  # the Hessian of the kinetic energy in the twist
    force_matrix: Array  # the slopes of the lengths in the twist, transposed: virtual work


def rotation(theta: Any) -> Any:
    """Rz Ry Rx."""
    (cx, cy, cz), (sx, sy, sz) = jnp.cos(theta), jnp.sin(theta)
    X = jnp.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    Y = jnp.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    Z = jnp.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return Z @ Y @ X


def twist_of(q: Any, qd: Any) -> Any:
    R, R_rate = jax.jvp(lambda x: rotation(x[3:]), (q,), (qd,))
    return jnp.concatenate([qd[:3], turning(R_rate, R)])


def kinetic(p: dict[str, Any], q: Any, qd: Any) -> Any:
    return kinetic_of(p, jax.jvp(lambda x: places(p, x[:3], rotation(x[3:])), (q,), (qd,))[1])


def kinetic_of(p: dict[str, Any], rate: Places) -> Any:
    """A body's turning by its second moments, tr(axes' J axes'^T) / 2: no angular velocity anywhere."""
    I = p["inertia"]
    J = jnp.trace(I, axis1=1, axis2=2)[:, None, None] / 2 * jnp.eye(3) - I
    turns = (rate.axes @ J * rate.axes).sum()
    return (p["mass"] @ (rate.centres**2).sum(1) + turns + p["reflected_mass"] @ rate.lengths**2) / 2


def potential(p: dict[str, Any], q: Any) -> Any:
    return potential_of(p, places(p, q[:3], rotation(q[3:])))


def potential_of(p: dict[str, Any], at: Places) -> Any:
    return -p["mass"] @ (at.centres @ p["gravity"])


def dissipation(p: dict[str, Any], q: Any, qd: Any) -> Any:
    """Half the power that friction takes (Rayleigh): minus its slope in the rates is the generalized force."""
    now, rate = jax.jvp(lambda x: places(p, x[:3], rotation(x[3:])), (q,), (qd,))
    W = turning(rate.axes, now.axes)
    turns, slides, rubs = W[:LEGS], rate.lengths, W[:LEGS] - W[12]
    return p["friction"] @ jnp.array([(x**2).sum() for x in (turns, slides, rubs)]) / 2


@jax.jit
def _rates(q: Any, qd: Any) -> Any:
    """G of twist = G q', and G' q'."""
    return jax.jacfwd(twist_of, 1)(q, qd), jax.jvp(lambda x: twist_of(x, qd), (q,), (qd,))[1]


@jax.jit
def _slopes(p: dict[str, Any], q: Any, qd: Any, qdd: Any) -> Any:
    """Generalized forces, slopes of the lengths, energies, the kinetic energy's Hessian in the rates."""
    momentum_rate = jax.jvp(lambda x, xd: jax.jacfwd(kinetic, 2)(p, x, xd), (q, qd), (qd, qdd))[1]
    lost = jax.jacfwd(potential, 1)(p, q) + jax.jacfwd(dissipation, 2)(p, q, qd)
    Q = momentum_rate - jax.jacfwd(kinetic, 1)(p, q, qd) + lost
    lengths = jax.jacfwd(lambda x: places(p, x[:3], rotation(x[3:])).lengths)(q)
    return Q, lengths, kinetic(p, q, qd), potential(p, q), jax.jacfwd(jax.jacfwd(kinetic, 2), 2)(p, q, qd)


def lagrange(platform: tf.StewartPlatform, pose: Array, twist: Array, acceleration: Array, wrench: Array) -> Lagrange:
    """Lagrange's equations in x, y, z and the three angles; friction by its dissipation."""
    with in_doubles():
        G = np.asarray(_rates(pose, twist)[0])
        qd = np.linalg.solve(G, twist)
        qdd = np.linalg.solve(G, acceleration - _rates(pose, qd)[1])
        Q, lengths, T, V, M = map(np.asarray, _slopes(numbers(platform), pose, qd, qdd))
    inverse = np.linalg.inv(G)
    H = (lengths @ inverse).T
    return Lagrange(np.linalg.solve(H, inverse.T @ Q - wrench), T, V, inverse.T @ M @ inverse, H)
