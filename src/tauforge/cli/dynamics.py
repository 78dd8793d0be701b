"""`inverse-dynamics`: from a motion to actuator forces. `forward-kinematics`: from joints or legs to a pose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    kind_of,
    load_robot,
    parse_payload,
    parse_wrench,
    quantities,
    robot_carrying,
)
from tauforge.cli.csv_files import STDOUT, check_output, read_motion, rows_of, write_output
from tauforge.cli.limits import warn_of_forces, warn_of_motion
from tauforge.cli.output import number, result, seconds, table
from tauforge.robots.positions import body_name

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot as AnyRobot

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
        typer.Option(
            "--formulation",
            "--model",
            metavar="NAME",
            help="The formulation, or the model of a platform; default that of a plain call.",
            autocompletion=complete_formulation,
        ),
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
    from tauforge.tables.robot_columns import TIME, columns_of
    from tauforge.tables.table import write_csv

    check_output(output, [motion, robot], (".csv",), as_json)
    mine = robot_carrying(load_robot(robot, tip, lock), parse_payload(payload))
    loads = _choice(mine, formulation)
    if wrench is not None:
        if mine.wrench_argument is None:
            raise bad("--wrench", f"{mine.name} takes no external wrench")
        loads[mine.wrench_argument] = parse_wrench(wrench)
    moves = read_motion(motion, mine, smooth)
    with rows_of(motion, moves.rows, moves.times):
        forces = mine.inverse_dynamics(moves.positions, *moves.samples[1:], **loads)
    columns = columns_of(mine).force
    peaks, rms = peak_of(moves.times, forces), rms_of(moves.times, forces)
    warn_of_motion(mine, moves)
    warn_of_forces(mine, peaks.value.tolist())
    if output is not None:
        rows = np.column_stack([moves.times, forces])
        write_output(output, lambda file: write_csv(file, [TIME, *columns], rows))
        if output == STDOUT:
            return
    rows_shown: list[dict[str, Any]] = [
        {
            "actuator": actuator.words,
            "column": actuator.column,
            "unit": actuator.unit,
            "peak": float(peaks.value[k]),
            "time_of_peak": float(peaks.time[k]),
            "rms": float(rms[k]),
        }
        for k, actuator in enumerate(mine.actuators)
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

    used = formulation or mine.default_formulation
    data = {"robot": mine.name, "formulation": used, "states": len(forces), "duration": moves.duration}
    result(as_json, {**data, "derived": moves.derived, "forces": rows_shown, "output": output}, shown)


def _choice(robot: AnyRobot, formulation: str | None) -> dict[str, Any]:
    """The formulation as an argument of inverse dynamics, by the name that this robot has for it."""
    if formulation is None:
        return {}
    own = robot.formulation_argument
    if own is None:
        raise bad("--formulation", f"{robot.name} is {kind_of(robot)}; it has a single formulation")
    robot.check_options("inverse_dynamics", {own: formulation})  # before files are read
    return {own: formulation}


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
            help="A pose near the first row, where several fit the same sensors; default level above the base.",
        ),
    ] = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """The pose of an arm's tool from its joints, or of a platform from its leg lengths, followed row by row."""
    import numpy as np

    from tauforge.errors import UnsupportedFeatureError
    from tauforge.tables.reading import read_csv
    from tauforge.tables.robot_columns import POSE, TIME, joint_names, sensor_columns
    from tauforge.tables.table import write_csv

    check_output(output, [file, robot], (".csv",), as_json)
    mine = load_robot(robot, tip, lock)
    try:
        mine.sensors.check_guess(guess)
    except UnsupportedFeatureError:
        raise bad("--guess", f"{mine.name} is {kind_of(mine)}; what its sensors measure needs no guess") from None
    given = read_csv(file, joint_names(mine))
    times = given.take_times(TIME) if given.has([TIME]) else None
    start = None if guess is None else quantities("--guess", guess, [column.unit for column in POSE])
    with rows_of(file, given.rows, times):
        poses = mine.sensors.poses(given.take(sensor_columns(mine)), start)
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
        yield table(
            f"{mine.name}: pose of its {body_name(mine)}, {len(poses)} rows",
            ("", "first", "last", "least", "most"),
            rows,
        )
        yield f"written to {output}" if output is not None else "-o POSES.csv writes all of them."

    names = [column.name for column in POSE]
    ends = {"first": poses[0], "last": poses[-1], "least": low, "most": high}
    data = {"robot": mine.name, "rows": len(poses), "columns": names, "units": [column.unit for column in POSE]}
    result(as_json, {**data, **ends, "output": output}, shown)


COMMANDS = (("inverse-dynamics", inverse_dynamics), ("forward-kinematics", forward_kinematics))
