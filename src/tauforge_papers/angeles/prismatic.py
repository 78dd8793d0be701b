"""Prismatic joints in Angeles' recursions: what the print costs, and how free their points are."""

from __future__ import annotations

import numpy as np

from tauforge.algebra.vectors import Vector
from tauforge.analysis.comparison import random_states, relative_error, row_errors
from tauforge.formats.loading import load
from tauforge.formulations.serial import INVERSE_DYNAMICS, outward_inward
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge_papers.angeles.algorithm_counts import NAME
from tauforge_papers.angeles.misprints import NO_MOMENT_OF_TRAVEL, SLIDE_NOT_TURNED
from tauforge_papers.misprints import misprinted
from tauforge_papers.random_arms import random_arm, reference
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.rules import true_or_mended, true_or_not
from tauforge_papers.wording import ROUNDING, within

STATES = 100
ORACLE = "lagrange-euler"  # shares no line with the recursions
KINDS = ("PR", "RPR", "PRP", "RPRRPR", "PPPRRR")


def arms() -> list[SerialArm]:
    """Arms of the catalogue with a slide, and random ones."""
    random = np.random.default_rng(7)
    return [load("stanford"), load("scara"), *(random_arm(random, kinds) for kinds in KINDS)]


def handled() -> tuple[Claim, Table]:
    """The recursions with slides against Lagrange's equations, corrected and with each misprint."""
    rows: list[tuple[Cell, ...]] = []
    mended, printed = [], []
    slips = [misprinted(outward_inward, *changes)() for changes in (SLIDE_NOT_TURNED, NO_MOMENT_OF_TRAVEL)]
    both = misprinted(outward_inward, *SLIDE_NOT_TURNED, *NO_MOMENT_OF_TRAVEL)()
    for arm in arms():
        state = random_states(arm, STATES)
        exact, ours, as_printed, *wrong = (
            reference(formula, arm.model.parameters, *state)
            for formula in (INVERSE_DYNAMICS[ORACLE], INVERSE_DYNAMICS[NAME], both, *slips)
        )
        mended.append(relative_error(exact, ours))
        printed.append(float(np.median(row_errors(exact, as_printed))))
        kinds = "".join(joint.kind for joint in arm.joints)
        rows.append((arm.name, kinds, mended[-1], *(float(np.median(row_errors(exact, other))) for other in wrong)))
    claim = Claim(
        name="prismatic-joints",
        where="section 7.4",
        claim="The recursions give the forces of arms with prismatic joints",
        printed="a branch for prismatic joints in algorithms 7.4.1 and 7.4.2",
        measured=f"as printed wrong by up to {max(printed):.2g} of the largest force (median of {STATES} states), "
        f"mended {within(max(mended))}",
        reason=f"{len(rows)} arms with prismatic joints, {STATES} random states each, compared with Lagrange's "
        "equations. Mended are the prismatic branch of algorithm 7.4.1 and eq. 7.38d; algorithm 7.4.2 is mended in "
        "both.",
        rule=true_or_mended(
            f"It holds if the forces as printed are those of Lagrange's equations for every arm, within {ROUNDING:g} "
            "of the largest, and with a correction if the mended ones are.",
            holds=lambda printed, mended, rounding: max(printed) < rounding,
            corrected=lambda printed, mended, rounding: max(mended) < rounding,
            rounding=ROUNDING,
        ),
        evidence={"printed": printed, "mended": mended},
    )
    table = Table(
        "prismatic",
        "Arms with prismatic joints, against Lagrange's equations",
        f"Mended: the largest error of {STATES} random states; as printed: the median, over the largest force.",
        ("arm", "joints", "mended (-)", "algorithm 7.4.1 as printed (-)", "eq. 7.38d as printed (-)"),
        tuple(rows),
    )
    return claim, table


def moved(arm: ArmParameters, joint: int, shift: Vector) -> ArmParameters:
    """The same bodies; the point O of a joint, and with it the origin of the link before, put elsewhere on that link.

    shift: in the frame of the link before. A prismatic joint moves the same way; a revolute one gets another axis.
    """
    before, here, body = arm.joints[joint - 1], arm.joints[joint], arm.bodies[joint - 1]
    shifted = before.constant._replace(translation=before.constant.translation + before.constant.rotation @ shift)
    back = here.constant._replace(translation=here.constant.translation - shift)
    joints, bodies = list(arm.joints), list(arm.bodies)
    joints[joint - 1], joints[joint] = before._replace(constant=shifted), here._replace(constant=back)
    bodies[joint - 1] = body._replace(com=body.com - shift)
    return arm._replace(joints=tuple(joints), bodies=tuple(bodies))


def free_points() -> Claim:
    """Joint 2 of random arms, prismatic and, to see that something changes, revolute."""
    random = np.random.default_rng(8)
    errors = {}
    for kind in "PR":
        arm = random_arm(random, f"R{kind}RPR")
        state, shift = random_states(arm, STATES), Vector(*random.uniform(-1, 1, 3).tolist())
        forces = [
            reference(INVERSE_DYNAMICS[NAME], one, *state)
            for one in (arm.model.parameters, moved(arm.model.parameters, 1, shift))
        ]
        errors[kind] = row_errors(*forces)
    changed = float(np.median(errors["R"]))
    return Claim(
        name="free-point",
        where="section 7.4, after eq. 7.32d",
        claim="The point O_i of a prismatic joint can be chosen freely on link i-1",
        printed="a freedom in the choice of O_i",
        measured=f"forces {within(float(errors['P'].max()))} of the same, with O_2 up to 1 m away in each direction",
        reason=f"A random arm, {STATES} states. The same change at a revolute joint moves its axis: the forces change "
        f"by {changed:.1g} of the largest (median).",
        rule=true_or_not(
            f"It holds if the forces stay the same, within {ROUNDING:g} of the largest, when the point is moved.",
            lambda error, rounding: error < rounding,
            rounding=ROUNDING,
        ),
        evidence={"error": float(errors["P"].max())},
    )
