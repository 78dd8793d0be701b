"""`make bench`: the kernels beside the best of the others, one core, interleaved in one run, equality checked first.

Writes a dated JSON with processor, versions and commit to benchmarks/results; ratios are of the fastest repetitions.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from candidates import Candidate, casadi_c, pinocchio_cpp, pinocchio_python, tauforge_method

import tauforge as tf
from tauforge.kernels.host import host

RESULTS = Path(__file__).parent / "results"
EQUAL = 1e-10
REPETITIONS = 60
TURN = 5
CASES = [  # function, batch size, how many times faster than the C++ core it must be
    ("inverse_dynamics", 16_384, 50),
    ("forward_dynamics", 16_384, 75),
    ("mass_matrix", 1_024, 22),
    ("mass_matrix", 16_384, None),
    ("inverse_dynamics_derivatives", 1_024, 27),
    ("forward_dynamics_derivatives", 1_024, 27),
]
ARGUMENTS = {"mass_matrix": 1}


def several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def check_equal(candidates: list[Candidate], arguments: tuple[np.ndarray, ...]) -> None:
    expected = several(candidates[0].call(*arguments))
    for candidate in candidates[1:]:
        for a, b in zip(several(candidate.call(*arguments)), expected, strict=True):
            error = np.abs(a - b).max() / np.abs(b).max()
            assert error < EQUAL, f"{candidate.name} differs by {error:.1e}"


def measure(candidates: list[Candidate], arguments: tuple[Any, ...], states: int, repetitions: int) -> dict[str, Any]:
    """Nanoseconds per state, fastest and median, the candidates taking turns of a few calls each.

    The first call of a turn finds the caches full of the other candidate's data: it warms up and is not timed.
    """
    times: dict[str, list[float]] = {candidate.name: [] for candidate in candidates}
    for _ in range(repetitions // TURN):
        for candidate in candidates:
            candidate.call(*arguments)
            for _ in range(TURN):
                start = time.perf_counter()
                candidate.call(*arguments)
                times[candidate.name].append((time.perf_counter() - start) / states * 1e9)
    return {name: {"fastest": min(t), "median": float(np.median(t))} for name, t in times.items()}


def batches(arm: tf.SerialArm) -> list[dict[str, Any]]:
    rows = []
    for function, states, required in CASES:
        arguments = tuple(np.random.default_rng(0).normal(size=(3, states, arm.n)))[: ARGUMENTS.get(function, 3)]
        found = [tauforge_method(arm, function), pinocchio_cpp(arm, function)]
        if function == "inverse_dynamics":
            found.append(casadi_c(arm))
        candidates = [candidate for candidate in found if candidate is not None]
        check_equal(candidates, arguments)
        row = {"function": function, "states": states, "required": required}
        row["ns"] = measure(candidates, arguments, states, REPETITIONS)
        rows.append(row)
        print(describe(row), flush=True)
    return rows


def describe(row: dict[str, Any]) -> str:
    ns = {name: t["fastest"] for name, t in row["ns"].items()}
    own = ns["tauforge"]
    rest = ", ".join(f"{name} {t:.1f} ({t / own:.1f} x)" for name, t in ns.items() if name != "tauforge")
    return f"{row['function']}, {row['states']} states: {own:.1f} ns; {rest}"


def single_call(arm: tf.SerialArm) -> dict[str, Any]:
    state = tuple(np.random.default_rng(0).normal(size=(3, arm.n)))
    found = [tauforge_method(arm, "inverse_dynamics"), pinocchio_python(arm)]
    arm.inverse_dynamics(*state)
    found[0] = Candidate("tauforge", lambda *s: arm.inverse_dynamics(*s))

    def many(call: Callable[..., Any]) -> Callable[..., Any]:
        def loop(*arguments: Any) -> Any:
            for _ in range(1000):
                result = call(*arguments)
            return result

        return loop

    candidates = [c for c in found if c is not None]
    check_equal(candidates, state)
    bound = arm.inverse_dynamics
    looped = [Candidate("tauforge", many(bound))] + [Candidate(c.name, many(c.call)) for c in candidates[1:]]
    row = {"function": "one inverse dynamics call from Python", "states": 1, "required": 4}
    row["ns"] = measure(looped, state, 1000, REPETITIONS)
    print(describe(row), flush=True)
    return row


def single_precision(arm: tf.SerialArm) -> dict[str, Any]:
    arguments = tuple(np.random.default_rng(0).normal(size=(3, 16_384, arm.n)).astype(np.float32))
    row = {"function": "inverse_dynamics in float32", "states": 16_384, "required": None}
    row["ns"] = measure([tauforge_method(arm, "inverse_dynamics")], arguments, 16_384, REPETITIONS)
    print(describe(row), flush=True)
    return row


def threads(arm: tf.SerialArm) -> dict[str, Any]:
    """A million states into a given array, on one core and on all."""
    arguments = tuple(np.random.default_rng(0).normal(size=(3, 1_000_000, arm.n)))
    kernel = arm.kernel("inverse_dynamics")
    out = np.empty_like(arguments[0])
    result: dict[str, Any] = {"function": "inverse_dynamics, out=", "states": 1_000_000, "ns": {}}
    cores = len(os.sched_getaffinity(0))
    for count in (1, cores):
        tf.set_threads(count)
        kernel(*arguments, out=out)
        best = min(timed(lambda: kernel(*arguments, out=out)) for _ in range(10))
        result["ns"][f"{count} threads"] = best / 1_000_000 * 1e9
    tf.set_threads(None)
    result["speed-up"] = result["ns"]["1 threads"] / result["ns"][f"{cores} threads"]
    print(f"{cores} threads on a million states: {result['speed-up']:.2f} x", flush=True)
    return result


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def first_use() -> list[dict[str, Any]]:
    """Seconds until the first answer, without and with the cache, in fresh arms of this process."""
    rows = []
    for function in (
        "inverse_dynamics",
        "forward_dynamics",
        "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives",
    ):
        state = np.zeros((3, 6))
        row: dict[str, Any] = {"function": function}
        for label, folder in (("compiled", "off"), ("cached", None)):
            if folder is None:
                os.environ.pop("TAUFORGE_CACHE", None)
                getattr(tf.load("puma560").without_friction(), function)(*state)
            else:
                os.environ["TAUFORGE_CACHE"] = folder
            arm = tf.load("puma560").without_friction()
            row[label] = timed(partial(getattr(arm, function), *state))
        rows.append(row)
        print(
            f"first {function}: {row['compiled'] * 1e3:.0f} ms, from the cache {row['cached'] * 1e3:.1f} ms", flush=True
        )
    return rows


def long_arms() -> list[dict[str, Any]]:
    """Cost per joint of general arms of 6 to 48 revolute joints, and how long the first answer takes."""
    rows = []
    os.environ["TAUFORGE_CACHE"] = "off"
    for n in (6, 12, 24, 48):
        rng = np.random.default_rng(n)
        table = {key: rng.uniform(-1, 1, n) for key in ("alpha", "a", "d")}
        tensors = [np.diag(rng.uniform(1, 1.5, 3)) for _ in range(n)]
        arm = tf.SerialArm.from_dh(
            joints="R" * n, **table, mass=rng.uniform(1, 2, n), com=rng.uniform(-0.2, 0.2, (n, 3)), inertia=tensors
        )
        state = tuple(rng.normal(size=(3, 2_048, n)))
        first = timed(partial(arm.inverse_dynamics, *state))
        ns = min(timed(partial(arm.inverse_dynamics, *state)) for _ in range(REPETITIONS)) / 2_048 * 1e9
        rows.append({"joints": n, "first_use_s": first, "ns": ns, "ns_per_joint": ns / n})
        ratio = rows[-1]["ns_per_joint"] / rows[0]["ns_per_joint"]
        print(f"{n} joints: {ns:.0f} ns, {ratio:.2f} x the cost per joint of 6; first answer {first:.2f} s", flush=True)
    return rows


def batch_sizes(arm: tf.SerialArm) -> list[dict[str, Any]]:
    """Nanoseconds per state of inverse dynamics against the batch size, one core."""
    rows = []
    for count in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000):
        state = tuple(np.random.default_rng(0).normal(size=(3, count, arm.n)))
        arm.inverse_dynamics(*state)
        ns = min(timed(partial(arm.inverse_dynamics, *state)) for _ in range(20)) / count * 1e9
        rows.append({"states": count, "ns": ns})
    print("per state by batch size: " + ", ".join(f"{row['states']:,}: {row['ns']:.0f} ns" for row in rows), flush=True)
    return rows


def environment() -> dict[str, Any]:
    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    names = ("tauforge", "numpy", "llvmlite", "pin", "casadi")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": host().cpu,
        "vector_bits": host().vector_bits,
        "python": platform.python_version(),
        "versions": {name: installed(name) for name in names},
        "commit": commit.stdout.strip(),
    }


def main() -> None:
    cores = sorted(os.sched_getaffinity(0))
    arm = tf.load("puma560").without_friction()
    report: dict[str, Any] = {"environment": environment()}
    report["threads"] = threads(arm)
    os.sched_setaffinity(0, cores[-1:])
    report["batches"] = [*batches(arm), single_precision(arm), single_call(arm)]
    report["batch_sizes"] = batch_sizes(arm)
    report["first_use"] = first_use()
    report["long_arms"] = long_arms()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{report['environment']['date'][:10]}.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(path)


if __name__ == "__main__":
    main()
