"""The equations of Dasgupta & Mruthyunjaya 1998 in plain NumPy, one state at a time: no code of the package.

Misprints mended, everything else as printed: no spin, M_u along the leg, eq. 16 with its parallel-axis term. Vectors
are handled by a small interpreter of MATLAB's operations, which counts flops by MATLAB's rule: a product of matrices
(m, k) (k, n) takes 2 m k n, a sum or a product by a number one for each entry, cross 9, dot 2 n, norm 2 n.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

DATA = json.loads((Path(__file__).parents[1] / "data" / "stewart_dasgupta.json").read_text())
ROBOT = DATA["manipulator"]
G = np.array([0.0, 0.0, -9.81])


class Matlab:
    """Operations on arrays, counted."""

    def __init__(self):
        self.flops = 0

    def took(self, flops, result):
        self.flops += flops
        return result

    def mul(self, A, B):
        result = np.dot(A, B)
        return self.took(2 * np.size(result) * np.shape(A)[-1], result)

    def cross(self, a, b):
        (u, v, w), (x, y, z) = a, b
        return self.took(9, np.array([v * z - w * y, w * x - u * z, u * y - v * x]))

    def dot(self, a, b):
        return self.took(2 * len(a), float(np.dot(a, b)))

    def norm(self, a):
        return self.took(2 * len(a), float(np.sqrt(np.dot(a, a))))

    def scale(self, x, A):
        return self.took(np.size(A), x * np.asarray(A))

    def add(self, *terms):
        total = np.asarray(terms[0], float)
        for term in terms[1:]:
            total = total + term
        return self.took((len(terms) - 1) * np.size(terms[0]), total)

    def solve(self, A, b):
        """Gaussian elimination: 2/3 n^3 for the factors, 2 n^2 for the substitutions."""
        n = len(b)
        return self.took(round(2 * n**3 / 3) + 2 * n * n, np.linalg.solve(A, b))


def rotation(theta):
    """Eq. 38."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(theta), np.sin(theta)
    X = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    Y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    Z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return Z @ Y @ X


def along(name, t):
    """Eqs 39, 40 for one time: coordinates, rates, second rates, (6,) each; accelerations from the right."""
    path = DATA["paths"][name]
    found = []
    for start, end, speed in (("t0", "t1", "V"), ("th0", "th1", "Om")):
        way = np.subtract(path[end], path[start])
        length = np.linalg.norm(way)
        blend = path["tf"] - length / path[speed]
        a, left = path[speed] / blend / length, path["tf"] - t
        if t < blend:
            fraction = a * t * t / 2, a * t, a
        elif t < path["tf"] - blend:
            fraction = path[speed] / length * (t - blend / 2), path[speed] / length, 0.0
        else:
            fraction = 1 - a * left * left / 2, a * left, -a
        found.append([np.add(path[start], fraction[0] * way), fraction[1] * way, fraction[2] * way])
    return [np.concatenate(pair) for pair in zip(*found, strict=True)]


def motion(coordinates, rates, seconds):
    """t, R, and the rates of both: omega = theta_z' z + theta_y' y1 + theta_x' x2, differentiated by hand."""
    ty, tz = coordinates[4:]
    cy, sy, cz, sz = np.cos(ty), np.sin(ty), np.cos(tz), np.sin(tz)
    E = np.array([[cy * cz, -sz, 0], [cy * sz, cz, 0], [-sy, 0, 1]])
    _, dy, dz = rates[3:]
    E_rate = np.array(
        [[-sy * cz * dy - cy * sz * dz, -cz * dz, 0], [-sy * sz * dy + cy * cz * dz, -sz * dz, 0], [-cy * dy, 0, 0]]
    )
    omega = E @ rates[3:]
    alpha = E @ seconds[3:] + E_rate @ rates[3:]
    return coordinates[:3], rotation(coordinates[3:]), rates[:3], omega, seconds[:3], alpha


def leg(o, i, state, *, k=None, friction=True, legs=True):
    """q, s, K, D and f of leg i: eqs 1-24. o: a Matlab; legs: False leaves the leg without mass and friction."""
    t, R, v, w, a, al = state
    C_u, C_p, C_s = (ROBOT[x] if friction and legs else 0.0 for x in ("Cu", "Cp", "Cs"))
    m_d, m_u = (ROBOT[x] if legs else 0.0 for x in ("md", "mu"))
    I_d0, I_u0 = (np.array(ROBOT[x]) if legs else np.zeros((3, 3)) for x in ("Id0", "Iu0"))
    b, p = (np.array(ROBOT[x][i]) for x in ("b", "p"))
    if k is None:
        k = np.array(ROBOT["k_unit"][i])
    q = o.mul(R, p)
    S = o.add(q, t, -b)  # 1
    L = o.norm(S)  # 2
    s = o.scale(1 / L, S)  # 3
    wq = o.cross(w, q)
    S_dot = o.add(wq, v)  # 4
    L_dot = o.dot(s, S_dot)  # 5
    W = o.scale(1 / L, o.cross(s, S_dot))  # 6
    S_ddot = o.add(o.cross(al, q), o.cross(w, o.cross(w, q)), a)  # 7
    L_ddot = o.add(o.dot(s, S_ddot), o.scale(L, o.dot(W, W)))  # 8
    A = o.scale(1 / L, o.add(o.cross(s, S_ddot), o.scale(-1.0, o.scale(2 * L_dot, W))))  # 9
    y = o.cross(k, s)
    y = o.scale(1 / o.norm(y), y)
    T = np.column_stack([s, y, o.cross(s, y)])  # 10
    r_d = o.mul(T, np.array(ROBOT["rd0"]))  # 11
    r_u = o.mul(T, o.add([L, 0, 0], np.array(ROBOT["ru0"])))  # 12
    a_d = o.add(o.cross(A, r_d), o.cross(W, o.cross(W, r_d)))  # 13
    a_u = o.add(
        o.scale(L_ddot, s), o.cross(A, r_u), o.cross(W, o.cross(W, r_u)), o.scale(2 * L_dot, o.cross(W, s))
    )  # 14
    I_d = o.mul(o.mul(T, I_d0), T.T)  # 15
    I_u = o.mul(o.mul(T, o.add(I_u0, o.scale(m_u * L * L, np.diag([0.0, 1.0, 1.0])))), T.T)  # 16
    f = C_s * (W - w)
    I = o.add(I_d, I_u)
    C = o.add(
        o.scale(m_d, o.cross(r_d, a_d)),
        o.scale(m_u, o.cross(r_u, a_u)),
        -o.cross(o.add(o.scale(m_d, r_d), o.scale(m_u, r_u)), G),
        o.mul(I, A),
        o.cross(W, o.mul(I, W)),
    )  # 20
    C = C + C_u * W + f
    K = o.scale(1 / L, o.cross(C, s))  # 21
    D = o.scale(m_u, o.dot(s, o.add(a_u, -G))) + C_p * L_dot  # 24
    return q, s, K, D, f


def platform(o, state):
    """Eqs 30-32 and the platform's part of c: force and moment."""
    _, R, _, w, a, al = state
    r = o.mul(R, np.array(ROBOT["R0"]))  # 30
    a_g = o.add(o.cross(al, r), o.cross(w, o.cross(w, r)), a)  # 31
    I = o.mul(o.mul(R, np.array(ROBOT["Ip"])), R.T)  # 32
    force = o.scale(ROBOT["M"], o.add(G, -a_g))
    return force, o.add(o.cross(r, force), -o.mul(I, al), -o.cross(w, o.mul(I, w)))


def final(o, own, legs):
    """Eqs 35-37: the matrix H, and the actuator forces."""
    H = np.column_stack([np.concatenate([s, o.cross(q, s)]) for q, s, *_ in legs])
    force = o.add(own[0], *(-K for _, _, K, *_ in legs))
    moment = o.add(own[1], *(o.add(-o.cross(q, K), f) for q, _, K, _, f in legs))
    x = o.solve(H, np.concatenate([force, moment]))  # 36
    return H, o.add(np.array([leg[3] for leg in legs]), -x)  # 37


def forces(name, times, *, still=False, **options):
    """(k, 6) N, and the condition numbers of H (k,). still: at rest in the same poses. options: of `leg`."""
    found, conditions = [], []
    for t in times:
        coordinates, rates, seconds = along(name, t)
        state = motion(coordinates, 0 * rates, 0 * seconds) if still else motion(coordinates, rates, seconds)
        o = Matlab()
        changed = options.get("k")
        rest = {key: value for key, value in options.items() if key != "k"}
        legs = [leg(o, i, state, k=changed if i == 0 else None, **rest) for i in range(6)]
        H, F = final(o, platform(o, state), legs)
        found.append(F)
        conditions.append(np.linalg.cond(H))
    return np.array(found), np.array(conditions)


def matlab_flops():
    """Flops of one leg, of the platform and of the final system, by MATLAB's rule, friction left out."""
    state = motion(*along("I", 1.3))
    for_legs, for_platform, for_system = (Matlab() for _ in range(3))
    legs = [leg(for_legs, i, state, friction=False) for i in range(6)]
    final(for_system, platform(for_platform, state), legs)
    return for_legs.flops / 6, for_platform.flops, for_system.flops
