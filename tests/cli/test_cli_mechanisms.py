"""The command line with mechanisms from TOML, URDF and MJCF files."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.command_line import parsed, run, saved
from support.mjcf_texts import FOUR_BAR
from support.tolerances import FORMULATIONS, PLACED, error
from support.urdf_texts import TREE
from tauforge.motion.columns import TIME, columns_of

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


FIVE_BAR_URDF = """<robot name="five bar"><link name="base"/>{}</robot>"""
LINK = '<link name="{0}"><inertial><origin xyz="0 0.15 0"/><mass value="1.3"/><inertia ixx="0.01" ixy="0" ixz="0" '
LINK += 'iyy="0.02" iyz="0" izz="0.015"/></inertial></link><joint name="j{0}" type="continuous"><parent link="{1}"/>'
LINK += '<child link="{0}"/><origin xyz="{2}"/><axis xyz="0 0 1"/></joint>'
ON_URDF = """format = "tauforge-mechanism-1"
urdf = "five.urdf"
actuated = ["ja1", "jb1"]
[[joint]]
name = "end"
kind = "hinge"
parent = "a2"
child = "b2"
at = [0.0, 0.6, 0.0]
child_at = [0.2, 0.6, 0.0]
[start]
ja1 = 0.5
ja2 = -1.0
jb1 = -0.5
jb2 = 1.0
"""


@pytest.fixture
def on_urdf(tmp_path):
    bars = (("a1", "base", "0 0 0"), ("a2", "a1", "0 0.3 0"), ("b1", "base", "0.2 0 0"), ("b2", "b1", "0 0.3 0"))
    (tmp_path / "five.urdf").write_text(FIVE_BAR_URDF.format("".join(LINK.format(*bar) for bar in bars)))
    (tmp_path / "five.toml").write_text(ON_URDF)
    return tmp_path / "five.toml"


def test_loops_on_top_of_a_urdf_by_a_toml_file(on_urdf):
    assert "2 degrees of freedom, 2 actuators" in " ".join(run("check", on_urdf).stdout.split())
    on_urdf.write_text(ON_URDF.replace("five.urdf", "six.urdf").replace('"hinge"', '"hinges"'))
    problems = parsed("check", on_urdf, code=1)["problems"]
    assert any("urdf: there is no file 'six.urdf' beside it" in problem for problem in problems)


@pytest.mark.parametrize("name", ["five-bar", "gripper", "urdf"])
def test_motions_name_independent_coordinates_and_limits_are_judged(name, on_urdf, tmp_path):
    """Positions of these have more entries than coordinates."""
    robot = tf.load(on_urdf if name == "urdf" else name)
    own = columns_of(robot)
    assert len(own.position) == robot.n < robot.position_size
    start = robot.coordinates_at(robot.home)
    q = start + 0.05 * np.sin(np.pi * T)[:, None] ** 2 * np.ones(robot.n)
    motion = saved(tmp_path / "m.csv", [TIME, *own.position], np.column_stack([T, q]))
    found = parsed("inverse-dynamics", on_urdf if name == "urdf" else name, motion)
    assert [row["actuator"] for row in found["forces"]] == [actuator.words for actuator in robot.actuators]
    assert all(np.isfinite(row["peak"]) for row in found["forces"])


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
