"""Sizing of a platform: every number against a plain computation of it, and against what must be so."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from tauforge.analysis.stewart_sizing import Peak, size_actuators
from tauforge.robots.stewart.capabilities import home_pose

ROUNDING = 1e-12  # relative, of forces computed twice


@pytest.fixture(scope="module")
def rig():
    return tf.load("motion-rig")


@pytest.fixture(scope="module")
def motion():
    home = np.array([0, 0, 1.0, 0, 0, 0])
    numbers = tf.motion.Sine(home, [0.05, 0.04, 0.05, 0.05, 0.06, 0.02], [1, 1, 2, 1, 1, 1], 2.0, 0.3)
    return tf.motion.PoseMotion(numbers)


@pytest.fixture(scope="module")
def found(rig, motion):
    t = np.linspace(0, 0.95, 96)  # less than a period: every peak is met once
    return t, motion.sample(t), size_actuators(rig, t, *motion.sample(t))


def test_peaks_are_the_largest_of_every_leg(rig, found):
    t, state, sizing = found
    forces = rig.inverse_dynamics(*state)
    legs = rig.leg_motion(*state)
    assert np.array_equal(sizing.forces, forces)
    for peak, values in (
        (sizing.peak_force, forces),
        (sizing.peak_speed, legs.rates),
        (sizing.peak_power, forces * legs.rates),
    ):
        for leg in range(6):
            row = int(np.flatnonzero(t == peak.time[leg])[0])
            assert peak.value[leg] == pytest.approx(values[row, leg], rel=ROUNDING)
            assert abs(peak.value[leg]) == pytest.approx(np.abs(values[:, leg]).max(), rel=ROUNDING)
        value, leg, _ = peak.worst
        assert abs(value) == pytest.approx(np.abs(values).max(), rel=ROUNDING)
        assert value == peak.value[leg - 1]
    assert np.allclose(sizing.shortest, legs.lengths.min(axis=0))
    assert np.allclose(sizing.stroke_used, np.ptp(legs.lengths, axis=0))


def test_means_weigh_samples_by_how_long_they_last(rig, motion, found):
    t, _, even = found
    crowded = np.unique(np.r_[t, np.linspace(0, 0.1, 500)])  # many samples of a twentieth of the time
    uneven = size_actuators(rig, crowded, *motion.sample(crowded))
    assert np.allclose(uneven.rms_force, even.rms_force, rtol=1e-4)  # trapezoids of 0.01 s
    assert np.allclose(uneven.mean_power, even.mean_power, rtol=1e-2)  # a kink at every change of sign
    plain = np.sqrt((rig.inverse_dynamics(*motion.sample(crowded)) ** 2).mean(axis=0))
    assert not np.allclose(plain, even.rms_force, rtol=1e-2)


def test_mean_power_is_what_the_actuators_give(rig, found):
    t, state, sizing = found
    power = rig.inverse_dynamics(*state) * rig.leg_motion(*state).rates
    given = np.where(power > 0, power, 0.0)
    weights = np.r_[0.5, np.ones(len(t) - 2), 0.5] / (len(t) - 1)  # trapezoids of one width
    assert (power < 0).any(axis=0).all()
    assert np.allclose(sizing.mean_power, weights @ given, rtol=ROUNDING)


def test_the_worst_leg_is_the_largest_in_size_and_the_first_of_equals():
    times = np.arange(6.0)
    assert Peak(np.array([1.0, -3.0, 2.0, 0, 0, 0]), times).worst == (-3.0, 2, 1.0)
    assert Peak(np.array([1.0, 3.0, -3.0 * (1 + 1e-12), 0, 0, 0]), times).leg == 2


def test_equal_legs_agree_through_all_tables(rig):
    t = np.linspace(0, 1, 12)
    pose = np.zeros((12, 6)) + [0, 0, 1.0, 0, 0, 0]
    pose[:, 5] = np.deg2rad(np.linspace(80, 89.99, 12))  # a turn that favours none of three legs, up to a singular pose
    found = size_actuators(rig, t, pose, np.zeros((12, 6)), np.zeros((12, 6)))
    (force,) = (margin for margin in found.margins if margin.limit == "force")
    assert found.condition[0] > 1e3
    assert np.allclose(found.peak_force.value[1::2], found.peak_force.value[1], rtol=1e-6)
    assert (found.peak_force.leg, found.peak_force.worst[2]) == (force.leg, force.time) == (2, 1.0)


def test_a_constant_force_has_its_peak_and_its_margin_at_the_start(rig):
    t = np.linspace(0, 1, 50)
    pose = np.tile([0.1, 0, 1.0, 0, 0.1, 0], (50, 1))
    jitter = 1e-9 * np.random.default_rng(0).normal(size=(50, 6))  # rounding of a spline's accelerations
    weak = rig.replace(force_limit=float(np.abs(rig.inverse_dynamics(pose[0], 0 * jitter[0], 0 * jitter[0])).max()))
    found = size_actuators(weak, t, pose, np.zeros((50, 6)), jitter)
    (force,) = (margin for margin in found.margins if margin.limit == "force")
    assert (found.peak_force.time == 0).all()
    assert (force.leg, force.time) == (found.peak_force.leg, 0.0)


def test_at_rest_the_legs_carry_the_weight(rig):
    t = np.array([0.0, 1.0])
    pose = np.tile(home_pose(rig), (2, 1))
    found = size_actuators(rig, t, pose, np.zeros((2, 6)), np.zeros((2, 6)))
    direction = rig.leg_motion(pose[0]).directions
    spherical = found.reactions["spherical force"].value
    universal = found.reactions["universal force"].value
    total = (direction[:, 2] * found.rms_force).sum()  # the legs' own weight is not all along them
    assert total == pytest.approx(235 * 9.81, rel=0.3)
    assert (universal > spherical).all()  # the base carries the legs too
    assert not found.peak_speed.value.any()
    assert not found.peak_power.value.any()
    assert np.array_equal(found.rms_force, np.abs(found.peak_force.value))


def test_reactions_are_those_of_the_library(rig, found):
    t, state, sizing = found
    reactions = rig.joint_reactions(*state)
    directions = rig.leg_motion(*state).directions
    prismatic = reactions.prismatic[..., :3]
    side = np.linalg.norm(np.cross(prismatic, directions), axis=-1)
    for name, sizes in (
        ("universal force", np.linalg.norm(reactions.universal[..., :3], axis=-1)),
        ("universal moment", np.linalg.norm(reactions.universal[..., 3:], axis=-1)),
        ("prismatic side force", side),
        ("prismatic moment", np.linalg.norm(reactions.prismatic[..., 3:], axis=-1)),
        ("spherical force", np.linalg.norm(reactions.spherical[..., :3], axis=-1)),
    ):
        assert np.allclose(sizing.reactions[name].value, sizes.max(axis=0), rtol=1e-9)
        assert np.array_equal(sizing.reactions[name].time, t[sizes.argmax(axis=0)])


def test_margins_and_who_breaks_them(rig, found):
    t, state, sizing = found
    assert sizing.within_limits
    weak = rig.replace(force_limit=float(np.abs(sizing.forces).max()) - 1.0, stroke=None)
    judged = size_actuators(weak, t, *state)
    (force,) = (margin for margin in judged.margins if margin.limit == "force")
    assert force.value == pytest.approx(-1.0, abs=1e-9)
    assert (force.leg, force.time) == (judged.peak_force.leg, judged.peak_force.worst[2])
    assert not judged.within_limits
    assert "stroke" not in {margin.limit for margin in judged.margins}
    clearance = next(margin for margin in sizing.margins if margin.limit.startswith("clearance"))
    assert clearance.leg is None
    assert clearance.value == pytest.approx(rig.within_limits(state.position).clearance.min())


def test_conditions_and_crossings(rig, found):
    t, state, sizing = found
    conditions = rig.condition_number(state.position)
    assert sizing.condition == (conditions.max(), t[conditions.argmax()])
    assert not sizing.crosses_singularity
    turn = np.zeros((101, 6)) + [0, 0, 1.0, 0, 0, 0]
    turn[:, 5] = np.linspace(0, 2.9, 101)  # about 1.57 rad the legs lose the platform
    spun = size_actuators(rig, np.linspace(0, 1, 101), turn, np.zeros((101, 6)), np.zeros((101, 6)))
    assert spun.crosses_singularity
    assert not spun.within_limits


def test_a_wrench_on_the_platform_is_carried(rig, found):
    t, state, _ = found
    pushed = size_actuators(rig, t, *state, external_wrench=[0, 0, -1000, 0, 0, 0])
    assert np.array_equal(pushed.forces, rig.inverse_dynamics(*state, external_wrench=[0, 0, -1000, 0, 0, 0]))


def test_bad_shapes(rig):
    zero = np.zeros((3, 6))
    with pytest.raises(tf.ShapeError, match=r"time: expected \(k,\) at least two times, strictly increasing"):
        size_actuators(rig, [0, 1, 1], zero, zero, zero)
    with pytest.raises(tf.ShapeError, match=r"twist: expected \(3, 6\), one row for each time, got \(2, 6\)"):
        size_actuators(rig, [0, 1, 2], zero, zero[:2], zero)


@pytest.mark.parametrize("name", ["motion-rig", "dasgupta1998", "pedrammehr2012", "mathworks-hexapod"])
def test_random_states_are_held_and_within_limits(name):
    platform = tf.load(name)
    pose, twist, acceleration = platform.random_states(100, 1)
    assert pose.shape == twist.shape == acceleration.shape == (100, 6)
    assert platform.within_limits(pose).hold.all()
    assert platform.condition_number(pose).max() < 1e3
    again = platform.random_states(100, 1)
    assert np.array_equal(again[0], pose)
    assert np.ptp(pose, axis=0).min() > 0.01


def test_home_is_at_mid_stroke(rig):
    assert np.allclose(rig.inverse_kinematics(home_pose(rig)), np.mean(rig.stroke, axis=1))


def test_a_platform_without_room_has_no_random_states(rig):
    tight = rig.replace(stroke=(1.1300, 1.1301))
    with pytest.raises(tf.SingularityError, match="no pose near home is within the limits and away from singularities"):
        tight.random_states(10)
