"""A robot for people (`show`) and for machines (`show --json`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from tauforge.cli.output import item, table
from tauforge.robots.robot import Robot, noun_of
from tauforge.robots.summary import Summary, SummaryTable
from tauforge.robots.summary_text import cell_text, sentence, texts_of
from tauforge.terminal import one_line

UPRIGHT = (0.0, 0.0, -9.81)
UNITS = {"length": "m", "angle": "rad", "mass": "kg", "inertia": "kg m^2", "force": "N", "torque": "N m"}


def headline(robot: Robot) -> str:
    return one_line(sentence(robot.summary().headline))


def data(robot: Robot, warnings: Sequence[str]) -> dict[str, Any]:
    """Every field of the robot, in SI units and radians."""
    return {"kind": noun_of(robot), "units": UNITS, **robot.data(), "warnings": list(warnings)}


def shown(robot: Robot, warnings: Sequence[str]) -> Iterable[Any]:
    yield headline(robot)
    if tuple(robot.gravity) != UPRIGHT:
        yield f"gravity: {cell_text(tuple(robot.gravity))} m/s^2"
    yield ""
    yield from parts_of(robot.summary())
    if warnings or robot.known_exceptions:
        yield Text("Beware", "bold")
        yield from (item(warning) for warning in warnings)
        yield from (item(f"{body}: {reason} (a known exception)") for body, reason in robot.known_exceptions)
        yield ""
    if robot.sources:
        yield Text("Sources", "bold")
    for source in robot.sources:
        yield item(f"{', '.join(source.fields)}: {source.source}", source.note)


def parts_of(summary: Summary) -> Iterable[Any]:
    """Tables and sentences below the headline."""
    for part in summary.parts:
        yield _table(part) if isinstance(part, SummaryTable) else sentence(part)


def _table(part: SummaryTable) -> Any:
    return table(part.title, part.header, texts_of(part), texts=part.texts)
