"""Newton-Euler expanded into Lagrange, equation by equation, on anybody's arm: sections 4 of Turney and of Lee."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.summary import summarised
from tauforge_papers.expansion_lines import Lines

PAPERS = ("turney1980", "lee1982")
Side = Callable[[int], Any]


class Equation(NamedTuple):
    """A numbered equation: its left side and its lines for link i, each as it must read.

    printed: the lines as printed, where that differs; none of them if the print has no meaning
    slip:    what the print has wrong, in words
    reading: the slip may be one of the machine that read our text
    outer:   it is about link i and the next one, and has no case for the last link
    torque:  it is about torques, which are small where moments balance
    """

    left: Side
    right: tuple[Side, ...]
    printed: tuple[Side, ...] | None = None
    slip: str = ""
    reading: bool = False
    outer: bool = False
    torque: bool = False


@summarised
@with_field_docs
class DerivationStep(NamedTuple):
    """An equation with numbers, for every link of an arm.

    equation:         its number in the paper
    left:             (links, ...) left side
    corrected:        (lines, links, ...) right sides as they must read
    as_printed:       (lines, links, ...) as printed; no lines if the print has no meaning
    error_corrected:  norm of the largest difference of a line from the left side, over the larger norm of both
    error_as_printed: the same as printed; NaN if the print has no meaning
    slip:             what the print has wrong; "" if nothing
    reading:          whether the slip may be one of the machine that read our text
    """

    equation: str
    left: Array
    corrected: Array
    as_printed: Array
    error_corrected: float
    error_as_printed: float
    slip: str
    reading: bool


def derivation_steps(
    arm: SerialArm, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, paper: str = "turney1980"
) -> dict[str, DerivationStep]:
    """The expansion of Newton-Euler into Lagrange for an arm in one state: number of an equation -> its two sides.

    q, qd, qdd: (n,) rad and its rates; for "lee1982" qdd is what eq. 4.4 puts in the place of the accelerations
    paper:      "turney1980" (eqs 4.1-4.34, then 2.11) or "lee1982" (eqs 4.5-4.41, then 4.1; by Lee's own print)

    All joints turn: the papers differentiate rotations alone. Friction and rotors of the arm are left out, as there.
    Gravity may have any direction; g z_0 stands for its opposite. Dots, squares of derivatives and confused i and j,
    which the machine that read our texts loses everywhere, are put back. Errors of torques are over the moments at the
    joints where those are larger. An arm with one joint has no equations about the next link.
    Identities: every `error_corrected` is rounding, and the last left side is inverse_dynamics(q, qd, qdd) of the
    arm without friction and rotors.
    Sources: Turney, Mudge & Lee 1980, section 4; Lee, Chung, Mudge & Turney 1982, section 4.
    """
    if paper not in PAPERS:
        raise ModelError(f"no derivation of {paper!r}", field="paper", remedy=f"The papers are {', '.join(PAPERS)}")
    x = Lines(arm, q, qd, qdd)
    table: dict[str, Equation] = import_module(f"tauforge_papers.{paper}.expansion").equations(x)
    moments = float(np.linalg.norm(x.own))
    return {
        number: _evaluated(number, equation, range(1, x.n + (not equation.outer)), moments)
        for number, equation in table.items()
        if x.n > 1 or not equation.outer
    }


def _evaluated(number: str, equation: Equation, links: range, moments: float) -> DerivationStep:
    left = np.array([equation.left(i) for i in links])
    corrected, printed = (
        np.array([[line(i) for i in links] for line in lines]).reshape(len(lines), *left.shape)
        for lines in (equation.right, equation.right if equation.printed is None else equation.printed)
    )
    least = moments if equation.torque else 0.0
    right, false = (_error(left, lines, least) for lines in (corrected, printed))
    return DerivationStep(number, left, corrected, printed, right, false, equation.slip, equation.reading)


def _error(left: Array, lines: Array, least: float) -> float:
    if not len(lines):
        return float("nan")
    sizes = [max(float(np.linalg.norm(left)), float(np.linalg.norm(line)), least) for line in lines]
    return max(float(np.linalg.norm(line - left)) / (size or 1.0) for line, size in zip(lines, sizes, strict=True))
