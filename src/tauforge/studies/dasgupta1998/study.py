"""B. Dasgupta, T. S. Mruthyunjaya, Mechanism and Machine Theory 33 (1998): the study."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tauforge.robots.physical import inertia_fault
from tauforge.studies.dasgupta1998.claims import claims
from tauforge.studies.dasgupta1998.figures import figures
from tauforge.studies.dasgupta1998.measured import Measured
from tauforge.studies.stewart_tables import flops_table
from tauforge.studies.study import Cell, Progress, Study, Table, nothing

PAPER = (
    "B. Dasgupta, T. S. Mruthyunjaya, A Newton-Euler formulation for the inverse dynamics of the Stewart platform "
    "manipulator, Mechanism and Machine Theory 33 (1998) 1135-1152"
)
BANDS = (1.0, 50.0, 1e2, 3e2, 1e3, 1e4)  # of condition numbers


def study(progress: Progress = nothing) -> Study:
    """Figures 3 to 10, and every claim that can be measured."""
    measured = Measured()
    progress("leg forces along paths I, II and III")
    drawn = figures(measured)
    progress("tables of assumptions, operations and inertias")
    tables = (
        measured.costs.table(),
        flops_table(measured.platform.without_friction()),
        _fractions(measured),
        _bands(measured),
        _inertias(measured),
    )
    progress("verdicts")
    judged = claims(measured)
    slow, fast = measured.costs.of("Dasgupta & Mruthyunjaya 1998 as published")
    summary = (
        "The method stands and its figures come back; three assumptions of the leg's model do not. As published "
        f"(misprints mended) a leg force is wrong by up to {slow:.1f} N on the slow path and {fast:.1f} N on the fast "
        "one; with the three corrected the model is exact. The legs' share of the force and the singularity of path "
        "III are confirmed; what the condition number says of the forces is looser than the paper has it."
    )
    return Study("dasgupta1998", PAPER, summary, judged, drawn, tables)


def _fractions(m: Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, path in m.paths.items():
        f = m.forces[name]
        for leg, crossing in enumerate(f.crossing):
            by_model = [np.abs(x[:, leg]) for x in (f.fraction, f.exact_fraction)]
            peak = float(np.abs(f.T[:, leg]).max())
            median, exact_median = (float(np.median(100 * x)) for x in by_model)
            largest = None if crossing else float(100 * by_model[0].max())
            rows.append((path.name, leg + 1, peak, median, largest, exact_median, "yes" if crossing else "no"))
    return Table(
        "dynamic-fractions",
        "What leg inertia and friction make up of the leg forces",
        "Sizes of F_d / F along the paths; no largest value where the total force crosses zero.",
        (
            "path",
            "leg",
            "largest force (N)",
            "median fraction (%)",
            "largest fraction (%)",
            "median fraction, exact model (%)",
            "crosses zero",
        ),
        tuple(rows),
    )


def _bands(m: Measured) -> Table:
    condition, force = m.random_poses.condition, m.random_poses.force
    rows: list[tuple[Cell, ...]] = []
    for low, high in pairwise(BANDS):
        inside = force[(condition >= low) & (condition < high)]
        spread = (float(x) for x in np.percentile(inside, (5, 50, 95)))
        rows.append((low, high, len(inside), *spread, float(100 * (inside >= 1e4).mean())))
    return Table(
        "condition-bands",
        "Largest leg force of random poses at rest",
        f"{len(force)} poses around the three paths, by condition number of H; the paper's model.",
        (
            "condition from",
            "to",
            "poses",
            "5th percentile (N)",
            "median (N)",
            "95th percentile (N)",
            "at least 10^4 N (%)",
        ),
        tuple(rows),
    )


def _inertias(m: Measured) -> Table:
    names = {"I_d0": "lower part", "I_u0": "upper part", "I_p": "platform"}
    rows: list[tuple[Cell, ...]] = []
    for symbol, tensor in m.inertias.items():
        moments = (float(x) for x in np.linalg.eigvalsh(tensor))
        rows.append((f"{names[symbol]}, {symbol}", *moments, inertia_fault(tensor) or "none"))
    return Table(
        "inertias",
        "Principal moments of the printed inertias",
        "About each body's mass centre; about the frame origins they would be smaller still.",
        ("body", "smallest (kg m²)", "middle (kg m²)", "largest (kg m²)", "fault"),
        tuple(rows),
    )
