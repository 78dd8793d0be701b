"""Sections 4 and 5: the conditions on Kv and Kp, shown to bite, and the choice of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.control.computed_torque import check_gains
from tauforge.errors import ModelError
from tauforge_papers.lee1982.control import KP, KV, ONE_BIT, PERIOD, SLOW, puma
from tauforge_papers.lee1982.error_equation import OFFSET, offset_runs
from tauforge_papers.lee1982.side_by_side import computed_torque, held, moves
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import true_or_mended, true_or_not

PAIRS = 300  # of random gains
TEN_HERTZ = 10.0
CURVE = tuple(float(x) for x in np.geomspace(10, 8000, 56))  # 1/s^2, of Kp
NOTHING = 1e-6  # rad: less is not told apart from the integrator's error
LAST = 1.0  # s, at the end of a run, in which what is left is looked for
DIES_OUT = true_or_not(
    f"It holds if the slowest error of {PAIRS} random pairs of gain matrices that keep (a), (b) and (c) decays, Kv of "
    "any rank among them.",
    lambda slowest: slowest < 0,
)
CRITERION = true_or_not(
    'It holds if the printed gains keep all of (a), (b) and (c) ("assigned according to the stability criterion").',
    lambda kp, kv, rank: kp > 0 and kv >= 0 and rank == 6,
)
CHOICE = true_or_mended(
    "It holds if Kp = 100 1/s^2 is a natural frequency of ten hertz and Kv damps it critically, and with a correction "
    "if it is ten radians a second.",
    holds=lambda frequency, damping: round(frequency, 1) == TEN_HERTZ and round(damping, 3) == 1,
    corrected=lambda frequency, damping: round(2 * np.pi * frequency, 1) == TEN_HERTZ and round(damping, 3) == 1,
)


class Gains(NamedTuple):
    name: str
    kp: Array
    kv: Array


def with_last(value: float, last: float) -> Array:
    """Diagonal, the last joint apart."""
    return np.diag([*[value] * 5, last])


def examples() -> list[Gains]:
    """The printed gains, and gains that break one condition each."""
    skew = np.zeros((6, 6))
    skew[0, 1], skew[1, 0] = 220.0, -220.0
    kp, kv = KP * np.eye(6), KV * np.eye(6)
    return [
        Gains("as printed", kp, kv),
        Gains("(a) broken: Kv of joint 6 is -1", kp, with_last(KV, -1.0)),
        Gains("(b) broken: Kp of joint 6 is -10", with_last(KP, -10.0), kv),
        Gains("(c) broken: Kv of joint 6 is 0", kp, with_last(KV, 0.0)),
        Gains("(b) broken: Kp of joints 1 and 2 not symmetric", kp + skew, kv),
    ]


def slowest(kp: Array, kv: Array) -> float:
    """1/s, the largest real part of the roots of e'' + Kv e' + Kp e = 0."""
    n = len(kp)
    return float(np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-kp, -kv]])).real.max())


def kept(kp: Array, kv: Array) -> bool:
    """Whether the gains keep (a), (b) and (c), as `ComputedTorque` checks them."""
    try:
        check_gains(kp, kv)
    except ModelError:
        return False
    return True


def random_gains(pairs: int = PAIRS) -> list[tuple[Array, Array]]:
    """Symmetric, Kp positive definite, Kv non-negative of rank 1 to 6."""
    random = np.random.default_rng(0)
    found = []
    for k in range(pairs):
        Q, _ = np.linalg.qr(random.normal(size=(6, 6)))
        B = random.uniform(0.5, 1.0, (6, 1 + k % 6))
        kp, kv = Q * np.linspace(0.5, 3, 6) * KP @ Q.T, KV * Q @ B @ B.T @ Q.T
        found.append(((kp + kp.T) / 2, (kv + kv.T) / 2))
    return found


def in_words(error: float) -> str:
    """To the digits that the steps of the integrator leave."""
    return f"{error:.1e}" if error > NOTHING else f"less than {NOTHING:g}"


def rank_of(kp: Array, kv: Array) -> int:
    blocks = [kv]
    for _ in range(len(kp) - 1):
        blocks.append(kp @ blocks[-1] / np.abs(kp).max())
    return int(np.linalg.matrix_rank(np.hstack(blocks)))


def conditions() -> tuple[list[Claim], Figure, Table]:
    largest = max(slowest(*pair) for pair in random_gains())
    made = examples()
    run = offset_runs(
        np.full((len(made), 6), OFFSET), *(np.array(K) for K in zip(*(one[1:] for one in made), strict=True))
    )
    errors = np.abs(run.error).max(axis=2)
    left = [float(error) for error in errors[run.time > SLOW - LAST].max(axis=0)]
    printed = made[0]
    eigenvalues = [float(np.linalg.eigvalsh(K).min()) for K in (printed.kp, printed.kv)]
    claims = [
        Claim(
            name="stability",
            where="section 4, after eq. 4.3",
            claim="If (a) Kv is symmetric and non-negative, (b) Kp symmetric and positive definite and (c) [Kv | Kp Kv "
            "| ...] of rank n, the error dies out",
            printed="e -> 0",
            measured=f"the slowest of {PAIRS} pairs of gains decays as exp({largest:.2g} t); breaking any condition "
            f"leaves {min(left[1:]):.2f} rad or more of {OFFSET:g} rad in the last second of {SLOW:g} s",
            reason="Kv need not be regular: damping of one combination of joints is enough where Kp couples them. The "
            "paper claims that the conditions suffice, not that they are needed; the table shows what each is for.",
            rule=DIES_OUT,
            evidence={"slowest": largest},
        ),
        Claim(
            name="gains-by-criterion",
            where="section 5",
            claim="The elements of Kv and Kp are assigned according to the stability criterion",
            printed="Kp = 100 1/s^2, Kv = 20 1/s",
            measured=f"smallest eigenvalues {eigenvalues[0]:g} 1/s^2 of Kp and {eigenvalues[1]:g} 1/s of Kv, rank "
            f"{rank_of(printed.kp, printed.kv)} of (c)",
            reason="Diagonal gains above zero keep all three.",
            rule=CRITERION,
            evidence={
                "kp": eigenvalues[0],
                "kv": eigenvalues[1],
                "rank": float(rank_of(printed.kp, printed.kv)),
            },
        ),
    ]
    lines = tuple(Line(gains.name, run.time, errors[:, k]) for k, gains in enumerate(made))
    figure = Figure(
        "conditions",
        "Section 4: what the conditions of stability are for",
        f"The paper's arm and move, every joint {OFFSET:g} rad off at the start, the right model and a continuous law.",
        (ChartPanel("", "time (s)", "largest error of any joint (rad)", lines, log_y=True, y_range=(1e-6, 1.0)),),
    )
    rows = tuple(
        (name, "yes" if kept(kp, kv) else "no", round(slowest(kp, kv), 3) + 0.0, in_words(error))
        for (name, kp, kv), error in zip(made, left, strict=True)
    )
    table = Table(
        "conditions",
        "Section 4: gains that keep and break the conditions of stability",
        f"From {OFFSET:g} rad of every joint, the right model and a continuous law.",
        ("gains", "(a), (b), (c) kept", "slowest root, real part (1/s)", f"error in the last {LAST:g} s (rad)"),
        rows,
    )
    return claims, figure, table


def errors_of(gains: Sequence[float]) -> Array:
    """rad, the largest of any joint in the slow move for each Kp, critically damped."""
    kp = np.array(gains)
    law = computed_torque(puma(), kp[:, None], 2 * np.sqrt(kp)[:, None])
    return np.asarray(np.abs(held(puma(), law, moves([SLOW] * len(kp)), SLOW).error).max(axis=(0, 2)))


def choice() -> tuple[Claim, Figure]:
    frequency, damping = float(np.sqrt(KP)) / (2 * np.pi), KV / (2 * float(np.sqrt(KP)))
    ten = (2 * np.pi * TEN_HERTZ) ** 2
    printed, at_ten, *errors = errors_of((KP, ten, *CURVE))
    limit = 1 / PERIOD**2  # |z| = 1 of a double integrator under held forces, critically damped
    claim = Claim(
        name="ten-hertz",
        where="section 5",
        claim="Kp = 100, since the natural frequency of a PUMA is unlikely to be over ten hertz, and Kv = 2 sqrt(Kp)",
        printed="10 Hz",
        measured=f"{frequency:.2f} Hz ({np.sqrt(KP):g} rad/s), damping ratio {damping:g}",
        reason=f"Kp = 100 1/s^2 means ten radians a second. Ten hertz would be Kp = {ten:.0f} 1/s^2, which sampling "
        f"every {PERIOD:g} s still bears (it bears less than {limit:g} 1/s^2), and would leave {at_ten:.1e} rad "
        f"of the {printed:.1e} rad of the move of {SLOW:g} s. No rigid model says what the natural frequency of a "
        "real PUMA is.",
        rule=CHOICE,
        evidence={"frequency": frequency, "damping": damping},
    )
    kp = np.array(CURVE)
    lines = (
        Line("the paper's arm", kp, np.array(errors)),
        Line("one bit, as printed", kp, np.full_like(kp, ONE_BIT), "dotted"),
    )
    panel = ChartPanel(
        f"The paper's move in {SLOW:g} s",
        "Kp (1/s^2)",
        "largest error (rad)",
        lines,
        log_x=True,
        log_y=True,
        marks=((KP, "as printed"), (ten, "ten hertz")),
    )
    figure = Figure(
        "error-against-gains",
        "Section 5: error against Kp",
        f"Kv = 2 sqrt(Kp), sampled every {PERIOD:g} s, which bears Kp below {limit:g} 1/s^2.",
        (panel,),
    )
    return claim, figure
