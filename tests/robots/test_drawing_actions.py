"""Where actuators act, as pictures show it: along or about the axes of the robot's own Jacobian."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import names_of
from support.tolerances import FORMULATIONS

ARMS = names_of("arm")
PLATFORMS = names_of("platform")
MECHANISMS = names_of("mechanism")


@pytest.mark.parametrize("name", ARMS)
def test_joints_act_along_the_columns_of_the_jacobian(name):
    arm = tf.load(name)
    q = arm.random_states(5)[0]
    J = arm.jacobian(q)  # (5, 6, n): velocity of the tool, angular velocity
    tool = arm.forward_kinematics(q)[..., :3, 3]
    actions = arm.drawing(q).actions
    assert [action.name for action in actions] == [actuator.name for actuator in arm.actuators]
    for k, action in enumerate(actions):
        linear, angular = J[:, :3, k], J[:, 3:, k]
        if action.turns:
            assert np.abs(angular - action.axis).max() < FORMULATIONS
            assert np.abs(linear - np.cross(action.axis, tool - action.place)).max() < FORMULATIONS * (1 + abs(J).max())
        else:
            assert np.abs(linear - action.axis).max() < FORMULATIONS
            assert not angular.any()


@pytest.mark.parametrize("name", PLATFORMS)
def test_legs_push_their_joints_apart(name):
    """A positive force does work where the leg grows longer."""
    platform = tf.load(name)
    pose, twist, _ = platform.random_states(5)
    _, rates = platform.sensors.motion(pose, twist)
    actions = platform.drawing(pose).actions
    for k, action in enumerate(actions):
        speed = twist[:, :3] + np.cross(twist[:, 3:], action.place - pose[:, :3])
        assert not action.turns
        assert np.abs((speed * action.axis).sum(axis=1) - rates[:, k]).max() < FORMULATIONS * (1 + np.abs(rates).max())


@pytest.mark.parametrize("name", MECHANISMS)
def test_actuators_of_mechanisms_act_where_they_do_work(name):
    """Unit forces at the drawn places and axes do the work that the actuators' coordinates give."""
    m = tf.load(name)
    x, qd, _ = m.random_states(5)
    rates = m.sensors.motion(x, qd)[1]
    for k, (action, joint) in enumerate(zip(m.drawing(x).actions, [j for j in m.joints if j.actuated], strict=True)):
        inner, outer = (
            np.zeros((5, 6)) if body == "ground" else np.einsum("kij,kj->ki", m.jacobian(x, body, joint.at), qd)
            for body in (joint.parent, joint.child)
        )
        apart = (outer - inner)[:, 3:] if action.turns else (outer - inner)[:, :3]
        assert np.abs((apart * action.axis).sum(axis=1) - rates[:, k]).max() < FORMULATIONS * (1 + np.abs(rates).max())
