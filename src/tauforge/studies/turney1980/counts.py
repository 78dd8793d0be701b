"""Turney's tables of operation counts: whether they add up, and what our code of the same sets costs."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from tauforge.algebra.vectors import Matrix
from tauforge.analysis import published_counts as published
from tauforge.analysis.complexity import ROBOT, general_arm, general_cost_of, general_operation_count, recorded
from tauforge.formulations.serial import FORMULATIONS, modified_newton_euler
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.plots.figure import Figure
from tauforge.robots.evaluate import Formula
from tauforge.studies.count_tables import COLUMNS, SIX, adds_up, breakdown, cells, lines_of, our_row, our_rows
from tauforge.studies.misprints import as_printed
from tauforge.studies.rules import true_in_parts, true_or_not
from tauforge.studies.study import Cell, Claim, Table
from tauforge.studies.turney1980.appendix import appendix_claims, appendix_table
from tauforge.studies.turney1980.explicit import degree, explicit_claims, explicit_table
from tauforge.studies.turney1980.schedule import schedule_claims, schedule_figure, table_5
from tauforge.studies.turney1980.term_counts import row_claims, rows_table
from tauforge.tracing.counting import critical_path, least_steps

SETS = ("lagrange-euler", "newton-euler", "modified-newton-euler")
NOT_RECURSIVE = ("lagrange-euler", "orthogonal-complement")
SIZES = range(3, 10)
AS_5_1 = ("F.append((A @ body.com + a) * body.mass)", "F.append((A @ (body.com + r[i]) + carried) * body.mass)")


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
        rule=true_in_parts(
            "Each of the three sets is a part. It is true if its operations are a polynomial of the printed degree in "
            'n ("of order").',
            lambda degrees: [found == printed for found, printed in zip(degrees, (3, 1, 1), strict=True)],
        ),
        evidence={"degrees": [float(one) for one in degrees.values()]},
    )


def most_efficient() -> Claim:
    found = {name: general_operation_count(SIX, name).flops for name in FORMULATIONS}
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
        rule=true_or_not(
            "It holds if every recursion takes fewer operations than every other formulation at hand "
            '("most efficient").',
            lambda recursive, others: max(recursive) < min(others),
        ),
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
    sets = {name: general_cost_of(in_principal_axes(FORMULATIONS[name])) for name in SETS}
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
        rule=true_in_parts(
            "Lagrange and Newton-Euler are two parts. Each is true if the modified set takes fewer multiplications and "
            "fewer additions.",
            lambda modified, newton_euler, lagrange: [
                all(a < b for a, b in zip(modified, other, strict=True)) for other in (lagrange, newton_euler)
            ],
        ),
        evidence={
            name: [float(found.multiplications), float(found.additions)]
            for name, found in zip(("lagrange", "newton_euler", "modified"), sets.values(), strict=True)
        },
    )


class Steps(NamedTuple):
    """Dependent steps: sums from left to right, and sums and products in the best order."""

    in_order: int
    best: int


def steps_of(formula: Formula, n: int) -> Steps:
    graph = recorded(formula, n, lambda number: general_arm(n, number, False))
    return Steps(critical_path(graph, ROBOT).steps, least_steps(graph, ROBOT))


@cache
def steps() -> dict[str, list[Steps]]:
    """Of each set, for every n in SIZES.

    The modified set has the force of eq. 5.1 as it is printed, m_i A_i (r-bar_i + r_i) + m_i R a_{i-1}; our own code
    adds to a_i, which is one step longer.
    """
    formulas = {name: FORMULATIONS[name] for name in SETS}
    formulas[SETS[-1]] = as_printed(modified_newton_euler, AS_5_1)["inverse_dynamics"]
    return {name: [steps_of(formula, n) for n in SIZES] for name, formula in formulas.items()}


def parallelism() -> Claim:
    lagrange, plain, modified = (row[SIZES.index(SIX)] for row in steps().values())
    return Claim(
        name="parallelism",
        where="abstract, section 5",
        claim="The modified set allows more parallelism than the original two",
        printed="more",
        measured=f"{modified.best} dependent steps, {plain.best} of Newton-Euler and {lagrange.best} of Lagrange, "
        f"n = {SIX}",
        reason="Everything independent runs at once, and every sum and product is put in the best order, whatever has "
        "to be formed twice for it. The difference from Newton-Euler is one step, and none for n = 4; with sums from "
        f"left to right it is {modified.in_order} against {plain.in_order}. Lagrange's equations take several times "
        "the operations, but fewer of them follow one another.",
        rule=true_in_parts(
            "Lagrange and Newton-Euler are two parts. Each is true if the modified set leaves fewer dependent steps, "
            f'all sums and products in the best order, for {SIX} joints ("more parallelism").',
            lambda modified, newton_euler, lagrange: [modified < newton_euler, modified < lagrange],
        ),
        evidence={
            "modified": float(modified.best),
            "newton_euler": float(plain.best),
            "lagrange": float(lagrange.best),
        },
    )


def steps_table() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for k, order in enumerate(("sums from left to right", "sums and products in the best order")):
        rows += [(f"{name}, {order}", *(pair[k] for pair in row)) for name, row in steps().items()]
    return Table(
        "dependent-steps",
        "Abstract and section 5: steps that must follow one another",
        "The longest chains of multiplications and additions of the general arm, everything independent run at once; "
        "sines and cosines are given. In the best order a value may be formed several times. The modified set has the "
        "force of eq. 5.1 as printed.",
        ("set and order of sums", *(f"n = {n}" for n in SIZES)),
        tuple(rows),
    )
