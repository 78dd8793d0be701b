"""Times per state: what is measured, not how long it takes."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.platforms import random_motion, random_platform
from support.strategies import random_arm
from tauforge.analysis import time_per_state
from tauforge.motion import JointMove


def watched(robot, monkeypatch):
    """The shapes of positions and the formulations that inverse dynamics of the robot is called with."""
    calls, real = [], type(robot).inverse_dynamics

    def inverse_dynamics(self, position, *rest, **options):
        calls.append((np.shape(position), options.get("formulation")))
        return real(self, position, *rest, **options)

    monkeypatch.setattr(type(robot), "inverse_dynamics", inverse_dynamics)
    return calls


def test_single_calls_and_batches_of_a_motion_are_measured(monkeypatch):
    arm = random_arm(np.random.default_rng(1), "RPR").without_friction()
    calls = watched(arm, monkeypatch)
    path = JointMove([0, 0, 0], [1, 0.1, 1], 1.0).sample(np.linspace(0, 1, 30))
    found = time_per_state(arm, "newton-euler", path, rounds=3)
    assert found.states == 30
    assert found.batch > 0
    assert found.single > 0
    assert set(calls) == {((3,), "newton-euler"), ((30, 3), "newton-euler")}
    assert sum(shape == (30, 3) for shape, _ in calls) == 1 + 3  # the first is not measured


@pytest.mark.parametrize("formulation", [None, "joint-frames"])
def test_the_default_is_called_plainly(formulation, monkeypatch):
    """Which is many times quicker than a call that names it."""
    arm = random_arm(np.random.default_rng(1), "RP")
    calls = watched(arm, monkeypatch)
    time_per_state(arm, formulation, rounds=1)
    assert {named for _, named in calls} == {None}


@pytest.mark.parametrize("formulation", ["exact", "massless-legs"])
def test_platforms(formulation):
    states, platform = random_motion(np.random.default_rng(3), (20,)), random_platform(np.random.default_rng(2))
    found = time_per_state(platform, formulation, states, rounds=1, on_singular="nan")
    assert min(found.single, found.batch) > 0
    assert found.states == 20


def test_a_robot_of_a_users_own_kind():
    found = time_per_state(CartPendulum(), rounds=1)
    assert min(found.single, found.batch) > 0
    assert found.states == 1024


def test_what_has_no_time():
    arm = tf.load("planar-2r")
    for rounds in (0, 2.5, "3"):
        with pytest.raises(tf.ModelError, match="rounds: expected a whole number >= 1, got"):
            time_per_state(arm, rounds=rounds)
    with pytest.raises(tf.ModelError, match=r"expected positions, velocities and accelerations \(k, ...\), got \(2,\)"):
        time_per_state(arm, states=([0, 0], [0, 0], [0, 0]))
    with pytest.raises(tf.ShapeError, match="states: expected numbers, got text"):
        time_per_state(arm, states=(["a"], ["b"], ["c"]))
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown formulation 'gibbs'"):
        time_per_state(arm, "gibbs")
