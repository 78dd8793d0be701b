"""`design`: the best designs of a robot, as a Pareto front."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauforge.cli.inputs import load_robot, pairs, quantity
from tauforge.cli.options import File, Json, Lock, Robot, Texts, Tip, names_in, setting, switch
from tauforge.cli.output import bad, headline, number, result, summary_parts, table, working

if TYPE_CHECKING:
    from tauforge.designs.front import Front
    from tauforge.robots.robot import Robot as AnyRobot


complete_objective = names_in("tauforge.designs.measures", "MEASURES")


def design(
    robot: Robot,
    parameter: Annotated[
        Texts,
        setting(
            "NAME=LOWEST:HIGHEST",
            "A number of the design and its bounds, such as base_radius=300mm:800mm, or a coordinate of home, "
            "such as the height z. May be repeated; --list shows all.",
        ),
    ] = None,
    objective: Annotated[
        Texts,
        setting(
            "NAME",
            "What is to be good, or a parameter that is to be small. May be repeated; --list shows all. "
            "Default: condition and force.",
            autocompletion=complete_objective,
        ),
    ] = None,
    at: Annotated[Texts, setting("NAME=VALUE", "A coordinate of home. Default: where pictures show the robot.")] = None,
    states: Annotated[int, typer.Option(min=1, help="At how many states about home a design is judged.")] = 20,
    distance: Annotated[str, setting("LENGTH", "How far the states are from home.")] = "50mm",
    angle: Annotated[str, setting("ANGLE", "How far the states are turned from home.")] = "5deg",
    length: Annotated[str, setting("LENGTH", "The characteristic length, which makes moments forces.")] = "1m",
    stiffness: Annotated[float, typer.Option(help="The stiffness of every actuator, N/m or N m/rad.")] = 1.0,
    evaluations: Annotated[int, typer.Option(min=1, help="How many designs are judged.")] = 10_000,
    population: Annotated[int, typer.Option(min=4, help="Designs of a generation.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same front.")] = 0,
    limits: Annotated[bool, typer.Option(help="Whether every state must be within the limits of the robot.")] = True,
    picture: Annotated[File, setting("FILE", "A picture of the front, .png, .svg or .pdf.")] = None,
    output: Annotated[File, setting("FILE.csv", "The front, a line for every design.", "--output", "-o")] = None,
    listed: Annotated[bool, switch("--list", "The parameters and objectives of the robot, and no more.")] = False,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """The designs of a robot that no other one surpasses in every objective: a Pareto front, by NSGA-II."""
    from tauforge.designs.evaluation import check_variable, states_around, variables
    from tauforge.designs.search import pareto

    mine = load_robot(robot, tip, lock)
    if listed:
        _list(mine, as_json)
        return
    for option, file, suffixes in (("--output", output, (".csv",)), ("--picture", picture, (".png", ".svg", ".pdf"))):
        if file is not None and file.suffix.lower() not in suffixes:  # before the search, not after it
            raise bad(option, f"expected a file that ends with {' or '.join(suffixes)}, got {str(file)!r}")
    units, bounds = variables(mine), {}
    for name, text in pairs("--parameter", parameter):
        check_variable(units, name)
        ends = [quantity("--parameter", part, units[name]) for part in text.split(":")]
        if len(ends) != 2:
            raise bad("--parameter", f"expected {name}=LOWEST:HIGHEST, got {text!r}")
        bounds[name] = (ends[0], ends[1])
    reach, turn = quantity("--distance", distance, "m"), quantity("--angle", angle, "rad")
    home = {name: quantity("--at", value, "rad", "m") for name, value in pairs("--at", at)}
    judged: dict[str, Any] = {"states": states_around(mine, states, distance=reach, angle=turn, at=home)}
    judged |= {"limits": limits, "stiffness": stiffness, "characteristic_length": quantity("--length", length, "m")}
    search: dict[str, Any] = {"evaluations": evaluations, "population": population, "seed": seed}
    with working("searching"):
        front = pareto(mine, bounds, tuple(objective or ("condition", "force")), **judged, **search)
    if output is not None:
        front.save(output)
    if picture is not None:
        front.plot(picture)
    data = {
        "robot": mine.name,
        "evaluations": front.evaluations,
        "within_limits": len(front.tried),
        "seed": seed,
        "units": dict(zip(front.parameters, front.parameter_units, strict=True))
        | dict(zip(front.objective_names, front.objective_units, strict=True)),
        "designs": [{"parameters": front.design(i), "objectives": front.judged(i)} for i in range(len(front))],
    }
    result(as_json, data, lambda: _shown(front, output, picture))


def _list(robot: AnyRobot, as_json: bool) -> None:
    from tauforge.designs.evaluation import variables
    from tauforge.designs.measures import MEASURES, measures_of, unit_of
    from tauforge.robots.capabilities import design_parameters

    own = design_parameters(robot)
    others = {name: unit for name, unit in variables(robot).items() if name not in own}
    data = {
        "parameters": {name: p._asdict() for name, p in own.items()},
        "others": others,
        "objectives": {name: MEASURES[name].meaning for name in measures_of(robot)},
    }

    def shown() -> Any:
        if own:
            rows = [(p.name, p.meaning, f"{number(p.value)} {p.unit}") for p in own.values()]
            yield table("Parameters", ("", "", "now"), rows, texts=2)
        yield f"Coordinates of home and loads may vary, too: {', '.join(others)}.\n"
        rows = [(name, MEASURES[name].meaning, unit_of(robot, name)) for name in measures_of(robot)]
        yield table("Objectives", ("", "over all states", "unit"), rows, texts=3)

    result(as_json, data, shown)


def _shown(front: Front, output: Path | None, picture: Path | None) -> Any:
    summary = front.summary()
    yield f"{headline(summary)}\n"
    yield from summary_parts(summary)
    for what, file in (("The front", output), ("Its picture", picture)):
        if file is not None:
            yield f"{what} is in {file}"
