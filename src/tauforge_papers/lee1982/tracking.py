"""Section 5: how far the PUMA strays from its move, for the paper's arm and for one with rotors, against duration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.formats.loading import load
from tauforge.simulation.recording import Recording
from tauforge_papers.lee1982.control import (
    ARMS,
    FAST,
    KP,
    KV,
    ONE_BIT,
    PERIOD,
    SLOW,
    follow,
    held_force_error,
    puma,
)
from tauforge_papers.lee1982.side_by_side import computed_torque, held, moves
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.rules import not_judged

DURATIONS, PERIODS = (1.0, 2.0, 3.0, 5.0), (0.02, 0.01, 0.005)  # s, of the table
CURVE = tuple(float(x) for x in np.round(np.geomspace(1, 10, 56), 2))  # s, durations of the curve
LONGEST_HELD = 0.01  # s, of a step of the integrator while torques are held: errors within 1e-5 of themselves
SEEN = 0.01  # of a joint's largest error: below, no sign is read
COUNTS = 2**12  # of the converter
WORDS = ("one", "two", "three", "four", "five", "six")
Runs = dict[tuple[bool, float], Recording]  # by rotors and duration

INPUTS = not_judged(
    "The paper prints neither the duration nor the profile of the move nor the inertias of the arm; they decide the "
    "errors."
)


def runs() -> Runs:
    return {(rotors, duration): follow(duration, rotors) for rotors in ARMS for duration in (SLOW, FAST)}


class Curve(NamedTuple):
    """Largest errors, rad, against `CURVE` at the paper's sampling period, and where they cross the bound, s."""

    errors: dict[bool, Array]
    crossing: dict[bool, float]


def largest_errors(durations: Sequence[float], period: float = PERIOD, rotors: bool = False) -> Array:
    """rad, of any joint at any sampling instant, for each duration of the move."""
    arm, lasting = puma(rotors), np.array(durations)
    count = round(np.ceil(period / LONGEST_HELD))
    law = computed_torque(arm, KP, KV)
    found = held(arm, law, moves(lasting), lasting.max(), period=period, steps=(1 / count,) * count)
    within = found.time[:, None] < lasting + period / 2
    return np.asarray((np.abs(found.error).max(axis=2) * within).max(axis=0))


def curve() -> Curve:
    errors = {rotors: largest_errors(CURVE, rotors=rotors) for rotors in ARMS}
    return Curve(errors, {rotors: crossing(found) for rotors, found in errors.items()})


def crossing(errors: Array) -> float:
    """s, to a tenth: the shortest duration from which on the curve is below the bound."""
    tenths = np.arange(10, 101) / 10
    between = np.exp(np.interp(np.log(tenths), np.log(CURVE), np.log(errors)))
    return float(tenths[between < ONE_BIT][0])


def within_a_bit(runs: Runs, found: Curve) -> Claim:
    bare, geared = (
        " and ".join(
            f"{np.abs(runs[rotors, duration].error).max():.2e} rad in {duration:g} s" for duration in (SLOW, FAST)
        )
        for rotors in ARMS
    )
    return Claim(
        name="within-a-bit",
        where="section 5, Figs 3-8",
        claim="The position errors are always well below and within the resolution of a 12-bit converter",
        printed="less than 4.26e-4 rad",
        measured=f"{bare} for the paper's arm, {found.errors[False][-1]:.2e} rad in {CURVE[-1]:g} s; {geared} with "
        "rotors",
        reason=f"The paper's arm stays below the bound in moves of {found.crossing[False]:g} s and longer, the arm "
        f"with rotors from {found.crossing[True]:g} s on. Ours are a quintic move and our PUMA 560 (the paper's is of "
        "the 600 series) without friction and reflected rotor inertia, with inferred frames. Joint 5 has the largest "
        "error: its inertia is small, so that torques held for a period accelerate it most.",
        rule=INPUTS,
        evidence={"errors": found.errors[False].tolist(), "bound": ONE_BIT},
    )


def sign_changes(errors: Array) -> list[float]:
    """Changes of sign of each column, where it is large enough to be seen."""
    seen = [column[np.abs(column) > SEEN * np.abs(column).max()] for column in errors.T]
    return [float(np.count_nonzero(np.diff(np.sign(column)))) for column in seen]


def oscillation(runs: Runs) -> Claim:
    changes, geared = (sign_changes(runs[rotors, SLOW].error) for rotors in ARMS)
    return Claim(
        name="oscillation",
        where="section 5, Figs 3-8",
        claim='The position errors are slightly "oscillatory" about the desired position set points',
        printed="no number",
        measured=f"{changes_in_words(changes)} changes of sign of joints 1 to 6 in a move of {SLOW:g} s, "
        f"{changes_in_words(geared)} with rotors",
        reason="The loop is critically damped and does not oscillate. The errors follow the rate of the torques, which "
        "are held between samples, and this rate changes its sign at most twice in a move. Move, duration and profile "
        "are ours.",
        rule=INPUTS,
    )


def changes_in_words(changes: list[float]) -> str:
    return ", ".join(f"{count:.0f}" for count in changes)


def one_bit() -> Claim:
    bits = np.ptp(load("puma560").limits, axis=1) / COUNTS
    return Claim(
        name="one-bit",
        where="section 5",
        claim="A 12-bit converter has less than 4.26e-4 rad a bit",
        printed="4.26e-4 rad",
        measured=f"{bits.min():.2e} to {bits.max():.2e} rad over the ranges of our PUMA's joints, "
        f"{2 * np.pi / COUNTS:.2e} rad over a turn",
        reason=f"The printed number is that of a span of {np.rad2deg(ONE_BIT * COUNTS):.0f} degrees. A converter over "
        "a joint's whole range has coarser bits: the bound is stricter than such a bit.",
        rule=not_judged("The span of the converter is not printed."),
    )


def errors_with_delay(delay: float) -> tuple[float, float]:
    """rad: the largest errors of the slow move without delay, and where torques act so many s after their sample."""
    share = delay / PERIOD
    arm = puma()
    law, target = computed_torque(arm, KP, KV), moves([SLOW, SLOW])
    found = held(arm, law, target, SLOW, steps=(share, 1 - share), late=[False, True])
    without, delayed = np.abs(found.error).max(axis=(0, 2))
    return float(without), float(delayed)


def time_delay(milliseconds: float) -> Claim:
    """milliseconds: that the paper's computer takes for a set point."""
    without, delayed = errors_with_delay(milliseconds / 1000)
    return Claim(
        name="time-delay",
        where="section 5",
        claim="The time to compute a set point is quite acceptable for the time delay in the servo loop",
        printed="approximately 3 ms",
        measured=f"{delayed:.2e} rad with the torques {milliseconds:.2f} ms late, {without:.2e} rad without delay",
        reason=f"The move of {SLOW:g} s of the paper's arm, sampled every {PERIOD:g} s. Held torques are late by half "
        "a period on average, 5 ms, and the delay adds to that.",
        rule=INPUTS,
        evidence={"without": without, "delayed": delayed},
    )


def error_figure(joint: int, runs: Runs) -> Figure:
    """Figure 3 + joint of the paper."""
    number = 3 + joint
    panels = []
    for duration in (SLOW, FAST):
        lines = [Line(name, run.time, run.error[:, joint]) for name, run in of_duration(runs, duration).items()]
        time = runs[False, duration].time
        bit = np.full_like(time, ONE_BIT)
        lines.append(Line("one bit, as printed", time, bit, "dotted"))
        lines.append(Line("minus one bit", time, -bit, "dotted", like="one bit, as printed"))
        panels.append(ChartPanel(f"Move of {duration:g} s", "time (s)", "position error (rad)", tuple(lines)))
    return Figure(
        f"fig-{number}",
        f"Fig. {number}: position error for joint {WORDS[joint]}",
        f"Computed torque with the right model, sampled every {PERIOD:g} s. The paper prints no duration, and its "
        "curves are not in our source: nothing is compared with them.",
        tuple(panels),
        columns=2,
    )


def of_duration(runs: Runs, duration: float) -> dict[str, Recording]:
    return {name: runs[rotors, duration] for rotors, name in ARMS.items()}


class Errors(NamedTuple):
    """rad, (durations, periods)."""

    measured: Array
    estimated: Array


def errors(rotors: bool = False) -> Errors:
    measured = [largest_errors(DURATIONS, period, rotors) for period in PERIODS]
    estimated = [[held_force_error(duration, period, rotors) for duration in DURATIONS] for period in PERIODS]
    return Errors(np.array(measured).T, np.array(estimated).T)


ESTIMATE = (
    "Largest error of any joint. The estimate is M^-1 (rate of the torque) x period / (2 Kp): held torques are late by "
    "half a period on average."
)


def duration_figure(found: Curve) -> Figure:
    t = np.array(CURVE)
    lines = []
    for rotors, name in ARMS.items():
        estimate = np.array([held_force_error(duration, rotors=rotors) for duration in CURVE])
        lines.append(Line(name, t, found.errors[rotors]))
        lines.append(Line(f"estimate, {name}", t, estimate, "dashed", like=name))
    lines.append(Line("one bit, as printed", t, np.full_like(t, ONE_BIT), "dotted"))
    marks = tuple((found.crossing[rotors], f"{found.crossing[rotors]:g} s") for rotors in ARMS)
    caption = (
        f"{ESTIMATE} Sampled every {PERIOD:g} s. Below the bound from {found.crossing[False]:g} s on for the paper's "
        f"arm, from {found.crossing[True]:g} s on with rotors."
    )
    panel = ChartPanel(
        "The paper's move", "duration (s)", "largest error (rad)", tuple(lines), log_x=True, log_y=True, marks=marks
    )
    return Figure("error-against-duration", "Section 5: error against duration", caption, (panel,))


def error_table() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for rotors, name in ARMS.items():
        found = errors(rotors)
        for i, duration in enumerate(DURATIONS):
            cells = [float(x) for pair in zip(found.measured[i], found.estimated[i], strict=True) for x in pair]
            rows.append((name, duration, *cells))
    columns = [f"{what}, every {period:g} s (rad)" for period in PERIODS for what in ("error", "estimate")]
    return Table(
        "errors",
        "Section 5: error against duration and sampling period",
        ESTIMATE,
        ("arm", "duration (s)", *columns),
        tuple(rows),
    )
