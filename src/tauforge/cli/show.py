"""`show` describes a robot, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from tauforge.cli.inputs import load_and_listen
from tauforge.cli.options import File, Json, Lock, Robot, Tip, setting, switch
from tauforge.cli.output import bad, headline, item, result, summary_parts

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot as AnyRobot

UPRIGHT = (0.0, 0.0, -9.81)
SI_UNITS = {"length": "m", "angle": "rad", "mass": "kg", "inertia": "kg m^2", "force": "N", "torque": "N m"}


def show(
    robot: Robot,
    tip: Tip = None,
    lock: Lock = None,
    picture: Annotated[File, setting("FILE", "Also draw it: .png, .svg or .pdf.")] = None,
    schematic: Annotated[bool, switch("--schematic", "Draw its frames and their names, flat.")] = False,
    as_json: Json = False,
) -> None:
    """A robot: structure, masses, inertias, limits, and what is known to be odd about it."""
    if schematic and picture is None:
        raise bad("--schematic", "it needs a file: give --picture FILE")
    from tauforge.robots.robot import noun_of

    mine, texts = load_and_listen(robot, tip, lock)
    if picture is not None:
        from tauforge.pictures.plot import save_picture

        save_picture(mine, picture, schematic=schematic)
    data = {"kind": noun_of(mine), "units": SI_UNITS, **mine.data(), "warnings": texts}  # in SI units and radians
    result(as_json, data, lambda: shown(mine, texts))


def shown(robot: AnyRobot, warned: Sequence[str]) -> Iterator[Any]:
    from rich.text import Text

    from tauforge.robots.summary import cell_text

    summary = robot.summary()
    yield headline(summary)
    if tuple(robot.gravity) != UPRIGHT:
        yield f"gravity: {cell_text(tuple(robot.gravity))} m/s^2"
    yield ""
    yield from summary_parts(summary)
    if warned or robot.known_exceptions:
        yield Text("Beware", "bold")
        yield from (item(warning) for warning in warned)
        yield from (item(f"{body}: {reason} (a known exception)") for body, reason in robot.known_exceptions)
        yield ""
    if robot.sources:
        yield Text("Sources", "bold")
    for source in robot.sources:
        yield item(f"{', '.join(source.fields)}: {source.source}", source.note)
