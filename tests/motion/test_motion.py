"""Motions: the straight line of Dasgupta & Mruthyunjaya, and angles against twists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.tolerances import ROUNDING
from tauforge.motion import (
    PROFILES,
    Chirp,
    Circle,
    JointMove,
    PoseMotion,
    Sampled,
    Sine,
    StraightLine,
    Waypoints,
    pose_rates,
    twists,
)

START, END = [0.1, 0.0, 0.4, 0.0, 0.3, -0.2], [0.3, 0.1, 0.6, 0.1, 0.0, 0.2]
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@pytest.mark.parametrize("orientation", ["rotation", "angles"])
def test_it_starts_and_ends_at_rest_and_keeps_its_speeds(orientation):
    line = StraightLine(START, END, 2.0, 0.2, 0.4, orientation=orientation)
    t = np.linspace(0, 2, 4001)
    pose, twist, _ = line.sample(t)
    assert np.allclose(pose[0], START, atol=ROUNDING)
    assert np.allclose(pose[-1], END, atol=ROUNDING)
    assert not twist[[0, -1]].any()
    assert abs(np.linalg.norm(twist[:, :3], axis=1).max() - 0.2) < ROUNDING
    rates = pose_rates(pose, twist)[0] if orientation == "angles" else twist
    assert abs(np.linalg.norm(rates[:, 3:], axis=1).max() - 0.4) < 1e-12
    along = np.diff(pose[:, :3], axis=0)
    assert np.abs(np.cross(along, np.subtract(END, START)[:3])).max() < ROUNDING


@pytest.mark.parametrize("orientation", ["rotation", "angles"])
def test_velocities_and_accelerations_are_derivatives(orientation):
    line = StraightLine(START, END, 2.0, 0.2, 0.4, orientation=orientation)
    h = 1e-5
    for t in (0.1, 0.45, 1.0, 1.4, 1.9):  # not where the acceleration jumps
        (before, *_), (pose, twist, acceleration), (after, *_) = (line.sample(t + k * h) for k in (-1, 0, 1))
        rates, second = pose_rates(pose, twist, acceleration)
        assert np.abs((after - before) / (2 * h) - rates).max() < 1e-9  # h^2, and rounding over h
        assert np.abs((after - 2 * pose + before) / h**2 - second).max() < 1e-4


def test_the_ends_are_held_and_bad_times_spoil_themselves_only():
    line = StraightLine(START, END, 2.0, 0.2, 0.4)
    pose, twist, acceleration = line.sample([-1.0, 3.0, np.nan, 1.0])
    assert np.allclose(pose[0], START, atol=ROUNDING)
    assert np.allclose(pose[1], END, atol=ROUNDING)
    assert not twist[:2].any()
    assert not acceleration[:2].any()
    assert np.isnan(pose[2]).all()
    assert np.isfinite(pose[3]).all()
    assert line.sample(0.5).position.shape == (6,)
    assert line.sample(np.zeros((2, 3))).velocity.shape == (2, 3, 6)


def test_blends_meet_and_parts_may_stand_still():
    only = StraightLine([0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], 1.0, 2.0, 1.0)  # a triangle: no time in between
    assert abs(only.sample(0.5).velocity[2] - 2) < ROUNDING
    assert not only.sample(np.linspace(0, 1, 11)).position[:, 3:].any()
    assert abs(quad(lambda t: only.sample(t).velocity[2], 0, 1, points=[0.5])[0] - 1) < 1e-10


@pytest.mark.parametrize(
    ("speed", "rate", "match"),
    [
        (0.1, 0.4, r"max_speed: expected a value above 0.15, the mean, and at most 0.3.*got 0.1.*from 3 s to 6 s"),
        (0.31, 0.4, r"max_speed: .*at most 0.3, .*got 0.31"),
        (0.2, 0.2, r"max_rate: expected a value above 0.248289"),  # half the angle of the rotation
        (0.0, 0.4, "max_speed: expected a number > 0, got 0.0"),
        (0.2, np.nan, "max_rate: expected a number > 0"),
        (True, 0.4, "max_speed"),
    ],
)
def test_impossible_speeds_say_what_is_possible(speed, rate, match):
    with pytest.raises(tf.ShapeError, match=match):
        StraightLine(START, END, 2.0, speed, rate)


def test_bad_ends():
    with pytest.raises(tf.ShapeError, match=r"max_rate: expected a value above 0\.254951, the mean"):
        StraightLine(START, END, 2.0, 0.2, 0.2, orientation="angles")
    with pytest.raises(tf.ShapeError, match="orientation: expected one of rotation, angles, got 'euler'"):
        StraightLine(START, END, 2.0, 0.2, 0.4, orientation="euler")
    with pytest.raises(tf.ShapeError, match="start: expected 6 numbers"):
        StraightLine([0, 0, 0], END, 2.0, 0.2, 0.4)
    with pytest.raises(tf.ShapeError, match="end"):
        StraightLine(START, [*END[:5], np.inf], 2.0, 0.2, 0.4)
    with pytest.raises(tf.ShapeError, match="duration"):
        StraightLine(START, END, -1, 0.2, 0.4)


@given(seeds)
def test_twists_and_rates_undo_each_other(rng):
    pose, rates, accelerations = rng.uniform(-1.4, 1.4, (3, 5, 6))
    twist, acceleration = twists(pose, rates, accelerations)
    back, second = pose_rates(pose, twist, acceleration)
    secant = 1 / np.cos(pose[:, 4]).min()
    assert np.abs(back - rates).max() < ROUNDING * secant
    assert np.abs(second - accelerations).max() < ROUNDING * secant**2


@given(seeds)
def test_omega_is_that_of_the_rotation(rng):
    """Against SciPy's rotations, turned a little further."""
    pose, rates = rng.uniform(-1, 1, (2, 6))
    h = 1e-6
    turn = [Rotation.from_euler("xyz", pose[3:] + k * h * rates[3:]) for k in (-1, 1)]
    omega = (turn[1] * turn[0].inv()).as_rotvec() / (2 * h)
    assert np.abs(twists(pose, rates)[0][3:] - omega).max() < 1e-9  # rounding over h


MOTIONS = {
    **{name: JointMove([0.1, -0.2, 0.3], [1.0, 0.4, -0.5], 2.0, name) for name in PROFILES},
    "waypoints": Waypoints([0.0, 0.7, 1.1, 2.0], [[0, 1], [0.5, 0.2], [0.1, -0.3], [0.4, 0.4]]),
    "sampled": Sampled([3.0, 3.5, 4.2, 5.0], [[0.0], [0.5], [0.1], [0.4]]),
    "sampled with velocities": Sampled([0.0, 1.0, 2.0], [[0.0], [0.5], [0.1]], [[0.1], [0.0], [-0.4]]),
    "sine": Sine([0.1, 0.2], [0.3, 0.1], [0.5, 0.8], 2.0, [0.2, 1.0]),
    "chirp": Chirp([0.1, 0.2], [0.3, 0.1], 0.5, 3.0, 2.0),
    "circle": Circle([0, 0, 1, 0.1, 0.2, 0.3], 0.2, 2.0, turns=1.5, normal=(1, 2, 3)),
    "pose": PoseMotion(Sine([0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.1, 0.3, 0.2, 0.4], 0.7, 2.0)),
}
H = 1e-4


@pytest.mark.parametrize("name", MOTIONS)
def test_every_motion_is_what_its_derivatives_say(name):
    motion = MOTIONS[name]
    for t in (0.13, 0.45, 0.93, 1.31, 1.77):  # none at a knot
        (before, *_), (position, velocity, acceleration), (after, *_) = (motion.sample(t + k * H) for k in (-1, 0, 1))
        first, second = (after - before) / (2 * H), (after - 2 * position + before) / H**2
        if motion.of_poses:
            velocity, acceleration = pose_rates(position, velocity, acceleration)
        assert np.abs(first - velocity).max() < 1e-5 * (1 + np.abs(velocity).max())  # H^2 times the third derivative
        assert np.abs(second - acceleration).max() < 1e-4 * (1 + np.abs(acceleration).max())


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_start_and_end_at_rest(name):
    move = MOTIONS[name]
    ends = move.sample([0.0, 2.0])
    assert np.allclose(ends.position, [move.start, move.end], atol=ROUNDING)
    assert np.allclose(ends.velocity, 0, atol=1e-14)
    assert np.abs(move.sample(np.linspace(0, 2, 200)).velocity).max() < 3 * np.abs(move.end - move.start).max()
    if name == "s-curve":
        jerk = np.diff(move.sample(np.linspace(0, 2, 2001)).acceleration[:, 0]) / 1e-3
        assert np.abs(jerk).max() < 30  # no jump of the acceleration
    if name in ("quintic", "s-curve"):
        assert np.allclose(ends.acceleration, 0, atol=1e-13)


def test_motions_go_where_they_should():
    points = MOTIONS["waypoints"]
    assert np.allclose(points.sample(points.times).position, points.points, atol=ROUNDING)
    assert np.allclose(MOTIONS["sampled"].sample([0.5, 2.0]).position, [[0.5], [0.4]], atol=ROUNDING)
    circle = MOTIONS["circle"]
    t = np.linspace(0, 2, 50)
    out = circle.sample(t).position[:, :3] - [0, 0, 1]
    assert np.allclose(np.linalg.norm(out, axis=1), 0.2)
    assert np.abs(out @ [1, 2, 3]).max() < ROUNDING
    sweep = MOTIONS["chirp"].sample(np.linspace(0, 2, 20001)).position[:, 0] - 0.1
    turns = np.flatnonzero(np.diff(np.sign(sweep[1:-1])))
    assert len(turns) == 6  # (0.5 + 3) / 2 turns a second for 2 s: 3.5 turns


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: JointMove([0], [1, 2], 1.0), "end: expected 1 numbers, as many as in start, got 2"),
        (lambda: JointMove([0], [1], 1.0, "linear"), "profile: expected one of cubic"),
        (lambda: Waypoints([0, 1, 1], [[0], [1], [2]]), "times: expected times that start at 0 and increase"),
        (lambda: Waypoints([0, 1], [[0]]), "times: expected one time for each"),
        (lambda: Sine([0, 0], [1, 2, 3], 1.0, 1.0), "amplitude: expected 1 or 2 numbers, got 3"),
        (lambda: Sine([0, 0], np.nan, 1.0, 1.0), "amplitude: expected finite numbers"),
        (lambda: Chirp([0, 0], [1, 2, 3], 1.0, 2.0, 1.0), "amplitude: expected 1 or 2 numbers"),
        (lambda: Circle([0, 0, 0], 1.0, 1.0), r"centre: expected \(6,\), a pose"),
        (lambda: Circle([0] * 6, 1.0, 1.0, turns="x"), "turns: expected finite numbers"),
        (lambda: Circle([0] * 6, 1.0, 1.0, normal=[0, 0, 0]), "normal: expected 3 numbers"),
        (lambda: PoseMotion(JointMove([0], [1], 1.0)), "numbers: expected a motion of six coordinates"),
        (lambda: Sampled([0, 1], [[0], [1]], [[0, 1], [2, 3]]), "velocities: expected"),
    ],
)
def test_motions_that_make_no_sense(make, match):
    with pytest.raises(tf.ShapeError, match=match):
        make()


def test_a_platform_wants_twists():
    """Rates of angles taken for an angular velocity would be silently wrong."""
    rig, arm = tf.load("motion-rig"), tf.load("planar-2r")
    numbers = JointMove([0, 0, 1, 0, 0, 0], [0, 0, 1.1, 0, 0.1, 0], 0.1)
    with pytest.raises(
        tf.ModelError, match=r"motion-rig needs a motion of poses with twists: wrap it in motion.PoseMotion"
    ):
        tf.simulate(rig, tf.control.ComputedTorque(rig), numbers)
    with pytest.raises(tf.ModelError, match="planar-2r needs a motion of joint coordinates, not poses"):
        tf.simulate(arm, tf.control.ComputedTorque(arm), PoseMotion(numbers))
    tf.simulate(rig, tf.control.ComputedTorque(rig), PoseMotion(numbers), step=0.01)


def test_the_acceleration_at_a_switch_is_that_of_the_right_side():
    """And at the end that of the left: Dasgupta's figures jump there."""
    line = StraightLine([0.1, 0, 0.4, 0, 0, -0.2], [0.3, 0, 0.6, 0, 0, 0.2], 6.0, 0.08, 0.08)
    blend = line._parts[0].blend  # to the last digit
    assert np.isclose(blend, 6.0 - np.linalg.norm([0.2, 0, 0.2]) / 0.08)
    speeding = 0.08 / blend
    at = {t: np.linalg.norm(line.sample(t).acceleration[:3]) for t in (0.0, blend, 6.0 - blend, 6.0, 6.0 + 1e-15)}
    assert np.isclose(at[0.0], speeding)
    assert at[blend] < 1e-12
    assert np.isclose(at[6.0 - blend], speeding)
    assert np.isclose(at[6.0], speeding)
    assert np.isclose(at[6.0 + 1e-15], speeding)
    assert np.abs(line.sample(6.1).acceleration).max() == 0


def test_waypoints_start_and_end_at_rest():
    motion = tf.motion.Waypoints([0, 1, 2.5], [[0, 1], [1, 3], [0.5, -1]])
    for t in (0.0, 2.5):
        assert np.abs(motion.sample(t).velocity).max() < 1e-12


@pytest.mark.parametrize(
    ("profile", "peak"), [("trapezoidal", 1.5), ("s-curve", 1.5), ("cubic", 1.5), ("quintic", 1.875)]
)
def test_peak_speeds_of_the_profiles(profile, peak):
    """In units of the mean speed, as their shapes have them."""
    t = np.linspace(0, 2, 4001)
    speed = JointMove([0.0], [1.0], 2.0, profile=profile).sample(t).velocity[:, 0]
    assert np.isclose(speed.max() * 2.0, peak, rtol=1e-3)


def test_circles_turn_the_way_they_say():
    """About the normal, by the right hand; the other way round with a negative number of turns."""
    normal = np.array([0.3, -0.2, 0.9])
    for turns in (1.0, -2.0):
        circle = tf.motion.Circle([0, 0, 1, 0, 0, 0], 0.2, 2.0, turns, normal)
        pose, twist, _ = circle.sample(0.3)
        assert np.sign(np.cross(pose[:3] - [0, 0, 1], twist[:3]) @ normal) == np.sign(turns)


def test_twists_are_not_converted_twice():
    line = StraightLine([0, 0, 1, 0, 0, 0], [0.1, 0, 1, 0.4, 0.3, 0.5], 1.0, 0.2, 1.2)
    with pytest.raises(tf.ShapeError, match="which has twists already"):
        PoseMotion(line)
    with pytest.raises(tf.ShapeError, match=r"poses: expected \(..., 6\)"):
        tf.motion.twists(np.zeros(5), np.zeros(5))
    with pytest.raises(tf.ShapeError, match="t: expected times"):
        line.sample("now")


def test_angles_have_no_rates_at_a_quarter_turn():
    pose = np.array([[0, 0, 1, 0.1, np.pi / 2, 0.2], [0, 0, 1, 0.1, 0.3, 0.2]])
    rates, _ = tf.motion.pose_rates(pose, np.ones((2, 6)))
    assert np.isnan(rates[0]).all()
    assert np.isfinite(rates[1]).all()
    assert np.isnan(tf.motion.pose_rates(pose[0], np.ones(6))[0]).all()


def test_a_profile_with_a_typing_error_is_guessed() -> None:
    with pytest.raises(tf.ShapeError, match=r"got 'cubc'. Did you mean cubic\?"):
        tf.motion.JointMove([0.0], [1.0], duration=1.0, profile="cubc")
    with pytest.raises(tf.ShapeError, match=r"expected one of cubic, quintic, trapezoidal, s-curve, got 'x'$"):
        tf.motion.JointMove([0.0], [1.0], duration=1.0, profile="x")
