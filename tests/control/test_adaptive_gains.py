"""Computed torque with gains that grow with the error, on an arm, a platform and a mechanism."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from support.tolerances import FORMULATIONS, SAME_STEPS, error
from tauforge.control import AdaptiveGains, ComputedTorque

pytestmark = pytest.mark.usefixtures("kernels_on")
PERIOD = 2e-3
ARM = random_arm(np.random.default_rng(6), "RPR")
MOVE = tf.motion.JointMove([0, 0, 0], [0.6, 0.1, -0.4], 0.4)


def test_equal_bounds_are_computed_torque():
    law = AdaptiveGains(ARM, 12.0, 12.0, period=PERIOD)
    q, qd, _ = (x[0] for x in ARM.random_states(1))
    target = MOVE.sample(0.1)
    usual = ComputedTorque(ARM, 144.0, 24.0).force(0.0, q, qd, target)
    assert error(law.force(0.0, q, qd, target), usual) < FORMULATIONS
    assert np.array_equal(law.update(0.0, q, qd, target, usual)["rate"], law.rate)


def test_rates_follow_their_law_of_growth():
    law = AdaptiveGains(ARM, [5.0, 6.0, 7.0], 40.0, growth=[1e3, 2e3, 3e3], decay=2.0, period=PERIOD)
    law.rate = np.array([8.0, 9.0, 39.99])
    e, e_dot = np.array([0.01, -0.02, 0.5]), np.array([0.1, 0.0, 1.0])
    target = tf.motion.MotionSample(e, e_dot, np.zeros(3))
    found = law.update(0.0, np.zeros(3), np.zeros(3), target, np.zeros(3))["rate"]
    s = e_dot + law.rate * e
    wanted = law.rate + PERIOD * (np.array([1e3, 2e3, 3e3]) * s**2 - 2.0 * (law.rate - [5.0, 6.0, 7.0]))
    assert error(found[:2], wanted[:2]) < FORMULATIONS
    assert found[2] == 40.0  # its bound
    still = tf.motion.MotionSample(np.zeros(3), np.zeros(3), np.zeros(3))
    assert (law.update(0.0, np.zeros(3), np.zeros(3), still, np.zeros(3))["rate"] < law.rate).all()


@pytest.mark.parametrize("name", ["arm", "motion-rig", "five-bar"])
def test_an_unknown_load_leaves_less_error(name):
    """Beside the slowest gains."""
    robot = ARM if name == "arm" else tf.load(name)
    start = robot.positions.coordinates(robot.positions.default) if robot is not ARM else np.zeros(3)
    move = tf.motion.JointMove(start, start + 0.05, 0.3)
    motion = tf.motion.PoseMotion(move) if robot.positions.pose else move
    law = AdaptiveGains(robot, 10.0, 40.0, growth=1e5, period=PERIOD)
    usual = ComputedTorque(robot, 100.0, 20.0)
    load = tf.Payload(0.3 * robot.energy(robot.positions.at(start), np.ones(robot.n))[0] + 0.5)
    runs = [tf.rollout(robot, x, motion, control_period=PERIOD, payload=load) for x in (law, usual)]
    assert [run.stepped_by for run in runs] == ["machine code"] * 2
    adaptive, fixed = (np.abs(run.error).max() for run in runs)
    assert adaptive < 0.7 * fixed


def test_each_row_of_a_rollout_has_gains_of_its_own():
    """Without growth they are the slowest."""
    law, given = AdaptiveGains(ARM, period=PERIOD), {"control_period": PERIOD, "payload": tf.Payload(1.0)}
    many = tf.rollout(ARM, law, MOVE, gains={"growth": np.array([[0.0] * 3, law.growth])}, **given)
    assert many.stepped_by == "machine code"
    for row, other in zip(many.position, (ComputedTorque(ARM), law), strict=True):
        assert np.abs(row - tf.rollout(ARM, other, MOVE, **given).position[0]).max() < SAME_STEPS


def test_steps_by_methods_are_the_same(monkeypatch):
    law, given = AdaptiveGains(ARM, period=PERIOD), {"control_period": PERIOD, "duration": 20 * PERIOD}
    compiled = tf.rollout(ARM, law, MOVE, **given)
    monkeypatch.setenv("TAUFORGE_KERNELS", "off")
    assert np.abs(tf.rollout(ARM, law, MOVE, **given).position - compiled.position).max() < SAME_STEPS


def test_bounds_that_are_none_are_refused():
    with pytest.raises(tf.ModelError, match="slowest: expected 0 < slowest <= quickest"):
        AdaptiveGains(ARM, 20.0, 10.0, period=PERIOD)
    with pytest.raises(tf.ModelError, match="growth: expected a number >= 0, or 3 of them, got -1"):
        AdaptiveGains(ARM, growth=-1.0, period=PERIOD)
    with pytest.raises(tf.ModelError, match="period"):
        tf.simulate(ARM, AdaptiveGains(ARM, period=PERIOD), MOVE, control_period=2 * PERIOD)
