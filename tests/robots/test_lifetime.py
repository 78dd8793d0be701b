"""What a robot keeps for itself does not keep the robot: it is freed when the user drops it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tauforge as tf

CAPABILITIES = (
    "positions",
    "bounds",
    "dissipation",
    "designs",
    "sensors",
    "state_space",
    "formulations",
    "loops",
    "moved_body",
)


@pytest.fixture
def no_collector():
    """Circles of references would stay."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", ["puma560", "dasgupta1998", "motion-rig", "five-bar"])
def test_a_robot_is_freed_when_it_is_dropped(name, no_collector):
    robot = tf.load(name)
    state = [rows[0] for rows in robot.random_states(1)]
    robot.inverse_dynamics(*state)
    robot.bounds.margins(state[0])
    kept = [getattr(robot, capability) for capability in CAPABILITIES]
    assert all(getattr(robot, name) is one for name, one in zip(CAPABILITIES, kept, strict=True))  # made once
    gone = weakref.ref(robot)
    del robot
    assert gone() is None


@pytest.mark.parametrize("name", ["puma560", "dasgupta1998", "five-bar"])
def test_what_a_robot_can_do_outlives_it(name):
    robot = tf.load(name)
    position = robot.random_states(1)[0]
    np.testing.assert_array_equal(tf.load(name).bounds.margins(position), robot.bounds.margins(position))
