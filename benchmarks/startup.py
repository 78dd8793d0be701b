"""Seconds until the first answer, every one in a process of its own: `python startup.py FUNCTION` is that process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from measure import spread, timed

FUNCTIONS = (
    "inverse_dynamics",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
STEPS = {"trace": "trace", "compile64": "compile", "load64": "load", "rest": "the rest", "imports": "and imports"}


def first_answer(function: str) -> dict[str, Any]:
    """What the first call costs, and a later one; apart from it the compiler's import, which a process pays once."""
    import tauforge as tf

    imports = timed(partial(import_module, "tauforge.kernels.cpu.kernel"))
    arm = tf.load("puma560").without_friction()
    state = np.zeros((3, arm.n))
    first = timed(partial(getattr(arm, function), *state))
    later = min(timed(partial(getattr(arm, function), *state)) for _ in range(100))
    steps = arm.kernel(function).seconds
    return {"first": first, "seconds": {**steps, "rest": first - sum(steps.values()), "imports": imports, "run": later}}


def in_a_process(function: str, cache: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, function],
        env=os.environ | {"TAUFORGE_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def first_use(processes: int) -> list[dict[str, Any]]:
    """Without a cache, and with one that another process has filled; the two take turns."""
    rows = []
    for function in FUNCTIONS:
        found: dict[str, list[dict[str, Any]]] = {"compiled": [], "cached": []}
        with tempfile.TemporaryDirectory() as folder:
            in_a_process(function, folder)
            for _ in range(processes):
                found["compiled"].append(in_a_process(function, "off"))
                found["cached"].append(in_a_process(function, folder))
        row: dict[str, Any] = {"function": function}
        for label, runs in found.items():
            row[label] = spread([run["first"] for run in runs])
            row[f"{label}_steps"] = min(runs, key=lambda run: run["first"])["seconds"]
        rows.append(row)
        print(describe(row), flush=True)
    return rows


def describe(row: dict[str, Any]) -> str:
    """In milliseconds."""
    parts = []
    for label in ("compiled", "cached"):
        took = {key: x * 1e3 for key, x in row[label].items()}
        steps = ", ".join(f"{STEPS[key]} {x * 1e3:.1f}" for key, x in row[f"{label}_steps"].items() if key in STEPS)
        parts.append(f"{label} {took['fastest']:.1f} ms, median {took['median']:.1f} ({steps})")
    return f"first {row['function']}: {'; '.join(parts)}; later {row['compiled_steps']['run'] * 1e6:.2f} us"


if __name__ == "__main__":
    print(json.dumps(first_answer(sys.argv[1])))
