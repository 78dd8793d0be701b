"""`workspace`: the places that a robot can reach, the limits that stop it, and the loads it can carry there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauforge.cli.inputs import load_robot, parse_payload, quantities, quantity
from tauforge.cli.options import File, Json, Lock, PayloadOption, Robot, Texts, Tip, names_in, setting, switch
from tauforge.cli.output import bad, headline, result, summary_parts, working
from tauforge.errors import one_line

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot as AnyRobot
    from tauforge.workspace.criteria import Report

DRAWN = ("map", "polar", "surface", "reach")  # what has a picture, the most wanted first


complete_quantity = names_in("tauforge.workspace.maps", "MAPPED_QUANTITIES")


def workspace(
    robot: Robot,
    at: Annotated[
        str | None, setting("POSITION", "Home: m and rad, or with units. Default where pictures show the robot.")
    ] = None,
    explain: Annotated[bool, switch("--explain", "Which limits hold there, and by how much.")] = False,
    reach: Annotated[bool, switch("--reach", "How far along and about each axis, and what ends it.")] = False,
    tool: Annotated[bool, switch("--tool", "Reach of an arm's tool along and about the axes of the world.")] = False,
    volume: Annotated[bool, switch("--volume", "How large the workspace is, and what ends it.")] = False,
    surface: Annotated[bool, switch("--surface", "Ends of ways in all directions of space.")] = False,
    polar: Annotated[str | None, setting("AXIS,AXIS", "Reach in the directions of a plane, such as x,z.")] = None,
    map_of: Annotated[
        str | None,
        setting(
            "QUANTITY",
            "limit, condition, force, force_share or capacity over the axes.",
            "--map",
            autocompletion=complete_quantity,
        ),
    ] = None,
    axis: Annotated[
        Texts, setting("NAME=FROM:TO:POINTS", "A coordinate of the map, such as x=-0.5:0.5:101. Up to three.")
    ] = None,
    orientation: Annotated[
        str | None, setting("RX,RY,RZ", "Angles of the volume instead of home's: rad, or with units.")
    ] = None,
    payload: PayloadOption = None,
    no_forces: Annotated[bool, switch("--no-forces", "Do not judge the forces that hold the robot at rest.")] = False,
    largest_condition: Annotated[float | None, setting("NUMBER", "A limit for the condition number.")] = None,
    limit: Annotated[
        Texts, setting("KIND", "Judge position limits of this kind alone, such as stroke. May be repeated.")
    ] = None,
    points: Annotated[int | None, typer.Option(help="Cells along each side of the volume.")] = None,
    picture: Annotated[File, setting("FILE", "Draw the map, plane, surface or reach: .png, .svg or .pdf.")] = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """The places that a robot can reach, and what stops it: limits at home, reach, and volume, unless you choose."""
    from tauforge import workspace as space
    from tauforge.errors import UnsupportedFeatureError

    mine = load_robot(robot, tip, lock)
    home = None if at is None else quantities("--at", at, [coordinate.unit for coordinate in mine.coordinates])
    judged: dict[str, Any] = {"payload": parse_payload(payload), "forces": False if no_forces else None}
    judged |= {"largest_condition": largest_condition, "limits": limit}
    chosen = {"explain": explain, "reach": reach or tool, "volume": volume, "surface": surface}
    chosen |= {"polar": polar is not None, "map": map_of is not None}
    asked_for = [name for name, asked in chosen.items() if asked]
    wanted = asked_for or ["explain", "reach", "volume"]
    _check(wanted, axis, orientation, points, picture)
    axes = _axes(mine, axis or [])
    angles = None if orientation is None else quantities("--orientation", orientation, ["rad"] * 3)
    position = mine.positions.coordinates(mine.positions.default) if home is None else home
    tasks: dict[str, Callable[[], Report]] = {
        "explain": lambda: space.explain(mine, position, **judged),
        "reach": lambda: space.reach(mine, home, directions="tool" if tool else None, **judged),
        "polar": lambda: space.polar(mine, _plane(polar or ""), home, **judged),
        "surface": lambda: space.surface(mine, home, **judged),
        "volume": lambda: _volume(mine, {**judged, "home": home, "orientation": angles, "points": points}),
        "map": lambda: space.map(mine, map_of or "", axes, home=home, **judged),
    }
    found: dict[str, Report] = {}
    missing: dict[str, str] = {}
    with working("workspace") as now:
        for name in wanted:
            now(name)
            try:
                found[name] = tasks[name]()
            except UnsupportedFeatureError as error:
                if asked_for or error.field != name:
                    raise
                # not every robot has a volume, and nobody asked for it
                missing[name] = ". ".join(text for text in (error.reason, error.remedy) if text) + "."
    if picture is not None:
        from tauforge.charts.with_matplotlib import save_figure

        drawn: Any = next(found[name] for name in DRAWN if name in found)
        save_figure(drawn.plot(), picture)
    reports = {name: report.data() for name, report in found.items()}
    data = {"robot": mine.name, "home": position, **reports, **{k: {"missing": why} for k, why in missing.items()}}
    result(as_json, data, lambda: _shown(found, missing))


def _volume(robot: AnyRobot, options: dict[str, Any]) -> Report:
    """The volume; with a payload also without it, beside it."""
    from tauforge import workspace as space

    if options["payload"] is None:
        return space.volume(robot, **options)
    mass = float(options["payload"].mass)
    return space.compare(robot, {"nothing held": {"payload": None}, f"{mass:g} kg": {}}, **options)


def _check(
    wanted: list[str], axis: list[str] | None, orientation: str | None, points: int | None, picture: Path | None
) -> None:
    """Options that need others, before any work starts."""
    if axis and "map" not in wanted:
        raise bad("--axis", "it belongs to a map: give --map QUANTITY")
    if "map" in wanted and not axis:
        raise bad("--map", "it needs axes: give --axis NAME=FROM:TO:POINTS")
    for option, value in (("--orientation", orientation), ("--points", points)):
        if value is not None and "volume" not in wanted:
            raise bad(option, "it belongs to the volume: give --volume")
    if picture is not None:
        from tauforge.charts.with_matplotlib import check_ending

        check_ending(picture)
        if not set(wanted) & set(DRAWN):
            raise bad("--picture", "there is nothing to draw: give --reach, --polar, --surface or --map")


def _axes(robot: AnyRobot, given: list[str]) -> dict[str, tuple[float, float, int]]:
    units = {coordinate.name: coordinate.unit for coordinate in robot.coordinates}
    found: dict[str, tuple[float, float, int]] = {}
    for text in given:
        name, equals, rest = text.partition("=")
        parts = rest.split(":")
        if not equals or len(parts) != 3:
            raise bad("--axis", f"expected NAME=FROM:TO:POINTS, got {text!r}")
        if name not in units:
            raise bad("--axis", f"expected a coordinate among {', '.join(units)}, got {name!r}")
        if name in found:
            raise bad("--axis", f"{name} is given twice")
        low, high = (quantity("--axis", part, units[name]) for part in parts[:2])
        if not parts[2].strip().isdigit() or not int(parts[2]):
            raise bad("--axis", f"expected a whole number of points, at least 1, got {parts[2]!r}")
        found[name] = (low, high, int(parts[2]))
    return found


def _plane(text: str) -> tuple[str, str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2:
        raise bad("--polar", f"expected two directions separated by a comma, got {text!r}")
    return parts[0], parts[1]


def _shown(found: dict[str, Report], missing: dict[str, str]) -> Iterator[Any]:
    from rich.text import Text

    for place, report in enumerate(found.values()):
        summary = report.summary()
        if place:
            yield ""
        yield Text(headline(summary), "bold")
        yield ""
        yield from summary_parts(summary)
    for why in missing.values():
        yield ""
        yield Text(one_line(why))
