"""A robot for people (`show`) and for machines (`show --json`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from tauforge.cli.output import item, number, table
from tauforge.robots.robot import Robot
from tauforge.robots.summary import Cell, Each, Span, SummaryTable, Words
from tauforge.terminal import one_line

UPRIGHT = (0.0, 0.0, -9.81)
UNITS = {"length": "m", "angle": "rad", "mass": "kg", "inertia": "kg m^2", "force": "N", "torque": "N m"}
QUARTERS = {0.5: "pi/2", 1.0: "pi", -0.5: "-pi/2", -1.0: "-pi"}


def headline(robot: Robot) -> str:
    return one_line(_sentence(robot.summary().headline))


def data(robot: Robot, warnings: Sequence[str]) -> dict[str, Any]:
    """Every field of the robot, in SI units and radians."""
    return {"kind": robot.noun, "units": UNITS, **robot.data(), "warnings": list(warnings)}


def shown(robot: Robot, warnings: Sequence[str]) -> Iterable[Any]:
    yield headline(robot)
    if tuple(robot.gravity) != UPRIGHT:
        yield f"gravity: {_cell(tuple(robot.gravity))} m/s^2"
    yield ""
    for part in robot.summary().parts:
        yield _table(part) if isinstance(part, SummaryTable) else _sentence(part)
    if warnings or robot.known_exceptions:
        yield Text("Beware", "bold")
        yield from (item(warning) for warning in warnings)
        yield from (item(f"{body}: {reason} (a known exception)") for body, reason in robot.known_exceptions)
        yield ""
    if robot.sources:
        yield Text("Sources", "bold")
    for source in robot.sources:
        yield item(f"{', '.join(source.fields)}: {source.source}", source.note)


def _sentence(words: Words) -> str:
    return words if isinstance(words, str) else "".join(w if isinstance(w, str) else number(w) for w in words)


def _table(part: SummaryTable) -> Any:
    angles = [name.endswith("[rad]") for name in part.header]
    rows = [[_cell(cell, angle) for cell, angle in zip(row, angles, strict=True)] for row in part.rows]
    return table(part.title, part.header, rows, texts=part.texts)


def _cell(cell: Cell, angle: bool = False) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Span):
        return f"{number(cell.lower)} to {number(cell.upper)}"
    if isinstance(cell, Each):
        values = [_cell(value) for value in cell.values]
        return values[0] if len(set(values)) == 1 else "; ".join(values)
    if isinstance(cell, tuple):
        return ", ".join(number(x) for x in cell)
    return QUARTERS.get(cell / math.pi, number(cell)) if angle else number(cell)  # quarter turns by their name
