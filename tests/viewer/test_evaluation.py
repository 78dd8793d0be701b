"""What the viewer says of a state: the library's own numbers, for any payload and gravity."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from tauforge.viewer.evaluation import Evaluation, State

NAMES = ["planar-2r", "puma560", "scara", "dasgupta1998", "motion-rig"]


def moving(evaluation: Evaluation) -> State:
    robot = evaluation.robot
    random = np.random.default_rng(1)
    return evaluation.start()._replace(velocity=random.normal(size=robot.n), acceleration=random.normal(size=robot.n))


@pytest.mark.parametrize("name", NAMES)
def test_the_forces_are_the_librarys(name: str) -> None:
    robot = tf.load(name)
    evaluation = Evaluation(robot)
    state = moving(evaluation)
    reading = evaluation.read(state)
    motion = state.position, state.velocity, state.acceleration
    np.testing.assert_array_equal(reading.forces, robot.inverse_dynamics(*motion))
    assert reading.energy == tuple(map(float, robot.energy(*motion[:2])))
    assert reading.problem == ""
    assert reading.difference is None
    assert reading.condition == pytest.approx(float(robot.moved_body.condition(state.position)))


@pytest.mark.parametrize("name", NAMES)
def test_payload_and_gravity_are_those_of_another_robot(name: str) -> None:
    robot = tf.load(name)
    evaluation = Evaluation(robot)
    state = moving(evaluation)._replace(payload=3.0, gravity=1.62)
    down = np.array(robot.gravity) / np.linalg.norm(robot.gravity)
    moon = robot.replace(gravity=tuple(1.62 * down))
    motion = state.position, state.velocity, state.acceleration
    reading = evaluation.read(state)
    expected = moon.inverse_dynamics(*motion, payload=tf.Payload(3.0))
    np.testing.assert_allclose(reading.forces, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(reading.energy, moon.energy(*motion[:2], payload=tf.Payload(3.0)), rtol=1e-11)
    for ours, theirs in zip(evaluation.reactions(state), moon.reactions(*motion, payload=tf.Payload(3.0)), strict=True):
        np.testing.assert_allclose(ours.force, theirs.force, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.moment, theirs.moment, rtol=1e-9, atol=1e-9)


def test_a_robot_without_gravity_can_be_given_some() -> None:
    arm = tf.load("puma560")
    evaluation = Evaluation(arm.replace(gravity=(0, 0, 0)))
    start = evaluation.start()
    assert start.gravity == 0
    assert not np.abs(evaluation.read(start).forces).any()
    heavy = evaluation.read(start._replace(gravity=9.81)).forces
    np.testing.assert_allclose(heavy, arm.gravity_forces(start.position), atol=1e-12)


def test_another_formulation_says_how_far_it_is_from_the_default() -> None:
    platform = tf.load("dasgupta1998")
    evaluation = Evaluation(platform)
    state = moving(evaluation)._replace(formulation="massless-legs")
    motion = state.position, state.velocity, state.acceleration
    reading = evaluation.read(state)
    other = platform.inverse_dynamics(*motion, model="massless-legs")
    np.testing.assert_allclose(reading.forces, other)
    assert reading.difference is not None
    np.testing.assert_allclose(reading.difference, other - platform.inverse_dynamics(*motion))
    assert evaluation.read(state._replace(formulation=platform.formulations.default)).difference is None


def test_a_singular_pose_has_a_reason_instead_of_forces() -> None:
    rig = tf.load("motion-rig")
    evaluation = Evaluation(rig)
    lost = evaluation.start()._replace(position=np.array([0, 0, 1.0, 0, 0, np.pi / 2]))
    reading = evaluation.read(lost)
    assert np.isnan(reading.forces).all()
    assert reading.problem == "singular: the legs cannot hold the platform"
    assert evaluation.reactions(lost) == ()


@pytest.mark.parametrize("name", ["planar-2r", "motion-rig"])
def test_other_states_without_forces_are_not_called_singular(name: str) -> None:
    evaluation = Evaluation(tf.load(name))
    start = evaluation.start()
    fast = evaluation.read(start._replace(velocity=np.full(len(start.velocity), 1e200)))
    assert np.isnan(fast.forces).all()
    assert fast.problem == "no forces: what was computed is not finite, though the pose is not singular"
    odd = evaluation.read(start._replace(velocity=np.full(len(start.velocity), np.nan)))
    assert odd.problem == "no forces: the position, velocity or acceleration is not finite"


def test_an_arm_has_forces_at_its_singular_pose() -> None:
    evaluation = Evaluation(tf.load("puma560"))
    reading = evaluation.read(evaluation.start()._replace(position=np.zeros(6)))
    assert reading.problem == ""
    assert np.isfinite(reading.forces).all()
    assert reading.condition is not None
    assert reading.condition > 1e12


def test_a_geometry_without_masses_has_a_reason_instead_of_forces() -> None:
    evaluation = Evaluation(tf.load("mathworks-hexapod"))
    reading = evaluation.read(evaluation.start())
    assert "no masses" in reading.problem
    assert reading.energy is None
    assert np.isfinite(reading.sensors).all()
    assert evaluation.reactions(evaluation.start()) == ()
