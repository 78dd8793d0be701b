"""What a law does beside arithmetic, and what it remembers without saying so: such laws run step by step."""

from __future__ import annotations

import cProfile
import gc
import itertools
import pstats
import random
import threading
import time
from datetime import UTC, datetime

import numpy as np
import pytest

from support.own_laws import ARM, Base, assert_runs_step_by_step, marked_line, rollout
from tauforge.control import ComputedTorque
from tauforge.control.law_graph import LawGraph

pytestmark = [pytest.mark.usefixtures("kernels_on"), pytest.mark.fault(35)]


class Counting(Base):
    def __init__(self):
        self.calls = 0

    def reset(self):
        self.calls = 0

    def more(self, t, position, velocity):
        self.calls += 1  # here
        return 0.1 * position if self.calls > 3 else 0.3 * position


class Integrating(Base):
    def reset(self):
        self.sum = 0.0

    def more(self, t, position, velocity):
        self.sum = self.sum + 0.02 * position  # here
        return -self.sum


class Listing(Base):
    def __init__(self):
        self.seen = []

    def reset(self):
        self.seen.clear()

    def more(self, t, position, velocity):
        self.seen.append(1)  # here
        return 0.1 * len(self.seen) * position


class Random(Base):
    def __init__(self):
        self.reset()

    def reset(self):
        self.generator = np.random.default_rng(1)

    def more(self, t, position, velocity):
        return self.generator.normal() * np.ones(np.shape(position))  # here


class GlobalRandom(Base):
    def reset(self):
        np.random.seed(1)  # noqa: NPY002

    def more(self, t, position, velocity):
        return np.random.normal() * np.ones(np.shape(position))  # noqa: NPY002  # here


class PythonsRandom(Base):
    def reset(self):
        random.seed(1)

    def more(self, t, position, velocity):
        return random.gauss(0.0, 1.0) * np.ones(np.shape(position))  # here


CALLS = {"count": 0}
NUMBER = 0


class Global(Base):
    def reset(self):
        CALLS["count"] = 0

    def more(self, t, position, velocity):
        CALLS["count"] += 1  # here
        return 0.1 * CALLS["count"] * position


class GlobalNumber(Base):
    def reset(self):
        global NUMBER
        NUMBER = 0

    def more(self, t, position, velocity):
        global NUMBER
        NUMBER += 1  # here
        return 0.1 * NUMBER * position


def closing():
    count = 0

    class Closing(Base):
        def reset(self):
            nonlocal count
            count = 0

        def more(self, t, position, velocity):
            nonlocal count
            count += 1  # here
            return 0.1 * count * position

    return Closing


class OfItsClass(Base):
    count = 0

    def reset(self):
        type(self).count = 0

    def more(self, t, position, velocity):
        type(self).count += 1  # here
        return 0.1 * self.count * position


class Default(Base):
    def reset(self):
        type(self).more.__defaults__[0].clear()

    def more(self, t, position, velocity, seen=[]):  # noqa: B006
        seen.append(1)  # here
        return 0.1 * len(seen) * position


class Ticking(Base):
    def reset(self):
        self.ticks = itertools.count(1)

    def more(self, t, position, velocity):
        return 0.1 * next(self.ticks) * position  # here


class Printing(Base):
    def more(self, t, position, velocity):
        print("asked", end="")  # here
        return 0.1 * position


class Reading(Base):
    def more(self, t, position, velocity):
        with open(__file__, encoding="utf-8") as file:  # here
            return 0.1 * len(file.readline()) * position


class Watching(Base):
    def more(self, t, position, velocity):
        return (0.1 + 0.0 * time.perf_counter()) * position  # here


class Dating(Base):
    def more(self, t, position, velocity):
        return (5.0 if datetime.now(UTC).year < 2000 else 0.1) * position  # here


class Threading(Base):
    def more(self, t, position, velocity):
        found = []
        thread = threading.Thread(target=lambda: found.append(0.1 * position))
        thread.start()  # here
        thread.join()
        return found[0]


UNTRACEABLE = {
    Counting: "calls is changed by a call; what a law remembers is declared in `memory`",
    Integrating: "",
    Listing: "seen is changed by a call",
    Random: "generator is changed by a call",
    GlobalRandom: "numbers that differ from call to call",
    PythonsRandom: "calls random, which does more than to compute",
    Global: "CALLS is changed by a call",
    GlobalNumber: "NUMBER is changed by a call",
    closing(): "count is changed by a call",
    OfItsClass: "count is changed by a call",
    Default: "seen is changed by a call",
    Ticking: "calls next, which does more than to compute",
    Printing: "calls print, which does more than to compute",
    Reading: "calls open, which does more than to compute",
    Dating: "calls now, which does more than to compute",
    Watching: "calls perf_counter, which does more than to compute",
    Threading: "calls start_new_thread, which does more than to compute",
}


@pytest.mark.parametrize("kind", UNTRACEABLE, ids=lambda kind: kind.__name__)
def test_what_cannot_be_traced_runs_step_by_step(kind):
    assert_runs_step_by_step(kind, UNTRACEABLE[kind])


def test_a_collection_of_garbage_is_no_deed_of_a_law():
    """Callbacks of the collector, such as those of hypothesis, run wherever memory is asked for."""
    told, threshold = [], gc.get_threshold()

    def watch(phase, info):
        told.append(time.perf_counter())

    gc.callbacks.append(watch)
    gc.set_threshold(1)
    try:
        run = rollout(Base())
    finally:
        gc.callbacks.remove(watch)
        gc.set_threshold(*threshold)
    assert told
    assert run.stepped_by == "machine code"
    assert gc.isenabled()


def test_a_profile_goes_on_after_a_recording():
    """Of a law of ours and of a user's; up to Python 3.11 a profiler of cProfile is no function."""
    with cProfile.Profile() as profile:
        graph = LawGraph(ComputedTorque(ARM), ARM).forces_graph
        run = rollout(Base())
        marked_line(Dating)
    assert graph.outputs
    assert run.stepped_by == "machine code"
    assert any(name == "marked_line" for _, _, name in pstats.Stats(profile).stats)
