"""Straight lines of a tool through inverse kinematics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.strategies import random_arm
from tauforge.motion import PoseMotion, StraightLine, ToolMotion
from tauforge.motion.tool_motion import bias_acceleration
from tauforge.robots.poses import transforms

ON_THE_LINE = 1e-9  # m and rad: the tolerance of inverse kinematics and a little
DIFFERENCE = 1e-4  # s, of central differences; their error is its square times the third derivative
SLOPES = 1e-5  # relative, of derivatives by such differences

PUMA = tf.load("puma560").without_friction()
POSTURE = np.array([0.2, 0.6, -0.8, 0.3, 0.9, -0.2])


def pose_of(arm, q):
    tool = arm.forward_kinematics(q)
    return np.r_[tool[:3, 3], Rotation.from_matrix(tool[:3, :3]).as_euler("xyz")]  # R = Rz Ry Rx


START = pose_of(PUMA, POSTURE)
LINE = StraightLine(START, START + [-0.15, -0.1, 0.05, 0.2, -0.1, 0.3], 1.0, 0.3, 0.6)


def test_the_tool_follows_the_line():
    motion = ToolMotion(PUMA, LINE, POSTURE)
    t = np.linspace(0, 1, 57)
    q, qd, _ = motion.sample(t)
    assert np.abs(q[0] - POSTURE).max() < ON_THE_LINE
    pose, twist, _ = LINE.sample(t)
    assert np.abs(PUMA.forward_kinematics(q) - transforms(pose)).max() < ON_THE_LINE
    assert np.abs((PUMA.jacobian(q) @ qd[..., None])[..., 0] - twist).max() < ON_THE_LINE


def test_rates_are_derivatives():
    """Away from the ends of the blends, where the acceleration jumps."""
    motion = ToolMotion(
        PUMA, PoseMotion(tf.motion.JointMove(START, START + [-0.1, -0.1, 0.05, 0.2, -0.1, 0.3], 1.0)), POSTURE
    )
    t = np.linspace(0.1, 0.9, 17)
    before, here, after = (motion.sample(t + dt) for dt in (-DIFFERENCE, 0.0, DIFFERENCE))
    for k in (0, 1):
        slope = (after[k] - before[k]) / (2 * DIFFERENCE)
        assert np.abs(slope - here[k + 1]).max() < SLOPES * np.abs(here[k + 1]).max()


@pytest.mark.parametrize("joints", ["RRRRRR", "RPRPR", "PRR"])
def test_the_bias_of_the_tool(joints):
    """J' qd against differences of J along the motion."""
    rng = np.random.default_rng(1)
    arm = random_arm(rng, joints)
    q, qd = rng.normal(size=(2, 5, arm.n))
    slope = (arm.jacobian(q + DIFFERENCE * qd) - arm.jacobian(q - DIFFERENCE * qd)) / (2 * DIFFERENCE)
    expected = (slope @ qd[..., None])[..., 0]
    assert np.abs(bias_acceleration(arm.jacobian(q), qd) - expected).max() < SLOPES * np.abs(expected).max()


def test_computed_torque_along_a_line_of_the_tool():
    motion = ToolMotion(PUMA, LINE, POSTURE)
    run = tf.simulate(PUMA, tf.control.ComputedTorque(PUMA), motion, step=5e-3, duration=0.2)
    tool = PUMA.forward_kinematics(run.position)
    # the error equation is homogeneous: what is left is Runge-Kutta's
    assert np.abs(tool - transforms(LINE.sample(run.time).position)).max() < 1e-6


def test_arms_with_fewer_joints_follow_what_they_can():
    scara = tf.load("scara")
    q = np.array([0.3, 0.8, 0.1, 0.2])
    start = pose_of(scara, q)
    ahead = ToolMotion(scara, PoseMotion(tf.motion.JointMove(start, start + [-0.05, -0.02, -0.03, 0, 0, 0.1], 0.5)), q)
    middle = ahead.sample(0.25)
    assert np.isfinite(np.concatenate(middle)).all()
    tilted = PoseMotion(tf.motion.JointMove(start, start + [0.05, 0, 0, 0.1, 0, 0], 0.5))
    with pytest.raises(tf.ConvergenceError, match=r"scara cannot follow: the pose at t = .* is out of reach"):
        ToolMotion(scara, tilted, q)


def test_what_cannot_be_followed():
    far = StraightLine(START, START + [3.0, 0, 0, 0, 0, 0], 1.0, 4.0, 1.0)
    with pytest.raises((tf.ConvergenceError, tf.SingularityError), match="puma560 cannot follow"):
        ToolMotion(PUMA, far, POSTURE)
    narrow = PUMA.replace(limits=[(x - 0.02, x + 0.02) for x in POSTURE])
    with pytest.raises(tf.ConvergenceError, match="beyond the limits of its joints"):
        ToolMotion(narrow, LINE, POSTURE)
    straight = np.array([0.2, 0.6, -0.8, 0.3, 0.0, -0.2])  # axes 4 and 6 in line
    begin = pose_of(PUMA, straight)
    turn = StraightLine(begin, begin + [0, 0, 0, 0.3, 0, 0], 1.0, 0.1, 0.4)
    with pytest.raises((tf.SingularityError, tf.ConvergenceError), match="puma560 cannot"):
        ToolMotion(PUMA, turn, straight).sample(np.linspace(0, 1, 11))


def test_what_is_refused():
    with pytest.raises(tf.UnsupportedFeatureError, match="does not determine the 7 joints of panda"):
        ToolMotion(tf.load("panda"), LINE)
    with pytest.raises(tf.ShapeError, match="motion: expected a motion of poses") as caught:
        ToolMotion(PUMA, tf.motion.JointMove(np.zeros(6), np.ones(6), 1.0))
    assert "Wrap a motion of x, y, z, theta_x, theta_y, theta_z and their rates in motion.PoseMotion" in str(
        caught.value
    )
    with pytest.raises(tf.UnsupportedFeatureError, match="a tool motion needs an arm"):
        ToolMotion(tf.load("box"), LINE)


def test_a_time_that_is_no_number_spoils_itself_only():
    q = ToolMotion(PUMA, LINE, POSTURE).sample([0.2, np.nan, 0.4]).position
    assert np.isnan(q).all(axis=-1).tolist() == [False, True, False]
