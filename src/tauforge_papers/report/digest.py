"""What a reader takes from one paper: a row of the first page's table, and the claims that are shown there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Digest:
    """use: what to use of the package; correct: what of the paper to correct, and where.

    cost:   name of the claim that says what it costs
    claims: names of the ten to fifteen claims that matter most
    """

    use: str
    correct: str
    cost: str
    claims: tuple[str, ...]
