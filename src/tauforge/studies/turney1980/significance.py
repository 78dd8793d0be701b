"""Where Turney's insignificant terms are: claims, figures and table of the groups of terms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.algebra.vectors import ZERO
from tauforge.analysis.complexity import general_cost_of, general_operation_count
from tauforge.formulations.serial import modified_newton_euler
from tauforge.plots.figure import Figure, Line, Panel
from tauforge.studies.count_tables import SIX
from tauforge.studies.lee1982.control import ONE_BIT
from tauforge.studies.study import Claim, Table, judged
from tauforge.studies.turney1980.simulation import FORMULATION, JOINTS
from tauforge.studies.turney1980.terms import CENTRIFUGAL, CORIOLIS, GRAVITY, GROUPS, Importance, along, importance

SLOW, FAST = 3.0, 1.0  # s


def savings() -> dict[str, str]:
    """Multiplications / additions that leaving a group out of the modified Newton-Euler set saves, general arm."""

    def without(group: str) -> Any:
        def text(arm: Any, q: Any, qd: Any, qdd: Any) -> Any:
            still = [0.0] * arm.n
            if group == GRAVITY:
                return modified_newton_euler.inverse_dynamics(arm._replace(gravity=ZERO), q, qd, qdd)
            return modified_newton_euler.inverse_dynamics(arm, q, still, qdd)

        return general_cost_of(text)

    whole = general_operation_count(SIX, FORMULATION)
    result = {}
    for group in (GRAVITY, CORIOLIS):
        left = without(group)
        result[group] = f"{whole.multiplications - left.multiplications} / {whole.additions - left.additions}"
    return result


def significance() -> tuple[list[Claim], list[Figure], Table]:
    found = {duration: importance(duration) for duration in (SLOW, FAST)}
    saved = savings()
    return significance_claims(found, saved), significance_figures(found), significance_table(found, saved)


def significance_claims(found: dict[float, dict[str, Importance]], saved: dict[str, str]) -> list[Claim]:
    velocity = {d: max(found[d][g].share for g in (CENTRIFUGAL, CORIOLIS)) for d in found}
    cost = {d: max(found[d][g].tracking or np.inf for g in (CENTRIFUGAL, CORIOLIS)) for d in found}
    gravity = found[SLOW][GRAVITY].tracking or np.inf
    return [
        Claim(
            "sections 3, 6",
            "Terms of insignificant torque are easily identified and, if approximations are acceptable, left out",
            "no number",
            f"without centrifugal or Coriolis terms, up to {100 * velocity[SLOW]:.0f} % of a joint's torque, computed "
            f"torque strays by {cost[SLOW]:.1e} rad in {SLOW:g} s and {cost[FAST]:.1e} rad in {FAST:g} s",
            judged(cost[SLOW] < ONE_BIT, cost[SLOW] < gravity / 10),
            f"That is {cost[SLOW] / ONE_BIT:.1f} times the bit of {ONE_BIT:.2e} rad that Lee et al. ask of this move: "
            "little beside the other groups, not too little to matter. "
            f"Without gravity it strays by {gravity:.1e} rad, without a joint's own inertia nothing holds the arm. "
            f"The velocity terms cost {saved[CORIOLIS]} multiplications / additions of the general arm. Their share of "
            f"the torque is {100 * velocity[FAST]:.0f} % in the fast move too: slowness shrinks inertial and velocity "
            "terms alike, beside gravity and not beside each other.",
        )
    ]


def significance_figures(found: dict[float, dict[str, Importance]]) -> list[Figure]:
    t, groups, torque = along(FAST)
    panels = []
    for i in range(3):
        lines = [Line(name, t, value[:, i]) for name, value in groups.items()]
        panels.append(Panel(JOINTS[i], "time (s)", "torque (N m)", (*lines, Line("sum", t, torque[:, i], "dotted"))))
    kept = [name for name in GROUPS if all(found[d][name].tracking is not None for d in found)]
    bars = tuple(
        Line(f"move of {d:g} s", kept, np.array([found[d][name].tracking for name in kept], float), "points")
        for d in found
    )
    return [
        Figure(
            "torques",
            "Sections 3 and 6: what the torques of a PUMA are made of",
            f"Lee's move in {FAST:g} s, the three heavy joints. Inertia includes the reflected rotors.",
            tuple(panels),
            columns=3,
        ),
        Figure(
            "terms-dropped",
            "Sections 3 and 6: what leaving a group of terms out costs",
            "Largest position error of any joint under computed torque whose model lacks the group; without a joint's "
            "own inertia nothing holds the arm.",
            (Panel("Lee's move", "left out", "largest error (rad)", bars, log_y=True),),
        ),
    ]


def significance_table(found: dict[float, dict[str, Importance]], saved: dict[str, str]) -> Table:
    columns = ["group"]
    for duration in found:
        columns += [
            f"largest torque in {duration:g} s (N m)",
            f"of the joint's largest torque in {duration:g} s (-)",
            f"tracking error without it in {duration:g} s (rad)",
        ]
    rows = []
    for name in GROUPS:
        row: list[Any] = [name]
        for result in found.values():
            one = result[name]
            row += [float(one.largest.max()), one.share, one.tracking]
        together = saved[CORIOLIS] if name in (CENTRIFUGAL, CORIOLIS) else saved.get(name, "")
        rows.append((*row, together))
    return Table(
        "terms",
        "Groups of terms along Lee's move of the PUMA",
        "The share is that of the joint where it is largest. An empty tracking error: the arm runs away. "
        "Operations saved: of the modified Newton-Euler set, general arm of six joints; centrifugal and Coriolis terms "
        "go together.",
        (*columns, "multiplications / additions saved"),
        tuple(rows),
    )
