"""Steps of mechanisms' rollouts under computed torque: compiled ones beside the methods of law and mechanism.

`python mechanism_rollouts.py` writes results/mechanism_rollouts/DATE.json. Both ways call kernels for all rows at once,
on one core, interleaved, and must agree first. The compiled way has one kernel for the law, one for a stage and one for
the end of a step. Times are processor times.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from measure import Task, nanoseconds, ratios, take_turns

import tauforge as tf
from tauforge.kernels.backends import NoKernelError
from tauforge.simulation import compiled_loop
from tauforge.simulation.step_formulas import Given, StepFormulas

HERE = Path(__file__).parent
NAMES = ("four-bar", "five-bar", "3-rps", "delta", "hexapod-6rus")
WORLDS, STEPS, STEP = 1024, 100, 1e-3
AGREE = 1e-10  # of positions after the steps
COMPILED, METHODS = "tauforge", "step by step"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="for each mechanism")
    parser.add_argument("--quick", action="store_true", help="a second each, nothing written")
    given = parser.parse_args()
    os.environ["TAUFORGE_CACHE"] = ""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    tf.set_threads(1)
    found = [measured(tf.load(name), 1.0 if given.quick else given.seconds) for name in NAMES]
    if not given.quick:
        from run import environment

        where = environment()
        report = {"environment": where, "load_average": os.getloadavg()[0], "worlds": WORLDS, "mechanisms": found}
        path = HERE / "results" / "mechanism_rollouts" / f"{where['date'][:10]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        print(path)


def measured(mechanism: tf.Mechanism, seconds: float) -> dict[str, Any]:
    law = tf.control.ComputedTorque(mechanism, 900.0, 60.0)
    q = mechanism.positions.coordinates(mechanism.home)
    start = q + np.random.default_rng(0).normal(size=(WORLDS, mechanism.n)) * 1e-3
    compiled = partial(
        tf.rollout,
        mechanism,
        law,
        tf.motion.JointMove(q, q + 0.02, 2 * STEPS * STEP),
        initial=(mechanism.configuration(start), np.zeros(mechanism.n)),
        duration=STEPS * STEP,
        step=STEP,
        control_period=STEP,
        record_every=STEPS,
    )
    methods = by_methods(compiled)
    started = time.process_time()
    mine = compiled()
    first_use = time.process_time() - started
    apart = float(np.abs(mine.position - methods().position).max())
    if not apart < AGREE:
        raise ValueError(f"{mechanism.name}: the two ways differ by {apart:.1e}: nothing is timed")
    pieces = WORLDS * STEPS
    turns = take_turns([Task(COMPILED, compiled, pieces), Task(METHODS, methods, pieces)], seconds, time.process_time)
    operations = StepFormulas(None, mechanism, Given(), STEP).operations
    row = {
        "name": mechanism.name,
        "freedom": mechanism.n,
        "operations": operations,
        "first_use_s": first_use,
        "gap": float((mechanism.loop_gap(mine.position) / mechanism._analysis.size).max()),
        "ns": nanoseconds(turns),
        "ratio": ratios(turns, COMPILED),
    }
    took = {name: times["fastest"] for name, times in row["ns"].items()}
    print(f"{mechanism.name}: {took}, {row['ratio']}, first use {first_use:.2f} s, gap {row['gap']:.1e}", flush=True)
    return row


def by_methods(call: Callable[[], Any]) -> Callable[[], Any]:
    """The same without compiled steps."""

    def called() -> Any:
        with patch.object(compiled_loop, "CompiledLoop", side_effect=NoKernelError("not wanted")):
            return call()

    return called


if __name__ == "__main__":
    main()
