"""`inverse-dynamics` says which joints and legs a motion takes beyond their limits: how far, and when first."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.command_line import run, saved
from tauforge.tables.robot_columns import TIME, columns_of

T = np.linspace(0, 1, 101)


def warnings_of(robot, folder, positions, *options):
    """Warnings about a motion, given as a file of positions at T with rates and accelerations."""
    robot.save(folder / "robot.toml")
    own = columns_of(robot)
    moves = saved(folder / "motion.csv", [TIME, *own.position], np.column_stack([T, positions]))
    done = run("inverse-dynamics", folder / "robot.toml", moves, *options)
    return [line.removeprefix("warning: ") for line in done.stderr.splitlines() if line.startswith("warning")]


def test_joints_that_turn_too_far_or_too_fast(tmp_path):
    arm = tf.load("planar-2r").replace(limits=[(-0.5, 0.5), None], max_speed=[None, 1.2])
    q = np.column_stack([0.8 * T, 2 * T])
    assert warnings_of(arm, tmp_path, q) == [
        "joint1 turns to 0.8 rad, 0.3 rad beyond its limit of 0.5 rad; first beyond it at 0.63 s",
        "joint2 turns at 2 rad/s, 0.8 rad/s beyond its limit of 1.2 rad/s; first beyond it at 0 s",
    ]
    both = warnings_of(arm, tmp_path, np.column_stack([0.6 * np.sin(2 * np.pi * T), T]), "-o", "-")
    assert [text.split(" beyond its limit of ")[1].split(";")[0] for text in both] == ["-0.5 rad", "0.5 rad"]
    assert warnings_of(arm, tmp_path, -q)[0].startswith("joint1 turns to -0.8 rad, 0.3 rad beyond its limit of -0.5")


def test_joints_that_slide_too_far(tmp_path):
    scara = tf.load("scara")
    sliding = next(k for k, joint in enumerate(scara.joints) if joint.kind == "P")
    scara = scara.replace(limits=[(0.0, 0.1) if k == sliding else None for k in range(scara.n)])
    q = np.zeros((len(T), scara.n))
    q[:, sliding] = 0.15 * T
    (text,) = warnings_of(scara, tmp_path, q)
    name = scara.joints[sliding].name
    assert text == f"{name} slides to 0.15 m, 0.05 m beyond its limit of 0.1 m; first beyond it at 0.67 s"


def test_a_motion_up_to_its_limits_is_within_them(tmp_path):
    arm = tf.load("planar-2r").replace(limits=[(0.0, np.radians(50)), None], max_speed=[np.radians(50), None])
    arm.save(tmp_path / "robot.toml")
    rows = "".join(f"{t},{50 * t},0\n" for t in T)
    (tmp_path / "motion.csv").write_text(f"time [s],q1 [deg],q2 [deg]\n{rows}")
    assert "warning" not in run("inverse-dynamics", tmp_path / "robot.toml", tmp_path / "motion.csv").stderr


RIG = tf.load("motion-rig")
HOME = np.array([0, 0, 1.0, 0, 0, 0])


def lifted():
    """From home up by 0.4 m."""
    return HOME + np.outer(T, [0, 0, 0.4, 0, 0, 0])


def test_legs_that_are_too_long(tmp_path):
    lengths = RIG.inverse_kinematics(lifted())
    longest = np.array(RIG.stroke)[:, 1]
    outside = [leg for leg in range(6) if lengths[:, leg].max() > longest[leg]]
    found = [text for text in warnings_of(RIG, tmp_path, lifted()) if "has the length" in text]
    assert len(found) == len(outside) > 0
    leg = outside[0]
    end, first = lengths[-1, leg], T[(lengths[:, leg] > longest[leg]).argmax()]
    assert found[0] == (
        f"leg {leg + 1} has the length {end:.4g} m, {end - longest[leg]:.4g} m beyond its limit of "
        f"{longest[leg]:.4g} m; first beyond it at {first:g} s"
    )


def test_joints_of_legs_that_tilt_too_far(tmp_path):
    margins = RIG.within_limits(lifted())
    widest = tuple(angle - margin.min() - 0.01 for angle, margin in zip(RIG.cone_angles, margins[1:3], strict=True))
    found = warnings_of(RIG.replace(cone_angles=widest), tmp_path, lifted())
    for joint, angle in zip(("base", "platform"), widest, strict=True):
        texts = [text for text in found if text.startswith(f"the {joint} joint of leg ")]
        assert texts
        assert f"tilts by {angle + 0.01:.4g} rad, 0.01 rad beyond its limit of {angle:.4g} rad; first" in "".join(texts)


def test_legs_that_touch(tmp_path):
    clearance = RIG.within_limits(lifted()).clearance
    radius = RIG.leg_radius + (clearance.min() + 0.001) / 2
    texts = [text for text in warnings_of(RIG.replace(leg_radius=radius), tmp_path, lifted()) if "gap" in text]
    one, other = RIG.within_limits(lifted()).nearest_legs[clearance.argmin()]
    first = T[(clearance < clearance.min() + 0.001).argmax()]
    assert texts == [
        f"the gap between legs {one} and {other} is -0.001 m, 0.001 m beyond its limit of 0 m; "
        f"first beyond it at {first:g} s"
    ]


def test_forces_beyond_their_limits_are_told_with_the_rest(tmp_path):
    found = warnings_of(RIG.replace(force_limit=100.0), tmp_path, lifted())
    assert sum("needs" in text for text in found) == 6
    assert any("has the length" in text for text in found)


@pytest.mark.parametrize("name", ["planar-2r", "motion-rig"])
def test_robots_without_limits_have_none(tmp_path, name):
    if name == "planar-2r":
        assert warnings_of(tf.load(name), tmp_path, np.column_stack([10 * T, T])) == []
    else:
        free = RIG.replace(stroke=None, cone_angles=None, leg_radius=None, force_limit=None)
        assert warnings_of(free, tmp_path, lifted()) == []
