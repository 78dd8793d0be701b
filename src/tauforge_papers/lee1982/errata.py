"""The misprints of Lee, Chung, Mudge & Turney 1982, those that the reading machine may have made, and eq. 2.20."""

from __future__ import annotations

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix
from tauforge.analysis.comparison import random_states, row_errors
from tauforge.evaluation.functions import Formula
from tauforge.formulations.serial import lagrange_euler, newton_euler
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge_papers.lee1982.control import puma
from tauforge_papers.misprints import STATES, WITNESS, Misprint, formulas_on_random_arms, on_random_arms
from tauforge_papers.random_arms import reference
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_or_mended
from tauforge_papers.wording import ROUNDING

PRINCIPAL = true_or_mended(
    "It holds if J of eq. 2.20 gives the forces of an independent formulation for links in any frame, within "
    f"{ROUNDING:g} of the largest, and with a correction, that the axes are principal, if it does for the PUMA.",
    holds=lambda any_axes, principal, rounding: any_axes < rounding,
    corrected=lambda any_axes, principal, rounding: principal < rounding,
    rounding=ROUNDING,
)

MISPRINTS = (
    Misprint(
        where="eq. 3.10",
        what="sign of the gravity loading",
        printed="+ sum m_j g dT/dq_i r-bar_j, with g = (0, 0, -|g|, 0) of eq. 3.5",
        right="- sum m_j g' dT/dq_i r-bar_j, as in eq. 3.6, or g = (0, 0, |g|, 0) as in eq. 4.32",
        name="gravity-sign",
        trial=on_random_arms(lagrange_euler, ("forces.append(-dot(g, lift))", "forces.append(dot(g, lift))")),
        reading="The machine that read our text may have lost a sign. Eqs 3.6 and 4.32 have it.",
    ),
    Misprint(
        where="eqs 2.21, 4.15",
        what="mass in front of r-bar r-bar' in the inertia about the mass centre",
        printed="none, as if it were 1 kg",
        right="m_i",
        name="missing-mass",
        trial=on_random_arms(
            newton_euler,
            (
                "from tauforge.algebra.scalars import Scalar",
                "from tauforge.algebra.inertias import point_mass_inertia\nfrom tauforge.algebra.scalars import Scalar",
            ),
            (
                "r_bar, I = body.com, body.inertia",
                "r_bar, I = body.com, body.inertia + point_mass_inertia(body.mass - 1.0, body.com)",
            ),
        ),
    ),
    Misprint(
        where="eq. 4.4",
        what="what is substituted",
        printed="the velocity of joint i",
        right="its acceleration, as eqs 4.6 and 4.34 have it",
        name="substituted-acceleration",
        reading="The machine that read our text may have lost a dot, and the equations that follow are right.",
    ),
    Misprint(
        where="Fig. 8",
        what="number of the last figure",
        printed="Figure 3",
        right="Figure 8",
        name="figure-number",
        reading="The machine that read our text may have taken an 8 for a 3.",
    ),
    Misprint(
        where="section 2; eqs 2.4, 2.6, 2.9, 2.13, 2.14",
        what="indices of frames and limits of sums",
        printed="along z_i; A_k^k; A_0^{i-1}; z_j; k = 1, m = 1",
        right="along z_{i-1}; A_{k-1}^k; A_0^{j-1}; z_{j-1}; k = j, m = max(j, k)",
        name="indices",
        reading="The machine that read our text confuses such indices; eqs 2.10 and 4.28 have them right.",
    ),
    Misprint(
        where="eqs 3.3, 3.6, 4.12",
        what="dots, bars and indices",
        printed="dT/dq_k qd_k with qd_j qd_k; qd_j after the first sum, d2T/dq_i dq_k with dT/dq_l; + a-bar_i",
        right="dT/dq_k with qd_j qd_k; qdd_j, d2T/dq_j dq_k with dT/dq_i; + a_i, and r-bar_i in the second sum",
        name="dots",
        reading="The machine that read our text may have lost them; eqs 3.4, 3.9 and 4.13 are right.",
    ),
    Misprint(
        "eqs 4.10, 4.12, 4.18",
        "order of the two Q",
        "Q_{k-1} before Q_{j-1}",
        "Q^{v-1} Q^{u-1}, v the smaller of j and k and u the larger, as in 4.9",
    ),
    Misprint("eq. 4.10", "gravity in the acceleration of an origin", "none", "A_i^0 g z_0, as in 4.9 and 4.11"),
    Misprint(
        "eqs 4.36, 4.37, 4.39",
        "rotation of r_i",
        "A_0^{i-1} Q_{i-1}^i r_i",
        "A_0^{i-1} Q_{i-1}^{i-1} A_{i-1}^i r_i",
    ),
    Misprint(
        "eqs 4.26, 4.28, 4.39",
        "a bar, indices and letters",
        "r_i in the last term of 4.26; A_{i-1}^i z_{i-1}, Q_{i-1}^i; c-bar",
        "r-bar_i; A_i^{i-1} z_{i-1}, Q_i^{i-1}; Q",
        "steps",
        reading="The machine that read our text may have lost or changed them; eqs 4.21, 4.24 and 4.27 are right.",
    ),
    Misprint("eq. 4.11", "acceleration of origin i", "all under a double sum", "the first term under a single sum"),
    Misprint("eqs 4.21, 4.30", "masses in the gravity term", "m_i twice", "m_i once, as in the next line of 4.30"),
    Misprint("eq. 4.25", "the acceleration", "a factor of all terms", "of joint j, beside its derivative, as in 4.22"),
    Misprint("eq. 4.29", "a rotation", "A_i^0 [...]", "[...] alone: A_i^0 cancels"),
    Misprint("eq. 4.37", "mass of link i+1", "none in the first two sums", "m_{i+1}"),
    Misprint("eq. 4.40", "gravity of link i+1", "no r-bar_{i+1} after the derivative of A", "r-bar_{i+1}, as in 4.31"),
    Misprint("eq. 4.38", "gravity of link i+1", "inside the factor of the accelerations", "apart, as in 4.40"),
)


def without_products(arm: ArmParameters, q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]) -> list[Scalar]:
    """Forces with J of 2.20: the off-diagonal entries have no products of inertia."""
    bodies = []
    for body in arm.bodies:
        I = body.inertia
        diagonal = Matrix.of(((I[0, 0], 0.0, 0.0), (0.0, I[1, 1], 0.0), (0.0, 0.0, I[2, 2])))
        bodies.append(body._replace(inertia=diagonal))
    return lagrange_euler.inverse_dynamics(arm._replace(bodies=tuple(bodies)), q, qd, qdd)


def second_moments_claim() -> Claim:
    any_axes = formulas_on_random_arms(lambda: without_products, lagrange_euler.inverse_dynamics)().printed
    arm = puma().model.parameters
    states = random_states(puma(), STATES)
    formulas: tuple[Formula, ...] = (without_products, WITNESS)
    printed, right = (reference(formula, arm, *states) for formula in formulas)
    principal = float(np.max(row_errors(printed, right)))
    return Claim(
        name="second-moments",
        where="eq. 2.20",
        claim="J_i follows from the inertia about the mass centre by the parallel-axis theorem",
        printed="off-diagonal entries m r-bar_x r-bar_y",
        measured=f"forces wrong by {any_axes:.2g} of the largest on random arms, by rounding on the PUMA",
        reason="Right where the axes of the link's frame are parallel to principal axes, as for the PUMA of our "
        "catalogue; the paper does not say so. Other links need the products of inertia beside m r-bar_x r-bar_y.",
        rule=PRINCIPAL,
        evidence={"any_axes": any_axes, "principal": principal},
    )
