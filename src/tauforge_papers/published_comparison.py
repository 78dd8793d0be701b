"""Our counts beside the papers': the same formulation, the same n, and a reason for every difference."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.analysis.complexity import OperationCount, Polynomial, added, general_operation_count, poly
from tauforge.class_tools import with_field_docs
from tauforge_papers import published_counts as published


@with_field_docs
class CountComparison(NamedTuple):
    """One printed count next to the general arm's, all at the same n.

    source:      where the count is printed
    formulation: ours that answers to it
    printed:     multiplications and additions
    as_written:  ours, every operation of the source
    traced:      ours, common subexpressions shared and dead code dropped
    why:         the counts differ
    """

    source: str
    formulation: str
    printed: tuple[int, int]
    as_written: tuple[int, int]
    traced: tuple[int, int]
    why: str


def compared(source: str, row: published.Row, formulation: str, n: int, why: str) -> CountComparison:
    ours = general_operation_count(n, formulation)
    return CountComparison(
        source,
        formulation,
        (int(row.multiplications(n)), int(row.additions(n))),
        (ours.as_written.multiplications, ours.as_written.additions),
        (ours.multiplications, ours.additions),
        why,
    )


def count_comparisons(n: int = 6) -> list[CountComparison]:
    """Every total of the papers that corresponds to one of our formulations."""
    control = published.Row("control law", poly(0, 2), poly(0, 4))

    def without_control(table: published.Table) -> published.Row:
        law = [Polynomial(tuple(-c for c in p.coefficients)) for p in control[1:]]
        return published.Row(
            table.total.item,
            added([table.total.multiplications, law[0]]),
            added([table.total.additions, law[1]]),
        )

    angeles = published.ANGELES_7_3
    return [
        compared(
            "Turney Tables 1, 2",
            published.TURNEY_1[0],
            "lagrange-euler",
            n,
            "The paper multiplies full 4 x 4 matrices; ours skip the constant last row and the zeros of Q and of dT.",
        ),
        compared(
            "Turney Tables 1, 3",
            published.TURNEY_1[1],
            "newton-euler",
            n,
            "Ours writes omega x (omega x b) + alpha x b as cross products, as 3.17-3.18 do, where Table 3 has A_i b. "
            "It also counts forming R, omega x z qd and the projection on z, and nothing for R's zero entry.",
        ),
        compared(
            "Turney Tables 1, 4",
            published.TURNEY_1[2],
            "modified-newton-euler",
            n,
            "The paper's K_i is diagonal (6 products a link); with a full K_i, A K takes 27, and 18 are used.",
        ),
        compared(
            "Lee Table 1",
            without_control(published.LEE_1),
            "lagrange-euler",
            n,
            "Without the control law. Lee takes every Tr{d2T J dT'} apart, order n^4; ours sums first, order n^3.",
        ),
        compared(
            "Lee Table 2",
            without_control(published.LEE_2),
            "newton-euler",
            n,
            "Without the control law. It has our cross products; R's zero entry and the base at rest cost us nothing.",
        ),
        compared(
            "Angeles 7.43 (Tables 7.1, 7.2)",
            published.ANGELES_7_43,
            "outward-inward",
            n,
            "The book also computes c_i and c'_i (16 and 20 a link beyond c''_i) and forms Q_i (4 a link), which "
            "turning twice in a row saves; the base at rest is free.",
        ),
        compared(
            "Angeles Table 7.3, Luh et al.",
            angeles[1],
            "newton-euler",
            n,
            "This is Luh, Walker and Paul's own set, with full rotations and no zero skipped.",
        ),
        compared(
            "Angeles Table 7.3, Walker & Orin",
            angeles[2],
            "outward-inward",
            n,
            "These are the same recursions, counted by other authors.",
        ),
        compared(
            "Angeles Table 7.3, Li & Sankar",
            angeles[6],
            "joint-frames",
            n,
            "This is the book's lowest count for a general arm; base parameters in well placed joint frames take less.",
        ),
    ]


class StepComparison(NamedTuple):
    """Turney Table 5, simultaneous steps, next to the critical path of our modified Newton-Euler set."""

    printed: tuple[int, int]
    critical_path: tuple[int, int]
    why: str


def step_comparison(n: int = 6) -> StepComparison:
    ours: OperationCount = general_operation_count(n, "modified-newton-euler")
    total = published.TURNEY_5.total
    return StepComparison(
        (int(total.multiplications(n)), int(total.additions(n))),
        (ours.critical_path.multiplications, ours.critical_path.additions),
        "Table 5 overlaps whole vectors and does the products inside each one after another; the critical path lets "
        "every independent product and sum run at once.",
    )
