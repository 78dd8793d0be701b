"""What a misprint costs: a formulation's own text with the line put back as it is printed, on random arms.

No second text of a recursion is kept for this: the source of the formulation is read, one line of it exchanged, and the
result run beside the original.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from tauforge.analysis.comparison import random_states, row_errors
from tauforge.formulations.serial import FORMULATIONS
from tauforge.robots.evaluate import Formula
from tauforge.studies.random_arms import random_arm, reference
from tauforge.studies.study import Claim, Table, corrected_unless

ARMS, STATES = 6, 60
HARMLESS = 1e-9  # what rounding could be
EXACT = FORMULATIONS["newton-euler"]


@dataclass(frozen=True)
class Misprint:
    """where: equation; printed and right: what it says and ought to say; what: the quantity, in words.

    formula: makes the forces as printed; None where only algebra shows the slip
    kinds:   joints of the arms it is tried on
    """

    where: str
    what: str
    printed: str
    right: str
    formula: Callable[[], Formula] | None = None
    kinds: str = "RRRRRR"

    def error(self) -> float | None:
        """Error of the forces as printed: the median of random arms and states, of the largest force in the state."""
        if self.formula is None:
            return None
        random = np.random.default_rng(0)
        wrong, errors = self.formula(), []
        for seed in range(ARMS):
            arm = random_arm(random, self.kinds)
            state = random_states(arm, STATES, seed)
            forces = [reference(formula, arm.model.parameters, *state) for formula in (wrong, EXACT)]
            errors.append(row_errors(*forces))
        return float(np.median(errors))


def as_printed(module: ModuleType, *changes: tuple[str, str]) -> dict[str, Any]:
    """The names of a formulation's module with pieces of its text exchanged, each (ours, printed) and found once."""
    source = inspect.getsource(module)
    for ours, printed in changes:
        if source.count(ours) != 1:
            raise LookupError(f"{module.__name__}: expected {ours!r} once, got it {source.count(ours)} times")
        source = source.replace(ours, printed)
    names: dict[str, Any] = {"__name__": f"{module.__name__} as printed"}
    exec(compile(source, names["__name__"], "exec"), names)
    return names


def misprinted(module: ModuleType, *changes: tuple[str, str]) -> Callable[[], Formula]:
    """`inverse_dynamics` of the module, as printed."""

    def make() -> Formula:
        formula: Formula = as_printed(module, *changes)["inverse_dynamics"]
        return formula

    return make


def misprint_results(misprints: tuple[Misprint, ...], name: str, title: str) -> tuple[list[Claim], Table]:
    """A claim for each misprint that can be run, and a table of all."""
    claims, rows = [], []
    for misprint in misprints:
        error = misprint.error()
        rows.append((misprint.where, misprint.what, misprint.printed, misprint.right, error))
        if error is not None:
            claims.append(
                Claim(
                    misprint.where,
                    misprint.what[0].upper() + misprint.what[1:],
                    misprint.printed,
                    f"{error:.2g} of the largest force",
                    corrected_unless(error < HARMLESS),
                    f"It must read: {misprint.right}. The error is that of the median random arm and state.",
                )
            )
    caption = (
        f"Median error of the forces as printed, over the largest force of the state, on {ARMS} random arms with "
        f"{STATES} states each; empty where only algebra shows the slip."
    )
    columns = ("where", "quantity", "as printed", "must read", "error of the forces (-)")
    return claims, Table(name, title, caption, columns, tuple(rows))
