"""`compare`: formulations or Stewart models side by side."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

import typer

from tauforge.cli.inputs import load_robot, read_motion, rows_of
from tauforge.cli.options import File, Json, Lock, Robot, Smooth, Tip, setting
from tauforge.cli.output import bad, number, result, table


def compare(
    robot: Robot = "puma560",
    motion: Annotated[File, setting("FILE.csv", "Compare along this motion instead of at random states.")] = None,
    states: Annotated[int, typer.Option(min=1, help="How many random states.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random states.")] = 0,
    smooth: Smooth = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """The largest differences between the formulations of an arm, or the errors of a platform's published models."""
    if smooth is not None and motion is None:
        raise bad("--smooth", "there is no --motion to smooth")
    mine = load_robot(robot, tip, lock)
    given: Any = None
    if motion is not None:
        moves = read_motion(motion, mine, smooth)
        given, where = moves.samples, f"along {motion}"
    else:
        given, where = mine.random_states(states, seed), f"at {states} random states"
    with nullcontext() if motion is None else rows_of(motion, moves.rows, moves.times):
        shown = _compare_published if mine.formulations.simplifications else _compare_formulations
        shown(mine, given, where, as_json)


def _compare_formulations(robot: Any, given: Any, where: str, as_json: bool) -> None:
    import numpy as np

    from tauforge.analysis.comparison import compare as compared

    found = compared(robot, *given)
    peak = max(float(np.abs(torques).max()) for torques in found.torques.values())

    def shown() -> Any:
        rows = [(name, f"{error:.1e}") for name, error in found.disagreement.items()]
        header = ("formulation", "largest disagreement")
        yield table(f"{robot.name}: {len(rows)} formulations {where}", header, rows)
        yield "Relative to the largest force of the state, with the formulation that differs most."

    data = {"robot": robot.name, "where": where, "largest": found.largest, "largest_force": peak}
    result(as_json, {**data, "disagreement": found.disagreement}, shown)


def _compare_published(robot: Any, given: Any, where: str, as_json: bool) -> None:
    import numpy as np

    from tauforge.analysis.comparison import assess

    peak = float(np.abs(robot.inverse_dynamics(*given)).max())
    verdicts = assess(robot, *given)

    def shown() -> Any:
        rows = [(*v.simplification[:2], number(v.worst), number(v.percent.max(), 2)) for v in verdicts]
        header = ("assumption, everything else exact", "source", "error [N]", "[%]")
        yield table(f"{robot.name}: published models {where}, against the exact one", header, rows, texts=2)
        yield f"Largest error of any leg; [%] of that leg's largest exact force. Largest exact force: {number(peak)} N."

    keys = ("name", "source", "model", "corrections")
    models = [
        {key: getattr(v.simplification, key) for key in keys}
        | {"largest_error": v.largest, "rms_error": v.rms, "percent": v.percent}
        for v in verdicts
    ]
    result(as_json, {"robot": robot.name, "where": where, "largest_force": peak, "models": models}, shown)
