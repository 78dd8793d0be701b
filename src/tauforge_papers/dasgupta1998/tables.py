"""Tables of the study of Dasgupta & Mruthyunjaya 1998."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.plausibility import inertia_fault
from tauforge_papers.dasgupta1998.leg_forces import MODEL
from tauforge_papers.dasgupta1998.measured import Measured
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.stewart_tables import DASGUPTA_FLOPS, flops_table

BANDS = (1.0, 50.0, 1e2, 3e2, 1e3, 1e4)  # of condition numbers
BY = {MODEL: "the paper's", "exact": "exact"}


def tables(m: Measured) -> tuple[Table, ...]:
    return (
        m.costs.table(),
        _by_part(m),
        flops_table(m.platform.without_friction()),
        _fractions(m),
        _parts(m),
        _steps(m),
        _ranks(m),
        _bands(m),
        _axes(m),
        _inertias(m),
    )


def _by_part(m: Measured) -> Table:
    parts = m.operations_by_part
    rows: list[tuple[Cell, ...]] = [
        (part.name, part.printed, part.cost.as_written.flops, part.cost.flops) for part in parts
    ]
    sums = (6 * leg + platform + final for leg, platform, final in zip(*(row[2:] for row in rows), strict=True))
    rows.append(("six legs, platform and final system", DASGUPTA_FLOPS, *sums))
    ours = m.operations[MODEL]
    rows.append(("counted as a whole", None, ours.as_written.flops, ours.flops))
    return Table(
        "operations-by-part",
        "Operations of the paper's method, part by part",
        "Multiplications, additions, divisions and roots; friction left out; sines and cosines apart. The most "
        "expensive leg stands for all six, so that the sum is a little more than the whole. MATLAB counted products "
        "with zeros of the robot, our count does not.",
        ("part", "printed (flops)", "our code as written (flops)", "common subexpressions once (flops)"),
        tuple(rows),
    )


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
        "What the legs make up of the leg forces",
        "Magnitudes of F_d / F along the paths; no largest value where the total force crosses zero.",
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


def _parts(m: Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, by_model in m.parts.items():
        for model, parts in by_model.items():
            found = (parts.difference, parts.weight, parts.inertia, parts.friction)
            shown: list[Cell] = [f(x) for x in found for f in (_largest, _rms)]
            rows.append((m.paths[name].name, BY[model], *shown))
    columns = (
        f"{part}, {kind} (N)" for part in ("F_d", "weight", "inertia", "friction") for kind in ("largest", "rms")
    )
    return Table(
        "parts-of-difference",
        "What F_d = F - F_0 consists of",
        "Over all legs and times. Weight: F_d at rest. Friction: with and without its coefficients. Inertia: the rest.",
        ("path", "model", *columns),
        tuple(rows),
    )


def _largest(x: Array) -> float:
    return float(np.abs(x).max())


def _rms(x: Array) -> float:
    return float(np.sqrt((x**2).mean()))


def _steps(m: Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, steps in m.steps.items():
        for t, force, own, acceleration in zip(*steps[:4], strict=True):
            rows.append((m.paths[name].name, t, acceleration, force, own))
    return Table(
        "steps",
        "Where the leg forces step",
        "At the ends of the blends, where the planned acceleration steps: the largest step over the legs, and that of "
        "the same leg's force with massless legs.",
        ("path", "time (s)", "acceleration of a length (m/s²)", "force (N)", "force with massless legs (N)"),
        tuple(rows),
    )


def _ranks(m: Measured) -> Table:
    where = {path.name: m.conditions[name] for name, path in m.paths.items()}
    where |= {f"random poses at rest {name}": poses.condition for name, poses in m.random_poses.items()}
    rows: list[tuple[Cell, ...]] = []
    for (name, condition), rank, scaled in zip(
        where.items(), m.ranks.values(), m.ranks_of_scaled.values(), strict=True
    ):
        rows.append((name, float(condition.min()), float(np.median(condition)), float(condition.max()), rank, scaled))
    return Table(
        "rank-correlations",
        "Condition number, leg forces and the number without dimensions",
        "Spearman's rank correlation of the condition number of H with the largest leg force of the paper's model, and "
        "with the condition number that has moments divided by the platform's radius. The regions are our choice.",
        (
            "where",
            "smallest condition number",
            "median",
            "largest",
            "correlation with the force",
            "with the number without dimensions",
        ),
        tuple(rows),
    )


def _bands(m: Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for region, poses in m.random_poses.items():
        for low, high in pairwise(BANDS):
            inside = poses.force[(poses.condition >= low) & (poses.condition < high)]
            if len(inside):
                spread = (float(x) for x in np.percentile(inside, (5, 50, 95)))
                rows.append((region, low, high, len(inside), *spread, float(100 * (inside >= 1e4).mean())))
    return Table(
        "condition-bands",
        "Largest leg force of random poses at rest",
        "By condition number of H; the paper's model. The regions are our choice.",
        (
            "region",
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


def _axes(m: Measured) -> Table:
    rows: list[tuple[Cell, ...]] = [("0 (ours)", 0.0, 0.0, 0.0, 0.0, 100 * m.first_pod["0"])]
    for third, costs in m.axis_readings.items():
        rows.append((third, *costs[MODEL], *costs["exact"], 100 * m.first_pod[third]))
    return Table(
        "axis-readings",
        "What the third component of k_1 may be, and costs",
        "Largest change of a leg force; and how far the angular velocity of leg 1 without spin is from the true one on "
        "path 1 of Pedrammehr 2012, which finds them the same.",
        (
            "third component of k_1",
            "path I, paper's model (N)",
            "path II, paper's model (N)",
            "path I, exact (N)",
            "path II, exact (N)",
            "leg 1 (%)",
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
