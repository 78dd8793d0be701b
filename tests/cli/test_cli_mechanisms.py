"""The command line with mechanisms from TOML, URDF and MJCF files."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.command_line import parsed, run, saved
from support.mjcf_texts import FOUR_BAR
from support.tolerances import FORMULATIONS, PLACED, error
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
