"""Rates on a GPU as shares of a plain copy of the same bytes, and accuracy against the CPU. Needs CuPy and NumPy only.

    python gpu.py [--states 24] [--json FILE] [--quick] [--batches FILE]

States are 2^24 by default. A rate is that of the fastest of several launches, timed by events; a copy of as many bytes
as the function reads and writes takes turns with it. Results are written over NaN first, so that an element that is not
written is found; states for the check are fresh and random, and the reference is NumPy's. With --batches, rates of two
functions against the number of states, calls from Python included, go to a file of their own.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from functools import partial
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import tauforge as tf

CHECKED = 4096  # states that are compared with the reference
REPEATS = 12
CALLS = 20
SMOOTH = " without friction"  # ends the name of such an arm
FUNCTIONS = (
    ("puma560", "inverse_dynamics"),
    ("puma560", "forward_dynamics"),
    (f"puma560{SMOOTH}", "forward_dynamics"),
    ("puma560", "mass_matrix"),
    ("puma560", "inverse_dynamics_derivatives"),
    ("puma560", "forward_dynamics_derivatives"),
    ("dasgupta1998", "inverse_kinematics"),
    ("dasgupta1998", "inverse_dynamics"),
    ("dasgupta1998", "forward_dynamics"),
)
ACCURACY = {"float64": 1e-12, "float32": 1e-5}
HOME = np.array([0.1, 0.0, 1.0, 0.1, 0.2, 0.1])


def fastest(*calls: Any) -> list[float]:
    """Seconds of one launch of each, which take turns."""
    best = [math.inf] * len(calls)
    for _ in range(REPEATS):
        for k, call in enumerate(calls):
            start, end = cp.cuda.Event(), cp.cuda.Event()
            start.record()
            call()
            end.record()
            end.synchronize()
            best[k] = min(best[k], cp.cuda.get_elapsed_time(start, end) / 1e3)
    return best


def copying(count: int) -> Any:
    """A call that copies, and reads and writes this many bytes altogether."""
    numbers = count // 16
    return partial(cp.copyto, cp.empty(numbers), cp.zeros(numbers))


def states(kernel: Any, count: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    found = []
    for name, core in kernel.arguments:
        values = rng.uniform(-1.0, 1.0, (count, *core))
        found.append(HOME + 0.05 * values if name == "pose" else values)
    return found


def laid_out(array: np.ndarray, dtype: str, layout: str) -> Any:
    if layout == "rows":
        return cp.asarray(array, dtype)
    return cp.asarray(np.ascontiguousarray(array.T), dtype).T


def tiled(array: np.ndarray, count: int, dtype: str, layout: str) -> Any:
    """The states again and again, made on the GPU."""
    few = cp.asarray(array, dtype)
    repeats = -(-count // len(few))
    if layout == "rows":
        return cp.tile(few, (repeats, 1))[:count]
    return cp.tile(cp.ascontiguousarray(few.T), (1, repeats))[:, :count].T


def error_of(got: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference in a row over the largest magnitude in that row."""
    rows = len(expected)
    a, b = got.reshape(rows, -1).astype(float), expected.reshape(rows, -1)
    return float((np.abs(a - b).max(axis=1) / np.abs(b).max(axis=1)).max())


def residual(robot: Any, given: list[np.ndarray], acceleration: np.ndarray) -> float:
    """The error of the forces that the accelerations need, beside the larger of what motion and acceleration take.

    Accelerations themselves lose digits wherever forces nearly cancel, as those of legs and a platform's weight do.
    """
    position, velocity, force = given
    needed = robot.inverse_dynamics(position, velocity, acceleration)
    resting = robot.inverse_dynamics(position, velocity, np.zeros_like(acceleration))
    scale = np.maximum(np.abs(resting), np.abs(needed - resting)).max(axis=1)
    return float((np.abs(needed - force).max(axis=1) / scale).max())


def checked(robot: Any, name: str, dtype: str, layout: str) -> float:
    """The error against the reference, for results that were NaN before."""
    kernel = robot.kernel(name, target="cuda", dtype=dtype)
    given = [a.astype(dtype).astype(float) for a in states(kernel, CHECKED + 1, time.time_ns() % 2**32)]
    on_gpu = [laid_out(a, dtype, layout) for a in given]
    outs = tuple(cp.full((CHECKED + 1, *core), cp.nan, dtype) for core in kernel.results)
    kernel(*on_gpu, out=outs)
    if name == "forward_dynamics":
        return residual(robot, given, cp.asnumpy(outs[0]).astype(float))
    expected = robot._answer(name, dict(zip((n for n, _ in kernel.arguments), given, strict=True)))
    errors = []
    for got, right in zip(outs, expected, strict=True):
        errors.append(error_of(cp.asnumpy(got), right))
    return max(errors)


def case(robot_name: str, name: str, dtype: str, layout: str, count: int) -> dict[str, Any]:
    robot: Any = tf.load(robot_name.removesuffix(SMOOTH))
    robot = robot.without_friction() if robot_name.endswith(SMOOTH) else robot
    kernel = robot.kernel(name, target="cuda", dtype=dtype)
    few = states(kernel, 65_536, 0)
    start = time.perf_counter()
    kernel(*(laid_out(a[:64], dtype, layout) for a in few))
    cp.cuda.Device().synchronize()
    first = time.perf_counter() - start
    arrays = [tiled(a, count, dtype, layout) for a in few]
    outs = kernel(*arrays)
    outs = outs if isinstance(outs, tuple) else (outs,)
    copy = copying(sum(a.nbytes for a in (*arrays, *outs)))
    copy()
    seconds, copied = fastest(partial(kernel, *arrays, out=outs), copy)
    function, _ = next(iter(kernel._functions.values()))
    row = {
        "robot": robot_name,
        "function": name,
        "dtype": dtype,
        "layout": layout,
        "states": count,
        "G_per_s": count / seconds / 1e9,
        "share_of_copy": copied / seconds,
        "first_use_s": first,
        "registers": cp.cuda.driver.funcGetAttribute(4, function.ptr),
        "local_bytes": cp.cuda.driver.funcGetAttribute(3, function.ptr),
        "error": checked(robot, name, dtype, layout),
    }
    row["accurate"] = row["error"] < ACCURACY[dtype]
    print(
        f"{robot_name:13} {name:29} {dtype} {layout:7} {row['G_per_s']:7.2f} G/s {row['share_of_copy']:6.1%} of copy, "
        f"first {first:.2f} s, {row['registers']} registers, {row['local_bytes']} B local, error {row['error']:.1e}"
        f"{'' if row['accurate'] else '  WRONG'}",
        flush=True,
    )
    del arrays, outs, copy
    cp.get_default_memory_pool().free_all_blocks()
    return row


def against_batch(dtype: str) -> list[dict[str, Any]]:
    """Calls with rows, results written over old ones, many calls before the clock stops."""
    arm, rows = tf.load("puma560").without_friction(), []
    for name in ("inverse_dynamics", "forward_dynamics"):
        kernel = arm.kernel(name, target="cuda", dtype=dtype)
        few = states(kernel, 65_536, 0)
        for exponent in range(0, 25, 2):
            count = 2**exponent
            arrays = [tiled(a, count, dtype, "rows") for a in few]
            out = kernel(*arrays)
            best = math.inf
            for _ in range(REPEATS):
                cp.cuda.Device().synchronize()
                start = time.perf_counter()
                for _ in range(CALLS):
                    kernel(*arrays, out=out)
                cp.cuda.Device().synchronize()
                best = min(best, (time.perf_counter() - start) / CALLS)
            rows.append({"function": name, "dtype": dtype, "states": count, "G_per_s": count / best / 1e9})
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=24, help="the exponent of 2")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--batches", type=Path)
    given = parser.parse_args()
    properties = cp.cuda.runtime.getDeviceProperties(0)
    print(properties["name"].decode(), "CuPy", cp.__version__, "CUDA", cp.cuda.runtime.runtimeGetVersion(), flush=True)
    rows = []
    for robot, name in FUNCTIONS[:: 3 if given.quick else 1]:
        for dtype in ("float32", "float64"):
            for layout in ("columns", "rows"):
                rows.append(case(robot, name, dtype, layout, 2**given.states))
    if given.json:
        report = {"gpu": properties["name"].decode(), "date": time.strftime("%Y-%m-%d"), "functions": rows}
        given.json.write_text(json.dumps(report, indent=1))
    if given.batches:
        found = [row for dtype in ("float32", "float64") for row in against_batch(dtype)]
        report = {"gpu": properties["name"].decode(), "date": time.strftime("%Y-%m-%d"), "batches": found}
        given.batches.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
