"""Published models of a robot that simplify: what each of them has wrong, as data."""

from __future__ import annotations

from typing import NamedTuple


class Simplification(NamedTuple):
    """A published model that has one thing wrong and everything else right.

    name:        what is wrong in it
    source:      where it is printed
    model:       the formulation that has it
    corrections: what is put right in that formulation
    """

    name: str
    source: str
    model: str
    corrections: tuple[str, ...]
