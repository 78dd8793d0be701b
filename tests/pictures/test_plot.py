"""`tf.plot`: what matplotlib is given is the robot's drawing."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.tolerances import ROUNDING

pytest.importorskip("matplotlib")


def lines_of(figure):
    return [np.array(line.get_data_3d()).T for line in figure.axes[0].lines]


@pytest.mark.parametrize("name", tf.catalogue())
def test_every_robot_of_the_catalogue(name):
    """Each segment is a line from its start to its end, and everything lies inside the axes, which have one scale."""
    robot = tf.load(name)
    figure = tf.plot(robot)
    drawing = robot.drawing(robot.positions.default)
    for segment, line in zip(drawing.segments, lines_of(figure), strict=True):
        assert np.abs(line - np.stack([segment.start, segment.end])).max() < ROUNDING
    (axes,) = figure.axes
    spans = np.array([np.ptp(axis) for axis in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())])
    assert np.ptp(axes._box_aspect / spans) < ROUNDING * 1e3
    low, high = drawing.extent
    assert (low > [axes.get_xlim()[0], axes.get_ylim()[0], axes.get_zlim()[0]]).all()
    assert (high < [axes.get_xlim()[1], axes.get_ylim()[1], axes.get_zlim()[1]]).all()


def test_pictured_positions_keep_the_limits():
    for name in tf.catalogue():
        robot = tf.load(name)
        position = robot.positions.default
        low, high = np.transpose([c.usual_range for c in robot.coordinates])
        assert position.shape == (robot.positions.size,)
        position = robot.positions.coordinates(position)
        if robot.positions.pose:
            assert robot.stroke is None or robot.within_limits(position).hold
        else:
            assert (low <= position).all()
            assert (position <= high).all()


def test_forces_are_arrows_along_the_axes_of_the_actuators():
    platform = tf.load("dasgupta1998")
    pose = platform.positions.default
    force = np.array([100.0, -50.0, 0.0, 25.0, 10.0, 5.0])
    figure = tf.plot(platform, pose, forces=force)
    drawing = platform.drawing(pose)
    arrows = lines_of(figure)[len(drawing.segments) :]
    pushing = [k for k in range(6) if force[k]]
    assert len(arrows) == len(pushing)
    scale = np.linalg.norm(arrows[0][1] - arrows[0][0]) / 100.0
    for k, arrow in zip(pushing, arrows, strict=True):
        action = drawing.actions[k]
        assert np.abs(arrow[0] - action.place).max() < ROUNDING
        assert np.abs(arrow[1] - arrow[0] - scale * force[k] * action.axis).max() < 10 * ROUNDING


def test_torques_go_round_the_axes_of_the_joints():
    arm = tf.load("puma560")
    q = arm.positions.default
    torque = np.array([10.0, -20.0, 5.0, 1.0, 2.0, 3.0])
    figure = tf.plot(arm, q, forces=torque)
    drawing = arm.drawing(q)
    for action, arc, tau in zip(drawing.actions, lines_of(figure)[len(drawing.segments) :], torque, strict=True):
        around = arc - action.place
        assert np.abs(around @ action.axis).max() < 10 * ROUNDING
        assert np.ptp(np.linalg.norm(around, axis=1)) < 10 * ROUNDING
        assert np.sign(np.cross(around[0], around[1]) @ action.axis) == np.sign(tau)


def test_several_positions_and_frames():
    arm = tf.load("planar-2r")
    figure = tf.plot(arm, [[0.0, 0.5], [0.2, 0.7], [0.4, 0.9]], frames=["tool"])
    segments = len(arm.drawing(np.zeros(2)).segments)
    lines = figure.axes[0].lines
    assert len(lines) == 3 * (segments + 3)
    shades = [line.get_alpha() for line in lines]
    assert shades == sorted(shades)
    assert shades[0] < shades[-1] == 1.0
    into = tf.plot(arm, axes=figure.axes[0])
    assert into is figure


@pytest.mark.parametrize(
    ("given", "options", "match"),
    [
        ([1.0], {}, r"position: expected \(2,\) or \(k, 2\), got \(1,\)"),
        ([np.nan, 0.0], {}, "position: expected finite numbers, got nan"),
        ("here", {}, "position: expected numbers"),
        ([0.0, 0.0], {"forces": [1.0]}, r"forces: expected \(2,\) or \(1, 2\), got \(1,\)"),
        ([0.0, 0.0], {"frames": "hand"}, "frames: expected names among base, .*tool, got 'hand'"),
        ([0.0, 0.0], {"axes": 3}, "axes: expected matplotlib axes with projection='3d', got int"),
    ],
)
def test_what_does_not_fit_is_said(given, options, match):
    with pytest.raises(tf.ShapeError, match=match):
        tf.plot(tf.load("planar-2r"), given, **options)


def test_independent_coordinates_of_a_mechanism_are_a_position():
    m = tf.load("five-bar")
    q = m.positions.coordinates(m.home) + 0.1
    by_coordinates, by_position = (lines_of(tf.plot(m, x)) for x in (q, m.configuration(q)))
    for one, other in zip(by_coordinates, by_position, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(lines_of(tf.plot(m, [q, q + 0.1]))) == 2 * len(by_coordinates)
    with pytest.raises(tf.ShapeError, match=r"expected \(2,\) or \(k, 2\), or \(5,\) or \(k, 5\), got \(1,\)"):
        tf.plot(m, [0.3])


def test_robots_of_other_kinds():
    """They are drawn; forces need to know where the actuators act."""
    cart = CartPendulum()
    assert tf.plot(cart, [0.1, 0.3]).axes[0].lines
    with pytest.raises(tf.ModelError, match="does not say where its actuators act"):
        tf.plot(cart, [0.1, 0.3], forces=np.ones(len(cart.actuators)))
    with pytest.raises(tf.ModelError, match="expected a robot"):
        tf.plot("puma560")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(tf.ModelError, match=r"plots need matplotlib. Run pip install .*\[plots\]"):
        tf.plot(tf.load("planar-2r"))


FORMULAS = [r"$\input{x}$", r"a_{\input}", r"\input", "$x", "50% of_$a^{b}$", "_a'~b"]


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("schematic", [False, True])
def test_names_are_drawn_as_they_are(name, schematic):
    """matplotlib would read formulas in them: of the robot, its bodies and its joints."""
    robot = tf.Mechanism(
        bodies=[tf.Body("rod", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)), tf.Body(name, 1.0, (0.3, 0, 0), (0.1, 0.1, 0.1))],
        joints=[tf.Hinge(name + "'", "ground", "rod"), tf.Hinge("wrist", "rod", name, (0.2, 0, 0))],
        name=name,
    )
    figure = tf.plot(robot, schematic=schematic, frames=True)
    figure.savefig(io.BytesIO(), dpi=40)
    assert figure.axes[0].get_title() == name


@pytest.mark.parametrize("robot", ["planar-2r", "box", "four-bar"])
def test_half_a_surrogate_pair_is_no_name(robot):
    """Neither a picture nor a file could hold it."""
    with pytest.raises(tf.ModelError, match=r"name: expected Unicode text, got 'a\\ud800'\. Remove the lone surrogate"):
        tf.load(robot).replace(name="a\ud800")


def test_parts_have_names_that_can_be_written():
    for make in (
        lambda name: tf.Body(name),
        lambda name: tf.Hinge(name, "ground", "a"),
        lambda name: tf.Hinge("a", name, "ground"),
        lambda name: tf.Joint(name=name),
    ):
        with pytest.raises(tf.ModelError, match="expected Unicode text"):
            make("\udc80")
