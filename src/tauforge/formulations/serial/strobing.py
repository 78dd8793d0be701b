"""Strobing: M, C^i_jk and G from any inverse dynamics (Turney, Mudge & Lee 1980, end of section 3, sections 6-7).

M's column j is the torque of a unit acceleration of joint j, at rest and without gravity; G is the torque at rest.
Two unit velocities at once give C_jj + C_kk + 2 C_jk, so the runs with one unit velocity are subtracted. The paper's
recipe, read literally, does not subtract them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import ZERO
from tauforge.formulations.serial.parameters import ArmParameters

InverseDynamics = Callable[[ArmParameters, Scalars, Scalars, Scalars], list[Scalar]]
Run = Callable[[Scalars, Scalars], list[Scalar]]  # forces of qd and qdd at one q, without gravity


class Coefficients(NamedTuple):
    """tau_i = sum_j M_ij qdd_j + sum_jk C^i_jk qd_j qd_k + G_i (T2.11)."""

    M: list[list[Scalar]]
    C: list[list[list[Scalar]]]
    G: list[Scalar]


def unit(n: int, *indices: int) -> list[float]:
    return [1.0 if i in indices else 0.0 for i in range(n)]


def acceleration_terms(run: Run, n: int) -> list[list[Scalar]]:
    """M, a column for each unit acceleration."""
    columns = [run([0.0] * n, unit(n, j)) for j in range(n)]
    return [list(row) for row in zip(*columns, strict=True)]


def velocity_terms(run: Run, n: int) -> list[list[list[Scalar]]]:
    """Every C^i_jk: n (n + 1) / 2 runs."""
    rest = [0.0] * n
    single = [run(unit(n, j), rest) for j in range(n)]
    C: list[list[list[Scalar]]] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for j in range(n):
        for i in range(n):
            C[i][j][j] = single[j][i]
        for k in range(j):
            pair = run(unit(n, j, k), rest)
            for i in range(n):
                C[i][j][k] = C[i][k][j] = (pair[i] - single[j][i] - single[k][i]) * 0.5
    return C


def mass_matrix(inverse_dynamics: InverseDynamics, arm: ArmParameters, q: Scalars) -> list[list[Scalar]]:
    """M of an arm.

    Links at rest cost nothing, because their zeros fold.
    """
    return acceleration_terms(partial(inverse_dynamics, arm._replace(gravity=ZERO), q), arm.n)


def explicit_model(inverse_dynamics: InverseDynamics, arm: ArmParameters, q: Scalars) -> Coefficients:
    """M, every C^i_jk and G of an arm: n + n (n + 1) / 2 + 1 runs.

    Identity: equals the Lagrange-Euler coefficients.
    """
    rest, run = [0.0] * arm.n, partial(inverse_dynamics, arm._replace(gravity=ZERO), q)
    C, G = velocity_terms(run, arm.n), inverse_dynamics(arm, q, rest, rest)
    return Coefficients(mass_matrix(inverse_dynamics, arm, q), C, G)
