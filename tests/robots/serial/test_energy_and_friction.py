"""Energy, friction and long runs: nothing is gained, nothing grows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.cpu_time import quickest
from support.strategies import random_arm
from tauforge.algebra.rotations import Quaternion
from tauforge.algebra.vectors import Vector

RELATIVE_DRIFT = 1e-9  # of the adaptive method over 10 s


pytestmark = pytest.mark.usefixtures("kernels_on")  # long runs, minutes each on the reference


ARM = random_arm(np.random.default_rng(3), "RPRR")
START = (np.array([0.3, -0.2, 0.5, 0.1]), np.array([0.5, 0.1, -0.4, 0.3]))


def energy(robot, recording):
    return np.add(*robot.energy(recording.position, recording.velocity))


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
    with pytest.warns(tf.EnergyDriftWarning, match=r"drifts by .* Take a shorter step"):
        tf.simulate(DOUBLE_PENDULUM, initial=SWING, duration=2.0, step=0.02)


@pytest.mark.fault(22)
def test_long_runs():
    """Legs still meet the platform, and memory does not grow; ten million steps in a full soak."""
    rig = tf.load("motion-rig")
    worlds, periods, substeps = 200, min(100 * SOAK, 1000), 50  # half of it is more than the loop makes at once
    home = np.array([0, 0, 1.0, 0.1, -0.1, 0.2])
    start = home + np.random.default_rng(0).normal(size=(worlds, 6)) * 0.01
    law = tf.control.GravityPD(rig, 5e3, 1e3)

    def after(periods):
        still = tf.motion.PoseMotion(tf.motion.JointMove(home, home, periods * substeps * 1e-3))
        return tf.rollout(
            rig, law, still, initial=(start, np.zeros(6)), control_period=substeps * 1e-3, record_every=periods
        )

    tracemalloc.start()
    try:
        after(2)  # what is kept from the first call on is no growth
        sizes = []
        for count in (periods // 2, periods):
            run = None
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            run = after(count)
            sizes.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert sizes[1] < 1.01 * sizes[0]  # twice the steps, the same memory
    pose = run.position[:, -1]
    assert run.finite.all()
    y = rig.state_space.pack(pose, run.velocity[:, -1])
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


def test_a_puma_with_all_its_friction_finishes():
    """About as soon as one without friction, where a known toolbox does not finish one second of motion in 100 s."""
    arm = tf.load("puma560").replace(coulomb_speed=0.01)
    start = (np.array([0, 0.5, -0.5, 0.2, 0.3, 0]), np.zeros(6))

    def simulated(robot):
        return tf.simulate(robot, initial=start, duration=1.0)

    smooth = arm.without_friction()
    plain, _ = quickest(lambda: simulated(smooth))
    with_friction, recording = quickest(lambda: simulated(arm), 5 * plain)
    assert with_friction < 5 * plain
    lost = np.diff(energy(arm, recording))
    assert lost.max() < 1e-9 * np.abs(energy(arm, recording)).max()  # friction only takes
    assert np.abs(recording.velocity[-1]).max() > 0.01  # it falls all the while


def test_unsmoothed_friction_is_refused():
    with pytest.raises(tf.ModelError, match=r"puma560 has Coulomb friction.*replace\(coulomb_speed=0.01\)"):
        tf.simulate(tf.load("puma560"), initial=(np.zeros(6), np.zeros(6)), duration=0.1)


def test_the_symplectic_method_knows_friction():
    """Second order towards the same motion as the other methods', friction included."""
    arm = random_arm(np.random.default_rng(6), "RR").replace(viscous=[0.4, 0.3])
    start = ([0.3, -0.4], [0.5, 0.2])
    exact = tf.simulate(arm, initial=start, duration=0.5, step=0.1, method="dormand-prince").position[-1]
    errors = [
        np.abs(tf.simulate(arm, initial=start, duration=0.5, step=h, method="symplectic").position[-1] - exact).max()
        for h in (0.01, 0.005)
    ]
    assert 3.5 < errors[0] / errors[1] < 4.5
    free = tf.simulate(arm.without_friction(), initial=start, duration=0.5, step=0.005, method="symplectic")
    assert np.abs(free.position[-1] - exact).max() > 100 * errors[1]
