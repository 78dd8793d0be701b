"""Simulation: orders of the integrators, energies, events, sensors, files."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from strategies import random_arm
from tauforge.algebra.rotations import Quaternion
from tauforge.algebra.vectors import Vector
from tauforge.simulation import Recording, Sensors
from tauforge.simulation.state import PlatformState

RELATIVE_DRIFT = 1e-9  # of the adaptive method over 10 s
ORDER = 0.1  # how far a measured order may be from the method's


@pytest.fixture(autouse=True)
def kernels_on(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("TAUFORGE_KERNELS", "1")
    monkeypatch.setenv("TAUFORGE_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def energy(robot, recording):
    return np.add(*robot.energy(recording.position, recording.velocity))


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


@pytest.mark.fault(21)
def test_energy_of_a_free_arm():
    arm = ARM.replace(gravity=(0, 0, 0))
    recording = tf.simulate(arm, initial=START, duration=10.0, step=0.05, method="dormand-prince")
    total = energy(arm, recording)
    assert np.abs(total / total[0] - 1).max() < RELATIVE_DRIFT
    falling = random_arm(np.random.default_rng(5), "RRR")
    recording = tf.simulate(
        falling, initial=(np.zeros(3), np.ones(3)), duration=10.0, step=0.05, method="dormand-prince"
    )
    total, kinetic = energy(falling, recording), falling.energy(recording.position, recording.velocity)[0]
    assert np.abs(total - total[0]).max() < RELATIVE_DRIFT * kinetic.max()


def test_symplectic_errors_do_not_pile_up():
    """The energy swings within a band that halving the step quarters, and does not run off."""
    arm = random_arm(np.random.default_rng(6), "RR")
    bands = []
    for step in (0.02, 0.01):
        recording = tf.simulate(arm, initial=([0.3, -0.4], [0.5, 0.2]), duration=8.0, step=step, method="symplectic")
        total = energy(arm, recording)
        half = len(total) // 2
        early, late = (np.ptp(total[part]) for part in (slice(0, half), slice(half, None)))
        assert late < 2 * early
        bands.append(np.ptp(total))
    assert 3 < bands[0] / bands[1] < 5.5


def test_a_platform_turns_as_a_rotation():
    """Through theta_y = a quarter turn, where angles fail: a weightless platform spinning about y."""
    space = PlatformState(tf.load("motion-rig"))
    y = space.pack(np.array([0, 0, 1, 0.2, 1.5, -0.1]), np.array([0, 0, 0, 0, 1.0, 0]))
    start = space.position(y)
    assert np.allclose(start, [0, 0, 1, 0.2, 1.5, -0.1])
    from tauforge.simulation.integrators import rk4

    for _ in range(200):
        y = space.renewed(rk4(lambda _, x: space.rates(x, np.zeros(6)), 0.0, y, 2 * np.pi / 200))
    assert np.allclose(space.position(y), start, atol=1e-6)  # once around, by 200 steps of order 4


def test_a_puma_with_all_its_friction_finishes():
    """One second of motion in under a second: a known toolbox does not finish it in 100 s."""
    arm = tf.load("puma560").replace(coulomb_speed=0.01)
    tf.simulate(arm, initial=(np.zeros(6), np.zeros(6)), duration=0.01)
    start = time.perf_counter()
    recording = tf.simulate(arm, initial=(np.array([0, 0.5, -0.5, 0.2, 0.3, 0]), np.zeros(6)), duration=1.0)
    assert time.perf_counter() - start < 1.0
    assert np.isfinite(recording.position).all()
    lost = np.diff(energy(arm, recording))
    assert lost.max() < 1e-9 * np.abs(energy(arm, recording)).max()  # friction only takes


def test_unsmoothed_friction_is_refused():
    with pytest.raises(tf.ModelError, match=r"puma560 has Coulomb friction.*replace\(coulomb_speed=0.01\)"):
        tf.simulate(tf.load("puma560"), initial=(np.zeros(6), np.zeros(6)), duration=0.1)


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
    assert ("force limit", "1") in kinds
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
    q, v = sensors.read(np.array([0.1, 0.2]), np.array([1.0, 2.0]))
    assert np.abs(q - [0.1, 0.2]).max() <= sensors.resolution / 2
    assert np.allclose(q / sensors.resolution, np.round(q / sensors.resolution))
    assert v.tolist() == [1.0, 2.0]
    noisy = Sensors(position_noise=0.01, velocity_noise=0.1, seed=4)
    first = noisy.read(np.zeros(1000), np.zeros(1000))
    noisy.reset()
    again = noisy.read(np.zeros(1000), np.zeros(1000))
    assert np.array_equal(first[0], again[0])
    assert abs(np.std(first[0]) / 0.01 - 1) < 0.1
    for options, match in (
        ({"bits": 0}, "bits"),
        ({"bits": 2.5}, "bits"),
        ({"position_noise": -1.0}, "position_noise"),
    ):
        with pytest.raises(tf.ModelError, match=match):
            Sensors(**options)


def test_recordings_survive_files(tmp_path):
    arm = tf.load("planar-2r").replace(limits=[(-0.01, 3.0), None])
    motion = tf.motion.JointMove([0, 0], [0.2, -0.1], 0.1)
    recording = tf.simulate(arm, tf.control.ComputedTorque(arm), motion, step=0.01)
    recording.save(tmp_path / "run.npz")
    assert Recording.load(tmp_path / "run.npz") == recording
    recording.save(tmp_path / "run.csv")
    read = Recording.load(tmp_path / "run.csv")
    assert replace(read, names=recording.names, force_names=recording.names, robot=recording.robot) == recording
    rig = tf.load("motion-rig")
    hold = (np.array([0, 0, 1.0, 0.1, 0, 0]), np.zeros(6))
    hung = tf.simulate(rig, lambda *_: np.full(6, 400.0), initial=hold, duration=0.01)
    hung.save(tmp_path / "run.csv")
    read = Recording.load(tmp_path / "run.csv")
    assert replace(read, force_names=hung.force_names, robot=hung.robot, events=hung.events) == hung
    recording.save(tmp_path / "run.csv")
    back = tf.motion.Sampled.from_csv(tmp_path / "run.csv", ["q1", "q2"])
    assert np.array_equal(back.sample(recording.time).position[0], recording.position[0])
    assert np.abs(back.sample(recording.time).position - recording.position).max() < 1e-15
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.csv", "run.npz"]
    with pytest.raises(tf.ModelError, match=r"unknown suffix '.txt'.*npz or .csv"):
        recording.save(tmp_path / "run.txt")
    with pytest.raises(tf.ModelError, match="cannot be written"):
        recording.save(tmp_path / "nowhere" / "run.npz")
    whole = (tmp_path / "run.npz").read_bytes()
    for damaged in (b"nothing", b"", whole[: len(whole) // 2], whole[:300] + b"\x00" * 40 + whole[340:]):
        (tmp_path / "bad.npz").write_bytes(damaged)
        with pytest.raises(tf.ModelError, match="is not a recording"):
            Recording.load(tmp_path / "bad.npz")


def test_recordings_as_xarray():
    arm = tf.load("planar-2r").replace(limits=[(-0.01, 0.05), None])
    recording = tf.simulate(
        arm, tf.control.ComputedTorque(arm), tf.motion.JointMove([0, 0], [0.2, -0.1], 0.1), step=0.01
    )
    data = recording.to_xarray()
    assert np.array_equal(data.position.sel(coordinate="joint2"), recording.position[:, 1])
    assert np.array_equal(data.force.sel(actuator="joint1", time=0.05), recording.force[5, 0])
    assert data.velocity.attrs["units"] == ["rad/s", "rad/s"]
    assert data.attrs["robot"] == "planar-2r"
    assert "limit of joint1" in data.attrs["events"][0]


def test_recordings_are_drawn(tmp_path):
    arm = tf.load("planar-2r")
    recording = tf.simulate(arm, tf.control.ComputedTorque(arm), tf.motion.JointMove([0, 0], [0.2, -0.1], 0.1))
    figure = recording.plot(["position", "error", "force"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["position, rad", "error, rad", "force, N m"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["joint1", "joint2"]
    assert recording.plot(["velocity"]).axes[0].get_ylabel() == "velocity, rad/s"
    assert all(len(axes.lines) == 2 for axes in figure.axes)
    figure.savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("time [s],a [m]\n0,1\n1,x\n", "row 3, column a: expected a number, got 'x'"),
        ("time [s],a [m]\n0,1\n0,2\n", "row 3, column time: times must increase"),
        ("time [s],b [m]\n0,1\n1,2\n", "row 1: no column 'a'.*There are: time, b"),
        ("time [s],a [m]\n0,1\n", "at least two rows"),
    ],
)
def test_bad_files_of_motions(tmp_path, text, match):
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(tf.ModelError, match=match):
        tf.motion.Sampled.from_csv(path, ["a"])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "initial: where does it start"),
        ({"initial": START}, "duration: how long"),
        ({"initial": ([0.0], [0.0]), "duration": 1.0}, "initial position: expected 4 finite numbers"),
        ({"initial": START, "duration": 1.0, "step": 0.3}, "duration: expected a whole number of steps of 0.3 s"),
        ({"initial": START, "duration": 1.0, "control_period": 0.0015}, "control_period: expected a whole number"),
        ({"initial": START, "duration": 1.0, "method": "euler"}, "method: expected one of rk4"),
        ({"initial": START, "duration": 1.0, "force_limits": "mine"}, "force_limits: expected 4 numbers, 'robot'"),
        ({"initial": START, "duration": 1.0, "force_limits": 0.0}, "force_limits: expected numbers > 0"),
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
    with pytest.raises(tf.UnsupportedFeatureError, match="symplectic method is for arms"):
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


def test_a_singular_pose_ends_a_run_with_an_event():
    """Dasgupta's path III: det H changes its sign at t = 3.6705041 s; the run ends there, not with nonsense."""
    platform = tf.load("dasgupta1998")
    ends = [0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0]
    path = tf.motion.StraightLine(*ends, 6.0, 0.2, 0.08)
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
    path = tf.motion.StraightLine([0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0], 6.0, 0.2, 0.08)
    from tauforge.analysis.singularity import crossings

    pose = path.sample(crossings(box, lambda t: path.sample(t).position, 3.0, 4.0)[0].time).position
    still = tf.motion.PoseMotion(tf.motion.JointMove(pose, pose, 0.1))
    with pytest.raises(tf.SingularityError, match="condition number"):
        tf.simulate(box, tf.control.ComputedTorque(box), still)


def test_thinned_recordings():
    whole = tf.simulate(ARM, initial=START, duration=0.1)
    thin = tf.simulate(ARM, initial=START, duration=0.1, record_every=7)
    assert np.array_equal(thin.time, whole.time[::7])
    for name in ("position", "velocity", "acceleration", "force"):
        assert np.array_equal(getattr(thin, name), getattr(whole, name)[::7])
    with pytest.raises(tf.ShapeError, match="record_every: expected a whole number >= 1, got True"):
        tf.simulate(ARM, initial=START, duration=0.1, record_every=True)


def test_limits_between_kept_rows_are_still_events():
    arm = tf.load("planar-2r").replace(limits=[(-0.05, 3.0), None], gravity=(0, 0, 0))
    options = {"initial": ([0.0, 0.0], [-1.0, 0.0]), "duration": 0.2}
    law = lambda t, q, qd: [200.0 if q[0] < -0.02 else 0.0, 0.0]  # noqa: E731
    runs = [tf.simulate(arm, law, record_every=every, **options) for every in (1, 200)]
    assert runs[0].events == runs[1].events
    assert len(runs[1].time) == 2


DOUBLE_PENDULUM = tf.SerialArm.from_dh(
    joints="RR",
    alpha=[0, 0],
    a=[1, 1],
    d=[0, 0],
    mass=[1, 1],
    com=[(0, 0, 0), (0, 0, 0)],
    inertia=[(0, 0, 0)] * 2,
    gravity=(0, -9.81, 0),
)
SWING = ([0.5, 0.8], [0.0, 0.0])


def drift(robot, positions, velocities):
    kinetic, potential = robot.energy(positions, velocities)
    return np.abs(kinetic + potential - kinetic[0] - potential[0]).max() / kinetic.max()


@pytest.mark.fault(21)
def test_energy_drift_beside_scipys():
    """A double pendulum: at most ten times SciPy's drift at the same tolerance, and 1e-6 by our default."""
    from scipy.integrate import solve_ivp

    from tauforge.simulation.integrators import ABSOLUTE, RELATIVE

    duration = min(2.0 * SOAK, 100.0)

    def rates(_, y):
        return np.r_[y[2:], DOUBLE_PENDULUM.forward_dynamics(y[:2], y[2:], np.zeros(2))]

    options = {"method": "DOP853", "rtol": RELATIVE, "atol": ABSOLUTE}
    theirs = solve_ivp(rates, (0, duration), np.ravel(SWING), **options).y.T
    scipys = drift(DOUBLE_PENDULUM, np.ascontiguousarray(theirs[:, :2]), np.ascontiguousarray(theirs[:, 2:]))
    adaptive = tf.simulate(DOUBLE_PENDULUM, initial=SWING, duration=duration, step=0.01, method="dormand-prince")
    assert drift(DOUBLE_PENDULUM, adaptive.position, adaptive.velocity) < 10 * max(scipys, 1e-15)
    default = tf.simulate(DOUBLE_PENDULUM, initial=SWING, duration=duration)
    assert drift(DOUBLE_PENDULUM, default.position, default.velocity) < 1e-6


@pytest.mark.fault(21)
def test_energy_drift_of_a_platform():
    rig = tf.load("motion-rig").without_friction().replace(gravity=(0, 0, 0))
    start = (np.array([0, 0, 1.0, 0.1, -0.1, 0.2]), np.array([0.1, -0.05, 0.02, 0.2, 0.1, -0.3]))
    run = tf.simulate(rig, initial=start, duration=0.2)
    assert drift(rig, run.position, run.velocity) < 1e-6


@pytest.mark.fault(21)
def test_a_step_too_long_is_said():
    with pytest.warns(tf.EnergyDriftWarning, match=r"drifts by .* take a shorter step"):
        tf.simulate(DOUBLE_PENDULUM, initial=SWING, duration=2.0, step=0.02)


@pytest.mark.fault(22)
def test_long_runs():
    """Legs still meet the platform, and memory does not grow; ten million steps in a full soak."""
    rig = tf.load("motion-rig")
    worlds, periods, substeps = 200, min(20 * SOAK, 1000), 50
    home = np.array([0, 0, 1.0, 0.1, -0.1, 0.2])
    start = home + np.random.default_rng(0).normal(size=(worlds, 6)) * 0.01
    law = tf.control.GravityPD(rig, 5e3, 1e3)

    def after(periods):
        still = tf.motion.PoseMotion(tf.motion.JointMove(home, home, periods * substeps * 1e-3))
        return tf.rollout(
            rig, law, still, initial=(start, np.zeros(6)), control_period=substeps * 1e-3, record_every=periods
        )

    after(2)
    tracemalloc.start()
    try:
        sizes = []
        for count in (periods // 2, periods):
            run = None
            tracemalloc.reset_peak()
            run = after(count)
            sizes.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    assert sizes[1] < 1.01 * sizes[0]  # twice the steps, the same memory
    pose = run.position[:, -1]
    assert run.finite.all()
    y = PlatformState(rig).pack(pose, run.velocity[:, -1])
    rotation = Quaternion(*y.T[3:7]).rotation()
    joints = pose[:, None, :3] + np.stack(
        [np.stack(list(rotation @ Vector(*point)), axis=-1) for point in rig.platform_points], axis=1
    )
    lengths = np.linalg.norm(joints - np.array(rig.base_points), axis=-1)
    assert np.abs(lengths - rig.inverse_kinematics(pose)).max() < 1e-10  # m


def test_friction_sticks_and_slips():
    """A block on a spring whose end is drawn along: it sticks but for a creep, breaks away at the friction force, and
    what friction takes is what the spring gives.
    """
    creep, coulomb, stiffness, pull = 2e-4, 10.0, 100.0, 0.05
    block = tf.SerialArm.from_dh(
        joints="P",
        alpha=[0],
        a=[0],
        d=[0],
        mass=[2.0],
        com=[(0, 0, 0)],
        inertia=[(0, 0, 0)],
        gravity=(0, 0, 0),
        coulomb=[(coulomb, coulomb)],
        coulomb_speed=creep,
    )

    def spring(t, q, qd):
        return stiffness * (pull * t - q)

    run = tf.simulate(block, spring, initial=([0.0], [0.0]), duration=3.0, step=1e-3, method="dormand-prince")
    t, x, v, force = run.time, run.position[:, 0], run.velocity[:, 0], run.force[:, 0]
    sticks = t < 0.95 * coulomb / (stiffness * pull)
    assert np.abs(v[sticks]).max() < 2 * creep  # tanh(v / creep) = 0.95 at 1.83 creep
    assert np.abs(x[sticks]).max() < 2 * creep * t[sticks][-1]
    assert v[t > 2.2].max() > pull  # it slips, faster than it is drawn
    released = t[np.argmax(v > 10 * creep)]
    assert abs(released - coulomb / (stiffness * pull)) < 0.05
    given = np.trapezoid(force * v, t)
    taken = np.trapezoid(coulomb * np.tanh(v / creep) * v, t)
    assert abs(given - taken - v[-1] ** 2) < 1e-3 * given  # m v^2 / 2 with m = 2; the trapezoids' error
