"""Steps a second of rollouts and of their gradients on a GPU, against the CPU's on a few rows. CuPy and NumPy suffice.

python gpu_rollouts.py [--worlds 20] [--periods 400] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import tauforge as tf

PERIOD = 1e-3
REPEATS = 6
ACCURACY = {"float64": 1e-12, "float32": 1e-4}  # after all steps, beside the largest position or velocity
CHANGE = 1e-6  # of central differences
GRADIENTS = {"float64": 1e-8, "float32": 1e-4}  # against differences, and against float64
FEW = 16
ARM = tf.load("puma560").without_friction()
LAW = tf.control.ComputedTorque(ARM)


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """s of the first call, and of the best of some more."""
    start = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    first, best = time.perf_counter() - start, np.inf
    for _ in range(REPEATS):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        best = min(best, cp.cuda.get_elapsed_time(begin, end) / 1e3)
    return first, best


def difference(got: Any, expected: Any) -> float:
    """The largest, beside the largest number."""
    return float(np.abs(cp.asnumpy(got).astype(float) - expected).max() / np.abs(expected).max())


def states(dtype: str, worlds: int) -> tuple[Any, tuple[Any, Any]]:
    """A few on the CPU, as the GPU's precision has them, and these again and again on the GPU."""
    few = (0.1 * np.random.default_rng(0).normal(size=(2, FEW, 6))).astype(dtype)
    q, qd = (cp.tile(cp.asarray(x), (worlds // FEW, 1)) for x in few)
    return tuple(few.astype(float)), (q, qd)


def forward(dtype: str, worlds: int, periods: int) -> dict[str, Any]:
    move = tf.motion.JointMove(np.zeros(6), np.full(6, 0.5), PERIOD * periods)
    few, many = states(dtype, worlds)
    options: dict[str, Any] = {"control_period": PERIOD, "step": PERIOD, "record_every": periods}
    first, best = timed(lambda: tf.rollout(ARM, LAW, move, initial=many, **options))
    got = tf.rollout(ARM, LAW, move, initial=many, **options)
    expected = tf.rollout(ARM, LAW, move, initial=few, **options)
    error = max(difference(got.position[:FEW], expected.position), difference(got.velocity[:FEW], expected.velocity))
    rate = worlds * periods / best / 1e9
    row = {"dtype": dtype, "worlds": worlds, "periods": periods, "G_steps_per_s": rate, "first_use_s": first}
    return row | {"error": error, "accurate": error < ACCURACY[dtype]}


def back(initial: Any, move: tf.motion.Motion, more: dict[str, Any]) -> tuple[Any, tf.RolloutGradient]:
    """Half the squared final state of every row, and its gradient by everything that is given."""
    runs, pull_back = tf.differentiable_rollout(ARM, LAW, move, initial=initial, **more)
    bars = [cp.zeros_like(x) for x in (runs.position, runs.velocity)]
    bars[0][:, -1], bars[1][:, -1] = runs.position[:, -1], runs.velocity[:, -1]
    cost = sum(((x[:, -1] ** 2).sum(axis=-1) / 2 for x in (runs.position, runs.velocity)), start=0.0)
    return cost, pull_back(position=bars[0], velocity=bars[1])


def numbers_given(gradient: tf.RolloutGradient) -> list[Any]:
    return [
        x for x in (gradient.position, gradient.velocity, gradient.forces, gradient.gains.get("kp")) if x is not None
    ]


def given_for(by: str, rows: int, periods: int, dtype: str) -> dict[str, Any]:
    if by == "forces":
        pushes = np.random.default_rng(1).normal(size=(FEW, periods, 6))
        return {"forces": cp.tile(cp.asarray(pushes, dtype), (rows // FEW, 1, 1))}
    if by == "gains, payload":
        held = tf.Payload(1.0, (0.0, 0.0, 0.1), np.eye(3) * 0.01)
        return {
            "gains": {name: cp.tile(cp.asarray(getattr(LAW, name), dtype), (rows, 1, 1)) for name in ("kp", "kv")}
        } | {"payload": held}
    return {}


def checked(dtype: str, periods: int, by: str, move: tf.motion.Motion, options: dict[str, Any]) -> float:
    """float64 against differences of costs along a random change of everything, float32 against float64."""
    _, start = states("float32", FEW)
    start = tuple(x.astype("float64") for x in start)
    more = options | given_for(by, FEW, periods, "float64")
    _, exact = back(start, move, more)
    if dtype == "float32":
        rounded = options | given_for(by, FEW, periods, "float32")
        _, got = back(tuple(x.astype("float32") for x in start), move, rounded)
        pairs = zip(numbers_given(got), numbers_given(exact), strict=True)
        return max(difference(a, cp.asnumpy(b)) for a, b in pairs)
    rng = np.random.default_rng(2)
    change = [cp.asarray(rng.normal(size=x.shape)) for x in numbers_given(exact)]
    costs = []
    for sign in (1, -1):
        moved = dict(more)
        if by == "forces":
            moved["forces"] = more["forces"] + sign * CHANGE * change[2]
        if by == "gains, payload":
            moved["gains"] = more["gains"] | {"kp": more["gains"]["kp"] + sign * CHANGE * change[2]}
        initial = tuple(x + sign * CHANGE * d for x, d in zip(start, change, strict=False))
        costs.append(back(initial, move, moved)[0])
    expected = (costs[0] - costs[1]) / (2 * CHANGE)
    got = sum((x * d).reshape(FEW, -1).sum(axis=1) for x, d in zip(numbers_given(exact), change, strict=True))
    return difference(got, cp.asnumpy(expected))


def gradient(dtype: str, worlds: int, periods: int, by: str) -> dict[str, Any]:
    """The time for a rollout and its gradient by initial states and by what is given, beside a plain rollout's."""
    move = tf.motion.JointMove(np.zeros(6), np.full(6, 0.5), PERIOD * periods)
    _, many = states(dtype, worlds)
    options: dict[str, Any] = {"control_period": PERIOD, "step": PERIOD, "record_every": periods}
    more = options | given_for(by, worlds, periods, dtype)
    _, plain = timed(lambda: tf.rollout(ARM, LAW, move, initial=many, **more))
    first, best = timed(lambda: back(many, move, more))
    error = checked(dtype, periods, by, move, options)
    row = {"dtype": dtype, "worlds": worlds, "periods": periods, "by": f"initial states, {by}".strip(", ")}
    row |= {"ratio": best / plain, "G_steps_per_s": worlds * periods / best / 1e9, "first_use_s": first}
    return row | {"error": error, "accurate": error < GRADIENTS[dtype]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=20, help="the exponent of 2")
    parser.add_argument("--periods", type=int, default=400)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    worlds, precisions = 2**given.worlds, ("float32", "float64")
    rows, slopes = [], []
    for dtype in precisions:
        rows.append(forward(dtype, worlds, given.periods))
        print(rows[-1], flush=True)
    for dtype in precisions:
        for by in ("", "forces", "gains, payload"):
            slopes.append(gradient(dtype, worlds, given.periods, by))
            print(slopes[-1], flush=True)
    if given.json:
        found = {"date": time.strftime("%Y-%m-%d"), "rollouts": rows, "gradients": slopes}
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
