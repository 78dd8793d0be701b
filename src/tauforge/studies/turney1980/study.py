"""Turney, Mudge & Lee 1980: equivalence of the formulations, what they cost, and simulation by strobing."""

from __future__ import annotations

import numpy as np

from tauforge.analysis import published_counts as published
from tauforge.analysis.comparison import compare, random_states, relative_error, row_errors
from tauforge.formulations.serial import FORMULATIONS
from tauforge.plots.figure import Figure, Line, Panel
from tauforge.studies.count_tables import against_joints
from tauforge.studies.lee1982.control import puma
from tauforge.studies.misprints import misprint_results
from tauforge.studies.random_arms import random_arm, random_kinds, reference
from tauforge.studies.study import ROUNDING, Claim, Progress, Study, Table, holds_if, nothing, within
from tauforge.studies.turney1980.counts import SETS, complexity
from tauforge.studies.turney1980.errata import MISPRINTS
from tauforge.studies.turney1980.significance import significance
from tauforge.studies.turney1980.simulation import JOINTS, Halving, Simulations, StrobedArm, halving, simulations

ARMS, STATES = 25, 40
SAME_MOTION = 1e-11  # rad: rounding grows along a fall


def study(progress: Progress = nothing) -> Study:
    """Everything of the paper that can be computed."""
    progress("equivalence on random arms")
    claims, tables = equivalence()
    progress("operation counts")
    more, counts = complexity()
    claims, tables = claims + more, tables + counts
    progress("simulation by strobing")
    more, figures = simulation()
    claims += more
    progress("terms that matter")
    more, pictures, table = significance()
    claims, figures, tables = claims + more, figures + pictures, [*tables, table]
    progress("misprints")
    more, table = misprint_results(MISPRINTS, "misprints", "Misprints of the report")
    claims, tables = claims + more, [*tables, table]
    figures.append(
        against_joints(
            "operations",
            "Table 1: operations against the number of links",
            "Solid: as printed; dashed: our texts, traced.",
            published.TURNEY_1,
            SETS,
        )
    )
    return Study(
        "turney1980",
        "J. L. Turney, T. N. Mudge & C. S. G. Lee, Equivalence of two formulations for robot arm dynamics, SEL Report "
        "142, The University of Michigan, 1980",
        "The equivalence holds to rounding once the misprints of the equations are mended; strobing simulates an arm "
        "exactly as forward dynamics does; the tables add up, the appendix does not quite; and the velocity terms are "
        "as small beside the inertial ones on a fast move as on a slow one.",
        tuple(claims),
        tuple(figures),
        tuple(tables),
    )


def equivalence() -> tuple[list[Claim], list[Table]]:
    random = np.random.default_rng(1980)
    worst = dict.fromkeys(FORMULATIONS, 0.0)
    joints = 0
    for seed in range(ARMS):
        arm = random_arm(random, random_kinds(random))
        joints += arm.n
        state = random_states(arm, STATES, seed)
        forces = {name: reference(text, arm.model.parameters, *state) for name, text in FORMULATIONS.items()}
        for name, own in forces.items():
            worst[name] = max(worst[name], *(relative_error(own, other) for other in forces.values()))
    arm = puma()
    compiled = compare(arm, *random_states(arm, 1000))
    rows = tuple((name, worst[name], compiled.disagreement[name]) for name in FORMULATIONS)
    largest = max(*worst.values(), compiled.largest)
    text = (
        f"{ARMS} random arms with {joints} revolute and prismatic joints in all and full inertias, {STATES} states "
        f"each, and the PUMA, compiled."
    )
    table = Table(
        "equivalence",
        "Largest disagreement of each formulation with any other",
        "Difference of the forces over the largest force of the state, of the equations as corrected.",
        ("formulation", f"{ARMS} random arms (-)", "PUMA 560, 1000 states (-)"),
        rows,
    )
    holds = holds_if(largest < ROUNDING)
    claim = Claim("section 4", "The formulations are equivalent", "equal", within(largest), holds, text)
    return [claim], [table]


def simulation() -> tuple[list[Claim], list[Figure]]:
    runs, halved = simulations(), halving()
    arm = puma()
    q, qd, _ = random_states(arm, 100)
    tau = 20 * np.random.default_rng(7).normal(size=q.shape)
    strobed = StrobedArm(arm)
    accelerations = np.array([strobed.acceleration(*row) for row in zip(q, qd, tau, strict=True)])
    difference = float(row_errors(accelerations, arm.forward_dynamics(q, qd, tau)).max())
    drift, swing = float(np.ptp(runs.energy)), float(np.ptp(runs.kinetic))
    least = float(np.linalg.eigvalsh(np.array([strobed.mass_matrix(row) for row in q])).min())
    apart = float(runs.apart.max())
    claims = [
        Claim(
            "section 7",
            "Accelerations from strobed columns of M and one run for C + G are those of the arm",
            "equal",
            f"{within(difference)}; through {runs.time[-1]:g} s of free fall {within(apart, SAME_MOTION)} rad",
            holds_if(difference < ROUNDING and apart < SAME_MOTION),
            f"Against the library's forward dynamics, 100 random states. The fall turns {swing:.0f} J into motion and "
            f"its energy drifts by {drift:.1e} J. Driven by the torques computed for a move, the arm stays within "
            f"{runs.missed.max():.1e} rad of it.",
        ),
        Claim(
            "section 7",
            "The four-point Runge-Kutta method",
            "order 4",
            f"order {halved.order:.2f}",
            holds_if(abs(halved.order - 4) < 0.2),
            f"Regression over {len(halved.steps)} halvings of the step, against an adaptive method of order 8.",
        ),
        Claim(
            "section 7",
            "M needs no pivoting: it is positive definite",
            "> 0",
            f"smallest eigenvalue {least:.2g} kg m^2",
            holds_if(least > 0),
            "Strobed M of the PUMA, rotors included, in 100 random poses.",
        ),
    ]
    return claims, [simulation_figure(runs, halved)]


def simulation_figure(runs: Simulations, halved: Halving) -> Figure:
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
        "Section 7: a PUMA falling freely, simulated by strobing",
        "The angles turned; how far the strobed simulation is from the one by forward dynamics, and a driven arm from "
        "the move that its torques were computed for; and the error at the end of the fall against the step.",
        (
            Panel("Free fall", "time (s)", "angle turned (deg)", positions),
            Panel("Distance", "time (s)", "largest difference (rad)", distances, log_y=True, y_range=(1e-17, 1e-8)),
            Panel("Halving the step", "step (s)", "error at the end (rad)", errors, log_x=True, log_y=True),
        ),
        columns=3,
    )
