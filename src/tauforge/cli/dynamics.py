"""`inverse-dynamics`: from a motion to actuator forces. `forward-kinematics`: from joints or legs to a pose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tauforge.cli.arguments import (
    Json,
    Lock,
    Output,
    PayloadOption,
    Robot,
    Smooth,
    Tip,
    Wrench,
    bad,
    complete_formulation,
    complete_model,
    load_robot,
    loaded,
    parse_payload,
    parse_wrench,
    quantities,
)
from tauforge.cli.csv_files import STDOUT, check_output, read_motion, rows_of, write_output
from tauforge.cli.limits import warn_of_forces, warn_of_motion
from tauforge.cli.output import number, result, seconds, table

Motion = Annotated[
    Path,
    typer.Argument(metavar="MOTION.csv", help=r"time \[s], then q1 \[rad] ..., or x \[m], y, z, theta_x \[rad], ..."),
]


def inverse_dynamics(
    robot: Robot,
    motion: Motion,
    output: Output = None,
    formulation: Annotated[
        str | None,
        typer.Option(help="Of an arm; default joint-frames, the cheapest.", autocompletion=complete_formulation),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Of a platform; default exact.", autocompletion=complete_model)
    ] = None,
    payload: PayloadOption = None,
    wrench: Wrench = None,
    smooth: Smooth = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """The actuator forces that a motion needs, with their peaks and root mean squares."""
    import numpy as np

    from tauforge.analysis.sizing import peak_of, rms_of
    from tauforge.motion.columns import TIME, columns_of
    from tauforge.motion.csv_table import write_csv
    from tauforge.robots.serial.serial_arm import SerialArm

    check_output(output, [motion, robot], (".csv",), as_json)
    mine = load_robot(robot, tip, lock)
    body = parse_payload(payload)
    loads: dict[str, Any] = {}
    if isinstance(mine, SerialArm):
        if model is not None:
            raise bad("--model", f"{mine.name} is an arm; give --formulation")
        loads |= {"payload": body, "formulation": formulation}
    else:
        if formulation is not None:
            raise bad("--formulation", f"{mine.name} is a platform; give --model")
        mine = loaded(mine, body)
        loads |= {} if model is None else {"model": model}
    loads["tip_wrench" if isinstance(mine, SerialArm) else "external_wrench"] = parse_wrench(wrench)
    moves = read_motion(motion, mine, smooth)
    with rows_of(motion, moves.rows, moves.times):
        forces = mine.inverse_dynamics(*moves.samples, **loads)
    columns = columns_of(mine).force
    peaks, rms = peak_of(moves.times, forces), rms_of(moves.times, forces)
    warn_of_motion(mine, moves)
    warn_of_forces(mine, peaks.value.tolist())
    if output is not None:
        rows = np.column_stack([moves.times, forces])
        write_output(output, lambda file: write_csv(file, [TIME, *columns], rows))
        if output == STDOUT:
            return
    names = [joint.name for joint in mine.joints] if isinstance(mine, SerialArm) else [f"leg {k}" for k in range(1, 7)]
    rows_shown: list[dict[str, Any]] = [
        {
            "actuator": names[k],
            "column": column.name,
            "unit": column.unit,
            "peak": float(peaks.value[k]),
            "time_of_peak": float(peaks.time[k]),
            "rms": float(rms[k]),
        }
        for k, column in enumerate(columns)
    ]

    def shown() -> Any:
        header = ("actuator", "column", "unit", "peak", "at [s]", "RMS")
        rows = [
            (r["actuator"], r["column"], r["unit"], number(r["peak"]), seconds(r["time_of_peak"]), number(r["rms"]))
            for r in rows_shown
        ]
        span = f"{len(forces)} states in {seconds(moves.duration)} s"
        yield table(f"{mine.name}: actuator forces, {span}", header, rows, texts=3)
        yield f"written to {output}" if output is not None else "-o FORCES.csv writes all of them."

    used = formulation or model or ("joint-frames" if isinstance(mine, SerialArm) else "exact")
    data = {"robot": mine.name, "formulation": used, "states": len(forces), "duration": moves.duration}
    result(as_json, {**data, "derived": moves.derived, "forces": rows_shown, "output": output}, shown)


def forward_kinematics(
    robot: Robot,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv", help=r"q1 \[rad] ... of an arm, l1 \[m] ... l6 of a platform; or with time \[s]."
        ),
    ],
    output: Output = None,
    guess: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z,THETA_X,THETA_Y,THETA_Z",
            help="Of a platform: a pose near the first row; default level above the base.",
        ),
    ] = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """The pose of an arm's tool from its joints, or of a platform from its leg lengths, followed row by row."""
    import numpy as np

    from tauforge.motion.columns import LENGTHS, POSE, TIME, columns_of, joint_names
    from tauforge.motion.csv_table import read_csv, write_csv
    from tauforge.robots.poses import pose_of
    from tauforge.robots.serial.serial_arm import SerialArm
    from tauforge.robots.stewart.pose_search import default_guess

    check_output(output, [file, robot], (".csv",), as_json)
    mine = load_robot(robot, tip, lock)
    given = read_csv(file, joint_names(mine))
    times = given.take_times(TIME) if given.has([TIME]) else None
    if isinstance(mine, SerialArm):
        if guess is not None:
            raise bad("--guess", f"only platforms take a guess; {mine.name} is an arm")
        poses = pose_of(mine.forward_kinematics(given.take(columns_of(mine).position)))
    else:
        lengths = given.take(LENGTHS)
        kinds = [column.unit for column in POSE]
        start = default_guess(mine, lengths[0]) if guess is None else np.array(quantities("--guess", guess, kinds))
        with rows_of(file, given.rows, times):
            poses = mine.track(lengths, start)
    if output is not None:
        rows = poses if times is None else np.column_stack([times, poses])
        columns = POSE if times is None else (TIME, *POSE)
        write_output(output, lambda file: write_csv(file, columns, rows))
        if output == STDOUT:
            return
    low, high = poses.min(axis=0), poses.max(axis=0)

    def shown() -> Any:
        rows = [
            (str(column), *map(number, (poses[0, k], poses[-1, k], low[k], high[k]))) for k, column in enumerate(POSE)
        ]
        what = "tool" if isinstance(mine, SerialArm) else "platform"
        yield table(f"{mine.name}: pose of its {what}, {len(poses)} rows", ("", "first", "last", "least", "most"), rows)
        yield f"written to {output}" if output is not None else "-o POSES.csv writes all of them."

    names = [column.name for column in POSE]
    ends = {"first": poses[0], "last": poses[-1], "least": low, "most": high}
    data = {"robot": mine.name, "rows": len(poses), "columns": names, "units": [column.unit for column in POSE]}
    result(as_json, {**data, **ends, "output": output}, shown)


COMMANDS = (("inverse-dynamics", inverse_dynamics), ("forward-kinematics", forward_kinematics))
