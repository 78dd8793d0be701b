"""`bench`: the time of a robot's inverse dynamics, or the repository's benchmarks, where there is a repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tauforge.cli.inputs import load_robot
from tauforge.cli.options import Json, complete_robot, switch
from tauforge.cli.output import Failed, error, number, result, table, working

CHECKOUT = Path(__file__).parents[3]
QUICK_ROUNDS = 10


def bench(
    robot: Annotated[
        str | None,
        typer.Argument(
            metavar="[ROBOT]",
            help="Time this robot's inverse dynamics in every formulation; a name of the catalogue, or a file.",
            autocompletion=complete_robot,
        ),
    ] = None,
    quick: Annotated[bool, switch("--quick", "A short look, fewer repetitions.")] = False,
    as_json: Json = False,
) -> None:
    """Time a robot's inverse dynamics, or, in a checkout, compare the speed with other libraries.

    Without a robot it writes benchmarks/results.
    """
    if robot is not None:
        _of_robot(robot, quick, as_json)
        return
    script = CHECKOUT / "benchmarks" / "run.py"
    if not script.is_file():
        remedy = "Clone the repository, pip install -e '.[test]', and run tauforge bench from there"
        error("the benchmarks are part of the repository, not of the installed package", remedy)
        raise Failed
    command = [sys.executable, str(script), *(["--quick"] if quick else [])]
    with working("measuring; this takes minutes"):
        done = subprocess.run(command, cwd=script.parent, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        error(f"the benchmarks ended with exit code {done.returncode}")
        raise Failed
    path = done.stdout.split("\n")[-2]  # which it prints last
    result(as_json, {"results": path}, lambda: [f"written to {path}"])


def _of_robot(name: str, quick: bool, as_json: bool) -> None:
    from tauforge.analysis.timing import ROUNDS, time_per_state

    mine = load_robot(name)
    with working("measuring"):
        times = {own: time_per_state(mine, own, rounds=QUICK_ROUNDS if quick else ROUNDS) for own in mine.formulations}

    def shown() -> Any:
        rows = [(own, number(t.single * 1e6, 3), number(t.batch * 1e6, 3)) for own, t in times.items()]
        states = next(iter(times.values())).states
        header = ("formulation", "one call [us]", f"a state of {states} [us]")
        yield table(f"{mine.name}: time of one inverse dynamics on this machine", header, rows)

    result(as_json, {"robot": mine.name, "seconds": {own: t._asdict() for own, t in times.items()}}, shown)
