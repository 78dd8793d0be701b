"""Rollouts equal single simulations, row by row; leg-space control."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from strategies import random_arm
from tauforge.control import ComputedTorque, LegSpaceComputedTorque

SAME = 1e-12  # the same steps by another order of operations


@pytest.fixture(autouse=True)
def kernels_on(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("TAUFORGE_KERNELS", "1")
    monkeypatch.setenv("TAUFORGE_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


ARM = random_arm(np.random.default_rng(0), "RPR", drives=True).replace(coulomb_speed=0.05)
MOVE = tf.motion.JointMove([0, 0, 0], [0.5, 0.2, -0.4], 0.2)


def test_rows_are_single_simulations():
    """Initial states, masses and lengths of the plant vary from row to row."""
    rng = np.random.default_rng(1)
    rows = 5
    law = ComputedTorque(ARM, [100, 80, 60], 20.0)
    start = rng.normal(size=(2, rows, 3)) * 0.05
    varying = {
        "mass": np.array([j.mass for j in ARM.joints]) * rng.uniform(0.8, 1.2, (rows, 3)),
        "a": np.array([j.dh.a for j in ARM.joints]) * rng.uniform(0.9, 1.1, (rows, 3)),
        "gravity": rng.normal(size=(rows, 3)) * 5,
    }
    shares = []
    got = tf.rollout(ARM, law, MOVE, initial=tuple(start), step=2e-3, varying=varying, progress=shares.append)
    assert got.position.shape == (rows, 21, 3)
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    for k in range(rows):
        plant = ARM.replace(**{name: value[k] for name, value in varying.items()})
        one = tf.simulate(
            ARM, law, MOVE, initial=(start[0, k], start[1, k]), plant=plant, step=2e-3, control_period=0.01
        )
        for name in ("position", "velocity", "force"):
            mine, theirs = getattr(got, name)[k], getattr(one, name)[::5]
            assert np.abs(mine - theirs).max() < SAME * (1 + np.abs(theirs).max()), name
        assert np.allclose(got.error[k], one.error[::5], atol=SAME)


def test_without_anything_varying():
    law = ComputedTorque(ARM)
    got = tf.rollout(ARM, law, MOVE, control_period=2e-3, step=2e-3)
    one = tf.simulate(ARM, law, MOVE, step=2e-3, control_period=2e-3)
    assert np.abs(got.position[0] - one.position).max() < SAME


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"varying": {"mass": np.ones((4, 2))}}, r"mass: expected \(N, 3\), got \(4, 2\)"),
        ({"varying": {"colour": np.ones(3)}}, "'colour' cannot vary"),
        ({"varying": {"mass": np.ones((4, 3)), "gravity": np.ones((5, 3))}}, "varying: expected arrays with the same"),
        ({"initial": (np.zeros(2), np.zeros(2))}, "initial: expected"),
        ({"control_period": 0.0015}, "control_period: expected a whole number of steps"),
    ],
)
def test_what_does_not_fit_is_said(options, match):
    with pytest.raises(tf.TauforgeError, match=match):
        tf.rollout(ARM, ComputedTorque(ARM), MOVE, **options)


def test_rollouts_are_for_arms():
    rig = tf.load("motion-rig")
    with pytest.raises(tf.UnsupportedFeatureError, match="rollouts are for arms"):
        tf.rollout(rig, ComputedTorque(rig), MOVE)
    with pytest.raises(tf.UnsupportedFeatureError, match="need a ComputedTorque"):
        tf.rollout(ARM, tf.control.PD(ARM, 1.0, 1.0), MOVE)


def test_leg_space():
    """With a perfect model and continuous control each leg's error follows e'' + Kv e' + Kp e = 0."""
    rig = tf.load("motion-rig")
    move = tf.motion.PoseMotion(tf.motion.JointMove([0, 0, 1.0, 0, 0, 0], [0.05, 0, 1.05, 0, 0.1, 0], 0.5))
    start = move.sample(0.0)
    off = np.array([0.004, -0.003, 0.005, 0.01, -0.008, 0.006])
    law = LegSpaceComputedTorque(rig)
    run = tf.simulate(rig, law, move, initial=(start.position + off, start.velocity), step=5e-3, duration=0.3)
    lengths = [rig.inverse_kinematics(x) for x in (run.target_position, run.position)]
    e = lengths[0] - lengths[1]
    expected = e[0] * ((1 + 10 * run.time) * np.exp(-10 * run.time))[:, None]  # critically damped, from rest
    assert np.abs(e - expected).max() < 1e-6 * np.abs(e[0]).max()  # Runge-Kutta's steps of 5 ms
    coarse = tf.simulate(rig, LegSpaceComputedTorque(rig, bits=12), move, step=5e-3, control_period=5e-3)
    assert 1e-5 < np.abs(coarse.error).max() < 5e-3
    with pytest.raises(tf.ModelError, match="leg space is for Stewart platforms"):
        LegSpaceComputedTorque(ARM)
