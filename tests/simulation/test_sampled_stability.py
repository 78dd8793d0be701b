"""A warning where a sampled loop is unstable, and none where it is not: against the errors of simulations."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.platforms import random_platform
from support.strategies import random_arm
from tauforge.control import PD, AdaptiveComputedTorque, ComputedTorque, GravityPD, LegSpaceComputedTorque, ResolvedRate
from tauforge.motion import JointMove, PoseMotion
from tauforge.simulation import stability

pytestmark = pytest.mark.usefixtures("as_installed")

ARM = random_arm(np.random.default_rng(5), "RRR").replace(gravity=(0, 0, 0))
REST = np.array([0.3, -0.4, 0.5])
STAY = JointMove(REST, REST, 1.0)
OFF = 1e-9  # rad or m, of the start: so little that the loop stays linear
PERIOD = 0.01
PERIODS = 300  # by which a loop that is 2 % beyond its stability shows it
KINDS = pytest.mark.parametrize("kind", ["damper", "spring"])  # what is too much
BEYOND = pytest.mark.parametrize("beyond", [0.98, 1.02])


def told(run):
    """The run, and what an UnstableLoopWarning says of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run()
    return found, [str(w.message) for w in caught if issubclass(w.category, tf.UnstableLoopWarning)]


def grows(error):
    """Whether errors (k, n) are larger in the last third than in the one before."""
    sizes = [np.abs(part).max() for part in np.array_split(error, 3)]
    return sizes[2] > sizes[1]


def at_the_boundary(kind, M, J, kv=1.0):
    """kp and kv, numbers, and the period at which the loop M a = -J' (kp J e + kv J e') becomes unstable.

    By Jury's conditions of a double integrator with held forces, kv period < 2 mass and kp period < 2 kv.
    """
    fastest = kv * eigh(J.T @ J, M, eigvals_only=True)[-1]  # 1/s
    return (0.05 * kv * fastest, kv, 2 / fastest) if kind == "damper" else (2 * kv * fastest, kv, 1 / fastest)


def options(position, period):
    return {
        "initial": (position + OFF * np.arange(1, len(position) + 1), np.zeros(len(position))),
        "duration": PERIODS * period,
        "control_period": period,
        "step": period,
    }


@BEYOND
@pytest.mark.parametrize(("kp", "kv"), [(100.0, 200.0), (800.0, 20.0), (300.0, [20.0, 40.0, 200.0])])
def test_computed_torque_is_a_double_integrator(kp, kv, beyond):
    period = beyond * min(2 / np.max(kv), 2 * np.min(kv) / kp)
    law = ComputedTorque(ARM, kp, kv)
    for run in (tf.simulate, tf.rollout):
        found, warned = told(lambda run=run: run(ARM, law, STAY, **options(REST, period)))
        assert grows(found.error.reshape(-1, 3)) == (beyond > 1)
        assert len(warned) == (beyond > 1)
        for text in warned:
            assert f"ComputedTorque, asked every {period:.6g} s, is unstable with {ARM.name}: errors grow by" in text


@BEYOND
@KINDS
@pytest.mark.parametrize("law", [PD, GravityPD])
def test_a_proportional_law_by_the_mass_matrix_at_the_start(law, kind, beyond, switch):
    kp, kv, period = at_the_boundary(kind, ARM.mass_matrix(REST), np.eye(3))
    given = options(REST, beyond * period)
    found, warned = told(lambda: tf.simulate(ARM, law(ARM, kp, kv), STAY, **given))
    assert grows(found.error) == (beyond > 1)
    assert len(warned) == (beyond > 1)
    for text in warned:
        assert f"Use smaller gains, or a control period of {beyond * period / 2:.3g} s" in text
    for run in (tf.rollout, tf.differentiable_rollout)[: 1 + int(switch)]:  # gradients need kernels
        assert told(lambda run=run: run(ARM, law(ARM, kp, kv), STAY, **given))[1] == warned


@BEYOND
@KINDS
def test_legs_of_a_platform(kind, beyond):
    rig = random_platform(np.random.default_rng(1), friction=(0, 0, 0)).replace(gravity=(0, 0, 0))
    home = np.array([0.0, 0.0, 1.1, 0.0, 0.1, 0.0])
    stay = PoseMotion(JointMove(home, home, 1.0))
    J = np.array([rig.leg_motion(home, twist).rates for twist in np.eye(6)]).T
    kp, kv, period = at_the_boundary(kind, rig.mass_matrix(home), J, 100.0)
    found, warned = told(lambda: tf.simulate(rig, PD(rig, kp, kv), stay, **options(home, beyond * period)))
    assert grows(found.error) == (beyond > 1)
    assert len(warned) == (beyond > 1)


@BEYOND
@KINDS
def test_motors_of_a_mechanism(kind, beyond):
    robot = tf.load("five-bar").replace(gravity=(0, 0, 0))
    rest = robot.positions.coordinates(robot.home)
    kp, kv, period = at_the_boundary(kind, robot.mass_matrix(robot.positions.at(rest)), np.eye(2))
    stay = JointMove(rest, rest, 1.0)
    found, warned = told(lambda: tf.simulate(robot, PD(robot, kp, kv), stay, **options(rest, beyond * period)))
    assert grows(found.error) == (beyond > 1)
    assert len(warned) == (beyond > 1)


def test_the_other_laws_in_accelerations():
    rig = tf.load("motion-rig")
    stay = PoseMotion(JointMove([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0], 1.0))
    given = {"control_period": PERIOD, "step": PERIOD}
    arm, q = tf.load("puma560").without_friction(), np.array([0.1, 0.5, -0.6, 0.2, 0.7, 0.1])
    frame = arm.forward_kinematics(q)
    pose = np.r_[frame[:3, 3], Rotation.from_matrix(frame[:3, :3]).as_euler("xyz")]  # R = Rz Ry Rx
    tool = PoseMotion(JointMove(pose, pose, 2.0))
    for kv, gain, count in ((190.0, 10.0, 0), (210.0, 10.0, 1), (50.0, 190.0, 0), (50.0, 210.0, 1)):
        legs = LegSpaceComputedTorque(rig, gain * kv, kv)
        assert len(told(lambda law=legs: tf.simulate(rig, law, stay, **given))[1]) == count
        rate = ResolvedRate(arm, gain, kv)
        run, warned = told(lambda law=rate: tf.simulate(arm, law, tool, initial=(q + OFF, 0 * q), **given))
        assert len(warned) == count
        assert grows(run.position - q) == (count > 0)


def test_no_alarm_where_friction_may_damp_or_nothing_is_known():
    """Friction damps slow oscillations; laws of the user's own, and gains that vary, are not looked into."""
    soft = PD(ARM, 50.0, 0.0)  # a spring that is held pumps energy in
    run = {"initial": (REST + OFF, np.zeros(3)), "duration": 3.0, "control_period": PERIOD}
    assert len(told(lambda: tf.simulate(ARM, soft, STAY, **run))[1]) == 1
    oiled = ARM.replace(viscous=[1.0] * 3)
    assert not told(lambda: tf.simulate(ARM, soft, STAY, plant=oiled, **run))[1]
    sticky = ARM.replace(viscous=[300.0] * 3)  # larger than the gain, so that the loop is stable
    stopped, alarms = told(lambda: tf.simulate(ARM, PD(ARM, 1000.0, 250.0), STAY, plant=sticky, **run))
    assert not alarms
    assert np.abs(stopped.position[-1] - REST).max() < 0.5 * np.abs(OFF).max()
    assert not told(lambda: tf.simulate(ARM, soft, STAY, **run | {"control_period": None}))[1]
    assert not told(lambda: tf.simulate(ARM, soft, STAY, **run | {"duration": 0.02}))[1]  # too short to matter

    class Weak(ComputedTorque):
        def force(self, t, position, velocity, target):
            return 0.01 * super().force(t, position, velocity, target)

    quick = {"control_period": PERIOD, "step": PERIOD, "duration": 0.5}
    assert not told(lambda: tf.simulate(ARM, Weak(ARM, 100.0, 210.0), STAY, **quick))[1]
    law = ComputedTorque(ARM, 100.0, 210.0)
    assert len(told(lambda: tf.rollout(ARM, law, STAY, **quick))[1]) == 1
    assert not told(lambda: tf.rollout(ARM, law, STAY, gains={"kv": 20 * np.eye(3)}, **quick))[1]
    adaptive = AdaptiveComputedTorque(ARM, period=PERIOD)
    assert not told(lambda: tf.simulate(ARM, adaptive, STAY, **quick))[1]


def test_a_remedy_without_a_period():
    """A held spring without a damper is unstable at any period."""
    run = {"initial": (REST + OFF, np.zeros(3)), "duration": 3.0, "control_period": PERIOD}
    (text,) = told(lambda: tf.simulate(ARM, PD(ARM, 50.0, 0.0), STAY, **run))[1]
    assert text.endswith("Use smaller gains, or a larger kv")


def test_a_robot_without_a_hash_is_simulated():
    class Own(tf.SerialArm):
        def __eq__(self, other):
            return self is other

    arm = Own(joints=ARM.joints, name="own", gravity=(0, 0, 0))
    for run in (tf.simulate, tf.rollout):
        law, quick = PD(arm, 50.0, 0.0), {"control_period": PERIOD, "duration": 3.0}
        assert len(told(lambda run=run, law=law, quick=quick: run(law.robot, law, STAY, **quick))[1]) == 1
    key = id(arm)
    assert key in stability._starts
    del arm, law
    gc.collect()
    assert key not in stability._starts
