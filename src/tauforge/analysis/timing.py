"""The time that an inverse dynamics takes on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError
from tauforge.robots.robot import Robot, check_robot
from tauforge.validation import real_array, whole

BATCH, ROUNDS, CALLS = 1024, 200, 50  # states at once, measurements, calls of one state in a measurement


@with_field_docs
class TimePerState(NamedTuple):
    """Times of an inverse dynamics, the best of some rounds.

    single: s, of a call with one state
    batch:  s, of each state of a call with many
    states: how many those are
    """

    single: float
    batch: float
    states: int


def time_per_state(
    robot: Robot,
    formulation: str | None = None,
    states: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    *,
    rounds: int = ROUNDS,
    **options: Any,
) -> TimePerState:
    """Time of the inverse dynamics of a state by a formulation, compiled before the clock runs.

    formulation: one of `robot.formulations`; default that of a plain call. A call that names another takes longer to
                 find it: single calls tell how formulations are called, batches what they compute
    states:      positions, velocities and accelerations (k, ...), such as the samples of a motion; default 1024 random
                 ones
    rounds:      how often it is measured
    options:     further options of inverse dynamics
    A path of k states takes k times `batch` when it is known beforehand, and k times `single` when it is not.
    """
    rounds = whole(rounds, "rounds")
    given = check_robot("robot", robot).random_states(BATCH) if states is None else states
    many = [np.ascontiguousarray(real_array("states", x), dtype=float) for x in given]
    if len(many) != 3 or any(x.ndim != 2 or not len(x) for x in many):
        shapes = ", ".join(str(x.shape) for x in many)
        raise ModelError(f"expected positions, velocities and accelerations (k, ...), got {shapes}", field="states")
    one = [x[0].copy() for x in many]
    if formulation not in (None, robot.formulations.default):
        options["formulation"] = formulation

    def inverse_dynamics(state: list[Any]) -> None:
        robot.inverse_dynamics(*state, **options)

    def singly() -> None:
        for _ in range(CALLS):
            inverse_dynamics(one)

    single, batch = best(singly, rounds) / CALLS, best(lambda: inverse_dynamics(many), rounds) / len(many[0])
    return TimePerState(single, batch, len(many[0]))


def best(work: Callable[[], None], rounds: int) -> float:
    """s, the shortest of some rounds after one that is not measured."""
    work()
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)
