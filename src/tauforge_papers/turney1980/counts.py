"""Turney's tables of operation counts: whether they add up, and what our code of the same sets costs."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from tauforge.algebra.vectors import Matrix
from tauforge.analysis.complexity import ROBOT, general_arm, general_cost_of, general_operation_count, recorded
from tauforge.charts.figure import Figure
from tauforge.evaluation.functions import Formula
from tauforge.formulations.serial import INVERSE_DYNAMICS, modified_newton_euler
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.tracing.counting import critical_path, least_steps
from tauforge_papers import published_counts as published
from tauforge_papers.count_tables import COLUMNS, SIX, adds_up, breakdown, cells, lines_of, our_row, our_rows
from tauforge_papers.misprints import as_printed
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.rules import true_in_parts, true_or_not
from tauforge_papers.turney1980.appendix import PRODUCT, appendix_claims, appendix_table
from tauforge_papers.turney1980.explicit import degree, explicit_claims, explicit_table
from tauforge_papers.turney1980.schedule import longest_chain, schedule_claims, schedule_figure, table_5, whole_rows
from tauforge_papers.turney1980.term_counts import row_claims, rows_table

SETS = ("lagrange-euler", "newton-euler", "modified-newton-euler")
NOT_RECURSIVE = ("lagrange-euler", "orthogonal-complement")
SIZES = range(3, 10)
AS_5_1 = ("F.append((A @ body.com + a) * body.mass)", "F.append((A @ (body.com + r[i]) + carried) * body.mass)")
ORDERS_IN_N = true_in_parts(
    "Each of the three sets is a part. It is true if its operations are a polynomial of the printed degree in "
    'n ("of order").',
    lambda degrees: [found == printed for found, printed in zip(degrees, (3, 1, 1), strict=True)],
)
MOST_EFFICIENT = true_or_not(
    'It holds if every recursion takes fewer operations than every other formulation at hand ("most efficient").',
    lambda recursive, others: max(recursive) < min(others),
)
LESS_COMPLEX = true_in_parts(
    "Lagrange and Newton-Euler are two parts. Each is true if the modified set takes fewer multiplications and "
    "fewer additions.",
    lambda modified, newton_euler, lagrange: [
        all(a < b for a, b in zip(modified, other, strict=True)) for other in (lagrange, newton_euler)
    ],
)
MORE_PARALLEL = true_in_parts(
    "There are six parts: Newton-Euler and Lagrange, each with a processor for every row of Tables 3 and 4, "
    "as in Table 5, to which the paper refers, and with one for every operation, values formed again or "
    f"once. A part is true if the modified set leaves fewer steps that must follow one another, for {SIX} "
    'joints ("more parallelism").',
    lambda modified, newton_euler, lagrange: [
        ours < theirs for other in (newton_euler, lagrange) for ours, theirs in zip(modified, other, strict=True)
    ],
)


def complexity() -> tuple[list[Claim], list[Table], Figure]:
    printed = (published.TURNEY_2, published.TURNEY_3, published.TURNEY_4, published.TURNEY_5)
    claims = [adds_up(f"table-{k}-sum", f"Table {k}", table) for k, table in enumerate(printed, 2)]
    rows = [cells(row) for row in published.TURNEY_1]
    rows += [cells(row) for name in SETS for row in our_rows(name)]
    tables = [
        Table(
            "table-1",
            "Table 1: computational complexity of the formulations",
            "As printed, and our code of the same sets.",
            COLUMNS,
            tuple(rows),
        )
    ]
    tables += [
        breakdown(f"table-{k}", table, our_rows(own))
        for k, (table, own) in enumerate(zip(printed[:3], SETS, strict=True), 2)
    ]
    tables += [table_5(), rows_table(), appendix_table(), explicit_table(), steps_table()]
    tables += [lines_of(name) for name in SETS[1:]]
    claims += [*row_claims(), *appendix_claims(), orders(), most_efficient(), modified_is_cheaper()]
    claims += [*schedule_claims(), parallelism(), *explicit_claims()]
    return claims, tables, schedule_figure()


def orders() -> Claim:
    degrees = {name: degree(our_row(name).multiplications) for name in SETS}
    return Claim(
        name="orders",
        where="section 6, appendix",
        claim="Lagrange takes operations of order n^3, both Newton-Euler sets of order n",
        printed="n^3, n, n",
        measured=", ".join("n" if one == 1 else f"n^{one}" for one in degrees.values()),
        reason="Degrees of our own counts, polynomials through the general arms of 4 to 9 joints.",
        rule=ORDERS_IN_N,
        evidence={"degrees": [float(one) for one in degrees.values()]},
    )


def most_efficient() -> Claim:
    found = {name: general_operation_count(SIX, name).flops for name in INVERSE_DYNAMICS}
    recursive = [float(flops) for name, flops in found.items() if name not in NOT_RECURSIVE]
    others = [float(found[name]) for name in NOT_RECURSIVE]
    return Claim(
        name="recursion-most-efficient",
        where="section 3",
        claim="Working from the base to the hand and back appears to be the most efficient technique",
        printed="most efficient",
        measured=f"recursions take {min(recursive):.0f} to {max(recursive):.0f} operations, the other formulations "
        f"{min(others):.0f} to {max(others):.0f}, n = {SIX}",
        reason=f"Multiplications and additions of the general arm, traced, of the {len(found)} formulations that we "
        f"have. The others are {' and '.join(NOT_RECURSIVE)}; the cheapest of all is "
        f"{min(found, key=lambda name: found[name])}.",
        rule=MOST_EFFICIENT,
        evidence={"recursive": recursive, "others": others},
    )


def in_principal_axes(formula: Formula) -> Formula:
    """The formula for bodies without products of inertia, as sections 1 and 5 assume them."""

    def forces(arm: ArmParameters, q: Any, qd: Any, qdd: Any) -> Any:
        bodies = []
        for body in arm.bodies:
            I = body.inertia
            principal = Matrix.of(((I[0, 0], 0.0, 0.0), (0.0, I[1, 1], 0.0), (0.0, 0.0, I[2, 2])))
            bodies.append(body._replace(inertia=principal))
        return formula(arm._replace(bodies=tuple(bodies)), q, qd, qdd)

    return forces


def modified_is_cheaper() -> Claim:
    sets = {name: general_cost_of(in_principal_axes(INVERSE_DYNAMICS[name])) for name in SETS}
    full = {name: general_operation_count(SIX, name) for name in SETS}
    last = SETS[-1]
    return Claim(
        name="modified-cheaper",
        where="abstract, section 5",
        claim=f"The modified set is less complex than the original two, n = {SIX}",
        printed=", ".join(
            f"{row.multiplications(SIX)} / {row.additions(SIX)} ({row.item})" for row in published.TURNEY_1[::-1]
        ),
        measured=", ".join(f"{sets[name].multiplications} / {sets[name].additions} ({name})" for name in SETS[::-1]),
        reason="Multiplications / additions, traced, of bodies in principal axes, as the paper assumes. With products "
        f"of inertia the modified set takes {full[last].multiplications} / {full[last].additions} and Newton-Euler "
        f"{full[SETS[1]].multiplications} / {full[SETS[1]].additions}.",
        rule=LESS_COMPLEX,
        evidence={
            name: [float(found.multiplications), float(found.additions)]
            for name, found in zip(("lagrange", "newton_euler", "modified"), sets.values(), strict=True)
        },
    )


class Steps(NamedTuple):
    """Dependent steps: sums from left to right, and sums and products in the best order.

    best: a value that several others need may be formed several times; once: it is formed once and waited for
    """

    in_order: int
    best: int
    once: int


ORDERS = (
    "sums from left to right",
    "the best order, values formed again where that is sooner",
    "the best order, every value formed once",
)


def steps_of(formula: Formula, n: int) -> Steps:
    graph = recorded(formula, n, lambda number: general_arm(n, number, False))
    return Steps(critical_path(graph, ROBOT).steps, least_steps(graph, ROBOT), least_steps(graph, ROBOT, once=True))


@cache
def steps() -> dict[str, list[Steps]]:
    """Steps of each set, for every n in SIZES.

    The modified set has the force of eq. 5.1 as it is printed, m_i A_i (r-bar_i + r_i) + m_i R a_{i-1}; our own code
    adds to a_i, which is one step longer from left to right.
    """
    formulas = {name: INVERSE_DYNAMICS[name] for name in SETS}
    formulas[SETS[-1]] = as_printed(modified_newton_euler, AS_5_1)["inverse_dynamics"]
    return {name: [steps_of(formula, n) for n in SIZES] for name, formula in formulas.items()}


def steps_by_terms(name: str, n: int) -> int:
    """A processor for each row of Tables 3 and 4. Lagrange: T_0^n alone, in the order of the appendix."""
    if name == SETS[0]:
        return (n - 1) * (PRODUCT[0] + PRODUCT[1])
    return sum(longest_chain(whole_rows(n, modified=name == SETS[-1])))


def parallelism() -> Claim:
    lagrange, plain, modified = (row[SIZES.index(SIX)] for row in steps().values())
    by_terms = {name: steps_by_terms(name, SIX) for name in SETS}
    return Claim(
        name="parallelism",
        where="abstract, section 5",
        claim="The modified set allows more parallelism than the original two",
        printed="more",
        measured=f"a processor for each row: {by_terms[SETS[2]]} steps, {by_terms[SETS[1]]} of Newton-Euler, at least "
        f"{by_terms[SETS[0]]} of Lagrange; one for each operation: {modified.best}, {plain.best} and {lagrange.best} "
        f"where values may be formed again, {modified.once}, {plain.once} and {lagrange.once} where each is formed "
        f"once; n = {SIX}",
        reason="Rows are those of Tables 2 to 4, each whole. m_i a-bar_i of the modified set does not wait for a_i, "
        "which saves steps by rows. By operations, every sum and product in the best order, the sets differ by "
        "one step, to either side: a cross product with alpha_i need not wait for the entries of A_i. With sums from "
        f"left to right it is {modified.in_order} against {plain.in_order}. Lagrange's equations take several times "
        "the operations, but fewer of them follow one another.",
        rule=MORE_PARALLEL,
        evidence={
            key: [float(by_terms[name]), float(found.best), float(found.once)]
            for key, name, found in zip(
                ("lagrange", "newton_euler", "modified"), SETS, (lagrange, plain, modified), strict=True
            )
        },
    )


def steps_table() -> Table:
    rows: list[tuple[Cell, ...]] = [
        (f"{name}, a processor for each row", *(steps_by_terms(name, n) for n in SIZES)) for name in SETS
    ]
    for k, order in enumerate(ORDERS):
        rows += [(f"{name}, {order}", *(found[k] for found in row)) for name, row in steps().items()]
    return Table(
        "dependent-steps",
        "Abstract and section 5: steps that must follow one another",
        "By rows: the longest chains of the whole rows of Tables 3 and 4, and for Lagrange the product T_0^n alone, "
        "in the order of the appendix. By operations: the longest chains of multiplications and additions of the "
        "general arm, everything independent run at once; sines and cosines are given. The modified set has the "
        "force of eq. 5.1 as printed.",
        ("set and order of the work", *(f"n = {n}" for n in SIZES)),
        tuple(rows),
    )
