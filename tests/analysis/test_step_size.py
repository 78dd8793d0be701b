"""The step of an integrator from the largest speeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from tauforge.analysis import suggested_step

ARM = random_arm(np.random.default_rng(5), "RPR")
MOVE = tf.motion.JointMove([0, 0, 0], [0.8, 0.1, -0.5], 0.5)
MARGIN = 1.05  # of rates, which a run exceeds where it strays from its motion
USED = 0.5  # of what is allowed, at least: the longest such step


@pytest.mark.parametrize(("change", "velocity_change"), [(0.01, 10.0), (10.0, 0.1)], ids=["positions", "velocities"])
def test_no_row_of_a_run_changes_by_more(change, velocity_change):
    _, velocity, acceleration = MOVE.sample(np.linspace(0, 0.5, 501))
    fastest, hardest = (MARGIN * np.abs(x).max(axis=0) for x in (velocity, acceleration))
    step = suggested_step(ARM, fastest, hardest, change=change, velocity_change=velocity_change)
    run = tf.simulate(ARM, tf.control.ComputedTorque(ARM), MOVE, step=step, control_period=step)
    used = max(
        np.abs(np.diff(run.position, axis=0)).max() / change,
        np.abs(np.diff(run.velocity, axis=0)).max() / velocity_change,
    )
    assert USED < used <= 1


def test_speed_limits_of_the_robot_are_taken_without_others():
    joints = [replace(joint, max_speed=speed) for joint, speed in zip(ARM.joints, (2.0, 0.5, 4.0), strict=True)]
    arm = ARM.replace(joints=joints)
    assert suggested_step(arm) == 0.01 / 4.0
    assert suggested_step(arm, change=[0.01, 1e-4, 0.01]) == 1e-4 / 0.5
    assert suggested_step(arm, hardest=100.0) == 0.1 / 100.0


def test_steps_without_a_bound_are_refused():
    with pytest.raises(tf.ModelError, match="fastest: expected finite numbers > 0, got") as no:
        suggested_step(ARM)
    assert no.value.remedy == "Give fastest=, the largest velocities of the motion"
    with pytest.raises(tf.ModelError, match="change: expected finite numbers > 0, got 0"):
        suggested_step(ARM, 1.0, change=0.0)
    with pytest.raises(tf.ShapeError, match="hardest: expected a number or"):
        suggested_step(ARM, 1.0, [1.0, 2.0])
