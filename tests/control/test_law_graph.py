"""Laws that anybody writes are recorded whole, or not at all."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tauforge as tf
from support.own_laws import (
    ARM,
    MOVE,
    START,
    TIMES,
    Base,
    assert_is_simulated,
    assert_runs_step_by_step,
    rollout,
    simulated,
)
from support.platforms import HOME, random_platform
from tauforge.control import PD, ComputedTorque, Controller
from tauforge.control.law_graph import LawGraph
from tauforge.kernels.backends import NoKernelError

pytestmark = [pytest.mark.usefixtures("kernels_on"), pytest.mark.fault(35)]


class Asking(Base):
    def more(self, t, position, velocity):
        return -7.0 * position if position.dtype == object else 0.1 * position


class Raising(Base):
    def more(self, t, position, velocity):
        if not isinstance(t, float):
            raise ValueError("a time is a float")  # here
        return 0.1 * position


def test_a_law_that_raises():
    assert_runs_step_by_step(Raising, "ValueError: a time is a float")


def test_a_law_that_asks_what_it_is_given():
    got = assert_is_simulated(Asking(), "methods: ")
    assert "force gives numbers another answer than scalars that are recorded" in got.stepped_by
    assert f"own_laws.py:{Base.force.__code__.co_firstlineno} `def force(" in got.stepped_by


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
        (lambda law: setattr(law, "force", lambda *_: [1.0]), r"gives elements \(1,\); expected numbers \(2,\)$"),
        (lambda law: setattr(law, "force", lambda *_: ["a", "b"]), r"elements \(2,\); expected numbers \(2,\)$"),
        (lambda law: setattr(law, "force", lambda *x: x[1][:, None]), r"elements \(2, 1\); expected numbers \(2,\)$"),
        (lambda law: setattr(law, "robot", Own(**ARM.__getstate__())), "has methods of its own, which Law may call"),
    ],
)
def test_laws_that_cannot_be_recorded(change, match):
    law = type("Law", (Base,), {})()
    change(law)
    with pytest.raises(NoKernelError, match=match):
        LawGraph(law, ARM)


class OfAKind(Base):
    """Asks what its robot is: recorded, that is another object."""

    def __init__(self, asked):
        self.robot, self.asked = ARM, asked

    def more(self, t, position, velocity):
        return 5.0 * position if self.asked(self.robot) else 0.1 * position


@pytest.mark.parametrize(
    "asked",
    [
        lambda robot: isinstance(robot, tf.SerialArm),
        lambda robot: type(robot).__name__ == "SerialArm",
        lambda robot: robot is ARM,
    ],
    ids=["isinstance", "type", "is"],
)
def test_a_law_that_asks_what_its_robot_is(asked):
    found = assert_is_simulated(OfAKind(asked), "methods: ").stepped_by
    assert "force gives numbers another answer than scalars that are recorded" in found


class Itself(Base):
    def __deepcopy__(self, memo):
        return self


def test_a_law_whose_copies_are_the_law():
    assert "a copy of Itself is the law itself" in assert_is_simulated(Itself(), "methods: ").stepped_by


class Trial(Base):
    """Has learnt something from one run to the next."""

    def __init__(self):
        self.trial = 0

    def reset(self):
        self.trial += 1

    def more(self, t, position, velocity):
        return 0.1 * self.trial * position


def test_a_run_resets_a_law_once():
    law = Trial()
    for k in (1, 2):
        compiled, one = rollout(law), simulated(Trial(), 1)
        assert compiled.stepped_by == "machine code"
        assert law.trial == k
        assert np.array_equal(one.force[0], compiled.force[1, 0]) == (k == 1)


NOTES = []


class Noting(Base):
    """Keeps what it has done where a copy of it has no copy, and forgets it when a run starts."""

    def reset(self):
        NOTES.clear()

    def more(self, t, position, velocity):
        NOTES.append(t)
        return 0.1 * len(NOTES) * position


def test_a_law_that_was_recorded_in_vain_begins_anew():
    one = tf.simulate(ARM, Noting(), MOVE, initial=(START[0][1], START[1]), **TIMES)
    assert "NOTES is changed by a call" in one.stepped_by
    assert np.array_equal(one.force, simulated(Noting(), 1).force)


class Half(np.ndarray):
    """A matrix that weakens what it is multiplied with."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return 0.5 * getattr(ufunc, method)(*(np.asarray(x) for x in inputs), **options)


def test_our_laws_with_gains_of_another_kind():
    law = PD(ARM, 20.0, 1.0)
    whole = rollout(law).force
    law.kp = law.kp.view(Half)
    assert np.abs(assert_is_simulated(law, "").force - whole).max() > 0.1


class Own(tf.SerialArm):
    def inverse_dynamics(self, q, qd, qdd, **options):
        return 0.5 * super().inverse_dynamics(q, qd, qdd, **options)


def test_a_wrench_in_the_dynamics_is_recorded():
    class Loaded(Base):
        def __init__(self, wrench):
            self.robot, self.wrench = ARM, wrench

        def force(self, t, position, velocity, target):
            wanted = 5.0 * (target.position - position)
            return self.robot.inverse_dynamics(position, velocity, wanted, tip_wrench=self.wrench)

    loaded = assert_is_simulated(Loaded(np.arange(6.0)), "machine code")
    assert np.abs(loaded.force - rollout(Loaded(None)).force).max() > 0.1


def test_a_robot_without_a_state_to_compare_at_runs_by_methods():
    platform = random_platform(np.random.default_rng(2))  # its home is beyond the stroke of its legs
    motion = tf.motion.PoseMotion(tf.motion.JointMove(HOME, HOME + 0.01, 0.1))

    class Held(ComputedTorque):
        def force(self, *given):
            return super().force(*given) + 0.0

    run = tf.simulate(platform, Held(platform), motion, control_period=0.02, step=0.02)
    assert run.stepped_by.startswith("methods: there is no state at which to compare what was recorded")
