"""What the terms of Turney's Tables 3 and 4 take for an inner link, counted as the paper writes them.

Every rotation is a full 3 x 3 matrix; masses, inertias and vectors of the link are parameters of the robot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tauforge.algebra.inertias import acceleration_matrix
from tauforge.algebra.vectors import E_Z, Matrix, Vector, cross
from tauforge.tracing.counting import Counted, operations
from tauforge_papers import published_counts as published
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import true_in_parts

Count = tuple[int, int]  # multiplications, additions


class Link:
    """Scalars that count: `vector()` and `matrix()` of the motion, `constant()` parameters of the robot."""

    def __init__(self) -> None:
        self.tally: Counter[str] = Counter()

    def scalar(self) -> Counted:
        return Counted(self.tally)

    def vector(self) -> Vector:
        return Vector(*(self.scalar() for _ in range(3)))

    def matrix(self) -> Matrix:
        return Matrix([self.vector() for _ in range(3)])

    def number(self) -> Counted:
        return Counted(self.tally, constant=True)

    def constant(self) -> Vector:
        return Vector(*(self.number() for _ in range(3)))

    def tensor(self) -> Matrix:
        return Matrix([self.constant() for _ in range(3)])


def cost(term: Callable[[Link], Any]) -> Count:
    link = Link()
    term(link)
    found = operations(link.tally)
    return found.multiplications, found.additions


def axial(A: Matrix, K: Vector) -> Vector:
    """Tr{A K sigma'} with K diagonal: the six products that are used."""
    return Vector(A[2, 1] * K.y - A[1, 2] * K.z, A[0, 2] * K.z - A[2, 0] * K.x, A[1, 0] * K.x - A[0, 1] * K.y)


def sum_of(vectors: int) -> Callable[[Link], Any]:
    """A sum of so many vectors."""

    def term(link: Link) -> Any:
        total = link.vector()
        for _ in range(vectors - 1):
            total = total + link.vector()
        return total

    return term


KINEMATIC: dict[str, Callable[[Link], Any]] = {
    "omega_i": lambda x: x.matrix() @ (x.vector() + E_Z * x.scalar()),
    "alpha_i": lambda x: x.matrix() @ (x.vector() + cross(x.vector(), E_Z * x.scalar()) + E_Z * x.scalar()),
    "A_i": lambda x: acceleration_matrix(x.vector(), x.vector()),
    "a_i": lambda x: x.matrix() @ x.constant() + x.matrix() @ x.vector(),
}
MOMENTS: dict[str, Callable[[Link], Any]] = {
    "m (r_i + r_bar_i) x a_bar_i": lambda x: cross(x.constant(), x.vector()),
    "r_i x R f_{i+1}": lambda x: cross(x.constant(), x.vector()),
    "R n_{i+1}": lambda x: x.matrix() @ x.vector(),
}
TABLE_3: dict[str, Callable[[Link], Any]] = KINEMATIC | {
    "a_bar_i": lambda x: x.matrix() @ x.constant() + x.vector(),
    "f_i": lambda x: x.vector() * x.number() + x.matrix() @ x.vector(),
    "I_i alpha_i": lambda x: x.tensor() @ x.vector(),
    "omega_i x (I_i omega_i)": lambda x: cross(x.vector(), x.tensor() @ x.vector()),
    **MOMENTS,
    "add n": sum_of(5),
}
TABLE_4: dict[str, Callable[[Link], Any]] = KINEMATIC | {
    "m_i a_bar_i": lambda x: (x.matrix() @ x.constant() + x.vector()) * x.number(),
    "f_i": lambda x: x.vector() + x.matrix() @ x.vector(),
    "Tr{A_i K_i sigma'}": lambda x: axial(x.matrix(), x.constant()),
    **MOMENTS,
    "add n": sum_of(4),
}


def printed(row: published.Row) -> Count:
    """A link more."""
    multiplications, additions = (p(2) - p(1) for p in (row.multiplications, row.additions))
    return int(multiplications), int(additions)


IN_PARTS = true_in_parts(
    "Every number of a row is a part. It is true if it is what the row's term takes for one link more, written as the "
    "paper writes it.",
    lambda differences: [difference == 0 for difference in differences],
)
RIGHT = {"table-3": (published.TURNEY_3, TABLE_3), "table-4": (published.TURNEY_4, TABLE_4)}


def row_claims() -> list[Claim]:
    claims = []
    for name, (table, terms) in RIGHT.items():
        rows = {row.item: (printed(row), cost(terms[row.item])) for row in table.rows}
        wrong = {item: pair for item, pair in rows.items() if pair[0] != pair[1]}
        whole = [sum(pair[1][k] for pair in rows.values()) for k in (0, 1)]
        told = ", ".join(f"{item} {a[0]} / {a[1]} printed, {b[0]} / {b[1]} counted" for item, (a, b) in wrong.items())
        total = printed(table.total)
        claims.append(
            Claim(
                name=f"{name}-rows",
                where=f"Table {name[-1]}",
                claim="Each row gives the operations of its term",
                printed=f"{total[0]} multiplications, {total[1]} additions a link",
                measured=f"{whole[0]} multiplications, {whole[1]} additions a link: {told or 'every row as printed'}",
                reason="The numbers are multiplications / additions. omega x z qd takes two multiplications, which "
                f"the row of alpha_i leaves out; {4 if name == 'table-3' else 3} sums of vectors take 3 additions "
                "each. The table and our count both leave out the rotation matrices and the projection of eq. 3.21.",
                rule=IN_PARTS,
                evidence={"differences": [float(a[k] - b[k]) for a, b in rows.values() for k in (0, 1)]},
            )
        )
    return claims


def rows_table() -> Table:
    rows = [
        (f"Table {name[-1]}", row.item, *printed(row), *cost(terms[row.item]))
        for name, (table, terms) in RIGHT.items()
        for row in table.rows
    ]
    return Table(
        "terms-counted",
        "Tables 3 and 4: every term counted for an inner link",
        "As the paper writes the terms, with full rotation matrices and, in Table 4, principal axes.",
        ("table", "term", "multiplications, printed", "additions, printed", "multiplications", "additions"),
        tuple(rows),
    )
