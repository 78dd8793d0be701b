"""Rollouts equal single simulations, row by row; leg-space control."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.strategies import random_arm
from tauforge.control import (
    PD,
    AdaptiveComputedTorque,
    ComputedTorque,
    FeedforwardPD,
    GravityPD,
    LegSpaceComputedTorque,
    ResolvedRate,
)

SAME = 1e-12  # the same steps by another order of operations
LEGS_FOUND = 1e-9  # through solves with H, and poses that an iteration finds


pytestmark = pytest.mark.usefixtures("kernels_on")


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
    got = tf.rollout(
        ARM, law, MOVE, initial=tuple(start), step=2e-3, control_period=0.01, varying=varying, progress=shares.append
    )
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


def test_a_rollout_is_short_to_print():
    arm = tf.load("planar-2r")
    start = np.array([[0.1, 0.2], [0.0, 0.0]])
    runs = tf.rollout(arm, initial=(start, np.zeros((2, 2))), duration=0.01, control_period=1e-3)
    assert repr(runs) == "Rollout(2 runs, 11 instants, 0.01 s)"
    lost = replace(runs, position=np.where(np.arange(2)[:, None, None] == 1, np.nan, runs.position))
    assert repr(lost) == "Rollout(2 runs, 11 instants, 0.01 s, 1 not finite)"


def test_a_rollout_is_no_tuple_of_its_arrays():
    """`runs[1]` would be the positions of all rows, and not row 1."""
    runs = tf.rollout(ARM, initial=(np.zeros((2, 3)), np.zeros(3)), duration=0.01, control_period=0.01)
    with pytest.raises(TypeError, match="not subscriptable"):
        runs[1]
    with pytest.raises(TypeError):
        iter(runs)
    with pytest.raises(FrozenInstanceError):
        runs.position = np.zeros(3)
    assert runs != replace(runs)  # as arrays are not compared


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
        tf.rollout(ARM, ComputedTorque(ARM), MOVE, **{"control_period": 0.01} | options)


ARM_LAWS = {
    "pd": PD(ARM, [300, 400, 200], [30, 40, 20]),
    "gravity": GravityPD(ARM, 300.0, 30.0),
    "feedforward": FeedforwardPD(ARM, np.diag([300.0, 400, 200]) + 5.0, 30.0),
    "adaptive": AdaptiveComputedTorque(ARM, period=0.01),
}


@pytest.mark.parametrize("name", ARM_LAWS)
def test_every_law_of_an_arm(name):
    """Payloads that the law does not know of, one for each row."""
    rng = np.random.default_rng(2)
    law = ARM_LAWS[name]
    payload = tf.Payload(rng.uniform(0, 2, 4), rng.normal(size=(4, 3)) * 0.1, np.stack([np.eye(3) * 0.01] * 4))
    got = tf.rollout(ARM, law, MOVE, step=2e-3, control_period=0.01, payload=payload)
    for k in range(4):
        held = ARM.carrying(tf.Payload(payload.mass[k], payload.com[k], payload.inertia[k]))
        one = tf.simulate(ARM, law, MOVE, plant=held, step=2e-3, control_period=0.01)
        for quantity in ("position", "velocity", "force"):
            mine, theirs = getattr(got, quantity)[k], getattr(one, quantity)[::5]
            assert np.abs(mine - theirs).max() < SAME * (1 + np.abs(theirs).max()), quantity


def test_payloads_on_top_of_varying_masses():
    """One row has both, and equals the arm that carries it."""
    masses = np.array([[j.mass for j in ARM.joints], [2 * j.mass for j in ARM.joints]])
    payload = tf.Payload(1.5, (0.1, 0.2, -0.1))
    got = tf.rollout(
        ARM, ComputedTorque(ARM), MOVE, step=2e-3, control_period=0.01, varying={"mass": masses}, payload=payload
    )
    for k in range(2):
        plant = ARM.replace(mass=masses[k]).carrying(payload)
        one = tf.simulate(ARM, ComputedTorque(ARM), MOVE, plant=plant, step=2e-3, control_period=0.01)
        assert np.abs(got.position[k] - one.position[::5]).max() < SAME


def test_a_tool_that_follows_a_line():
    arm = tf.load("puma560").without_friction()
    q = np.array([0.1, 0.5, -0.6, 0.2, 0.7, 0.1])
    tool = arm.forward_kinematics(q)
    angles = Rotation.from_matrix(tool[:3, :3]).as_euler("xyz")  # R = Rz Ry Rx
    start = np.r_[tool[:3, 3], angles]
    line = tf.motion.PoseMotion(tf.motion.JointMove(start, start + [0.02, -0.01, 0.03, 0, 0, 0.05], 0.2))
    starts = (q + np.random.default_rng(3).normal(size=(3, 6)) * 0.01, np.zeros((3, 6)))
    law = ResolvedRate(arm)
    got = tf.rollout(arm, law, line, initial=starts, step=2e-3, control_period=0.01)
    assert np.isnan(got.target_position).all()  # the target is of the tool
    for k in range(3):
        one = tf.simulate(arm, law, line, initial=(starts[0][k], starts[1][k]), step=2e-3, control_period=0.01)
        assert np.abs(got.position[k] - one.position[::5]).max() < SAME


RIG = tf.load("motion-rig")
RIG_MOVE = tf.motion.PoseMotion(tf.motion.JointMove([0, 0, 1.0, 0, 0, 0], [0.05, 0, 1.05, 0, 0.1, 0], 0.1))
RIG_LAWS = {
    "computed torque": ComputedTorque(RIG),
    "leg space": LegSpaceComputedTorque(RIG, resolution=1e-6),
    "pd": GravityPD(RIG, 1e5, 1e4),
}


@pytest.mark.parametrize("name", RIG_LAWS)
def test_platforms(name):
    """Initial poses, loads and gravity vary."""
    rng = np.random.default_rng(4)
    law = RIG_LAWS[name]
    start = RIG_MOVE.sample(0.0).position + rng.normal(size=(3, 6)) * 2e-3
    varying = {"platform_mass": RIG.platform_mass * rng.uniform(0.8, 1.2, 3), "gravity": rng.normal(size=(3, 3)) * 3}
    got = tf.rollout(RIG, law, RIG_MOVE, initial=(start, np.zeros(6)), step=5e-3, control_period=0.01, varying=varying)
    for k in range(3):
        plant = RIG.replace(**{field: value[k] for field, value in varying.items()})
        one = tf.simulate(
            RIG, law, RIG_MOVE, initial=(start[k], np.zeros(6)), plant=plant, step=5e-3, control_period=0.01
        )
        for quantity in ("position", "velocity", "force"):
            mine, theirs = getattr(got, quantity)[k], getattr(one, quantity)[::2]
            assert np.abs(mine - theirs).max() < LEGS_FOUND * (1 + np.abs(theirs).max()), quantity


@pytest.mark.filterwarnings("ignore::tauforge.errors.UnstableLoopWarning")  # gains too large on purpose
def test_a_row_that_runs_away_spoils_no_other():
    law = PD(ARM, 1e9, 1e9)  # far too stiff for its sampling
    rows = np.array([[0.0, 0, 0], [0.3, 0.1, 0.2]])
    still = tf.motion.JointMove(rows[0], rows[0] + 1e-12, 0.2)
    got = tf.rollout(ARM, law, still, initial=(rows, np.zeros(3)), control_period=0.01)
    assert not got.finite[1]
    starts = np.array([[0, 0, 1.0, 0, 0, 0], [np.nan] * 6])
    quiet = tf.rollout(RIG, ComputedTorque(RIG), RIG_MOVE, initial=(starts, np.zeros(6)), control_period=0.01)
    assert quiet.finite.tolist() == [True, False]
    alone = tf.rollout(RIG, ComputedTorque(RIG), RIG_MOVE, control_period=0.01)
    assert np.array_equal(quiet.position[0], alone.position[0])


class OwnPD(PD):
    """A law that is never compiled."""


@pytest.mark.parametrize("law", [PD, OwnPD])
@pytest.mark.parametrize("kernels", ["1", "0"])
def test_a_singular_row_stops_no_other(monkeypatch, kernels, law):
    """A point mass at the tip has no inertia along a stretched arm; the other row is that of `simulate`."""
    monkeypatch.setenv("TAUFORGE_KERNELS", kernels)
    arm = tf.SerialArm.from_dh(
        joints="RR",
        alpha=[0, 0],
        a=[1.0, 1.0],
        d=[0, 0],
        theta=[0, 0],
        mass=[0.0, 1.0],
        com=np.zeros((2, 3)),
        inertia=np.zeros((2, 3)),
    )
    move = tf.motion.JointMove([0.0, 1.0], [0.1, 1.2], 0.1)
    starts = np.array([[0.0, 0.0], [0.0, 1.0]])
    options = {"step": 0.01, "control_period": 0.01}
    got = tf.rollout(arm, law(arm, 5.0, 1.0), move, initial=(starts, np.zeros(2)), **options)
    assert got.finite.tolist() == [False, True]
    assert np.isnan(got.position[0, 1:]).all()
    one = tf.simulate(arm, law(arm, 5.0, 1.0), move, initial=(starts[1], np.zeros(2)), **options)
    assert np.abs(got.position[1] - one.position).max() < SAME * np.abs(one.position).max()


def test_without_kernels(monkeypatch):
    """The reference answers, for fields that vary and for payloads too."""
    law = ComputedTorque(ARM)
    starts = (np.random.default_rng(5).normal(size=(3, 3)) * 0.1, np.zeros(3))
    compiled = tf.rollout(ARM, law, MOVE, initial=starts, step=2e-3, control_period=0.01)
    fields = {"mass": np.random.default_rng(6).uniform(0.5, 2, (3, 3))}
    held = tf.Payload(np.array([0.1, 0.5, 1.0]), (0, 0, 0.05))
    varied = tf.rollout(ARM, law, MOVE, step=5e-3, control_period=0.01, varying=fields, payload=held)
    monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    arm = ARM.replace()
    plain = tf.rollout(arm, ComputedTorque(arm), MOVE, initial=starts, step=2e-3, control_period=0.01)
    assert np.abs(plain.position - compiled.position).max() < SAME
    slowly = tf.rollout(arm, ComputedTorque(arm), MOVE, step=5e-3, control_period=0.01, varying=fields, payload=held)
    assert np.abs(slowly.position - varied.position).max() < SAME


@pytest.mark.parametrize("most", [1, 600])
def test_arms_too_large_to_be_compiled(monkeypatch, most):
    """The law, the dynamics and the step together, or the dynamics alone: both are asked one after the other."""
    monkeypatch.setattr("tauforge.kernels.cpu.kernel.MAX_NODES", most)
    arm = random_arm(np.random.default_rng(most), "RRR")
    law = ComputedTorque(arm)
    got = tf.rollout(arm, law, MOVE, step=5e-3, control_period=0.01)
    one = tf.simulate(arm, law, MOVE, step=5e-3, control_period=0.01)
    assert np.abs(got.position[0] - one.position[::2]).max() < SAME


def test_rows_are_thinned_and_progress_is_shown(capsys):
    whole = tf.rollout(ARM, ComputedTorque(ARM), MOVE, control_period=0.01)
    thin = tf.rollout(ARM, ComputedTorque(ARM), MOVE, control_period=0.01, record_every=7, progress=True)
    kept = [0, 7, 14, 20]
    assert np.array_equal(thin.time, whole.time[kept])
    for quantity in ("position", "velocity", "force"):
        assert np.array_equal(getattr(thin, quantity), getattr(whole, quantity)[:, kept])
    assert np.array_equal(thin.error, whole.error[:, kept])
    assert "100%" in capsys.readouterr().err


def test_what_rollouts_do_not_take():
    with pytest.raises(TypeError, match=r"rollout\(\) missing 1 required keyword-only argument: 'control_period'"):
        tf.rollout(ARM, ComputedTorque(ARM), MOVE)
    with pytest.raises(tf.UnsupportedFeatureError, match="rollouts need a Controller or None, got") as caught:
        tf.rollout(ARM, lambda *_: np.zeros(3), MOVE, control_period=0.01)
    assert "Subclass tauforge.control.Controller and define force(t, position, velocity, target)" in str(caught.value)
    assert "or use tf.simulate, which takes any callable" in str(caught.value)
    with pytest.raises(tf.UnsupportedFeatureError, match=r"got a JointMove\. The order is robot, controller, motion"):
        tf.rollout(ARM, MOVE, control_period=0.01)
    with pytest.raises(tf.ModelError, match="motion-rig needs a motion of poses"):
        tf.rollout(RIG, ComputedTorque(RIG), MOVE, control_period=0.01)
    with pytest.raises(tf.ShapeError, match="record_every: expected a whole number >= 1, got 0"):
        tf.rollout(ARM, ComputedTorque(ARM), MOVE, control_period=0.01, record_every=0)
    with pytest.raises(tf.ShapeError, match="initial: expected at least one row"):
        tf.rollout(ARM, ComputedTorque(ARM), MOVE, control_period=0.01, initial=(np.zeros((0, 3)), np.zeros(3)))


@pytest.mark.parametrize(
    ("robot", "field", "value", "match"),
    [
        (ARM, "mass", [[1.0, 1, 1], [1, -2.5, 1]], "mass: expected numbers >= 0, got -2.5"),
        (ARM, "com", np.full((2, 3, 3), np.nan), "com: expected finite numbers, got nan"),
        (ARM, "gravity", [[0, 0, -np.inf]], "gravity: expected finite numbers, got -inf"),
        (ARM, "viscous", [[0.1, 0.1, -1e-9]], "viscous: expected numbers >= 0, got -1e-09"),
        (ARM, "gear_ratio", [[1.0, 0.0, 1.0]], "gear_ratio: expected numbers other than 0, got 0.0"),
        (RIG, "platform_mass", [3.0, -1.0], "platform_mass: expected numbers >= 0, got -1.0"),
        (RIG, "universal_axes", np.zeros((1, 6, 3)), "universal_axes: expected axes other than zero, got"),
        (RIG, "friction", [[0, -1.0, 0]], "friction: expected numbers >= 0, got -1.0"),
    ],
)
def test_numbers_that_no_robot_has(robot, field, value, match):
    """What a description refuses a rollout refuses too, before anything runs; gravity and centres may be negative."""
    move = MOVE if robot is ARM else RIG_MOVE
    with pytest.raises(tf.ShapeError, match=match):
        tf.rollout(robot, ComputedTorque(robot), move, control_period=0.01, varying={field: np.array(value)})


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
    coarse = tf.simulate(rig, LegSpaceComputedTorque(rig, resolution=2**-12), move, step=5e-3, control_period=5e-3)
    assert 1e-5 < np.abs(coarse.error).max() < 5e-3
    with pytest.raises(tf.ModelError, match=f"LegSpaceComputedTorque needs a robot with legs; serial arm {ARM.name}"):
        LegSpaceComputedTorque(ARM)
