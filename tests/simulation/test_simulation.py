"""Simulation: orders of the integrators, events, sensors, singular poses, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from tauforge.simulation import Event, Sensors
from tauforge.simulation.events import Watch

ORDER = 0.1  # how far a measured order may be from the method's


pytestmark = pytest.mark.usefixtures("as_installed")


ARM = random_arm(np.random.default_rng(3), "RPRR")
START = (np.array([0.3, -0.2, 0.5, 0.1]), np.array([0.5, 0.1, -0.4, 0.3]))


@pytest.mark.fault(20)
@pytest.mark.filterwarnings("ignore::tauforge.errors.EnergyDriftWarning")  # steps too long on purpose
@pytest.mark.parametrize(
    ("method", "order", "steps"), [("rk4", 4, (0.02, 0.01, 0.005, 0.0025)), ("symplectic", 2, (0.02, 0.01, 0.005))]
)
def test_orders_of_the_integrators(method, order, steps):
    """By regression over step halvings, against the adaptive method."""
    exact = tf.simulate(ARM, initial=START, duration=0.4, step=0.1, method="dormand-prince").position[-1]
    errors = [
        np.abs(tf.simulate(ARM, initial=START, duration=0.4, step=h, method=method).position[-1] - exact).max()
        for h in steps
    ]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - order) < ORDER


def test_a_platform_turns_as_a_rotation():
    """Through theta_y = a quarter turn, where angles fail: a weightless platform spinning about y."""
    space = tf.load("motion-rig").state_space
    y = space.pack(np.array([0, 0, 1, 0.2, 1.5, -0.1]), np.array([0, 0, 0, 0, 1.0, 0]))
    start = space.position(y)
    assert np.allclose(start, [0, 0, 1, 0.2, 1.5, -0.1])
    from tauforge.simulation.integrators import rk4

    for _ in range(200):
        y = space.renewed(rk4(lambda _, x: space.rates(x, np.zeros(6)), 0.0, y, 2 * np.pi / 200))
    assert np.allclose(space.position(y), start, atol=1e-6)  # once around, by 200 steps of order 4


def test_disturbances_and_callables():
    """A push at the tool equals its joint torques, J' w."""
    wrench = np.array([5.0, -3.0, 2.0, 0.1, 0.2, -0.3])

    def torques(_, q, __):
        return ARM.jacobian(q).T @ wrench

    pushed = tf.simulate(ARM, initial=START, duration=0.2, disturbance=lambda t: wrench)
    driven = tf.simulate(ARM, torques, initial=START, duration=0.2)
    assert np.abs(pushed.position - driven.position).max() < 1e-12
    rig = tf.load("motion-rig")
    still = (np.array([0, 0, 1.0, 0, 0, 0]), np.zeros(6))
    hold = rig.inverse_dynamics(*still, np.zeros(6))
    quiet = tf.simulate(rig, lambda *_: hold, initial=still, duration=0.05)
    lifted = tf.simulate(rig, lambda *_: hold, initial=still, duration=0.05, disturbance=lambda t: [0, 0, 500, 0, 0, 0])
    assert np.abs(quiet.position - still[0]).max() < 1e-10
    assert lifted.position[-1, 2] > 1.0005


def test_limits_are_events_and_forces_saturate():
    arm = tf.load("planar-2r").replace(limits=[(-0.1, 3.0), None], max_force=[5.0, 5.0], max_speed=[0.5, None])
    recording = tf.simulate(
        arm, lambda *_: [100.0, 0.0], initial=([0.0, 0.0], [0.0, 0.0]), duration=0.5, force_limits="robot"
    )
    assert recording.force[:, 0].max() == 5.0
    kinds = {(event.what, event.which) for event in recording.events}
    assert ("force limit", "joint1") in kinds
    assert ("limit", "limit of joint1") in kinds  # it falls through its lower limit, unhindered
    assert ("limit", "speed of joint1") in kinds
    times = [event.time for event in recording.events]
    assert times == sorted(times)
    first = min(event.time for event in recording.events if event.which == "limit of joint1")
    row = np.searchsorted(recording.time, first)
    assert recording.position[row, 0] < -0.1 <= recording.position[row - 1, 0]


def test_sensors():
    sensors = Sensors(bits=12)
    assert sensors.resolution == 2 * np.pi / 4096
    for options, match in (
        ({"bits": 0}, "bits"),
        ({"bits": 2.5}, "bits"),
        ({"position_noise": -1.0}, "position_noise"),
    ):
        with pytest.raises(tf.ModelError, match=match):
            Sensors(**options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "initial: the initial state is missing"),
        ({"initial": START}, "duration: the duration is missing"),
        ({"initial": ([0.0], [0.0]), "duration": 1.0}, "initial position: expected 4 finite numbers"),
        ({"initial": START, "duration": 1.0, "control_period": 0.0015}, "control_period: expected a whole number"),
        ({"initial": START, "duration": 1.0, "method": "euler"}, "method: expected one of rk4"),
        ({"initial": START, "duration": 1.0, "force_limits": "mine"}, "force_limits: expected 4 numbers, 'robot'"),
        (
            {"initial": START, "duration": 1.0, "force_limits": -1.0},
            "force_limits: expected one number >= 0, or 4, got -1.0",
        ),
        ({"initial": START, "duration": 1.0, "disturbance": lambda t: [1, 2]}, "disturbance: expected .6,."),
    ],
)
def test_what_is_missing_or_wrong_is_said(options, match):
    with pytest.raises(tf.TauforgeError, match=match):
        tf.simulate(ARM, **options)


def test_controllers_that_do_not_fit():
    with pytest.raises(tf.ShapeError, match="controller: expected 4 forces"):
        tf.simulate(ARM, lambda *_: [1.0], initial=START, duration=0.1)
    with pytest.raises(tf.ModelError, match="motion: a controller needs a motion"):
        tf.simulate(ARM, tf.control.ComputedTorque(ARM), initial=START, duration=0.1)
    rig, start = tf.load("motion-rig"), (np.array([0, 0, 1.0, 0, 0, 0]), np.zeros(6))
    with pytest.raises(tf.UnsupportedFeatureError, match="the symplectic method needs mass_matrix, coriolis_matrix"):
        tf.simulate(rig, initial=start, duration=0.1, method="symplectic")


def test_a_motion_that_runs_away_keeps_its_recording():
    """A drive that pushes on with the speed: the time, the state and the rows before are in the error."""
    arm = tf.load("planar-2r")

    def drive(t, q, qd):
        return 3.0 * qd

    for method in ("rk4", "dormand-prince"):
        with pytest.raises(tf.DivergenceError, match=r"after t = .* s, at \[") as caught:
            tf.simulate(arm, drive, initial=([0.1, 0.2], [1.0, 0.0]), duration=1.0, step=0.01, method=method)
        error = caught.value
        assert 0.1 < error.time < 1
        assert error.recording.time[-1] == error.time
        assert np.array_equal(error.recording.position[-1], error.position)
        assert np.isfinite(error.recording.position).all()
        whole = tf.simulate(arm, drive, initial=([0.1, 0.2], [1.0, 0.0]), duration=0.1, step=0.01, method=method)
        # the adaptive method chooses other steps when it ends elsewhere
        assert np.abs(error.recording.position[:11] - whole.position).max() < 1e-8


FLYWHEEL = tf.SerialArm.from_dh(
    joints="R", alpha=[0], a=[0], d=[0], mass=[1.0], com=[(0, 0, 0)], inertia=[(1, 1, 1)], name="flywheel"
)


@pytest.mark.parametrize("method", ["rk4", "dormand-prince"])
def test_a_joint_that_nothing_depends_on_runs_away_too(method):
    """Its angle enters no equation, so that the numbers stay finite to the end."""
    with pytest.raises(tf.DivergenceError, match="ran away") as caught:
        tf.simulate(FLYWHEEL, lambda *_: [-1e14], initial=([0.0], [0.0]), duration=0.1, step=0.01, method=method)
    assert caught.value.time == 0.0


def test_a_start_beyond_all_numbers_is_refused():
    with pytest.raises(tf.ShapeError, match=r"initial position: expected numbers of magnitude at most 1e\+09, got"):
        tf.simulate(FLYWHEEL, initial=([-2e288], [0.0]), duration=0.01)


def test_rows_that_ran_away_are_no_numbers():
    law, still = tf.control.PD(FLYWHEEL, 0.0, 0.0), tf.motion.JointMove([0], [0], 0.02)
    for start in (([[-2e288], [0.1]], [0.0]), ([0.0], [[1e12], [0.1]])):
        run = tf.rollout(FLYWHEEL, law, still, initial=start, control_period=0.01)
        assert run.finite.tolist() == [False, True]
        assert np.isnan(run.position[0]).all()


def test_a_singular_pose_ends_a_run_with_an_event():
    """Dasgupta's path III: det H changes its sign at t = 3.6705041 s; the run ends there, not with nonsense."""
    platform = tf.load("dasgupta1998")
    ends = [0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0]
    path = tf.motion.StraightLine(*ends, 6.0, 0.2, 0.08, orientation="angles")
    law = tf.control.ComputedTorque(platform)
    start = path.sample(3.4)
    later = tf.motion.Sampled(np.linspace(0, 1, 401), path.sample(3.4 + np.linspace(0, 1, 401)).position)
    with pytest.warns(tf.SingularityWarning, match="the run ends at a singular pose, t = 0.2705"):
        run = tf.simulate(
            platform, law, tf.motion.PoseMotion(later), initial=start[:2], step=2.5e-3, method="rk4", duration=1.0
        )
    event = run.events[-1]
    assert event.what == "singular pose"
    assert abs(event.time - (3.6705041 - 3.4)) < 1e-4  # a twentieth of a step
    assert run.time[-1] <= event.time < run.time[-1] + 2.5e-3
    assert np.abs(run.error).max() < 1e-5
    # without a controller nothing needs an inverse: the platform goes through, and it is noted
    thrown = (start.position, 10 * start.velocity)
    free = tf.simulate(platform, initial=thrown, duration=0.1)
    assert any(event.what == "singular pose" for event in free.events)
    assert free.time[-1] == 0.1


def test_a_singular_start_is_refused():
    box = tf.load("dasgupta1998")
    path = tf.motion.StraightLine(
        [0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0], 6.0, 0.2, 0.08, orientation="angles"
    )
    from tauforge.analysis.stewart_forces import crossings

    pose = path.sample(crossings(box, lambda t: path.sample(t).position, 3.0, 4.0)[0].time).position
    still = tf.motion.PoseMotion(tf.motion.JointMove(pose, pose, 0.1))
    with pytest.raises(tf.SingularityError, match="condition number"):
        tf.simulate(box, tf.control.ComputedTorque(box), still)


def test_chatter_is_one_event_with_a_count():
    """Pulses for 0.3 s, at 0 and 1 s: each saturates an actuator, and every other one leaves the top speed."""
    arm = tf.load("planar-2r").replace(gravity=(0, 0, 0), max_speed=[0.004, None])

    def pulses(t, q, qd):
        phase = round(1e3 * t) % 1000
        return [50.0 * (-1) ** (phase // 2) if phase < 300 and phase % 2 else 0.0, 0.0]

    run = tf.simulate(
        arm, pulses, initial=([0.0, 0.0], [0.0, 0.0]), duration=1.6, control_period=1e-3, force_limits=5.0
    )
    full = np.abs(run.force[:, 0]) == 5.0
    begins = run.time[full & ~np.r_[False, full[:-1]]]
    assert len(begins) == 300
    expected = [
        Event(float(some[0]), "force limit", "joint1", len(some), float(some[-1]))
        for some in np.split(begins, np.flatnonzero(np.diff(begins) > 0.1) + 1)
    ]
    assert [event for event in run.events if event.what == "force limit"] == expected
    fast = np.abs(run.velocity[:, 0]) > 0.004
    left = [event for event in run.events if event.which == "speed of joint1"]
    assert sum(event.occurrences for event in left) == np.count_nonzero(fast[1:] & ~fast[:-1]) > 100
    assert len(left) < 5


def test_events_that_are_apart_or_of_other_kinds_are_not_counted_together():
    watch = Watch(tf.load("planar-2r"), ["joint1", "joint2"])
    for time, which in ((0.0, "a"), (0.05, "b"), (0.09, "a"), (0.18, "a"), (0.3, "a"), (0.31, "b")):
        watch.add(Event(time, "limit", which))
    assert watch.events == [
        Event(0.0, "limit", "a", 3, 0.18),
        Event(0.05, "limit", "b"),
        Event(0.3, "limit", "a"),
        Event(0.31, "limit", "b"),
    ]


@pytest.mark.parametrize("name", ["planar-2r", "five-bar"])
def test_a_move_in_degrees_is_told_of_radians(name):
    """It ends in different ways; a shorter step does not help against any of them."""
    robot = tf.load(name)
    move = tf.motion.JointMove(robot.positions.coordinates(robot.positions.default), [90.0, 45.0], 1.0)
    with pytest.raises(tf.DivergenceError) as caught:
        tf.simulate(robot, tf.control.ComputedTorque(robot), move, control_period=0.01)
    first = robot.coordinates[0].name
    assert f"{first} of the motion goes to 90 rad, at up to 1" in str(caught.value)
    assert "If these are degrees, give radians: numpy.radians" in str(caught.value)
    assert "shorter step" not in str(caught.value)


def test_a_platform_that_turns_in_degrees_is_told_of_radians():
    rig = tf.load("motion-rig")
    for angle, remedy in ((20.0, "numpy.radians"), (1.6, "Use LegSpaceComputedTorque")):
        move = tf.motion.PoseMotion(tf.motion.JointMove([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, angle, 0], 1.0))
        with pytest.raises(tf.ModelError, match=f"motion: theta_y reaches {angle:g} rad, .*{remedy}"):
            tf.simulate(rig, tf.control.ComputedTorque(rig), move)


def test_limits_between_kept_rows_are_still_events():
    arm = tf.load("planar-2r").replace(limits=[(-0.05, 3.0), None], gravity=(0, 0, 0))
    options = {"initial": ([0.0, 0.0], [-1.0, 0.0]), "duration": 0.2}
    law = lambda t, q, qd: [200.0 if q[0] < -0.02 else 0.0, 0.0]  # noqa: E731
    runs = [tf.simulate(arm, law, record_every=every, **options) for every in (1, 200)]
    assert runs[0].events == runs[1].events
    assert len(runs[1].time) == 2
