"""The dynamics in closed form, H F + w_ext = M (a, alpha) + eta, and forward dynamics by it.

This is the form of Pedrammehr et al. 2012, eqs 48 and 51, made exact; what those equations lack is in
`pedrammehr2012_closed`.

It has six coordinates, those of the platform, so no loop can open. A leg enters M by the 3 x 3 apparent mass Q_i of its
tip, M = sum [E; q~] Q_i [E; q~]' + the platform's remainder, all in the coordinates of `universal_coordinates`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.elimination import spread
from tauforge.algebra.linear import Factors, factored, solved
from tauforge.algebra.scalars import Scalar, Scalars, is_zero
from tauforge.algebra.vectors import ZERO, ZERO_MATRIX, Matrix, Vector, cross, skew
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.stewart import exact
from tauforge.formulations.stewart.lumping import LumpedPlatform
from tauforge.formulations.stewart.parameters import MovingBase, PlatformMotion, PlatformParameters
from tauforge.formulations.stewart.spherical_legs import FreeTip, free_tip_mass_matrix
from tauforge.formulations.stewart.universal_coordinates import Tip, gathered, tip, without

SUSPICIOUS_FACTORS = 1e12  # ratio of the magnitudes of M's factors above which its condition number is checked


def bias_wrench(p: LumpedPlatform, m: PlatformMotion) -> list[Scalar]:
    """eta: the wrench that legs and platform need at zero acceleration, at the platform's own origin."""
    found, q1 = gathered(p, without_acceleration(m), [0.0] * len(p.legs))
    force, moment = found.wrench
    return [*force, *(moment + cross(q1, force))]


def without_acceleration(m: PlatformMotion) -> PlatformMotion:
    return m._replace(a=ZERO, alpha=ZERO)


def tip_mass_matrix(t: Tip | FreeTip) -> Matrix:
    """The apparent mass of a leg at its tip, 3 x 3, base axes, with the platform's point mass there.

    Q_i of P41 and P42 in their exact form.
    """
    if isinstance(t, FreeTip):
        return free_tip_mass_matrix(t)
    leg, sigma, rho = t.leg, t.sigma, t.rho
    J, r, m = leg.J, leg.upper_moment, leg.tip_mass
    Li, ni = t.L_inverse, t.n_inverse
    J11 = J[2, 2] + sigma * sigma * (J[0, 0] - J[2, 2]) + sigma * rho * (2.0 * J[0, 2])
    J12 = rho * J[1, 2] + sigma * J[0, 1]
    half_vv = r.x * Li - r.z * (sigma * ni) + J11 * (0.5 * (ni * ni))
    half_zz = r.x * Li + (0.5 * J[1, 1]) * (Li * Li)
    vz = r.y * (sigma * ni) - J12 * (Li * ni)
    sv, sz = -(r.y * Li), -(r.z * Li)
    s, v = t.S * Li, t.n * ni
    z = (t.k - s * sigma) * t.rho_inverse
    to_v = s * sv + v * half_vv + z * vz
    to_z = s * sz + z * half_zz
    to_s = s * (0.5 * leg.reflected_mass)
    entries: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
    S, V, Z, TV, TZ, TS = (tuple(x) for x in (s, v, z, to_v, to_z, to_s))
    for i in range(3):
        for j in range(i, 3):
            entry = V[i] * TV[j] + TV[i] * V[j] + Z[i] * TZ[j] + TZ[i] * Z[j]
            if not is_zero(leg.reflected_mass):
                entry = entry + S[i] * TS[j] + TS[i] * S[j]
            entries[i][j] = entries[j][i] = entry + m if i == j else entry
    return Matrix.of(entries)


def mass_blocks(p: LumpedPlatform, R: Matrix, tips: Sequence[Tip | FreeTip]) -> tuple[Matrix, Matrix, Matrix]:
    """A, C, D of M = [[A, C'], [C, D]] about the moved origin: force by a; moment by a; moment by alpha.

    The sums over Q_i of P48 and P51 in their exact form.
    """
    A, C, D = Matrix.diagonal(p.mass, p.mass, p.mass), ZERO_MATRIX, ZERO_MATRIX
    for t in tips:
        Q = tip_mass_matrix(t)
        A = A + Q
        qQ = crossed(t.q, Q)
        C = C + qQ
        D = D + Matrix([cross(t.q, row) for row in qQ.rows])
    C = C + skew(R @ p.first_moment)
    Q = p.second_moments
    if not all(is_zero(x) for row in Q.rows for x in row):
        I = Matrix.diagonal(Q.trace, Q.trace, Q.trace) - Q
        D = D + R.times(I).times(R.T)
    return A, C, D


def crossed(q: Vector, Q: Matrix) -> Matrix:
    """[q]x Q."""
    return Matrix([cross(q, column) for column in Q.T.rows]).T


def assembled(A: Matrix, C: Matrix, D: Matrix) -> list[list[Scalar]]:
    """6 x 6, symmetric to the last bit: each pair of entries is computed once."""
    M: list[list[Scalar]] = [[0.0] * 6 for _ in range(6)]
    for i in range(3):
        for j in range(3):
            low, high = min(i, j), max(i, j)
            M[i][j], M[3 + i][3 + j] = A[low, high], D[low, high]
            M[3 + i][j] = M[j][3 + i] = C[i, j]
    return M


def mass_matrix(p: LumpedPlatform, X: Vector, R: Matrix) -> list[list[Scalar]]:
    """M at the platform's own origin: H F + w_ext = M (a, alpha) + eta."""
    q1 = R @ p.origin
    A, C, D = mass_blocks(p, R, [tip(leg, X + q1, R) for leg in p.legs])
    if any(not is_zero(x) for x in p.origin):
        turned = crossed(q1, C.T)
        C = C + crossed(q1, A)
        D = D + Matrix([cross(q1, row) for row in C.rows]) + turned
    return assembled(A, C, D)


def forward_dynamics(
    p: LumpedPlatform, m: PlatformMotion, actuators: Scalars, external: Wrench = NO_WRENCH
) -> tuple[Vector, Vector, Scalar]:
    """Accelerations (a, alpha) that the actuators produce, and a doubt of them: at least 1 where M may be singular.

    The accelerations in m are not used.
    Identity: inverse_dynamics at the result gives the actuators' forces back.
    """
    found, q1 = gathered(p, without_acceleration(m), actuators)
    force, moment = without(found.wrench, external, q1)
    factors = factored(assembled(*mass_blocks(p, m.R, found.tips)))
    return *accelerations(factors, [-y for y in (*force, *moment)], q1), doubt_of(factors)


def accelerations(factors: Factors, wrench: Scalars, q1: Vector = ZERO) -> tuple[Vector, Vector]:
    """(a, alpha) by M^-1 of a point of the platform to which -q1 leads from that of M."""
    x = solved(factors, wrench)
    alpha = Vector(*x[3:])
    return Vector(*x[:3]) - cross(alpha, q1), alpha


def doubt_of(factors: Factors) -> Scalar:
    """At least 1 where M may have no inverse."""
    return spread(factors.D_inverse) * (1.0 / SUSPICIOUS_FACTORS)


def forward_dynamics_on_moving_base(
    p: LumpedPlatform,
    whole: PlatformParameters,
    m: PlatformMotion,
    actuators: Scalars,
    base: MovingBase,
    external: Wrench = NO_WRENCH,
) -> tuple[Vector, Vector, Scalar]:
    """Accelerations (a, alpha) relative to a base that moves; other arguments as in `forward_dynamics`.

    The mass matrix is that of the base at rest: the base changes eta alone, which is taken from the vector equations.
    whole: the same platform as the vector equations see it
    Identity: exact.inverse_dynamics on this base at the result gives the actuators' forces back.
    """
    force, moment = exact.missing_wrench(whole, without_acceleration(m), actuators, external, base)
    factors = factored(mass_matrix(p, m.X, m.R))
    return *accelerations(factors, [-y for y in (*force, *moment)]), doubt_of(factors)
