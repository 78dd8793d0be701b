"""Pedrammehr et al. 2012 written down once more from the paper, in plain NumPy; none of the package's formulas is used.

Arrays over states k and pods i: (k, 6, 3). The same equations with the assumptions of Dasgupta & Mruthyunjaya 1998 put
in give that paper's forces. The closed form is that of eqs 41-43, 48 and 51 with the matrices Q_i as printed.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tauforge as tf

Array = NDArray[Any]


# ------------------------------------------------------------------------------------------------------- paths 1, 2, 3


def trapezoid(t: Array, duration: float, speed: float, distance: float) -> tuple[Array, Array, Array]:
    """Way, its rate and acceleration; at a switching instant the acceleration that follows."""
    blend = duration - distance / speed
    a = speed / blend
    last = duration - t
    way = np.where(t < blend, a * t**2 / 2, np.where(last > blend, speed * (t - blend / 2), distance - a * last**2 / 2))
    rate = np.where(t < blend, a * t, np.where(last > blend, speed, a * last))
    return way, rate, np.where(t < blend - 1e-12, a, np.where(last > blend + 1e-12, 0.0, -a))


def line(duration: float, speed: float, samples: int = 601) -> tuple[Array, Array, Array]:
    """Paths 2 and 3 of appendix 2: pose, twist and acceleration (k, 6). Only the angle about z changes."""
    t = np.linspace(0, duration, samples)
    move, turn = np.array([0.2, 0, 0.2]), 0.4
    ways = trapezoid(t, duration, speed, float(np.linalg.norm(move)))
    angles = trapezoid(t, duration, speed, turn)
    found = np.zeros((3, samples, 6))
    for k in range(3):
        found[k, :, :3] = ways[k][:, None] * move / np.linalg.norm(move)
        found[k, :, 5] = angles[k]
    found[0] += [0.1, 0, 0.4, 0, 0, -0.2]
    return found[0], found[1], found[2]


def path_1(speed: float, samples: int = 601) -> tuple[Array, Array, Array]:
    pose, twist = np.tile([0.1, 0, 0.5, 0, 0, 0], (samples, 1)), np.zeros((samples, 6))
    pose[:, 0] += speed * np.linspace(0, 6, samples)
    twist[:, 0] = speed
    return pose, twist, np.zeros((samples, 6))


# -------------------------------------------------------------------------------------------------- vectors and tensors


def dot(a: Array, b: Array) -> Array:
    """Keeps its last axis, so that it multiplies vectors."""
    return np.asarray((a * b).sum(axis=-1, keepdims=True))


def skew(a: Array) -> Array:
    x, y, z = np.moveaxis(a, -1, 0)
    zero = np.zeros_like(x)
    return np.stack([np.stack(row, -1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))], -2)


def applied(M: Array, x: Array) -> Array:
    return np.asarray(np.einsum("...ij,...j->...i", M, x))


def turned(T: Array, I: Array) -> Array:
    return np.asarray(T @ I @ np.swapaxes(T, -1, -2))


def shift(m: Array, r: Array) -> Array:
    """m (r.r E - r r')."""
    return np.asarray(m[..., None, None] * (dot(r, r)[..., None] * np.eye(3) - r[..., :, None] * r[..., None, :]))


# ------------------------------------------------------------------------------------------------------- the equations


def motion(robot: tf.StewartPlatform, states: tuple[Array, ...], spin: bool = True, eq_25: str = "mended") -> Any:
    """Eqs 1-30. spin=False: Dasgupta's omega_l.n = 0. eq_25: "mended" or "printed"."""
    pose, twist, acceleration = states
    z = pose[:, 5]
    assert not pose[:, 3:5].any()
    one, zero = np.ones_like(z), np.zeros_like(z)
    R = np.stack(
        [
            np.stack([np.cos(z), -np.sin(z), zero], -1),
            np.stack([np.sin(z), np.cos(z), zero], -1),
            np.stack([zero, zero, one], -1),
        ],
        -2,
    )
    X1, X2 = twist[:, None, :3], acceleration[:, None, :3]
    omega, alpha = twist[:, None, 3:], acceleration[:, None, 3:]
    q = np.einsum("kij,aj->kai", R, np.array(robot.platform_points))
    L = pose[:, None, :3] + q - np.array(robot.base_points)
    l = np.linalg.norm(L, axis=-1, keepdims=True)
    n = L / l
    u = np.broadcast_to(np.array(robot.universal_axes), n.shape)
    v = np.cross(u, n)
    v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    c = np.cross(u, v)
    l1 = dot(X1, n) + dot(omega, np.cross(q, n))  # 8
    L1 = X1 + np.cross(omega, q)
    L2 = X2 + np.cross(alpha, q) + np.cross(omega, np.cross(omega, q))
    omega_n = np.cross(n, L1) / l  # 16
    omega_t = -dot(omega_n, c) / dot(n, c) * spin  # 17
    W = omega_n + omega_t * n  # 15
    l2 = dot(X2, n) + dot(alpha, np.cross(q, n)) + dot(X1, np.cross(W, n))
    l2 = l2 + dot(omega, np.cross(np.cross(omega, q), n) + np.cross(q, np.cross(W, n)))  # 9
    omega_u, omega_v = -dot(L1 - l1 * n, v) / (l * dot(n, c)), dot(L1 - l1 * n, u) / (l * dot(n, c))  # 13, 14
    centripetal = np.cross(W, np.cross(W, l * n))
    alpha_n = (np.cross(n, L2) - np.cross(n, centripetal + 2 * np.cross(W, l1 * n))) / l  # 23
    un = dot(u, n)
    last = omega_u * omega_v / dot(c, n) if eq_25 == "mended" else -omega_u * omega_v
    alpha_t = (dot(alpha_n, u) * un / (1 - un**2) + last) * spin  # 25
    T = np.stack([n, v, np.cross(n, v)], axis=-1)  # 28
    A = alpha_n + alpha_t * n  # 22
    L_d = applied(T, np.array(robot.lower_com))  # 26
    L_u = L + applied(T, np.array(robot.upper_com))  # 27
    L_d2 = np.cross(A, L_d) + np.cross(W, np.cross(W, L_d))  # 29
    L_u2 = np.cross(A, L_u) + np.cross(W, np.cross(W, L_u)) + 2 * np.cross(W, l1 * n) + l2 * n  # 30
    names = "R X2 omega alpha q l n u v c l1 l2 W A omega_t omega_u omega_v T L_d L_u L_d2 L_u2"
    found = locals()
    return SimpleNamespace(**{name: found[name] for name in names.split()})


def tensors(robot: tf.StewartPlatform, w: Any, axes: str, eq_16: bool) -> Array:
    """I_ui + I_di. axes: of the components in eqs 32 and 33, "base", "own" or "" for no such terms."""
    I_d, I_u = np.array(robot.lower_inertia), np.array(robot.upper_inertia)
    if eq_16:
        across = np.array(robot.upper_mass)[:, None] * w.l**2
        I_u = I_u + across[..., None] * np.diag([0.0, 1.0, 1.0])
    if axes:
        L_d, L_u = (applied(np.swapaxes(w.T, -1, -2), x) if axes == "own" else x for x in (w.L_d, w.L_u))
        I_d, I_u = I_d + shift(np.array(robot.lower_mass), L_d), I_u + shift(np.array(robot.upper_mass), L_u)
    return turned(w.T, I_d) + turned(w.T, I_u)


def platform(robot: tf.StewartPlatform, w: Any, axes: str) -> tuple[Array, Array]:
    """Force and moment that move the platform: eqs 45-47, 49, 50."""
    m, G = robot.platform_mass, np.array(robot.gravity)
    R, X2, omega, alpha = w.R, w.X2[:, 0], w.omega[:, 0], w.alpha[:, 0]
    r = applied(R, np.array(robot.platform_com))
    I = np.array(robot.platform_inertia)
    if axes:
        components = np.broadcast_to(np.array(robot.platform_com), r.shape) if axes == "own" else r
        I = I + shift(np.full(len(r), m), components)
    I = turned(R, I)
    force = m * (X2 + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r)) - G)
    return force, np.cross(r, force) + applied(I, alpha) + np.cross(omega, applied(I, omega))


def solved(w: Any, force: Array, moment: Array) -> Array:
    """Forces along the pods that give both."""
    H = np.concatenate([w.n, np.cross(w.q, w.n)], axis=-1)
    return np.asarray(np.linalg.solve(np.swapaxes(H, 1, 2), np.concatenate([force, moment], -1)[..., None])[..., 0])


def forces(
    robot: tf.StewartPlatform,
    states: tuple[Array, ...],
    *,
    spin: bool = True,
    along: str = "c",
    pods: str = "",
    top: str = "",
    eq_16: bool = False,
    eq_25: str = "mended",
) -> Array:
    """F_act (k, 6) by eqs 31-40, 45 and 49. pods, top: axes of the parallel-axis terms of 32, 33 and of 50."""
    w = motion(robot, states, spin, eq_25)
    C_u, C_p, C_s = robot.friction
    m_d, m_u = (np.array(x)[:, None] for x in (robot.lower_mass, robot.upper_mass))
    I, G = tensors(robot, w, pods, eq_16), np.array(robot.gravity)
    rubbing = C_s * (w.W - w.omega)
    N = m_u * np.cross(w.L_u, w.L_u2 - G) + m_d * np.cross(w.L_d, w.L_d2 - G) + applied(I, w.A)
    N = N + np.cross(w.W, applied(I, w.W)) + rubbing + C_u * w.W  # 36
    if along == "c":
        N = N - dot(N, w.n) / dot(w.c, w.n) * w.c  # 35, 37
    F = np.cross(N, w.n) / w.l  # 38, across the pod; a moment along the pod drops out of it
    force, moment = platform(robot, w, top)
    force, moment = force + F.sum(axis=1), moment + (np.cross(w.q, F) - rubbing).sum(axis=1)
    axial = m_u * dot(w.n, w.L_u2 - G) + C_p * w.l1  # 39
    return solved(w, force, moment) + axial[..., 0]


def improved(robot: tf.StewartPlatform, states: tuple[Array, ...]) -> Array:
    return forces(robot, states, pods="base", top="base")


def simplified(robot: tf.StewartPlatform, states: tuple[Array, ...]) -> Array:
    """Dasgupta & Mruthyunjaya 1998."""
    return forces(robot, states, spin=False, along="n", eq_16=True)


def closed(robot: tf.StewartPlatform, states: tuple[Array, ...]) -> Array:
    """F_act (k, 6) by eqs 41-43, 48 and 51; I_ui in 42, L_di in 43 and l' in S_i put right."""
    w = motion(robot, states)
    C_u, C_p, C_s = robot.friction
    m_d, m_u = (np.array(x)[:, None] for x in (robot.lower_mass, robot.upper_mass))
    I, G, n, u, c, l, W = tensors(robot, w, "base", False), np.array(robot.gravity), w.n, w.u, w.c, w.l, w.W
    nn, n_, Lu_, Ld_ = n[..., :, None] * n[..., None, :], skew(n), skew(w.L_u), skew(w.L_d)
    M_u, M_d, l_2, row = m_u[..., None], m_d[..., None], l[..., None] ** 2, n[..., None, :]
    cn, across = np.cross(c, n) / dot(c, n), 1 - dot(u, n) ** 2
    u_row = (dot(u, n) * u)[..., None, :]
    Q = M_u * nn + M_u * n_ @ Lu_ @ Lu_ @ n_ / l_2 + M_d * n_ @ Ld_ @ Ld_ @ n_ / l_2 - n_ @ I @ n_ / l_2
    inner = M_u * row @ Lu_ @ Lu_ @ n_ / l_2 + M_d * row @ Ld_ @ Ld_ @ n_ / l_2
    inner = inner - row @ I @ n[..., :, None] @ u_row @ n_ / (l_2 * across[..., None])
    Q = Q + cn[..., :, None] @ inner  # 42
    turning = np.cross(w.omega, np.cross(w.omega, w.q))
    S = np.cross(n, turning - np.cross(W, np.cross(W, l * n)) - 2 * np.cross(W, w.l1 * n))  # appendix 1
    S_d, S_u = (np.cross(x, np.cross(x, S)) for x in (w.L_d, w.L_u))
    weight, gyroscopic = np.cross(m_u * w.L_u + m_d * w.L_d, G), np.cross(W, applied(I, W))
    rubbing = C_s * (W - w.omega)
    V = m_u * dot(n, np.cross(W, np.cross(W, w.L_u))) * n
    V = V + m_u * (dot(turning, n) - dot(np.cross(W, np.cross(W, l * n)), n)) * n - m_u * dot(n, G) * n + C_p * w.l1 * n
    crossed = -np.cross(weight, n) + m_u * np.cross(n, S_u) / l + m_d * np.cross(n, S_d) / l
    crossed = crossed + m_u * np.cross(np.cross(w.L_u, np.cross(W, np.cross(W, w.L_u))), n)
    crossed = crossed + 2 * w.l1 * m_u * np.cross(np.cross(w.L_u, np.cross(W, n)), n)
    crossed = crossed + m_d * np.cross(np.cross(w.L_d, np.cross(W, np.cross(W, w.L_d))), n)
    crossed = crossed - np.cross(n, applied(I, S)) / l + np.cross(gyroscopic, n) + np.cross(C_u * W + rubbing, n)
    spin_rate = dot(u, S) * dot(u, n) / (l * across) - w.omega_u * w.omega_v
    dotted = -dot(weight, n) - m_u * dot(n, S_u) / l - m_d * dot(n, S_d) / l + dot(n, applied(I, spin_rate * n))
    dotted = dotted + dot(gyroscopic, n) + dot(rubbing, n) + C_u * dot(W, n)
    V = V + crossed / l - dotted * cn / l  # 43
    F = applied(Q, w.X2 + np.cross(w.alpha, w.q)) + V  # 41 without F_act
    force, moment = platform(robot, w, "base")
    return solved(w, force + F.sum(axis=1), moment + (np.cross(w.q, F) - rubbing).sum(axis=1))  # 48, 51
