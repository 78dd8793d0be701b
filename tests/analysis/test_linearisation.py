"""Linearisations are the derivatives of what the robots do."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from tauforge.analysis.linearisation import linearise
from tauforge.motion import pose_rates

STEP = 1e-6
CENTRAL = 1e-6  # of central differences: rounding over the step, beside slopes of all sizes


def by_differences(f, x):
    columns = []
    for k in range(len(x)):
        h = np.eye(len(x))[k] * STEP
        columns.append((f(x + h) - f(x - h)) / (2 * STEP))
    return np.array(columns).T


@pytest.mark.parametrize("seed", range(3))
def test_an_arm(seed):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, "RPRR", drives=True).replace(coulomb_speed=0.5)
    q, qd, tau = rng.normal(size=(3, 4))
    A, B = linearise(arm, q, qd, tau)

    def rates(x):
        return np.r_[x[4:8], arm.forward_dynamics(x[:4], x[4:8], x[8:])]

    expected = by_differences(rates, np.r_[q, qd, tau])
    assert np.abs(np.hstack([A, B]) - expected).max() < CENTRAL * np.abs(expected).max()


@pytest.mark.parametrize("name", ["motion-rig", "dasgupta1998"])
def test_a_platform(name):
    rng = np.random.default_rng(4)
    platform = tf.load(name)
    pose = np.array([0, 0, 1.0, 0, 0, 0] if name == "motion-rig" else [0.2, 0, 0.5, 0, 0, 0]) + rng.uniform(
        -0.05, 0.05, 6
    )
    twist = rng.normal(size=6)
    force = platform.inverse_dynamics(pose, twist, rng.normal(size=6))
    A, B = linearise(platform, pose, twist, force)

    def rates(x):
        return np.r_[pose_rates(x[:6], x[6:12])[0], platform.forward_dynamics(x[:6], x[6:12], x[12:])]

    expected = by_differences(rates, np.r_[pose, twist, force])
    assert np.abs(np.hstack([A, B]) - expected).max() < CENTRAL * np.abs(expected).max()
    assert np.allclose(B[6:], np.linalg.solve(platform.mass_matrix(pose), platform.force_matrix(pose)))


def test_the_poles_of_a_pendulum():
    """Hanging down: a pair on the imaginary axis at sqrt(g m c / I)."""
    arm = tf.SerialArm.from_dh(
        joints="R",
        alpha=[0],
        a=[0.5],
        d=[0],
        mass=[2.0],
        com=[(0, 0, 0)],
        inertia=[(0.1, 0, 0.1)],
        gravity=(0, -9.81, 0),
    )
    A, _ = linearise(arm, [-np.pi / 2], [0.0], [0.0])
    system = linearise(arm, [-np.pi / 2], [0.0], [0.0]).state_space()  # python-control's
    expected = np.sqrt(9.81 * 2.0 * 0.5 / (0.1 + 2.0 * 0.25))
    assert np.allclose(sorted(np.linalg.eigvals(A).imag), [-expected, expected])
    assert np.allclose(sorted(system.poles().imag), [-expected, expected])
    assert system.nstates == system.noutputs == 2
    assert np.allclose(system.dcgain()[0], 1 / (9.81 * 2.0 * 0.5))  # a torque turns it by this, to first order


def test_bad_states():
    with pytest.raises(tf.ShapeError, match="force: expected 2 finite numbers"):
        linearise(tf.load("planar-2r"), [0, 0], [0, 0], [np.nan, 0])
