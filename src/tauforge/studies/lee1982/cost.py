"""What Lee's two controllers cost: operations, the PDP-11's milliseconds, and the time of our own kernels."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.analysis import published_counts as published
from tauforge.analysis.complexity import general_cost_of, general_operation_count, operation_count
from tauforge.formulations.serial import DEFAULT_FORMULATION
from tauforge.studies.count_tables import SIX, adds_up, breakdown, our_rows
from tauforge.studies.lee1982.control import PERIOD, puma
from tauforge.studies.study import Cell, Claim, Table, corrected_unless, holds_if, judged
from tauforge.studies.timing import BATCH, nanoseconds
from tauforge.studies.turney1980.counts import lagrange_explicit

EXTREME = 10  # times the operations and the time
MULTIPLY, ADD, FETCH = 3.3, 0.5, 0.45  # us: section 5, from the manufacturer's sheet
LAW = published.LEE_2.rows[-1]  # qdd_d + Kv e' + Kp e, which both controllers pay
PAIR = ("lagrange-euler", "newton-euler")


class Cost(NamedTuple):
    """Of one torque of one controller."""

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


def rivals() -> list[Rivals]:
    """As printed; with every coefficient apart, as Lee evaluates them, but shared; and our texts."""
    explicit = general_cost_of(lagrange_explicit)
    multiply, add = SIX**2 * (SIX + 2), SIX**2 * (SIX + 1)  # tau = D (..) + H + G, the last row of Table 1
    general = [with_law(name, *general_operation_count(SIX, name)[:2]) for name in PAIR]
    own = [with_law(name, *operation_count(puma(), name)[:2]) for name in PAIR]
    apart = with_law("D, H, G apart", explicit.multiplications + multiply, explicit.additions + add)
    return [
        Rivals(
            "Tables 1 and 2",
            printed("Table 1, Lagrange-Euler", published.LEE_1),
            printed("Table 2, Newton-Euler", published.LEE_2),
        ),
        Rivals("ours, general arm, every coefficient of D and H apart", apart, general[1]),
        Rivals("ours, general arm, sums first", *general),
        Rivals("ours, PUMA 560", *own),
    ]


def costs() -> tuple[list[Claim], list[Table]]:
    found, times = rivals(), {name: nanoseconds(puma(), name) for name in PAIR}
    claims = [adds_up("Table 1", published.LEE_1), adds_up("Table 2", published.LEE_2)]
    claims += factor_claims(found, times) + machine_claims(found[0])
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
            "section 5",
            "The controller on Lagrange-Euler takes about 100 times the operations of the one on Newton-Euler",
            "about 100",
            f"{tables.factors[0]:.0f} (multiplications), {tables.factors[1]:.0f} (additions)",
            corrected_unless(all(abs(factor / 100 - 1) < 0.1 for factor in tables.factors)),
            f"From the paper's own Tables 1 and 2 at n = {SIX}.",
        ),
        Claim(
            "section 3.1",
            "The Lagrangian formulation is extremely inefficient as compared with other formulations",
            "extremely",
            f"{own.factors[0]:.1f} / {own.factors[1]:.1f} in operations, PUMA; "
            f"{general.factors[0]:.1f} / {general.factors[1]:.1f} in operations, general arm",
            judged(min(*own.factors, ratio) > EXTREME, min(*own.factors, ratio) > 1),
            f"True of the paper's way, {tables.factors[0]:.0f} / {tables.factors[1]:.0f} by its tables: it takes every "
            "Tr{d2T J dT'} apart, order n^4. Summed before the products, order n^3 (Turney's appendix), and compiled, "
            "the two are this close.",
            timed=f"{ratio:.1f} in time, PUMA",
        ),
    ]


def machine_claims(tables: Rivals) -> list[Claim]:
    newton, lagrange = tables.newton.milliseconds(), tables.lagrange.milliseconds()
    period = PERIOD * 1000
    return [
        Claim(
            "section 5",
            "A PDP-11/45 computes a set point in approximately 3 ms",
            "3 ms",
            f"{newton:.2f} ms",
            holds_if(round(newton) == 3),
            f"{tables.newton.multiplications} multiplications of {MULTIPLY} us and {tables.newton.additions} additions "
            f"of {ADD} us (Table 2, n = {SIX}), each with a fetch of {FETCH} us; {tables.newton.milliseconds(0):.2f} "
            f"ms without fetches, {tables.newton.milliseconds(2):.2f} ms with two. Sines and cosines are not in it.",
        ),
        Claim(
            "section 5",
            f"Real-time control every {period:g} ms is possible on Newton-Euler, and was not on Lagrange",
            f"< {period:g} ms",
            f"{newton:.2f} ms; on Lagrange {lagrange:.0f} ms",
            holds_if(newton < period < lagrange),
            "Both by the paper's tables and instruction times.",
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
