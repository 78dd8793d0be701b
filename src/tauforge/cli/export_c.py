"""`export-c`: functions of a robot as C99."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tauforge.cli.inputs import load_robot
from tauforge.cli.options import Json, Lock, Robot, Texts, Tip, setting
from tauforge.cli.output import item, result


def export_c(
    robot: Robot,
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="A folder for the files, made if it does not exist.")
    ],
    function: Annotated[
        Texts, setting("NAME", "Such as inverse_dynamics or computed_torque. May be repeated. Default: all.")
    ] = None,
    prefix: Annotated[
        str | None, setting("NAME", "Files and functions begin with it. Default: the robot's name.")
    ] = None,
    dtype: Annotated[str, setting("TYPE", "float64 for double, float32 for float.")] = "float64",
    load: Annotated[Texts, setting("NAME", "An argument beside the state, such as payload. May be repeated.")] = None,
    varying: Annotated[
        Texts, setting("FIELD", "A field of the robot as an argument, such as mass. May be repeated.")
    ] = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """Functions of a robot as C99 without allocation or libraries, with a self-test and a file for CMake."""
    from tauforge.export import export_c as write

    loaded = load_robot(robot, tip, lock)
    made = write(loaded, directory, function or None, prefix, dtype, loads=load or (), varying=varying or ())

    def shown() -> Any:
        yield f"{made.header}, {made.source.name}, {made.test.name}, {made.cmake.name}"
        yield from (item(name) for name in made.functions)
        yield from (item(reason, mark="left out:") for reason in made.left_out)
        yield f"The comment in {made.header.name} says how to build and test them."

    files = {"header": made.header, "source": made.source, "test": made.test, "cmake": made.cmake}
    result(as_json, {**files, "functions": made.functions, "left_out": made.left_out}, shown)
