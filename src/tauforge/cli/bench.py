"""`bench`: the repository's benchmarks, where there is a repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

from tauforge.cli.options import Json, switch
from tauforge.cli.output import Failed, error, result, working

CHECKOUT = Path(__file__).parents[3]


def bench(
    quick: Annotated[bool, switch("--quick", "A short look, fewer repetitions.")] = False, as_json: Json = False
) -> None:
    """Compare the speed with other libraries on this machine; writes benchmarks/results in the checkout."""
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
