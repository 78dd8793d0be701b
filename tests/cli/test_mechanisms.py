"""The command line with mechanisms from TOML, URDF and MJCF files."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.command_line import parsed, run, saved
from support.five_bar_texts import ON_URDF, written
from support.mjcf_texts import FOUR_BAR
from support.tolerances import FORMULATIONS, PLACED, error
from support.urdf_texts import TREE
from tauforge.tables.robot_columns import TIME, columns_of

T = np.linspace(0, 1, 41)


@pytest.fixture
def four_bar(tmp_path):
    path = tmp_path / "four_bar.xml"
    path.write_text(FOUR_BAR)
    return path


def test_show_and_check(four_bar, tmp_path):
    words = "four bar: mechanism of 3 bodies and 4 joints, 1 degree of freedom, 1 actuator,"
    text = run("show", four_bar).stdout
    assert " ".join(text.split()).startswith(words)
    assert "1 loop, cut at end." in text
    assert "spherical" in text
    assert f"four_bar.xml: good. {words}" in " ".join(run("check", four_bar).stdout.split())
    tf.load(four_bar).save(tmp_path / "four_bar.toml")
    shown = parsed("show", tmp_path / "four_bar.toml")
    assert [joint["name"] for joint in shown["joints"]] == ["drive", "knee", "swing", "end"]


def test_check_names_all_that_is_wrong(four_bar, tmp_path):
    path = tmp_path / "bad.toml"
    tf.load(four_bar).save(path)
    text = path.read_text().replace('kind = "hinge"', 'kind = "hinges"', 1).replace("mass = ", "mass = -", 1)
    path.write_text(text)
    problems = parsed("check", path, code=1)["problems"]
    assert any("body[1].mass: expected a number >= 0" in problem for problem in problems)
    assert any("joint[1].kind: unknown kind 'hinges'" in problem for problem in problems)


def test_inverse_dynamics_and_forward_kinematics_close_the_loop(four_bar, tmp_path):
    robot = tf.load(four_bar)
    own = columns_of(robot)
    q, qd, qdd = tf.motion.JointMove([0.0], [0.4], 1.0).sample(T)
    motion = saved(
        tmp_path / "m.csv", [TIME, *own.position, *own.velocity, *own.acceleration], np.column_stack([T, q, qd, qdd])
    )
    run("inverse-dynamics", four_bar, motion, "-o", tmp_path / "forces.csv")
    forces = np.loadtxt(tmp_path / "forces.csv", delimiter=",", skiprows=1)[:, 1:]
    x = robot.configuration(q)
    assert error(forces.T, robot.inverse_dynamics(x, qd, qdd).T) < FORMULATIONS
    angles = saved(tmp_path / "q.csv", own.position, q)
    found = parsed("forward-kinematics", four_bar, angles)
    assert found["last"][:3] == pytest.approx(robot.forward_kinematics(x)[-1, :3, 3].tolist(), abs=PLACED)


@pytest.fixture
def on_urdf(tmp_path):
    return written(tmp_path)


def test_loops_on_top_of_a_urdf_by_a_toml_file(on_urdf):
    assert "2 degrees of freedom, 2 actuators" in " ".join(run("check", on_urdf).stdout.split())
    on_urdf.write_text(ON_URDF.replace("five.urdf", "six.urdf").replace('"hinge"', '"hinges"'))
    problems = parsed("check", on_urdf, code=1)["problems"]
    assert len(problems) == 2
    assert problems[0].startswith("urdf: there is no file 'six.urdf' beside it")
    assert problems[1].startswith("joint[1].kind: unknown kind 'hinges'")


def test_check_names_faults_beside_a_missing_urdf(on_urdf):
    text = ON_URDF.replace("five.urdf", "../five.urdf").replace("-9.81, 0.0]", "-9.81]")
    on_urdf.write_text(text.replace('fields = ["end"]', "fields = 3").replace('child = "b2"', 'child = "c"'))
    fields = [problem.partition(":")[0] for problem in parsed("check", on_urdf, code=1)["problems"]]
    assert fields == ["urdf", "gravity", "source[1].fields"]  # bodies of the URDF are not known


@pytest.mark.parametrize("name", ["five-bar", "gripper", "urdf"])
def test_motions_name_independent_coordinates_and_limits_are_judged(name, on_urdf, tmp_path):
    """Positions of these have more entries than coordinates."""
    robot = tf.load(on_urdf if name == "urdf" else name)
    own = columns_of(robot)
    assert len(own.position) == robot.n < robot.positions.size
    start = robot.positions.coordinates(robot.home)
    q = start + 0.05 * np.sin(np.pi * T)[:, None] ** 2 * np.ones(robot.n)
    motion = saved(tmp_path / "m.csv", [TIME, *own.position], np.column_stack([T, q]))
    found = parsed("inverse-dynamics", on_urdf if name == "urdf" else name, motion)
    assert [row["actuator"] for row in found["forces"]] == [actuator.words for actuator in robot.actuators]
    assert all(np.isfinite(row["peak"]) for row in found["forces"])


def test_inverse_dynamics_of_a_recording_are_those_of_its_assembly(tmp_path):
    robot = tf.load("four-bar")
    q = robot.positions.coordinates(robot.home)
    start = robot.configuration(q, near=robot.home + [0.0, -1.7, 2.3, -2.3])
    law, move = tf.control.ComputedTorque(robot), tf.motion.JointMove(q, q + 0.3, duration=0.1)
    recording = tf.simulate(robot, law, move, initial=(start, [0.0]))
    recording.save(tmp_path / "run.csv")
    ran = run("inverse-dynamics", "four-bar", tmp_path / "run.csv", "-o", tmp_path / "forces.csv")
    assert "not used" not in ran.stderr
    forces = np.loadtxt(tmp_path / "forces.csv", delimiter=",", skiprows=1)[:, 1:]
    assert error(forces, recording.force) < FORMULATIONS
    assert np.abs(robot.inverse_dynamics(robot.home, [0.0], [0.0]) - forces[0]).max() > 0.1 * np.abs(forces).max()


@pytest.mark.parametrize("name", ["five-bar", "gripper", "slider-crank"])
def test_commands_take_a_mechanism_or_say_what_they_cannot(name, tmp_path):
    assert "Forces that hold the robot at rest" in run("workspace", name).stdout
    assert "nothing to compare" in run("compare", name, code=2).stderr
    assert "operations of one inverse dynamics" in run("complexity", name).stdout
    written = parsed("export-c", name, tmp_path)
    assert any("inverse_dynamics" in function for function in written["functions"])
    assert not any("computed_torque" in function for function in written["functions"])


def test_c_of_a_mechanism_without_actuators_has_no_arguments_for_forces(tmp_path):
    written = parsed("export-c", "bricard", tmp_path)
    assert {"bricard_forward_dynamics", "bricard_mass_matrix"} <= set(written["functions"])
    header = (tmp_path / "bricard.h").read_text()
    assert "void bricard_forward_dynamics(" in header
    assert "tau" not in header.partition("void bricard_forward_dynamics(")[2].partition(")")[0]


def test_a_free_end_without_mass_is_named(tmp_path):
    tree = tmp_path / "tree.urdf"
    tree.write_text(TREE)
    message = run("simulate", tree, "--motion", "joint-move:0,0,0,0:0.02,0.02,0.02,0.02:0.1", code=1).stderr
    assert "moves neither mass nor inertia here" in " ".join(message.split())
