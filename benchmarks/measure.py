"""How times are taken: candidates take turns, so that a disturbance of the machine falls on all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

TIMED_CALLS = 5  # of a turn, at most
LONG_ENOUGH = 0.02  # s; a turn that has lasted so long ends, so a slow call is timed once
LEAST_ROUNDS = 3  # a median of fewer says nothing


class Task(NamedTuple):
    """Something to time; times are per piece, and a call does so many pieces."""

    name: str
    call: Callable[[], Any]
    pieces: int
    warm: Callable[[], Any] | None = None  # instead of the untimed call


Turns = dict[str, list[list[float]]]  # ns per piece of every timed call of every turn


Clock = Callable[[], float]


def timed(call: Callable[[], Any], clock: Clock = time.perf_counter) -> float:
    start = clock()
    call()
    return clock() - start


def repeated(call: Callable[[], Any], times: int) -> Callable[[], Any]:
    """Calls so short that the clock would disturb them are timed many at once."""

    def loop() -> None:
        for _ in range(times):
            call()

    return call if times == 1 else loop


def turn(task: Task, clock: Clock = time.perf_counter) -> list[float]:
    """The first call finds the caches full of the others' data: it warms them and is not timed."""
    (task.warm or task.call)()
    seconds: list[float] = []
    while len(seconds) < TIMED_CALLS and sum(seconds) < LONG_ENOUGH:
        seconds.append(timed(task.call, clock))
    return [s / task.pieces * 1e9 for s in seconds]


def take_turns(tasks: list[Task], seconds: float, clock: Clock = time.perf_counter) -> Turns:
    """Rounds until the time is up, a few at least.

    clock: of the times; `time.thread_time` for work of one thread on a machine that others use as well
    """
    turns: Turns = {task.name: [] for task in tasks}
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < LEAST_ROUNDS or time.perf_counter() < end:
        for task in tasks:
            turns[task.name].append(turn(task, clock))
        rounds += 1
    return turns


def take_turns_together(groups: dict[int, list[Task]], seconds: float) -> dict[int, Turns]:
    """Groups of tasks in one run, so that times can be compared from group to group too."""
    named = [task._replace(name=f"{key} {task.name}") for key, tasks in groups.items() for task in tasks]
    turns = take_turns(named, seconds)
    return {key: {task.name: turns[f"{key} {task.name}"] for task in tasks} for key, tasks in groups.items()}


def nanoseconds(turns: Turns) -> dict[str, dict[str, float]]:
    return {name: spread([ns for calls in rounds for ns in calls]) for name, rounds in turns.items()}


def spread(values: list[float]) -> dict[str, float]:
    return {"fastest": min(values), "median": float(np.median(values))}


def ratio(rounds: list[list[float]], reference: list[list[float]]) -> dict[str, float]:
    """How many times longer than the reference: fastest to fastest, and the median over rounds of best to best.

    The first is right if both met a quiet machine once, the second if both met the same machine in every round.
    """
    best, reference_best = ([min(calls) for calls in turns] for turns in (rounds, reference))
    median = np.median(np.array(best) / np.array(reference_best))
    return {"fastest": min(best) / min(reference_best), "median": float(median)}


def ratios(turns: Turns, reference: str) -> dict[str, dict[str, float]]:
    return {name: ratio(rounds, turns[reference]) for name, rounds in turns.items() if name != reference}
