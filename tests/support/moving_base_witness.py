"""Lagrange's equations of platforms on a base that moves, from energies in the inertial frame.

Where all is follows from the platform's coordinates and from time: a base that turns and accelerates carries it. No
Coriolis or centrifugal force is written down. The legs' rolls are coordinates too where both their joints are
spherical, with no moment about a leg; absolute spins are taken as zero.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import tauforge as tf
from support import spherical_witness, stewart_witness
from support.in_doubles import in_doubles
from support.spherical_witness import rolled
from support.stewart_witness import (
    LEGS,
    Array,
    Places,
    carried,
    dissipation,
    kinetic_of,
    places,
    potential_of,
    rotation,
    turning,
    twist_of,
)


def bare(p: dict[str, Any], x: Any) -> Places:
    return places(p, x[:3], rotation(x[3:]))


@partial(jax.jit, static_argnums=1)
def slopes(p: dict[str, Any], where: Any, base: Any, x: Any, xd: Any, xdd: Any) -> Any:
    """Generalized forces without friction, and the slopes of the lengths."""

    def kinetic(t: Any, y: Any, yd: Any) -> Any:
        return kinetic_of(p, jax.jvp(lambda t, y: carried(base, t, where(p, y)), (t, y), (1.0, yd))[1])

    momentum = jax.jacfwd(kinetic, 2)
    rate = jax.jvp(momentum, (0.0, x, xd), (1.0, xd, xdd))[1]
    weight = jax.jacfwd(lambda y: potential_of(p, where(p, y)))(x)
    M = jax.jacfwd(momentum, 2)(0.0, x, xd)
    return rate - jax.jacfwd(kinetic, 1)(0.0, x, xd) + weight, jax.jacfwd(lambda y: where(p, y).lengths)(x), M


@jax.jit
def spins_of(p: dict[str, Any], base: Any, x: Any, xd: Any) -> Any:
    """Absolute."""
    now, rate = jax.jvp(lambda t, y: carried(base, t, rolled(p, y)), (0.0, x), (1.0, xd))
    return (turning(rate.axes, now.axes)[:LEGS] * now.axes[:LEGS, :, 0]).sum(-1)


rubbing = jax.jit(jax.jacfwd(dissipation, 2))


@jax.jit
def rates(q: Any, qd: Any) -> Any:
    """G of twist = G q', and G' q'."""
    return jax.jacfwd(twist_of, 1)(q, qd), jax.jvp(lambda x: twist_of(x, qd), (q,), (qd,))[1]


def coordinates(pose: Array, twist: Array, acceleration: Array) -> tuple[Array, Array, Array]:
    """G of twist = G q', and q', q''."""
    G = np.asarray(rates(pose, twist)[0])
    qd = np.linalg.solve(G, twist)
    return G, qd, np.linalg.solve(G, acceleration - np.asarray(rates(pose, qd)[1]))


def lagrange(
    platform: tf.StewartPlatform, pose: Array, twist: Array, acceleration: Array, wrench: Array, base: Array
) -> Array:
    """Actuator forces; friction by its dissipation, of motion relative to the base."""
    with in_doubles():
        G, qd, qdd = coordinates(pose, twist, acceleration)
        if platform.base_joint == "universal":
            p = stewart_witness.numbers(platform)
            Q, lengths, _ = map(np.asarray, slopes(p, bare, base, pose, qd, qdd))
            Q = Q + np.asarray(rubbing(p, pose, qd))
            return np.linalg.solve(lengths.T, Q - G.T @ wrench)
        p, still = spherical_witness.numbers(platform), np.zeros(LEGS)
        x = np.concatenate([pose, still])
        xd = np.concatenate([qd, -np.asarray(spins_of(p, base, x, np.concatenate([qd, still])))])
        found = slopes(p, rolled, base, x, xd, jnp.concatenate([qdd, still]))
    Q, lengths, M = map(np.asarray, found)
    rolls = np.linalg.solve(M[6:, 6:], -Q[6:])
    slide = p["friction"][1] * lengths[:, :6].T @ (lengths[:, :6] @ qd)
    return np.linalg.solve(lengths[:, :6].T, Q[:6] + M[:6, 6:] @ rolls + slide - G.T @ wrench)
