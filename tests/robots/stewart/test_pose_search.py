"""From leg lengths to poses: near a guess, along a motion, all of them; and from the legs' rates to the platform's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given

import tauforge as tf
from support.platforms import DIETMAIER, HOME, quarter_turned, random_motion, random_platform, rotation
from support.strategies import seeds
from support.tolerances import error, solve_tolerance
from tauforge.robots.stewart.pose_search import LENGTH_TOLERANCE, LOOSEST_TOLERANCE, default_guess, tolerance

LENGTHS = 1e-12  # of leg lengths, relative to them: where Newton's method stops
SLOPES = 1e-8  # differences of fourth order against derivatives
STEP = 2e-3  # s
OUT_OF_REACH = [1.0, 1.0, 1.0, 1.0, 1.0, 5.0]
RIG = tf.load("motion-rig")
HIGH = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def pose_error(a, b):
    """Error of places and rotation matrices, because angles of one rotation may differ by a turn."""
    return max(np.abs(a[..., :3] - b[..., :3]).max(), np.abs(rotation(a) - rotation(b)).max())


# ------------------------------------------------------------------------------------------------------ near a guess


@given(rng=seeds)
def test_near_guesses_find_the_pose(rng):
    platform = random_platform(rng, masses=False)
    pose = random_motion(rng, (4, 3))[0]
    guess = pose + rng.uniform(-0.05, 0.05, pose.shape)
    found = platform.forward_kinematics(platform.inverse_kinematics(pose), guess)
    assert pose_error(found, pose) < solve_tolerance(platform.force_matrix(pose))


@given(rng=seeds)
def test_the_default_guess_stands_above_the_base(rng):
    platform = random_platform(rng, masses=False)
    lengths = platform.inverse_kinematics(random_motion(rng, (20,))[0])
    found = platform.forward_kinematics(lengths)
    assert error(platform.inverse_kinematics(found), lengths) < 2 * LENGTHS
    assert (found[:, 2] > 0).all()


def test_the_default_guess_follows_the_base():
    """A base that stands elsewhere, and a platform whose joints lie aside of its origin, take the guess with them."""
    platform = random_platform(np.random.default_rng(1), masses=False)
    aside, off = np.array([3.0, -2.0, 1.0]), np.array([0.5, 0.7, -0.4])
    moved = platform.replace(
        base_points=np.array(platform.base_points) + aside, platform_points=np.array(platform.platform_points) + off
    )
    pose = np.concatenate([HOME[:3] + aside - off, np.zeros(3)])
    lengths = moved.inverse_kinematics(pose)
    assert np.abs(default_guess(moved, lengths) - pose).max() < 0.2
    assert pose_error(moved.forward_kinematics(lengths), pose) < 10 * solve_tolerance(moved.force_matrix(pose))


def test_default_guess_of_every_platform_of_the_catalogue_at_home():
    for name, height in {"box": 0.0, "dasgupta1998": 1.0, "motion-rig": 1.0, "mathworks-hexapod": 2.0}.items():
        platform = tf.load(name)
        lengths = platform.inverse_kinematics([0, 0, height, 0, 0, 0])
        assert error(platform.inverse_kinematics(platform.forward_kinematics(lengths)), lengths) < 2 * LENGTHS


@pytest.mark.parametrize("aside", [0.0, 1e-9, 1e-4])
def test_any_orientation_is_like_any_other(aside):
    """Near a pitch of a quarter turn, where the other two angles are not unique: any will do that fit each other."""
    pose = np.array([0.05, 0.02, 1.2, 0.3, np.pi / 2 - aside, 0.2])
    lengths = RIG.inverse_kinematics(pose)
    found = RIG.forward_kinematics(lengths, pose + 0.01)
    assert error(RIG.inverse_kinematics(found), lengths) < 2 * LENGTHS
    assert pose_error(found, pose) < 10 * solve_tolerance(RIG.force_matrix(pose))


@pytest.mark.parametrize("lengths", [OUT_OF_REACH, [1e-3] * 6, [0.0] * 6], ids=str)
def test_lengths_nobody_reaches(lengths):
    with pytest.raises(
        tf.ConvergenceError, match=r"motion-rig: no pose .* found \(res.*\. Give another guess"
    ) as caught:
        RIG.forward_kinematics(lengths)
    assert isinstance(caught.value, ArithmeticError)
    assert caught.value.iterations >= 5
    assert caught.value.residual > 1e-3
    assert f"after {caught.value.iterations} iterations" in str(caught.value)


def test_negative_lengths_are_refused():
    lengths = np.tile(RIG.inverse_kinematics(HIGH), (4, 1))
    lengths[2, 4] *= -1  # its square is that of a pose
    message = r"lengths: expected distances between the joints of each leg, m, none below 0, got -1\.\d+ for leg 5"
    with pytest.raises(tf.ShapeError, match=message + " in row 2$"):
        RIG.forward_kinematics(lengths)
    with pytest.raises(tf.ShapeError, match=message + "$"):
        RIG.forward_kinematics(lengths[2], HIGH)
    with pytest.raises(tf.ShapeError, match=message + " in row 2$"):
        RIG.track(lengths, HIGH)
    with pytest.raises(tf.ShapeError, match="lengths: expected 6 finite numbers > 0"):
        RIG.assembly_modes(lengths[2])
    got = RIG.forward_kinematics(lengths, on_failure="nan")
    assert np.isnan(got).any(axis=-1).tolist() == [False, False, True, False]
    assert np.isnan(got[2]).all()
    lengths[1] = np.nan  # says nothing about the sign
    with pytest.raises(tf.ShapeError, match=message + " in row 2$"):
        RIG.forward_kinematics(lengths)


def test_one_bad_row():
    """A row out of reach is named, a row that is not finite gives NaN, and the others are as if alone."""
    pose = random_motion(np.random.default_rng(2), (5,), [0, 0, 1, 0, 0, 0])[0]
    lengths = RIG.inverse_kinematics(pose)
    expected = RIG.forward_kinematics(lengths, pose + 0.01)
    bad = lengths.copy()
    bad[3] = OUT_OF_REACH
    with pytest.raises(tf.ConvergenceError, match="in row 3 ") as caught:
        RIG.forward_kinematics(bad, pose + 0.01)
    assert caught.value.row == 3
    with pytest.raises(tf.ConvergenceError, match="in row 1, 0 ") as caught:
        RIG.forward_kinematics(bad[[0, 1, 3, 4]].reshape(2, 2, 6), [0, 0, 1, 0, 0, 0])
    assert caught.value.row == (1, 0)
    with pytest.raises(tf.ConvergenceError) as caught:
        RIG.forward_kinematics(bad[3], [0, 0, 1, 0, 0, 0])
    assert caught.value.row is None
    bad[3] = np.nan
    got = RIG.forward_kinematics(bad, pose + 0.01)
    assert np.isnan(got[3]).all()
    others = np.arange(5) != 3
    assert np.array_equal(got[others], expected[others])


# ----------------------------------------------------------------------------------------------------- along a motion


def circle(count):
    t = np.linspace(0, 2 * np.pi, count)
    sines, cosines = (0.1 * f(np.outer([1, 2, 3], t)) for f in (np.sin, np.cos))
    waves = [sines[0], cosines[0], sines[1], sines[0], cosines[2], 2 * sines[0]]
    return np.eye(6)[2] + np.column_stack(waves)


def test_track_follows_a_motion():
    poses = circle(80)
    got = RIG.track(RIG.inverse_kinematics(poses), poses[0] + 0.02)  # without a warning, which would be an error
    assert np.abs(got - poses).max() < solve_tolerance(RIG.force_matrix(poses))
    assert RIG.track(np.empty((0, 6)), poses[0]).shape == (0, 6)


def test_track_warns_near_a_singular_pose():
    poses = np.array([quarter_turned(-aside) for aside in np.geomspace(0.5, 1e-5, 60)])
    with pytest.warns(
        tf.SingularityWarning, match=r"motion-rig: the motion comes near a singularity in row \d+"
    ) as caught:
        got = RIG.track(RIG.inverse_kinematics(poses), poses[0])
    assert caught[0].filename == __file__  # the caller's line
    row = caught[0].message.row
    conditions = RIG.condition_number(poses)
    assert conditions[row] > 1e3
    assert conditions[row - 1] < 1e5
    assert np.abs(got[:row] - poses[:row]).max() < 1e-9


@pytest.mark.parametrize("count", [40, 41])
def test_track_warns_of_a_singular_pose_between_two_rows(count):
    """Through it, 1.5 degrees at a time: beyond it the lengths are those of the way back, so the branch is lost."""
    turns = np.linspace(-0.5, 0.5, count)
    poses = np.array([quarter_turned(turn) for turn in turns])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = RIG.track(RIG.inverse_kinematics(poses), poses[0])
    lost = np.abs(got - poses).max() > 0.1
    assert not lost or [w.category for w in caught] == [tf.SingularityWarning]


def test_track_says_where_the_branch_is_lost():
    lengths = RIG.inverse_kinematics(circle(5))
    lengths[3] = OUT_OF_REACH
    with pytest.raises(tf.ConvergenceError, match="found near the previous one in row 3 ") as caught:
        RIG.track(lengths, circle(5)[0])
    assert caught.value.row == 3
    assert caught.value.residual > 0.1
    assert caught.value.iterations > 5


def test_track_of_a_row_that_is_not_finite():
    """That row is NaN, those before and after are as they were, and there is no warning."""
    poses = circle(9)
    lengths = RIG.inverse_kinematics(poses)
    lengths[4, 2] = np.nan
    got = RIG.track(lengths, poses[0])
    assert np.isnan(got[4]).all()
    others = np.arange(9) != 4
    assert np.abs(got[others] - poses[others]).max() < 1e-9


def test_track_refuses_other_shapes():
    lengths = RIG.inverse_kinematics(circle(4))
    with pytest.raises(tf.ShapeError, match=r"lengths: expected \(k, 6\), one row for each time, got \(6,\)"):
        RIG.track(lengths[0], circle(4)[0])
    with pytest.raises(tf.ShapeError, match=r"guess: expected \(6,\), one pose, got \(4, 6\)"):
        RIG.track(lengths, circle(4))


# ---------------------------------------------------------------------------------------------------- assembly modes


@pytest.mark.parametrize("seed", range(4))
def test_forty_assembly_modes(kernels_on, seed):
    """Dietmaier 1998: all forty are real, and no platform has more."""
    platform = tf.load("dietmaier")
    modes = platform.assembly_modes(DIETMAIER, seed=seed)
    assert modes.poses.shape == (40, 6)
    assert error(platform.inverse_kinematics(modes.poses), np.broadcast_to(DIETMAIER, (40, 6))) < 10 * LENGTHS
    R = rotation(modes.poses)
    apart = np.abs(modes.poses[:, None, :3] - modes.poses[:, :3]).max(-1) + np.abs(R[:, None] - R).max((-1, -2))
    assert (apart + 9 * np.eye(40)).min() > 1e-3
    assert (modes.starts, modes.converged) == (6000, modes.times_met.sum())
    assert modes.times_met.shape == (40,)
    assert modes.times_met.min() >= 1
    assert 0 <= modes.starts_since_new <= 6000 - 40
    assert 0 < modes.residual <= LENGTHS
    assert 0.9 < modes.confidence < 1
    again = platform.assembly_modes(DIETMAIER, seed=seed)
    assert np.array_equal(again.poses, modes.poses)


@pytest.mark.parametrize("seed", range(3))
def test_the_pose_it_came_from_is_among_the_modes(kernels_on, seed):
    rng = np.random.default_rng(seed)
    platform = random_platform(rng, masses=False)
    pose = random_motion(rng)[0]
    modes = platform.assembly_modes(platform.inverse_kinematics(pose))
    assert 2 <= len(modes.poses) <= 40
    assert len(modes.poses) % 2 == 0  # complex ones come in pairs, and there are 40 with them
    assert min(pose_error(mode, pose) for mode in modes.poses) < 1e-9


def test_few_starts_are_not_sure(as_installed):
    modes = tf.load("dietmaier").assembly_modes(DIETMAIER, starts=60)
    assert len(modes.poses) < 40
    assert modes.starts == 60
    assert modes.confidence < 0.9


def test_no_modes_out_of_reach(as_installed):
    modes = RIG.assembly_modes(OUT_OF_REACH, starts=500)
    assert modes.poses.shape == (0, 6)
    assert (modes.converged, modes.starts_since_new, modes.confidence) == (0, 500, 0.0)
    assert modes.times_met.shape == (0,)


# -------------------------------------------------------------------------------------------------------------- rates


@given(rng=seeds)
def test_forward_rates_undo_leg_motion(rng):
    platform = random_platform(rng, masses=False)
    pose, twist, acceleration = random_motion(rng, (6,))
    legs = platform.leg_motion(pose, twist, acceleration)
    tolerance = 10 * solve_tolerance(platform.force_matrix(pose))
    assert error(platform.forward_rates(pose, legs.rates), twist) < tolerance
    got = platform.forward_rates(pose, legs.rates, legs.accelerations)
    assert error(got[0], twist) < tolerance
    assert error(got[1], acceleration) < tolerance
    H = platform.force_matrix(pose)
    assert error(np.einsum("kij,ki->kj", H, twist), legs.rates) < 1e-13


def slope(f):
    """df/dt at 0, of fourth order."""
    return (8 * (f(STEP) - f(-STEP)) - (f(2 * STEP) - f(-2 * STEP))) / (12 * STEP)


def omega(angles, rates):
    """Angular velocity of R = Rz Ry Rx."""
    (_, cy, cz), (_, sy, sz) = np.cos(angles), np.sin(angles)
    return np.array([[cz * cy, -sz, 0], [sz * cy, cz, 0], [-sy, 0, 1]]) @ rates


@pytest.mark.parametrize("seed", range(5))
def test_leg_motion_is_the_slope_of_lengths_and_axes(seed):
    """A pose that is a cubic of time; a leg's frame is s, k x s and their product."""
    rng = np.random.default_rng(seed)
    platform = random_platform(rng, masses=False)
    k, coefficients = np.array(platform.universal_axes), 0.5 * rng.normal(size=(3, 6))

    def pose(t):
        return HOME + t * coefficients[0] + t**2 / 2 * coefficients[1] + t**3 / 6 * coefficients[2]

    def twist(t):
        rates = coefficients[0] + t * coefficients[1] + t**2 / 2 * coefficients[2]
        return np.concatenate([rates[:3], omega(pose(t)[3:], rates[3:])])

    def legs(t):
        return platform.leg_motion(pose(t), twist(t), slope(lambda u: twist(t + u)))

    def frame(t):
        s = legs(t).directions
        y = np.cross(k, s) / np.linalg.norm(np.cross(k, s), axis=1, keepdims=True)
        return np.stack([s, y, np.cross(s, y)], axis=-1)

    now = legs(0.0)
    assert error(now.rates, slope(lambda t: platform.inverse_kinematics(pose(t)))) < SLOPES
    assert error(now.accelerations, slope(lambda t: legs(t).rates)) < SLOPES
    turning = slope(frame) @ np.swapaxes(frame(0.0), 1, 2)
    W = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=-1)
    assert error(now.angular_velocities, W) < SLOPES
    assert error(now.angular_accelerations, slope(lambda t: legs(t).angular_velocities)) < SLOPES
    assert error(now.spins, (W * now.directions).sum(-1)) < 10 * SLOPES
    assert error(now.spin_rates, slope(lambda t: legs(t).spins)) < 10 * SLOPES
    # W has a part along the fixed axis, which turns the leg about it, and one along the moving axis, away from it
    y = frame(0.0)[:, :, 1]
    about, away = (W * (np.cross(y, np.cross(k, y)))).sum(-1), (W * y).sum(-1)
    assert error(slope(lambda t: legs(t).universal_angles[:, 0]), about) < 10 * SLOPES
    assert error(slope(lambda t: legs(t).universal_angles[:, 1]), -away) < 10 * SLOPES


def test_leg_motion_at_rest():
    still = RIG.leg_motion([0, 0, 1, 0, 0, 0])
    assert not np.any(still.rates)
    assert not np.any(still.angular_accelerations)
    falling = RIG.leg_motion([0, 0, 1, 0, 0, 0], acceleration=[0, 0, -1, 0, 0, 0])
    np.testing.assert_allclose(falling.accelerations, -falling.directions[:, 2], rtol=1e-14)


def test_forty_modes_for_a_hundred_seeds(kernels_on):
    """Dietmaier's platform: all of them and never more, whatever the starts."""
    platform = tf.load("dietmaier")
    lengths = [1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]
    assert {len(platform.assembly_modes(lengths, seed=seed).poses) for seed in range(100)} == {40}


def test_lengths_between_far_points_are_asked_for_as_exactly_as_they_are_known():
    """Points a thousand kilometres away are rounded to 1e-10 m: no search can find lengths of a metre better."""
    rig = tf.load("motion-rig")
    lengths = rig.inverse_kinematics([0, 0, 1.0, 0, 0, 0])
    assert tolerance(rig, lengths) == LENGTH_TOLERANCE
    for away in (1e6, 1e12):
        points = {name: np.add(getattr(rig, name), [away, 0, 0]) for name in ("base_points", "platform_points")}
        far = rig.replace(**points)
        rounding = np.spacing(away) / lengths.max()
        assert min(rounding, LOOSEST_TOLERANCE) <= tolerance(far, lengths) <= min(30 * rounding, LOOSEST_TOLERANCE)
