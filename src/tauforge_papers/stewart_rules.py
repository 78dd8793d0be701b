"""Rules that both papers on the Stewart platform are judged by: the same fault gets the same verdict."""

from __future__ import annotations

from collections.abc import Sequence

from tauforge_papers.rules import true_or_mended, true_or_not
from tauforge_papers.wording import ROUNDING


def exact(errors: Sequence[float], peak: float, rounding: float) -> bool:
    """Whether errors of forces (N) are rounding beside the largest force."""
    return max(errors) < rounding * peak


# errors: of the forces, N, one or more for each path; peak: the largest exact force, N
EQUATION = true_or_not(
    "It holds if the leg forces with this equation as printed, and everything else right, are those of the exact model "
    f"within {ROUNDING:g} of the largest force, on both paths. The paper derives it and builds on it, so that it is "
    "judged as an equation and not as a misprint.",
    holds=exact,
    rounding=ROUNDING,
)

# published, mended: errors of the forces, N, of the whole model; peak: the largest exact force, N; under_load: error of
# the mended model beside the largest force, with external forces and moments
MODEL = true_or_mended(
    "It holds if the leg forces of the whole model, its misprints mended, are those of the exact model within "
    f"{ROUNDING:g} of the largest force, on both paths; with a correction if they are so once the named equations are "
    "corrected. Since no external force acts on the paths, the corrected model must also be exact for random platforms "
    "under random external forces and moments.",
    holds=lambda published, mended, peak, under_load, rounding: (
        exact(published, peak, rounding) and under_load < rounding
    ),
    corrected=lambda published, mended, peak, under_load, rounding: (
        exact(mended, peak, rounding) and under_load < rounding
    ),
    rounding=ROUNDING,
)
