"""A wrench at the tool that a sensor measures and the law takes into account (Turney after 3.21)."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from support.tolerances import FORMULATIONS, error
from tauforge.control import AdaptiveGains, ComputedTorque, NearMinimumTime

pytestmark = pytest.mark.usefixtures("kernels_on")
WRENCH = np.array([12.0, -5.0, 8.0, 0.6, -0.3, 0.4])  # N, N m
ARM = random_arm(np.random.default_rng(10), "RPRR")
ARM_MOVE = tf.motion.JointMove([0, 0, 0, 0], [0.4, 0.1, -0.3, 0.2], 0.3)
RUN = {"duration": 0.3, "step": 1e-3}
SAME_RUN = 1e-9  # rad: forces that cancel a wrench to their rounding, through the steps of a run


def pushed(t, position, velocity):
    """A wrench that changes in time, and with the place as a spring does."""
    return WRENCH * np.cos(7 * t) - 20.0 * position[..., 0:1] * np.ones(6)


pushed.traceable = True


def cases():
    rig = tf.load("motion-rig")
    home = rig.positions.default
    yield ARM, ARM_MOVE
    yield rig, tf.motion.PoseMotion(tf.motion.JointMove(home, home + 0.05, 0.3))


@pytest.mark.parametrize(("robot", "motion"), [*cases()], ids=["arm", "platform"])
def test_a_wrench_that_is_measured_leaves_no_error(robot, motion):
    """The law is asked at any time, so that the run is the one without a wrench; one that is not felt strays."""
    free = tf.simulate(robot, ComputedTorque(robot), motion, **RUN)
    felt = tf.simulate(robot, ComputedTorque(robot, wrench=pushed), motion, disturbance=pushed, **RUN)
    unfelt = tf.simulate(robot, ComputedTorque(robot), motion, disturbance=pushed, **RUN)
    assert felt.stepped_by == unfelt.stepped_by == "machine code"
    assert np.abs(felt.position - free.position).max() < SAME_RUN
    assert np.abs(felt.force - free.force).max() > 1.0  # which the actuators add
    assert np.abs(unfelt.position - free.position).max() > 1e5 * SAME_RUN


def test_it_may_be_a_number_and_a_gain():
    """(6,) is a parameter of the law, one for each row of a rollout."""
    q, qd, _ = (x[0] for x in ARM.random_states(1))
    target = ARM_MOVE.sample(0.1)
    known = ComputedTorque(ARM, wrench=WRENCH)
    work = ARM.jacobian(q).T @ WRENCH
    assert error(known.force(0.0, q, qd, target), ComputedTorque(ARM).force(0.0, q, qd, target) - work) < FORMULATIONS
    gains = {"wrench": np.array([np.zeros(6), WRENCH])}
    given = {"disturbance": lambda t: WRENCH, "control_period": 1e-3, "duration": 0.1}
    many = tf.rollout(ARM, known, ARM_MOVE, gains=gains, **given)
    assert many.stepped_by == "machine code"
    free = tf.rollout(ARM, ComputedTorque(ARM), ARM_MOVE, control_period=1e-3, duration=0.1)
    unfelt, felt = np.abs(many.position - free.position).max(axis=(1, 2))
    assert felt < 0.01 * unfelt  # what is left is of forces that are held


@pytest.mark.parametrize(
    "kind", [lambda **more: AdaptiveGains(ARM, period=1e-3, **more), lambda **more: NearMinimumTime(ARM, 200.0, **more)]
)
def test_other_laws_feel_it_too(kind):
    motion, given = ARM_MOVE, {"disturbance": pushed, "control_period": 1e-3}
    felt, unfelt = (np.abs(tf.simulate(ARM, law, motion, **given).error).max() for law in (kind(wrench=pushed), kind()))
    assert felt < 0.1 * unfelt


def test_wrenches_that_are_none_are_refused():
    with pytest.raises(tf.ShapeError, match=r"wrench: expected \(6,\) finite numbers, a force and a moment"):
        ComputedTorque(ARM, wrench=[1.0, 2.0, 3.0])
