"""Turney's sections 2 to 4, step by step: from the recursion to Lagrange's equations, on a random arm.

Written in NumPy, every vector in the base frame, where the paper's equations are these times R_i^0. An equation with a
slip that the table of misprints names is written as mended there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_in_parts, true_or_mended, true_or_not
from tauforge_papers.turney1980.notation import E_Z, SIGMA, SLOPE, STEP, Chain, different
from tauforge_papers.wording import ROUNDING, within

G = 9.8  # m/s^2, as printed
cross = np.cross


def skew(v: Array) -> Array:
    return np.asarray(np.einsum("i,ijk->jk", v, SIGMA))


class Arm(Chain):
    """Links with masses and full inertias, moving: everything in the base frame."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        random, n = np.random.default_rng(seed + 1), self.n
        self.m = random.uniform(0.5, 5.0, n + 1)
        self.r_bar = random.uniform(-0.2, 0.2, (n + 1, 3))
        roots = random.normal(size=(n + 1, 3, 3))
        self.S = 0.1 * roots @ roots.transpose(0, 2, 1)  # second moments about the centre of mass
        self.qd, self.qdd = random.normal(size=(2, n + 1))
        self.Ri = [self.R(0, i) for i in range(n + 1)]
        self.z = [R @ E_Z for R in self.Ri]
        self.Q = [skew(z) for z in self.z]  # Q_0^i, 1.8

    def star(self, i: int) -> tuple[Array, Array, Array]:
        """r_i, r-bar_i and I_i in the base frame."""
        R, S = self.Ri[i], self.S[i]
        return R @ self.r[i], R @ self.r_bar[i], R @ (np.trace(S) * np.eye(3) - S) @ R.T

    def dR(self, i: int, j: int) -> Array:  # 1.11
        return self.Q[j - 1] @ self.Ri[i] if j <= i else np.zeros((3, 3))

    def d2R(self, i: int, j: int, k: int) -> Array:  # 1.12
        v, u = min(j, k), max(j, k)
        return self.Q[v - 1] @ self.Q[u - 1] @ self.Ri[i] if u <= i else np.zeros((3, 3))

    def dp(self, i: int, j: int) -> Array:  # 1.18
        return np.asarray(sum((self.Q[j - 1] @ self.Ri[m] @ self.r[m] for m in range(j, i + 1)), np.zeros(3)))

    def d2p(self, i: int, j: int, k: int) -> Array:  # 1.19
        v, u = min(j, k), max(j, k)
        Q = self.Q[v - 1] @ self.Q[u - 1]
        return np.asarray(sum((Q @ self.Ri[m] @ self.r[m] for m in range(u, i + 1)), np.zeros(3)))

    def augmented(self, i: int) -> Array:
        """J_i^a, 1.28."""
        J = self.S[i] + self.m[i] * np.outer(self.r_bar[i], self.r_bar[i])
        h = self.m[i] * self.r_bar[i]
        return np.block([[J, h[:, None]], [h[None, :], np.array([[self.m[i]]])]])


def block(R: Array, p: Array) -> Array:
    """A derivative of a T matrix."""
    return np.vstack([np.column_stack([R, p]), np.zeros(4)])


class Recursion:
    """Eqs 3.3-3.13: omega, alpha, a and a-bar of every link, the wrenches and the torques."""

    def __init__(self, arm: Arm) -> None:
        n = arm.n
        self.omega, self.alpha, self.a = [np.zeros(3)], [np.zeros(3)], [G * E_Z]
        self.a_bar, self.own = [np.zeros(3)], [np.zeros(3)]
        for i in range(1, n + 1):
            z, (r, r_bar, I) = arm.z[i - 1], arm.star(i)
            self.alpha.append(self.alpha[-1] + cross(self.omega[-1], z * arm.qd[i]) + z * arm.qdd[i])  # 3.4
            self.omega.append(self.omega[-1] + z * arm.qd[i])  # 3.3
            w, al = self.omega[i], self.alpha[i]
            self.a.append(cross(w, cross(w, r)) + cross(al, r) + self.a[-1])  # 3.7
            self.a_bar.append(cross(w, cross(w, r_bar)) + cross(al, r_bar) + self.a[i])  # 3.8
            self.own.append(I @ al + cross(w, I @ w) + cross(r_bar + r, arm.m[i] * self.a_bar[i]))  # 3.12
        f, moment, tau = np.zeros(3), np.zeros(3), []
        for i in range(n, 0, -1):
            moment = self.own[i] + cross(arm.star(i)[0], f) + moment  # 3.12
            f = arm.m[i] * self.a_bar[i] + f  # 3.9
            tau.append(arm.z[i - 1] @ moment)  # 3.13
        self.tau = np.array(tau[::-1])


def expansions(arm: Arm, by: Recursion, i: int) -> dict[str, float]:
    """Eqs 4.1-4.9 of link i, against the recursion."""
    z, Q, qd, qdd, links = arm.z, arm.Q, arm.qd, arm.qdd, range(1, i + 1)
    w, al = by.omega[i], by.alpha[i]
    r, r_bar, _ = arm.star(i)

    def summed(first: Any, second: Any) -> Array:
        single = sum(first(j) * qdd[j] for j in links)
        return np.asarray(single + sum(second(j, k) * qd[j] * qd[k] for j in links for k in links))

    pairs = [(j, k) for j in links for k in range(1, j)]
    ordered = [(Q[min(j, k) - 1] @ Q[max(j, k) - 1], qd[j] * qd[k]) for j in links for k in links]
    carried = sum((Q[j - 1] @ r * qdd[j] for j in links), by.a[i - 1])
    return {
        "4.1": different(w, sum(z[j - 1] * qd[j] for j in links)),
        "4.2": different(
            al,
            sum(z[j - 1] * qdd[j] for j in links)
            + sum((cross(z[k - 1], z[j - 1]) * qd[j] * qd[k] for j, k in pairs), np.zeros(3)),
        ),
        "4.3": different(
            cross(w, cross(w, r)), sum(Q[j - 1] @ Q[k - 1] @ r * qd[j] * qd[k] for j in links for k in links)
        ),
        "4.4": different(
            cross(al, r),
            sum(Q[j - 1] @ r * qdd[j] for j in links)
            + sum(
                ((Q[k - 1] @ Q[j - 1] - Q[j - 1] @ Q[k - 1]) @ r * qd[j] * qd[k] for j, k in pairs),
                np.zeros(3),
            ),
        ),
        "4.5": different(by.a[i], carried + sum(product @ r * rate for product, rate in ordered)),
        "4.7": different(by.a[i], summed(lambda j: arm.dp(i, j), lambda j, k: arm.d2p(i, j, k)) + G * E_Z),
        "4.8": different(
            by.a_bar[i],
            sum(Q[j - 1] @ r_bar * qdd[j] for j in links)
            + sum(product @ r_bar * rate for product, rate in ordered)
            + by.a[i],
        ),
        "4.9": different(
            by.a_bar[i],
            summed(
                lambda j: arm.dR(i, j) @ arm.r_bar[i] + arm.dp(i, j),
                lambda j, k: arm.d2R(i, j, k) @ arm.r_bar[i] + arm.d2p(i, j, k),
            )
            + G * E_Z,
        ),
    }


def own_torques(arm: Arm, by: Recursion, i: int, printed: bool = False) -> dict[str, float]:
    """Eqs 4.11-4.27: the torque of link i's own motion, in J and then in T matrices, against eq. 4.10.

    printed: 4.11 without the mass of two terms, 4.17 with that of its last term twice, 4.21 with an acceleration as
    the factor of all terms, 4.25 with R_i^0.
    """
    z, m, links = arm.z[i - 1], arm.m[i], range(1, i + 1)
    R, w, al = arm.Ri[i], by.omega[i], by.alpha[i]
    r, r_bar, _ = arm.star(i)
    Ja = arm.augmented(i)
    J = R @ Ja[:3, :3] @ R.T
    I_J = np.trace(J) * np.eye(3) - J
    arms = cross(r_bar + r, m * by.a_bar[i])
    torque = z @ by.own[i]  # 4.10
    own = z @ (I_J @ al + cross(w, I_J @ w))
    about = cross(r_bar, cross(al, r_bar)) + cross(r_bar, cross(w, cross(w, r_bar)))
    centre = -m * about + arms
    second = sum(arm.dR(i, j) * arm.qdd[j] for j in links) + sum(
        arm.d2R(i, j, k) * arm.qd[j] * arm.qd[k] for j in links for k in links
    )
    place = sum(arm.dp(i, j) * arm.qdd[j] for j in links) + sum(
        arm.d2p(i, j, k) * arm.qd[j] * arm.qd[k] for j in links for k in links
    )
    turned = second @ arm.r_bar[i]
    lift = m * G * E_Z
    dR, dp = arm.dR(i, i), arm.dp(i, i)
    rotation_part = np.trace(second @ Ja[:3, :3] @ dR.T)  # 4.16
    bracket = place
    if printed:
        bracket = place + sum(arm.dp(i, j) * (1.0 - arm.qdd[j]) for j in links)
        bracket = bracket * arm.qdd[i]
    first_third = np.trace(np.outer(bracket, m * arm.r_bar[i]) @ dR.T)  # 4.21
    middle = np.trace(m * np.outer((R.T if printed else np.eye(3)) @ (place + turned), dp))  # 4.25
    gravity = (dR @ arm.r_bar[i] + dp) @ lift
    Tdd = block(second, place)
    return {
        "4.11": different(torque, own + z @ (arms - about if printed else centre)),
        "4.16": different(own, rotation_part),
        "4.17": different(
            z @ centre,
            z @ (cross(r_bar + r, m * place) + cross(r, m * turned) + cross(r_bar + r, lift) * (m if printed else 1.0)),
        ),
        "4.21": different(z @ cross(m * r_bar, place), first_third),
        "4.24": different(cross(z, r), dp),
        "4.25": different(z @ cross(m * r, place + turned), middle),
        "4.26": different(torque, rotation_part + first_third + middle + gravity),
        "4.27": different(torque, np.trace(Tdd @ Ja @ block(dR, dp).T) + gravity),
    }


def torques(arm: Arm) -> tuple[Array, Array]:
    """Eq. 4.34 summed over all links, which is the sum before eq. 2.11; and M."""
    n = arm.n
    links = range(1, n + 1)
    tau, M = np.zeros(n), np.zeros((n, n))
    for q in links:
        first = {j: block(arm.dR(q, j), arm.dp(q, j)) for j in links}
        Ja = arm.augmented(q)
        moving = sum(first[j] * arm.qdd[j] for j in links) + sum(
            block(arm.d2R(q, j, k), arm.d2p(q, j, k)) * arm.qd[j] * arm.qd[k] for j in links for k in links
        )
        for i in links:
            lift = G * arm.m[q] * (first[i] @ np.append(arm.r_bar[q], 1.0))[2]  # 2.8
            tau[i - 1] += np.trace(moving @ Ja @ first[i].T) + lift
            for j in links:
                M[i - 1, j - 1] += np.trace(first[j] @ Ja @ first[i].T)
    return tau, M


def steps() -> dict[str, float]:
    """Equation -> largest difference from the recursion, over all links."""
    arm = Arm(4)
    by = Recursion(arm)
    found: dict[str, float] = {}
    for i in range(1, arm.n + 1):
        for number, error in (expansions(arm, by, i) | own_torques(arm, by, i)).items():
            found[number] = max(found.get(number, 0.0), error)
    found["4.34"] = different(by.tau, torques(arm)[0])
    return found


SLIPS = ("4.7", "4.11", "4.17", "4.21", "4.25")  # that the reading machine did not make, and that can be run


def double_sum(arm: Arm, by: Recursion, i: int) -> float:
    """4.7 as printed: the accelerations of the joints under the sum over k too, i times."""
    links = range(1, i + 1)
    first = sum((arm.dp(i, j) * arm.qdd[j] for j in links), np.zeros(3))
    second = sum((arm.d2p(i, j, k) * arm.qd[j] * arm.qd[k] for j in links for k in links), np.zeros(3))
    return different(by.a[i], i * first + second + G * E_Z)


def slips() -> dict[str, float]:
    """The same of equations with slips, as printed."""
    arm = Arm(4)
    by = Recursion(arm)
    found = [{"4.7": double_sum(arm, by, i)} | own_torques(arm, by, i, printed=True) for i in range(1, arm.n + 1)]
    return {number: max(one[number] for one in found) for number in SLIPS}


def potential(arm: Arm, theta: Array) -> float:
    """J: mass times height times g, of every link."""
    heights = [(arm.R(0, q, theta) @ arm.r_bar[q] + arm.p(0, q, theta))[2] for q in range(1, arm.n + 1)]
    return float(G * arm.m[1:] @ heights)


def gravity_terms() -> dict[str, float]:
    """Eqs 2.1, 2.7 and 2.8 as printed, and the base acceleration of section 3, each against m g h and its slopes."""
    arm = Arm(5)
    still = arm.qd * 0
    slopes = []
    for i in range(1, arm.n + 1):
        step = np.eye(arm.n + 1)[i] * STEP
        slopes.append((potential(arm, arm.theta + step) - potential(arm, arm.theta - step)) / (2 * STEP))
    arm.qd, arm.qdd = still, still
    energy = potential(arm, arm.theta)
    printed = -G * sum(arm.m[q] * (arm.T(0, q) @ np.append(arm.r_bar[q], 1.0))[2] for q in range(1, arm.n + 1))
    return {
        "2.1": different(printed, energy),
        "2.7": different(-np.array(slopes), slopes),
        "2.8": different(torques(arm)[0], slopes),
        "a_0": different(Recursion(arm).tau, slopes),
    }


def kinetic_energy() -> tuple[float, float]:
    """Eq. 2.6 as printed, without velocities, and with those of eq. 2.5: differences from the energy of the links."""
    arm = Arm(4)
    M, qd = torques(arm)[1], arm.qd[1:]
    by = Recursion(arm)
    energy, velocity = 0.0, np.zeros(3)  # of the origin of each link
    for i in range(1, arm.n + 1):
        r, r_bar, I = arm.star(i)
        velocity = velocity + cross(by.omega[i], r)
        centre = velocity + cross(by.omega[i], r_bar)
        energy += (arm.m[i] * centre @ centre + by.omega[i] @ I @ by.omega[i]) / 2
    return different(M.sum() / 2, energy), different(qd @ M @ qd / 2, energy)


def derivation_claims() -> list[Claim]:
    found, gravity = steps(), gravity_terms()
    as_printed, as_mended = slips(), {number: found.pop(number) for number in SLIPS}
    M = torques(Arm(4))[1]
    asymmetry = different(M, M.T)
    printed, mended = kinetic_energy()
    return [
        Claim(
            name="derivation",
            where="section 4",
            claim="The recursion is expanded, step by step, into Lagrange's equations",
            printed="equal",
            measured=f"{within(max(found.values()))}, {len(found)} equations",
            reason=f"Eqs {', '.join(found)} of a random arm with full inertias, all links, against the recursion. "
            "What the reading machine may have lost in them is put back, as the table of misprints says.",
            rule=true_in_parts(
                f"Every equation is a part. It is true if its sides agree within {ROUNDING:g} of the larger.",
                lambda differences, rounding: [difference < rounding for difference in differences],
                rounding=ROUNDING,
            ),
            evidence={"differences": list(found.values())},
        ),
        Claim(
            name="derivation-slips",
            where=f"eqs {', '.join(SLIPS)}",
            claim="The steps expand the acceleration of an origin and the terms with the mass centre",
            printed="a double sum in 4.7, no m_i in two terms of 4.11, m_i twice in the last of 4.17, a rate as the "
            "factor of all terms of 4.21, R_i^0 in 4.25",
            measured=", ".join(f"{number} is wrong by {error:.2g} (relative)" for number, error in as_printed.items())
            + f" as printed, {within(max(as_mended.values()))} mended",
            reason="The same arm. Eq. 4.9 has the single sum, section 5 prints eq. 4.11 again, with m_i. The rate of "
            "4.21 is read as an acceleration, whose second dot may be lost. Eqs 4.30, 4.31 and 4.33 have slips of the "
            "same kind, which eqs 4.26 and 4.34 do not share.",
            rule=true_or_mended(
                f"It holds if the sides agree within {ROUNDING:g} of the larger as printed, and with a correction if "
                "they do with a single sum, with m_i once, with each acceleration beside its own derivative and "
                "without R_i^0.",
                holds=lambda printed, mended, rounding: max(printed) < rounding,
                corrected=lambda printed, mended, rounding: max(mended) < rounding,
                rounding=ROUNDING,
            ),
            evidence={"printed": list(as_printed.values()), "mended": list(as_mended.values())},
        ),
        Claim(
            name="symmetry",
            where="section 2",
            claim="The inertia matrix M is symmetric",
            printed="equal",
            measured=within(asymmetry),
            reason="M_ij and M_ji, each a sum of traces, of a random arm. The C^i are symmetric because second "
            "derivatives are.",
            rule=true_or_not(
                f"It holds if M_ij and M_ji, computed separately, agree within {ROUNDING:g} of the largest.",
                lambda asymmetry, rounding: asymmetry < rounding,
                rounding=ROUNDING,
            ),
            evidence={"asymmetry": asymmetry},
        ),
        Claim(
            name="kinetic-energy",
            where="eqs 2.4-2.6",
            claim="The kinetic energy is a sum of traces",
            printed="no velocities in eq. 2.6",
            measured=f"wrong by {printed:.2g} of the energy as printed, {within(mended)} with qd_j qd_k",
            reason="A random arm, against the energies of its links in translation and rotation. Eq. 2.5 has the "
            "velocities, and eq. 2.9 follows with them.",
            rule=true_or_mended(
                f"It holds if eq. 2.6 is the energy of the links within {ROUNDING:g}, and with a correction if that is "
                "so with the velocities of eq. 2.5.",
                holds=lambda printed, mended, rounding: printed < rounding,
                corrected=lambda printed, mended, rounding: mended < rounding,
                rounding=ROUNDING,
            ),
            evidence={"printed": printed, "mended": mended},
        ),
        Claim(
            name="potential-energy",
            where="eqs 2.1, 2.7, 2.8",
            claim="Eqs 2.1, 2.7 and 2.8 give the potential energy, its place in Lagrange's relation and the torques",
            printed="-g z' T m r-bar; - dP.E./dq; + g z' dT/dq m r-bar",
            measured=f"2.1 and 2.7 have the opposite sign; 2.8 is {within(gravity['2.8'], SLOPE)} of the derivatives "
            "of m g h",
            reason="P.E. is m g h, as the text has it, and Lagrange's relation for L = K.E. - P.E. adds its "
            "derivatives. Both signs must be plus; they cancel in 2.8, which is right.",
            rule=true_or_mended(
                "It holds if 2.1 is m g h, 2.7 adds its derivatives and 2.8 equals them, "
                f"within {SLOPE:g}. It holds with a correction if 2.8, from which both signs cancel, is right.",
                holds=lambda energy, relation, torque, slope: max(energy, relation, torque) < slope,
                corrected=lambda energy, relation, torque, slope: torque < slope,
                slope=SLOPE,
            ),
            evidence={"energy": gravity["2.1"], "relation": gravity["2.7"], "torque": gravity["2.8"]},
        ),
        Claim(
            name="base-acceleration",
            where="section 3",
            claim="Gravity can be included by starting with an upward base acceleration of g",
            printed="equivalent",
            measured=f"{within(gravity['a_0'], SLOPE)} of the derivatives of m g h",
            reason='A random arm at rest. The printed "a_0 = 9.8 m/s^2" is a vector along z_0, as in eq. 4.6.',
            rule=true_or_not(
                f"It holds if the torques at rest are the derivatives of the potential energy within {SLOPE:g}.",
                lambda difference, slope: difference < slope,
                slope=SLOPE,
            ),
            evidence={"difference": gravity["a_0"]},
        ),
    ]
