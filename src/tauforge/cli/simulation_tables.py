"""What `simulate` says of a run: errors and forces, as tables and as data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tauforge.cli.output import number, seconds, table

if TYPE_CHECKING:
    from tauforge.simulation.recording import Recording

Rows = list[dict[str, Any]]  # of a table


def ends(title: str, recording: Recording) -> Any:
    columns = zip(recording.names, recording.units, recording.position[0], recording.position[-1], strict=True)
    rows = [(name, unit, number(first), number(last)) for name, unit, first, last in columns]
    return table(title, ("", "unit", "at the start", "at the end"), rows, texts=2)


def tables(title: str, of_coordinates: Rows, of_actuators: Rows) -> Iterable[Any]:
    """Errors beside forces where every coordinate has its own actuator, else one after the other."""
    errors = [
        (
            r["name"],
            f"{number(r['largest_error'])} {r['unit']}",
            seconds(r["time_of_largest_error"]),
            f"{number(r['final_error'])} {r['unit']}",
        )
        for r in of_coordinates
    ]
    forces = [
        (r["actuator"], f"{number(r['peak_force'])} {r['force_unit']}", seconds(r["time_of_peak_force"]))
        for r in of_actuators
    ]
    of_errors, of_forces = ("", "largest error", "at [s]", "error at the end"), ("", "peak force", "at [s]")
    if [row[0] for row in errors] == [row[0] for row in forces]:
        rows = [(*error, *force[1:]) for error, force in zip(errors, forces, strict=True)]
        yield table(title, (*of_errors, *of_forces[1:]), rows)
    else:
        yield table(title, of_errors, errors)
        yield table("", of_forces, forces)


def summary(errors: Rows, forces: Rows) -> dict[str, Rows]:
    """Forces beside the errors if there are as many actuators as coordinates, else under a name of their own."""
    if len(errors) == len(forces):
        return {"coordinates": [error | force for error, force in zip(errors, forces, strict=True)]}
    return {"coordinates": errors, "actuators": forces}


def error_rows(recording: Recording) -> Rows:
    """One row for each coordinate."""
    import numpy as np

    from tauforge.analysis.sizing import peak_of

    error = recording.error
    worst = peak_of(recording.time, error)
    return [
        {
            "name": name,
            "unit": recording.coordinate_units[k],
            "largest_error": float(worst.value[k]),
            "time_of_largest_error": float(worst.time[k]),
            "rms_error": float(np.sqrt((error[:, k] ** 2).mean())),
            "final_error": float(error[-1, k]),
            "final_position": float(recording.position[-1, recording.places[k]]),
        }
        for k, name in enumerate(recording.coordinate_names)
    ]


def force_rows(recording: Recording) -> Rows:
    """One row for each actuator."""
    from tauforge.analysis.sizing import peak_of

    peak = peak_of(recording.time, recording.force)
    return [
        {
            "actuator": name,
            "force_unit": recording.force_units[k],
            "peak_force": float(peak.value[k]),
            "time_of_peak_force": float(peak.time[k]),
        }
        for k, name in enumerate(recording.force_names)
    ]
