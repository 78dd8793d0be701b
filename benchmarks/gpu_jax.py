"""JAX on the same GPU: the same formulations, traced and evaluated over `jax.numpy` under `jit`, beside our kernels.

python gpu_jax.py [--states 24] [--worlds 20] [--periods 100] [--json FILE]

JAX evaluates our graph, so both sides compute the same operations; XLA compiles it instead of us. Rows are the layout
that JAX has.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # both sides need memory

import cupy as cp
import jax
import jax.numpy as jnp
import numpy as np

import tauforge as tf
from tauforge.evaluation.differentiable import named_function
from tauforge.kernels.specification import inputs_of
from tauforge.simulation.step_formulas import Given, StepFormulas

jax.config.update("jax_enable_x64", True)
REPEATS = 8
PERIOD = 1e-3
ACCURACY = {"float64": 1e-10, "float32": 1e-3}  # of one side against the other, beside the largest number


def timed(call: Callable[[], Any], wait: Callable[[Any], Any]) -> tuple[float, float]:
    """s of the first call, and of the best of some more."""
    start = time.perf_counter()
    wait(call())
    first, best = time.perf_counter() - start, np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        wait(call())
        best = min(best, time.perf_counter() - start)
    return first, best


def waiting(_: Any) -> None:
    cp.cuda.Device().synchronize()


def row_of(what: str, dtype: str, count: int, ours: Any, theirs: Any, error: float) -> dict[str, Any]:
    row = {
        "what": what,
        "dtype": dtype,
        "tauforge_G_per_s": count / ours[1] / 1e9,
        "jax_G_per_s": count / theirs[1] / 1e9,
    }
    row |= {"ratio": theirs[1] / ours[1], "tauforge_first_use_s": ours[0], "jax_first_use_s": theirs[0], "error": error}
    row["accurate"] = error < ACCURACY[dtype]
    print(row, flush=True)
    return row


def difference(ours: Any, theirs: Any) -> float:
    a, b = cp.asnumpy(ours[:1000]).astype(float), np.asarray(theirs[:1000]).astype(float)
    return float(np.abs(a - b).max() / np.abs(b).max())


def function(name: str, dtype: str, count: int) -> dict[str, Any]:
    arm = tf.load("puma560").without_friction()
    given = np.random.default_rng(0).uniform(-1, 1, (3, 2**16, 6)).astype(dtype)
    here = [cp.tile(cp.asarray(x), (count >> 16, 1)) for x in given]
    there = [jnp.tile(jnp.asarray(x), (count >> 16, 1)) for x in given]
    evaluation = named_function(arm, name, {})
    graph = jax.jit(lambda *arrays: evaluation.over(jnp, *arrays)[0])
    kernel = arm.kernel(name, target="cuda", dtype=dtype)
    ours = timed(lambda: kernel(*here), waiting)
    theirs = timed(lambda: graph(*there), jax.block_until_ready)
    return row_of(name, dtype, count, ours, theirs, difference(kernel(*here), graph(*there)))


def rollout(dtype: str, worlds: int, periods: int) -> dict[str, Any]:
    arm = tf.load("puma560").without_friction()
    law = tf.control.ComputedTorque(arm)
    move = tf.motion.JointMove(np.zeros(6), np.full(6, 0.5), PERIOD * periods)
    few = (0.1 * np.random.default_rng(0).normal(size=(2, 16, 6))).astype(dtype)
    q, qd = (cp.tile(cp.asarray(x), (worlds // 16, 1)) for x in few)
    graph = StepFormulas(law, arm, Given(), PERIOD).controlled_step().graph
    names = inputs_of({"q": (6,), "qd": (6,)}.items())
    targets = inputs_of((name, (6,)) for name in ("target", "target_rate", "target_acceleration"))
    prescribed = jnp.asarray(np.concatenate(move.sample(PERIOD * np.arange(periods)), axis=1).astype(dtype))

    def step(state: Any, target: Any) -> tuple[Any, None]:
        inputs = dict(zip(names, state, strict=True)) | dict(zip(targets, target, strict=True))
        return tuple(graph.evaluate(inputs)[:12]), None

    run = jax.jit(lambda state: jax.lax.scan(step, state, prescribed)[0])
    start = tuple(jnp.tile(jnp.asarray(x), worlds // 16) for x in np.concatenate(few, axis=1).T)
    options: dict[str, Any] = {"control_period": PERIOD, "step": PERIOD, "record_every": periods}
    ours = timed(lambda: tf.rollout(arm, law, move, initial=(q, qd), **options), waiting)
    theirs = timed(lambda: run(start), jax.block_until_ready)
    got = tf.rollout(arm, law, move, initial=(q, qd), **options).position[:, -1]
    error = difference(got, jnp.stack(run(start)[:6], axis=1))
    return row_of("rollout under computed torque, steps", dtype, worlds * periods, ours, theirs, error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=24, help="the exponent of 2")
    parser.add_argument("--worlds", type=int, default=20, help="the exponent of 2")
    parser.add_argument("--periods", type=int, default=100)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = []
    for dtype in ("float32", "float64"):
        for name in ("inverse_dynamics", "forward_dynamics"):
            rows.append(function(name, dtype, 2**given.states))
        rows.append(rollout(dtype, 2**given.worlds, given.periods))
    if given.json:
        device = jax.devices()[0]
        report = {"gpu": device.device_kind, "jax": jax.__version__, "date": time.strftime("%Y-%m-%d"), "rows": rows}
        given.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
