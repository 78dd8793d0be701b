"""The misprints of Turney, Mudge & Lee 1980, and what the ones that can be run cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tauforge.algebra import inertias
from tauforge.algebra.scalars import Scalar
from tauforge.evaluation.functions import Formula
from tauforge.formulations.serial import lagrange_euler, modified_newton_euler, newton_euler, strobing
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.formulations.serial.strobing import Coefficients
from tauforge_papers.misprints import (
    RULE,
    Line,
    Misprint,
    Trial,
    as_printed,
    formulas_on_random_arms,
    on_random_arms,
    printed_formula,
)
from tauforge_papers.report.study import Claim
from tauforge_papers.wording import within

K_LINE = "        K = second_moments(body.inertia)\n"
IMPORT = "import acceleration_matrix,"
BEFORE = "alpha + cross(omega, E_Z * qd[i])"  # eq. 3.16, before the rotation
AS_VECTORS = on_random_arms(newton_euler, (BEFORE, "alpha + cross(omega + E_Z * qd[i], E_Z * qd[i])"))
AS_COMPONENTS = on_random_arms(newton_euler, (BEFORE, "alpha + cross(R_down[i] @ (omega + E_Z * qd[i]), E_Z * qd[i])"))


def torques(model: Coefficients, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """tau_i = sum_j M_ij qdd_j + sum_jk C^i_jk qd_j qd_k + G_i (T2.11)."""
    n = range(len(qd))
    tau = []
    for i in n:
        force = model.G[i]
        for j in n:
            force = force + model.M[i][j] * qdd[j]
            for k in n:
                force = force + model.C[i][j][k] * qd[j] * qd[k]
        tau.append(force)
    return tau


def with_coefficients(right_indices: bool) -> Formula:
    """Torques from M, C^i_jk and G; or from C^k_ij in the place of C^i_jk."""

    def forces(arm: ArmParameters, q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]) -> list[Scalar]:
        n = range(arm.n)
        C = lagrange_euler.coriolis_coefficients(arm, q)
        if not right_indices:
            C = [[[C[i][j][k] for j in n] for i in n] for k in n]
        M, G = lagrange_euler.mass_matrix(arm, q), lagrange_euler.gravity_forces(arm, q)
        return torques(Coefficients(M, C, G), qd, qdd)

    return forces


def strobed(literally: bool) -> Formula:
    """Torques from strobed M, C and G; literally: what two unit velocities give is taken for C^i_jk itself."""
    changes = [("(pair[i] - single[j][i] - single[k][i]) * 0.5", "pair[i]")] if literally else []
    explicit_model = as_printed(strobing, *changes)["explicit_model"]

    def forces(arm: ArmParameters, q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]) -> list[Scalar]:
        return torques(explicit_model(modified_newton_euler.inverse_dynamics, arm, q), qd, qdd)

    return forces


def with_matrices_as_printed(ours: str, printed: str) -> Callable[[], Trial]:
    """Modified Newton-Euler with a piece of the source of Turney's matrices as printed."""
    line, shared = Line(inertias, ours, printed), (inertias,)
    return formulas_on_random_arms(
        lambda: printed_formula(modified_newton_euler, line, shared=shared), modified_newton_euler.inverse_dynamics
    )


MISPRINTS = (
    Misprint(
        "eq. 3.18",
        "acceleration of the mass centre",
        "omega_i x (omega_i x r_i) + alpha_i x r_i",
        "the same with r-bar_i",
        "misprint-3-18",
        on_random_arms(
            newton_euler,
            (
                "cross(omega, cross(omega, r_bar)) + cross(alpha, r_bar)",
                "cross(omega, cross(omega, r[i])) + cross(alpha, r[i])",
            ),
        ),
        "The machine that read our text may have lost the bar. Eq. 3.8 has it.",
    ),
    Misprint(
        "section 5, A_i",
        "entry (3, 2) of A_i",
        "omega_z omega_y + alpha_z",
        "omega_z omega_y + alpha_x",
        "misprint-a-32",
        with_matrices_as_printed("yz + alpha.x", "yz + alpha.z"),
        "The machine that read our text may have taken x for z. The definition of A_i gives alpha_x.",
    ),
    Misprint(
        "section 5, K_i",
        "the point that K_i is about",
        "the (i-1)th origin",
        "the centre of mass, as its entries are",
        "misprint-k",
        on_random_arms(
            modified_newton_euler,
            (IMPORT, f"{IMPORT} point_mass_inertia,"),
            (K_LINE, "        K = second_moments(body.inertia + point_mass_inertia(body.mass, body.com + r[i]))\n"),
        ),
    ),
    Misprint(
        "eq. 5.2",
        "n_x of Tr{A K sigma'}",
        "(A K)_yz - (A K)_zy",
        "(A K)_zy - (A K)_yz, and so on around",
        "misprint-5-2-axial",
        with_matrices_as_printed("return Vector(AK[2, 1]", "return -Vector(AK[2, 1]"),
    ),
    Misprint(
        "eq. 5.2",
        "the last term",
        "R_i^{i+1} n_i (not known yet: run without it)",
        "R_i^{i+1} n_{i+1}",
        "misprint-5-2-last",
        on_random_arms(modified_newton_euler, ("+ cross(r[i], f_next) + n_next  # T5.2", "+ cross(r[i], f_next)")),
    ),
    Misprint(
        "section 2, C",
        "indices of the Coriolis coefficients",
        "C^k_ij",
        "C^i_jk, as in the lines around it",
        "misprint-c-indices",
        formulas_on_random_arms(lambda: with_coefficients(False), with_coefficients(True)),
        "The machine that read our text may have exchanged the letters. The lines around it have them right.",
    ),
    Misprint(
        "section 3, strobing",
        "what unit velocities of joints j and k give",
        "C^i_jk",
        "C^i_jj + C^i_kk + 2 C^i_jk: subtract the runs with one velocity",
        "misprint-strobing",
        formulas_on_random_arms(lambda: strobed(True), strobed(False)),
    ),
    Misprint(
        "eqs 1.11, 1.12",
        "derivatives of R_0^i",
        "R_0^{i-1} Q, Q_0^{i-1}",
        "R_0^{j-1} Q, Q_0^{j-1}",
        "misprint-1-11",
        reading="The machine that read our text may have taken j for i. Eqs 1.18 and 1.19 have j.",
    ),
    Misprint(
        "eqs 2.9, 2.11, 4.4-4.34",
        "what M multiplies",
        "the first derivative of the angles",
        "the second derivative",
        "misprint-2-11",
        reading="The machine that read our text may have lost dots. Section 6 prints eq. 2.11 again, with two dots.",
    ),
    Misprint(
        "eqs 4.3, 4.5",
        "limits of the sums over k",
        "1 to n; 1 to i",
        "1 to i; j to i",
        "misprint-4-3",
        reading="The machine that read our text may have taken i for n and j for 1.",
    ),
    Misprint(
        "eqs 4.7, 4.9, 4.14-4.22",
        "what is differentiated",
        "p_0^j and R_0^j",
        "p_0^i and R_0^i",
        "misprint-4-7",
        reading="The machine that read our text may have taken j for i. Eqs 4.20, 4.24 and 4.26 have i.",
    ),
    Misprint("eq. 2.6", "kinetic energy", "no velocities", "times qd_j qd_k, as in eq. 2.5"),
    Misprint("eq. 4.7", "sums of the acceleration", "a double sum", "a single sum for the accelerations of the joints"),
    Misprint("eqs 4.11, 4.17", "masses", "missing; twice", "m_i once"),
    Misprint(
        "eqs 4.17, 4.22, 4.24",
        "vectors r_i and r-bar_i",
        "r_i in the last term of 4.17, r-bar_i in 4.22 and 4.24",
        "r-bar_i in 4.17, r_i in 4.22 and 4.24",
        "misprint-4-17",
        reading="The machine that read our text may have lost a bar or seen one too many.",
    ),
    Misprint("eq. 4.25", "a rotation", "R_i^0 [...]", "[...] alone: R_i^0 cancels"),
    Misprint("eq. 4.21", "the rate", "a factor of all terms", "the acceleration of joint j, beside its derivative"),
    Misprint("eqs 4.30, 4.31", "factors", "no m_{i+1}; g z_0 with every j", "m_{i+1}; once"),
    Misprint(
        "eq. 4.14",
        "order of the two Q",
        "Q^{k-1} before Q^{j-1}",
        "Q^{v-1} Q^{u-1}, v the smaller of j and k and u the larger, as in 4.8",
    ),
    Misprint(
        "eqs 4.29, 4.30, 4.32",
        "rotation of r_i and r_{i+1}",
        "R_0^{i-1} Q_i^{i-1} r_i, R_0^{i-1} Q_{i-1}^{i-1} r_i; R_i^{i+1} r_{i+1}",
        "R_0^{i-1} Q_{i-1}^{i-1} R_{i-1}^i r_i; R_{i-1}^{i+1} r_{i+1}",
    ),
    Misprint(
        "eqs 4.9, 4.15, 4.19, 4.23, 4.24, 4.27",
        "indices of rotations and of a derivative",
        "R_0^i g z_0; R_i^0 as the last factor; R_{i-1}^i z_{i-1}; by i and k",
        "R_i^0 g z_0; R_0^i; R_i^{i-1} z_{i-1}; by j and k",
        "misprint-4-15",
        reading="The machine that read our text may have exchanged them. Eqs 4.7, 4.16, 4.18 and 4.26 have them right.",
    ),
    Misprint("eq. 4.33", "gravity of link i+1", "no r-bar_{i+1} after the derivative of R", "r-bar_{i+1}, as in 4.9"),
)


def angular_acceleration() -> Claim:
    """Eq. 3.16, which is an equation between vectors whose components are of two frames."""
    vectors: Trial = AS_VECTORS()
    components = AS_COMPONENTS().printed
    return Claim(
        name="angular-acceleration",
        where="eq. 3.16",
        claim="alpha_i = R_i^{i-1} (alpha_{i-1} + omega_i x z_{i-1} qd_i + z_{i-1} qdd_i)",
        printed="omega_i",
        measured=f"forces wrong by {components:.2g} of the largest force",
        reason="It must read omega_{i-1}, as eq. 3.4. The rotation turns components of frame i-1, and omega_i has "
        "those of frame i. As an equation between vectors it is right, since omega_i and omega_{i-1} differ by z qd "
        f"and z x z = 0: then the forces are {within(vectors.printed)} of the largest.",
        rule=RULE,
        evidence={"printed": components, "mended": vectors.mended},
    )
