"""Turney, Mudge & Lee 1980: equivalence of the formulations, what they cost, and simulation by strobing."""

from __future__ import annotations

import numpy as np

from tauforge.analysis.comparison import compare, random_states, relative_error
from tauforge.formulations.serial import INVERSE_DYNAMICS
from tauforge_papers import published_counts as published
from tauforge_papers.base_axes import base_axes_claim
from tauforge_papers.count_tables import against_joints
from tauforge_papers.lee1982.control import puma
from tauforge_papers.misprints import misprint_results
from tauforge_papers.random_arms import random_arm, random_kinds, reference
from tauforge_papers.report.progress import Progress, nothing
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.report.table import Table
from tauforge_papers.rules import true_or_not
from tauforge_papers.turney1980.contents import CONTENTS
from tauforge_papers.turney1980.counts import SETS, complexity
from tauforge_papers.turney1980.derivation import derivation_claims
from tauforge_papers.turney1980.errata import MISPRINTS, angular_acceleration
from tauforge_papers.turney1980.hand import wrist_forces
from tauforge_papers.turney1980.notation import notation_claims
from tauforge_papers.turney1980.schematics import schematics
from tauforge_papers.turney1980.significance import significance
from tauforge_papers.turney1980.simulated import simulation
from tauforge_papers.wording import ROUNDING, within

ARMS, STATES = 25, 40
PAPER = (
    "J. L. Turney, T. N. Mudge & C. S. G. Lee, Equivalence of two formulations for robot arm dynamics, SEL Report 142, "
    "The University of Michigan, 1980"
)
SUMMARY = (
    "The two formulations are equivalent, as the report derives it once slips in single steps are mended, and strobing "
    "simulates an arm exactly as forward dynamics does. The modified set is the cheaper one. It allows more "
    "parallelism where a processor works a whole term, as in Table 5; where one does a single operation, it differs "
    "from Newton-Euler by one step, to either side, and Lagrange needs fewer. Tables 2 to 5 add up; two rows of Tables "
    "3 and 4 and the sums of the appendix do not follow from what they count. The report's arms have no reflected "
    "rotor inertia and are judged without it."
)
EQUIVALENT = true_or_not(
    f'It holds if the forces of all formulations agree within {ROUNDING:g} of the largest ("mathematically '
    'equivalent").',
    lambda largest, rounding: largest < rounding,
    rounding=ROUNDING,
)


def study(progress: Progress = nothing) -> Study:
    """Everything of the paper that can be computed."""
    progress("notation, derivation and equivalence")
    claims, tables = [*notation_claims(), *derivation_claims(), base_axes_claim()], []
    same, table = equivalence()
    claims, tables = [*claims, same, angular_acceleration()], [table]
    progress("forces at the hand")
    felt, table = wrist_forces()
    claims, tables = [*claims, felt], [*tables, table]
    progress("operation counts")
    more, counts, schedule = complexity()
    claims, tables = claims + more, tables + counts
    progress("simulation by strobing")
    more, fall, table = simulation()
    claims, tables = claims + more, [*tables, table]
    progress("terms that matter")
    more, pictures, some = significance()
    claims, tables = claims + more, tables + some
    progress("misprints")
    more, table = misprint_results(MISPRINTS, "misprints", "Misprints of the report")
    claims, tables = claims + more, [*tables, table]
    operations = against_joints(
        "operations",
        "Table 1: operations against the number of links",
        "Solid: as printed; dashed: our code, traced.",
        published.TURNEY_1,
        SETS,
    )
    figures = (*schematics(), fall, *pictures, operations, schedule)
    return Study("turney1980", PAPER, SUMMARY, tuple(claims), figures, tuple(tables), CONTENTS)


def equivalence() -> tuple[Claim, Table]:
    random = np.random.default_rng(1980)
    worst = dict.fromkeys(INVERSE_DYNAMICS, 0.0)
    joints = 0
    for seed in range(ARMS):
        arm = random_arm(random, random_kinds(random))
        joints += arm.n
        state = random_states(arm, STATES, seed)
        forces = {name: reference(formula, arm.model.parameters, *state) for name, formula in INVERSE_DYNAMICS.items()}
        for name, own in forces.items():
            worst[name] = max(worst[name], *(relative_error(own, other) for other in forces.values()))
    arm = puma()
    compiled = compare(arm, *random_states(arm, 1000))
    rows = tuple((name, worst[name], compiled.disagreement[name]) for name in INVERSE_DYNAMICS)
    largest = max(*worst.values(), compiled.largest)
    table = Table(
        "equivalence",
        "Largest disagreement of each formulation with any other",
        "Difference of the forces over the largest force of the state, of the equations as corrected.",
        ("formulation", f"{ARMS} random arms (-)", "PUMA 560, 1000 states (-)"),
        rows,
    )
    claim = Claim(
        name="equivalence",
        where="section 4",
        claim="The formulations are equivalent",
        printed="equal",
        measured=within(largest),
        reason=f"{ARMS} random arms with {joints} revolute and prismatic joints in all and full inertias, {STATES} "
        "states each, and the PUMA, compiled. The misprints are mended.",
        rule=EQUIVALENT,
        evidence={"largest": largest},
    )
    return claim, table
