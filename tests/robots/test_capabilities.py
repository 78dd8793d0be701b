"""The objects that a robot has: what is replaced on them is heeded, and they are robots' own in every other way."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import weakref

import numpy as np
import pytest

import tauforge as tf
from tauforge.robots.serial.capabilities import JointSensors

ZERO, START = np.zeros(6), np.full(6, 0.1)
MOVE = tf.motion.JointMove(START, START + 0.1, 0.02)
STEPS = {"step": 1e-3, "control_period": 1e-3}


@pytest.fixture
def arm(kernels_on):
    return tf.load("puma560").replace(coulomb_speed=0.01)


def nothing_measured(q, qd):
    return 0 * q, 0 * qd


def last_force(arm):
    """The same motion by kernels and step by step; a law that measures nothing asks for nothing."""
    law = tf.control.PD(arm, 100.0, 20.0)
    runs = tf.rollout(arm, law, MOVE, initial=(START[None], ZERO), **STEPS)
    recording = tf.simulate(arm, law, MOVE, initial=(START, ZERO), **STEPS)
    return runs.force[0, -1, 0], recording.force[-1, 0]


@pytest.mark.fault(28)
def test_a_method_replaced_on_an_object_is_heeded(arm):
    assert all(last_force(arm))
    arm.sensors.motion = nothing_measured
    assert last_force(arm) == (0, 0)


@pytest.mark.fault(28)
def test_a_method_replaced_on_its_class_is_heeded(arm, monkeypatch):
    assert all(last_force(arm))
    with monkeypatch.context() as patched:
        patched.setattr(JointSensors, "motion", lambda self, q, qd: nothing_measured(q, qd))
        assert last_force(arm.replace()) == (0, 0)
    assert all(last_force(arm.replace()))


@pytest.mark.fault(28)
def test_an_object_that_takes_the_place_of_a_robots_own_is_heeded(arm):
    class Blind(JointSensors):
        def motion(self, position, velocity):
            return nothing_measured(position, velocity)

    assert all(last_force(arm))
    arm.sensors = Blind(arm)
    assert last_force(arm) == (0, 0)


def test_a_robot_is_freed_after_a_rollout(arm):
    gc.collect()
    gc.disable()
    try:
        other = arm.replace()
        last_force(other)
        gone = weakref.ref(other)
        del other
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["puma560", "motion-rig", "five-bar"])
def test_copies_and_pickles(name):
    robot = tf.load(name)
    states = robot.random_states(3)
    robot.inverse_dynamics(*states)
    expected = robot.bounds.margins(states[0])
    for again in (copy.deepcopy(robot.bounds), pickle.loads(pickle.dumps(robot.bounds))):
        np.testing.assert_array_equal(again.margins(states[0]), expected)
        assert again.robot is not robot
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(robot.bounds.margins))(states[0]), expected)


def test_a_platform_without_limits_has_no_margins():
    assert tf.load("dasgupta1998").limit_margins(np.zeros((2, 6))).shape == (2, 0)


def test_a_single_number_is_a_number_where_it_is_nan():
    assert json.dumps(tf.load("dasgupta1998").condition_number(np.full(6, np.nan))) == "NaN"


def test_an_unknown_keyword_is_refused_by_later_calls_too(arm):
    for _ in range(2):
        with pytest.raises(TypeError, match="nonsense"):
            arm.inverse_dynamics(ZERO, ZERO, ZERO, nonsense=None)
        arm.inverse_dynamics(ZERO, ZERO, ZERO, payload=None, tip_wrench=None)
