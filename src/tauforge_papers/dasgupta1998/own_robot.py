"""The figures of Dasgupta & Mruthyunjaya 1998 for a platform and a motion of anybody's."""

from __future__ import annotations

from tauforge.analysis.stewart_curves import (
    LegForceParts,
    broken,
    force_panels,
    fraction_panels,
    leg_force_parts,
    part_panels,
    sign_changes,
)
from tauforge.charts.along_time import TIME_LABEL, Curve, panels_along
from tauforge.charts.figure import ChartPanel, Figure, Line, Style
from tauforge.motion import CsvMotion
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.dasgupta1998.leg_forces import MODEL
from tauforge_papers.stewart_poles import poles_of

WIDE = 1e3  # condition number from which on its axis is logarithmic


def figures(platform: StewartPlatform, motion: CsvMotion) -> tuple[Figure, ...]:
    """Figs 4 to 10, and two that the paper does not have."""
    t, states = motion.times, motion.samples
    paper, exact = (leg_force_parts(platform, *states, model=model) for model in (MODEL, "exact"))
    poles = poles_of(platform, motion, paper.total)
    total, massless, *parts = (poles.parted(part) for part in paper)
    models: tuple[tuple[str, LegForceParts, Style], ...]
    models = (("paper's model", paper, "line"), ("exact model", exact, "dotted"))
    fractions = [(name, broken(one.fraction, sign_changes(one.total), one.total), style) for name, one, style in models]
    error: list[Curve] = [("paper's model less exact", total - exact.total, "line")]
    condition = platform.condition_number(states.position)
    panel = ChartPanel(
        "",
        TIME_LABEL,
        "condition number of H",
        (Line("condition number", t, condition),),
        log_y=bool(poles.at) or bool(condition.max() > WIDE),
        marks=tuple((x, "det H = 0") for x in poles.at),
    )
    return (
        Figure(
            "leg-forces",
            "Figs 4, 7, 9: leg forces",
            "By the paper's model: total force T, force S with massless legs and smooth joints, and D = T - S."
            + poles.words,
            force_panels(t, total, massless, marks=poles.marks, y_range=poles.y_range),
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
            part_panels(t, *parts, marks=poles.marks, y_range=poles.y_range),
            columns=3,
        ),
        Figure(
            "errors",
            "The paper's model against the exact one",
            "Its causes are a parallel-axis term that is counted twice and, with universal joints at the base, leg "
            "spin and the direction of their moments.",
            panels_along("leg", t, "error of leg force (N)", error, marks=poles.marks, y_range=poles.y_range),
            columns=3,
        ),
    )
