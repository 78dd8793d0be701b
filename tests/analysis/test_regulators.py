"""Linear feedback along a motion, on an arm, a platform and a mechanism with loops."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

import tauforge as tf
from support.strategies import random_arm
from tauforge.analysis import linear_feedback
from tauforge.analysis.regulators import discretised, regulator_gains
from tauforge.control import LinearFeedback

PERIOD = 5e-3
SMALL = 1e-5  # of an error: what is left is of its square
CHANGES = 0.02  # of it: A and B change within a period; measured 0.003, 0.008 and 0.001


def cases():
    arm = random_arm(np.random.default_rng(4), "RPR", drives=True).replace(coulomb_speed=0.3)
    for robot in (arm, tf.load("dasgupta1998"), tf.load("five-bar")):
        start = robot.positions.coordinates(robot.positions.default)
        move = tf.motion.JointMove(start, start + 0.05, 20 * PERIOD)
        yield robot, tf.motion.PoseMotion(move) if robot.positions.pose else move


@pytest.mark.parametrize(("robot", "motion"), [*cases()], ids=["arm", "platform", "mechanism"])
def test_small_errors_follow_the_linearised_robot(robot, motion):
    n = robot.n
    law = linear_feedback(robot, motion, period=PERIOD, state_weights=[1e4] * n + [10.0] * n, force_weights=1e-3)
    target = motion.sample(0.0)
    rates = robot.positions.from_rates(target.position, target.velocity, target.acceleration)[0]
    error = SMALL * np.random.default_rng(5).normal(size=2 * n)
    start = robot.positions.at(target.position - error[:n], near=robot.positions.at(target.position))
    given = {"control_period": PERIOD, "step": PERIOD / 5}
    run = tf.simulate(robot, law, motion, initial=(start, rates - error[n:]), **given)
    still = tf.simulate(robot, law, motion, **given)  # forces that are held leave the motion, too
    places = run.places
    left = still.position[-1, places] - run.position[-1, places], still.velocity[-1] - run.velocity[-1]
    sampled = tf.motion.motion.in_velocities_of(robot, motion).sample(PERIOD * np.arange(20))
    position = robot.positions.at(sampled.position)
    A, B = discretised(*tf.linearise(robot, position, sampled.velocity, law.forces[:20]), PERIOD)
    for a, b, K in zip(A, B, law.gains, strict=False):
        error = (a - b @ K) @ error
    size = np.abs(error).max()
    assert size > SMALL / 10
    assert np.abs(np.concatenate(left) - error).max() < CHANGES * size


def test_far_from_the_end_gains_are_those_of_riccatis_equation():
    rng = np.random.default_rng(6)
    A, B = discretised(rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), 0.05)
    Q, R = np.diag([4.0, 3.0, 2.0, 1.0]), np.diag([0.5, 2.0])
    P = solve_discrete_are(A, B, Q, R)
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    found = regulator_gains(np.tile(A, (2000, 1, 1)), np.tile(B, (2000, 1, 1)), Q, R)
    assert np.abs(found[0] - K).max() < 1e-9 * np.abs(K).max()  # the recursion has settled
    assert np.abs(np.linalg.eigvals(A - B @ K)).max() < 1


def test_linearisations_of_batches_are_those_of_their_states():
    arm = random_arm(np.random.default_rng(4), "RPR", drives=True).replace(coulomb_speed=0.3)
    states = np.random.default_rng(7).normal(size=(3, 2, 4, 3))
    whole = tf.linearise(arm, *states)
    assert whole.A.shape == (2, 4, 6, 6)
    one = tf.linearise(arm, *states[:, 1, 2])
    assert np.allclose(whole.A[1, 2], one.A, rtol=1e-12, atol=1e-12 * np.abs(one.A).max())
    assert np.allclose(whole.B[1, 2], one.B, rtol=1e-12, atol=1e-12 * np.abs(one.B).max())
    pytest.importorskip("control")
    with pytest.raises(tf.ShapeError, match="one state, which python-control takes"):
        whole.state_space()


def test_bad_weights_forces_and_periods():
    robot, motion = next(cases())
    with pytest.raises(tf.ModelError, match="force_weights: expected a matrix with positive eigenvalues alone, got 0"):
        linear_feedback(robot, motion, period=PERIOD, force_weights=0.0)
    with pytest.raises(tf.ModelError, match=r"state_weights: expected a number, 6 numbers or a matrix \(6, 6\)"):
        linear_feedback(robot, motion, period=PERIOD, state_weights=[1.0, 2.0])
    with pytest.raises(tf.ShapeError, match=r"forces: expected \(21, 3\), got \(3,\)"):
        linear_feedback(robot, motion, period=PERIOD, forces=np.zeros(3))
    with pytest.raises(tf.ShapeError, match=r"gains: expected finite numbers \(k, 3, 6\), got \(1, 3, 3\)"):
        LinearFeedback(robot, np.zeros((1, 3)), np.zeros((1, 3, 3)), PERIOD)
    for wrong in (
        partial(linear_feedback, robot, motion, period=PERIOD),
        partial(LinearFeedback, robot, gains=0, period=1),
    ):
        with pytest.raises(tf.TauforgeError, match="forces: expected numbers, got text"):
            wrong(forces="none")
    law = linear_feedback(robot, motion, period=PERIOD)
    with pytest.raises(tf.ModelError, match=r"control_period: expected 0\.005 s"):
        tf.simulate(robot, law, motion, control_period=0.01)
