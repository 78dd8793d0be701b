"""`forward-kinematics`: from joints or legs to a pose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tauforge.cli.inputs import kind_of, load_robot, quantities, rows_of
from tauforge.cli.options import Json, Lock, Output, Robot, Tip, setting
from tauforge.cli.output import bad, check_output, number, result, table, write_table
from tauforge.errors import UnsupportedFeatureError


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
        setting(
            "X,Y,Z,THETA_X,THETA_Y,THETA_Z",
            "A pose near the first row, where several fit the same sensors; default level above the base.",
        ),
    ] = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """The pose of an arm's tool from its joints, or of a platform from its leg lengths, followed row by row."""
    import numpy as np

    from tauforge.robots.positions import body_name
    from tauforge.tables.reading import read_csv
    from tauforge.tables.robot_columns import POSE, TIME, joint_names, sensor_columns

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
    rows = poses if times is None else np.column_stack([times, poses])
    if write_table(output, POSE if times is None else (TIME, *POSE), rows):
        return
    ends = {"first": poses[0], "last": poses[-1], "least": poses.min(axis=0), "most": poses.max(axis=0)}

    def shown() -> Any:
        rows = [(str(column), *(number(end[k]) for end in ends.values())) for k, column in enumerate(POSE)]
        yield table(f"{mine.name}: pose of its {body_name(mine)}, {len(poses)} rows", ("", *ends), rows)
        yield f"written to {output}" if output is not None else "-o POSES.csv writes all of them."

    names = [column.name for column in POSE]
    data = {"robot": mine.name, "rows": len(poses), "columns": names, "units": [column.unit for column in POSE]}
    result(as_json, {**data, **ends, "output": output}, shown)
