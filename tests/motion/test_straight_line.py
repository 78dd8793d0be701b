"""Lines that turn the short way: about one axis, past pi and through a quarter turn, for platforms and for tools."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.command_line import parsed
from support.tolerances import ROUNDING
from tauforge.motion import StraightLine, ToolMotion
from tauforge.motion.straight_line import Turn

FRACTIONS = np.linspace(0.0, 1.0, 2001)
JUMP = 0.5  # rad between two of the fractions, away from quarter turns of theta_y far less
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def rotation(angles):
    return Rotation.from_euler("xyz", angles)  # R = Rz Ry Rx


def line(start, end, rate=None, **options):
    """A second long, with blends of an eighth of it."""
    pose = [np.r_[0.1, 0.0, 1.0, angles] for angles in (start, end)]
    turned = np.linalg.norm(Turn(*(x[3:] for x in pose)).vector)
    return StraightLine(*pose, 1.0, 1.0, rate or turned / 0.875 or 1.0, **options)


@given(seeds)
def test_the_turn_is_the_short_one(rng):
    """Against SciPy: its rotation vector, and its interpolation."""
    start, end = rng.uniform(-4, 4, (2, 3))
    turn = Turn(start, end)
    vector = (rotation(end) * rotation(start).inv()).as_rotvec()
    assert np.abs(turn.vector - vector).max() < 1e-12
    wanted = Rotation.from_rotvec(np.outer(FRACTIONS, vector)) * rotation(start)
    assert (rotation(turn.angles(FRACTIONS)) * wanted.inv()).magnitude().max() < ROUNDING


@given(seeds)
def test_angles_go_on_without_jumps(rng):
    start, end = rng.uniform(-4, 4, (2, 3))
    turn = Turn(start, end)
    everywhere = np.union1d(FRACTIONS, turn._fractions)  # more of them where angles turn fast
    angles = turn.angles(everywhere)
    assert np.abs(angles[0] - start).max() < 1e-12
    assert np.abs(np.diff(angles, axis=0)).max() < JUMP
    assert np.array_equal(angles[7], turn.angles(everywhere[7]))  # one by one as all together


@pytest.mark.parametrize("past", [0.0, 1e-11, 1e-8, 1e-4, -1e-6])
@pytest.mark.parametrize("sign", [1, -1])
def test_through_a_quarter_turn_of_theta_y(past, sign):
    """Exactly there, or by: the orientation is right and nothing jumps."""
    middle = rotation([0.4, sign * (np.pi / 2 + past), 0.0])
    half = Rotation.from_rotvec([0.3, 0.6, -0.2])
    start, end = ((half**power * middle).as_euler("xyz") for power in (-1, 1))
    turn = Turn(start, end)
    everywhere = np.union1d(FRACTIONS, turn._fractions)
    angles = turn.angles(everywhere)
    assert np.abs(np.diff(angles, axis=0)).max() < JUMP
    wanted = Rotation.from_rotvec(np.outer(2 * everywhere, half.as_rotvec())) * rotation(start)
    assert (rotation(angles) * wanted.inv()).magnitude().max() < ROUNDING


def test_pitching_over():
    turn = Turn(np.zeros(3), np.array([0.0, 2.5, 0.0]))
    assert np.allclose(turn.angles(FRACTIONS), np.outer(FRACTIONS, [0, 2.5, 0]), atol=1e-12)


def test_the_short_way_past_pi():
    motion = line([0, 0, 3.1], [0, 0, -3.1])
    t = np.linspace(0, 1, 401)
    pose, twist, _ = motion.sample(t)
    turned = 2 * np.pi - 6.2
    assert np.trapezoid(np.linalg.norm(twist[:, 3:], axis=1), t) == pytest.approx(turned, rel=1e-4)
    assert np.allclose(pose[[0, -1], 5], [3.1, 3.1 + turned], atol=ROUNDING)
    assert (np.diff(pose[:, 5]) >= 0).all()
    long = line([0, 0, 3.1], [0, 0, -3.1], rate=7.0, orientation="angles")
    assert np.trapezoid(np.abs(long.sample(t).velocity[:, 5]), t) == pytest.approx(6.2, rel=1e-3)


def test_twists_are_those_of_the_rotation():
    """omega and its rate from differences of the orientation, at an instant of each part of the line."""
    motion, h = line([0.3, -0.8, 2.9], [-0.5, 1.2, -2.0]), 1e-5
    for t in (0.06, 0.5, 0.94):
        before, here, after = (motion.sample(t + k * h) for k in (-1, 0, 1))
        turned = rotation(after.position[3:]) * rotation(before.position[3:]).inv()
        assert np.abs(turned.as_rotvec() / (2 * h) - here.velocity[3:]).max() < 1e-9  # rounding over h
        assert np.abs((after.velocity - before.velocity) / (2 * h) - here.acceleration).max() < 1e-8
    directions = motion.sample(np.linspace(0.01, 0.99, 99)).velocity[:, 3:]
    assert np.abs(np.cross(directions, directions[0])).max() < ROUNDING  # one axis all along


@pytest.mark.parametrize("end", [[0, 0, np.pi], [0, 0, -np.pi], [0, 0, 3 * np.pi]])
def test_half_a_turn_goes_one_way(end):
    assert np.allclose(Turn(np.zeros(3), np.array(end)).vector, [0, 0, np.pi], atol=1e-12)


@pytest.mark.parametrize(("end", "axis"), [([0, -np.pi, 0], [0, 1, 0]), ([-np.pi, 0, 0], [1, 0, 0])])
def test_half_a_turn_about_other_axes(end, axis):
    assert np.allclose(Turn(np.zeros(3), np.array(end)).vector, np.pi * np.array(axis), atol=1e-12)


@pytest.mark.parametrize("end", [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3 + 2 * np.pi], [0.1 + np.pi, np.pi - 0.2, 0.3 - np.pi]])
def test_the_same_orientation_does_not_turn(end):
    motion = StraightLine([0, 0, 1, 0.1, 0.2, 0.3], [0, 0, 1.1, *end], 1.0, 0.15, 1.0)
    pose, twist, _ = motion.sample(np.linspace(0, 1, 11))
    assert np.abs(pose[:, 3:] - [0.1, 0.2, 0.3]).max() < ROUNDING
    assert not twist[:, 3:].any()


def test_an_arm_turns_its_tool_the_short_way():
    arm = tf.load("puma560").without_friction()
    posture = np.array([0.2, 0.6, -0.8, 0.3, 0.9, -0.2])
    place = arm.forward_kinematics(posture)
    about = Rotation.from_matrix(place[:3, :3]).as_euler("xyz")[:2]
    start, end = (np.r_[place[:3, 3], about, z] for z in (3.1, -3.1))
    guess = arm.inverse_kinematics(place_of(start), posture)
    motion = ToolMotion(arm, StraightLine(start, end, 1.0, 1.0, 0.1), guess)
    t = np.linspace(0, 1, 201)
    q, qd, _ = motion.sample(t)
    omega = (arm.jacobian(q) @ qd[..., None])[:, 3:, 0]
    assert np.trapezoid(np.linalg.norm(omega, axis=1), t) == pytest.approx(2 * np.pi - 6.2, rel=1e-3)
    tool = arm.forward_kinematics(q[-1])
    assert (Rotation.from_matrix(tool[:3, :3]) * rotation(end[3:]).inv()).magnitude() < 1e-8
    assert np.abs(q[-1] - q[0]).max() < 0.5


def place_of(pose):
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = rotation(pose[3:]).as_matrix(), pose[:3]
    return transform


def test_times_that_are_no_numbers_spoil_themselves_only():
    pose, twist, _ = line([0, 0.1, 0.2], [0.4, -0.3, 0.1]).sample([0.2, np.nan, 0.4])
    assert np.isnan(pose).all(axis=-1).tolist() == [False, True, False]
    assert np.isnan(twist).all(axis=-1).tolist() == [False, True, False]


def test_a_pose_move_of_the_command_line_turns_the_short_way():
    move = "pose-move:0,0,1,0,0,3.1:0,0,1,0,0,-3.1:0.1"
    done = parsed("simulate", "motion-rig", "--motion", move, "--step", "0.01")
    turned = next(entry for entry in done["coordinates"] if entry["name"] == "theta_z")
    assert np.cos(turned["final_position"] + 3.1) == pytest.approx(1, abs=1e-4)
    assert max(abs(entry["peak_force"]) for entry in done["coordinates"]) < 5e4  # 6.2 rad in 0.1 s need a hundred times
