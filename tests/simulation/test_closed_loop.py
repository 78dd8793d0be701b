"""The loop around a law: what it is asked and when, what it sees, what pushes, what is kept when it fails."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from support.tolerances import INTEGRATED
from tauforge.analysis.stewart_forces import crossings
from tauforge.control import PD, AdaptiveComputedTorque, ComputedTorque, LegSpaceComputedTorque, ResolvedRate
from tauforge.motion import JointMove, PoseMotion, Sine, StraightLine
from tauforge.robots.poses import pose_of
from tauforge.simulation import Sensors
from tauforge.simulation.closed_loop import ROWS_AT_ONCE

pytestmark = pytest.mark.usefixtures("as_installed")

ARM = random_arm(np.random.default_rng(3), "RPR")
MOVE = JointMove([0, 0, 0], [0.4, 0.1, -0.3], 0.2)
RIG = tf.load("motion-rig")
HOME = np.array([0, 0, 1.0, 0.1, -0.05, 0.2])
PATH_III = StraightLine(
    [0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0], 6.0, 0.2, 0.08, orientation="angles"
)
EXACT = 1e-12  # the same arithmetic


def test_a_law_is_asked_in_the_order_of_time_and_what_it_said_is_recorded():
    """A law that remembers: its answers are the recording's forces, and the accelerations follow from them."""
    for options in ({}, {"control_period": 2e-3}):
        asked = []

        def law(t, q, qd, asked=asked):
            asked.append(t)
            return np.full(3, 0.1 * len(asked))

        run = tf.simulate(ARM, law, initial=(np.zeros(3), np.zeros(3)), duration=0.02, **options)
        assert (np.diff(asked) >= -1e-3).all()  # Runge-Kutta's own stages apart
        dynamics = ARM.forward_dynamics(run.position, run.velocity, run.force)
        assert np.abs(run.acceleration - dynamics).max() < EXACT * np.abs(dynamics).max()
        speed = (run.velocity[1:] - run.velocity[:-1]) / 1e-3
        assert np.abs(speed - run.acceleration[:-1]).max() < 0.05 * np.abs(speed).max()


def test_noise_needs_a_sampling_period():
    noisy = Sensors(position_noise=1e-3)
    with pytest.raises(tf.ModelError, match="sensors: noise needs a sampling period"):
        tf.simulate(ARM, ComputedTorque(ARM), MOVE, sensors=noisy)
    runs = [tf.simulate(ARM, ComputedTorque(ARM), MOVE, sensors=noisy, control_period=0.01) for _ in range(2)]
    assert runs[0] == runs[1]  # the same noise every time
    quiet = tf.simulate(ARM, ComputedTorque(ARM), MOVE, control_period=0.01)
    assert not np.array_equal(runs[0].position, quiet.position)


def test_the_controller_sees_what_the_sensors_say():
    """A coarse converter: the law is asked about its steps only, rounded to the nearest; velocities carry noise."""
    seen = []

    def law(t, q, qd):
        seen.append((q.copy(), qd.copy()))
        return np.zeros(3)

    sensors = Sensors(bits=3, span=0.8, velocity_noise=0.5, seed=1)
    run = tf.simulate(
        ARM, law, initial=([0.14, 0.16, -0.14], [0.3, 0.1, 0.2]), duration=0.02, control_period=2e-3, sensors=sensors
    )
    q, qd = (np.array(x) for x in zip(*seen, strict=True))
    assert np.abs(q / 0.1 - np.round(q / 0.1)).max() < 1e-12
    assert np.abs(q - run.position[::2]).max() <= 0.05 + 1e-12  # half a step
    spread = np.std(qd - run.velocity[::2])
    assert 0.25 < spread < 1.0


def test_a_push_changes_with_time_and_has_its_frame():
    """The push on a platform is in base axes. The recorded accelerations include it."""
    hold = RIG.inverse_dynamics(HOME, np.zeros(6), np.zeros(6))
    wrench = np.array([300.0, -200, 100, 20, 30, -10])
    run = tf.simulate(
        RIG, lambda *_: hold, initial=(HOME, np.zeros(6)), duration=0.01, disturbance=lambda t: wrench * (t > 0.004)
    )
    given = np.where(run.time[:, None] > 0.004, wrench, 0.0)
    expected = RIG.forward_dynamics(run.position, run.velocity, run.force, external_wrench=given)
    assert np.abs(run.acceleration - expected).max() < EXACT * np.abs(expected).max()
    assert np.abs(run.velocity[4]).max() < 1e-12
    mass = RIG.mass_matrix(HOME)
    assert np.allclose(run.acceleration[5], np.linalg.solve(mass, wrench), rtol=0.01)  # friction, and a little way


def test_short_pushes_are_not_missed():
    for method in ("rk4", "dormand-prince"):
        pushed = tf.simulate(
            ARM.replace(gravity=(0, 0, 0)),
            initial=(np.zeros(3), np.zeros(3)),
            duration=0.1,
            method=method,
            disturbance=lambda t: [200.0 * (0.05 <= t < 0.052), 0, 0, 0, 0, 0],
        )
        assert np.abs(pushed.velocity[-1]).max() > 1e-3


def test_forces_are_bounded_on_both_sides_by_the_plants_limits():
    weak = ARM.replace(max_force=[2.0, 3.0, 1.0])
    run = tf.simulate(
        ARM,
        lambda t, q, qd: [50.0 * np.sign(0.0101 - t), -50.0, 0.5],
        initial=(np.zeros(3), np.zeros(3)),
        duration=0.02,
        control_period=5e-3,
        plant=weak,
        force_limits="robot",
    )
    assert run.force.max(axis=0).tolist() == [2.0, -3.0, 0.5]
    assert run.force.min(axis=0).tolist() == [-2.0, -3.0, 0.5]
    saturated = [(event.time, event.which) for event in run.events if event.what == "force limit"]
    assert saturated == [(0.0, "joint1"), (0.0, "joint2")]  # when it begins
    legs = tf.simulate(
        RIG.replace(force_limit=100.0),
        lambda *_: np.full(6, 900.0),
        initial=(HOME, np.zeros(6)),
        duration=0.005,
        force_limits="robot",
    )
    assert (legs.force == 100.0).all()
    full = tf.simulate(ARM, lambda *_: [1.0, 1, 1], initial=(np.zeros(3), np.zeros(3)), duration=0.01, force_limits=1.0)
    assert not full.events  # all that was asked for was given


@pytest.mark.parametrize("options", [{}, {"control_period": 0.01}, {"method": "dormand-prince"}])
def test_an_actuator_that_stays_saturated_is_one_event(options):
    """However long the simulation: rows are looked at in blocks, and a block begins as the one before ended."""
    steps = 3 * ROWS_AT_ONCE
    state, law = (np.zeros(3), np.zeros(3)), [50.0, 0.5, 0.5]
    run = tf.simulate(
        ARM, lambda *_: law, initial=state, duration=1e-3 * steps, step=1e-3, force_limits=[1.0] * 3, **options
    )
    assert len(run.time) > steps
    saturated = [(event.time, event.which) for event in run.events if event.what == "force limit"]
    assert saturated == [(0.0, "joint1")]


def test_limits_of_a_platform_are_events_wherever_they_are_left():
    shortest = RIG.inverse_kinematics(HOME).min()
    tight = RIG.replace(stroke=(shortest - 0.01, 3.0))
    run = tf.simulate(tight, initial=(HOME, np.zeros(6)), duration=0.2)
    first = next(event for event in run.events if "stroke" in event.which)
    lengths = tight.inverse_kinematics(run.position)
    row = np.searchsorted(run.time, first.time)
    leg = int(first.which[-1]) - 1
    assert lengths[row, leg] < shortest - 0.01 <= lengths[row - 1, leg]
    assert run.time[row - 1] < first.time < run.time[row]  # between the rows, where the line between them crosses


def test_a_motion_that_starts_moving():
    sine = Sine(np.zeros(3), np.full(3, 0.2), 1.0, 0.5)
    run = tf.simulate(ARM, ComputedTorque(ARM), sine)
    assert np.abs(run.velocity[0] - sine.sample(0.0).velocity).max() == 0
    assert np.abs(run.error).max() < 1e-8


@pytest.mark.parametrize("duration", [0.3, 0.35, 0.41, 0.7])
def test_the_last_row_is_still_on_the_motion(duration):
    """Steps add up to the duration only within rounding."""
    sine = Sine(np.zeros(3), np.full(3, 0.2), 1.0, duration)
    run = tf.simulate(ARM, ComputedTorque(ARM), sine, step=0.01, control_period=0.01)
    assert np.abs(run.target_velocity[-1] - sine.sample(duration).velocity).max() < 1e-9
    assert np.abs(run.target_velocity[-1]).max() > 0
    world = tf.rollout(ARM, ComputedTorque(ARM), sine, step=0.01, control_period=0.01)
    assert np.abs(world.force[0, -1] - run.force[-1]).max() < 1e-9 * np.abs(run.force).max()


def failing(t, q, qd):
    if t > 0.05:
        raise tf.ConvergenceError("lost", residual=1.0, iterations=3)
    return np.zeros(3)


def dividing(t, q, qd):
    return np.full(3, 1 // int(t < 0.05))


@pytest.mark.parametrize("options", [{}, {"control_period": 0.01}, {"method": "dormand-prince"}])
def test_a_law_that_fails_leaves_the_recording(options):
    state = (np.zeros(3), np.zeros(3))
    with pytest.raises(tf.DivergenceError, match="lost") as caught:
        tf.simulate(ARM, failing, initial=state, duration=0.2, step=0.01, **options)
    assert 0.04 < caught.value.time < 0.07
    assert len(caught.value.recording.time) >= 5
    assert np.isfinite(caught.value.recording.position).all()
    with pytest.raises(ZeroDivisionError) as broken:
        tf.simulate(ARM, dividing, initial=state, duration=0.2, step=0.01, **options)
    assert broken.value.recording.time[-1] < 0.06
    assert "recording" in broken.value.__notes__[0]


@pytest.mark.parametrize("method", ["rk4", "dormand-prince"])
def test_no_numbers_are_named(method):
    options = {"initial": (np.zeros(3), np.zeros(3)), "duration": 0.1, "method": method}
    with pytest.raises(tf.DivergenceError, match=r"the controller returned non-finite forces at t = 0 s: \[nan"):
        tf.simulate(ARM, lambda *_: [np.nan, 0, 0], **options)
    with pytest.raises(tf.DivergenceError, match=r"the disturbance returned a non-finite wrench at t = 0.0"):
        tf.simulate(ARM, disturbance=lambda t: [0 if t < 0.05 else np.nan] * 6, **options)


@pytest.mark.parametrize(
    ("law", "options", "ends"),
    [
        (LegSpaceComputedTorque, {"control_period": 0.01}, "the run ends at a singular pose"),
        (ComputedTorque, {"control_period": 0.01}, "the motion ran away"),  # thrown off by forces held too long
        (ComputedTorque, {"method": "dormand-prince"}, "needs too many steps"),  # forces without bound
    ],
    ids=["legs", "sampled", "continuous"],
)
def test_the_singular_path_ends_under_every_law(law, options, ends):
    """Before det H vanishes on the path, and on its side: how it ends is said."""
    platform, begin = tf.load("dasgupta1998"), 3.6
    (crossing,) = crossings(platform, lambda t: PATH_III.sample(t).position, begin, begin + 0.8)
    t = np.linspace(0, 0.8, 401)
    later = PoseMotion(tf.motion.Sampled(t, PATH_III.sample(begin + t).position))
    given = {"initial": PATH_III.sample(begin)[:2], "step": 0.01} | options
    if "singular" in ends:
        with pytest.warns(tf.SingularityWarning, match=ends):
            run = tf.simulate(platform, law(platform), later, **given)
        assert run.events[-1].what == "singular pose"
    else:
        with pytest.raises(tf.DivergenceError, match=ends) as caught:
            tf.simulate(platform, law(platform), later, **given)
        run = caught.value.recording
    assert 0.01 <= run.time[-1] < crossing.time - begin
    assert (np.linalg.det(platform.force_matrix(run.position)) < 0).all()  # as at its start
    assert np.abs(run.force[-1]).max() > 10 * np.abs(run.force[0]).max()
    if "steps" in ends:
        assert crossing.time - begin < run.time[-1] + given["step"]
        assert np.abs(run.error).max() < INTEGRATED


def test_angles_go_the_short_way_round():
    """theta_z from 3.0 to 3.4 passes pi, where the measured angle jumps by a turn."""
    ends = np.array([[0, 0, 1.0, 0, 0, 3.0], [0, 0, 1.0, 0, 0, 3.4]])
    spun = RIG.replace(platform_points=np.array(RIG.platform_points) @ np.diag([-1.0, -1, 1]))  # turned by half a turn
    move = PoseMotion(JointMove(*ends, 0.4))
    run = tf.simulate(spun, ComputedTorque(spun), move, control_period=5e-3)
    assert run.position[-1, 5] < 0
    assert np.abs(run.error).max() < 0.01


def test_tilts_beyond_a_quarter_turn_are_refused():
    over = PoseMotion(JointMove([0, 0, 1.0, 0, 1.3, 0], [0, 0, 1.0, 0, 1.8, 0], 1.0))
    with pytest.raises(tf.ModelError, match=r"theta_y reaches 1.8 rad.*LegSpaceComputedTorque"):
        tf.simulate(RIG, ComputedTorque(RIG), over)


def test_an_adaptive_law_bears_quick_moves():
    """With the right model there is nothing to learn, and learning must not shake the arm."""
    puma = tf.load("puma560").without_friction()
    move = JointMove(np.zeros(6), np.full(6, 0.3), 0.2)
    law = AdaptiveComputedTorque(puma, period=0.1 * 0.1)  # 0.01 but for rounding
    run = tf.simulate(puma, law, move, control_period=0.01, duration=0.4)
    assert np.abs(run.error).max() < 0.05


def test_resolved_rates_stay_bounded_out_of_reach():
    puma = tf.load("puma560").without_friction()
    q = np.array([0.2, 0.6, -0.8, 0.3, 0.9, -0.2])
    tool = puma.forward_kinematics(q)
    start = np.r_[tool[:3, 3], pose_of(tool)[3:]]
    away = StraightLine(start, start + [1.5, 0, 0, 0, 0, 0], 1.0, 2.0, 1.0)
    run = tf.simulate(puma, ResolvedRate(puma), away, initial=(q, np.zeros(6)), step=2e-3, control_period=2e-3)
    assert np.abs(run.velocity).max() < 3.5  # rad/s: `fastest`, and what the velocity loop overshoots
    assert np.abs(run.force).max() < 1500  # N m; hundreds of thousands without the bounds


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"motion": JointMove([0], [1], 0.1)}, r"motion: expected 3 coordinates.*got 1"),
        ({"controller": ComputedTorque(tf.load("planar-2r"))}, "controller: the controller is made for planar-2r"),
        ({"controller": ComputedTorque(RIG)}, "controller: the controller is made for motion-rig"),
        ({"controller": 5}, "controller: expected a Controller, a callable or None, got 5"),
        ({"motion": [0, 1]}, r"motion: expected a Motion, got \[0, 1\]$"),
        (
            {"controller": MOVE, "motion": ComputedTorque(ARM)},
            "motion: expected a Motion, got a ComputedTorque. The order is robot, controller, motion",
        ),
        (
            {"controller": MOVE},
            "controller: expected a Controller, a callable or None, got a JointMove. The order is robot, controller, m",
        ),
        ({"initial": ([0, 0, 0],)}, r"initial: expected \(position, velocity\)"),
        ({"initial": "rest"}, r"initial: expected \(position, velocity\), got 'rest'"),
        ({"initial": (["a", 0, 0], [0, 0, 0])}, "initial position: expected 3 finite numbers"),
        ({"force_limits": [1.0, 2.0]}, "force_limits: expected one number >= 0, or 3"),
        ({"disturbance": 3.0}, "disturbance: expected a callable of the time"),
        ({"step": 1e-13}, "duration: expected at most 1,000,000,000 steps"),
        ({"plant": RIG}, "plant: motion-rig cannot move in place of"),
        ({"plant": "heavy"}, "plant: expected a robot such as a SerialArm or a StewartPlatform, got 'heavy'"),
        ({"method": "symplectic"}, "method: the symplectic method takes no controller, no disturbance and no payload"),
    ],
)
def test_what_does_not_fit_is_said(options, match):
    given = {"controller": ComputedTorque(ARM), "motion": MOVE, **options}
    with pytest.raises(tf.TauforgeError, match=match):
        tf.simulate(ARM, **given)


def test_what_a_law_may_not_answer():
    options = {"initial": (np.zeros(3), np.zeros(3)), "duration": 0.1}
    with pytest.raises(tf.ShapeError, match="controller: expected 3 forces, got 'full'"):
        tf.simulate(ARM, lambda *_: "full", **options)
    with pytest.raises(tf.ModelError, match="expected a robot such as a SerialArm or a StewartPlatform, got 'puma'"):
        ComputedTorque("puma")
    with pytest.raises(tf.ModelError, match="span"):
        Sensors(bits=3, span=0.0)
    with pytest.raises(tf.ModelError, match="position_noise"):
        Sensors(position_noise=True)
    with pytest.raises(tf.ModelError, match="seed"):
        Sensors(seed="x")
    assert Sensors(bits=np.int64(12)).resolution > 0
    gains = np.eye(3) * 100
    law = ComputedTorque(ARM, kp=gains)
    gains[0, 0] = -5
    assert law.kp[0, 0] == 100
    with pytest.raises(tf.ModelError, match="coulomb_speed"):
        tf.rollout(ARM, PD(ARM, 1.0, 1.0), MOVE, control_period=0.01, varying={"coulomb": np.ones((2, 3, 2))})
