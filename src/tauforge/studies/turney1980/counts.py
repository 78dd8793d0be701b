"""Turney's tables of operation counts: whether they add up, and what our texts of the same sets cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tauforge.analysis import published_counts as published
from tauforge.analysis.complexity import general_cost_of, general_operation_count
from tauforge.analysis.papers_beside import steps_beside
from tauforge.analysis.polynomial import Polynomial, added, interpolated
from tauforge.formulations.serial import lagrange_euler, modified_newton_euler, strobing
from tauforge.studies.count_tables import COLUMNS, SIX, adds_up, breakdown, cells, lines_of, our_row, our_rows
from tauforge.studies.study import Claim, Table, Verdict, corrected_unless, holds_if, judged
from tauforge.tracing.counting import Operations

SETS = ("lagrange-euler", "newton-euler", "modified-newton-euler")


def appendix_total() -> tuple[Polynomial, Polynomial]:
    """Table 2's totals with the appendix's own parts of the kinetic term summed over q = 1..n."""
    sizes = list(range(5))
    parts = (
        [sum(16 * q + q * (q - 1) // 2 + 8 * q * (q - 1) + 64 for q in range(1, n + 1)) for n in sizes],
        [sum(16 * q * (q + 1) + 32 for q in range(1, n + 1)) for n in sizes],
    )
    kinetic, others = published.TURNEY_2.rows[3], [*published.TURNEY_2.rows[:3], *published.TURNEY_2.rows[4:]]
    assert kinetic.item == "{sum} J^a"
    sums = [interpolated(sizes, values) for values in parts]
    return (
        added([sums[0], *(row.multiplications for row in others)]),
        added([sums[1], *(row.additions for row in others)]),
    )


def complexity() -> tuple[list[Claim], list[Table]]:
    printed = (published.TURNEY_2, published.TURNEY_3, published.TURNEY_4, published.TURNEY_5)
    claims = [adds_up(f"Table {k}", table) for k, table in enumerate(printed, 2)]
    multiplications, additions = appendix_total()
    total = published.TURNEY_2.total
    claims.append(
        Claim(
            "appendix",
            "The parts of the Lagrange computations sum to Table 2's total",
            f"{total.multiplications} / {total.additions}",
            f"{multiplications} / {additions}",
            corrected_unless((multiplications, additions) == (total.multiplications, total.additions)),
            "Summed from the appendix's own parts: 8.5 q (q + 1) + 64 does not follow from them, the sum of "
            "16 q (q + 1) + 32 is another one, and the words multiplications and additions are swapped in the totals.",
        )
    )
    rows = [cells(row) for row in published.TURNEY_1]
    rows += [cells(row) for name in SETS for row in our_rows(name)]
    tables = [
        Table(
            "table-1",
            "Table 1: computational complexity of the formulations",
            "As printed, and our texts of the same sets.",
            COLUMNS,
            tuple(rows),
        )
    ]
    tables += [
        breakdown(f"table-{k}", table, our_rows(own))
        for k, (table, own) in enumerate(zip(printed[:3], SETS, strict=True), 2)
    ]
    tables.append(table_5())
    tables += [lines_of(name) for name in SETS[1:]]
    claims += [orders(), modified_is_cheaper(), *parallelism(), *explicit_form()]
    return claims, tables


def table_5() -> Table:
    """With the critical path of our text, which is no polynomial in n."""
    printed = breakdown("table-5", published.TURNEY_5)
    steps = steps_beside(SIX)
    own = (f"tauforge, {SETS[2]}, critical path", None, None, *steps.critical_path)
    return replace(printed, caption=steps.why, rows=(*printed.rows, own))


def orders() -> Claim:
    degrees = {name: len(our_row(name).multiplications.coefficients) - 1 for name in SETS}
    holds = tuple(degrees.values()) == (3, 1, 1)
    return Claim(
        "section 6",
        "Lagrange takes operations of order n^3, both Newton-Euler sets of order n",
        "n^3, n, n",
        ", ".join("n" if degree == 1 else f"n^{degree}" for degree in degrees.values()),
        holds_if(holds),
        "Degrees of our own counts, polynomials through the general arms of 4 to 9 joints.",
    )


def modified_is_cheaper() -> Claim:
    plain, modified = (general_operation_count(SIX, name) for name in SETS[1:])
    p, m = published.TURNEY_1[1], published.TURNEY_1[2]
    cheaper = modified.multiplications < plain.multiplications and modified.additions < plain.additions
    return Claim(
        "Table 1",
        f"The modified Newton-Euler set is cheaper than the original, n = {SIX}",
        f"{m.multiplications(SIX)} / {m.additions(SIX)} against {p.multiplications(SIX)} / {p.additions(SIX)}",
        f"{modified.multiplications} / {modified.additions} against {plain.multiplications} / {plain.additions}",
        holds_if(cheaper),
        "Ours traced, with the full K_i that the paper leaves diagonal.",
    )


def parallelism() -> list[Claim]:
    steps = steps_beside(SIX)
    lagrange, plain, modified = (general_operation_count(SIX, name).critical_path.steps for name in SETS)
    return [
        Claim(
            "Table 5",
            "The steps required by the modified Newton-Euler set, concurrency accounted for",
            f"{steps.printed[0]} / {steps.printed[1]}, n = {SIX}",
            f"{steps.critical_path[0]} / {steps.critical_path[1]} in the longest chain of dependent operations",
            judged(steps.critical_path == steps.printed, max(steps.critical_path) < min(steps.printed)),
            f"Not the same count: the printed steps suffice, and far fewer are required. {steps.why}",
        ),
        Claim(
            "section 5",
            "The modified set allows more parallelism",
            "more",
            f"{modified} dependent steps, {plain} of Newton-Euler, {lagrange} of Lagrange, n = {SIX}",
            holds_if(modified < plain),
            "The longest chains of dependent operations in our traced texts, everything independent run at once: the "
            "set saves operations, not steps.",
        ),
    ]


def lagrange_explicit(arm: Any, q: Any, qd: Any, qdd: Any) -> Any:
    """M, C^i and G, every coefficient apart."""
    parts = (lagrange_euler.mass_matrix, lagrange_euler.coriolis_coefficients, lagrange_euler.gravity_forces)
    return [part(arm, q) for part in parts]


def less_effort(ours: Operations, theirs: Operations) -> Verdict:
    """In multiplications and in additions; or else in their sum; or else not."""
    fewer = ours.multiplications < theirs.multiplications and ours.additions < theirs.additions
    return judged(fewer, ours.flops < theirs.flops)


def explicit_form() -> list[Claim]:
    """M, C^i and G of the general arm, by strobing and from Lagrange's equations."""
    text = modified_newton_euler.inverse_dynamics
    pairs = {
        "M, C and G are": (lambda arm, q, qd, qdd: strobing.explicit_model(text, arm, q), lagrange_explicit),
        "M alone is": (
            lambda arm, q, qd, qdd: strobing.mass_matrix(text, arm, q),
            lambda arm, q, qd, qdd: lagrange_euler.mass_matrix(arm, q),
        ),
    }
    claims = []
    for what, functions in pairs.items():
        ours, theirs = (general_cost_of(function) for function in functions)
        claims.append(
            Claim(
                "section 6",
                f"{what} obtained with less effort from Newton-Euler, by strobing, than from Lagrange",
                "less",
                f"{ours.multiplications} / {ours.additions} against {theirs.multiplications} / {theirs.additions}, "
                f"n = {SIX}",
                less_effort(ours, theirs),
                f"Multiplications / additions of the general arm, traced, what the runs have in common shared: "
                f"{100 * (1 - ours.flops / theirs.flops):.0f} % fewer operations in all"
                + (", yet more additions." if ours.additions > theirs.additions else "."),
            )
        )
    return claims
