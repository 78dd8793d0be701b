"""How a study lists what its paper consists of: every numbered equation, figure, table and algorithm.

The place of an equation in our source is found by its citation (see `citations`).
"""

from __future__ import annotations

from tauforge_papers.report.study import Item, Standing

SCHEMATIC = "A schematic, which asserts nothing. Ours is drawn from a model."  # remark on such figures


def equations(
    numbers: str, what: str, judged_by: tuple[str, ...] = (), remark: str = "", standing: Standing = ""
) -> tuple[Item, ...]:
    """Several equations of which the same is to be said. numbers: parted by blanks."""
    return tuple(
        Item("equation", number, what, judged_by, remark=remark, standing=standing) for number in numbers.split()
    )
