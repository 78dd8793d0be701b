"""Turney's insignificant terms: what every term of the Newton-Euler set contributes to the torques of a PUMA.

The paper names neither an arm nor a motion. Ours are Lee's PUMA and move, without reflected rotor inertia, which the
equations do not have, and with it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tauforge.algebra.vectors import ZERO
from tauforge.analysis.complexity import general_cost_of, general_operation_count
from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.formulations.serial import modified_newton_euler, newton_euler
from tauforge_papers.count_tables import SIX
from tauforge_papers.lee1982.control import move, puma
from tauforge_papers.misprints import as_printed
from tauforge_papers.random_arms import reference
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.rules import not_judged, true_or_not
from tauforge_papers.turney1980.simulation import FORMULATION, JOINTS
from tauforge_papers.turney1980.terms import CENTRIFUGAL, CORIOLIS, GRAVITY, GROUPS, Importance, along, importance
from tauforge_papers.wording import ROUNDING

SLOW, FAST = 3.0, 1.0  # s
ARMS = {"without rotors": False, "with rotors": True}
INSIGNIFICANT = 0.01  # of a joint's largest torque
SAMPLES = 101
TURNED = "cross(omega, E_Z * qd[i])"
TERMS = {  # a term of the set -> (the piece of our code, the term within it)
    "omega x z qd, eq. 3.16": (TURNED, TURNED),
    "omega x (omega x r), eq. 3.17": (
        "cross(omega, cross(omega, r[i])) + cross(alpha, r[i]) + R_down[i] @ a  #",
        "cross(omega, cross(omega, r[i]))",
    ),
    "alpha x r, eq. 3.17": (
        "cross(omega, cross(omega, r[i])) + cross(alpha, r[i]) + R_down[i] @ a  #",
        "cross(alpha, r[i])",
    ),
    "omega x (omega x r-bar), eq. 3.18": ("cross(omega, cross(omega, r_bar))", "cross(omega, cross(omega, r_bar))"),
    "alpha x r-bar, eq. 3.18": ("cross(alpha, r_bar)", "cross(alpha, r_bar)"),
    "I alpha, eq. 3.20": ("I @ alpha + cross", "I @ alpha"),
    "omega x I omega, eq. 3.20": ("cross(omega, I @ omega)", "cross(omega, I @ omega)"),
}
DELETABLE = true_or_not(
    "It holds if some term of one link that is not zero changes no joint's torque by more than "
    f'{100 * INSIGNIFICANT:g} % of that joint\'s largest ("insignificant").',
    lambda shares, insignificant: min(shares) < insignificant,
    insignificant=INSIGNIFICANT,
)


@cache
def contributions(rotors: bool, duration: float) -> dict[tuple[str, int], Array]:
    """(term, link) -> (6,): the most that deleting the term changes the torques, over each joint's largest torque."""
    arm = puma(rotors)
    state = move(duration).sample(np.linspace(0, duration, SAMPLES))
    peak = np.abs(arm.inverse_dynamics(*state)).max(axis=0)
    whole = reference(newton_euler.inverse_dynamics, arm.model.parameters, *state)
    found = {}
    for name, (piece, term) in TERMS.items():
        for link in range(arm.n):
            deleted = piece.replace(term, f"{term} * (0.0 if i == {link} else 1.0)")
            rest = as_printed(newton_euler, (piece, deleted))["inverse_dynamics"]
            change = np.abs(reference(rest, arm.model.parameters, *state) - whole).max(axis=0)
            found[name, link + 1] = change / peak
    return found


@cache
def groups_of(rotors: bool, duration: float) -> dict[str, Importance]:
    return importance(puma(rotors), move(duration))


def shares(rotors: bool, duration: float) -> dict[tuple[str, int], float]:
    """The same of the worst joint, of those that contribute anything."""
    most = {key: float(change.max()) for key, change in contributions(rotors, duration).items()}
    return {key: share for key, share in most.items() if share > ROUNDING}


def savings() -> dict[str, str]:
    """Multiplications / additions that leaving a group out of the modified Newton-Euler set saves, general arm."""

    def without(group: str) -> Any:
        def formula(arm: Any, q: Any, qd: Any, qdd: Any) -> Any:
            still = [0.0] * arm.n
            if group == GRAVITY:
                return modified_newton_euler.inverse_dynamics(arm._replace(gravity=ZERO), q, qd, qdd)
            return modified_newton_euler.inverse_dynamics(arm, q, still, qdd)

        return general_cost_of(formula)

    whole = general_operation_count(SIX, FORMULATION)
    result = {}
    for group in (GRAVITY, CORIOLIS):
        left = without(group)
        result[group] = f"{whole.multiplications - left.multiplications} / {whole.additions - left.additions}"
    return result


def significance() -> tuple[list[Claim], list[Figure], list[Table]]:
    return significance_claims(), significance_figures(), [groups_table(), terms_table()]


def significance_claims() -> list[Claim]:
    paper, ours = (shares(rotors, SLOW) for rotors in (False, True))
    small = [key for key, share in paper.items() if share < INSIGNIFICANT]
    velocity = {
        rotors: max(groups_of(rotors, SLOW)[group].shares.max() for group in (CENTRIFUGAL, CORIOLIS))
        for rotors in (False, True)
    }
    return [
        Claim(
            name="insignificant-terms",
            where="sections 3, 6",
            claim="Terms of insignificant torque can be identified in the Newton-Euler set and, if approximations are "
            "acceptable, deleted",
            printed="no number",
            measured=f"{len(small)} of {len(paper)} terms change no torque by more than {100 * INSIGNIFICANT:g} % of "
            f"the joint's largest; the least {100 * min(paper.values()):.2g} %, the most "
            f"{100 * max(paper.values()):.0f} %",
            reason="Every term of eqs 3.16-3.20 that is not zero was deleted, one link at a time, on Lee's move of "
            f"the PUMA in {SLOW:g} s; arm and move are our choice. The arm has no rotors, as in the paper; with rotors "
            f"{sum(share < INSIGNIFICANT for share in ours.values())} of {len(ours)} terms are as small. The velocity "
            f"terms together are not: centrifugal or Coriolis terms reach {100 * velocity[False]:.0f} % of a joint's "
            f"torque without rotors (joint 6) and {100 * velocity[True]:.0f} % with them.",
            rule=DELETABLE,
            evidence={"shares": list(paper.values())},
        ),
        Claim(
            name="insignificant-terms-lagrange",
            where="sections 3, 6",
            claim="Insignificant terms are hard to identify in Lagrange's formulation, where contributions are "
            "combined in unintuitive ways",
            printed="no number",
            measured="not measured",
            reason="The groups of the table are those of Lagrange's equations: gravity, inertia, centrifugal and "
            "Coriolis terms.",
            rule=not_judged("How hard it is has no measure."),
        ),
    ]


def significance_figures() -> list[Figure]:
    panels = []
    for name, rotors in ARMS.items():
        t, groups, torque = along(puma(rotors), move(FAST))
        panels += [torque_panel(f"{JOINTS[i]}, {name}", t, groups, torque, i) for i in (0, 1, 5)]
    found = {(arm, d): groups_of(rotors, d) for arm, rotors in ARMS.items() for d in (SLOW, FAST)}
    kept = [name for name in GROUPS if all(one[name].tracking is not None for one in found.values())]
    bars = tuple(
        Line(f"{arm}, {d:g} s", kept, np.array([one[name].tracking for name in kept], float), "points")
        for (arm, d), one in found.items()
    )
    return [
        Figure(
            "torques",
            "Sections 3 and 6: what the torques of a PUMA are made of",
            f"Lee's move in {FAST:g} s, two heavy joints and the last. The paper's arm has no rotors; ours has.",
            tuple(panels),
            columns=3,
        ),
        Figure(
            "terms-dropped",
            "Sections 3 and 6: what leaving a group of terms out costs",
            "Largest position error of any joint under computed torque whose model lacks the group. Without a joint's "
            "own inertia nothing holds the arm. The paper's arm has no rotors.",
            (ChartPanel("Lee's move", "left out", "largest error (rad)", bars, log_y=True),),
        ),
    ]


def torque_panel(
    title: str, t: Array, groups: dict[str, Array], torque: Array, joint: int, unit: str = "N m"
) -> ChartPanel:
    """What the torque of one joint is made of."""
    lines = [Line(group, t, value[:, joint]) for group, value in groups.items()]
    whole = Line("sum", t, torque[:, joint], "dotted")
    return ChartPanel(title, "time (s)", f"{'torque' if unit == 'N m' else 'force'} ({unit})", (*lines, whole))


def groups_table() -> Table:
    saved = savings()
    rows: list[tuple[Cell, ...]] = []
    for arm, rotors in ARMS.items():
        found = [groups_of(rotors, duration) for duration in (SLOW, FAST)]
        for name in GROUPS:
            together = saved[CORIOLIS] if name in (CENTRIFUGAL, CORIOLIS) else saved.get(name, "")
            numbers: list[Cell] = []
            for groups in found:
                one = groups[name]
                worst = JOINTS[int(one.shares.argmax())]
                numbers += [float(one.largest.max()), float(one.shares.max()), worst, one.tracking]
            rows.append((name, arm, *numbers, together))
    columns = ["group", "arm"]
    for duration in (SLOW, FAST):
        columns += [
            f"largest torque in {duration:g} s (N m)",
            f"of the joint's largest torque in {duration:g} s (-)",
            f"of which joint in {duration:g} s",
            f"tracking error without it in {duration:g} s (rad)",
        ]
    return Table(
        "terms",
        "Groups of terms along Lee's move of the PUMA",
        "The share is that of the joint where it is largest. An empty tracking error: the arm runs away. "
        "Operations saved: of the modified Newton-Euler set, general arm of six joints; centrifugal and Coriolis terms "
        "go together. The paper's arm has no rotors.",
        (*columns, "multiplications / additions saved"),
        tuple(rows),
    )


def terms_table() -> Table:
    """What deleting a term of one link changes."""
    found = {(arm, d): contributions(rotors, d) for arm, rotors in ARMS.items() for d in (SLOW, FAST)}
    keys = list(found["without rotors", SLOW])
    rows: list[tuple[Cell, ...]] = [
        (term, link, *(float(one[term, link].max()) for one in found.values())) for term, link in keys
    ]
    return Table(
        "newton-euler-terms",
        "Terms of the Newton-Euler set, deleted one at a time",
        "Largest change of a torque, over the joint's largest torque, of the joint where it is largest: Lee's move of "
        "the PUMA. The paper's arm has no rotors.",
        ("term", "link", *(f"{arm}, {d:g} s (-)" for arm, d in found)),
        tuple(rows),
    )
