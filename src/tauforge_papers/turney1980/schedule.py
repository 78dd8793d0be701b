"""Turney's Table 5: the terms of the modified Newton-Euler set, worked side by side, a processor for each term.

A processor does the multiplications and additions of its term one after another, an operation a step. The table has
five terms alone, then n outward stages and n inward stages; the terms of a stage begin together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tauforge.analysis.complexity import Polynomial, interpolated
from tauforge.analysis.schedules import Task, scheduled
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge_papers import published_counts as published
from tauforge_papers.count_tables import SIX, breakdown
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import not_judged, true_or_mended

SIZES = range(4, 10)


Terms = dict[str, Task]  # in an order in which they can be worked
Times = dict[str, int]  # step after which a term is known


class Listed:
    """Terms that are added to a list; what a term needs is given by name, and left out where no term has the name."""

    def __init__(self) -> None:
        self.terms: Terms = {}
        self._place: dict[str, int] = {}

    def __call__(self, name: str, multiplications: int, additions: int, *needs: str) -> None:
        places = tuple(self._place[need] for need in needs if need in self._place)
        self._place[name], self.terms[name] = len(self.terms), Task(name, multiplications, additions, places)


def terms(n: int, modified: bool = True) -> Terms:
    """The rows of Table 4 for n links, or of Table 3, split where another term needs a part of a row.

    a_i is R a_{i-1} ("carried"), then A_i r_i and the sum; m_i a-bar_i is A_i (r-bar_i + r_i) ("swept"), as in eq. 5.1,
    then the sum with what is carried, times m_i. f_i is R f_{i+1} ("passed"), then a sum. The terms of n_i are added
    one by one, that of R n_{i+1} last. Base at rest, no force at the hand. Table 3 has A_i r-bar_i + a_i in the place
    of A_i (r-bar_i + r_i) + R a_{i-1}, and I_i alpha_i + omega_i x (I_i omega_i) in that of Tr{A_i K_i sigma'}.
    """
    term = Listed()
    for i in range(1, n + 1):
        term(f"omega {i}", 9, 7, f"omega {i - 1}")
        term(f"alpha {i}", 9, 9, f"alpha {i - 1}", f"omega {i - 1}")
        term(f"A {i}", 6, 9, f"omega {i}", f"alpha {i}")
        term(f"carried {i}", 9, 6, f"a {i - 1}")
        term(f"a {i}", 9, 9, f"A {i}", f"carried {i}")
        term(f"swept {i}", 9, 6, f"A {i}")
        term(f"m a-bar {i}", 3, 3, f"swept {i}", f"carried {i}" if modified else f"a {i}")
        if modified:
            term(f"inertia {i}", 6, 3, f"A {i}")
        else:
            term(f"I alpha {i}", 9, 6, f"alpha {i}")
            term(f"omega x I omega {i}", 15, 9, f"omega {i}")
            term(f"inertia {i}", 0, 3, f"I alpha {i}", f"omega x I omega {i}")
        term(f"r x m a-bar {i}", 6, 3, f"m a-bar {i}")
    for i in range(n, 0, -1):
        last = i == n
        if not last:
            term(f"passed {i}", 9, 6, f"f {i + 1}")
            term(f"R n {i}", 9, 6, f"n {i + 1}")
            term(f"r x R f {i}", 6, 3, f"passed {i}")
        term(f"f {i}", 0, 0 if last else 3, f"m a-bar {i}", f"passed {i}")
        term(f"own moment {i}", 0, 3, f"inertia {i}", f"r x m a-bar {i}")
        term(f"moment {i}", 0, 0 if last else 3, f"own moment {i}", f"r x R f {i}")
        term(f"n {i}", 0, 0 if last else 3, f"moment {i}", f"R n {i}")
    return term.terms


def whole_rows(n: int, modified: bool = True) -> Terms:
    """The rows of Table 4 for n links, or of Table 3, none of them split: who waits for a part waits for the row.

    The row of a_i has R a_i for the next link, so that n - 1 links have it in Table 4, as printed. In Table 3 a-bar_i
    waits for a_i, m_i a-bar_i is in the row of f_i, and "add n" has one sum of vectors more.
    """
    term = Listed()
    for i in range(1, n + 1):
        term(f"omega {i}", 9, 7, f"omega {i - 1}")
        term(f"alpha {i}", 9, 9, f"alpha {i - 1}", f"omega {i - 1}")
        term(f"A {i}", 6, 9, f"omega {i}", f"alpha {i}")
        if i < n or not modified:
            term(f"a {i}", 18, 15, f"A {i}", f"a {i - 1}")
        if modified:
            term(f"m a-bar {i}", 12, 9, f"A {i}", f"a {i - 1}")
            term(f"inertia {i}", 6, 3, f"A {i}")
        else:
            term(f"m a-bar {i}", 9, 9, f"A {i}", f"a {i}")
            term(f"I alpha {i}", 9, 6, f"alpha {i}")
            term(f"inertia {i}", 15, 9, f"omega {i}")
        term(f"r x m a-bar {i}", 6, 3, f"m a-bar {i}")
    more = 0 if modified else 3
    term(f"n {n}", 0, 3 + more, f"inertia {n}", f"I alpha {n}", f"r x m a-bar {n}")
    for i in range(n - 1, 0, -1):
        term(f"f {i}", 9 + more, 9, f"m a-bar {i}", f"f {i + 1}", f"m a-bar {i + 1}")
        term(f"r x R f {i}", 6, 3, f"f {i}")
        term(f"R n {i}", 9, 6, f"n {i + 1}")
        moments = ("inertia", "I alpha", "r x m a-bar", "r x R f", "R n")
        term(f"n {i}", 0, 9 + more, *(f"{part} {i}" for part in moments))
    return term.terms


def stages(n: int, ahead: int = 0) -> dict[str, int]:
    """The stage in which Table 5 has a term: 0-4 alone, then n outward, then n inward. ahead: links that the forces
    run ahead of the moments, inward; 0 as the table has them.
    """
    stage = {"omega 1": 0, "alpha 1": 1, "A 1": 2, "omega 2": 3, "alpha 2": 4}
    outward, inward = 4, 5 + n
    for i in range(1, n + 1):
        stage |= {f"{name} {i + 2}": outward + i for name in ("omega", "alpha")} | {f"A {i + 1}": outward + i}
        stage |= {f"{name} {i}": outward + i for name in ("carried", "a", "swept", "m a-bar", "inertia")}
        stage[f"r x m a-bar {i}"] = outward + i + 1  # one link behind; the last beside the first of the inward stages
        for name in ("own moment", "moment", "n", "R n", "r x R f"):
            stage[f"{name} {i}"] = inward + n - i
        for name in ("passed", "f"):
            stage[f"{name} {i}"] = max(inward, inward + n - i - ahead)
    return stage


def stage_ends(n: int) -> list[int]:
    """The step with which every stage ends, as Table 5 prints them."""
    *alone, outward, inward = published.TURNEY_5.rows
    lengths = [int(row.multiplications(0) + row.additions(0)) for row in alone]
    for row in (outward, inward):
        lengths += n * [int(row.multiplications(1) + row.additions(1))]
    return [sum(lengths[: k + 1]) for k in range(len(lengths))]


def worked(work: Terms, stage: dict[str, int] | None = None, ends: list[int] | None = None) -> Times:
    """When the terms are known, each begun as soon as what it needs is, and not before its stage begins."""
    known: Times = {}
    names = list(work)
    for name, term in work.items():
        begin = max((known[names[need]] for need in term.needs), default=0)
        if stage is not None and ends is not None and stage[name]:
            begin = max(begin, ends[stage[name] - 1])
        known[name] = begin + term.steps
    return known


def late(n: int, ahead: int = 0) -> dict[str, int]:
    """Steps by which the terms of Table 5 are known later than their stage ends; those in time are not listed."""
    stage, ends = stages(n, ahead), stage_ends(n)
    known = worked(terms(n), stage, ends)
    return {name: time - ends[stage[name]] for name, time in known.items() if time > ends[stage[name]]}


def longest_chain(work: Terms) -> tuple[int, int]:
    """Multiplications and additions of the terms that follow one another up to the last."""
    chain = scheduled(tuple(work.values())).longest_chain()
    return sum(term.multiplications for term in chain), sum(term.additions for term in chain)


def least() -> tuple[Polynomial, Polynomial]:
    """The longest chains as polynomials in n."""
    chains = [longest_chain(whole_rows(n)) for n in SIZES]
    multiplications, additions = (interpolated(list(SIZES), [chain[k] for chain in chains]) for k in (0, 1))
    return multiplications, additions


CARRIED_OUT = true_or_mended(
    "It holds if every term of Table 5 is known when its stage ends, begun with its stage and after what it needs "
    '("simultaneous steps"). It holds with a correction if that is so once the forces run one link ahead of the '
    "moments.",
    holds=lambda late, late_ahead: max(late) <= 0,
    corrected=lambda late, late_ahead: max(late_ahead) <= 0,
)
REQUIRED = not_judged(
    'The paper does not say that fewer steps are impossible ("the number of steps required"), and leaves the matter to '
    "a future report. Whether its own stages take the printed steps is judged above."
)


def schedule_claims() -> list[Claim]:
    total = published.TURNEY_5.total
    printed = f"{total.multiplications} multiplications, {total.additions} additions"
    behind = {ahead: {n: late(n, ahead) for n in SIZES} for ahead in (0, 1)}
    worst = {ahead: [float(max(found.values(), default=0)) for found in behind[ahead].values()] for ahead in behind}
    multiplications, additions = least()
    both, chain = sum(p(SIX) for p in total[1:]), sum(longest_chain(whole_rows(SIX)))
    return [
        Claim(
            name="table-5-schedule",
            where="Table 5",
            claim="The terms can be worked in the stages of the table, in the printed steps",
            printed=printed,
            measured=f"as printed, terms are late by up to {max(worst[0]):.0f} steps; with the forces one link ahead "
            f"of the moments, by {max(worst[1]):.0f}",
            reason="The schedule was built from the rows of Table 4, a processor for each term. The stages last as "
            "printed because a_i is the longest term outward, and R n_{i+1} with two sums the longest inward. "
            "r_i x R f_{i+1} waits for R f_{i+1}, so f_i must be formed a stage before n_i; the table has both in one "
            "stage. That works without a force at the hand. The projection on the joint's axis, eq. 3.21, is not in "
            "the table.",
            rule=CARRIED_OUT,
            evidence={"late": worst[0], "late_ahead": worst[1]},
        ),
        Claim(
            name="table-5-required",
            where="section 6, Table 5",
            claim="The printed steps are required when the concurrency is accounted for",
            printed=printed,
            measured=f"{multiplications} multiplications, {additions} additions in the longest chain of whole rows",
            reason=f"That is {chain} steps against {both} for n = {SIX}. omega_i, alpha_i and the terms of the links "
            "after them need not wait for one another at the start, and the last link has nothing to add to its own "
            f"moment. With rows split into their terms the chain takes {sum(longest_chain(terms(SIX)))} steps.",
            rule=REQUIRED,
        ),
    ]


def table_5() -> Table:
    """As printed, with the longest chain of the same terms."""
    own = published.Row("longest chain of whole rows of Table 4", *least())
    caption = "Steps when every term has a processor of its own, an operation a step."
    return replace(breakdown("table-5", published.TURNEY_5, (own,)), caption=caption)


def schedule_figure() -> Figure:
    """When the terms of six links are known."""
    known = worked(terms(SIX), stages(SIX, 1), stage_ends(SIX)), worked(terms(SIX))
    panels = []
    for title, times in zip(("In the stages of Table 5", "As soon as possible"), known, strict=True):
        lines = []
        for name in ("omega", "A", "a", "m a-bar", "f", "n"):
            links = np.arange(1, SIX + 1)
            lines.append(Line(name, links, np.array([times[f"{name} {i}"] for i in links]), "points"))
        panels.append(ChartPanel(title, "link", "steps until it is known (-)", tuple(lines)))
    return Figure(
        "schedule",
        "Table 5: when the terms are known",
        f"{SIX} links, forces one link ahead of the moments, a processor for each term, an operation a step. A is the "
        "matrix A_i of section 5, a and a-bar are the accelerations of the origin and of the mass centre.",
        tuple(panels),
        columns=2,
    )
