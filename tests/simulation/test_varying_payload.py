"""A payload that is a function of the time: taken up and put down within a run, on arms, platforms and mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from support.tolerances import SAME_STEPS
from tauforge.control import ComputedTorque

pytestmark = pytest.mark.usefixtures("kernels_on")
PERIOD = 2e-3
GRASP, RELEASE = 0.05, 0.1  # s
ARM = random_arm(np.random.default_rng(12), "RPR", drives=True).replace(coulomb_speed=0.2)
EMPTY, LOAD = tf.Payload(0.0), tf.Payload(1.5, (0.02, 0, 0.05), np.full(3, 0.01))
GIVEN = {"step": PERIOD / 2, "control_period": PERIOD}


def carried(t):
    """LOAD from GRASP to RELEASE, with the rounding of the times."""
    return LOAD if GRASP - 1e-9 < t < RELEASE - 1e-9 else EMPTY


def cases():
    for robot in (ARM, tf.load("motion-rig"), tf.load("five-bar")):
        start = np.zeros(3) if robot is ARM else robot.positions.coordinates(robot.positions.default)
        move = tf.motion.JointMove(start, start + 0.05, 0.15)
        yield robot, move


def of(robot, motion):
    return tf.motion.PoseMotion(motion) if robot.positions.pose else motion


def apart(a, b):
    """Of the largest magnitude."""
    return np.abs(a - b).max() / np.abs(b).max()


class Later(tf.motion.Motion):
    """A motion from a time on."""

    def __init__(self, motion, begin):
        self.whole, self.begin, self.duration = motion, begin, motion.duration - begin

    def _within(self, t):
        return self.whole.sample(t + self.begin)


@pytest.mark.parametrize(
    ("robot", "move", "method"),
    [*((*case, "rk4") for case in cases()), (*next(cases()), "dormand-prince")],
    ids=["arm", "platform", "mechanism", "arm by methods"],
)
def test_a_run_is_that_of_robots_that_carry_and_do_not(robot, move, method):
    """Three runs of constant payloads, each from where the last one ends."""
    law = ComputedTorque(robot)
    run = tf.simulate(robot, law, of(robot, move), payload=carried, method=method, **GIVEN)
    assert (run.stepped_by == "machine code") == (method == "rk4")
    state, begin = None, 0.0
    for end, payload in ((GRASP, None), (RELEASE, LOAD), (0.15, None)):
        given = {"duration": end - begin, "payload": payload, "initial": state, "method": method, **GIVEN}
        part = tf.simulate(robot, law, of(robot, Later(move, begin)), **given)
        rows = slice(round(begin / GIVEN["step"]), round(end / GIVEN["step"]) + 1)
        tolerance = SAME_STEPS if method == "rk4" else 1e-9  # steps of its own end elsewhere
        assert np.abs(run.position[rows] - part.position).max() < tolerance
        assert apart(run.acceleration[rows][:-1], part.acceleration[:-1]) < 1e4 * tolerance
        state, begin = (part.position[-1], part.velocity[-1]), end
    without = tf.simulate(robot, law, of(robot, move), **GIVEN)
    assert np.abs(run.position - without.position).max() > 1e-5


def test_laws_that_python_asks_carry_it_too():
    """A callable, and a law that is asked at any time, at which the payload is that of the step."""
    _, motion = next(cases())
    law = ComputedTorque(ARM)

    def asking(t, q, qd):
        return law.force(t, q, qd, motion.sample(t))

    for given in (GIVEN, {"step": PERIOD}):
        asked, compiled = (tf.simulate(ARM, x, motion, payload=carried, **given) for x in (asking, law))
        assert asked.stepped_by == "methods: the controller is a callable"
        assert compiled.stepped_by == "machine code"
        for name in ("position", "acceleration", "force"):
            assert apart(getattr(asked, name), getattr(compiled, name)) < 1e4 * SAME_STEPS


def test_mechanisms_without_kernels_carry_it_too(monkeypatch):
    """Two steps, before and after the grasp."""
    monkeypatch.setenv("TAUFORGE_KERNELS", "off")
    robot = tf.load("five-bar")
    start = robot.positions.coordinates(robot.positions.default)
    law, given = ComputedTorque(robot), {"duration": GRASP, "step": GRASP, "control_period": GRASP}
    motion = tf.motion.JointMove(start, start + 0.02, GRASP)
    late, held = (
        tf.simulate(robot, law, motion, payload=load, **given).acceleration for load in (carried, lambda t: LOAD)
    )
    fixed = tf.simulate(robot, law, motion, payload=LOAD, **given).acceleration
    assert apart(held, fixed) < 1e4 * SAME_STEPS
    assert apart(late[:1], fixed[:1]) > 1e-3


def test_a_load_falls_with_the_arm_that_lets_go():
    """A free motion; energy is not watched, for payloads bring and take it."""
    arm = random_arm(np.random.default_rng(3), "RR")
    run = tf.simulate(arm, initial=([0.1, 0.2], [0.0, 0.0]), duration=0.15, step=PERIOD, payload=carried)
    whole = tf.simulate(arm, initial=([0.1, 0.2], [0.0, 0.0]), duration=GRASP, step=PERIOD)
    assert apart(run.position[: len(whole.time)], whole.position) < 1e4 * SAME_STEPS


def test_payloads_that_are_none_are_refused():
    _, motion = next(cases())
    with pytest.raises(tf.ShapeError, match=r"payload: expected a tauforge.Payload, got float"):
        tf.simulate(ARM, ComputedTorque(ARM), motion, payload=lambda t: 2.0, **GIVEN)
    with pytest.raises(tf.ShapeError, match="simulate also takes a function of the time"):
        tf.rollout(ARM, ComputedTorque(ARM), motion, payload=carried, control_period=PERIOD)
    with pytest.raises(tf.UnsupportedFeatureError, match="and no payload that varies"):
        tf.simulate(ARM, duration=0.1, initial=(np.zeros(3), np.zeros(3)), method="symplectic", payload=carried)
