"""A million states on one thread and on all, beside what the memory of the machine allows."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from measure import Task, nanoseconds, ratio, take_turns

import tauforge as tf

STATES = 1_000_000
COPIED = 30_000_000  # numbers, 240 MB: no cache holds them


def threads(arm: tf.SerialArm, seconds: float) -> dict[str, Any] | None:
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        print("one core only: threads are not measured")
        return None
    arguments = tuple(np.random.default_rng(0).normal(size=(3, STATES, arm.n)))
    out = np.empty_like(arguments[0])
    call = partial(arm.kernel("inverse_dynamics"), *arguments, out=out)
    source, target = np.ones(COPIED), np.empty(COPIED)

    def on(count: int) -> None:
        tf.set_threads(count)
        call()

    with ThreadPoolExecutor(cores) as pool:
        tasks = [Task(f"{count} threads", call, STATES, partial(on, count)) for count in (1, cores)]
        copies = [Task(f"copy {count}", partial(copy, pool, source, target, count), COPIED * 8) for count in (1, cores)]
        turns = take_turns([*tasks, *copies], seconds)
    tf.set_threads(None)
    times = nanoseconds(turns)
    speed_up = ratio(turns["1 threads"], turns[f"{cores} threads"])
    copied = ratio(turns["copy 1"], turns[f"copy {cores}"])
    print(
        f"{cores} threads on a million states: {speed_up['fastest']:.2f} x, median {speed_up['median']:.2f} x; "
        f"a plain copy gains {copied['fastest']:.2f} x, median {copied['median']:.2f} x",
        flush=True,
    )
    return {
        "function": "inverse_dynamics, out=",
        "states": STATES,
        "ns": {task.name: times[task.name]["fastest"] for task in tasks},
        "ns_median": {task.name: times[task.name]["median"] for task in tasks},
        "speed-up": speed_up["fastest"],
        "speed-up_median": speed_up["median"],
        "copy_GB_per_s": {f"{count} threads": 1 / times[f"copy {count}"]["fastest"] for count in (1, cores)},
        "copy_speed-up": copied["fastest"],
        "copy_speed-up_median": copied["median"],
    }


def copy(pool: ThreadPoolExecutor, source: np.ndarray, target: np.ndarray, count: int) -> None:
    """In equal parts, one for every thread; NumPy copies without the interpreter's lock."""
    parts = zip(np.array_split(target, count), np.array_split(source, count), strict=True)
    list(pool.map(lambda part: np.copyto(*part), parts))
