"""What a law remembers, and its numbers as gains: compiled, by methods and in single simulations."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import tauforge as tf
from support.own_laws import ARM, MOVE, SAME, START, TIMES, Base, assert_is_simulated, marked_line, rollout, simulated
from tauforge.control import PD, ComputedTorque, Controller
from tauforge.simulation import compiled_loop

pytestmark = [pytest.mark.usefixtures("kernels_on"), pytest.mark.fault(35)]


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
    text = PID()
    text.integral = "much"
    with pytest.raises(tf.ModelError, match="memory: PID remembers 'integral', and has no attribute of that name with"):
        rollout(text)
    turned = Summing()
    turned.sum, turned.force = np.zeros((2, 3)), lambda t, position, *_: 0.0 * position
    turned.update = lambda *_: {"sum": np.zeros((3, 2))}
    with pytest.raises(tf.ModelError, match=r"memory: update of Summing must return arrays of the shapes"):
        rollout(turned)
    wrong = PID()
    wrong.update = lambda *_: {"sum": np.zeros(2)}
    with pytest.raises(tf.ModelError, match=r"memory: update of PID must return arrays of the shapes .*KeyError"):
        simulated(wrong, 0)
    with pytest.raises(tf.ModelError, match="control_period: PID remembers integral from one period to the next"):
        tf.simulate(ARM, OfAnyPeriod(), MOVE)


class Summing(Base):
    """Remembers the sum of the positions, and changes what it is given."""

    memory = ("sum",)

    def __init__(self):
        self.sum = np.zeros(2)

    def force(self, t, position, velocity, target):
        target.position[...] *= 0.5
        position += 0.1
        return (20.0 * (target.position - position) - 2.0 * velocity - 9.0 * self.sum).tolist()

    def update(self, t, position, velocity, target, force):
        return {"sum": self.sum + position}


class InASlot(Summing):
    __slots__ = ("sum",)


class ByAProperty(Summing):
    @property
    def sum(self):
        return self.kept

    @sum.setter
    def sum(self, value):
        self.kept = value


class ByAnotherName(Summing):
    def __init__(self):
        super().__init__()
        self.update = self.renewed

    def renewed(self, *given):
        return {"sum": self.sum + given[1]}


@pytest.mark.parametrize("kind", [InASlot, ByAProperty, ByAnotherName])
def test_where_the_memory_is(kind):
    """And what a law is given is its own: neither the state nor `update` sees what `force` does to it."""
    plain = rollout(Summing())
    assert plain.stepped_by == "machine code"
    got = rollout(kind())
    assert np.abs(got.force - plain.force).max() < SAME
    for k in range(3):
        assert np.abs(got.force[k] - simulated(kind(), k).force[::2]).max() < SAME
    assert np.abs(rollout(without_memory(Summing())).force - plain.force).max() > 1e-2


class OfAnyPeriod(PID):
    period = None


OfAnyPeriod.__name__ = "PID"


def test_memory_that_force_changes():
    class Mixed(PID):
        def force(self, t, position, velocity, target):
            self.integral = self.integral + position
            return self.integral

    found = rollout(Mixed()).stepped_by
    assert "test_law_memory.py:" in found
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
