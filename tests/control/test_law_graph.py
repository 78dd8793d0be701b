"""Laws that anybody writes: recorded whole, or run step by step with the line and the reason."""

from __future__ import annotations

import copy
import gc
import inspect
import itertools
import math
import random
import threading
import time

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from tauforge.control import PD, ComputedTorque, Controller
from tauforge.control.law_graph import LawGraph
from tauforge.kernels.backends import NoKernelError
from tauforge.simulation import compiled_loop

SAME = 1e-12  # the same steps by another order of operations
ARM = random_arm(np.random.default_rng(0), "RP")
MOVE = tf.motion.JointMove([0, 0], [0.5, -0.2], 0.1)
START = (np.array([[0.1, 0.0], [-0.1, 0.05], [0.02, -0.03]]), np.zeros(2))
TIMES = {"step": 0.01, "control_period": 0.02}

pytestmark = [pytest.mark.usefixtures("kernels_on"), pytest.mark.fault(35)]


def rollout(law, arm=ARM, **options):
    return tf.rollout(arm, law, MOVE, initial=START, **TIMES, **options)


def simulated(law, k):
    """Without kernels `simulate` asks the law itself at every instant, so it is the oracle."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "off")
        return tf.simulate(ARM, law, MOVE, initial=(START[0][k], START[1]), **TIMES)


def assert_is_simulated(law, by, **options):
    got = rollout(law, **options)
    assert got.stepped_by.startswith(by)
    for k in range(len(START[0])):
        one = simulated(law, k)
        assert np.abs(got.position[k] - one.position[::2]).max() < SAME
        assert np.abs(got.force[k] - one.force[::2]).max() < SAME * (1 + np.abs(one.force).max())
    return got


class Base(Controller):
    """A law that can be traced; the others go wrong in one line."""

    traceable = True

    def force(self, t, position, velocity, target):
        return 20.0 * (target.position - position) - 2.0 * velocity + self.more(t, position, velocity)

    def more(self, t, position, velocity):
        return 0.0 * position


class Branch(Base):
    def more(self, t, position, velocity):
        if np.sum(velocity) > 1e9:  # here
            return 0.1 * position
        return 0.2 * position


class BranchOnOne(Base):
    def more(self, t, position, velocity):
        rows = np.reshape(position, (-1, 2))
        return np.reshape([[-q if q > 0.05 else q for q in row] for row in rows], np.shape(position))  # here


class BranchOnTime(Base):
    def more(self, t, position, velocity):
        return position if t < 0.05 else -position  # here


class Equality(Base):
    def more(self, t, position, velocity):
        if t == 0.02:  # here
            return position
        return -position


class Membership(Base):
    def more(self, t, position, velocity):
        return position if t in {0.0, 0.02} else -position  # here


class PlainSine(Base):
    def more(self, t, position, velocity):
        return math.sin(t) * position  # here


class Floats(Base):
    def more(self, t, position, velocity):
        return np.asarray(position, dtype=float) * 2  # here


class Exponential(Base):
    def more(self, t, position, velocity):
        return np.exp(-3 * t) * position  # here


class Filled(Base):
    def more(self, t, position, velocity):
        push = np.zeros(np.shape(position))
        push[..., 0] = position[..., 1]  # here
        return push


class LinearSystem(Base):
    def more(self, t, position, velocity):
        stiff = np.eye(2) + 0.1 * position[..., None] * position[..., None, :]
        return np.linalg.solve(stiff, velocity[..., None])[..., 0]  # here


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


class Threading(Base):
    def more(self, t, position, velocity):
        found = []
        thread = threading.Thread(target=lambda: found.append(0.1 * position))
        thread.start()  # here
        thread.join()
        return found[0]


class Catching(Base):
    def more(self, t, position, velocity):
        try:
            return 0.1 * position if t < 0.05 else 0.3 * position  # here
        except TypeError:
            return -7.0 * position


class Asking(Base):
    def more(self, t, position, velocity):
        return -7.0 * position if position.dtype == object else 0.1 * position


class Raising(Base):
    def more(self, t, position, velocity):
        if not isinstance(t, float):
            raise ValueError("a time is a float")  # here
        return 0.1 * position


UNTRACEABLE = {
    Branch: "a branch on a value",
    BranchOnOne: "a branch on a value",
    BranchOnTime: "a branch on a value",
    Equality: "a branch on a value",
    Membership: "",
    PlainSine: "a number is asked for",
    Floats: "a number is asked for",
    Exponential: "numpy.exp is not recorded",
    Filled: "a number is asked for",
    LinearSystem: "numpy.linalg.solve is not recorded",
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
    Watching: "calls perf_counter, which does more than to compute",
    Threading: "calls start_new_thread, which does more than to compute",
    Catching: "a branch on a value",
    Raising: "ValueError: a time is a float",
}


def marked_line(law):
    lines, first = inspect.getsourcelines(law)
    return first + next(k for k, line in enumerate(lines) if line.rstrip().endswith("# here"))


@pytest.mark.parametrize("kind", UNTRACEABLE, ids=lambda kind: kind.__name__)
def test_what_cannot_be_traced_runs_step_by_step(kind):
    law = kind()
    got = assert_is_simulated(law, "methods: ")
    assert f"test_law_graph.py:{marked_line(kind)} `" in got.stepped_by
    assert UNTRACEABLE[kind] in got.stepped_by


def test_a_law_that_asks_what_it_is_given():
    got = assert_is_simulated(Asking(), "methods: ")
    assert "force gives numbers another answer than scalars that are recorded" in got.stepped_by
    assert f"test_law_graph.py:{Base.force.__code__.co_firstlineno} `def force(" in got.stepped_by


class Smooth(Base):
    """Everything that NumPy does and a recording does too, in parts of shapes that broadcast."""

    def __init__(self):
        self.limit, self.matrix, self.note = 3.0, np.array([[1.0, 0.2], [0.0, 0.5]]), ["no", {"number": 2}]

    def more(self, t, position, velocity):
        x, v = position[..., 0], velocity[..., 1]
        swing = np.sin(3 * t) * np.cos(x) + np.tanh(v) + np.sqrt(np.abs(x)) + np.arctan2(x, 1 + v**2) + np.hypot(x, v)
        swing = swing + np.where((x > 0.05) & ~(v >= 0), x**3, np.where(x <= -0.1, -2.0, 1 / (2 + x)))
        bent = np.clip(np.stack([swing, np.arctan(swing)], axis=-1), -self.limit, 0.4) @ self.matrix.T
        bent = bent + np.maximum(position, velocity) - np.minimum(position[..., ::-1], 0.05) + 2.0 * (velocity < 0)
        turned = np.zeros_like(position)
        turned[..., 0] = np.einsum("...i,...i->...", position, velocity)
        return bent + turned + np.sign(velocity) * np.sum(position, axis=-1, keepdims=True) + abs(position) ** -0.5


def test_what_can_be_recorded():
    """Branches on attributes, time, and the functions of NumPy that a law needs."""
    START[0][:, 1] += 1e-3  # no zeros
    for limit in (3.0, 0.2):
        law = Smooth()
        law.limit = limit
        assert_is_simulated(law, "machine code")


def test_nan_is_on_the_side_where_numpy_has_it():
    class Sides(Base):
        def more(self, t, position, velocity):
            a, b = position[..., :1], velocity[..., :1]
            found = [np.where(c, 1.0, 2.0) for c in (a < b, a <= b, a > b, a >= b, a == b, a != b, ~(a < b))]
            return np.concatenate(
                [sum(3.0**k * f for k, f in enumerate(found)), np.maximum(a, b) + np.minimum(a, b)], -1
            )

    graph, law = LawGraph(Sides(), ARM).forces_graph, Sides()
    for a, b in itertools.product((-1.0, 0.0, 2.0, np.nan), repeat=2):
        x, v = np.array([a, 0.0]), np.array([b, 0.0])
        inputs = {f"position{k}": y for k, y in enumerate(x)} | {f"velocity{k}": y for k, y in enumerate(v)}
        inputs |= {f"target{k}": np.float64(0.0) for k in range(2)}
        assert np.array_equal(graph.evaluate(inputs), law.force(0.0, x, v, MOVE.sample(0.0)), equal_nan=True)


def test_an_empty_subclass_is_ours():
    class Mine(ComputedTorque):
        """Mine."""

    ours, mine = (LawGraph(kind(ARM), ARM) for kind in (ComputedTorque, Mine))
    assert mine.origin == ours.origin
    assert "forces_graph" not in vars(mine)  # it is found on the disk, and traced only where it is not
    assert np.array_equal(rollout(Mine(ARM)).position, rollout(ComputedTorque(ARM)).position)


def test_a_graph_identifies_a_law():
    def law(number):
        class Law(PD):
            def force(self, t, position, velocity, target):
                return number * super().force(t, position, velocity, target)

        return LawGraph(Law(ARM, 100.0, 20.0), ARM).origin

    assert law(2.0) == law(2.0)
    assert law(2.0) != law(3.0)


def test_a_law_that_does_not_say_so_is_not_traced():
    class Plain(Base):
        traceable = False

    assert assert_is_simulated(Plain(), "methods: ").stepped_by == "methods: Plain does not say traceable = True"


def test_the_former_word():
    with pytest.raises(
        tf.ModelError, match="compiles: the attribute compiles of Old is called traceable now"
    ) as caught:
        type("Old", (Controller,), {"compiles": True})
    assert caught.value.remedy == "Write traceable = True"


def test_what_is_recorded_is_a_copy():
    """The user's law is not touched, and changes of it come too late for a graph that was made."""

    class Kept(Base):
        def __init__(self):
            self.numbers, self.stiffness = [1.0, 2.0], np.array([30.0, 40.0])

        def more(self, t, position, velocity):
            return self.numbers[1] * self.stiffness * position

    law = Kept()
    graph = LawGraph(law, ARM).forces_graph
    law.numbers[1], law.stiffness[0] = 5.0, 7.0
    assert vars(law).keys() == {"numbers", "stiffness"}
    assert graph == LawGraph(Kept(), ARM).forces_graph != LawGraph(law, ARM).forces_graph


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda law: setattr(law, "lock", threading.Lock()), "Law cannot be copied: cannot pickle"),
        (lambda law: setattr(law, "force", lambda *_: [1.0]), "force gives 1 elements; expected 2 numbers"),
        (lambda law: setattr(law, "force", lambda *_: ["a", "b"]), "force gives 2 elements; expected 2 numbers"),
        (lambda law: setattr(law, "robot", Own(**ARM.__getstate__())), "has methods of its own, which Law may call"),
    ],
)
def test_laws_that_cannot_be_recorded(change, match):
    law = type("Law", (Base,), {})()
    change(law)
    with pytest.raises(NoKernelError, match=match):
        LawGraph(law, ARM)


class Own(tf.SerialArm):
    def inverse_dynamics(self, q, qd, qdd, **options):
        return 0.5 * super().inverse_dynamics(q, qd, qdd, **options)


class PID(Controller):
    """With forces that have a limit, which the integral knows: it takes no part of what the actuators do not give."""

    traceable = True
    memory = ("integral",)
    period = 0.02

    def __init__(self, kp=30.0, kd=4.0, ki=90.0, limit=1.5):
        self.kp, self.kd, self.ki, self.limit = kp, np.array([kd, 2 * kd]), ki, limit
        self.integral = np.zeros(2)

    def asked(self, position, velocity, target):
        return self.kp * (target.position - position) - self.kd * velocity + self.integral

    def force(self, t, position, velocity, target):
        return np.clip(self.asked(position, velocity, target), -self.limit, self.limit)

    def update(self, t, position, velocity, target, force):
        left = force - self.asked(position, velocity, target)
        return {"integral": self.integral + self.period * (self.ki * (target.position - position) + 5.0 * left)}


class Observer(PD):
    """A momentum observer: p' = tau + C' qd - g + r, r = K (p_measured - p); it gives r back to the actuators."""

    traceable = True
    memory = ("momentum", "begun")
    period = 0.02

    def __init__(self, robot, kp, kv, gain=8.0):
        super().__init__(robot, kp, kv)
        self.gain, self.momentum, self.begun = gain, np.zeros(robot.n), 0.0

    def measured(self, position, velocity):
        return np.einsum("...ij,...j->...i", self.robot.mass_matrix(position), velocity)

    def residual(self, position, velocity):
        return np.where(self.begun[..., None] > 0, self.gain * (self.measured(position, velocity) - self.momentum), 0.0)

    def force(self, t, position, velocity, target):
        wanted = super().force(t, position, velocity, target) + self.robot.gravity_forces(position)
        return wanted - self.residual(position, velocity)

    def update(self, t, position, velocity, target, force):
        left = np.einsum("...ji,...j->...i", self.robot.coriolis_matrix(position, velocity), velocity)
        slope = force + left - self.robot.gravity_forces(position) + self.residual(position, velocity)
        momentum = np.where(self.begun[..., None] > 0, self.momentum, self.measured(position, velocity))
        return {"momentum": momentum + self.period * slope, "begun": np.ones_like(self.begun)}


@pytest.mark.parametrize("periods", [2, 4096])
@pytest.mark.parametrize("law", [PID(), Observer(ARM, 30.0, 3.0)], ids=lambda law: type(law).__name__)
def test_what_a_law_remembers(law, periods, monkeypatch):
    """Compiled, by methods, and in `simulate`: the same answer; the law itself does not change."""
    monkeypatch.setattr(compiled_loop, "PERIODS_AT_ONCE", periods)
    before = {name: np.copy(getattr(law, name)) for name in law.memory}
    compiled = assert_is_simulated(law, "machine code")
    monkeypatch.setenv("TAUFORGE_KERNELS", "off")
    by_methods = rollout(law)
    assert by_methods.stepped_by == "methods: kernels are switched off"
    assert np.abs(by_methods.position - compiled.position).max() < SAME
    for name, value in before.items():
        assert np.array_equal(getattr(law, name), value)
    monkeypatch.delenv("TAUFORGE_KERNELS")
    assert np.abs(rollout(without_memory(law)).force - compiled.force).max() > 1e-2


def without_memory(law):
    again = copy.copy(law)
    again.update = lambda *_: {name: getattr(law, name) for name in law.memory}
    return again


def test_added_forces_are_seen_by_the_memory():
    """`update` gets the forces of the actuators, with those that were added."""

    class Sum(Base):
        memory = ("sum",)

        def __init__(self):
            self.sum = np.zeros(2)

        def force(self, t, position, velocity, target):
            return -self.sum

        def update(self, t, position, velocity, target, force):
            return {"sum": self.sum + 0.5 * force}

    added = np.array([[1.0, 2.0], [0.5, 0.0], [0.0, -1.0], [0.0, 0.0], [3.0, 3.0]])
    got = rollout(Sum(), forces=added)
    assert got.stepped_by == "machine code"
    total, wanted = np.zeros(2), []
    for force in added:
        wanted.append(force - total)
        total = total + 0.5 * wanted[-1]
    assert np.abs(got.force[:, :-1] - np.array(wanted)).max() < SAME


def test_memory_is_declared_with_what_it_begins_with():
    class Nothing(Base):
        memory = ("sum",)

    with pytest.raises(tf.ModelError, match="memory: Nothing remembers 'sum', and has no attribute of that name") as no:
        rollout(Nothing())
    assert no.value.remedy == "Set it in __init__ to what it is when a run begins"
    wrong = PID()
    wrong.update = lambda *_: {"sum": np.zeros(2)}
    with pytest.raises(tf.ModelError, match=r"memory: update of PID must return arrays of the shapes .*KeyError"):
        simulated(wrong, 0)
    with pytest.raises(tf.ModelError, match="control_period: PID remembers integral from one period to the next"):
        tf.simulate(ARM, OfAnyPeriod(), MOVE)


class OfAnyPeriod(PID):
    period = None


OfAnyPeriod.__name__ = "PID"


def test_memory_that_force_changes():
    class Mixed(PID):
        def force(self, t, position, velocity, target):
            self.integral = self.integral + position
            return self.integral

    found = rollout(Mixed()).stepped_by
    assert "test_law_graph.py:" in found
    assert "integral is changed by force; the new memory is what update returns" in found


def test_gains_are_numbers_and_arrays_among_the_attributes():
    """Each row has its own; so has the law of an oracle."""
    kp, kd = np.array([20.0, 40.0, 60.0]), np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    got = rollout(PID(), gains={"kp": kp, "kd": kd, "limit": 0.8})
    for k in range(3):
        law = PID(kp=kp[k], limit=0.8)
        law.kd = kd[k]
        assert np.abs(got.position[k] - simulated(law, k).position[::2]).max() < SAME
    with pytest.raises(tf.UnsupportedFeatureError, match="PID has no gain 'integral'") as caught:
        rollout(PID(), gains={"integral": np.zeros(2)})
    assert caught.value.remedy == "Use one of kp, kd, ki, limit"


def test_a_gain_decides_no_branch():
    class Bounded(Base):
        def __init__(self):
            self.limit = 1.0

        def more(self, t, position, velocity):
            return np.clip(position, -self.limit, self.limit) if self.limit > 0 else position  # here

    assert_is_simulated(Bounded(), "machine code")
    with pytest.raises(tf.UnsupportedFeatureError, match=f":{marked_line(Bounded)} .*a branch on a value"):
        rollout(Bounded(), gains={"limit": np.ones(3)})


def test_gradients_by_gains():
    """Differences of rollouts."""

    class Wave(Base):
        def __init__(self):
            self.push, self.stiffness = 2.0, np.array([5.0, 3.0])

        def more(self, t, position, velocity):
            return self.push * np.sin(9 * t) - self.stiffness * np.tanh(3 * position)

    def end(push):
        return rollout(Wave(), gains={"push": push, "stiffness": np.array([5.0, 3.0])}).position[:, -1, 0].sum()

    given = {"push": np.array([1.0, 2.0, 3.0]), "stiffness": np.array([5.0, 3.0])}
    runs, pull_back = tf.differentiable_rollout(ARM, Wave(), MOVE, initial=START, **TIMES, gains=given)
    bar = np.zeros(runs.position.shape)
    bar[:, -1, 0] = 1.0
    found, h = pull_back(position=bar).gains["push"], 1e-5
    for k in range(3):
        step = h * np.eye(3)[k]
        slope = (end(given["push"] + step) - end(given["push"] - step)) / (2 * h)
        assert abs(found[k] - slope) < 1e-8 * np.abs(found).max()  # rounding of the positions over the step


def test_a_law_with_a_memory_moves_a_mechanism(monkeypatch):
    robot = tf.load("five-bar")
    start = robot.positions.coordinates(robot.home)
    move = tf.motion.JointMove(start, start + [0.3, -0.2], duration=0.1)
    runs = tf.rollout(robot, Computed(robot), move, control_period=0.01)
    assert runs.stepped_by == "machine code"
    one = tf.simulate(robot, Computed(robot), move, control_period=0.01)
    assert one.stepped_by == "machine code"
    assert np.abs(runs.position[0] - one.position[::10]).max() < SAME
    monkeypatch.setenv("TAUFORGE_KERNELS", "off")
    again = tf.rollout(robot, Computed(robot), move, control_period=0.01)
    assert np.abs(runs.position - again.position).max() < 1e-11  # a hundred steps of a mechanism by two ways


class Computed(ComputedTorque):
    memory = ("integral",)

    def __init__(self, robot):
        super().__init__(robot)
        self.integral = np.zeros(robot.n)

    def force(self, t, position, velocity, target):
        return super().force(t, position, velocity, target) + 3.0 * self.integral

    def update(self, t, position, velocity, target, force):
        return {"integral": self.integral + 0.01 * self.robot.positions.error(target.position, position)}


def test_a_collection_of_garbage_is_no_deed_of_a_law():
    """Callbacks of the collector, such as those of hypothesis, run wherever memory is asked for."""
    told, threshold = [], gc.get_threshold()

    def watch(phase, info):
        told.append(time.perf_counter())

    gc.callbacks.append(watch)
    gc.set_threshold(1)
    try:
        run = rollout(PID())
    finally:
        gc.callbacks.remove(watch)
        gc.set_threshold(*threshold)
    assert told
    assert run.stepped_by == "machine code"
    assert gc.isenabled()
