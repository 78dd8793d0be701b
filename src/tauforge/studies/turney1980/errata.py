"""The misprints of Turney, Mudge & Lee 1980, and what the ones that can be run cost."""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.scalars import Scalar
from tauforge.formulations.serial import lagrange_euler, modified_newton_euler, newton_euler, strobing
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.formulations.serial.strobing import ExplicitModel
from tauforge.robots.evaluate import Formula
from tauforge.studies.misprints import Misprint, as_printed, misprinted

DIAGONAL = "Matrix.of(((I[0, 0], 0.0, 0.0), (0.0, I[1, 1], 0.0), (0.0, 0.0, I[2, 2])))"
K_LINE = "        K = second_moments(body.inertia)\n"
IMPORT = "from tauforge.algebra.inertias import second_moments"

NO_PRODUCTS = misprinted(
    lagrange_euler,
    (
        "    J = second_moments(body.inertia + point_mass_inertia(body.mass, body.com))",
        f"    I = body.inertia\n    J = second_moments({DIAGONAL} + point_mass_inertia(body.mass, body.com))",
    ),
)


def torques(model: ExplicitModel, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """tau_i = sum_j M_ij qdd_j + sum_jk C^i_jk qd_j qd_k + G_i (2.11)."""
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


def indices_exchanged() -> Formula:
    """C^k_ij, where the trace gives C^i_jk."""

    def forces(arm: ArmParameters, q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]) -> list[Scalar]:
        n = range(arm.n)
        right = lagrange_euler.coriolis_coefficients(arm, q)
        C = [[[right[i][j][k] for j in n] for i in n] for k in n]
        M, G = lagrange_euler.mass_matrix(arm, q), lagrange_euler.gravity_forces(arm, q)
        return torques(ExplicitModel(M, C, G), qd, qdd)

    return forces


def strobed_literally() -> Formula:
    """What two unit velocities give, taken for C^i_jk itself."""
    explicit_model = as_printed(strobing, ("(pair[i] - single[j][i] - single[k][i]) * 0.5", "pair[i]"))[
        "explicit_model"
    ]

    def forces(arm: ArmParameters, q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]) -> list[Scalar]:
        return torques(explicit_model(modified_newton_euler.inverse_dynamics, arm, q), qd, qdd)

    return forces


MISPRINTS = (
    Misprint(
        "eq. 3.16",
        "angular acceleration",
        "omega_i x z_{i-1} qd_i",
        "omega_{i-1} x z_{i-1} qd_i",
        misprinted(
            newton_euler,
            ("alpha + cross(omega, E_Z * qd[i])", "alpha + cross(R_down[i] @ (omega + E_Z * qd[i]), E_Z * qd[i])"),
        ),
    ),
    Misprint(
        "eq. 3.18",
        "acceleration of the mass centre",
        "omega_i x (omega_i x r_i) + alpha_i x r_i",
        "the same with r-bar_i",
        misprinted(
            newton_euler,
            (
                "cross(omega, cross(omega, r_bar)) + cross(alpha, r_bar)",
                "cross(omega, cross(omega, r[i])) + cross(alpha, r[i])",
            ),
        ),
    ),
    Misprint(
        "section 5, A_i",
        "entry (3, 2) of A_i",
        "omega_z omega_y + alpha_z",
        "omega_z omega_y + alpha_x",
        misprinted(modified_newton_euler, ("yz + alpha.x", "yz + alpha.z")),
    ),
    Misprint(
        "section 5, K_i",
        "the point that K_i is about",
        "the (i-1)th origin",
        "the centre of mass, as its entries are",
        misprinted(
            modified_newton_euler,
            (IMPORT, "from tauforge.algebra.inertias import point_mass_inertia, second_moments"),
            (K_LINE, "        K = second_moments(body.inertia + point_mass_inertia(body.mass, body.com + r[i]))\n"),
        ),
    ),
    Misprint(
        "section 5, K_i",
        "K_i in axes that are not principal",
        "diagonal",
        "Tr(I)/2 E - I, full",
        misprinted(
            modified_newton_euler, (K_LINE, f"        I = body.inertia\n        K = second_moments({DIAGONAL})\n")
        ),
    ),
    Misprint(
        "eq. 5.2",
        "n_x of Tr{A K sigma'}",
        "(A K)_yz - (A K)_zy",
        "(A K)_zy - (A K)_yz, and so on around",
        misprinted(modified_newton_euler, ("return Vector(AK[2, 1]", "return -Vector(AK[2, 1]")),
    ),
    Misprint(
        "eq. 5.2",
        "the last term",
        "R_i^{i+1} n_i (not known yet: run without it)",
        "R_i^{i+1} n_{i+1}",
        misprinted(modified_newton_euler, ("+ cross(r[i], f_next) + n_next  # 5.2", "+ cross(r[i], f_next)")),
    ),
    Misprint(
        "eq. 1.26",
        "off-diagonal entries of J_q",
        "m r-bar_x r-bar_y",
        "with the products of inertia beside it",
        NO_PRODUCTS,
    ),
    Misprint(
        "section 2, C",
        "indices of the Coriolis coefficients",
        "C^k_ij",
        "C^i_jk, q from max(i, j, k)",
        indices_exchanged,
    ),
    Misprint(
        "section 3, strobing",
        "what unit velocities of joints j and k give",
        "C^i_jk",
        "C^i_jj + C^i_kk + 2 C^i_jk: subtract the runs with one velocity",
        strobed_literally,
    ),
    Misprint(
        "eqs 2.1, 2.7",
        "signs of the potential energy",
        "-g z' T m r-bar and - dP.E./dq",
        "both plus: they cancel in 2.8",
    ),
    Misprint("section 3, a_0", "acceleration of the base", "9.8 m/s^2, a number", "g z_0, a vector"),
    Misprint("eqs 1.11, 1.12", "derivatives of R_0^i", "R_0^{i-1} Q, Q_0^{i-1}", "R_0^{j-1} Q, Q_0^{j-1}"),
    Misprint("eq. 2.6", "kinetic energy", "no velocities", "times qd_j qd_k"),
    Misprint("eqs 2.11, 4.27", "what M multiplies", "qd_j", "qdd_j"),
    Misprint("eqs 4.3, 4.5", "upper limits of the sums over k", "n; 1 to i", "i; j to i"),
    Misprint(
        "eq. 4.7", "acceleration of origin i", "a double sum of p_0^j", "the first term in a single sum, of p_0^i"
    ),
    Misprint("eqs 4.11, 4.17", "masses", "missing; twice", "m_i once"),
)
