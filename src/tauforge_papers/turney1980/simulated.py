"""What Turney's section 7 says of simulation by strobing, beside what we measured."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.analysis.comparison import random_states, row_errors
from tauforge.analysis.timing import time_per_state
from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge_papers.lee1982.control import puma
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import not_judged, true_or_not
from tauforge_papers.turney1980.simulation import FORMULATION, JOINTS, STEP, StrobedArm, halving, simulations
from tauforge_papers.wording import ROUNDING, less_or_more, within

SAME_MOTION = 1e-11  # rad: rounding grows along a fall
ORDER, NEAR = 4, 0.2
POSES = 100
DIGITS_LOST = 100.0  # times the error of elimination with pivoting: two digits
SAME = true_or_not(
    f"It holds if the accelerations agree within {ROUNDING:g} of the largest, and the angles of the fall within "
    f"{SAME_MOTION:g} rad.",
    lambda accelerations, angles, rounding, same_motion: accelerations < rounding and angles < same_motion,
    rounding=ROUNDING,
    same_motion=SAME_MOTION,
)
FOURTH_ORDER = true_or_not(
    f"It holds if the error falls with a power of the step within {NEAR:g} of {ORDER}.",
    lambda order, near: abs(order - ORDER) < near,
    near=NEAR,
)


class Poses(NamedTuple):
    """Random states of one arm. least, condition: of M; plain, pivoted: residuals of M x = tau over |tau|."""

    acceleration: float
    least: float
    condition: float
    plain: float
    pivoted: float


def eliminated(M: Array, b: Array) -> Array:
    """x of M x = b by Gaussian elimination without pivoting."""
    A, x = np.column_stack([M, b]), np.zeros(len(b))
    for k in range(len(b)):
        A[k + 1 :] -= np.outer(A[k + 1 :, k] / A[k, k], A[k])
    for k in reversed(range(len(b))):
        x[k] = (A[k, -1] - A[k, k + 1 : -1] @ x[k + 1 :]) / A[k, k]
    return x


def poses(rotors: bool) -> Poses:
    arm = puma(rotors)
    q, qd, _ = random_states(arm, POSES)
    tau = 20 * np.random.default_rng(7).normal(size=q.shape)
    strobed = StrobedArm(arm)
    accelerations = np.array([strobed.acceleration(*row) for row in zip(q, qd, tau, strict=True)])
    M = np.array([strobed.mass_matrix(row) for row in q])
    moments = np.linalg.eigvalsh(M)
    size = np.abs(tau).max(axis=1)

    def residual(x: Array) -> float:
        return float((np.abs(np.einsum("kij,kj->ki", M, x) - tau).max(axis=1) / size).max())

    return Poses(
        float(row_errors(accelerations, arm.forward_dynamics(q, qd, tau)).max()),
        float(moments.min()),
        float((moments[:, -1] / moments[:, 0]).max()),
        residual(np.array([eliminated(*row) for row in zip(M, tau, strict=True)])),
        residual(np.linalg.solve(M, tau[..., None])[..., 0]),
    )


def simulation() -> tuple[list[Claim], Figure, Table]:
    paper, ours = poses(False), poses(True)
    claims = [same_motion(paper), order(), no_pivoting(paper, ours), *without_number()]
    rows = tuple((name, one.least, one.condition) for name, one in (("without rotors", paper), ("with rotors", ours)))
    table = Table(
        "mass-matrix",
        "Section 7: the mass matrix of the PUMA",
        f"{POSES} random poses. The paper's arm has no rotors.",
        ("arm", "smallest eigenvalue (kg m²)", "largest condition number (-)"),
        rows,
    )
    return claims, simulation_figure(), table


def same_motion(paper: Poses) -> Claim:
    runs, with_rotors = simulations(), simulations(True)
    apart = float(runs.apart.max())
    drift, swing = float(np.ptp(runs.energy)), float(np.ptp(runs.kinetic))
    return Claim(
        name="strobed-simulation",
        where="sections 3, 7",
        claim="Accelerations from strobed columns of M and one run for C + G are those of the arm",
        printed="equal",
        measured=f"{within(paper.acceleration)}; through {runs.time[-1]:g} s of free fall {within(apart, SAME_MOTION)} "
        "rad",
        reason=f"Against the library's forward dynamics, {POSES} random states of the PUMA without rotors, as in the "
        f"paper. The fall turns {swing:.0f} J into motion and its energy drifts by {drift:.1e} J in steps of {STEP:g} "
        f"s. Driven by the torques computed for a move, the arm stays within {runs.missed.max():.1e} rad of it, and "
        f"within {with_rotors.missed.max():.1e} rad with rotors.",
        rule=SAME,
        evidence={"accelerations": paper.acceleration, "angles": apart},
    )


def order() -> Claim:
    halved = halving()
    return Claim(
        name="runge-kutta",
        where="section 7",
        claim="The four-point Runge-Kutta method integrates the motion",
        printed="order 4",
        measured=f"order {halved.order:.2f}",
        reason=f"Regression over {len(halved.steps)} halvings of the step, a falling PUMA without rotors, against an "
        'adaptive method of order 8. The paper calls the method "standard"; its order is known to be 4.',
        rule=FOURTH_ORDER,
        evidence={"order": halved.order},
    )


def no_pivoting(paper: Poses, ours: Poses) -> Claim:
    return Claim(
        name="no-pivoting",
        where="section 7",
        claim="M is positive definite, and no pivoting is necessary",
        printed="> 0",
        measured=f"smallest eigenvalue {paper.least:.1e} kg m^2 without rotors, {ours.least:.2g} kg m^2 with them",
        reason=f"Strobed M of the PUMA in {POSES} random poses. Condition numbers reach {paper.condition:.1e} without "
        f"rotors, as in the paper, and {ours.condition:.0f} with them.",
        rule=true_or_not(
            "It holds if the smallest eigenvalue is positive and elimination without pivoting "
            f'("no pivoting necessary") leaves residuals at most {DIGITS_LOST:g} times those with it.',
            lambda least, plain, pivoted, digits_lost: least > 0 and plain <= digits_lost * pivoted,
            digits_lost=DIGITS_LOST,
        ),
        evidence={"least": paper.least, "plain": paper.plain, "pivoted": paper.pivoted},
    )


def without_number() -> list[Claim]:
    time = time_per_state(puma(), FORMULATION).batch * 1e9  # ns
    return [
        Claim(
            name="step-size",
            where="section 7",
            claim="The step can be found from the largest possible change of the angles and speeds",
            printed="no number",
            measured=f"steps of {STEP:g} s in the fall above",
            reason="The step must be small enough that the changes are not excessive, in the words of the paper.",
            rule=not_judged("The paper gives neither a formula for the step nor a bound on the changes."),
        ),
        Claim(
            name="real-time",
            where="sections 0, 8",
            claim="The modified set is suitable for real-time control and high speed simulation",
            printed="no number",
            measured=f"{less_or_more(time / 1000, 10, 'microseconds')} for the torques of a PUMA",
            reason="A state in a batch on one core, compiled.",
            rule=not_judged("A modern computer makes it trivial, and the paper gives no time."),
            timed=f"{time:.0f} ns",
        ),
    ]


def simulation_figure() -> Figure:
    runs, halved = simulations(), halving()
    fourth = halved.errors[0] * (halved.steps / halved.steps[0]) ** 4
    positions = tuple(
        Line(name, runs.time, np.rad2deg(runs.fall[:, i] - runs.fall[0, i])) for i, name in enumerate(JOINTS)
    )
    distances = (
        Line("falling, from forward dynamics", runs.time, runs.apart),
        Line("driven, from the wanted move", runs.time, runs.missed),
    )
    errors = (
        Line("measured", halved.steps, halved.errors, "points"),
        Line("slope 4", halved.steps, fourth, "dashed"),
    )
    return Figure(
        "simulation",
        "Section 7: a PUMA without rotors falling freely, simulated by strobing",
        "The angles turned; how far the strobed simulation is from the one by forward dynamics, and a driven arm from "
        "the move that its torques were computed for; and the error at the end of the fall against the step.",
        (
            ChartPanel("Free fall", "time (s)", "angle turned (deg)", positions),
            ChartPanel(
                "Distance", "time (s)", "largest difference (rad)", distances, log_y=True, y_range=(1e-17, 1e-8)
            ),
            ChartPanel("Halving the step", "step (s)", "error at the end (rad)", errors, log_x=True, log_y=True),
        ),
        columns=3,
    )
