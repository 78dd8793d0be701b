"""What a misprint costs: a formulation's own source with the line put back as it is printed, on random arms.

No second implementation of a recursion is kept for this: the source of the formulation is read, one line of it
exchanged, and the result run beside the original.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from tauforge.analysis.comparison import random_states, row_errors
from tauforge.evaluation.functions import Formula
from tauforge.formulations.serial import INVERSE_DYNAMICS
from tauforge_papers.random_arms import random_arm, reference
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import not_judged, true_or_mended
from tauforge_papers.wording import ROUNDING

ARMS, STATES = 6, 60
WITNESS = INVERSE_DYNAMICS["orthogonal-complement"]
RULE = true_or_mended(
    f"It holds if the forces as printed are those of an independent formulation, within {ROUNDING:g} of the largest, "
    "and with a correction if those of the mended line are.",
    holds=lambda printed, mended, rounding: printed < rounding,
    corrected=lambda printed, mended, rounding: mended < rounding,
    rounding=ROUNDING,
)


class Trial(NamedTuple):
    """Errors of the forces, over the largest force of the state: of the line as printed, and mended.

    newtons: largest error as printed along each path of the paper, where it has paths
    """

    printed: float
    mended: float
    newtons: tuple[float, ...] = ()


@dataclass(frozen=True)
class Misprint:
    """where: equation; printed and right: what it says and ought to say; what: the quantity, in words.

    name:    of the claim; empty where there is none
    trial:   runs the line as printed and mended; None where only algebra shows the slip
    reading: why the machine that read our text of the paper may be at fault instead of the paper; then nothing is held
             against it
    """

    where: str
    what: str
    printed: str
    right: str
    name: str = ""
    trial: Callable[[], Trial] | None = None
    reading: str = ""


def on_random_arms(
    module: ModuleType, *changes: tuple[str, str], kinds: str = "RRRRRR", witness: Formula = WITNESS
) -> Callable[[], Trial]:
    """A trial of a module's `inverse_dynamics`, printed and mended, each against another formulation: random arms."""
    return formulas_on_random_arms(misprinted(module, *changes), module.inverse_dynamics, kinds, witness)


def formulas_on_random_arms(
    printed: Callable[[], Formula], mended: Formula, kinds: str = "RRRRRR", witness: Formula = WITNESS
) -> Callable[[], Trial]:
    """The same for two formulas. kinds: of the arms' joints. The median error as printed, the largest mended."""

    def trial() -> Trial:
        random = np.random.default_rng(0)
        wrong, errors = printed(), []
        for seed in range(ARMS):
            arm = random_arm(random, kinds)
            state = random_states(arm, STATES, seed)
            forces = [reference(formula, arm.model.parameters, *state) for formula in (wrong, mended, witness)]
            errors.append([row_errors(forces[k], forces[2]) for k in (0, 1)])
        as_printed, as_mended = np.array(errors).swapaxes(0, 1)
        return Trial(float(np.median(as_printed)), float(as_mended.max()))

    return trial


def as_printed(module: ModuleType, *changes: tuple[str, str]) -> dict[str, Any]:
    """The names of a formulation's module with pieces of its source exchanged, each (ours, printed) and found once."""
    source = inspect.getsource(module)
    for ours, printed in changes:
        if source.count(ours) != 1:
            raise LookupError(f"{module.__name__}: expected {ours!r} once, got it {source.count(ours)} times")
        source = source.replace(ours, printed)
    names: dict[str, Any] = {"__name__": f"{module.__name__} as printed"}
    exec(compile(source, names["__name__"], "exec"), names)
    return names


class Line(NamedTuple):
    """A piece of a module's code and what it would be as printed. It stands once in the module."""

    module: ModuleType
    ours: str
    printed: str


def printed_formula(module: ModuleType, *lines: Line, shared: tuple[ModuleType, ...] = ()) -> Formula:
    """`inverse_dynamics` of the module with lines as printed, of the module itself or of those it imports from.

    shared: the modules that it imports from and that may be changed, in the order of imports
    """
    made: dict[ModuleType, dict[str, Any]] = {}
    for part in dict.fromkeys((*shared, module)):
        names = as_printed(part, *((line.ours, line.printed) for line in lines if line.module is part))
        for name, value in list(names.items()):
            if isinstance(value, ModuleType) and value in made:
                names[name] = SimpleNamespace(**made[value])
            for other, its_names in made.items():
                if getattr(value, "__module__", None) == other.__name__ and name in its_names:
                    names[name] = its_names[name]
        made[part] = names
    if strange := [line.module.__name__ for line in lines if line.module not in made]:
        raise LookupError(f"expected lines of {[part.__name__ for part in made]}, got {strange}")
    formula: Formula = made[module]["inverse_dynamics"]
    return formula


def misprinted(module: ModuleType, *changes: tuple[str, str]) -> Callable[[], Formula]:
    """`inverse_dynamics` of the module, as printed."""

    def make() -> Formula:
        formula: Formula = as_printed(module, *changes)["inverse_dynamics"]
        return formula

    return make


def misprint_results(
    misprints: tuple[Misprint, ...],
    name: str,
    title: str,
    tried_on: str = f"{ARMS} random arms with {STATES} states each",
    paths: tuple[str, ...] = (),
) -> tuple[list[Claim], Table]:
    """A claim for each misprint that can be run or that may be one of reading, and a table of all.

    paths: names of those of which the trials give newtons
    """
    claims, rows = [], []
    for misprint in misprints:
        error = misprint.trial() if misprint.trial else None
        cost = None if error is None else error.printed
        rows.append(
            (
                misprint.where,
                misprint.what,
                misprint.printed,
                misprint.right,
                cost,
                *(error.newtons if error is not None else [None] * len(paths)),
                "maybe" if misprint.reading else "no",
            )
        )
        if error is not None or misprint.reading:
            claims.append(_claim(misprint, error))
    caption = (
        f"Median error of the forces as printed, over the largest force of the state, on {tried_on}; empty where only "
        "algebra shows the slip."
    )
    if paths:
        caption += " Newtons: the largest error of any force along the path, for the robot of the paper."
    columns = (
        "where",
        "quantity",
        "as printed",
        "must read",
        "error of the forces (-)",
        *(f"{path} (N)" for path in paths),
        "error of the reading machine",
    )
    return claims, Table(name, title, caption, columns, tuple(rows))


def _claim(misprint: Misprint, error: Trial | None) -> Claim:
    measured = "not run" if error is None else f"forces wrong by {error.printed:.2g} of the largest force"
    if error is not None and error.newtons:
        measured += f"; up to {max(error.newtons):.3g} N on the paths of the paper"
    return Claim(
        name=misprint.name,
        where=misprint.where,
        claim=misprint.what[0].upper() + misprint.what[1:],
        printed=misprint.printed,
        measured=measured,
        reason=f"It must read: {misprint.right}.",
        rule=not_judged(misprint.reading) if misprint.reading else RULE,
        evidence={} if misprint.reading or error is None else {"printed": error.printed, "mended": error.mended},
    )
