"""Witnesses for Angeles, chapter 7: nothing here knows the package's formulas or counts.

The chapter's algorithms written out once more, component by component, as printed and mended, over numbers or over
scalars that count; and Newton's and Euler's equations of an arm in world axes. Both take the arm's public numbers.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tauforge as tf
from support.engines import offset_transform

Array = NDArray[Any]
E = np.array([0.0, 0.0, 1.0])


# ------------------------------------------------------------------------------ algorithms 7.4.1 and 7.4.2, by hand


class Ticks:
    """An unknown number. Every operation is counted, under the row that is being computed."""

    rows: ClassVar[Counter[str]] = Counter()
    row: ClassVar[str] = ""

    def _times(self, other: Any) -> Ticks:
        Ticks.rows[f"{Ticks.row} M"] += 1
        return Ticks()

    def _plus(self, other: Any) -> Ticks:
        Ticks.rows[f"{Ticks.row} A"] += 1
        return Ticks()

    def __neg__(self) -> Ticks:
        return self

    __mul__ = _times
    __add__ = __sub__ = _plus


@contextmanager
def row(name: str) -> Any:
    before, Ticks.row = Ticks.row, name
    yield
    Ticks.row = before


class Link(NamedTuple):
    revolute: bool
    c: Any  # cosine and sine of theta_i
    s: Any
    lam: Any  # cosine and sine of alpha_i
    mu: Any
    rho: list[Any]  # in F_{i+1}
    delta: list[Any]
    mass: Any
    inertia: list[list[Any]]
    b: Any  # travel


def plus(*vectors: Any) -> list[Any]:
    first, *rest = vectors
    for other in rest:
        first = [x + y for x, y in zip(first, other, strict=True)]
    return list(first)


def along(v: Any, scalar: Any) -> list[Any]:
    """v plus a multiple of e_i: one addition."""
    return [v[0], v[1], v[2] + scalar]


def cross(a: Any, b: Any) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def product(M: Any, v: Any) -> list[Any]:
    return [r[0] * v[0] + r[1] * v[1] + r[2] * v[2] for r in M]


def forward(k: Link, v: Any) -> list[Any]:
    """Q' v: 7.23."""
    r = v[0] * k.s - v[1] * k.c
    return [v[0] * k.c + v[1] * k.s, v[2] * k.mu - r * k.lam, r * k.mu + v[2] * k.lam]


def backward(k: Link, v: Any, printed: bool = False) -> list[Any]:
    """Q v: 7.24."""
    w = v[1] if printed else v[1] * k.lam - v[2] * k.mu
    return [v[0] * k.c - w * k.s, v[0] * k.s + w * k.c, v[1] * k.mu + v[2] * k.lam]


def outward(links: list[Link], qd: Any, qdd: Any, base: Any, printed: bool = False) -> list[Any]:
    """7.4.1: (omega, omega', c, c', c'') of every link; base: the same five of the base, and delta_0."""
    omega, omega_dot, c, c_dot, c_ddot, d = base
    found = []
    for k, rate, second in zip(links, qd, qdd, strict=True):
        if k.revolute:
            with row("c_i"):
                c = plus(forward(k, plus(c, d)), k.rho)
            with row("omega_i"):
                new = forward(k, along(omega, rate))
            with row("c'_i"):
                u, v = cross(omega, d), cross(new, k.rho)
                c_dot = plus(forward(k, plus(c_dot, u)), v)
            with row("omega'_i"):
                turned = [omega_dot[0] + omega[1] * rate, omega_dot[1] - omega[0] * rate, omega_dot[2] + second]
                new_dot = forward(k, turned)
            with row("c''_i"):
                carried = plus(c_ddot, cross(omega_dot, d), cross(omega, u))
                c_ddot = plus(forward(k, carried), cross(new_dot, k.rho), cross(new, v))
        else:
            with row("c_i"):
                if printed:
                    u = along(plus(forward(k, d), k.rho), k.b)
                else:
                    u = plus(forward(k, along(d, k.b)), k.rho)
                c = plus(forward(k, c), u)
            with row("omega_i"):
                new = forward(k, omega)
            with row("c'_i"):
                v = cross(new, u)
                if printed:
                    c_dot = along(plus(forward(k, c_dot), v), rate)
                else:
                    c_dot = plus(forward(k, along(c_dot, rate)), v)
            with row("omega'_i"):
                new_dot = forward(k, omega_dot)
            with row("c''_i"):
                if printed:
                    twice = along(along(v, rate), rate)
                    c_ddot = along(plus(forward(k, c_ddot), cross(new_dot, u), cross(new, twice)), second)
                else:
                    twice = rate + rate
                    moved = [c_ddot[0] + omega[1] * twice, c_ddot[1] - omega[0] * twice, c_ddot[2] + second]
                    c_ddot = plus(forward(k, moved), cross(new_dot, u), cross(new, v))
        omega, omega_dot, d = new, new_dot, k.delta
        found.append((omega, omega_dot, c, c_dot, c_ddot))
    return found


def inward(links: list[Link], motions: list[Any], f: Any, n: Any, printed: tuple[str, ...] = ()) -> list[Any]:
    """7.4.2: tau. f acts at the last mass centre. printed: "turn", "moment", "backward", where not mended."""
    tau = []
    for i in reversed(range(len(links))):
        k, (omega, omega_dot, *_, c_ddot) = links[i], motions[i]
        last = i == len(links) - 1
        if "turn" in printed and not last:
            f, n = (backward(k, w, "backward" in printed) for w in (f, n))
        sign = -1 if last else 1
        force = [m + x if sign > 0 else m - x for m, x in zip([a * k.mass for a in c_ddot], f, strict=True)]
        spin = plus(product(k.inertia, omega_dot), cross(omega, product(k.inertia, omega)), cross(k.rho, force))
        moment = [s + x if sign > 0 else s - x for s, x in zip(spin, n, strict=True)]
        if not last:
            moment = plus(moment, cross(k.delta, f))
        if "turn" not in printed:
            force, moment = (backward(k, w, "backward" in printed) for w in (force, moment))
        if not k.revolute and "moment" not in printed:
            moment = [moment[0] - force[1] * k.b, moment[1] + force[0] * k.b, moment[2]]
        f, n = force, moment
        tau.append(moment[2] if k.revolute else force[2])
    return tau[::-1]


def links_of(arm: tf.SerialArm, q: Array) -> list[Link]:
    """An arm of the standard DH convention: after is Rot(z, theta) Trans(z, d) Trans(x, a) Rot(x, alpha)."""
    links = []
    for position, joint in zip(q, arm.joints, strict=True):
        T = np.array(joint.after)
        alpha, revolute = np.arctan2(T[2, 1], T[2, 2]), joint.kind == "R"
        theta = joint.offset + position if revolute else np.arctan2(T[1, 0], T[0, 0])
        a = T[0, 3] if revolute else T[0, 3] * np.cos(theta) + T[1, 3] * np.sin(theta)
        reach = [a, T[2, 3] * np.sin(alpha), T[2, 3] * np.cos(alpha)]
        com, inertia = np.array(joint.com), np.array(joint.inertia)
        turns = (np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha))
        b = 0.0 if revolute else joint.offset + position
        links.append(Link(revolute, *turns, reach + com, -com, joint.mass, inertia.tolist(), b))
    return links


def forces(arm: tf.SerialArm, state: Any, printed: tuple[str, ...] = ()) -> Array:
    """tau of every row of (q, qd, qdd); base at rest, gravity as an acceleration."""
    rows = []
    for q, qd, qdd in zip(*state, strict=True):
        links, zero = links_of(arm, q), [0.0, 0.0, 0.0]
        up = [-x for x in arm.gravity]
        motions = outward(links, qd, qdd, (zero, zero, zero, zero, up, zero), "branch" in printed)
        rows.append(inward(links, motions, zero, zero, printed))
    return np.array(rows)


def counts(kinds: str, printed: tuple[str, ...] = ()) -> dict[str, tuple[int, int]]:
    """Multiplications and additions by row of the chapter's list; "inward" is algorithm 7.4.2."""

    def unknown(size: int = 3) -> list[Ticks]:
        return [Ticks() for _ in range(size)]

    Ticks.rows = Counter()
    links = [
        Link(kind == "R", *unknown(4), unknown(), unknown(), Ticks(), [unknown() for _ in range(3)], Ticks())
        for kind in kinds
    ]
    with row("Q_i"):
        for k in links:
            _ = [k.lam * k.s, k.mu * k.s, k.lam * k.c, k.mu * k.c]
    motions = outward(
        links, unknown(len(kinds)), unknown(len(kinds)), [unknown() for _ in range(6)], "branch" in printed
    )
    with row("inward"):
        inward(links, motions, unknown(), unknown(), printed)
    names = {key.rpartition(" ")[0] for key in Ticks.rows}
    return {name: (Ticks.rows[f"{name} M"], Ticks.rows[f"{name} A"]) for name in names}


# ------------------------------------------------------------------------------------ Newton and Euler in world axes


class World(NamedTuple):
    """Motion of every link, (n, 3) each, world axes; wrenches: (n, 6), force and moment on link i, at its joint."""

    omega: Array
    alpha: Array
    c: Array
    c_dot: Array
    c_ddot: Array  # less gravity
    axes: Array
    origins: Array
    wrenches: Array


def world(arm: tf.SerialArm, q: Array, qd: Array, qdd: Array, base: Array | None = None) -> World:
    """base: omega, alpha and acceleration of the base frame, (3, 3)."""
    T = np.array(arm.base)
    omega, alpha, a = np.zeros((3, 3)) if base is None else base
    v, a = np.zeros(3), a - np.array(arm.gravity)
    found: dict[str, list[Array]] = {name: [] for name in World._fields}
    bodies = []

    def carried(point: Array, to: Array) -> tuple[Array, Array]:
        r = to - point
        return v + np.cross(omega, r), a + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))

    for joint, speed, second, position in zip(arm.joints, qd, qdd, q, strict=True):
        place = T @ np.array(joint.before)
        axis, origin = place[:3, 2], place[:3, 3]
        v, a = carried(T[:3, 3], origin)
        step = np.eye(4)
        if joint.kind == "R":
            c, s = np.cos(position), np.sin(position)
            step[:2, :2] = [[c, -s], [s, c]]
        else:
            step[2, 3] = position
        moved = place @ offset_transform(joint) @ step
        v, a = carried(origin, moved[:3, 3])
        if joint.kind == "R":
            alpha = alpha + np.cross(omega, axis * speed) + axis * second
            omega = omega + axis * speed
        else:
            v, a = v + axis * speed, a + 2 * np.cross(omega, axis * speed) + axis * second
        T = moved @ np.array(joint.after)
        v, a = carried(moved[:3, 3], T[:3, 3])
        c = T[:3, :3] @ joint.com + T[:3, 3]
        c_dot, c_ddot = carried(T[:3, 3], c)
        inertia = T[:3, :3] @ np.array(joint.inertia) @ T[:3, :3].T
        bodies.append((joint.mass * c_ddot, inertia @ alpha + np.cross(omega, inertia @ omega), c))
        for name, value in zip(World._fields, (omega, alpha, c, c_dot, c_ddot, axis, origin), strict=False):
            found[name].append(value)
    for i, origin in enumerate(found["origins"]):
        force = sum(F for F, _, _ in bodies[i:])
        moment = sum(N + np.cross(c - origin, F) for F, N, c in bodies[i:])
        found["wrenches"].append(np.concatenate([force, moment]))
    return World(*(np.array(value) for value in found.values()))
