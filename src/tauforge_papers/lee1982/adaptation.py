"""Section 5's hope: feedback gains that adapt, and loads that vary within a task cycle.

The cycle is ours: the paper's move there, a load taken up at rest, the move back, the load put down, and again. The
controller knows nothing of the load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.control import AdaptiveComputedTorque, AdaptiveGains, ComputedTorque, Controller, gains
from tauforge.motion import JointMove, Motion, MotionSample
from tauforge.robots.loads import Payload
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.simulate import simulate
from tauforge_papers.lee1982.control import ARMS, END, KP, LOADS, PERIOD, SLOW, START, puma
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.rules import not_judged

MOVES = 4  # there and back, twice
PERIODS, HALVES = round(SLOW / PERIOD), 2  # in a move, and steps of the integrator in a period
SLOWEST, QUICKEST = float(np.sqrt(KP)), 50.0  # 1/s, of the gains that adapt: the loop bears 1 / period = 100
GROWTH, DECAY = 1e5, 0.5  # 1/rad^2 and 1/s, of those gains
SMALL = 1e-7  # rad: what a logarithm shows of an error of zero
LAWS = FIXED, STIFF, GAINS, MODEL = "fixed gains", "fixed high gains", "gains that adapt", "model that is learnt"


class Shuttle(Motion):
    """The paper's move and back, again and again."""

    duration = MOVES * SLOW

    def _within(self, t: Array) -> MotionSample:
        k = np.minimum(t // SLOW, MOVES - 1)
        position, velocity, acceleration = JointMove(START, END, SLOW).sample(t - k * SLOW)
        back = (k % 2 == 1)[..., None]
        sign = np.where(back, -1.0, 1.0)
        return MotionSample(np.where(back, START + END - position, position), sign * velocity, sign * acceleration)


def laws(arm: SerialArm) -> dict[str, Controller]:
    return {
        FIXED: ComputedTorque(arm, *gains(SLOWEST)),
        STIFF: ComputedTorque(arm, *gains(QUICKEST)),
        GAINS: AdaptiveGains(arm, SLOWEST, QUICKEST, growth=GROWTH, decay=DECAY, period=PERIOD),
        MODEL: AdaptiveComputedTorque(arm, rate=SLOWEST, period=PERIOD),
    }


class Cycle(NamedTuple):
    """The largest error of any joint under one law, rad, at every sampling instant and in every move."""

    time: Array
    error: Array
    moves: list[float]


def cycle(arm: SerialArm, load: Payload) -> dict[str, Cycle]:
    """The arm carries the load on the way back; the laws go on learning from move to move."""

    def carried(t: float) -> Payload:
        return load if round(t / PERIOD) // PERIODS % 2 else Payload(0.0)

    found = {}
    for name, law in laws(arm).items():
        run = simulate(arm, law, Shuttle(), step=PERIOD / HALVES, control_period=PERIOD, payload=carried)
        error = np.abs(run.error[::HALVES]).max(axis=1)
        moves = [float(error[k * PERIODS : (k + 1) * PERIODS + 1].max()) for k in range(MOVES)]
        found[name] = Cycle(run.time[::HALVES], error, moves)
    return found


def cycles() -> dict[bool, dict[str, Cycle]]:
    return {rotors: cycle(puma(rotors), LOADS[rotors]) for rotors in ARMS}


def claims(found: dict[bool, dict[str, Cycle]]) -> list[Claim]:
    first = {name: one.moves[0] for name, one in found[False].items()}
    worst = {rotors: {name: max(one.moves) for name, one in laws.items()} for rotors, laws in found.items()}
    bare, geared = worst[False], worst[True]
    masses = {rotors: f"{load.mass:g} kg" for rotors, load in LOADS.items()}
    return [
        Claim(
            name="adaptive-gains",
            where="section 5",
            claim="Further improvements in performance can be had by adaptive feedback gains",
            printed="no number",
            measured=f"{first[GAINS]:.1e} rad with the right model, {first[FIXED]:.1e} rad with fixed gains; with a "
            f"load of {masses[False]} that comes and goes {bare[GAINS]:.2f} and {bare[FIXED]:.2f} rad",
            reason=f"Kp of each joint grows with its error from {KP:g} to at most {QUICKEST**2:g} 1/s^2, which "
            f"sampling every {PERIOD:g} s bears; the law of growth is ours. Fixed gains of {QUICKEST**2:g} 1/s^2 leave "
            f"{first[STIFF]:.1e} and {bare[STIFF]:.2f} rad: it is the higher gains that improve it. With rotors and "
            f"{masses[True]}: {geared[GAINS]:.3f} rad, {geared[FIXED]:.3f} rad fixed.",
            rule=not_judged(
                "The paper announces it and prints no law of adaptation; any law of higher gains improves it."
            ),
        ),
        Claim(
            name="varying-loads",
            where="section 5",
            claim="Adaptive control for robots whose loads vary within a task cycle is future work",
            printed="no number",
            measured=f"{bare[MODEL]:.2f} rad with a law that learns the model, {bare[FIXED]:.2f} rad with the paper's "
            f"({masses[False]}); with rotors {geared[MODEL]:.3f} and {geared[FIXED]:.3f} rad ({masses[True]})",
            reason="Slotine and Li's law learns the inertial parameters while the arm moves. It learns the load and, "
            "put down, has to learn again, so that its error falls and does not vanish.",
            rule=not_judged("The paper announces it and claims nothing."),
        ),
    ]


def figure(found: dict[bool, dict[str, Cycle]]) -> Figure:
    changes = tuple((k * SLOW, "taken up" if k % 2 else "put down") for k in range(1, MOVES))
    panels = []
    for rotors, name in ARMS.items():
        lines = tuple(Line(law, one.time, np.maximum(one.error, SMALL)) for law, one in found[rotors].items())
        title = f"{name[0].upper()}{name[1:]}, {LOADS[rotors].mass:g} kg"
        panels.append(
            ChartPanel(title, "time (s)", "largest error of any joint (rad)", lines, log_y=True, marks=changes)
        )
    return Figure(
        "varying-load",
        "Section 5: a load that varies within the cycle",
        f"The paper's move in {SLOW:g} s, back with a load that the controller does not know, and again. The cycle, "
        "the loads and the laws that adapt are ours.",
        tuple(panels),
        columns=2,
    )


def table(found: dict[bool, dict[str, Cycle]]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (ARMS[rotors], float(LOADS[rotors].mass), law, *one.moves)
        for rotors, laws in found.items()
        for law, one in laws.items()
    ]
    columns = [f"largest error, move {k + 1}, {'loaded' if k % 2 else 'empty'} (rad)" for k in range(MOVES)]
    return Table(
        "varying-load",
        "Section 5: a load that varies within the cycle",
        f"Kp = {KP:g} 1/s^2 fixed, {QUICKEST**2:g} 1/s^2 fixed, and in between where it adapts; Kv = 2 sqrt(Kp).",
        ("arm", "load (kg)", "law", *columns),
        tuple(rows),
    )
