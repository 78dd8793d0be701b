"""Rotations that take z to an axis: the shortest way, as MuJoCo reads `zaxis` and `fromto`."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tauforge as tf
from support.tolerances import EPSILON, OUTSIDE, PLACED, error
from tauforge.algebra.rotations import NEAR_POLE, rotation_to
from tauforge.algebra.vectors import Vector
from tauforge.robots.drawing import Box

STEPS = 20 * EPSILON  # a dozen operations on numbers up to 2
COORDINATE_AXES = [tuple(sign * row) for sign in (1.0, -1.0) for row in np.eye(3)]
TILTS = [(1.0, 0.3), (1.0, 1e-3), (-1.0, 0.3), (-1.0, 1e-3), (-1.0, 1e-6), (-1.0, 2 * NEAR_POLE)]
NEAR_THE_POLES = [  # MuJoCo takes frames within 1e-6 of each other as one, so there is nothing nearer to +z
    (tilt * np.cos(phi), tilt * np.sin(phi), end) for end, tilt in TILTS for phi in (0.4, 2.0, 4.0)
]
DIRECTIONS = [*COORDINATE_AXES, *NEAR_THE_POLES, (1.0, 0.0, -1.0), (1.0, 1.0, -1.0), (0.2, -0.3, -0.1)]
DIRECTIONS += [tuple(row) for row in np.random.default_rng(1).normal(size=(30, 3))]


def matrix(direction: tuple[float, ...]) -> np.ndarray:
    unit = np.array(direction) / np.linalg.norm(direction)
    return np.array([tuple(row) for row in rotation_to(Vector(*unit.tolist())).rows])


@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 1e-3))
@example((1e-12, -1e-11, -1.0))
@example((1e-6, 1e-6, -1.0))
@example((1e-200, 0.0, -1.0))
def test_z_is_turned_to_the_axis_by_the_shortest_way(direction: tuple[float, float, float]) -> None:
    """The least angle that takes z to the axis is the angle between them, so the trace is 1 + 2 z."""
    R, axis = matrix(direction), np.array(direction) / np.linalg.norm(direction)
    assert np.abs(R[:, 2] - axis).max() < STEPS
    assert np.abs(R @ R.T - np.eye(3)).max() < STEPS
    assert np.linalg.det(R) > 0
    assert abs(np.trace(R) - (1 + 2 * axis[2])) < STEPS


@pytest.mark.parametrize("axis", COORDINATE_AXES)
def test_coordinate_axes_are_exact(axis: tuple[float, ...]) -> None:
    assert set(np.abs(matrix(axis)).ravel()) == {0.0, 1.0}


def frames_in_mujoco(text: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def drawn_as_in(model: mujoco.MjModel, robot: tf.Robot) -> bool:
    """Whether its only geom, a box, is turned as MuJoCo has it in its body. (`geom_xmat` may be its body's instead.)"""
    (visual,) = robot.visuals
    assert isinstance(visual.shape, Box)
    expected = np.zeros(9)
    mujoco.mju_quat2Mat(expected, model.geom_quat[0])
    return bool(np.abs(np.array(visual.placement)[:3, :3] - expected.reshape(3, 3)).max() < PLACED)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_zaxis_is_read_as_mujoco_reads_it(direction: tuple[float, ...]) -> None:
    """Bodies, an inertial and a geom have one: all are in the mass matrix, the geom is drawn."""
    zaxis = 'zaxis="{!r} {!r} {!r}"'.format(*map(float, direction))
    text = f"""<mujoco><worldbody>
      <body name="a" {zaxis}><joint type="ball"/>
        <inertial pos="0.1 0.2 0.3" {zaxis} mass="2" diaginertia="0.03 0.04 0.05"/>
        <body name="b" pos="0.3 0.1 0.2" {zaxis}><joint axis="1 2 3"/>
          <geom type="box" size="0.05 0.1 0.2" pos="0.1 0.2 0.3" {zaxis}/></body></body></worldbody></mujoco>"""
    model, data = frames_in_mujoco(text)
    robot = tf.loads(text)
    assert isinstance(robot, tf.Mechanism)
    frames = robot.body_frames(robot.home)
    for k, frame in enumerate(frames, 1):
        assert np.abs(frame[:3, :3] - data.xmat[k].reshape(3, 3)).max() < PLACED
        assert np.abs(frame[:3, 3] - data.xpos[k]).max() < PLACED
        assert np.abs(np.array(robot.bodies[k - 1].com) - data.xipos[k]).max() < PLACED
    assert drawn_as_in(model, robot)
    M = np.zeros((model.nv, model.nv))
    for row, unit in zip(M, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    R = data.xmat[1].reshape(3, 3)
    B = np.block([[R.T, np.zeros((3, 1))], [np.zeros((1, 3)), np.eye(1)]])  # MuJoCo's ball rates are in body axes
    assert error(robot.mass_matrix(robot.home), B.T @ M @ B, core=2) < OUTSIDE


@pytest.mark.parametrize("direction", [(0.0, 0.0, -1.0), (1e-9, 0.0, -1.0), (-3e-10, 2e-8, -1.0)])
def test_at_the_pole_mujoco_turns_about_x(direction: tuple[float, ...]) -> None:
    """Nearer than `NEAR_POLE` MuJoCo rounds to the pole; the axis is kept here, so the tilt is the difference."""
    text = '<mujoco><worldbody><body name="a" zaxis="{!r} {!r} {!r}"><geom size="1"/></body></worldbody></mujoco>'
    _, data = frames_in_mujoco(text.format(*direction))
    assert np.abs(data.xmat[1].reshape(3, 3) - np.diag([1.0, -1.0, -1.0])).max() < PLACED
    tilt = np.hypot(*direction[:2])
    assert np.abs(matrix(direction) - data.xmat[1].reshape(3, 3)).max() <= tilt + PLACED


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_box_between_two_points_is_drawn_as_mujoco_shows_it(direction: tuple[float, ...]) -> None:
    """MuJoCo's z points from the second end to the first, which a square section shows."""
    ends = " ".join(map(repr, [0.1, 0.2, 0.3, *(np.array([0.1, 0.2, 0.3]) + direction).tolist()]))
    text = f"""<mujoco><worldbody><body name="a"><joint/>
      <geom type="box" fromto="{ends}" size="0.05"/></body></worldbody></mujoco>"""
    model, _ = frames_in_mujoco(text)
    assert drawn_as_in(model, tf.loads(text))


@pytest.mark.parametrize("axis", ["0.2 0.3 -0.5", "0 0.6 -0.8", "1e-9 0 -1", "0 0 -1"])
def test_an_arm_of_urdf_turns_about_its_axes_whatever_their_sign(axis: str) -> None:
    """A turn by q about -a is a turn by -q about a: the tool and the torques follow."""
    text = """<robot name="r"><link name="w"/><link name="l"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
      <inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="revolute"><parent link="w"/><child link="l"/><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
      <axis xyz="{}"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint></robot>"""
    one = tf.loads(text.format(axis))
    other = tf.loads(text.format(" ".join(str(-float(x)) for x in axis.split())))
    assert isinstance(one, tf.SerialArm)
    assert isinstance(other, tf.SerialArm)
    for q, qd, qdd in itertools.product((0.0, 0.7, -2.0), (0.0, 1.5), (0.0, -3.0)):
        assert np.abs(one.forward_kinematics([q]) - other.forward_kinematics([-q])).max() < PLACED
        assert error(one.inverse_dynamics([q], [qd], [qdd]), -other.inverse_dynamics([-q], [-qd], [-qdd])) < OUTSIDE
