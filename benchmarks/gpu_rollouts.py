"""Steps a second of rollouts on a GPU, against the CPU's on a few rows. Needs CuPy and NumPy only.

python gpu_rollouts.py [--worlds 20] [--periods 100] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import tauforge as tf

PERIOD = 1e-3
REPEATS = 6
ACCURACY = {"float64": 1e-12, "float32": 1e-4}  # after all steps, beside the largest position or velocity
FEW = 16


def case(dtype: str, worlds: int, periods: int) -> dict[str, Any]:
    arm = tf.load("puma560").without_friction()
    law = tf.control.ComputedTorque(arm)
    move = tf.motion.JointMove(np.zeros(6), np.full(6, 0.5), PERIOD * periods)
    rng = np.random.default_rng(0)
    few = 0.1 * rng.normal(size=(2, FEW, 6))
    q, qd = (cp.tile(cp.asarray(x, dtype), (worlds // FEW, 1)) for x in few)
    options: dict[str, Any] = {"control_period": PERIOD, "step": PERIOD, "record_every": periods}
    start = time.perf_counter()
    got = tf.rollout(arm, law, move, initial=(q, qd), **options)
    cp.cuda.Device().synchronize()
    first = time.perf_counter() - start
    best = np.inf
    for _ in range(REPEATS):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        got = tf.rollout(arm, law, move, initial=(q, qd), **options)
        end.record()
        end.synchronize()
        best = min(best, cp.cuda.get_elapsed_time(begin, end) / 1e3)
    exact = tuple(x.astype(dtype).astype(float) for x in few)
    expected = tf.rollout(arm, law, move, initial=exact, **options)
    error = max(
        float(np.abs(cp.asnumpy(a[:FEW]).astype(float) - b).max() / np.abs(b).max())
        for a, b in ((got.position, expected.position), (got.velocity, expected.velocity))
    )
    row = {
        "dtype": dtype,
        "worlds": worlds,
        "periods": periods,
        "G_steps_per_s": worlds * periods / best / 1e9,
        "first_use_s": first,
        "error": error,
        "accurate": error < ACCURACY[dtype],
    }
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=20, help="the exponent of 2")
    parser.add_argument("--periods", type=int, default=400)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = [case(dtype, 2**given.worlds, given.periods) for dtype in ("float32", "float64")]
    if given.json:
        given.json.write_text(json.dumps({"date": time.strftime("%Y-%m-%d"), "rollouts": rows}, indent=1))


if __name__ == "__main__":
    main()
