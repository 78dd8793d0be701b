"""Turney's appendix: the Lagrange computations counted part by part, and whether the parts give the printed sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix, Transform, Vector
from tauforge.analysis.complexity import Polynomial, added, interpolated, poly
from tauforge.formulations.serial.lagrange_euler import spun
from tauforge.tracing.counting import count
from tauforge.tracing.graph import trace
from tauforge_papers import published_counts as published
from tauforge_papers.count_tables import COLUMNS, SIX, cells
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import true_in_parts, true_or_not

SIZES = range(5)  # as many as determine a cubic and check it
PRODUCT = (64, 48)  # multiplications and additions of two 4 x 4 matrices
KINETIC, SECOND = 3, 2  # rows of Table 2


class Printed(NamedTuple):
    """A formula of the appendix and what its own parts come to, each multiplications and additions."""

    printed: tuple[Polynomial, Polynomial]
    parts: tuple[Polynomial, Polynomial]

    def differences(self) -> tuple[list[float], list[float]]:
        """Printed less the parts, for 1 to 12."""
        both = zip(self.printed, self.parts, strict=True)
        multiplications, additions = ([float(a(n) - b(n)) for n in range(1, 13)] for a, b in both)
        return multiplications, additions


def summed(part: Polynomial) -> Polynomial:
    """part(1) + ... + part(n), as a polynomial in n."""
    return interpolated(list(SIZES), [int(sum(part(q) for q in range(1, n + 1))) for n in SIZES])


def second_derivatives() -> Printed:
    """i (i - 1) / 2 products of T matrices a link."""
    multiplications, additions = (summed(poly(0, -cost // 2, cost // 2)) for cost in PRODUCT)
    return Printed((poly(0, "-32/3", 0, "32/3"), poly(0, -16, 0, 16)), (multiplications, additions))


def kinetic_term() -> Printed:
    """For one q: the sums over dT and d2T, the pairs of velocities, and the product with J_q."""
    sizes = list(SIZES)
    multiplications = [16 * q + q * (q - 1) // 2 + 16 * q * (q - 1) // 2 + PRODUCT[0] for q in sizes]
    additions = [16 * (q - 1) + 16 * (q + 1) * (q - 1) + 16 + PRODUCT[1] for q in sizes]
    parts = interpolated(sizes, multiplications), interpolated(sizes, additions)
    return Printed((poly(64, "17/2", "17/2"), poly(32, 16, 16)), parts)


def kinetic_terms() -> Printed:
    """The printed formulas for one q, summed over q = 1..n."""
    row = published.TURNEY_2.rows[KINETIC]
    multiplications, additions = kinetic_term().printed
    return Printed((row.multiplications, row.additions), (summed(multiplications), summed(additions)))


def totals(second: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Totals of the appendix. second: additions of the second derivatives, on which table and appendix differ."""
    rows = published.TURNEY_2.rows
    one = kinetic_term().parts
    others = [row for k, row in enumerate(rows) if k not in (KINETIC, SECOND)]
    multiplications = [rows[SECOND].multiplications, summed(one[0]), *(row.multiplications for row in others)]
    return added(multiplications), added([second, summed(one[1]), *(row.additions for row in others)])


def free_products() -> int:
    """Arithmetic operations of Q T for a full T, traced."""

    def product(x: Sequence[Scalar]) -> list[Scalar]:
        rows = [Vector(*x[3 * k : 3 * k + 3]) for k in range(4)]
        R, p = spun(True, Transform(Matrix(rows[:3]), rows[3]))
        return [entry for row in (*R.rows, p) for entry in row]

    cost = count(trace(product, {"x": 12}))
    return cost.multiplications + cost.additions


IN_PARTS = true_in_parts(
    "The multiplications and the additions are two parts. Each is true if the printed formula is the sum of the parts "
    "that the appendix names, for every n.",
    lambda multiplications, additions: [not any(multiplications), not any(additions)],
)
TOTAL = true_or_not(
    "It holds if the printed totals are the sums of the parts that the appendix names, for every n, with the additions "
    "of the second derivatives as the appendix or as Table 2 has them.",
    lambda multiplications, additions, additions_table_2: (
        not any(multiplications) and not (any(additions) and any(additions_table_2))
    ),
)
FREE = true_or_not("It holds if Q T takes no multiplication and no addition.", lambda operations: operations == 0)


def both(pair: tuple[Polynomial, Polynomial]) -> str:
    return f"{pair[0]} multiplications, {pair[1]} additions"


def appendix_claims() -> list[Claim]:
    found = {
        "appendix-second-derivatives": (
            second_derivatives(),
            "The second derivatives of the T matrices take i (i - 1) / 2 products a link",
            "A product of two 4 x 4 matrices takes 64 multiplications and 48 additions. Table 2 has the additions "
            "right, 8 n (n^2 - 1).",
        ),
        "appendix-kinetic-term": (
            kinetic_term(),
            "The kinetic term of link q takes the printed operations (n stands for q here)",
            "16 q + q (q - 1) / 2 + 16 q (q - 1) / 2 + 64 multiplications and 16 (q - 1) + 16 (q + 1)(q - 1) + 16 + 48 "
            "additions are the parts that the appendix names.",
        ),
        "appendix-kinetic-terms": (
            kinetic_terms(),
            "The kinetic terms of all links take the printed operations",
            "The printed formulas for one link, summed over all. The sum of 16 q (q + 1) is 16/3 n (n + 1)(n + 2), "
            "not 16/3 n (n^2 - 1).",
        ),
    }
    claims = [
        Claim(
            name=name,
            where="appendix",
            claim=text,
            printed=both(formula.printed),
            measured=both(formula.parts),
            reason=reason,
            rule=IN_PARTS,
            evidence=dict(zip(("multiplications", "additions"), formula.differences(), strict=True)),
        )
        for name, (formula, text, reason) in found.items()
    ]
    return [*claims, total_claim(), free_claim()]


def total_claim() -> Claim:
    total = published.TURNEY_2.total
    own, table = totals(second_derivatives().printed[1]), totals(published.TURNEY_2.rows[SECOND].additions)
    printed = total.multiplications, total.additions
    return Claim(
        name="appendix-total",
        where="appendix",
        claim="All contributions sum to the totals of Tables 1 and 2",
        printed=both(printed),
        measured=f"{both(own)}; with Table 2's additions of the second derivatives {table[1]} additions",
        reason="The parts were summed for every link, exactly. The appendix has 16 n (n^2 - 1) additions for the "
        "second derivatives and Table 2 has 8 n (n^2 - 1): both sums are shown. The appendix also calls the total of "
        "multiplications additions, and the other way round; that is not counted against the sums.",
        rule=TOTAL,
        evidence={
            "multiplications": Printed(printed, own).differences()[0],
            "additions": Printed(printed, own).differences()[1],
            "additions_table_2": Printed(printed, table).differences()[1],
        },
    )


def free_claim() -> Claim:
    operations = free_products()
    return Claim(
        name="q-products",
        where="section 6, appendix",
        claim="Products with Q need not be counted: a row interchange and a row negation",
        printed="0 operations",
        measured=f"{operations} multiplications and additions",
        reason="Traced for a full T. The third row of Q T is zero.",
        rule=FREE,
        evidence={"operations": float(operations)},
    )


def appendix_table() -> Table:
    """Every formula of the appendix, printed and from its parts."""
    own = totals(second_derivatives().printed[1])
    table = totals(published.TURNEY_2.rows[SECOND].additions)
    pairs = {
        "second derivatives": second_derivatives(),
        "kinetic term of one link, n for q": kinetic_term(),
        "kinetic terms of all links": kinetic_terms(),
        "total": Printed((published.TURNEY_2.total.multiplications, published.TURNEY_2.total.additions), own),
    }
    rows = []
    for name, (printed, parts) in pairs.items():
        rows.append(cells(published.Row(f"{name}, as printed", *printed)))
        rows.append(cells(published.Row(f"{name}, from its parts", *parts)))
    rows.append(cells(published.Row("total, from its parts and Table 2's second derivatives", *table)))
    return Table(
        "appendix",
        "Appendix: the Lagrange computations, part by part",
        f"The appendix's own parts, summed exactly; the last columns are for n = {SIX}.",
        COLUMNS,
        tuple(rows),
    )
