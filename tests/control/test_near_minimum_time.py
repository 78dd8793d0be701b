"""Near-minimum-time control: closed forms of one joint, limits, straight lines and refusals, on any robot."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from support.tolerances import FORMULATIONS, error
from tauforge.control import ComputedTorque, NearMinimumTime

pytestmark = pytest.mark.usefixtures("kernels_on")
PERIOD = 1e-3  # s
SWITCH = 0.4  # of 1 / gain: the forces change from one limit to the other in half the time constant of the rates
NEAR = 1e-3  # rad, of the target
ROUNDED = 1e-9  # of forces at their limits
STRAY = 1e-2  # of the way, beside the straight line: forces are held while the robot moves through them


def staying(robot, at, duration):
    motion = tf.motion.JointMove(at, at, duration)
    return tf.motion.PoseMotion(motion) if robot.positions.pose else motion


def arrival(run, near=NEAR):
    """s, after which the run stays so near."""
    return run.time[np.flatnonzero(np.abs(run.error).max(axis=1) > near)[-1] + 1]


def turntable(inertia):
    """One link about the vertical: a double integrator."""
    return tf.SerialArm.from_dh(
        joints="R", alpha=[0], a=[0], d=[0], theta=[0], mass=[1], com=[[0, 0, 0]], inertia=[[1, 1, inertia]]
    )


@pytest.mark.parametrize("gain", [20.0, 60.0])
@pytest.mark.parametrize("braking", [0.6, 1.0])
def test_one_joint_takes_the_time_of_the_closed_form(gain, braking):
    """Full force to the rate v, braking to the last stretch B / gain^2, in which the error decays by exp(-gain t)."""
    limit, inertia, way = 30.0, 0.5, 2.0
    arm = turntable(inertia)
    law = NearMinimumTime(arm, limit, gain=gain, braking=braking)
    run = tf.simulate(arm, law, staying(arm, [way], 1.5), initial=([0.0], [0.0]), control_period=PERIOD)
    assert run.stepped_by == "machine code"
    A, B = limit / inertia, braking * limit / inertia
    v = np.sqrt((2 * B * way - B**2 / gain**2) / (1 + B / A))
    expected = v / A + (v - B / gain) / B + np.log(B / gain**2 / NEAR) / gain
    assert expected - 2 * PERIOD < arrival(run) < expected + SWITCH / gain
    assert run.position.max() < way + NEAR
    assert 2 * np.sqrt(way / A) < arrival(run)  # no law is quicker than full force and full brake


@pytest.mark.parametrize("robot", ["arm", "platform", "mechanism"])
def test_forces_reach_their_limits_and_the_robot_the_target(robot):
    """Along a straight line in the coordinates, on an arm, a platform and a mechanism with loops."""
    if robot == "arm":
        robot = random_arm(np.random.default_rng(7), "RPR", drives=True).replace(coulomb_speed=0.2)
        start, way = np.zeros(3), np.array([0.6, 0.2, -0.4])
    else:
        robot = tf.load({"platform": "motion-rig", "mechanism": "five-bar"}[robot])
        start = robot.positions.coordinates(robot.positions.default)
        way = 0.15 * np.where(np.arange(robot.n) % 2, 1.0, -1.0)
    along = robot.positions.at(start + np.linspace(0, 1, 20)[:, None] * way)
    limits = (
        1.2 * np.abs(robot.holding_forces(along)).max(axis=0) + 10 * np.abs(robot.mass_matrix(along[0]) @ way).max()
    )
    law = NearMinimumTime(robot, limits, gain=60.0)
    run = tf.simulate(
        robot, law, staying(robot, start + way, 3.0), initial=(start, np.zeros(robot.n)), control_period=PERIOD
    )
    used = (np.abs(run.force) / limits).max(axis=1)
    assert used.max() < 1 + ROUNDED
    assert (used[run.time < arrival(run)] > 1 - ROUNDED).mean() > 0.4
    passed = run.error @ way / (way @ way)
    assert np.abs(run.error - passed[:, None] * way).max() < STRAY * np.linalg.norm(way)
    assert np.abs(run.error[-1]).max() < NEAR


def test_near_the_target_it_is_computed_torque():
    arm = random_arm(np.random.default_rng(8), "RRP")
    q, qd, _ = (0.01 * x[0] for x in arm.random_states(1))
    target = tf.motion.JointMove([0, 0, 0], [0.01, 0.02, 0.0], 1.0).sample(0.4)
    law = NearMinimumTime(arm, 1e6, gain=15.0)
    usual = ComputedTorque(arm, 15.0**2, 30.0)
    assert error(law.force(0.0, q, qd, target), usual.force(0.0, q, qd, target)) < FORMULATIONS


def test_rows_have_forces_of_their_own():
    arm = random_arm(np.random.default_rng(9), "RR")
    law, motion = NearMinimumTime(arm, [40.0, 10.0]), staying(arm, [0.5, -0.5], 0.2)
    start = np.array([[0.0, 0.0], [0.5, -0.2], [-1.0, 1.0]])
    many = tf.rollout(arm, law, motion, initial=(start, np.zeros(2)), control_period=PERIOD)
    assert many.stepped_by == "machine code"
    one = tf.simulate(arm, law, motion, initial=(start[2], np.zeros(2)), control_period=PERIOD)
    assert np.abs(many.position[2] - one.position).max() < FORMULATIONS


def test_robots_without_force_limits_are_refused():
    arm = turntable(1.0)
    with pytest.raises(tf.ModelError, match=r"needs a finite limit > 0 of each of 1 forces, got \[inf\]") as no:
        NearMinimumTime(arm)
    assert no.value.remedy.endswith("lacks some: give force_limits=")
    with pytest.raises(tf.ModelError, match=r"force_limits: .* got \[1.0, 2.0\]"):
        NearMinimumTime(arm, [1.0, 2.0])
    with pytest.raises(tf.ModelError, match="braking: expected a share of the force limits, at most 1"):
        NearMinimumTime(arm, 1.0, braking=1.5)
