"""The figures of Dasgupta & Mruthyunjaya 1998 for a platform and a motion of anybody's."""

from __future__ import annotations

import numpy as np

from tauforge.analysis.stewart_curves import (
    LegForceParts,
    broken,
    force_panels,
    fraction_panels,
    leg_force_parts,
    part_panels,
    sign_changes,
)
from tauforge.analysis.stewart_forces import crossings
from tauforge.charts.along_time import TIME, Curve, panels_along
from tauforge.charts.figure import ChartPanel, Figure, Line, Style
from tauforge.motion import CsvMotion
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.dasgupta1998.leg_forces import MODEL

SEARCHED = 1000  # samples between which a singular pose is looked for, at least
BEYOND_BULK = 3.0  # times the force that nine in ten are below: what is shown where a singular pose is crossed
WIDE = 1e3  # condition number from which on its axis is logarithmic


def figures(platform: StewartPlatform, motion: CsvMotion) -> tuple[Figure, ...]:
    """Figs 4 to 10, and two that the paper does not have."""
    t, states = motion.times, motion.samples
    paper, exact = (leg_force_parts(platform, *states, model=model) for model in (MODEL, "exact"))
    crossed = crossings(
        platform, lambda s: motion.sample(s).position, 0.0, motion.duration, samples=max(SEARCHED, len(t))
    )
    at = [float(t[0] + one.time) for one in crossed]
    marks = tuple((x, "") for x in at)
    bulk = BEYOND_BULK * float(np.quantile(np.abs(paper.total).max(axis=1), 0.9))
    cut = f" Cut at {bulk:.2g} N: det H = 0 at {', '.join(f'{x:.4g}' for x in at)} s (broken lines)." if at else ""
    shown = (-bulk, bulk) if at else None
    models: tuple[tuple[str, LegForceParts, Style], ...]
    models = (("paper's model", paper, "line"), ("exact model", exact, "dotted"))
    fractions = [(name, broken(one.fraction, sign_changes(one.total), one.total), style) for name, one, style in models]
    error: list[Curve] = [("paper's model less exact", paper.total - exact.total, "line")]
    condition = platform.condition_number(states.position)
    panel = ChartPanel(
        "",
        TIME,
        "condition number of H",
        (Line("condition number", t, condition),),
        log_y=bool(at) or bool(condition.max() > WIDE),
        marks=tuple((x, "det H = 0") for x in at),
    )
    return (
        Figure(
            "leg-forces",
            "Figs 4, 7, 9: leg forces",
            f"By the paper's model: total force T, force S with massless legs and smooth joints, and D = T - S.{cut}",
            force_panels(t, paper.total, paper.massless, marks=marks, y_range=shown),
            columns=3,
        ),
        Figure(
            "fractions",
            "Figs 6, 8: fraction of dynamic forces",
            "Part of the total force that leg inertia, leg weight and friction make up; cut at -1.5 and 1.5, with gaps "
            "where the total force changes its sign.",
            fraction_panels(t, fractions),
            columns=3,
        ),
        Figure(
            "condition-number",
            "Figs 5, 10: condition number",
            "Ratio of the extreme singular values of H, moments in N m and forces in N as the paper has them.",
            (panel,),
        ),
        Figure(
            "parts-of-difference",
            "What D consists of",
            "Weight of the legs, their inertia and friction of the joints, which add up to D, by the paper's model.",
            part_panels(t, paper),
            columns=3,
        ),
        Figure(
            "errors",
            "The paper's model against the exact one",
            "Its causes are leg spin, the direction of the universal joint's moment and a parallel-axis term that is "
            "counted twice.",
            panels_along("leg", t, "error of leg force (N)", error, marks=marks),
            columns=3,
        ),
    )
