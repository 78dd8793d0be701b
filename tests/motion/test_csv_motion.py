"""Motions from CSV files: rates and accelerations that are given or found, turns, names of columns."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

import tauforge as tf
from tauforge.errors import ModelError
from tauforge.motion import CsvMotion
from tauforge.robots.poses import pose_of, twists
from tauforge.tables.robot_columns import PLATFORM_COLUMNS, POSE, TIME, arm_columns, columns_of, joint_names
from tauforge.tables.table import CsvColumn, write_csv

RATES = "q1 [rad],q2 [rad],qd1 [rad/s],qd2 [rad/s],qdd1 [rad/s^2],qdd2 [rad/s^2]"


def saved(path, header, rows):
    with path.open("w", newline="") as file:
        write_csv(file, header, rows)
    return path


def sine(t, n):
    rates = np.arange(1, n + 1)
    angle = np.multiply.outer(t, rates)
    return np.sin(angle), rates * np.cos(angle), -(rates**2) * np.sin(angle)


@pytest.mark.parametrize(
    ("given", "derived", "tolerances"),
    [
        (3, (), (0.0, 0.0)),
        (2, ("acceleration",), (0.0, 1e-6)),
        (1, ("velocity", "acceleration"), (1e-7, 1e-4)),  # orders 5 and 4 in a step of 0.02 s, worst at the ends
    ],
)
def test_rates_that_are_not_given_come_from_a_spline(tmp_path, given, derived, tolerances):
    arm, t = tf.load("planar-2r"), np.linspace(3.0, 5.0, 101)
    q, qd, qdd = sine(t, 2)
    own = columns_of(arm)
    groups = [own.position, own.velocity, own.acceleration][:given]
    path = saved(tmp_path / "m.csv", [TIME, *sum(groups, ())], np.column_stack([t, *[q, qd, qdd][:given]]))
    motion = CsvMotion(path, arm)
    assert motion.derived == derived
    assert motion.even
    assert motion.duration == pytest.approx(2.0, rel=1e-12)
    assert np.array_equal(motion.samples.position, q)
    assert np.abs(motion.samples.velocity - qd).max() <= tolerances[0]
    assert np.abs(motion.samples.acceleration - qdd).max() <= tolerances[1]
    between = motion.sample(np.array([0.331, 1.777]))
    for found, wanted in zip(between, sine(np.array([3.331, 4.777]), 2), strict=True):
        assert np.abs(found - wanted).max() < 1e-4
    there = motion.sample(t - t[0])
    for found, wanted in zip(there, motion.samples, strict=True):
        assert np.abs(found - wanted).max() < 1e-9  # rounding of the quintics' second derivatives


def test_a_start_from_rest_has_no_sign_that_friction_could_act_on(tmp_path):
    arm = tf.load("puma560")
    t = np.linspace(0, 1, 101)
    move = tf.motion.JointMove(np.zeros(6), np.ones(6), 1.0).sample(t)
    path = saved(tmp_path / "m.csv", [TIME, *columns_of(arm).position], np.column_stack([t, move.position]))
    motion = CsvMotion(path, arm)
    assert not motion.samples.velocity[[0, -1]].any()
    assert (motion.samples.velocity[2:-2] > 0).all()


@pytest.mark.parametrize(
    ("make", "rough"),
    [
        (lambda t: np.sin(6 * t), False),
        (lambda t: np.round(np.sin(6 * t), 9), False),
        (lambda t: np.round(np.sin(6 * t), 3), True),
        (lambda t: np.sin(6 * t) + 1e-3 * np.random.default_rng(0).normal(size=len(t)), True),
        (lambda t: 3 * t, False),
        (lambda t: 0 * t, False),
        (lambda t: tf.motion.JointMove([0.0], [1.0], 2.0, "trapezoidal").sample(t).position[:, 0], False),
    ],
)
def test_rounded_and_noisy_positions_are_noticed(tmp_path, make, rough):
    arm, t = tf.load("planar-2r"), np.linspace(0, 2, 201)
    path = saved(tmp_path / "m.csv", [TIME, *columns_of(arm).position], np.column_stack([t, make(t), np.sin(t)]))
    with warnings.catch_warnings(action="ignore", category=tf.RoundedMotionWarning):  # of digits: its own tests
        assert CsvMotion(path, arm).rough == (("q1",) if rough else ())


def test_poses_carry_twists(tmp_path):
    rig, t = tf.load("motion-rig"), np.linspace(0, 1, 201)
    numbers = [x * 0.1 + np.array([0, 0, 1, 0, 0, 0]) * (k == 0) for k, x in enumerate(sine(t, 6))]
    pose, twist, acceleration = numbers[0], *twists(*numbers)
    own = columns_of(rig)
    header = [TIME, *own.position, *own.velocity, *own.acceleration]
    whole = CsvMotion(saved(tmp_path / "w.csv", header, np.column_stack([t, pose, twist, acceleration])), rig)
    alone = CsvMotion(saved(tmp_path / "a.csv", header[:7], np.column_stack([t, pose])), rig)
    assert whole.of_poses
    assert np.abs(whole.samples.velocity - twist).max() < 1e-14
    assert np.abs(whole.samples.acceleration - acceleration).max() < 1e-13
    assert np.abs(alone.samples.velocity - twist).max() < 1e-7
    assert np.abs(alone.samples.acceleration - acceleration).max() < 1e-4


def test_angles_that_jump_by_a_turn_are_the_same_motion(tmp_path):
    rig, t = tf.load("motion-rig"), np.linspace(0, 1, 51)
    pose = np.zeros((51, 6)) + [0, 0, 1, 0, 0, 3.0]
    pose[:, 5] += 0.5 * t
    wrapped = pose.copy()
    wrapped[:, 5] = np.remainder(wrapped[:, 5] + np.pi, 2 * np.pi) - np.pi
    assert np.abs(np.diff(wrapped[:, 5])).max() > 6
    motion = CsvMotion(saved(tmp_path / "m.csv", [TIME, *POSE], np.column_stack([t, wrapped])), rig)
    assert np.abs(motion.samples.velocity - [0, 0, 0, 0, 0, 0.5]).max() < 1e-9


def test_joints_that_jump_by_a_turn_are_the_same_motion(tmp_path):
    arm, t = tf.load("planar-2r"), np.linspace(0, 1, 51)
    q = np.column_stack([3.0 + 0.5 * t, -3.0 - t])
    wrapped = np.remainder(q + np.pi, 2 * np.pi) - np.pi
    own = columns_of(arm)
    motion = CsvMotion(saved(tmp_path / "m.csv", [TIME, *own.position], np.column_stack([t, wrapped])), arm)
    assert motion.turned == ("q1", "q2")
    assert np.abs(motion.samples.position - q).max() < 1e-12
    assert np.abs(motion.samples.velocity - [0.5, -1.0]).max() < 1e-9
    coarse = t[::10]  # with rates, 4 rad from row to row are what they are
    rows = np.column_stack([coarse, 20 * coarse, coarse, 20 + 0 * coarse, 1 + 0 * coarse])
    motion = CsvMotion(saved(tmp_path / "m.csv", [TIME, *own.position, *own.velocity], rows), arm)
    assert motion.turned == ()
    assert np.abs(motion.samples.position[:, 0] - 20 * coarse).max() == 0


def test_what_slides_never_turns(tmp_path):
    arm = tf.load("stanford")
    sliding = next(k for k, joint in enumerate(arm.joints) if joint.kind == "P")
    q = np.zeros((12, arm.n))
    q[:, sliding] = 7.0 * np.arange(12)
    path = saved(tmp_path / "m.csv", [TIME, *columns_of(arm).position], np.column_stack([np.arange(12.0), q]))
    assert np.array_equal(CsvMotion(path, arm).samples.position, q)


def test_a_robot_at_rest_has_no_rates(tmp_path):
    rig, t = tf.load("motion-rig"), np.linspace(0, 1, 1001)
    pose = np.zeros((1001, 6)) + [0.1, 0.02, 1.03, 0.1, 0.05, 0.3]
    motion = CsvMotion(saved(tmp_path / "m.csv", [TIME, *POSE], np.column_stack([t, pose])), rig)
    assert not motion.samples.velocity.any()
    assert not motion.samples.acceleration.any()


def test_uneven_steps_and_unknown_columns_are_told(tmp_path):
    arm, t = tf.load("planar-2r"), np.array([0, 0.1, 0.2, 0.35, 0.4, 0.5, 0.6])
    path = saved(
        tmp_path / "m.csv", [TIME, *columns_of(arm).position, CsvColumn("note", "N")], np.column_stack([t, t, t, t])
    )
    motion = CsvMotion(path, arm)
    assert not motion.even
    assert motion.steps == pytest.approx((0.05, 0.15))
    assert motion.unused == ("note",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time [s],q1 [rad],q2 [rad],qd1 [rad/s]\n0,1,1,1\n", "no column 'qd2 [rad/s]' beside qd1. Give all of qd1"),
        (f"time [s],{RATES}\n0,1,1,1,1,1,1\n", "the file has only 1 row. Give at least 2"),
        (
            "time [s],q1 [rad],q2 [rad]\n0,1,1\n1,1,1\n",
            "the file has only 2 rows. Give at least 6, or velocity and acceler",
        ),
        ("q1 [rad],q2 [rad]\n1,1\n", "no column 'time [s]'"),
    ],
)
def test_motions_that_are_refused(tmp_path, text, message):
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        CsvMotion(path, tf.load("planar-2r"))
    assert message in str(caught.value)


def planar(*names):
    """The planar arm with joints of these names."""
    arm = tf.load("planar-2r")
    return arm.replace(
        joints=[dataclasses.replace(joint, name=name) for joint, name in zip(arm.joints, names, strict=True)]
    )


ARM = planar("shoulder", "elbow")


@pytest.mark.parametrize(
    ("header", "derived"),
    [
        ("time [s],shoulder [deg],elbow [rad]", ("velocity", "acceleration")),
        ("time (s),shoulder (deg),q2(rad)", ("velocity", "acceleration")),
        ("time [s],q1 [deg],elbow [rad],shoulder_velocity [deg/s],elbow_velocity [rad/s]", ("acceleration",)),
        (
            "time [s],shoulder [deg],q2 [rad],qd1 [deg/s],elbow_velocity [rad/s],shoulder_acceleration [deg/s^2],"
            "elbow_acceleration [rad/s^2]",
            (),
        ),
    ],
)
def test_columns_may_be_called_after_joints(tmp_path, header, derived):
    t = np.linspace(0, 1, 11)
    numbers = np.column_stack([t, 90 * t**2, t, 180 * t, 1 + 0 * t, 180 + 0 * t, 0 * t])[:, : header.count(",") + 1]
    np.savetxt(tmp_path / "m.csv", numbers, delimiter=",", header=header, comments="", fmt="%.17g")
    motion = CsvMotion(tmp_path / "m.csv", ARM)
    assert (motion.derived, motion.unused) == (derived, ())
    wanted = [np.column_stack([np.pi / 2 * t**2, t]), np.column_stack([np.pi * t, 1 + 0 * t]), [[np.pi, 0]] * 11]
    for found, exact in zip(motion.samples, wanted, strict=True):
        assert np.abs(found - exact).max() < 1e-11  # of a spline through 11 samples of a parabola


def test_our_names_count_before_those_of_joints(tmp_path):
    """A column after a joint beside our own is not used; a name that could be two columns is none."""
    t = np.arange(8.0)
    header = [TIME, *columns_of(ARM).position, CsvColumn("shoulder", "rad")]
    motion = CsvMotion(saved(tmp_path / "m.csv", header, np.column_stack([t, t, t, 5 * t])), ARM)
    assert np.array_equal(motion.samples.position[:, 0], t)
    assert motion.unused == ("shoulder",)
    swapped = planar("q2", "q1")
    motion = CsvMotion(saved(tmp_path / "m.csv", header[:3], np.column_stack([t, t, 2 * t])), swapped)
    assert np.array_equal(motion.samples.position[:, 1], 2 * t)
    assert joint_names(planar("a", "a_velocity")) == {
        "a": "q1",
        "a_velocity_velocity": "qd2",
        "a_acceleration": "qdd1",
        "a_velocity_acceleration": "qdd2",
    }


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            "time [s],shoulder [deg]",
            "row 1: there is no column 'q2 [rad]' or 'elbow [rad]'. The columns are: time, shoulder",
        ),
        ("time [s],shoulder [deg],elbow", "row 1, column elbow: the column has no unit. Write for example elbow [rad]"),
        ("time [s],shoulder [deg],elbow [mm]", "row 1, column elbow: unit [mm] does not measure this column"),
        (
            "time [s],Q1 (turns),q2 [rad]",
            "no column 'q1 [rad]' or 'shoulder [rad]'. Units are written in brackets: write q1",
        ),
        (
            "time [s],q1 [rad],q2 [rad],shoulder_velocity [rad/s]",
            "no column 'qd2 [rad/s]' beside qd1. Give all of qd1 to qd2 or none of them",
        ),
    ],
)
def test_columns_after_joints_that_are_refused(tmp_path, header, message):
    (tmp_path / "m.csv").write_text(header + "\n" + ",".join(["1"] * (header.count(",") + 1)) + "\n")
    with pytest.raises(ModelError) as caught:
        CsvMotion(tmp_path / "m.csv", ARM)
    assert message in str(caught.value)


def test_twists_at_a_quarter_turn_have_no_rates(tmp_path):
    rig, own = tf.load("motion-rig"), PLATFORM_COLUMNS
    rows = np.zeros((6, 13))
    rows[:, 0], rows[:, 3], rows[3, 5] = np.arange(6), 1.0, np.pi / 2
    rows[:, 10] = 1.0
    path = saved(tmp_path / "m.csv", [TIME, *own.position, *own.velocity], rows)
    with pytest.raises(ModelError, match="row 5, column theta_y: at a quarter turn the angles have no rates"):
        CsvMotion(path, rig)


@pytest.mark.parametrize("name", ["scara", "motion-rig"])
def test_recordings_are_motions(tmp_path, name):
    robot = tf.load(name)
    if name == "scara":
        robot = robot.without_friction()
        move = tf.motion.JointMove(np.zeros(4), [0.03, -0.02, 0.005, 0.04], 0.02)
    else:
        home = np.array([0, 0, 1.0, 0, 0, 0])
        move = tf.motion.PoseMotion(tf.motion.JointMove(home, home + 0.001, 0.02))
    run = tf.simulate(robot, tf.control.ComputedTorque(robot), move)
    run.save(tmp_path / "run.csv")
    back = CsvMotion(tmp_path / "run.csv", robot)
    assert back.derived == back.unused == ()
    for found, wanted in zip(back.samples, (run.position, run.velocity, run.acceleration), strict=True):
        assert np.abs(found - wanted).max() < 1e-12
    assert np.abs(robot.inverse_dynamics(*back.samples) - run.force).max() < 1e-9 * np.abs(run.force).max()
    header = (tmp_path / "run.csv").read_text().split("\n")[0]
    assert ("q3 [m]" in header and "tau3 [N]" in header) if name == "scara" else "omega_x [rad/s]" in header
    assert "target_" in header


def test_columns_of_a_sliding_joint():
    own = arm_columns(["rad", "m"])
    assert [str(c) for group in own for c in group] == [
        "q1 [rad]", "q2 [m]", "qd1 [rad/s]", "qd2 [m/s]", "qdd1 [rad/s^2]", "qdd2 [m/s^2]", "tau1 [N m]", "tau2 [N]",
    ]  # fmt: skip


def test_a_pose_of_a_transform_gives_it_back():
    arm = tf.load("panda")
    q = np.random.default_rng(0).uniform(-1, 1, (50, 7))
    T = arm.forward_kinematics(q)
    pose = pose_of(T)
    from scipy.spatial.transform import Rotation

    assert np.abs(Rotation.from_euler("xyz", pose[:, 3:]).as_matrix() - T[:, :3, :3]).max() < 1e-14
    assert np.array_equal(pose[:, :3], T[:, :3, 3])
    assert np.abs(pose_of(T[3]) - pose[3]).max() < 1e-15
