"""The operation counts that the papers print, as functions of the number of joints, and whether they add up.

They are from Turney, Mudge & Lee 1980 (Tables 1-5), Lee, Chung, Mudge & Turney (Tables 1-2) and Angeles chapter 7
(Tables 7.1-7.4).
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.analysis.complexity import Polynomial, added, poly


class Row(NamedTuple):
    item: str
    multiplications: Polynomial
    additions: Polynomial


class Table(NamedTuple):
    """A breakdown with the total that is printed under it."""

    title: str
    rows: tuple[Row, ...]
    total: Row
    erratum: str = ""

    def sums(self) -> Row:
        """The true sums of the rows."""
        return Row(
            "Sum", added([row.multiplications for row in self.rows]), added([row.additions for row in self.rows])
        )

    def adds_up(self) -> bool:
        return self.sums()[1:] == self.total[1:]


TURNEY_1 = (
    Row("Lagrange", poly(0, 5, "165/2", "81/6"), poly(0, "-64/3", 58, "40/3")),
    Row("Newton-Euler", poly(-12, 108), poly(-9, 100)),
    Row("Modified Newton-Euler", poly(-27, 90), poly(-24, 88)),
)

TURNEY_2 = Table(
    "Turney Table 2: Lagrange",
    (
        Row("T_j^i", poly(0, -32, 32), poly(0, -24, 24)),
        Row("dT/dq_j", poly(0, -32, 32), poly(0, -24, 24)),
        Row("d2T/dq_j dq_k", poly(0, "-32/3", 0, "32/3"), poly(0, -8, 0, 8)),
        Row("{sum} J^a", poly(0, "209/3", "17/2", "17/6"), poly(0, "80/3", 0, "16/3")),
        Row("Tr{[..] dT/dq_i}", poly(0, 8, 8), poly(0, 7, 8)),
        Row("gravity", poly(0, 2, 2), poly(0, 1, 2)),
    ),
    TURNEY_1[0],
    "The appendix swaps the words multiplications and additions in its totals; its second-derivative additions are "
    "8 n (n^2 - 1), as here, not 16; 8.5 q (q + 1) + 64 does not follow from its parts (8.5 q^2 + 7.5 q + 64); and the "
    "true sum of 16 q (q + 1) + 32 makes the additions 40/3 n^3 + 74 n^2 - 16/3 n, or 64/3 n^3 + 74 n^2 - 40/3 n with "
    "the appendix's own 16 n (n^2 - 1).",
)

TURNEY_3 = Table(
    "Turney Table 3: Newton-Euler",
    (
        Row("omega_i", poly(0, 9), poly(0, 7)),
        Row("alpha_i", poly(0, 9), poly(0, 9)),
        Row("A_i", poly(0, 6), poly(0, 9)),
        Row("a_i", poly(0, 18), poly(0, 15)),
        Row("a_bar_i", poly(0, 9), poly(0, 9)),
        Row("f_i", poly(-12, 12), poly(-9, 9)),
        Row("I_i alpha_i", poly(0, 9), poly(0, 6)),
        Row("omega_i x (I_i omega_i)", poly(0, 15), poly(0, 9)),
        Row("m (r_i + r_bar_i) x a_bar_i", poly(0, 6), poly(0, 3)),
        Row("r_i x R f_{i+1}", poly(0, 6), poly(0, 3)),
        Row("R n_{i+1}", poly(0, 9), poly(0, 6)),
        Row("add n", poly(0), poly(0, 15)),
    ),
    TURNEY_1[1],
)

TURNEY_4 = Table(
    "Turney Table 4: modified Newton-Euler",
    (
        Row("omega_i", poly(0, 9), poly(0, 7)),
        Row("alpha_i", poly(0, 9), poly(0, 9)),
        Row("A_i", poly(0, 6), poly(0, 9)),
        Row("a_i", poly(-18, 18), poly(-15, 15)),
        Row("m_i a_bar_i", poly(0, 12), poly(0, 9)),
        Row("f_i", poly(-9, 9), poly(-9, 9)),
        Row("Tr{A_i K_i sigma'}", poly(0, 6), poly(0, 3)),
        Row("m (r_i + r_bar_i) x a_bar_i", poly(0, 6), poly(0, 3)),
        Row("r_i x R f_{i+1}", poly(0, 6), poly(0, 3)),
        Row("R n_{i+1}", poly(0, 9), poly(0, 6)),
        Row("add n", poly(0), poly(0, 15)),
    ),
    TURNEY_1[2],
)

TURNEY_5 = Table(
    "Turney Table 5: simultaneous steps of the modified Newton-Euler set",
    (
        Row("omega_1", poly(9), poly(7)),
        Row("alpha_1", poly(9), poly(9)),
        Row("A_1", poly(6), poly(9)),
        Row("omega_2", poly(9), poly(7)),
        Row("alpha_2", poly(9), poly(9)),
        Row("outward, side by side", poly(0, 18), poly(0, 15)),
        Row("inward, side by side", poly(0, 9), poly(0, 12)),
    ),
    Row("Total", poly(42, 27), poly(41, 27)),
)

LEE_1 = Table(
    "Lee Table 1: controller on Lagrange-Euler",
    (
        Row("T_j^i", poly(0, -32, 32), poly(0, -24, 24)),
        Row("-m g dT/dq r", poly(0, -28, 36), poly(0, "-45/2", "51/2")),
        Row("sum of these", poly(0), poly(0, "-1/2", "1/2")),
        Row("Tr{dT J dT'}", poly(0, "256/3", 128, "128/3"), poly(0, 65, "195/2", "65/2")),
        Row("sum of these, D", poly(0), poly(0, "-1/6", 0, "1/6")),
        Row("Tr{d2T J dT'}", poly(0, 0, "256/3", 128, "128/3"), poly(0, 0, 65, "195/2", "65/2")),
        Row("sum of these, H", poly(0), poly(0, 0, "-1/6", 0, "1/6")),
        Row("qdd_d + Kv e' + Kp e", poly(0, 2), poly(0, 4)),
        Row("tau", poly(0, 0, 2, 1), poly(0, 0, 1, 1)),
    ),
    Row("Total", poly(0, "82/3", "850/3", "515/3", "128/3"), poly(0, "131/6", "640/3", "787/6", "98/3")),
    "For 'about 100 times' Newton-Euler the two tables give 149 (multiplications) and 126 (additions) at n = 6.",
)

LEE_2 = Table(
    "Lee Table 2: controller on Newton-Euler",
    (
        Row("omega_i", poly(0, 9), poly(0, 7)),
        Row("alpha_i", poly(0, 9), poly(0, 9)),
        Row("a_i", poly(0, 27), poly(0, 22)),
        Row("a_bar_i", poly(0, 15), poly(0, 14)),
        Row("F_i", poly(0, 3), poly(0)),
        Row("f_i", poly(-9, 9), poly(-6, 9)),
        Row("N_i", poly(0, 24), poly(0, 18)),
        Row("n_i", poly(-15, 21), poly(-15, 24)),
        Row("qdd_d + Kv e' + Kp e", poly(0, 2), poly(0, 4)),
    ),
    Row("Total", poly(-24, 119), poly(-21, 107)),
)

# The operations that algorithm 7.4.1 is said to take for one joint.
ANGELES_REVOLUTE = (
    Row("Q_i", poly(4), poly(0)),
    Row("c_i", poly(8), poly(10)),
    Row("omega_i", poly(8), poly(5)),
    Row("c'_i", poly(20), poly(16)),
    Row("omega'_i", poly(10), poly(7)),
    Row("c''_i", poly(32), poly(28)),
)
ANGELES_PRISMATIC = (
    Row("Q_i", poly(4), poly(0)),
    Row("c_i", poly(16), poly(15)),
    Row("omega_i", poly(8), poly(4)),
    Row("c'_i", poly(14), poly(11)),
    Row("omega'_i", poly(8), poly(4)),
    Row("c''_i", poly(20), poly(19)),
)

ANGELES_7_1 = Table(
    "Angeles Table 7.1: outward recursions",
    (
        Row("{Q_i}", poly(0, 4), poly(0)),
        Row("{omega_i}", poly(0, 8), poly(0, 5)),
        Row("{c'_i}", poly(0, 20), poly(0, 16)),
        Row("{omega'_i}", poly(0, 10), poly(0, 7)),
        Row("{c''_i}", poly(0, 32), poly(0, 28)),
    ),
    Row("Total", poly(0, 82), poly(0, 66)),
    "The row {c_i} (8n, 10n) is missing from the rows of our machine-read text and present in the total.",
)

ANGELES_7_2 = Table(  # the total is A7.41, and A7.42 for n = 6
    "Angeles Table 7.2: inward recursions",
    (
        Row("row 1", poly(3), poly(3)),
        Row("row 2", poly(30), poly(27)),
        Row("row 5", poly(-8, 8), poly(-4, 4)),
        Row("row 6", poly(-3, 3), poly(-3, 3)),
        Row("row 7", poly(-44, 44), poly(-37, 37)),
    ),
    Row("Total", poly(-22, 55), poly(-14, 44)),
)

ANGELES_7_43 = Row("Angeles 7.43: outward and inward", poly(-22, 137), poly(-14, 110))  # A7.43

ANGELES_7_3 = (
    Row("Hollerbach (1980), E-L", poly(-277, 412), poly(-201, 320)),
    Row("Luh et al. (1980), N-E", poly(-48, 150), poly(-48, 131)),
    Row("Walker & Orin (1982), N-E", poly(-22, 137), poly(-11, 101)),
    Row("Khalil et al. (1986), N-E", poly(-92, 105), poly(-86, 94)),
    Row("Angeles et al. (1989), Kane", poly(-109, 105), poly(-105, 90)),
    Row("Balafoutis & Patel (1991), tensor", poly(-69, 93), poly(-65, 81)),
    Row("Li & Sankar (1992), E-L", poly(-69, 88), poly(-66, 76)),
)

# For n = 6, as printed. Two entries have no formula in Table 7.3.
ANGELES_7_4 = {
    "Hollerbach (1980), E-L": (2195, 1719),
    "Luh et al. (1980), N-E": (852, 738),
    "Walker & Orin (1982), N-E": (800, 595),
    "Hollerbach and Sahar (1983), N-E": (688, 558),
    "Kane & Levinson (1983), Kane": (646, 394),
    "Khalil et al. (1986), N-E": (538, 478),
    "Angeles et al. (1989), Kane": (521, 435),
    "Balafoutis & Patel (1991), tensor": (489, 420),
    "Li & Sankar (1992), E-L": (459, 390),
}
ANGELES_7_4_ERRATUM = "Balafoutis & Patel's additions come to 421 by Table 7.3; Table 7.4 prints 420."

BREAKDOWNS = (TURNEY_2, TURNEY_3, TURNEY_4, TURNEY_5, LEE_1, LEE_2, ANGELES_7_1, ANGELES_7_2)
