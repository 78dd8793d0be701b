"""A recording in words and tables: coordinates, forces and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.robots.summary import Cell, Rows, Summary, SummaryTable, Words

if TYPE_CHECKING:
    from tauforge.simulation.recording import Recording

EVENTS_LISTED = 10


def recording_summary(run: Recording) -> Summary:
    """How long it is, the range of every coordinate and its largest error, peaks of forces, and events."""
    start, end = float(run.time[0]), float(run.time[-1])
    name = f"Recording of {run.robot}: " if run.robot else "Recording: "
    headline: Words = (name, end - start, f" s in {len(run.time):,} rows")
    parts: list[SummaryTable | Words] = [_coordinates(run), _forces(run)]
    if run.events:
        header: tuple[str, ...] = ("what", "which", "at [s]")
        rows: Rows = tuple((event.what, event.which, float(event.time)) for event in run.events[:EVENTS_LISTED])
        if any(event.occurrences > 1 for event in run.events[:EVENTS_LISTED]):
            header = (*header, "times", "last at [s]")
            rows = tuple((*row, event.occurrences, event.last) for row, event in zip(rows, run.events, strict=False))
        parts.append(SummaryTable("Events", header, rows, texts=2))
    if len(run.events) > EVENTS_LISTED:
        parts.append(f"And {len(run.events) - EVENTS_LISTED} more events.")
    return Summary(headline, tuple(parts))


def _coordinates(run: Recording) -> SummaryTable:
    has_target = bool(np.isfinite(run.target_position).all())
    names, units = _named(run.names, run.units, run.position.shape[1])
    rows: list[tuple[Cell, ...]] = []
    places = {k: i for i, k in enumerate(run.places)}
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        column = run.position[:, k]
        error: tuple[Cell, ...] = ()
        if has_target:
            error = (float(np.abs(run.error[:, places[k]]).max()) if k in places else None,)
        rows.append((name, unit, float(column.min()), float(column.max()), *error))
    header = ("coordinate", "unit", "smallest", "largest", *(("largest error",) if has_target else ()))
    return SummaryTable("Positions", header, tuple(rows), texts=2)


def _forces(run: Recording) -> SummaryTable:
    names, units = _named(run.force_names, run.force_units, run.force.shape[1])
    rows: list[tuple[Cell, ...]] = []
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        peak = int(np.nan_to_num(np.abs(run.force[:, k])).argmax())
        rows.append((name, unit, float(run.force[peak, k]), float(run.time[peak])))
    return SummaryTable("Peak forces, with their signs", ("actuator", "unit", "force", "at [s]"), tuple(rows), texts=2)


def _named(names: tuple[str, ...], units: tuple[str, ...], count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Numbers for columns without names, no units for those without."""
    return names or tuple(str(k) for k in range(1, count + 1)), units or ("",) * count
