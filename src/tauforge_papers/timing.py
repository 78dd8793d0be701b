"""How long an inverse dynamics takes here, by one formulation."""

from __future__ import annotations

import time

from tauforge.analysis.comparison import random_states
from tauforge.robots.serial.serial_arm import SerialArm

BATCH, ROUNDS = 1024, 200


def nanoseconds(arm: SerialArm, formulation: str) -> float:
    """A state, in a batch of `BATCH`: the best of some rounds, compiled before the clock runs."""
    states = random_states(arm, BATCH)
    arm.inverse_dynamics(*states, formulation=formulation)
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        arm.inverse_dynamics(*states, formulation=formulation)
        rounds.append(time.perf_counter() - start)
    return min(rounds) / BATCH * 1e9
