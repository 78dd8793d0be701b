"""Margins to strokes, cones and other legs against cases made by hand; angles, distances and condition numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import tauforge as tf
from support.platforms import HOME, LIMITS, random_motion, random_platform, rotation
from support.strategies import seeds
from support.tolerances import EPSILON, ROUNDING, error
from tauforge.algebra.vectors import Vector
from tauforge.formulations.stewart.limits import LEG_PAIRS, LegSegment, squared_distance, universal_angles

AT_REST = np.zeros(6)
BOX = tf.load("box")  # at the pose 0 its legs are 1 m long: three up, two along x, one along y
DIRECTIONS = np.array(BOX.platform_points) - np.array(BOX.base_points)
ANGLES = 1e-15  # rad
NEARLY_PARALLEL = 1e-6  # sine of the angle of two segments that are taken to be parallel
NEARLY_UPRIGHT = 1e-9  # rad, between an axis and z, below which it is taken to lie along it


# -------------------------------------------------------------------------------------------------------------- strokes


ENDS = {(0.5, 1.2): 0.2, (0.9, 1.5): 0.1, (1.1, 1.5): -0.1, (0.5, 0.8): -0.2, (1.0, 1.5): 0.0}


@pytest.mark.parametrize(("stroke", "margin"), ENDS.items())
def test_stroke(stroke, margin):
    limits = BOX.replace(stroke=stroke).within_limits(AT_REST)
    np.testing.assert_allclose(limits.stroke, margin, atol=1e-15)
    assert limits.hold == (margin >= 0)  # the very end of a stroke is within it
    assert limits[1:5] == (None,) * 4


def test_one_leg_out_of_its_own_stroke():
    strokes = [(0.5, 1.5)] * 6
    strokes[4] = (1.25, 1.5)
    limits = BOX.replace(stroke=strokes).within_limits([AT_REST, [0.5, 0, 0, 0, 0, 0]])
    assert limits.stroke[0].tolist() == [0.5, 0.5, 0.5, 0.5, -0.25, 0.5]
    assert limits.stroke[1, [3, 4]].tolist() == [0.0, 0.0]  # 1.5 m now
    assert limits.hold.tolist() == [False, True]


@given(seeds)
def test_all_margins_side_by_side(rng):
    """Their smallest tells whether the limits hold; lengths are beside the length given, angles as they are."""
    platform = random_platform(rng, cone_angles=(2.0, 2.0))
    limits = platform.within_limits(random_motion(rng, (5,))[0])
    margins = limits.margins(0.5)
    assert margins.shape == (5, 19)
    assert ((margins >= 0).all(axis=-1) == limits.hold).all()
    assert np.array_equal(np.sort(margins[:, :6]), np.sort(limits.stroke / 0.5))
    assert np.array_equal(margins[:, 6], limits.clearance / 0.5)
    assert np.array_equal(margins[:, 7:], np.concatenate([limits.base_cone, limits.platform_cone], axis=-1))


def test_no_limits_no_margins():
    assert BOX.replace(**dict.fromkeys(LIMITS)).within_limits([AT_REST] * 3).margins(1.0).shape == (3, 0)


# ---------------------------------------------------------------------------------------------------------------- cones


def tilted(axes, angle):
    """Every axis turned by the angle towards some other direction."""
    side = np.cross(axes, [0.3, 0.5, 0.8])
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    return np.cos(angle) * axes + np.sin(angle) * side


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 1.5, 3.0])
def test_cones(angle):
    """Margins are exact for small angles too, where an arc cosine has lost its digits."""
    platform = BOX.replace(
        base_joint_axes=tilted(DIRECTIONS, angle), platform_joint_axes=DIRECTIONS, cone_angles=(1.0, 0.2)
    )
    limits = platform.within_limits(AT_REST)
    np.testing.assert_allclose(limits.base_cone, 1.0 - angle, atol=10 * ANGLES)
    np.testing.assert_allclose(limits.platform_cone, 0.2, atol=10 * ANGLES)
    assert limits.hold == (angle <= 1.0)
    np.testing.assert_allclose(platform.leg_motion(AT_REST).spherical_angles, 0.0, atol=10 * ANGLES)


def test_platform_cones_turn_with_the_platform():
    """Turned by 0.25 rad about z, as are the axes: the standing legs lean a little, their joints' axes not at all."""
    platform = BOX.replace(base_joint_axes=DIRECTIONS, platform_joint_axes=DIRECTIONS, cone_angles=(2.0, 2.0))
    pose = np.array([0, 0, 0, 0, 0, 0.25])
    limits, legs = platform.within_limits(pose), platform.leg_motion(pose)
    R = rotation(pose)
    for i in range(6):
        for margin, axis in ((limits.base_cone[i], DIRECTIONS[i]), (limits.platform_cone[i], R @ DIRECTIONS[i])):
            assert margin == pytest.approx(2.0 - np.arccos(np.clip(legs.directions[i] @ axis, -1, 1)), abs=1e-7)
    assert limits.platform_cone[0] == 2.0  # leg 1 stands below the platform's origin


@given(rng=seeds)
def test_spherical_angles(rng):
    platform = random_platform(rng, masses=False)
    pose = random_motion(rng, (5,))[0]
    legs = platform.leg_motion(pose)
    axes = np.array(platform.platform_joint_axes) @ np.swapaxes(rotation(pose), -1, -2)
    sines = np.linalg.norm(np.cross(legs.directions, axes), axis=-1)
    expected = np.arctan2(sines, (legs.directions * axes).sum(-1))
    np.testing.assert_allclose(legs.spherical_angles, expected, atol=20 * EPSILON)
    default = platform.replace(cone_angles=None, platform_joint_axes=None).leg_motion(pose).spherical_angles
    z = rotation(pose)[:, None, :, 2]
    np.testing.assert_allclose(np.cos(default), (legs.directions * z).sum(-1), atol=20 * EPSILON)


def turned(vector, axis, angle):
    """Rodrigues."""
    return (
        vector * np.cos(angle) + np.cross(axis, vector) * np.sin(angle) + axis * (axis @ vector) * (1 - np.cos(angle))
    )


@given(rng=seeds)
def test_universal_angles_give_the_leg_back(rng):
    """From where it is nearest to z across the axis: turned about the axis, then towards it."""
    platform = random_platform(rng, masses=False)
    legs = platform.leg_motion(random_motion(rng)[0])
    axes = np.array(platform.universal_axes)
    for k, s, (about, towards) in zip(axes, legs.directions, legs.universal_angles, strict=True):
        start = np.array([0, 0, 1]) - k * k[2]
        start = turned(start / np.linalg.norm(start), k, about)
        np.testing.assert_allclose(turned(start, np.cross(start, k), towards), s, atol=20 * EPSILON)


def test_universal_angles_by_hand():
    """Axes along x: a leg that leans towards -y has turned about +x; one that leans towards x has gone towards it."""
    platform = BOX.replace(universal_axes=[(1, 0, 0)] * 3 + [(0, 0, 1)] * 3)
    upright = platform.leg_motion(AT_REST).universal_angles
    np.testing.assert_allclose(upright[:3], 0.0, atol=ANGLES)
    np.testing.assert_allclose(upright[3:], [[0, 0], [0, 0], [np.pi / 2, 0]], atol=ANGLES)  # axis along z: from x
    leaning = platform.leg_motion([0, -1, 0, 0, 0, 0]).universal_angles
    np.testing.assert_allclose(leaning[:3], [[np.pi / 4, 0]] * 3, atol=ANGLES)
    leaning = platform.leg_motion([1, 0, 0, 0, 0, 0]).universal_angles
    np.testing.assert_allclose(leaning[:3], [[0, np.pi / 4]] * 3, atol=ANGLES)


@pytest.mark.parametrize("tilt", [0.0, 1e-10, 1e-8, 1e-4, 1e-2])
@pytest.mark.parametrize("towards", [0.3, 2.0, -1.1])
def test_universal_angles_of_an_axis_near_z(tilt, towards):
    """Measured from z as long as that is a direction across the axis, with what digits the tilt leaves; then from x."""
    k = np.array([np.sin(tilt) * np.cos(towards), np.sin(tilt) * np.sin(towards), np.cos(tilt)])
    if tilt < NEARLY_UPRIGHT:
        start, digits = np.array([1.0, 0, 0]), NEARLY_UPRIGHT
    else:
        start = np.array([-np.cos(tilt) * np.cos(towards), -np.cos(tilt) * np.sin(towards), np.sin(tilt)])
        digits = 10 * EPSILON / tilt
    for turn, lean in ((0.0, 0.0), (0.4, 0.2), (-2.5, -0.7), (1.9, 1.2)):
        across = turned(start, k, turn)
        s = turned(across, np.cross(across, k), lean)
        found = universal_angles(Vector(*k.tolist()), Vector(*s.tolist()))
        np.testing.assert_allclose(found, [turn, lean], atol=digits)


# ------------------------------------------------------------------------------------------------------------ clearance


def crossing(apart):
    """Legs 2 and 5 cross at half height, so far apart; the others stand 1 m and more aside."""
    base = np.array([[9, 0, 0], [0, 0, 0], [6, 0, 0], [7.5, 3, 0], [1, apart, 0], [6, 3, 0]], float)
    top = base + [0, 0, 1]
    top[1], top[4] = [1, 0, 1], [0, apart, 1]
    axes = [(0, 1, 0)] * 6
    return tf.StewartPlatform(base_points=base, platform_points=top, universal_axes=axes, leg_radius=0.03)


@pytest.mark.parametrize("apart", [0.25, 0.06, 0.05, 1e-6])
def test_clearance_of_crossing_legs(apart):
    limits = crossing(apart).within_limits([AT_REST, [0, 0, 0.5, 0, 0, 0]])
    np.testing.assert_allclose(limits.clearance, apart - 0.06, atol=1e-14)
    assert limits.nearest_legs.tolist() == [[2, 5], [2, 5]]
    assert limits[:3] == (None,) * 3
    expected = apart - 0.06 >= 0
    if abs(apart - 0.06) > 1e-12:
        assert limits.hold.tolist() == [expected, expected]


def test_clearance_of_the_box():
    limits = BOX.replace(leg_radius=0.1).within_limits(AT_REST)
    assert limits.clearance == pytest.approx(0.8, abs=1e-15)
    assert limits.clearance.shape == ()
    assert BOX.replace(leg_radius=0).within_limits(AT_REST).clearance == pytest.approx(1.0, abs=1e-15)


def test_all_limits_together():
    platform = random_platform(np.random.default_rng(1))
    pose = random_motion(np.random.default_rng(2), (300,), HOME)[0]
    limits = platform.within_limits(pose)
    every = [limits.stroke.min(-1), limits.base_cone.min(-1), limits.platform_cone.min(-1), limits.clearance]
    assert np.array_equal(limits.hold, (np.array(every) >= 0).all(axis=0))
    without = platform.replace(cone_angles=None).within_limits(pose)
    assert np.array_equal(without.hold, (np.array([every[0], every[3]]) >= 0).all(axis=0))
    assert without.hold.any()


@pytest.mark.parametrize(
    "left_out", [(), ("stroke",), ("cone_angles",), ("leg_radius",), ("stroke", "leg_radius")], ids=str
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nearest_limits_are_the_smallest_margins(left_out, dtype):
    """Whichever limits the platform has. A pose that is not finite is NaN, and the others stay."""
    platform = random_platform(np.random.default_rng(1)).replace(**dict.fromkeys(left_out))
    pose = random_motion(np.random.default_rng(2), (40,), HOME)[0].astype(dtype)
    pose[7, 4] = np.nan
    margins = platform.bounds.margins(pose)
    groups, expected = list(np.split(margins, range(6, margins.shape[1] // 6 * 6, 6), axis=1)), []
    if "stroke" not in left_out:
        expected.append(np.minimum(groups.pop(0), groups.pop(0)))
    if "cone_angles" not in left_out:
        expected += [groups.pop(0), groups.pop(0)]
    if "leg_radius" not in left_out:
        gaps = margins[:, -15:]
        pairs = np.where(np.isnan(gaps[:, :1]), np.nan, np.array(LEG_PAIRS)[gaps.argmin(axis=1)] + 1)
        expected += [gaps.min(axis=1, keepdims=True), pairs]
    found, limits = platform.nearest_limits(pose), platform.within_limits(pose)
    assert found.dtype == dtype
    assert np.array_equal(found[:, :-1], np.concatenate(expected, axis=1), equal_nan=True)
    assert np.array_equal(limits.hold, (margins >= 0).all(axis=1))
    assert np.isnan(found[7]).all()
    assert not limits.hold[7]
    if limits.nearest_legs is not None:
        assert limits.nearest_legs.dtype.kind == "i"
        assert limits.nearest_legs[7].tolist() == [0, 0]
    for row, one in zip(found[:5], pose[:5], strict=True):
        assert np.array_equal(platform.nearest_limits(one), row)


def test_a_platform_without_limits_has_no_nearest():
    with pytest.raises(tf.ModelError, match=r"box has no limits of its pose\. Give it a stroke"):
        BOX.replace(**dict.fromkeys(LIMITS)).nearest_limits(AT_REST)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)], ids=str)
def test_no_limits_hold_everywhere(shape):
    limits = BOX.replace(**dict.fromkeys(LIMITS)).within_limits(np.zeros((*shape, 6)))
    assert limits[:5] == (None,) * 5
    assert limits.hold.shape == shape
    assert limits.hold.all()


def test_limits_do_not_alter_forces():
    platform, state = random_platform(np.random.default_rng(3)), random_motion(np.random.default_rng(3))
    free = platform.replace(**dict.fromkeys(LIMITS))
    tight = platform.replace(stroke=(5.0, 6.0), force_limit=0.0)
    assert np.array_equal(free.inverse_dynamics(*state), tight.inverse_dynamics(*state))


# ------------------------------------------------------------------------------------------------------------ distances


def point_distance(x, p, q):
    """From points to segments."""
    d = q - p
    t = np.clip(((x - p) * d).sum(-1) / (d * d).sum(-1), 0, 1)
    return np.linalg.norm(p + t[..., None] * d - x, axis=-1)


def searched(p1, q1, p2, q2):
    """The distance along the first segment is convex: its least by thirds, or an end."""

    def at(s):
        return point_distance(p1 + s[..., None] * (q1 - p1), p2, q2)

    low, high = np.zeros(p1.shape[:-1]), np.ones(p1.shape[:-1])
    for _ in range(100):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        left = at(a) <= at(b)
        low, high = np.where(left, low, a), np.where(left, b, high)
    return np.minimum(at(low), np.minimum(point_distance(p1, p2, q2), point_distance(q1, p2, q2)))


def segment_distance(p1, q1, p2, q2):
    """Ours, of arrays of points."""

    def segment(p, q):
        square = ((q - p) ** 2).sum(-1)
        return LegSegment(Vector(*np.moveaxis(q - p, -1, 0)), square, 1 / square)

    with np.errstate(divide="ignore", invalid="ignore"):  # of parallel ones
        return np.sqrt(squared_distance(segment(p1, q1), segment(p2, q2), Vector(*np.moveaxis(p1 - p2, -1, 0))))


SEARCH = 1e-7  # m, where the distance is flat along a segment


@given(rng=seeds)
def test_segment_distance_by_search(rng):
    p1, q1, p2, q2 = rng.normal(size=(4, 30, 3))
    d = q1 - p1
    q2[5:10] = p2[5:10] + rng.normal(size=(5, 1)) * d[5:10]  # parallel
    p2[10] = p1[10]  # a common end
    p2[11], q2[11] = p1[11] + 0.3 * d[11], p1[11] + 1.7 * d[11]  # on one line, overlapping
    p2[12], q2[12] = p1[12] + 1.5 * d[12], p1[12] + 2.0 * d[12]  # and apart
    p2[13], q2[13] = p1[13] + 0.5 * d[13] - p2[13], p1[13] + 0.5 * d[13] + p2[13]  # crossing
    q2[14:20] = p2[14:20] + d[14:20] + 1e-4 * np.cross(d[14:20], [0.6, 0.0, 0.8])  # nearly parallel
    got, expected = (distance(p1, q1, p2, q2) for distance in (segment_distance, searched))
    np.testing.assert_allclose(got, expected, atol=SEARCH)
    assert (got <= expected + 1e-12).all()
    np.testing.assert_allclose(segment_distance(q2, p2, p1, q1), got, atol=1e-10)


@given(rng=seeds)
def test_nearly_parallel_segments(rng):
    """Crossing at angles down to nothing: where they count as parallel the error is that small an angle."""
    p, along, side = np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    for angle in 10.0 ** rng.uniform(-9, -1, 10):
        lean = np.cos(angle) * along + np.sin(angle) * side
        got = segment_distance(p - along, p + along, p - lean, p + lean)
        assert 0 <= got <= (2 * NEARLY_PARALLEL if angle < 1.1 * NEARLY_PARALLEL else 1e-9)


@given(rng=seeds)
def test_the_nearest_two_legs(rng):
    platform, pose = random_platform(rng, masses=False, leg_radius=0.01), random_motion(rng, (4,))[0]
    start = np.broadcast_to(platform.base_points, (4, 6, 3))
    end = pose[:, None, :3] + np.array(platform.platform_points) @ np.swapaxes(rotation(pose), -1, -2)
    limits = platform.within_limits(pose)
    pairs = list(combinations(range(6), 2))
    first, second = np.array(pairs).T
    every = searched(start[:, first], end[:, first], start[:, second], end[:, second])
    np.testing.assert_allclose(limits.clearance, every.min(axis=1) - 0.02, atol=SEARCH)
    assert np.array_equal(limits.nearest_legs - 1, np.array(pairs)[every.argmin(axis=1)])


# ---------------------------------------------------------------------------------------------------- condition numbers


@pytest.mark.parametrize("kernels", ["0", "1"])
@pytest.mark.parametrize("length", [None, 0.5, 20.0])
def test_condition_number(monkeypatch, user_environment, kernels, length):
    """A few poses, and many, for which there is a kernel."""
    monkeypatch.setenv("TAUFORGE_KERNELS", kernels)
    monkeypatch.setenv("TAUFORGE_CACHE", user_environment["TAUFORGE_CACHE"])
    platform = random_platform(np.random.default_rng(4), masses=False)
    pose = random_motion(np.random.default_rng(5), (60,))[0]
    H = platform.force_matrix(pose).copy()
    if length is not None:
        H[:, 3:] /= length
    expected = np.linalg.cond(H)
    assert error(platform.condition_number(pose, length)[:, None], expected[:, None]) < ROUNDING * expected.max()
    few = platform.condition_number(pose[:3], characteristic_length=length)
    assert error(few[:, None], expected[:3, None]) < ROUNDING * expected.max()
    assert np.shape(platform.condition_number(pose[0], length)) == ()
    spoiled = pose.copy()
    spoiled[7] = np.nan
    got = platform.condition_number(spoiled, length)
    assert np.isnan(got[7])
    assert np.array_equal(np.delete(got, 7), np.delete(platform.condition_number(pose, length), 7))


@pytest.mark.parametrize("length", [0, -1.0, np.nan, np.inf, "1 m", [0.5, 1.0]], ids=str)
def test_characteristic_length_is_a_positive_number(length):
    with pytest.raises(tf.ShapeError, match="characteristic_length: expected a number > 0"):
        BOX.condition_number(AT_REST, length)


def test_force_limits():
    rig, home = tf.load("motion-rig"), [0, 0, 1, 0, 0, 0]
    forces = rig.inverse_dynamics(home, np.zeros(6), np.zeros(6), external_wrench=[0, 0, -1e5, 0, 0, 0])
    judged = rig.within_limits(home, forces)
    assert not judged.hold
    assert np.allclose(judged.force, 4000 - np.abs(forces))
    assert rig.within_limits(home).hold
    assert rig.within_limits(home, np.zeros((3, 6))).hold.shape == (3,)


def test_default_axes_follow_their_points():
    rig = tf.load("motion-rig")
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    base = np.array(rig.base_points) @ turn.T
    assert np.allclose(rig.replace(base_points=base).universal_axes, np.array(rig.universal_axes) @ turn.T)
    given = tf.load("dasgupta1998")
    moved = given.replace(base_points=np.array(given.base_points) + [1, 0, 0])
    assert moved.universal_axes == given.universal_axes  # they were given, not derived


def test_exceptions_go_with_their_inertias():
    platform = tf.load("dasgupta1998")
    tensors = [np.diag([0.01, 0.02, 0.02])] * 5 + [np.diag([0.01, 0.03, 0.03])]
    changed = platform.replace(lower_inertia=tensors)  # a warning would be an error here
    assert {exception.body for exception in changed.known_exceptions} == {"upper part", "platform"}
    assert platform.replace(platform_mass=4.0).known_exceptions == platform.known_exceptions
