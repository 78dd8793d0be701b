"""What the chapter says its algorithms cost, beside counts of our code of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tauforge.algebra.vectors import E_Z, Vector, cross
from tauforge.analysis.complexity import OperationCount, general_cost_of, general_operation_count
from tauforge.formulations.serial.kinematics import into_link, joint_rotation, out_of_link
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.tracing.counting import Operations
from tauforge_papers import published_counts as published
from tauforge_papers.angeles.algorithm_counts import (
    NAME,
    SIZES,
    added,
    as_row,
    inward_cost,
    outward_cost,
    outward_rows,
)
from tauforge_papers.count_tables import SIX, adds_up
from tauforge_papers.report.study import Claim
from tauforge_papers.report.verdicts import Rule
from tauforge_papers.rules import not_judged, true_in_parts, true_or_mended

SLIGHTLY = 0.1
TURN = Operations(8, 4)  # one vector between two successive frames


def pair(cost: Operations | OperationCount | published.Row) -> str:
    kinds = (("multiplication", cost.multiplications), ("addition", cost.additions))
    return ", ".join(f"{number} {kind}{'s' if number != 1 else ''}" for kind, number in kinds)


def traced(what: Callable[[Vector, Vector, Any], Any]) -> Operations:
    """Cost of a function of two vectors and a scalar, none of them constant."""
    return general_cost_of(lambda arm, q, qd, qdd: list(what(Vector(*q[:3]), Vector(*qd[:3]), qdd[0])))


def transformation() -> Claim:
    def turned(arm: ArmParameters, q: Any, qd: Any, way: Callable[..., Vector]) -> Any:
        joint = arm.joints[0]
        return list(way(joint, joint_rotation(joint, q[0]), Vector(*qd[:3])))

    costs = [
        general_cost_of(lambda arm, q, qd, qdd, way=way: turned(arm, q, qd, way)) for way in (into_link, out_of_link)
    ]
    return Claim(
        name="transformation",
        where="section 7.4, after eq. 7.24b",
        claim="Every coordinate transformation between successive frames, forward or backward, takes 8 multiplications "
        "and 4 additions",
        printed="8 multiplications, 4 additions",
        measured=f"forward {pair(costs[0])}; backward {pair(costs[1])}",
        reason="Two planar turns, general twist, sine and cosine given.",
        rule=true_in_parts(
            "It holds if both directions are counted at 8 multiplications and 4 additions, and is mixed if one is.",
            lambda forward, backward: [list(cost) == list(TURN[:2]) for cost in (forward, backward)],
        ),
        evidence={"forward": list(costs[0][:2]), "backward": list(costs[1][:2])},
    )


def products() -> Claim:
    costs = {
        "arbitrary": traced(lambda a, b, s: cross(a, b)),
        "with_axis": traced(lambda a, b, s: cross(a, E_Z)),
        "added": traced(lambda a, b, s: a + E_Z * s),
    }
    return Claim(
        name="products",
        where="section 7.4, around algorithm 7.4.1",
        claim="A cross product takes 6 multiplications and 3 additions, one with e_i nothing, and adding b e_i to a "
        "vector of F_i one addition",
        printed="6 multiplications and 3 additions; none; 1 addition",
        measured="; ".join(map(pair, costs.values())),
        reason="Counted from our vector algebra, for arbitrary vectors.",
        rule=true_in_parts(
            "It holds if all three counts are the printed ones, and is mixed if some are.",
            lambda arbitrary, with_axis, added: [arbitrary == [6, 3], with_axis == [0, 0], added == [0, 1]],
        ),
        evidence={name: list(cost[:2]) for name, cost in costs.items()},
    )


def all_equal(words: str) -> Rule:
    return true_in_parts(words, lambda differences: [not difference for difference in differences])


def differences(printed: Sequence[published.Row], own: dict[str, Operations]) -> list[float]:
    """Operations that a row takes beyond, or short of, those printed: both kinds, added without their signs."""
    return [
        float(
            abs(row.multiplications(1) - own[row.item].multiplications)
            + abs(row.additions(1) - own[row.item].additions)
        )
        for row in printed
    ]


def outward_count() -> Claim:
    total, ours = published.ANGELES_7_1.total, as_row("ours", outward_cost)
    apart = sum(abs(float(a(n) - b(n))) for a, b in zip(total[1:], ours[1:], strict=True) for n in SIZES)
    return Claim(
        name="outward-count",
        where="Table 7.1 and list (i) after algorithm 7.4.1",
        claim="The outward recursions take 82n multiplications and 66n additions, row by row as listed",
        printed=pair(total),
        measured=pair(ours),
        reason="Our code of algorithm 7.4.1 with c_i and c'_i, every operation as it is written, general arm on a "
        "moving base. The 4n of Q_i are for its entries, which transformations of 8 multiplications and 4 additions do "
        "not use: without them 78n are left.",
        rule=all_equal(
            f"It holds if every row that the chapter lists, and the total for n = 1 to {SIZES[-1]}, is what our code "
            "takes, and is mixed if some are."
        ),
        evidence={"differences": [*differences(published.ANGELES_REVOLUTE, outward_rows("R")), apart]},
    )


def prismatic_count() -> Claim:
    own = outward_rows("P")
    listed = published.ANGELES_PRISMATIC
    printed = Operations(*(sum(int(cost(1)) for cost in column) for column in list(zip(*listed, strict=True))[1:]))
    ours = added(own.values())
    unlike = [
        f"{row.item} {own[row.item].multiplications} and {own[row.item].additions}"
        for row, difference in zip(listed, differences(listed, own), strict=True)
        if difference
    ]
    return Claim(
        name="prismatic-count",
        where="list (ii) after algorithm 7.4.1",
        claim="A prismatic joint takes the listed operations in the outward recursions, row by row",
        printed=f"{pair(printed)} (our sum of six rows)",
        measured=f"{pair(ours)}; unlike the list: {', '.join(unlike)}",
        reason="Our code of the mended algorithm 7.4.1, with an unknown constant angle theta_i. Q_i and Q_i' delta of "
        "a prismatic joint are constant and can be computed beforehand, which the list does not use; b' e must be "
        "turned into the link's frame, which it leaves out.",
        rule=all_equal(
            "It holds if every row that the chapter lists is what our code of it takes, and is mixed if some are."
        ),
        evidence={"differences": differences(listed, own)},
    )


def one_more_turn(multiplications: Sequence[float], additions: Sequence[float]) -> bool:
    """Whether two vectors are turned once more than printed, and nothing else differs."""
    return all(m == 2 * TURN.multiplications for m in multiplications) and all(
        a == 2 * TURN.additions for a in additions
    )


COUNT = true_or_mended(
    "It holds if our code of the algorithms, mended so that the torques are right, takes as many operations for n = 1 "
    f"to {SIZES[-1]}; with a correction if the only difference is that f_1 and n_1 are turned too, as algorithm 7.4.2 "
    "needs.",
    holds=lambda multiplications, additions: not any(multiplications) and not any(additions),
    corrected=one_more_turn,
)


def beyond(ours: published.Row, printed: published.Row) -> dict[str, list[float]]:
    """What ours takes more, for several n."""
    more = [[float(a(n) - b(n)) for n in SIZES] for a, b in zip(ours[1:], printed[1:], strict=True)]
    return {"multiplications": more[0], "additions": more[1]}


def third_component() -> Operations:
    def component(arm: ArmParameters, q: Any, qd: Any, qdd: Any) -> Any:
        joint = arm.joints[0]
        return [out_of_link(joint, joint_rotation(joint, q[0]), Vector(*qd[:3])).z]

    return general_cost_of(component)


def inward_count() -> Claim:
    total, ours = published.ANGELES_7_2.total, as_row("ours", inward_cost)
    as_printed = as_row("as printed", lambda n: inward_cost(n, True))
    return Claim(
        name="inward-count",
        where="Table 7.2, eqs 7.41, 7.42",
        claim="The inward recursions take 55n - 22 multiplications and 44n - 14 additions",
        printed=f"{pair(total)}; {total.multiplications(SIX)} and {total.additions(SIX)} for n = {SIX}",
        measured=f"{pair(ours)}; {ours.multiplications(SIX)} and {ours.additions(SIX)} for n = {SIX}",
        reason=f"The algorithm as printed takes {pair(as_printed)}, but gives wrong torques. Mended, f_i and "
        "n_i are turned after adding, those of joint 1 too. For tau_1 one of their components is needed, which takes "
        f"{pair(third_component())}; for the other joints eqs 7.39 and 7.40 need no further operations.",
        rule=COUNT,
        evidence=beyond(ours, total),
    )


def whole_count() -> Claim:
    printed = published.ANGELES_7_43
    ours = as_row("ours", lambda n: added([outward_cost(n), inward_cost(n)]))
    torques = general_operation_count(SIX, NAME)
    return Claim(
        name="whole-count",
        where="eq. 7.43",
        claim=f"The inverse dynamics of n revolute joints takes 137n - 22 multiplications and 110n - 14 additions: "
        f"800 and 646 for n = {SIX}",
        printed=f"{pair(printed)}; 800 and 646 for n = {SIX}",
        measured=f"{pair(ours)}; {ours.multiplications(SIX)} and {ours.additions(SIX)} for n = {SIX}",
        reason=f"Both algorithms with everything that they list. The torques alone take {pair(torques)} for n = {SIX} "
        "with the base at rest: they need neither c_i and c'_i nor the entries of Q_i.",
        rule=COUNT,
        evidence=beyond(ours, printed),
    )


def walker_and_orin() -> Claim:
    ours = published.ANGELES_7_43
    (theirs,) = (row for row in published.ANGELES_7_3 if row.item.startswith("Walker & Orin"))
    many = range(2, 13)
    apart = [float(ours.multiplications(n) - theirs.multiplications(n)) for n in many]
    more = [float(ours.additions(n) / theirs.additions(n)) - 1 for n in many]
    return Claim(
        name="walker-and-orin",
        where="section 7.4, after eq. 7.43",
        claim="The number of multiplications is identical to Walker & Orin's, that of additions slightly higher",
        printed=f"{pair(ours)}; Walker & Orin {pair(theirs)}",
        measured=f"multiplications {'equal' if not any(apart) else 'not equal'}; "
        f"{100 * more[many.index(SIX)]:.1f} % more additions for n = {SIX}",
        reason="By the formulas of eq. 7.43 and Table 7.3.",
        rule=true_in_parts(
            f'Two statements: the multiplications are equal for n = {many[0]} to {many[-1]} ("identical"), and the '
            f'additions are more by at most {100 * SLIGHTLY:.0f} % ("slightly higher").',
            lambda multiplications, additions, slightly: [
                not any(multiplications),
                all(0 < share <= slightly for share in additions),
            ],
            slightly=SLIGHTLY,
        ),
        evidence={
            "multiplications": apart,
            "additions": more,
        },
    )


def digits_apart(a: int, b: int) -> int:
    """How many digits of one number are not those of the other, at the same place."""
    width = max(len(str(a)), len(str(b)))
    return sum(x != y for x, y in zip(f"{a:{width}}", f"{b:{width}}", strict=True))


def table_7_4_from_7_3() -> Claim:
    """Table 7.4 beside the formulas of Table 7.3."""
    by_formula = {row.item: (int(row.multiplications(SIX)), int(row.additions(SIX))) for row in published.ANGELES_7_3}
    slips = {item: pair for item, pair in by_formula.items() if pair != published.ANGELES_7_4[item]}

    def named(pairs: dict[str, tuple[int, int]]) -> str:
        texts = [f"{item}: {pairs[item][0]} multiplications, {pairs[item][1]} additions" for item in slips]
        return "; ".join(texts) or "equal"

    return Claim(
        name="table-7-4-from-7-3",
        where="Table 7.4",
        claim=f"The numbers for n = {SIX} are those of Table 7.3",
        printed=named(published.ANGELES_7_4),
        measured=named(by_formula),
        reason=f"{len(by_formula) - len(slips)} of {len(by_formula)} entries with a formula agree. What the authors of "
        "these entries counted is not in the chapter. The machine that read our text may have changed a digit.",
        rule=all_equal(
            "It holds if every entry with a formula in Table 7.3 is the formula's number, and is mixed if some are. A "
            "single digit that differs may be an error of reading and is not counted."
        ),
        evidence={
            "differences": [
                float(sum(digits_apart(a, b) > 1 for a, b in zip(pair, published.ANGELES_7_4[item], strict=True)))
                for item, pair in by_formula.items()
            ]
        },
    )


def count_claims() -> list[Claim]:
    return [
        transformation(),
        products(),
        replace(
            adds_up("table-7-1-sum", "Table 7.1", published.ANGELES_7_1),
            rule=not_judged("The machine that read our text may have lost a row, since the total has it."),
            evidence={},
        ),
        outward_count(),
        prismatic_count(),
        adds_up("table-7-2-sum", "Table 7.2", published.ANGELES_7_2),
        inward_count(),
        whole_count(),
        walker_and_orin(),
        table_7_4_from_7_3(),
    ]
