"""`complexity`: what the formulations cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from tauforge.cli.inputs import load_robot
from tauforge.cli.options import Json, Lock, Robot, Tip, switch
from tauforge.cli.output import bad, result, table, working
from tauforge.plugins import plugins

if TYPE_CHECKING:
    from tauforge.analysis.complexity import OperationCount
    from tauforge.robots.robot import Robot as AnyRobot


def complexity(
    robot: Robot = "puma560",
    papers: Annotated[bool, switch("--papers", "Beside the papers' own counts, too.")] = False,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """The operations of one inverse dynamics in each formulation, counted from the source that runs."""
    published = next(iter(plugins("tauforge.complexity").values()), None) if papers else None
    if papers and published is None:
        raise bad("--papers", "no installed package has published counts; tauforge_papers has them")
    mine = load_robot(robot, tip, lock)
    with working("counting"):
        costs = counts(mine)

    def shown() -> Any:
        counting = "Traced, each common term once; as written, every operation of the source. Negations are free."
        if n := mine.formulations.general_arm:
            yield from (arm_table(mine.name, n, costs), counting, "", size_table())
        else:
            yield from (robot_table(mine.name, costs), counting)
        if published:
            yield from published.papers_tables()

    data = {"robot": mine.name, "operations": costs}
    result(as_json, data | ({"papers": published.papers_data()} if published and as_json else {}), shown)


def pair(numbers: tuple[object, object]) -> str:
    return f"{numbers[0]} / {numbers[1]}"


def counts(robot: AnyRobot) -> dict[str, OperationCount]:
    """By formulation; of a robot with only one under the name of its function."""
    from tauforge.analysis.complexity import operation_count

    if len(robot.formulations) == 1:
        return {"inverse-dynamics": operation_count(robot)}
    return {name: operation_count(robot, name) for name in robot.formulations}


def arm_table(robot: str, n: int, costs: dict[str, OperationCount]) -> Any:
    """Beside the general arm of n revolute joints."""
    from tauforge.analysis.complexity import general_operation_count

    rows = [
        (name, pair(c[:2]), c.sincos, pair(c.as_written[:2]), pair(general_operation_count(n, name)[:2]))
        for name, c in costs.items()
    ]
    header = ("formulation", robot, "sin + cos", "as written", f"general {n}R")
    return table("Inverse dynamics: multiplications / additions, rigid bodies", header, rows)


def robot_table(robot: str, costs: dict[str, OperationCount]) -> Any:
    header = ("model", "mult.", "add.", "div.", "roots", "sin + cos", "flops", "as written")
    rows = []
    for name, c in costs.items():
        written = c.as_written
        total = written.multiplications + written.additions + written.divisions + written.roots
        rows.append((name, c.multiplications, c.additions, c.divisions, c.roots, c.sincos, c.flops, total))
    return table(f"{robot}: operations of one inverse dynamics, all included", header, rows)


def size_table() -> Any:
    from tauforge.analysis.complexity import general_cost
    from tauforge.formulations.serial import INVERSE_DYNAMICS

    rows = [(n, *(pair(general_cost(n, as_written=written)) for written in (False, True))) for n in INVERSE_DYNAMICS]
    return table("The general arm of n revolute joints, n >= 4", ("formulation", "traced", "as written"), rows, texts=3)
