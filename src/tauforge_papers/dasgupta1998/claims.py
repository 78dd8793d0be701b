"""What Dasgupta & Mruthyunjaya 1998 assert, beside what we measured."""

from __future__ import annotations

from tauforge_papers.dasgupta1998 import judged_cost, judged_forces, judged_model, judged_singular
from tauforge_papers.dasgupta1998.measured import Measured
from tauforge_papers.report.study import Claim


def claims(m: Measured) -> tuple[Claim, ...]:
    return tuple(
        claim for part in (judged_model, judged_cost, judged_forces, judged_singular) for claim in part.claims(m)
    )
