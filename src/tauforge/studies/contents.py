"""What a paper consists of: every numbered equation, figure, table and algorithm, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SCHEMATIC = "A schematic, which asserts nothing. Ours is drawn from a model."  # remark on such figures
Kind = Literal["equation", "algorithm", "figure", "table"]


@dataclass(frozen=True)
class Item:
    """One numbered thing of a paper. Its place in our source is found by its citation (see `citations`).

    number:    as printed: "16", "7.38d"
    what:      in words
    judged_by: names of the claims whose verdict covers it
    shown_as:  name of our figure or table that shows it, for figures and tables
    remark:    why there is no citation, no claim or no figure, where that is so
    """

    kind: Kind
    number: str
    what: str
    judged_by: tuple[str, ...] = ()
    shown_as: str = ""
    remark: str = ""


def equations(numbers: str, what: str, judged_by: tuple[str, ...] = (), remark: str = "") -> tuple[Item, ...]:
    """Several equations of which the same is to be said. numbers: parted by blanks."""
    return tuple(Item("equation", number, what, judged_by, remark=remark) for number in numbers.split())
