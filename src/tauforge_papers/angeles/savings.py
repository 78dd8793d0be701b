"""What makes the recursions cheaper: gravity as an acceleration, prismatic joints, particular arms; and their speed."""

from __future__ import annotations

from typing import Any

from tauforge.algebra.vectors import ZERO
from tauforge.analysis.complexity import counted, general_arm, general_cost_of, general_operation_count, operation_count
from tauforge.analysis.timing import BATCH, time_per_state
from tauforge.formats.loading import ArmName, load
from tauforge.formulations.serial.kinematics import into_link, joint_rotation
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge_papers.angeles.algorithm_counts import NAME, arm_with
from tauforge_papers.count_tables import SIX
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import not_judged, true_or_not
from tauforge_papers.wording import less_or_more

ARMS: tuple[ArmName, ...] = ("puma560", "stanford", "scara", "panda", "planar-2r")
A_FEW = 10.0  # us


def speed() -> Claim:
    microseconds = time_per_state(load("puma560"), NAME).batch * 1e6
    return Claim(
        name="microseconds",
        where="section 7.4, after eq. 7.43",
        claim="A modern processor performs these computations in a few microseconds",
        printed="a few microseconds",
        measured=f"{less_or_more(microseconds, A_FEW, 'us')} a state",
        reason=f"Our compiled code of the algorithms, PUMA 560, in batches of {BATCH} states.",
        rule=not_judged("Processors of today are far faster than those of the book."),
        timed=f"{microseconds:.3f} us a state",
    )


def tailored() -> tuple[Claim, Table]:
    rows, ratios = [], []
    for name in ARMS:
        arm = load(name)
        special, general = operation_count(arm, NAME), general_operation_count(arm.n, NAME)
        ratios.append([special.multiplications / general.multiplications, special.additions / general.additions])
        rows.append((name, arm.n, *special[:2], *general[:2]))
    worst = max(max(pair) for pair in ratios)
    claim = Claim(
        name="tailored",
        where="section 7.4, after eq. 7.43",
        claim="Tailored to particular architectures the algorithms can be further simplified",
        printed="further simplified",
        measured=f"at most {100 * worst:.0f} % of the operations of the general arm",
        reason=f"{len(ARMS)} arms of our catalogue; zeros, ones and equal terms of each arm are simplified by our "
        "tracing.",
        rule=true_or_not(
            "It holds if each arm of our catalogue takes fewer multiplications and fewer additions than the general "
            'arm with as many revolute joints ("further simplified").',
            lambda ratios: all(ratio < 1 for ratio in ratios),
        ),
        evidence={"ratios": [ratio for pair in ratios for ratio in pair]},
    )
    table = Table(
        "tailored",
        "The recursions for particular arms",
        f"Our code of {NAME}, traced, beside the general arm with as many revolute joints.",
        (
            "arm",
            "joints",
            "multiplications",
            "additions",
            "multiplications, general arm",
            "additions, general arm",
        ),
        tuple(rows),
    )
    return claim, table


def slides_are_cheaper() -> tuple[Claim, Table]:
    def cost(joint: int | None) -> Any:
        kinds = "".join("P" if i == joint else "R" for i in range(SIX))
        return counted(NAME, SIX, lambda number: arm_with(kinds, number))

    revolute, *slides = (cost(joint) for joint in (None, *range(SIX)))
    saved = [(revolute.multiplications - s.multiplications, revolute.additions - s.additions) for s in slides]
    rows = [
        (name, cost.multiplications, cost.additions, cost.sincos)
        for name, cost in zip(("none", *(f"joint {i + 1}" for i in range(SIX))), (revolute, *slides), strict=True)
    ]
    least, most = (tuple(f(column) for column in zip(*saved, strict=True)) for f in (min, max))
    claim = Claim(
        name="prismatic-is-cheaper",
        where="section 7.4, after Table 7.1 and after eq. 7.43",
        claim="In the presence of a prismatic pair the complexity is reduced",
        printed="reduced",
        measured=f"{least[0]} to {most[0]} multiplications and {least[1]} to {most[1]} additions fewer, n = {SIX}",
        reason="Our code of both algorithms, mended, traced for the general arm with the base at rest; each joint in "
        "turn is prismatic, with an unknown constant angle theta_i.",
        rule=true_or_not(
            'It holds if each joint saves multiplications and additions when it becomes prismatic ("reduced").',
            lambda saved: all(number > 0 for number in saved),
        ),
        evidence={"saved": [float(number) for one in saved for number in one]},
    )
    table = Table(
        "prismatic-cost",
        f"Cost of the recursions with one prismatic joint, general arm of {SIX} joints",
        f"Our code of {NAME}, traced.",
        ("prismatic", "multiplications", "additions", "sines and cosines"),
        tuple(rows),
    )
    return claim, table


def gravity_cost() -> Claim:
    def weights(arm: ArmParameters, q: Any, qd: Any, qdd: Any) -> Any:
        g, held = arm.gravity, []
        for joint, angle in zip(arm.joints, q, strict=True):
            g = into_link(joint, joint_rotation(joint, angle), g)
            held += list(g)
        return held

    with_g = general_operation_count(SIX, NAME)
    without = counted(NAME, SIX, lambda number: general_arm(SIX, number, False)._replace(gravity=ZERO))
    base = [with_g.multiplications - without.multiplications, with_g.additions - without.additions]
    turned = general_cost_of(weights, SIX)
    apart = [turned.multiplications, turned.additions + 3 * SIX]
    return Claim(
        name="gravity-cost",
        where="section 7.4, eq. 7.44",
        claim="Gravity is incorporated most economically as an acceleration -g of the base",
        printed="most economically",
        measured=f"{base[0]} multiplications and {base[1]} additions, n = {SIX}; as weights of the links (eq. 7.49) "
        f"{apart[0]} and {apart[1]}",
        reason="Our code, traced with and without gravity, general arm, gravity along the first axis. As weights: g is "
        "turned into every link's frame and subtracted from c''_i.",
        rule=true_or_not(
            "It holds if it takes no more multiplications, no more additions and fewer of both together than the "
            'weights of eq. 7.49, the other way that the chapter has ("most economically").',
            lambda base, weights: all(a <= b for a, b in zip(base, weights, strict=True)) and sum(base) < sum(weights),
        ),
        evidence={"base": [float(x) for x in base], "weights": [float(x) for x in apart]},
    )
