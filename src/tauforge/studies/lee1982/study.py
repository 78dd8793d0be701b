"""Lee, Chung, Mudge & Turney 1982: a PUMA under computed torque, and what its controller costs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tauforge.analysis.comparison import relative_error
from tauforge.control import AdaptiveComputedTorque, ComputedTorque
from tauforge.formulations.serial import lagrange_euler
from tauforge.motion import Sine
from tauforge.plots.figure import Figure, Line, Panel
from tauforge.robots.load import load
from tauforge.robots.loads import Payload
from tauforge.robots.serial_arm import SerialArm
from tauforge.simulation.recording import Recording
from tauforge.simulation.simulate import simulate
from tauforge.studies.lee1982.control import (
    END,
    HOLD_STEPS,
    KP,
    KV,
    ONE_BIT,
    PERIOD,
    START,
    follow,
    held_command_error,
    largest_error,
    move,
    puma,
    shortest_duration,
)
from tauforge.studies.lee1982.cost import PAIR, costs
from tauforge.studies.misprints import Misprint, misprint_results, misprinted
from tauforge.studies.study import (
    ROUNDING,
    Claim,
    Progress,
    Study,
    Table,
    corrected_unless,
    holds_if,
    judged,
    nothing,
    within,
)
from tauforge.studies.turney1980.errata import NO_PRODUCTS

Array = NDArray[Any]
SLOW, FAST = 3.0, 1.0  # s
DURATIONS, PERIODS = (1.0, 2.0, 3.0, 5.0), (0.02, 0.01, 0.005)  # s
OF_THE_JERK = 2  # changes of sign of a quintic move's jerk
MORE_MASS, PAYLOAD = 0.1, 2.0  # of the arm that the controller does not know: of every link's mass; kg in the hand
OSCILLATION = 0.4  # Hz, of the motion along which that arm is learnt
COUNTS = 2**12  # of the converter
WORDS = ("One", "Two", "Three", "Four", "Five", "Six")

MISPRINTS = (
    Misprint(
        "eq. 3.10",
        "sign of the gravity loading",
        "+ sum m_j g dT/dq_i r-bar_j, with g = (0, 0, -|g|, 0)",
        "- sum m_j g' dT/dq_i r-bar_j, as in 3.6",
        misprinted(lagrange_euler, ("forces.append(-dot(g, lift))", "forces.append(dot(g, lift))")),
    ),
    Misprint(
        "eq. 2.20", "off-diagonal entries of J_i", "m r-bar_x r-bar_y", "with the products of inertia", NO_PRODUCTS
    ),
    Misprint("eq. 3.8", "where the sum for D_ij starts", "k = i", "k = max(i, j)"),
    Misprint("eqs 2.21, 4.15", "mass in front of r-bar r-bar'", "none", "m_i"),
    Misprint("eq. 4.4", "what is substituted", "the velocity of joint i", "its acceleration"),
)


def study(progress: Progress = nothing) -> Study:
    """Everything of the paper that can be computed."""
    progress("the PUMA along its move")
    runs = {duration: follow(duration) for duration in (SLOW, FAST)}
    claims = [within_a_bit(runs), oscillation(runs[SLOW]), one_bit(), gains(), same_law(runs[SLOW]), error_dies_out()]
    figures = [error_figure(i, runs) for i in range(6)]
    progress("error against duration and sampling period")
    figure, table = against_duration()
    figures, tables = [*figures, figure], [table]
    progress("a wrong model, and one that learns")
    more, figure = wrong_model(largest_error(SLOW))
    claims, figures = [*claims, *more], [*figures, figure]
    progress("what the controllers cost")
    more, counts = costs()
    claims, tables = claims + more, tables + counts
    progress("misprints")
    more, table = misprint_results(MISPRINTS, "misprints", "Misprints of the paper")
    claims, tables = claims + more, [*tables, table]
    return Study(
        "lee1982",
        "C. S. G. Lee, M. J. Chung, T. N. Mudge & J. L. Turney, On the control of mechanical manipulators, 1982",
        "Computed torque keeps the PUMA within the paper's bound for moves that are not too fast, and all error comes "
        "from holding the torques between samples. The milliseconds of the PDP-11 come out again; the factor between "
        "the controllers is larger than printed by the paper's own tables, and small when Lagrange's sums are taken "
        "first.",
        tuple(claims),
        tuple(figures),
        tuple(tables),
    )


def within_a_bit(runs: dict[float, Recording]) -> Claim:
    largest = {duration: float(np.abs(run.error).max()) for duration, run in runs.items()}
    return Claim(
        "section 5, Figs 3-8",
        "The position errors stay within the resolution of a 12-bit converter",
        "< 4.26e-4 rad",
        f"{largest[SLOW]:.2e} rad in a move of {SLOW:g} s, {largest[FAST]:.2e} rad in one of {FAST:g} s",
        "holds with a correction" if largest[SLOW] < ONE_BIT < largest[FAST] else "does not hold",
        f"It holds for moves of {shortest_duration():g} s and longer at the paper's sampling of {PERIOD:g} s. "
        "Duration, profile, frames and inertias are not printed: a quintic move of our PUMA without friction, "
        "the frames inferred.",
    )


def oscillation(run: Recording) -> Claim:
    changes = [int(np.count_nonzero(np.diff(np.sign(column[column != 0])))) for column in run.error.T]
    return Claim(
        "section 5, Figs 3-8",
        "The position errors are slightly oscillatory about the set points",
        "slightly",
        f"{min(changes)} to {max(changes)} changes of sign a joint in {SLOW:g} s",
        judged(min(changes) > OF_THE_JERK, max(changes) > 0),
        f"They follow the jerk of the move, which changes its sign {OF_THE_JERK} times; the loop itself is critically "
        "damped and does not oscillate.",
    )


def one_bit() -> Claim:
    arm = load("puma560")
    assert isinstance(arm, SerialArm)
    spans = np.ptp(arm.limits, axis=1)
    bits = spans / COUNTS
    return Claim(
        "section 5",
        "One bit of a 12-bit converter",
        "4.26e-4 rad",
        f"{bits.min():.2e} to {bits.max():.2e} rad over the joints' ranges, {2 * np.pi / COUNTS:.2e} rad over a turn",
        corrected_unless(bool(bits.min() <= ONE_BIT <= bits.max())),
        f"The printed number is that of a range of {np.rad2deg(ONE_BIT * COUNTS):.0f} degrees; no joint of the PUMA "
        f"turns less than {np.rad2deg(spans.min()):.0f}. The bound is stricter than a real bit.",
    )


def gains() -> Claim:
    poles = np.linalg.eigvals(np.array([[0.0, 1.0], [-KP, -KV]]))
    frequency = float(np.sqrt(KP)) / (2 * np.pi)
    return Claim(
        "section 5",
        "Kp = 100 since the arm's natural frequency is unlikely to be over ten hertz",
        "10 Hz",
        f"{frequency:.2f} Hz ({np.sqrt(KP):g} rad/s); poles at {poles.real.min():.2f} and {poles.real.max():.2f} 1/s",
        corrected_unless(round(frequency) == 10),
        "Kp = 100 1/s^2 means ten radians, not ten periods, a second; Kv = 2 sqrt(Kp) damps it critically, as meant.",
    )


def same_law(run: Recording) -> Claim:
    """Eq. 4.1 on Lagrange-Euler beside eqs 3.21-3.27 with 4.4, at every state of the run."""
    target = move(SLOW).sample(run.time)
    wanted = target.acceleration + KV * (target.velocity - run.velocity) + KP * run.error
    torques = [puma().inverse_dynamics(run.position, run.velocity, wanted, formulation=name) for name in PAIR]
    difference = relative_error(*torques)
    return Claim(
        "section 4",
        "The law on Newton-Euler is the law on Lagrange-Euler",
        "equal",
        f"{within(difference)} of the largest torque",
        holds_if(difference < ROUNDING),
        f"At the {len(run.time)} states of the move of {SLOW:g} s.",
    )


def error_dies_out() -> Claim:
    """e'' + Kv e' + Kp e = 0 from an offset of 0.1 rad, the law asked at every step of the integrator."""
    offset = 0.1
    arm, motion = puma(), move(SLOW)
    law = ComputedTorque(arm, KP, KV)
    run = simulate(arm, law, motion, initial=(START - offset, np.zeros(6)), step=2e-3)
    rate = np.sqrt(KP)
    expected = offset * (1 + rate * run.time) * np.exp(-rate * run.time)
    difference = float(np.abs(run.error - expected[:, None]).max())
    left = float(np.abs(run.error[-1]).max())
    return Claim(
        "eq. 4.3",
        "With the right model the error obeys e'' + Kv e' + Kp e = 0 and dies out",
        "-> 0",
        f"from {offset:g} rad to {left:.1e} rad in {SLOW:g} s, {difference:.1e} rad from the solution",
        holds_if(difference < 1e-6 and left < 1e-6),
        "Simulated with the law asked at every step of the integrator.",
    )


def error_figure(joint: int, runs: dict[float, Recording]) -> Figure:
    """Figure 3 + joint of the paper."""
    number = 3 + joint
    panels = []
    for duration, run in runs.items():
        bit = np.full_like(run.time, ONE_BIT)
        lines = (
            Line(f"joint {joint + 1}", run.time, run.error[:, joint]),
            Line("one bit, as printed", run.time, bit, "dotted"),
            Line("minus one bit", run.time, -bit, "dotted", like="one bit, as printed"),
        )
        panels.append(Panel(f"Move of {duration:g} s", "time (s)", "position error (rad)", lines))
    printed = ' (printed as "Figure 3")' if number == 8 else ""
    return Figure(
        f"fig-{number}",
        f"Fig. {number}: position error for joint {WORDS[joint].lower()}{printed}",
        f"Computed torque with the right model, sampled every {PERIOD:g} s; the paper prints no duration.",
        tuple(panels),
        columns=2,
    )


class Errors(NamedTuple):
    """rad, (durations, periods)."""

    measured: Array
    estimated: Array


def errors() -> Errors:
    pairs = [[(duration, period) for period in PERIODS] for duration in DURATIONS]
    return Errors(
        np.array([[largest_error(*pair) for pair in row] for row in pairs]),
        np.array([[held_command_error(*pair) for pair in row] for row in pairs]),
    )


def against_duration() -> tuple[Figure, Table]:
    found = errors()
    t = np.array(DURATIONS)
    lines = []
    for k, period in enumerate(PERIODS):
        lines.append(Line(f"every {period:g} s", t, found.measured[:, k]))
        lines.append(Line(f"estimate, {period:g} s", t, found.estimated[:, k], "dashed", like=f"every {period:g} s"))
    lines.append(Line("one bit, as printed", t, np.full_like(t, ONE_BIT), "dotted"))
    high, low = (found.estimated / found.measured)[[0, -1], PERIODS.index(PERIOD)]
    rows = []
    for i, duration in enumerate(DURATIONS):
        cells = [float(x) for pair in zip(found.measured[i], found.estimated[i], strict=True) for x in pair]
        rows.append((duration, *cells))
    columns = [f"{what}, every {period:g} s (rad)" for period in PERIODS for what in ("error", "estimate")]
    caption = (
        "Largest error of any joint. The estimate is jerk x period / (2 Kp): the acceleration asked for is late by "
        "half a period on average. It leaves out that the arm turns while the torques are held, and is no more than an "
        f"order: {high:.1f} times the error at {DURATIONS[0]:g} s, {low:.1f} times at {DURATIONS[-1]:g} s (every "
        f"{PERIOD:g} s)."
    )
    title = "Section 5: error against duration and sampling period"
    panel = Panel("The paper's move", "duration (s)", "largest error (rad)", tuple(lines), log_x=True, log_y=True)
    return (
        Figure("error-against-duration", title, caption, (panel,)),
        Table("errors", title, caption, ("duration (s)", *columns), tuple(rows)),
    )


def heavier() -> SerialArm:
    """More mass than the controller thinks, and a payload that it knows nothing of."""
    arm = puma()
    return arm.replace(mass=[(1 + MORE_MASS) * joint.mass for joint in arm.joints]).carrying(
        Payload(PAYLOAD, (0, 0, 0.05))
    )


def wrong_model(right: float) -> tuple[list[Claim], Figure]:
    plant, arm = heavier(), puma()
    error = float(np.abs(follow(SLOW, plant=plant).error).max())
    motion = Sine((START + END) / 2, (END - START) / 4, OSCILLATION, 10.0)
    laws = {
        "computed torque": ComputedTorque(arm, KP, KV),
        "adaptive": AdaptiveComputedTorque(arm, rate=KV, period=PERIOD),
    }
    runs = {
        name: simulate(arm, law, motion, step=PERIOD / HOLD_STEPS, control_period=PERIOD, plant=plant)
        for name, law in laws.items()
    }
    samples = slice(HOLD_STEPS, None, HOLD_STEPS)  # both start on the move, which no logarithm shows
    sizes = {name: np.abs(run.error[samples]).max(axis=1) for name, run in runs.items()}
    time = next(iter(runs.values())).time[samples]
    fixed, learnt = (float(size[time > 8.0].max()) for size in sizes.values())
    figure = Figure(
        "wrong-model",
        "Section 5: a heavier arm than the model, and a law that learns it",
        f"{100 * MORE_MASS:.0f} % more mass than the controller thinks and an unknown payload of {PAYLOAD:g} kg; sines "
        f"of {OSCILLATION:g} Hz about the middle of the paper's move.",
        (
            Panel(
                "Largest error of any joint",
                "time (s)",
                "position error (rad)",
                tuple(Line(name, time, size) for name, size in sizes.items()),
                log_y=True,
                y_range=(1e-5, 1.0),
            ),
        ),
    )
    claims = [
        Claim(
            "section 4",
            "Computed torque assumes that D, H and G are accurately known",
            "no number",
            f"{error:.2e} rad with {100 * MORE_MASS:.0f} % more mass and {PAYLOAD:g} kg in the hand, {right:.2e} rad "
            "with the right model",
            holds_if(error > 10 * right),
            f"The paper's move in {SLOW:g} s: the error grows {error / right:.0f} times.",
        ),
        Claim(
            "section 5",
            "Adaptation could improve it further where loads vary",
            "future work",
            f"{learnt:.1e} rad after 8 s against {fixed:.1e} rad",
            holds_if(learnt < fixed / 10),
            "Slotine and Li's law, which learns the inertial parameters, on the same heavier arm.",
        ),
    ]
    return claims, figure
