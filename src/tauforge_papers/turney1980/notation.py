"""Turney's section 1 on random numbers: identities, derivatives of the transformations, and the inertial matrix.

Written in NumPy as the paper has them; nothing of the formulations is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_in_parts, true_or_mended, true_or_not
from tauforge_papers.wording import ROUNDING, within

LINKS, STEP = 5, 1e-4
SLOPE = 1e-6  # of a difference with steps of 1e-4: the square of the step, and rounding
E_Z = np.array([0.0, 0.0, 1.0])
SIGMA = np.array(  # 1.7
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]], float
)
Q = SIGMA[2]  # 1.5


def rotation(theta: float, phi: float) -> Array:
    """R_{i-1}^i as eq. 1.10 prints it."""
    c, s, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
    return np.array([[c, -cp * s, sp * s], [s, cp * c, -sp * c], [0, sp, cp]])


def turn(axis: int, angle: float) -> Array:
    """About a coordinate axis, by the exponential of sigma."""
    K = SIGMA[axis]
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)


class Chain:
    """Random links: angles (n + 1,), of which the first is not used, and T_{i-1}^i of each."""

    def __init__(self, seed: int, links: int = LINKS) -> None:
        random = np.random.default_rng(seed)
        self.n = links
        self.phi = random.uniform(-np.pi, np.pi, links + 1)
        self.r = random.uniform(-0.5, 0.5, (links + 1, 3))  # r_i, in frame i
        self.theta = random.uniform(-np.pi, np.pi, links + 1)

    def R(self, j: int, i: int, theta: Array | None = None) -> Array:
        """R_j^i, eqs 1.1 and 1.2."""
        if i < j:
            return np.asarray(self.R(i, j, theta).T)
        theta = self.theta if theta is None else theta
        product = np.eye(3)
        for k in range(j + 1, i + 1):
            product = product @ rotation(theta[k], self.phi[k])
        return product

    def p(self, j: int, i: int, theta: Array | None = None) -> Array:
        """p_j^i, eq. 1.16."""
        return np.asarray(sum((self.R(j, m, theta) @ self.r[m] for m in range(j + 1, i + 1)), np.zeros(3)))

    def T(self, j: int, i: int, theta: Array | None = None) -> Array:
        """T_j^i, a product of the T_{k-1}^k of eq. 1.13, eq. 1.15."""
        theta = self.theta if theta is None else theta
        product = np.eye(4)
        for k in range(j + 1, i + 1):
            step, R = np.eye(4), rotation(theta[k], self.phi[k])
            step[:3, :3], step[:3, 3] = R, R @ self.r[k]  # p_{k-1}^k by 1.14
            product = product @ step
        return product


def different(a: Any, b: Any) -> float:
    """Over the larger of the two."""
    a, b = np.asarray(a), np.asarray(b)
    return float(np.abs(a - b).max() / max(np.abs(a).max(), np.abs(b).max(), 1.0))


def identities() -> dict[str, float]:
    """Equation -> difference of its sides."""
    random = np.random.default_rng(142)
    a, b, c = random.normal(size=(3, 3))
    A, B, D = random.normal(size=(3, 3, 3))
    chain = Chain(1)
    R, x, y = chain.R(1, 4), 0.7, -0.4
    Q_k = R @ Q @ R.T
    cross = np.cross
    T, d = chain.T(1, 4), np.append(c, 1.0)
    return {
        "1.1": different(chain.R(4, 1), np.linalg.inv(R)),
        "1.2": different(R, chain.R(1, 2) @ chain.R(2, 4)),
        "1.3": different(R @ cross(b, c), cross(R @ b, R @ c)),
        "1.4": different(R @ cross(E_Z, c), cross(R @ E_Z, R @ c)),
        "1.6": different(Q @ c, cross(E_Z, c)),
        "1.7": different(np.einsum("i,ijk,k", a, SIGMA, b), cross(a, b)),
        "1.8": different(cross(R @ E_Z, b), Q_k @ b),
        "1.9": different(R @ (Q @ c), Q_k @ R @ c),
        "1.10": different(rotation(x, y), turn(2, x) @ turn(0, y)),
        "1.15": different(T[:3, :3], R),
        "1.16": different(T[:3, 3], chain.p(1, 4)),
        "1.17": different((T @ d)[:3], R @ c + chain.p(1, 4)),
        "2.2": different(chain.p(0, 4) + chain.R(0, 4) @ c, (chain.T(0, 4) @ d)[:3]),
        "2.3": different(chain.T(0, 4) @ d, np.append(chain.p(0, 4) + chain.R(0, 4) @ c, 1.0)),
        "1.20": max(
            different(cross(a, cross(b, c)), (a @ c) * b - c * (a @ b)),
            different(cross(a, cross(b, c)), (np.trace(np.outer(c, a)) * np.eye(3) - np.outer(c, a)) @ b),
        ),
        "1.21": max(
            different(np.trace(np.outer(a, cross(b, c))), side)
            for side in (cross(b, c) @ a, b @ cross(c, a), cross(c, a) @ b)
        ),
        "1.22": different(cross(cross(a, b), c), cross(a, cross(b, c)) - cross(b, cross(a, c))),
        "1.23": different(np.trace(A @ B @ D), np.trace(D.T @ B.T @ A.T)),
    }


def slope(function: Callable[[Array], Array], j: int, theta: Array) -> Array:
    step = np.zeros_like(theta)
    step[j] = STEP
    return np.asarray((function(theta + step) - function(theta - step)) / (2 * STEP))


def derivatives() -> dict[str, float]:
    """Equation -> largest difference from slopes of R_0^i c and p_0^i; 1.11 and 1.12 with R_0^{j-1} for R_0^{i-1}."""
    chain, c = Chain(2), np.array([0.3, -0.2, 0.5])
    i, n = LINKS, LINKS
    worst = dict.fromkeys(("1.11", "1.12", "1.18", "1.19"), 0.0)

    def turned(theta: Array) -> Array:
        return np.asarray(chain.R(0, i, theta) @ c)

    def moved(theta: Array) -> Array:
        return chain.p(0, i, theta)

    def check(number: str, formula: Array, measured: Array) -> None:
        worst[number] = max(worst[number], different(formula, measured))

    R, r = chain.R, chain.r
    for j in range(1, n + 1):
        before = R(0, j - 1) @ Q
        turning, moving = partial(slope, turned, j), partial(slope, moved, j)
        check("1.11", before @ R(j - 1, i) @ c, turning(chain.theta))
        check("1.18", sum(before @ R(j - 1, m) @ r[m] for m in range(j, i + 1)), moving(chain.theta))
        for k in range(j, n + 1):
            twice = before @ R(j - 1, k - 1) @ Q
            check("1.12", twice @ R(k - 1, i) @ c, slope(turning, k, chain.theta))
            check("1.19", sum(twice @ R(k - 1, m) @ r[m] for m in range(k, i + 1)), slope(moving, k, chain.theta))
    return worst


def inertial_matrix(principal: bool) -> dict[str, float]:
    """Eqs 1.26 and 1.27 of a body of point masses, against the sums of 1.24. principal: axes through its centre."""
    random = np.random.default_rng(3)
    corners = random.uniform(-0.4, 0.4, 3) * np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
    if not principal:
        corners = corners @ rotation(0.5, 0.8).T
    centre, mass = random.uniform(-0.3, 0.3, 3), 0.25
    d, m = corners + centre, mass * len(corners)
    J = mass * d.T @ d  # 1.24
    S = mass * corners.T @ corners
    I = np.trace(S) * np.eye(3) - S
    x, y, z = np.diag(I)
    printed = np.diag([-x + y + z, x - y + z, x + y - z]) / 2 + m * np.outer(centre, centre)
    rest = J - m * np.outer(centre, centre)
    return {"1.26": different(printed, J), "1.27": different(np.trace(rest) * np.eye(3) - rest, I)}


def spin(factor: complex) -> float:
    """How far factor sigma is from the spin matrices of quantum mechanics: [S_x, S_y] = i S_z, and so on around."""
    S = factor * SIGMA
    turns = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    return max(different(S[a] @ S[b] - S[b] @ S[a], 1j * S[c]) for a, b, c in turns)


def spin_claim() -> Claim:
    printed, mended = spin(1.0), spin(1j)
    return Claim(
        name="spin-matrix",
        where="section 1",
        claim="Q is the sigma_z spin matrix of quantum mechanics",
        printed="Q",
        measured=f"commutators wrong by {printed:.2g} as printed, {within(mended)} for i Q",
        reason="Spin matrices are Hermitian. The three of eq. 1.7, times i, are those of spin one.",
        rule=true_or_mended(
            f"It holds if the sigma of eq. 1.7 commute as spin matrices do, [S_x, S_y] = i S_z, within {ROUNDING:g}, "
            "and with a correction if i times them do.",
            holds=lambda printed, mended, rounding: printed < rounding,
            corrected=lambda printed, mended, rounding: mended < rounding,
            rounding=ROUNDING,
        ),
        evidence={"printed": printed, "mended": mended},
    )


def notation_claims() -> list[Claim]:
    same, slopes = identities(), derivatives()
    assumed, skewed = inertial_matrix(True), inertial_matrix(False)
    return [
        Claim(
            name="identities",
            where="section 1",
            claim="The rules of rotations, of Q and sigma, of chained transformations, and the vector identities are "
            "right",
            printed="equal",
            measured=f"{within(max(same.values()))}, {len(same)} equations",
            reason=f"Eqs {', '.join(same)}, on random vectors, matrices and chains.",
            rule=true_in_parts(
                f"Every equation is a part. It is true if its sides agree within {ROUNDING:g}.",
                lambda differences, rounding: [difference < rounding for difference in differences],
                rounding=ROUNDING,
            ),
            evidence={"differences": list(same.values())},
            equations=same,
        ),
        spin_claim(),
        Claim(
            name="derivatives",
            where="section 1",
            claim="Differentiation is reduced to matrix multiplication",
            printed="equal",
            measured=f"{within(max(slopes.values()), SLOPE)} of the derivatives",
            reason=f"Eqs 1.11, 1.12, 1.18 and 1.19 of a random chain of {LINKS} links, against differences of the "
            "transformations. 1.11 and 1.12 are read with R_0^{j-1} and Q_0^{j-1}, as 1.18 and 1.19 have them.",
            rule=true_in_parts(
                f"Every equation is a part. It is true if it gives the derivatives within {SLOPE:g}.",
                lambda differences, slope: [difference < slope for difference in differences],
                slope=SLOPE,
            ),
            evidence={"differences": list(slopes.values())},
            equations=slopes,
        ),
        Claim(
            name="inertial-matrix",
            where="eqs 1.24-1.27",
            claim="J follows from the moments of inertia about the centre of mass, whose axes are assumed to be "
            "principal",
            printed="equal",
            measured=f"{within(max(assumed.values()))}; wrong by {skewed['1.26']:.2g} where the axes are not principal",
            reason="A body of eight point masses. The assumption is the paper's own, after eq. 1.26: no products of "
            "inertia. Our code has them.",
            rule=true_or_not(
                f"It holds if 1.26 and 1.27 are the sums of 1.24 within {ROUNDING:g}, where the axes are principal "
                '("it is assumed").',
                lambda differences, rounding: max(differences) < rounding,
                rounding=ROUNDING,
            ),
            evidence={"differences": list(assumed.values())},
            equations=assumed,
        ),
    ]
