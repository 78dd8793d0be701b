"""Newton's and Euler's equations in base axes, one by one, on a random arm: Turney's 3.1-3.14, Lee's 3.11-3.20.

Angular velocities and accelerations are those of the derivatives of R_0^i, forces and moments those of the recursion
in link axes, torques those of Lagrange's equations. Right sides are those of `newton_euler_base`, or of the print.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tauforge.arrays import Array
from tauforge.formulations.serial import newton_euler
from tauforge_papers.expansion import array, cross, skew
from tauforge_papers.expansion_lines import Lines
from tauforge_papers.random_arms import random_arm
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_in_parts
from tauforge_papers.turney1980.notation import LINKS, different
from tauforge_papers.wording import ROUNDING, within

LEES = {"3.3": "3.11", "3.4": "3.12", "3.7": "3.13", "3.8": "3.14", "3.9": "3.17"}  # Turney's -> Lee's
LEES |= {"3.12": "3.18", "3.13": "3.19", "3.14": "3.20"}


def equations() -> dict[str, float]:
    """Turney's number -> the largest difference of the sides, over all links."""
    random = np.random.default_rng(1981)
    arm = random_arm(random, "R" * LINKS)
    state = random.normal(size=(3, LINKS))
    x = Lines(arm, *state)
    own = newton_euler.link_wrenches(arm.model.parameters, *(row.tolist() for row in state))
    zero, free = np.zeros(3), random.normal(size=(3, 3))
    worst: dict[str, float] = {}
    f = [zero, *(x.R(0, i) @ array(w.force) for i, w in enumerate(own, 1)), zero]
    n = [zero, *(x.R(0, i) @ array(w.moment) for i, w in enumerate(own, 1)), zero]
    spins = [x.single(i, partial(x.dR, i), x.qd) + np.zeros((3, 3)) for i in range(x.n + 1)]
    w = [zero, *(_axial(spins[i] @ x.R(i, 0)) for i in range(1, x.n + 1))]
    al = [zero, *(_axial(x.turning(i) @ x.R(i, 0) - skew(w[i]) @ skew(w[i])) for i in range(1, x.n + 1))]
    moved = [zero, *(x.moving(i) for i in range(1, x.n + 1))]
    for i in range(1, x.n + 1):
        R, z, m = x.R(0, i), x.z(0, i), x.m[i]
        r, c, I = R @ x.r[i], R @ x.r_bar[i], R @ x.I[i] @ R.T
        a, a_bar = moved[i] + x.lift, moved[i] + x.turning(i) @ x.r_bar[i] + x.lift
        N = I @ al[i] + cross(w[i], I @ w[i])
        s, s_dot, s_ddot = free  # a vector that moves in frame i
        seen = R @ np.array([s, s_dot, s_ddot])[..., None]
        s_0, s_1, s_2 = seen[..., 0]
        turned = I @ al[i] + spins[i] @ x.I[i] @ R.T @ w[i] + R @ x.I[i] @ spins[i].T @ w[i]
        about = n[i] - n[i + 1] + cross(c, f[i + 1]) - cross(c + r, f[i])
        moments = N + cross(c + r, m * a_bar) + cross(r, f[i + 1]) + n[i + 1]
        sides = {
            "3.1": (spins[i] @ s + R @ s_dot, cross(w[i], s_0) + s_1),
            "3.2": (
                x.turning(i) @ s + 2 * spins[i] @ s_dot + R @ s_ddot,
                cross(w[i], cross(w[i], s_0)) + 2 * cross(w[i], s_1) + cross(al[i], s_0) + s_2,
            ),
            "3.3": (w[i], w[i - 1] + x.qd[i] * z),
            "3.4": (al[i], al[i - 1] + cross(w[i - 1], z) * x.qd[i] + z * x.qdd[i]),
            "3.5": (x.place(i, zero), r + x.place(i - 1, zero)),
            "3.6": (moved[i], x.turning(i) @ x.r[i] + moved[i - 1]),
            "3.7": (a, cross(w[i], cross(w[i], r)) + cross(al[i], r) + moved[i - 1] + x.lift),
            "3.8": (a_bar, cross(w[i], cross(w[i], c)) + cross(al[i], c) + a),
            "3.9": (m * a_bar, f[i] - f[i + 1]),
            "3.10": (turned, N),
            "3.11": (about, n[i] - n[i + 1] - cross(c + r, m * a_bar) - cross(r, f[i + 1])),
            "3.12": (n[i], moments),
            "3.13": (x.by_lagrange(i), z @ n[i]),
            "3.14": (array(own[i - 1].moment), R.T @ moments),
        }
        for number, (left, right) in sides.items():
            worst[number] = max(worst.get(number, 0.0), different(left, right))
    return worst


def _axial(matrix: Array) -> Array:
    """v of a matrix [v]x."""
    return np.array([matrix[2, 1], matrix[0, 2], matrix[1, 0]])


def base_axes_claim(lees: bool = False) -> Claim:
    found = equations()
    if lees:
        found = {LEES[number]: error for number, error in found.items() if number in LEES} | {
            "3.15": found["3.9"],
            "3.16": max(found["3.10"], found["3.11"]),
        }
    return Claim(
        name="base-axes",
        where="section 3.2" if lees else "section 3",
        claim="Newton's and Euler's equations, with every vector in base axes, give the motion of the links, the "
        "forces and moments between them, and the torques",
        printed="equal",
        measured=f"{within(max(found.values()))}, {len(found)} equations",
        reason=f"Eqs {', '.join(found)} of a random arm with full inertias, all links, against derivatives of the "
        "rotations, the recursion in link axes, and Lagrange's torques.",
        rule=true_in_parts(
            f"Every equation is a part. It is true if its sides agree within {ROUNDING:g}.",
            lambda differences, rounding: [difference < rounding for difference in differences],
            rounding=ROUNDING,
        ),
        evidence={"differences": list(found.values())},
        equations=found,
    )
