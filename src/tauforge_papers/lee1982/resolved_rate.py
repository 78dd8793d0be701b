"""Section 4 on resolved motion rate control: what the inverse Jacobian costs, and the singular poses it meets."""

from __future__ import annotations

import numpy as np

from tauforge.analysis.complexity import general_cost_of
from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.formulations.serial import kinematics
from tauforge_papers import published_counts as published
from tauforge_papers.count_tables import SIX
from tauforge_papers.lee1982.control import END, START, puma
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_in_parts
from tauforge_papers.wording import ROUNDING

ADDED = 0.1  # of the operations of the law: a load that counts
SHARES = np.geomspace(0.01, 1, 101)  # of the way from the paper's start, which is singular itself, to its end
SPEED = 0.1  # m/s, of the tool
DRAWBACKS = true_in_parts(
    f'Two drawbacks are named. "Added computation load": J and its inverse take more than {ADDED:g} of the operations '
    "of the paper's law (Table 2). \"The singularity problem\": J is singular at a pose of the paper's own move.",
    lambda share, singular, added, rounding: [share > added, singular < rounding],
    added=ADDED,
    rounding=ROUNDING,
)


def inverse_operations(n: int = SIX) -> tuple[int, int]:
    """Multiplications with divisions, and additions: J x = v for one v, by elimination."""
    return (n**3 + 3 * n**2 - n) // 3, (2 * n**3 + 3 * n**2 - 5 * n) // 6


def operations() -> tuple[int, int]:
    """Multiplications and additions for J of the general arm and for x from J x = v."""
    cost = general_cost_of(lambda arm, q, qd, qdd: [[*v, *w] for v, w in kinematics.jacobian(arm, q)])
    multiply, add = inverse_operations()
    return cost.multiplications + multiply, cost.additions + add


def joint_speeds(shares: Array) -> Array:
    """rad/s (k,), of the fastest joint while the tool moves, unturned, at `SPEED` in the worst direction."""
    q = START + np.multiply.outer(shares, END - START)
    linear = np.linalg.inv(puma().jacobian(q))[..., :3]
    return np.asarray(SPEED * np.linalg.norm(linear, axis=-1).max(axis=-1))


def result() -> tuple[Claim, Figure]:
    multiply, add = operations()
    law = published.LEE_2.total
    whole = int(law.multiplications(SIX)), int(law.additions(SIX))
    values = np.linalg.svd(puma().jacobian(START), compute_uv=False)
    speeds = joint_speeds(SHARES)
    claim = Claim(
        name="resolved-rate",
        where="section 4",
        claim="Resolved motion rate control has an added computation load, that of the inverse Jacobian, and the "
        "singularity problem",
        printed="no number",
        measured=f"{multiply} multiplications and {add} additions beside {whole[0]} and {whole[1]} of the law; the "
        f"Jacobian is singular at the paper's start; {100 * SHARES[0]:g} % of the move later, a tool that moves "
        f"at {SPEED:g} m/s needs up to {speeds[0]:.0f} rad/s of a joint, at the end {speeds[-1]:.2f} rad/s",
        reason="At the start joints 4 and 6 turn about one axis and the arm is stretched. J is traced for the general "
        "arm, the joint rates found by elimination. `control.ResolvedRate` damps the inverse near such poses, so that "
        "the tool lags instead.",
        rule=DRAWBACKS,
        evidence={"share": (multiply + add) / sum(whole), "singular": float(values[-1] / values[0])},
    )
    panel = ChartPanel(
        "The paper's move",
        "share of the move (-)",
        "rate of the fastest joint (rad/s)",
        (Line("worst direction of the tool", SHARES, speeds),),
        log_x=True,
        log_y=True,
    )
    figure = Figure(
        "resolved-rate",
        "Section 4: joint rates by the inverse Jacobian",
        f"Rate of the fastest joint while the tool moves at {SPEED:g} m/s in the worst direction without turning, at "
        "poses of the paper's move. Its start is singular.",
        (panel,),
    )
    return claim, figure
