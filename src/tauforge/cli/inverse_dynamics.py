"""`inverse-dynamics`: from a motion to actuator forces."""

from __future__ import annotations

from typing import Annotated, Any

from tauforge.cli import inputs, options
from tauforge.cli.output import bad, check_output, number, records, result, seconds, table, write_table


def inverse_dynamics(
    robot: options.Robot,
    motion: options.Motion,
    output: options.Output = None,
    formulation: Annotated[
        str | None,
        options.setting(
            "NAME",
            "The formulation, or the model of a platform; default that of a plain call.",
            "--formulation",
            "--model",
            autocompletion=options.complete_formulation,
        ),
    ] = None,
    payload: options.PayloadOption = None,
    wrench: options.Wrench = None,
    smooth: options.Smooth = None,
    tip: options.Tip = None,
    lock: options.Lock = None,
    as_json: options.Json = False,
) -> None:
    """The actuator forces that a motion needs, with their peaks and root mean squares."""
    import numpy as np

    from tauforge.analysis.stewart_sizing import peak_of, rms_of
    from tauforge.tables.robot_columns import TIME, columns_of

    check_output(output, [motion, robot], (".csv",), as_json)
    mine = inputs.robot_carrying(inputs.load_robot(robot, tip, lock), payload)
    loads: dict[str, Any] = {}
    if formulation is not None:
        if len(mine.formulations) == 1:
            raise bad("--formulation", f"{mine.name} is {inputs.kind_of(mine)}; it has a single formulation")
        mine.formulations.check(formulation)  # before files are read
        loads["formulation"] = formulation
    if wrench is not None:
        if not mine.formulations.take_wrench:
            raise bad("--wrench", f"{mine.name} takes no external wrench")
        loads["external_wrench"] = inputs.parse_wrench(wrench)
    moves = inputs.read_motion(motion, mine, smooth)
    with inputs.rows_of(motion, moves.rows, moves.times):
        forces = mine.inverse_dynamics(moves.positions, *moves.samples[1:], **loads)
    peaks, rms = peak_of(moves.times, forces), rms_of(moves.times, forces)
    inputs.warn_of_motion(mine, moves)
    inputs.warn_of_forces(mine, peaks.value.tolist())
    if write_table(output, [TIME, *columns_of(mine).force], np.column_stack([moves.times, forces])):
        return
    peak_rows = records(
        actuator=[actuator.words for actuator in mine.actuators],
        column=[actuator.column for actuator in mine.actuators],
        unit=[actuator.unit for actuator in mine.actuators],
        peak=peaks.value,
        time_of_peak=peaks.time,
        rms=rms,
    )

    def shown() -> Any:
        header = ("actuator", "column", "unit", "peak", "at [s]", "RMS")
        rows = [
            (r["actuator"], r["column"], r["unit"], number(r["peak"]), seconds(r["time_of_peak"]), number(r["rms"]))
            for r in peak_rows
        ]
        span = f"{len(forces)} states in {seconds(moves.duration)} s"
        yield table(f"{mine.name}: actuator forces, {span}", header, rows, texts=3)
        yield f"written to {output}" if output is not None else "-o FORCES.csv writes all of them."

    used = (formulation or mine.formulations.default) if len(mine.formulations) > 1 else None
    data = {"robot": mine.name, "formulation": used, "states": len(forces), "duration": moves.duration}
    result(as_json, {**data, "derived": moves.derived, "forces": peak_rows, "output": output}, shown)
