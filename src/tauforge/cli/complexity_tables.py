"""The tables of `complexity`: what the formulations cost."""

from __future__ import annotations

from typing import Any

from tauforge.analysis.complexity import OperationCount, general_cost, general_operation_count, operation_count
from tauforge.cli.output import table
from tauforge.formulations.serial import FORMULATIONS
from tauforge.robots.robot import Robot


def pair(numbers: tuple[int, int]) -> str:
    return f"{numbers[0]} / {numbers[1]}"


def counts(robot: Robot) -> dict[str, OperationCount]:
    """By formulation; of a robot with only one under the name of its function."""
    if len(robot.formulations) == 1:
        return {"inverse-dynamics": operation_count(robot)}
    return {name: operation_count(robot, name) for name in robot.formulations}


def arm_table(robot: str, n: int, costs: dict[str, OperationCount]) -> Any:
    """Beside the general arm of n revolute joints."""
    rows = []
    for name, cost in costs.items():
        general = general_operation_count(n, name)
        rows.append((name, pair(cost[:2]), cost.sincos, pair(cost.as_written[:2]), pair(general[:2])))
    header = ("formulation", robot, "sin + cos", "as written", f"general {n}R")
    return table("Inverse dynamics: multiplications / additions, rigid bodies", header, rows)


def robot_table(robot: str, costs: dict[str, OperationCount]) -> Any:
    header = ("model", "mult.", "add.", "div.", "roots", "sin + cos", "flops", "as written")
    rows = []
    for name, cost in costs.items():
        written = cost.as_written
        total = written.multiplications + written.additions + written.divisions + written.roots
        rows.append(
            (name, cost.multiplications, cost.additions, cost.divisions, cost.roots, cost.sincos, cost.flops, total)
        )
    return table(f"{robot}: operations of one inverse dynamics, all included", header, rows)


def size_table() -> Any:
    rows = []
    for name in FORMULATIONS:
        costs = (general_cost(name), general_cost(name, as_written=True))
        rows.append((name, *(f"{multiplications} / {additions}" for multiplications, additions in costs)))
    return table("The general arm of n revolute joints, n >= 4", ("formulation", "traced", "as written"), rows, texts=3)
