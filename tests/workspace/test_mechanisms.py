"""Workspaces of mechanisms: their coordinates are swept and their loops closed. The oracle is circles that meet."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tauforge as tf
from support.mechanisms import delta
from support.tolerances import CLOSED, PLACED
from tauforge.robots.static_quantities import at_positions
from tauforge.sweeps import Axis, ready_study
from tauforge.viewer.workspace_panel import has_workspace, point_cloud
from tauforge.workspace import explain, polar, reach, volume
from tauforge.workspace import map as mapped
from tauforge.workspace.sampled_volume import sampled_positions

CRANK, ROD, APART = 0.3, 0.4, 0.25  # m, of the catalogue's five-bar
OPEN = "the loops do not close"
ALMOST = 1e-6  # m: nearer to the border than this no case is judged
EXACT = 1e-8  # rad: bisection ends at 1e-9
pytestmark = pytest.mark.usefixtures("as_installed")  # many positions: kernels are quicker


@pytest.fixture(scope="module")
def free() -> tf.Mechanism:
    """The five-bar without limits: its loops alone end its workspace."""
    m = tf.load("five-bar")
    return m.replace(joints=[dataclasses.replace(joint, limits=None) for joint in m.joints])


def crank_ends(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(..., 2) each, x and z."""
    ends = [np.stack([np.cos(angle), np.sin(angle)], axis=-1) * CRANK for angle in (left, right)]
    return ends[0], ends[1] + [APART, 0.0]


def room(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """m by which two rods are longer than the distance between the cranks: negative where they do not meet."""
    B, D = crank_ends(left, right)
    return 2 * ROD - np.linalg.norm(D - B, axis=-1)


def upper_meeting(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(..., 2) where the circles of the rods meet, to the left of the way from the left crank to the right one."""
    B, D = crank_ends(left, right)
    way = D - B
    d = np.linalg.norm(way, axis=-1, keepdims=True)
    across = np.stack([-way[..., 1], way[..., 0]], axis=-1) / d
    return (B + D) / 2 + np.sqrt(ROD**2 - d**2 / 4) * across


def test_a_map_ends_where_the_circles_no_longer_meet(free: tf.Mechanism) -> None:
    found = mapped(free, "limit", {"left": (-3.1, 3.1, 63), "right": (-3.1, 3.1, 63)})
    left, right = np.meshgrid(*found.axes.values(), indexing="ij")
    margin = room(left, right)
    sure = np.abs(margin) > ALMOST
    assert ((found.values == 0) == (margin > 0))[sure].all()
    assert 0.02 < found.shares()[OPEN] < 0.1
    assert "the loops do not close" in str(found)


def test_the_tool_is_where_the_circles_meet() -> None:
    m = tf.load("five-bar")
    seen = point_cloud(m, m.home)
    low, high = seen.points.min(axis=0), seen.points.max(axis=0)
    coordinates = np.random.default_rng(2).uniform([1.8, 0.5], [2.6, 1.3], (400, 2))
    tip = upper_meeting(*coordinates.T)
    frames = m.moved_body.frames(m.positions.at(coordinates))
    np.testing.assert_allclose(frames[:, [0, 2], 3], tip, atol=PLACED)
    assert (tip > low[[0, 2]] - 0.01).all()
    assert (tip < high[[0, 2]] + 0.01).all()


def test_the_area_of_the_tips_places() -> None:
    """The determinant of the tip's derivatives, integrated over the ranges of the cranks."""
    m = tf.load("five-bar")
    left, right = np.meshgrid(np.linspace(1.8, 2.6, 401), np.linspace(0.5, 1.3, 401), indexing="ij")
    tip = upper_meeting(left, right)
    by_left, by_right = np.gradient(tip, 0.002, 0.002, axis=(0, 1))
    density = np.abs(by_left[..., 0] * by_right[..., 1] - by_left[..., 1] * by_right[..., 0])
    area = np.trapezoid(np.trapezoid(density, dx=0.002), dx=0.002)
    found = volume(m, m.home, samples=100_000)
    assert str(found) == str(volume(m, home=m.home, samples=100_000))
    assert found.unit == "m^2"
    assert found.volume == pytest.approx(area, abs=found.error)
    assert found.error < 0.2 * area


def test_the_volume_of_a_delta_of_ones_own() -> None:
    """Against random places for which the cranks' angles are known in closed form."""
    plain, reach_of_motor = delta(), 0.5
    joints = [
        dataclasses.replace(joint, limits=(-reach_of_motor, reach_of_motor))
        if joint.name.startswith("motor")
        else joint
        for joint in plain.joints
    ]
    found = volume(plain.replace(joints=joints, tool="platform"))
    count, low, high = 1_000_000, np.array([-0.45, -0.45, -0.85]), np.array([0.45, 0.45, -0.2])
    places = np.random.default_rng(1).uniform(low, high, (count, 3))
    inside = np.ones(count, bool)
    for i in range(3):
        out = np.array([np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3), 0.0])
        inside &= np.abs(_crank(places, out) - _crank(np.array([0.0, 0.0, -0.55]), out)) <= reach_of_motor
    share, room = inside.mean(), np.prod(high - low)
    assert (low < found.box[0]).all()
    assert (high > found.box[1]).all()
    spread = room * np.sqrt(share * (1 - share) / count)
    assert found.unit == "m^3"
    assert abs(found.volume - room * share) < found.error + 3 * spread
    assert found.error < 0.01 * found.volume


def _crank(platform: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Angle of a crank of 0.25 m whose rod of 0.6 m holds the platform there, elbow outside; NaN out of reach."""
    way = platform + (0.05 - 0.2) * out
    x, z = way @ out, way[..., 2]
    reach = (0.25**2 + (way**2).sum(axis=-1) - 0.6**2) / (2 * 0.25)
    with np.errstate(invalid="ignore"):
        return np.arctan2(z, x) + np.arccos(reach / np.hypot(x, z))


def test_the_volume_by_the_pose_of_a_platform() -> None:
    """The same places, by coordinates without limits: few samples lie where loops do not close."""
    motors = tf.load("delta")
    one, other = (volume(m, samples=60_000) for m in (motors, motors.replace(independent="platform")))
    assert abs(one.volume - other.volume) < one.error + other.error
    assert other.error < 0.05 * other.volume
    assert sum(other.stopped_by.values()) < 0.98


def test_fewer_samples_lose_less_than_the_error_that_is_told() -> None:
    m = tf.load("five-bar")
    usual, many = volume(m), volume(m, samples=1_000_000)
    assert usual.volume != many.volume
    assert usual.volume == pytest.approx(many.volume, abs=usual.error)


def test_samples_are_closed_as_from_home() -> None:
    """Those after the first 4096 start at the nearest of these. Some do not close."""
    m = tf.load("planar-3rrr")
    start = dict(zip([c.name for c in m.coordinates], m.positions.coordinates(m.home), strict=True))
    wide = m.replace(
        joints=[
            dataclasses.replace(joint, limits=(start[joint.name] - 0.8, start[joint.name] + 0.8))
            if joint.name in start
            else joint
            for joint in m.joints
        ]
    )
    first, later = sampled_positions(wide, wide.home, 4096 + 1000)
    assert (len(first), len(later)) == (4096, 1000)
    closed = np.isfinite(later).all(axis=-1)
    assert 0.4 < closed.mean() < 0.8
    tip, from_home = (
        wide.moved_body.frames(positions)[:, :3, 3]
        for positions in (later[closed], wide.positions.at(wide.positions.coordinates(later[closed]), wide.home))
    )
    np.testing.assert_allclose(tip, from_home, atol=CLOSED)
    np.testing.assert_array_equal([*sampled_positions(wide, wide.home, 4096 + 1000)][1], later)


def test_a_tool_on_a_surface_has_no_volume() -> None:
    """Two hinges that cross: the tool is on a sphere."""
    m = tf.Mechanism(
        name="pan and tilt",
        bodies=[tf.Body("fork", 1.0), tf.Body("camera", 1.0, com=(0.3, 0, 0))],
        joints=[
            tf.Hinge("pan", "ground", "fork", at=(0, 0, 0), axis=(0, 0, 1), limits=(-1, 1)),
            tf.Hinge("tilt", "fork", "camera", at=(0, 0, 0), axis=(0, 1, 0), limits=(-1, 1)),
        ],
    )
    with pytest.raises(
        tf.UnsupportedFeatureError,
        match=r"pan and tilt moves its tool with 2 freedoms, on a surface: it has no volume. Use reach or map",
    ):
        volume(m)


def test_a_way_ends_where_the_rods_are_in_line(free: tf.Mechanism) -> None:
    """Both cranks outward at once: halving finds where the circles touch."""
    start = np.array([2.2, 0.9])
    wide = polar(free, ("left", "right"), rays=8)
    k = int(np.argmin(np.abs(wide.angle - 7 * np.pi / 4)))  # left on, right back: the cranks part
    way = np.array([np.cos(wide.angle[k]), np.sin(wide.angle[k])])
    low, high = 0.0, 1.5
    assert room(*start) > 0 > room(*(start + high * way))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if room(*(start + middle * way)) > 0 else (low, middle)
    assert wide.limits[k] == OPEN
    assert wide.distance[k] == pytest.approx(low, abs=EXACT)


def test_ranges_and_loops_end_ways_together() -> None:
    m = tf.load("five-bar")
    found = reach(m)
    for end in found.ends:
        assert end.distance == pytest.approx(0.4, abs=EXACT)
        assert end.limit == f"{end.direction} is {'above' if end.sense > 0 else 'below'} its range"
    assert found.home == pytest.approx([2.2, 0.9])
    assert found.judged == "ranges of the coordinates, loops that close"


def test_the_tool_of_a_delta_goes_as_far_as_its_motors(free: tf.Mechanism) -> None:
    """Straight up and down all motors turn alike: their angle says how high the platform is."""
    m = tf.load("delta")
    found = reach(m, directions="tool")
    for sense, angle in ((1, -0.3), (-1, 0.9)):
        end = found.end("platform along z", sense)
        height = m.moved_body.frames(m.positions.at(np.full(3, angle)))[2, 3] - m.moved_body.frames(m.home)[2, 3]
        assert sense * end.distance == pytest.approx(height, abs=1e-5)  # inverse kinematics is within 1e-6 of the size
        assert len(end.also) == 2
    assert found.end("platform about z").distance < 2e-6  # inverse kinematics is within 1e-6 rad


def test_poses_of_a_body_are_swept_where_they_are_the_coordinates() -> None:
    """The same ways by its motors, with the tool driven along them."""
    by_motors = tf.load("hexapod-6rus")
    by_pose = by_motors.replace(independent="platform")
    whole = reach(by_pose, directions=["z", "x"])
    steps = reach(by_motors, directions="tool")
    for end in whole.ends:
        other = steps.end(f"platform along {end.direction}", end.sense)
        assert end.distance == pytest.approx(other.distance, abs=1e-4)  # its inverse kinematics stops short of limits
        assert end.limit.startswith("motor")


def test_an_explanation_takes_coordinates_or_a_whole_position() -> None:
    m = tf.load("five-bar")
    coordinates = [2.0, 0.4]
    one, two = explain(m, coordinates), explain(m, m.configuration(coordinates))
    assert not one.holds
    assert [f.name for f in one.exceeded] == ["right is below its range"]
    assert one.exceeded[0].margin == pytest.approx(-0.1)
    np.testing.assert_array_equal(one.position, two.position)
    assert one.condition == pytest.approx(float(m.condition_number(m.configuration(coordinates))))
    assert one.loop_condition == pytest.approx(float(m.loop_condition(m.configuration(coordinates))))
    assert f"that of the loops: {one.loop_condition:.4g}" in str(one)
    assert [f.force for f in one.forces] == pytest.approx(m.holding_forces(m.configuration(coordinates)).tolist())
    with pytest.raises(tf.ShapeError, match=r"expected \(..., 2\)"):
        explain(m, [0.0, 0.0, 0.0])


def test_a_mechanism_without_loops_has_no_condition_of_loops() -> None:
    m = tf.Mechanism(
        bodies=[tf.Body("upper", 1.0, (0.2, 0, 0)), tf.Body("lower", 1.0, (0.7, 0, 0))],
        joints=[
            tf.Hinge("shoulder", "ground", "upper", actuated=True),
            tf.Hinge("elbow", "upper", "lower", at=(0.5, 0, 0), actuated=True),
        ],
    )
    one = explain(m, [0.1, 0.7])
    assert one.condition == pytest.approx(float(m.condition_number([0.1, 0.7])))
    assert one.loop_condition is None
    assert "loops" not in str(one)


def test_coordinates_without_a_position_are_explained() -> None:
    """The coordinates are judged as far as they are known."""
    m = tf.load("five-bar")
    found = explain(m, [3.1, 0.0])
    assert not found.holds
    assert [f.name for f in found.exceeded] == [OPEN, "left is above its range", "right is below its range"]
    assert [f.margin for f in found.exceeded[1:]] == pytest.approx([-0.5, -0.5])
    assert np.isnan(found.exceeded[0].margin)
    assert str(found).startswith(f"five-bar: {OPEN}, and 2 more\n")
    assert found.condition is None
    assert found.forces == ()
    np.testing.assert_array_equal(np.isfinite(found.position), [True, False, True, False, False])
    assert [f.name for f in explain(m, [3.1, 0.0], limits=["right"]).exceeded] == [OPEN, "right is below its range"]
    with pytest.raises(tf.ConvergenceError, match=r"the loops do not close at \[3.1, 0\]"):
        reach(m, [3.1, 0.0])


def test_joints_that_only_follow_others_always_have_a_position() -> None:
    gripper = tf.load("gripper")
    assert gripper.loops is None
    assert tf.load("five-bar").loops is not None
    assert reach(gripper).judged == "left knuckle joint"
    free = gripper.replace(joints=[dataclasses.replace(joint, limits=None) for joint in gripper.joints])
    with pytest.raises(tf.ModelError, match="gripper has no limits, so nothing ends its workspace"):
        reach(free)
    for robot, last in ((gripper, "left knuckle joint is above its range"), (tf.load("five-bar"), OPEN)):
        study = ready_study("workspace", robot, [Axis(robot.coordinates[0].column, np.array([-0.5, -0.4]))])
        codes = next(result.codes for result in study.results if result.name == "limit")
        assert codes[max(codes)] == last


def test_maps_of_numbers_are_those_of_the_methods(free: tf.Mechanism) -> None:
    axes = {"left": (1.8, 3.1, 9), "right": (0.0, 1.0, 7)}
    x = free.configuration(
        np.stack(np.meshgrid(np.linspace(1.8, 3.1, 9), np.linspace(0.0, 1.0, 7), indexing="ij"), -1), on_failure="nan"
    )
    closed = np.isfinite(x).all(axis=-1)
    assert 0 < closed.mean() < 1
    condition, force = mapped(free, "condition", axes).values, mapped(free, "force", axes).values
    assert np.isnan(condition[~closed]).all()
    assert np.isnan(force[~closed]).all()
    np.testing.assert_array_equal(condition[closed], free.condition_number(x[closed]))
    np.testing.assert_allclose(force[closed], np.abs(free.holding_forces(x[closed])).max(axis=-1), rtol=1e-10)


def test_a_largest_condition_is_judged(free: tf.Mechanism) -> None:
    found = mapped(free, "limit", {"left": (2.2, 3.1, 40)}, largest_condition=3.0)
    x = free.configuration(np.stack([found.axes["left"], np.full(40, 0.9)], -1), on_failure="nan")
    expected = np.where(free.condition_number(x) > 3.0, "the condition number is too large", "all limits hold")
    assert [found.name(int(code)) for code in found.values] == expected.tolist()
    assert len(set(expected)) == 2


def test_what_makes_no_sense_says_so() -> None:
    gripper = tf.load("gripper")
    with pytest.raises(
        tf.UnsupportedFeatureError, match="gripper has only one direction, left knuckle joint; a polar plot needs two"
    ):
        polar(gripper)
    with pytest.raises(tf.UnsupportedFeatureError, match="positions of gripper are not poses"):
        tf.workspace.surface(gripper)
    with pytest.raises(tf.UnsupportedFeatureError, match="gripper has no stiffness matrix"):
        mapped(gripper, "stiffness", {"left knuckle joint": (-0.5, 0.0, 3)})
    with pytest.raises(tf.UnsupportedFeatureError, match="0 actuators"):
        mapped(tf.load("bricard"), "force", {"hinge 1": (-0.1, 0.1, 3)})
    with pytest.raises(
        tf.UnsupportedFeatureError,
        match=r"moves its tool with 1 freedom, on a curve: it has no volume. Use reach or map",
    ):
        volume(gripper)
    with pytest.raises(
        tf.UnsupportedFeatureError, match=r"unknown quantity 'capasity'. Did you mean capacity\? Use one"
    ):
        mapped(gripper, "capasity", {"left knuckle joint": (-0.5, 0.0, 3)})
    with pytest.raises(
        tf.UnsupportedFeatureError,
        match="the condition number of gripper takes no varying fields",
    ):
        at_positions(gripper, ["condition"], gripper.home, fields={"gravity": np.zeros(3)})
    governor = tf.load("flyball-governor")
    assert not has_workspace(governor)
    with pytest.raises(tf.ModelError, match="flyball-governor has no limits"):
        reach(governor)


def test_a_sweep_tells_what_does_not_close(free: tf.Mechanism) -> None:
    axes = [Axis("left", np.linspace(-3.0, 3.0, 31)), Axis("right", np.linspace(-3.0, 3.0, 31))]
    study = ready_study("workspace", free, axes)
    left, right = (x.ravel() for x in np.meshgrid(*(axis.values for axis in axes), indexing="ij"))
    found = study.compute({"left": left, "right": right})
    codes = next(result.codes for result in study.results if result.name == "limit")
    margin = room(left, right)
    expected = np.where(margin > 0, "all limits hold", OPEN)
    sure = np.abs(margin) > ALMOST
    assert np.array_equal(np.array([codes[int(code)] for code in found["limit"]])[sure], expected[sure])
    holding = ready_study("holding-forces", free, axes).compute({"left": left, "right": right})["largest_force"]
    assert np.array_equal(np.isnan(holding)[sure], (margin < 0)[sure])


def test_a_whole_position_is_explained_as_its_coordinates_are():
    m = tf.load("five-bar")
    x = m.positions.default
    assert len(x) > m.n
    whole, short = explain(m, x), explain(m, m.positions.coordinates(x))
    assert whole.holds == short.holds
    assert str(whole) == str(short)
