"""Laws that count their calls where it is hard to see: they run step by step, and get no other law's answer.

A recording calls a law three times; what these laws do changes with the fifth call.
"""

from __future__ import annotations

import array
import contextvars
import functools
import itertools
import math as counted  # a module in which somebody counts
import sys
import threading
import weakref

import numpy as np
import pytest

from support.own_laws import ARM, Base, assert_runs_step_by_step
from tauforge.control import PD

pytestmark = [pytest.mark.usefixtures("kernels_on"), pytest.mark.fault(35)]


def late(call):
    return 5.0 if call > 4 else 0.1


class Cycling(Base):
    def reset(self):
        self.cycle = itertools.cycle([0.1] * 4 + [5.0] * 4)

    def more(self, t, position, velocity):
        ((_, factor),) = zip(range(1), self.cycle, strict=False)  # here
        return factor * position


def generated():
    yield from map(late, range(1, 100))


class Generating(Base):
    def reset(self):
        global GENERATOR
        GENERATOR = generated()

    def more(self, t, position, velocity):
        ((_, factor),) = zip(range(1), GENERATOR, strict=False)  # here
        return factor * position


class RarelyRandom(Base):
    def reset(self):
        self.random = np.random.RandomState(4)

    def more(self, t, position, velocity):
        return np.where(self.random.random_sample() < 0.05, 5.0, 0.1) * position  # here


class RarelyNoisy(Base):
    """The noise is within an object of ours."""

    def reset(self):
        self.sensors = Noise()

    def more(self, t, position, velocity):
        return np.where(self.sensors.draw() < 0.05, 5.0, 0.1) * position  # here


class Noise:
    __slots__ = ("generator",)

    def __init__(self):
        self.generator = np.random.default_rng(12)

    def draw(self):
        return self.generator.random()


class OfAMethod(Base):
    def reset(self):
        OfAMethod.asked.calls = 0

    def asked(self):
        OfAMethod.asked.calls += 1
        return late(OfAMethod.asked.calls)

    def more(self, t, position, velocity):
        return self.asked() * position  # here


class InASlot(Base):
    __slots__ = ("calls",)

    def reset(self):
        self.calls = 0

    def more(self, t, position, velocity):
        self.calls += 1  # here
        return late(self.calls) * position


class Box:
    __slots__ = ("calls",)

    def __call__(self):
        self.calls = getattr(self, "calls", 0) + 1
        return late(self.calls)


class OfAnObject(Base):
    def reset(self):
        self.box = Box()

    def more(self, t, position, velocity):
        return self.box() * position  # here


class OfBytes(Base):
    def reset(self):
        self.calls = bytearray(1)

    def more(self, t, position, velocity):
        self.calls[0] += 1  # here
        return late(self.calls[0]) * position


class OfAnArray(Base):
    def reset(self):
        self.calls = array.array("i", [0])

    def more(self, t, position, velocity):
        self.calls[0] += 1  # here
        return late(self.calls[0]) * position


class OfAModule(Base):
    def reset(self):
        counted.calls = 0

    def more(self, t, position, velocity):
        counted.calls += 1  # here
        return late(counted.calls) * position


class OfAnImport(Base):
    def reset(self):
        sys.calls = 0

    def more(self, t, position, velocity):
        import sys as imported

        imported.calls += 1  # here
        return late(imported.calls) * position


CALLS = 0


class ByGlobals(Base):
    def reset(self):
        globals()["CALLS"] = 0

    def more(self, t, position, velocity):
        globals()["CALLS"] += 1  # here
        return late(globals()["CALLS"]) * position


class OfAnotherLaw(Base):
    def __init__(self):
        self.robot, self.other = ARM, PD(ARM, 3.0, 1.0)

    def reset(self):
        self.other.calls = 0

    def more(self, t, position, velocity):
        self.other.calls += 1  # here
        return late(self.other.calls) * position


def remembered(seen):
    seen.append(1)
    return late(len(seen))


class PartlyApplied(Base):
    def reset(self):
        self.factor = functools.partial(remembered, [])

    def more(self, t, position, velocity):
        return self.factor() * position  # here


VARIABLE = contextvars.ContextVar("calls")
LOCAL = threading.local()


class OfAContext(Base):
    def reset(self):
        VARIABLE.set(0)

    def more(self, t, position, velocity):
        VARIABLE.set(VARIABLE.get() + 1)  # here
        return late(VARIABLE.get()) * position


class OfAThread(Base):
    def reset(self):
        LOCAL.calls = 0

    def more(self, t, position, velocity):
        LOCAL.calls += 1  # here
        return late(LOCAL.calls) * position


class Counted(Base):
    calls = 0


class OfTwoClasses(Counted):
    calls = 0

    def reset(self):
        type(self).calls = 0

    def more(self, t, position, velocity):
        type(self).calls += 1  # here
        return late(self.calls) * position


class Meta(type(Base)):
    calls = 0


class OfAClassOfClasses(Base, metaclass=Meta):
    def reset(self):
        Meta.calls = 0

    def more(self, t, position, velocity):
        type(type(self)).calls += 1  # here
        return late(Meta.calls) * position


class Large(Base):
    def reset(self):
        self.table = dict.fromkeys(range(20_000), 0)

    def more(self, t, position, velocity):
        self.table[19_000] += 1  # here
        return late(self.table[19_000]) * position


class Each:
    """A descriptor that keeps a value for each law, which a copy of the law has not."""

    def __init__(self):
        self.values = weakref.WeakKeyDictionary()

    def __get__(self, law, kind=None):
        return self.values.get(law, 0.1)

    def __set__(self, law, value):
        self.values[law] = value


class Described(Base):
    factor = Each()

    def __init__(self):
        self.factor = 5.0

    def more(self, t, position, velocity):
        return self.factor * position  # here


FACTORS = {}


class ByItself(Base):
    def __init__(self):
        FACTORS[self] = 5.0

    def more(self, t, position, velocity):
        return FACTORS.get(self, 0.1) * position  # here


class ByItsNumber(Base):
    def __init__(self):
        FACTORS[id(self)] = 5.0

    def more(self, t, position, velocity):
        return FACTORS.get(id(self), 0.1) * position  # here


NOT_SEEN = "holds what cannot be compared"
REASONS = {
    Cycling: f"cycle {NOT_SEEN}",
    Generating: f"GENERATOR {NOT_SEEN}",
    RarelyRandom: "random is changed by a call",
    RarelyNoisy: "sensors is changed by a call",
    OfAMethod: "asked is changed by a call",
    InASlot: "calls is changed by a call",
    OfAnObject: "box is changed by a call",
    OfBytes: "calls is changed by a call",
    OfAnArray: "calls is changed by a call",
    OfAModule: "math.calls is changed by a call",
    OfAnImport: "sys.calls is changed by a call",
    ByGlobals: "calls globals, which does more than to compute",
    OfAnotherLaw: "other is changed by a call",
    PartlyApplied: "factor is changed by a call",
    OfAContext: f"VARIABLE {NOT_SEEN}",
    OfAThread: f"LOCAL {NOT_SEEN}",
    OfTwoClasses: "calls is changed by a call",
    OfAClassOfClasses: "calls is changed by a call",
    Large: f"table {NOT_SEEN}",
    Described: f"factor {NOT_SEEN}",
    ByItself: f"FACTORS {NOT_SEEN}",
    ByItsNumber: "calls id, which does more than to compute",
}


@pytest.mark.parametrize("kind", REASONS, ids=lambda kind: kind.__name__)
def test_what_is_kept_from_call_to_call(kind):
    assert_runs_step_by_step(kind, REASONS[kind])
