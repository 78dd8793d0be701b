"""B. Dasgupta, T. S. Mruthyunjaya, Mechanism and Machine Theory 33 (1998): the study."""

from __future__ import annotations

from tauforge_papers.dasgupta1998 import misprints
from tauforge_papers.dasgupta1998.claims import claims
from tauforge_papers.dasgupta1998.contents import CONTENTS
from tauforge_papers.dasgupta1998.figures import figures
from tauforge_papers.dasgupta1998.measured import Measured
from tauforge_papers.dasgupta1998.planning import planning_avoids
from tauforge_papers.dasgupta1998.schematics import schematics
from tauforge_papers.dasgupta1998.spherical import spherical_legs
from tauforge_papers.dasgupta1998.tables import tables
from tauforge_papers.report.progress import Progress, nothing
from tauforge_papers.report.study import Study

PAPER = (
    "B. Dasgupta, T. S. Mruthyunjaya, A Newton-Euler formulation for the inverse dynamics of the Stewart platform "
    "manipulator, Mechanism and Machine Theory 33 (1998) 1135-1152"
)


def study(progress: Progress = nothing) -> Study:
    """Figures 1 to 10, and every claim that can be measured."""
    measured = Measured()
    progress("leg forces along paths I, II and III")
    drawn = figures(measured)
    progress("tables of assumptions, operations, parts and inertias")
    made = tables(measured)
    progress("slips in the printed equations")
    slips, table = misprints.results()
    progress("path III planned anew")
    planned, path = planning_avoids()
    progress("verdicts")
    judged = (*claims(measured), spherical_legs(), planned, *slips)
    slow, fast = measured.costs.of("Dasgupta & Mruthyunjaya 1998 as published")
    summary = (
        "The elimination and the platform's equations are right; three assumptions about the legs are wrong. As "
        f"published (misprints mended) a leg force is wrong by up to {slow:.1f} N on the slow path and {fast:.1f} N "
        "on the fast one; with the three corrected the model is exact. The legs' share of the forces is as large as "
        "the paper says, but on the slow path it is their weight and not their inertia. The singularity of path III is "
        "confirmed; that forces follow the condition number is true near it and not elsewhere. Our copy of the paper "
        "is machine-read and has the captions of its figures only: what was compared are its sentences and numbers, "
        "not its curves."
    )
    return Study("dasgupta1998", PAPER, summary, judged, (*schematics(), *drawn, path), (*made, table), CONTENTS)
