"""Operation counts of each line of a formulation: the papers' breakdown tables, made from the source that runs.

The general arm is evaluated over counting scalars; every operation is charged to the line of the formulation's own file
that caused it, however deep in the algebra it happened. What arms share with other trees of bodies counts as their own.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from collections import Counter, defaultdict
from typing import NamedTuple

from tauforge.analysis.complexity import check, general_arm
from tauforge.analysis.polynomial import Polynomial, interpolated
from tauforge.class_tools import with_field_docs
from tauforge.formulations.serial import DEFAULT_FORMULATION, INVERSE_DYNAMICS
from tauforge.formulations.trees import frames, recursion
from tauforge.tracing.counting import Counted, operations

SIZES = (4, 5, 6, 7, 8)


@with_field_docs
class LineCost(NamedTuple):
    """What one line of a formulation costs, as functions of the number of joints n.

    line:            its number in the file
    text:            its source
    multiplications: a polynomial in n
    additions:       a polynomial in n
    """

    line: int
    text: str
    multiplications: Polynomial
    additions: Polynomial


Line = tuple[str, int]  # file and number
Ledger = dict[Line, Counter[str]]


class Charged(Counted):
    """Charges every operation to a line of some files, the innermost of those that are on the way to it."""

    __slots__ = ("files", "ledger")

    def __init__(self, ledger: Ledger, *files: str, constant: bool = False) -> None:
        super().__init__(Counter(), constant)
        self.ledger, self.files = ledger, files

    def _tick(self, name: str, constant: bool) -> Charged:
        if not constant:
            frame = sys._getframe(1)
            while frame.f_code.co_filename not in self.files:
                if frame.f_back is None:
                    raise LookupError(f"{name} was not called from {', '.join(self.files)}")
                frame = frame.f_back
            self.ledger[frame.f_code.co_filename, frame.f_lineno][name] += 1
        return Charged(self.ledger, *self.files, constant=constant)


def ledger_of(formulation: str, n: int, *files: str) -> Ledger:
    """Operations by line, for the general arm of n joints."""
    ledger: Ledger = defaultdict(Counter)
    arm = general_arm(n, lambda _: Charged(ledger, *files, constant=True), formulation == DEFAULT_FORMULATION)
    INVERSE_DYNAMICS[formulation](arm, *([Charged(ledger, *files) for _ in range(n)] for _ in range(3)))
    return ledger


def line_costs(formulation: str) -> list[LineCost]:
    """Lines of the source that cost anything, with their cost as written for the general arm of n >= 4 joints.

    Identity: the costs add up to `general_operation_count(n, formulation).as_written`.
    """
    check(formulation)
    files = [inspect.getfile(where) for where in (INVERSE_DYNAMICS[formulation], frames, recursion)]
    ledgers = [ledger_of(formulation, n, *files) for n in SIZES]
    result = []
    for file, line in sorted(set().union(*ledgers), key=lambda place: (files.index(place[0]), place[1])):
        counts = [operations(ledger[file, line]) for ledger in ledgers]
        multiplications = interpolated(list(SIZES), [c.multiplications for c in counts])
        additions = interpolated(list(SIZES), [c.additions for c in counts])
        if any(multiplications.coefficients) or any(additions.coefficients):
            result.append(LineCost(line, linecache.getline(file, line).strip(), multiplications, additions))
    return result
