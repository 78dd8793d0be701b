"""Section 4 names near-minimum-time control: the paper's move along its straight line in joint space, torques at their
limits, and what an unknown load does to it.

Along q(s) the torques are a(s) s'' + b(s) s'^2 + g(s), so that their limits bound s''. The largest speed from which the
end is reached is found from the end to the start, and the move then takes the largest acceleration at every s.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.control import ComputedTorque
from tauforge.formats.loading import load
from tauforge.motion import Sampled
from tauforge.robots.loads import Payload
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.simulate import simulate
from tauforge_papers.lee1982.control import ARMS, END, KP, KV, LOADS, START, puma
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged

INTERVALS = 400  # of the path
HALVINGS = 50
FASTEST = 1e4  # 1/s^2, s'^2 beyond which none is looked for
STEP = 1e-3  # s, of sampling: the paper's 0.01 s would hide the load behind the error of holding the torques


class Path(NamedTuple):
    """Torques a s'' + b s'^2 + g along the path, (k, 6) each, at s (k,)."""

    s: Array
    a: Array
    b: Array
    g: Array


class Plan(NamedTuple):
    """Along the path: time, s, s' and the torques."""

    time: Array
    s: Array
    rate: Array
    torque: Array


def torque_limits() -> Array:
    """(6,) N m, as Armstrong, Khatib & Burdick measured them."""
    return np.array([joint.max_force for joint in load("puma560-armstrong").joints], float)


def straight(arm: SerialArm, intervals: int = INTERVALS) -> Path:
    s, way = np.linspace(0, 1, intervals + 1), END - START
    q = START + s[:, None] * way
    g = arm.gravity_forces(q)
    return Path(s, arm.mass_matrix(q) @ way, arm.bias_forces(q, np.broadcast_to(way, q.shape)) - g, g)


def accelerations(path: Path, k: int, x: float, limits: Array) -> tuple[float, float]:
    """Least and largest s'' that the torques allow at point k with s'^2 = x; least > largest where none."""
    ends = (np.array([-limits, limits]) - path.b[k] * x - path.g[k]) / path.a[k]
    return float(ends.min(axis=0).max()), float(ends.max(axis=0).min())


def fastest_rates(path: Path, limits: Array) -> Array:
    """s'^2 (k,) of the fastest move along the path from rest to rest."""
    count, ds = len(path.s), path.s[1] - path.s[0]
    reach = np.zeros(count)  # the largest s'^2 from which the end can be reached at rest
    for k in range(count - 2, -1, -1):
        low, high = 0.0, FASTEST
        for _ in range(HALVINGS):
            x = (low + high) / 2
            least, most = accelerations(path, k, x, limits)
            slowest = x + 2 * ds * least
            possible = least <= most and slowest <= reach[k + 1] and x + 2 * ds * most >= 0
            low, high = (x, high) if possible else (low, x)
        reach[k] = low
    fastest = np.zeros(count)
    for k in range(count - 1):
        most = fastest[k] + 2 * ds * accelerations(path, k, fastest[k], limits)[1]
        fastest[k + 1] = max(0.0, min(most, reach[k + 1]))
    return fastest


@cache
def plan(rotors: bool = False) -> Plan:
    path, limits = straight(puma(rotors)), torque_limits()
    x = fastest_rates(path, limits)
    rate, ds = np.sqrt(x), np.diff(path.s)
    time = np.concatenate([[0.0], np.cumsum(2 * ds / (rate[1:] + rate[:-1]))])
    second = np.diff(x) / (2 * ds)
    second = np.append(second, second[-1])  # the last instant brakes like the one before
    return Plan(time, path.s, rate, path.a * second[:, None] + path.b * x[:, None] + path.g)


def motion_of(found: Plan) -> Sampled:
    """The plan as a motion of a whole number of steps: slower by less than one of them."""
    whole = np.ceil(found.time[-1] / STEP) * STEP
    slower = whole / found.time[-1]
    way = END - START
    return Sampled(found.time * slower, START + found.s[:, None] * way, found.rate[:, None] / slower * way)


def error_with(load: Payload | None, rotors: bool) -> float:
    """rad: the largest error of any joint, computed torque within the torques' limits along the plan."""
    arm, motion = puma(rotors), motion_of(plan(rotors))
    plant = arm if load is None else arm.carrying(load)
    law = ComputedTorque(arm, KP, KV)
    run = simulate(arm, law, motion, step=STEP, control_period=STEP, plant=plant, force_limits=torque_limits())
    return float(np.abs(run.error).max())


def claims() -> list[Claim]:
    times = {rotors: plan(rotors).time[-1] for rotors in LOADS}
    errors = {rotors: (error_with(None, rotors), error_with(load, rotors)) for rotors, load in LOADS.items()}
    without, under_load = errors[False]
    return [
        Claim(
            name="near-minimum-time-complexity",
            where="section 4",
            claim="Near-minimum-time control is too complex for manipulators with four or more degrees of freedom",
            printed="no number",
            measured=f"{times[False]:.2f} s for the paper's move of six joints, {times[True]:.2f} s with rotors",
            reason="The fastest move along the straight line between the paper's ends in joint space, with torque "
            "limits of a PUMA that others measured. One joint is at its limit throughout. It is found from a table "
            f"of {INTERVALS} points, not by the method that the paper cites.",
            rule=not_judged("The computers of today make such plans at once."),
        ),
        Claim(
            name="near-minimum-time-loads",
            where="section 4",
            claim="Near-minimum-time control neglects the effect of unknown external loads",
            printed="no number",
            measured=f"{under_load:.2f} rad with {LOADS[False].mass:g} kg in the hand, {without:.4f} rad without; "
            f"with rotors {errors[True][1]:.2f} rad with {LOADS[True].mass:g} kg, {errors[True][0]:.4f} rad without",
            reason="Computed torque along the fastest move, sampled every millisecond, with the same limits. Computed "
            "torque neglects unknown loads in slower moves as well.",
            rule=not_judged("The paper prints no such law: the plan and the law are ours."),
            evidence={"without": without, "under_load": under_load},
        ),
    ]


def figure() -> Figure:
    panels = []
    limits = torque_limits()
    for rotors, name in ARMS.items():
        found = plan(rotors)
        lines = tuple(Line(f"joint {k + 1}", found.time, found.torque[:, k] / limits[k]) for k in range(6))
        panels.append(ChartPanel(name[0].upper() + name[1:], "time (s)", "torque over its limit (-)", lines))
    return Figure(
        "near-minimum-time",
        "Section 4: the fastest move between the paper's ends",
        "Along the straight line in joint space, torques within the limits of a PUMA that Armstrong, Khatib & Burdick "
        "measured. Joint 1 is at its limit throughout.",
        tuple(panels),
        columns=2,
    )
