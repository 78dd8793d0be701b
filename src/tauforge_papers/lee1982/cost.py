"""What Lee's two controllers cost: operations, the PDP-11's milliseconds, and the time of our own kernels."""

from __future__ import annotations

from math import log10
from typing import NamedTuple

from tauforge.analysis.complexity import general_cost_of, general_operation_count, operation_count
from tauforge.analysis.timing import BATCH, time_per_state
from tauforge.formulations.serial import DEFAULT_FORMULATION
from tauforge_papers import published_counts as published
from tauforge_papers.count_tables import SIX, adds_up, breakdown, our_rows
from tauforge_papers.lee1982.control import PERIOD, puma
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.rules import true_in_parts, true_or_mended, true_or_not
from tauforge_papers.turney1980.explicit import lagrange_explicit

EXTREME = 10  # times the operations
A_LITTLE = 0.2  # of the operations, or of a factor
MULTIPLY, ADD, FETCH = 3.3, 0.5, 0.45  # us: section 5, from the manufacturer's sheet
LAW = published.LEE_2.rows[-1]  # qdd_d + Kv e' + Kp e, which both controllers pay
PAIR = ("lagrange-euler", "newton-euler")
ABOUT = true_or_mended(
    f"It holds if the factors by the paper's tables, of multiplications and of additions, differ from 100 by less than "
    f'{A_LITTLE:g} of it ("about 100"), and with a correction, the factors of the tables, if 100 is the power of ten '
    "nearest to both.",
    holds=lambda factors, a_little: all(abs(factor / 100 - 1) < a_little for factor in factors),
    corrected=lambda factors, a_little: all(round(log10(factor)) == 2 for factor in factors),
    a_little=A_LITTLE,
)
EXTREMELY = true_in_parts(
    f'It holds if it takes {EXTREME} times the operations of Newton-Euler or more ("extremely"), both as the paper '
    "evaluates it and with its sums taken first. Mixed if in one of the two ways.",
    lambda tables, sums_first, extreme: [min(factors) >= extreme for factors in (tables, sums_first)],
    extreme=EXTREME,
)
SLIGHTLY = true_in_parts(
    'Where "some of the terms" differ "slightly", so do the totals: it holds if they differ from those of the report '
    f"cited by less than {A_LITTLE:g} of them, in multiplications and additions of both formulations. Mixed if some "
    "do.",
    lambda ratios, a_little: [abs(ratio - 1) < a_little for ratio in ratios],
    a_little=A_LITTLE,
)
MILLISECONDS = true_or_not(
    "It holds if the printed counts and instruction times come to 3 ms, rounded to the printed digit.",
    lambda milliseconds: round(milliseconds) == 3,
)
REAL_TIME = true_or_not(
    "It holds if a set point takes less than the paper's sampling period on Newton-Euler and more on Lagrange-Euler, "
    "on the paper's computer.",
    lambda newton, lagrange, period: newton < period < lagrange,
)


class Cost(NamedTuple):
    """Cost of one torque of one controller."""

    name: str
    multiplications: int
    additions: int

    def milliseconds(self, fetches: int = 1) -> float:
        """On the paper's PDP-11/45, with so many fetches of data from core an instruction."""
        fetch = fetches * FETCH
        return (self.multiplications * (MULTIPLY + fetch) + self.additions * (ADD + fetch)) / 1000


def printed(name: str, table: published.Table) -> Cost:
    return Cost(name, int(table.total.multiplications(SIX)), int(table.total.additions(SIX)))


def with_law(name: str, multiplications: int, additions: int) -> Cost:
    return Cost(name, multiplications + int(LAW.multiplications(SIX)), additions + int(LAW.additions(SIX)))


class Rivals(NamedTuple):
    """Both controllers, counted alike."""

    source: str
    lagrange: Cost
    newton: Cost

    @property
    def factors(self) -> tuple[float, float]:
        """Multiplications, additions: how many times more Lagrange takes."""
        return (
            self.lagrange.multiplications / self.newton.multiplications,
            self.lagrange.additions / self.newton.additions,
        )


def printed_rivals() -> Rivals:
    return Rivals(
        "Tables 1 and 2",
        printed("Table 1, Lagrange-Euler", published.LEE_1),
        printed("Table 2, Newton-Euler", published.LEE_2),
    )


def rivals() -> list[Rivals]:
    """As printed; with every coefficient apart, as Lee evaluates them, but shared; and our own code."""
    explicit = general_cost_of(lagrange_explicit)
    multiply, add = SIX**2 * (SIX + 2), SIX**2 * (SIX + 1)  # tau = D (..) + H + G, the last row of Table 1
    general = [with_law(name, *general_operation_count(SIX, name)[:2]) for name in PAIR]
    own = [with_law(name, *operation_count(puma(), name)[:2]) for name in PAIR]
    apart = with_law("D, H, G apart", explicit.multiplications + multiply, explicit.additions + add)
    return [
        printed_rivals(),
        Rivals("ours, general arm, every coefficient of D and H apart", apart, general[1]),
        Rivals("ours, general arm, sums first", *general),
        Rivals("ours, PUMA 560", *own),
    ]


def costs() -> tuple[list[Claim], list[Table]]:
    found, times = rivals(), {name: time_per_state(puma(), name).batch * 1e9 for name in PAIR}
    claims = [
        adds_up("table-1-adds-up", "Table 1", published.LEE_1),
        adds_up("table-2-adds-up", "Table 2", published.LEE_2),
        *factor_claims(found, times),
        other_papers(),
        *machine_claims(found[0]),
    ]
    tables = [
        breakdown("table-1", published.LEE_1, our_rows(PAIR[0])),
        breakdown("table-2", published.LEE_2, our_rows(PAIR[1])),
        factor_table(found, times),
        machine_table(found),
    ]
    return claims, tables


def factor_claims(found: list[Rivals], times: dict[str, float]) -> list[Claim]:
    tables, _, general, own = found
    ratio = times[PAIR[0]] / times[PAIR[1]]
    return [
        Claim(
            name="about-100",
            where="section 5",
            claim="The controller on Lagrange-Euler takes about 100 times the operations of the one on Newton-Euler",
            printed="about 100",
            measured=f"{tables.factors[0]:.0f} (multiplications), {tables.factors[1]:.0f} (additions)",
            reason=f"From the paper's own Tables 1 and 2 at n = {SIX}: the factors are larger than the sentence says.",
            rule=ABOUT,
            evidence={"factors": list(tables.factors)},
        ),
        Claim(
            name="extremely-inefficient",
            where="section 3.1",
            claim="The Lagrangian formulation is extremely inefficient as compared with other formulations",
            printed="no number",
            measured=f"{tables.factors[0]:.0f} / {tables.factors[1]:.0f} times the multiplications / additions by the "
            f"paper's tables; {general.factors[0]:.1f} / {general.factors[1]:.1f} with sums first, general arm; "
            f"{own.factors[0]:.1f} / {own.factors[1]:.1f} for the PUMA",
            reason="The paper takes every Tr{d2T J dT'} apart, order n^4. Summed before the products it is of order "
            "n^3, as in the appendix of Turney, Mudge & Lee 1980.",
            rule=EXTREMELY,
            evidence={"tables": list(tables.factors), "sums_first": list(general.factors)},
            timed=f"{ratio:.1f} in time, PUMA",
        ),
    ]


def other_papers() -> Claim:
    """Lee's totals without the law beside those of Turney, Mudge & Lee 1980, the report that the paper cites."""
    theirs = [published.TURNEY_1[0], published.TURNEY_1[1]]
    ratios = []
    for table, other in zip((published.LEE_1, published.LEE_2), theirs, strict=True):
        for kind in ("multiplications", "additions"):
            mine = float(getattr(table.total, kind)(SIX) - getattr(LAW, kind)(SIX))
            ratios.append(mine / float(getattr(other, kind)(SIX)))
    return Claim(
        name="other-papers",
        where="section 5",
        claim="The numbers of operations may be slightly different from those of other papers",
        printed="slightly",
        measured=f"{ratios[2]:.2f} / {ratios[3]:.2f} times the multiplications / additions of Turney, Mudge & Lee 1980 "
        f"on Newton-Euler, {ratios[0]:.0f} / {ratios[1]:.0f} times on Lagrange-Euler",
        reason=f"Totals at n = {SIX} without the control law. On Lagrange-Euler it is another order in n.",
        rule=SLIGHTLY,
        evidence={"ratios": ratios},
    )


def machine_claims(tables: Rivals) -> list[Claim]:
    newton, lagrange = tables.newton.milliseconds(), tables.lagrange.milliseconds()
    period = PERIOD * 1000
    return [
        Claim(
            name="three-milliseconds",
            where="section 5",
            claim="A PDP-11/45 computes a set point in approximately 3 ms",
            printed="3 ms",
            measured=f"{newton:.2f} ms",
            reason=f"{tables.newton.multiplications} multiplications of {MULTIPLY} us and {tables.newton.additions} "
            f"additions of {ADD} us (Table 2, n = {SIX}), each with a fetch of {FETCH} us; "
            f"{tables.newton.milliseconds(0):.2f} ms without fetches, {tables.newton.milliseconds(2):.2f} ms with two. "
            "Sines and cosines are not in it.",
            rule=MILLISECONDS,
            evidence={"milliseconds": newton},
        ),
        Claim(
            name="real-time",
            where="sections 1, 3.2 and 5",
            claim="Newton-Euler reduces the time so that real-time control is possible; on the complete Lagrangian "
            "model it is difficult if not impossible",
            printed=f"sampling every {period:g} ms",
            measured=f"{newton:.2f} ms on Newton-Euler, {lagrange:.0f} ms on Lagrange-Euler",
            reason="Both by the paper's tables and the instruction times of its PDP-11/45. No computer of today is "
            "meant.",
            rule=REAL_TIME,
            evidence={"newton": newton, "lagrange": lagrange, "period": period},
        ),
    ]


def factor_table(found: list[Rivals], times: dict[str, float]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            rival.source,
            rival.lagrange.multiplications,
            rival.lagrange.additions,
            rival.newton.multiplications,
            rival.newton.additions,
            *rival.factors,
        )
        for rival in found
    ]
    slow, fast = (times[name] for name in PAIR)
    rows.append(("time of our kernels, PUMA 560 (ns a state)", slow, None, fast, None, slow / fast, None))
    return Table(
        "factor",
        f"Lagrange-Euler against Newton-Euler, n = {SIX}",
        "Operations of one torque, control law included; traced where ours. Times: one inverse dynamics in a batch of "
        f"{BATCH} states on this machine, without the law.",
        (
            "source",
            "Lagrange, multiplications",
            "Lagrange, additions",
            "Newton-Euler, multiplications",
            "Newton-Euler, additions",
            "factor, multiplications or time (-)",
            "factor, additions (-)",
        ),
        tuple(rows),
    )


def machine_table(found: list[Rivals]) -> Table:
    cheapest = with_law("", *operation_count(puma(), DEFAULT_FORMULATION)[:2])
    named = [(cost.name, cost) for cost in (found[0].lagrange, found[0].newton)]
    named += [(f"{rival.source}: {rival.newton.name}", rival.newton) for rival in found[2:]]
    named.append((f"ours, PUMA 560: {DEFAULT_FORMULATION}", cheapest))
    rows: list[tuple[Cell, ...]] = [
        (name, cost.multiplications, cost.additions, *(cost.milliseconds(fetches) for fetches in range(3)))
        for name, cost in named
    ]
    return Table(
        "pdp-11",
        "A set point on the paper's PDP-11/45",
        f"{MULTIPLY} us a multiplication, {ADD} us an addition, {FETCH} us a fetch from core; control law included.",
        (
            "controller",
            "multiplications",
            "additions",
            "no fetch (ms)",
            "one fetch an instruction (ms)",
            "two fetches (ms)",
        ),
        tuple(rows),
    )
