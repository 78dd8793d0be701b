"""Witnesses for legs between two spherical joints, from the platform's public numbers alone; their spins are unknowns.

Pinocchio's tree has a spherical joint and a slide for each leg, and a floating platform held to the tips by six cuts.
Lagrange's equations are in 12 coordinates: six of the platform, and the roll of every leg about itself. Neither assumes
that a leg is symmetric or does not spin, so both can say what a spin or an asymmetry would do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin

import tauforge as tf
from support.in_doubles import in_doubles
from support.platforms import with_spherical_legs
from support.stewart_witness import (
    LEGS,
    Array,
    cut_at_tips,
    kinetic_of,
    places,
    potential_of,
    rotation,
    turning,
    twist_of,
    unit,
)
from support.stewart_witness import numbers as universal_numbers
from support.stewart_witness import random_platform as random_universal

LEG_RATES = 4 * LEGS  # of a tree: three turns and a slide a leg
WELL_CONDITIONED = 200.0
ANY_AXIS = (0.36, 0.48, 0.8)  # from which a leg's roll is counted: any that no leg lies along


def random_spherical(rng: np.random.Generator) -> tf.StewartPlatform:
    platform: tf.StewartPlatform = with_spherical_legs(random_universal(rng), rng)
    return platform


def random_state(
    rng: np.random.Generator, platform: tf.StewartPlatform, speed: float = 1.0
) -> tuple[Array, Array, Array, Array]:
    """Pose, twist, acceleration and external wrench, away from singular poses."""
    while True:
        pose = np.concatenate([rng.uniform(-0.4, 0.4, 2), rng.uniform(0.6, 1.6, 1), rng.uniform(-0.8, 0.8, 3)])
        q = np.array(platform.platform_points) @ pin.rpy.rpyToMatrix(*pose[3:]).T
        s = unit(pose[:3] + q - np.array(platform.base_points))
        if np.linalg.cond(np.concatenate([s, np.cross(q, s)], axis=-1).T) < WELL_CONDITIONED:
            return pose, speed * rng.normal(size=6), 5 * speed * rng.normal(size=6), 100 * rng.normal(size=6)


def numbers(platform: tf.StewartPlatform, **changes: Any) -> dict[str, Array]:
    """The platform's numbers, or others that it would refuse; any axis for the convention of a leg's own axes."""
    p = universal_numbers(platform)
    return {**p, "universal_axes": np.tile(ANY_AXIS, (LEGS, 1)), **changes}


# ------------------------------------------------------------------------------------------------------------ Pinocchio


class Found(NamedTuple):
    actuators: Array  # (6,)
    tips: Array  # (6, 3) force of the platform on the leg, base axes
    spin_rates: Array  # (6,)


class Tree(NamedTuple):
    model: Any
    cuts: list[Any]
    p: dict[str, Array]


class TreeState(NamedTuple):
    q: Array
    v: Array
    a: Array  # with no spin rate of any leg
    gaps: Array  # (18, 30): how fast the cuts open
    outside: Array  # external wrench and friction on the rates
    spinning: Array  # (30, 6): the rates of a leg that spins, and nothing else
    R: Array


def tree(p: dict[str, Array]) -> Tree:
    model, here = pin.Model(), pin.SE3.Identity()
    model.gravity.linear = p["gravity"]
    bodies = [pin.Inertia(m, com, I) for m, com, I in zip(p["mass"], p["com"], p["inertia"], strict=True)]
    ends = []
    for i in range(LEGS):
        base = model.addJoint(0, pin.JointModelSpherical(), pin.SE3(np.eye(3), p["base_points"][i]), f"base {i}")
        ends.append(model.addJoint(base, pin.JointModelPX(), here, f"slide {i}"))
        model.appendBodyToJoint(base, bodies[i], here)
        model.appendBodyToJoint(ends[i], bodies[LEGS + i], here)
    top = model.addJoint(0, pin.JointModelFreeFlyer(), here, "platform")
    model.appendBodyToJoint(top, bodies[-1], here)
    model.armature = np.concatenate([np.kron(p["reflected_mass"], [0, 0, 0, 1]), np.zeros(6)])
    return Tree(model, cut_at_tips(model, ends, top, p["platform_points"]), p)


def tree_state(made: Tree, state: tuple[Array, Array, Array, Array], spins: Array, rolls: Array) -> TreeState:
    """The legs' rates from the cuts staying closed and the spins given; a body's first turn is about the leg."""
    model, p, (pose, twist, acceleration, wrench) = made.model, made.p, state
    data, R = model.createData(), pin.rpy.rpyToMatrix(*pose[3:])
    lengths, turns = [], []
    for i in range(LEGS):
        S = pose[:3] + R @ p["platform_points"][i] - p["base_points"][i]
        y = unit(np.cross(ANY_AXIS, S))
        T = np.stack([unit(S), y, np.cross(unit(S), y)], axis=-1) @ pin.rpy.rpyToMatrix(rolls[i], 0, 0)
        turns.append(T)
        lengths += [*pin.Quaternion(T).coeffs(), np.linalg.norm(S)]
    q = np.concatenate([lengths, pose[:3], pin.Quaternion(R).coeffs()])
    body = np.concatenate([R.T @ twist[:3], R.T @ twist[3:]])
    body_rate = np.concatenate([R.T @ acceleration[:3] - np.cross(body[3:], body[:3]), R.T @ acceleration[3:]])
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    ends = [[model.getFrameId(f"{end} {i}") for i in range(LEGS)] for end in ("tip", "joint")]
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    tips, joints = (np.concatenate([pin.getFrameJacobian(model, data, f, world)[:3] for f in fs]) for fs in ends)
    gaps = tips - joints
    spinning = np.eye(len(body) + LEG_RATES)[:, 0:LEG_RATES:4]
    legs = np.vstack([gaps[:, :LEG_RATES], spinning[:LEG_RATES].T])
    v = np.concatenate([np.linalg.solve(legs, np.concatenate([-gaps[:, LEG_RATES:] @ body, spins])), body])
    pin.forwardKinematics(model, data, q, v, np.concatenate([np.zeros(LEG_RATES), body_rate]))
    tip, joint = (
        np.concatenate([pin.getFrameClassicalAcceleration(model, data, f, world).linear for f in fs]) for fs in ends
    )
    a = np.concatenate([np.linalg.solve(legs, np.concatenate([joint - tip, np.zeros(LEGS)])), body_rate])
    outside = np.concatenate([np.zeros(LEG_RATES), R.T @ wrench[:3], R.T @ wrench[3:]])
    c_u, c_p, c_s = p["friction"]
    for i, T in enumerate(turns):
        W, Ldot = v[4 * i : 4 * i + 3], v[4 * i + 3]
        f = c_s * (T @ W - twist[3:])
        outside[4 * i : 4 * i + 3] -= c_u * W + T.T @ f
        outside[4 * i + 3] -= c_p * Ldot
        outside[-3:] += R.T @ f
    return TreeState(q, v, a, gaps, outside, spinning, R)


def pinocchio_inverse(made: Tree, at: TreeState, *, spin_free: bool = True) -> Found:
    """30 equations for six actuators, 18 cut forces and six spin rates.

    spin_free: False for the papers' equations, in which moments about the legs hold the spins instead
    """
    data = made.model.createData()
    needed = pin.rnea(made.model, data, at.q, at.v, at.a) - at.outside
    M = pin.crba(made.model, data, at.q)
    M = np.triu(M) + np.triu(M, 1).T
    slides = np.eye(len(needed))[:, 3:LEG_RATES:4]
    held = -M @ at.spinning if spin_free else at.spinning
    found = np.linalg.solve(np.hstack([slides, at.gaps.T, held]), needed)
    return Found(found[:LEGS], found[LEGS : LEGS + 18].reshape(LEGS, 3), found[LEGS + 18 :])


def pinocchio_forward(made: Tree, at: TreeState, forces: Array) -> tuple[Array, Array]:
    """The platform's acceleration, base axes, and the legs' spin rates."""
    data, cut_data = made.model.createData(), [cut.createData() for cut in made.cuts]
    pin.initConstraintDynamics(made.model, data, made.cuts, cut_data)
    pushed = at.outside.copy()
    pushed[3:LEG_RATES:4] += forces
    settings = pin.ProximalSettings(1e-14, 1e-10, 20)
    a = pin.constraintDynamics(made.model, data, at.q, at.v, pushed, made.cuts, cut_data, settings)
    top, twist = a[LEG_RATES:], at.v[LEG_RATES:]
    turned = at.R @ (top[:3] + np.cross(twist[3:], twist[:3])), at.R @ top[3:]
    return np.concatenate(turned), a @ at.spinning


# ------------------------------------------------------------------------------------ Lagrange, in twelve coordinates


def rolled(p: dict[str, Any], x: Any) -> Any:
    """Where all is. x: (12,) pose and the legs' rolls."""
    at = places(p, x[:3], rotation(x[3:6]))
    c, s, zero = jnp.cos(x[6:]), jnp.sin(x[6:]), jnp.zeros(LEGS)
    roll = jnp.stack([zero + 1, zero, zero, zero, c, -s, zero, s, c], axis=-1).reshape(LEGS, 3, 3)
    axes = jnp.concatenate([at.axes[: 2 * LEGS] @ jnp.concatenate([roll, roll]), at.axes[2 * LEGS :]])
    moved = jnp.einsum("nij,nj->ni", axes - at.axes, p["com"])
    return at._replace(axes=axes, centres=at.centres + moved)


def kinetic(p: dict[str, Any], x: Any, xd: Any) -> Any:
    return kinetic_of(p, jax.jvp(lambda y: rolled(p, y), (x,), (xd,))[1])


def spins_of(p: dict[str, Any], x: Any, xd: Any) -> Any:
    now, rate = jax.jvp(lambda y: rolled(p, y), (x,), (xd,))
    return (turning(rate.axes, now.axes)[:LEGS] * now.axes[:LEGS, :, 0]).sum(-1)


@jax.jit
def _slopes(p: dict[str, Any], x: Any, xd: Any, xdd: Any) -> Any:
    """Generalized forces, the mass matrix, slopes of the lengths, spins, and how fast they change."""
    momentum_rate = jax.jvp(lambda y, yd: jax.jacfwd(kinetic, 2)(p, y, yd), (x, xd), (xd, xdd))[1]
    Q = momentum_rate - jax.jacfwd(kinetic, 1)(p, x, xd) + jax.jacfwd(lambda y: potential_of(p, rolled(p, y)))(x)
    M = jax.jacfwd(jax.jacfwd(kinetic, 2), 2)(p, x, xd)
    lengths = jax.jacfwd(lambda y: rolled(p, y).lengths)(x)
    spins, spin_rates = jax.jvp(lambda y, yd: spins_of(p, y, yd), (x, xd), (xd, xdd))
    return Q, M, lengths, spins, spin_rates, kinetic(p, x, xd)


class Lagrange(NamedTuple):
    actuators: Array
    spin_rates: Array
    kinetic: Array


def lagrange(p: dict[str, Array], state: tuple[Array, Array, Array, Array], spins: Array) -> Lagrange:
    """Without friction. The rolls' rates follow from the spins, their accelerations from no moment about a leg."""
    pose, twist, acceleration, wrench = state
    nothing = np.zeros(LEGS)
    with in_doubles():
        G = np.asarray(jax.jacfwd(twist_of, 1)(pose, twist))
        qd = np.linalg.solve(G, twist)
        qdd = np.linalg.solve(G, acceleration - np.asarray(jax.jvp(lambda y: twist_of(y, qd), (pose,), (qd,))[1]))
        x = np.concatenate([pose, nothing])
        without = np.asarray(spins_of(p, x, np.concatenate([qd, nothing])))
        xd = np.concatenate([qd, spins - without])  # a roll's rate is a spin more
        slopes = _slopes(p, x, xd, np.concatenate([qdd, nothing]))
    Q, M, lengths, _, spin_rates, T = map(np.asarray, slopes)
    rolls = np.linalg.solve(M[6:, 6:], -Q[6:])
    needed = Q[:6] + M[:6, 6:] @ rolls - G.T @ wrench
    return Lagrange(np.linalg.solve(lengths[:, :6].T, needed), spin_rates + rolls, T)
