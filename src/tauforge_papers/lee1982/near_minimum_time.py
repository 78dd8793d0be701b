"""Section 4 names near-minimum-time control: the paper's ends, torques at their limits, and an unknown load.

The law is `tauforge.control.NearMinimumTime`. The paper prints none.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tauforge.analysis.complexity import operation_count
from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.control import ComputedTorque, NearMinimumTime
from tauforge.formats.loading import load
from tauforge.motion import JointMove
from tauforge.simulation.recording import Recording
from tauforge.simulation.simulate import simulate
from tauforge_papers.lee1982.control import ARMS, END, LOADS, START, puma
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged

GAIN = 50.0  # 1/s, of the last stretch
STEP, LASTING = 1e-3, 1.0  # s, of sampling and of the run
NEAR = 1e-3  # rad: who stays so near has arrived


def torque_limits() -> Array:
    """(6,) N m, as Armstrong, Khatib & Burdick measured them."""
    return np.array([joint.max_force for joint in load("puma560-armstrong").joints], float)


def law(rotors: bool) -> NearMinimumTime:
    return NearMinimumTime(puma(rotors), torque_limits(), gain=GAIN)


@cache
def approach(rotors: bool = False, loaded: bool = False) -> Recording:
    """From rest at the paper's start to its end, with or without a load that the law does not know."""
    stay, held = JointMove(END, END, LASTING), LOADS[rotors] if loaded else None
    start = START, np.zeros(6)
    return simulate(puma(rotors), law(rotors), stay, initial=start, step=STEP, control_period=STEP, payload=held)


def arrival(run: Recording) -> float:
    """s, from which on all joints are near the end."""
    away = np.abs(run.error).max(axis=1) > NEAR
    return float(run.time[np.flatnonzero(away)[-1] + 1])


def left(rotors: bool) -> float:
    """rad: the largest error of any joint in the end, under the load."""
    return float(np.abs(approach(rotors, True).error[-1]).max())


def claims() -> list[Claim]:
    times = {rotors: arrival(approach(rotors)) for rotors in ARMS}
    ours, usual = (operation_count(x).multiplications for x in (law(False), ComputedTorque(puma())))
    return [
        Claim(
            name="near-minimum-time-complexity",
            where="section 4",
            claim="Near-minimum-time control is too complex for manipulators with four or more degrees of freedom",
            printed="no number",
            measured=f"{ours / usual:.1f} times the multiplications of computed torque; "
            f"{times[False]:.2f} s for the paper's move of six joints, {times[True]:.2f} s with rotors",
            reason=f"Until all joints stay within {NEAR:g} rad of the end, with torque limits of a PUMA that others "
            "measured. The law looks at every state how hard the arm can brake, by the whole model. It is ours, not "
            "that of the report that the paper cites.",
            rule=not_judged("Today's hardware makes it trivial, and the paper prints no such law."),
        ),
        Claim(
            name="near-minimum-time-loads",
            where="section 4",
            claim="Near-minimum-time control neglects the effect of unknown external loads",
            printed="no number",
            measured=f"{left(False):.3f} rad remain in the end with {LOADS[False].mass:g} kg in the hand, none "
            f"without; with rotors {left(True):.4f} rad with {LOADS[True].mass:g} kg, none without",
            reason="The same law with the same limits, sampled every millisecond. Computed torque neglects unknown "
            "loads as well.",
            rule=not_judged("The paper prints no such law: ours neglects them."),
        ),
    ]


def figure() -> Figure:
    panels = []
    limits = torque_limits()
    for rotors, name in ARMS.items():
        run = approach(rotors)
        lines = tuple(Line(f"joint {k + 1}", run.time, run.force[:, k] / limits[k]) for k in range(6))
        panels.append(ChartPanel(name[0].upper() + name[1:], "time (s)", "torque over its limit (-)", lines))
    return Figure(
        "near-minimum-time",
        "Section 4: the paper's ends, torques at their limits",
        "Near-minimum-time control within the limits of a PUMA that Armstrong, Khatib & Burdick measured. Joint 1 is "
        "at its limit until the arm brakes.",
        tuple(panels),
        columns=2,
    )
