"""Control laws: the error equation, the paper's study of a PUMA, what a wrong model costs, what adaptation mends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.strategies import random_arm
from support.tolerances import error, solve_tolerance
from tauforge.control import (
    PD,
    AdaptiveComputedTorque,
    ComputedTorque,
    FeedforwardPD,
    GravityPD,
    LegSpaceComputedTorque,
    ResolvedRate,
)
from tauforge.motion import JointMove, PoseMotion, Sine, pose_rates

ONE_BIT = 4.26e-4  # rad, of a 12-bit converter, in Lee's words
ERROR_EQUATION = 1e-8
SEARCHED = 1e-10  # forces at a pose that was found from lengths


pytestmark = pytest.mark.usefixtures("as_installed")


def lees_angles(degrees):
    """The paper's joint angles in the frames of our PUMA; its own frames are not printed, these are inferred."""
    q = np.array(degrees, float)
    return np.deg2rad([q[0] - 180, q[1] + 180, q[2] + 180, q[3] + 180, -q[4], q[5]])


START, END = lees_angles((90, 0, 90, 0, 0, 0)), lees_angles((45, 30, 0, 45, 60, 90))
PUMA = tf.load("puma560").without_friction().replace(limits=[None] * 6)


def study(duration, period=0.01, plant=None, controller=None):
    motion = JointMove(START, END, duration)
    law = ComputedTorque(PUMA, kp=100.0, kv=20.0) if controller is None else controller
    return tf.simulate(PUMA, law, motion, step=period / 10, control_period=period, plant=plant)


def test_lees_study_of_the_puma():
    """Kp = 100, Kv = 20, 0.01 s. With rotors within one bit for a move of 3 s, beyond it for one of 1 s; the paper's
    arm, which has none, within it for 7 s, beyond it for 3 s.
    """
    assert np.abs(study(3.0).error).max() < ONE_BIT
    assert np.abs(study(1.0).error).max() > ONE_BIT
    bare = PUMA.without_rotors()
    law = ComputedTorque(bare, kp=100.0, kv=20.0)
    assert np.abs(study(7.0, plant=bare, controller=law).error).max() < ONE_BIT
    assert np.abs(study(3.0, plant=bare, controller=law).error).max() > ONE_BIT


def test_the_error_of_a_held_command():
    """Between two samples the wanted acceleration is late by half a period on average: e ~ jerk period / (2 Kp)."""
    for duration, period in ((2.0, 0.01), (2.0, 0.005), (4.0, 0.01)):
        t = np.linspace(0, duration, 2001)
        jerk = np.abs(np.gradient(JointMove(START, END, duration).sample(t).acceleration, t, axis=0)).max()
        estimate = jerk * period / 2 / 100.0
        measured = np.abs(study(duration, period).error).max()
        assert 0.1 * estimate < measured < 3 * estimate


def follows_the_error_equation(robot, motion, initial, error_of):
    kp, kv = 100.0, 20.0
    recording = tf.simulate(
        robot, ComputedTorque(robot, kp, kv), motion, initial=initial, step=0.01, method="dormand-prince", duration=0.5
    )
    e, e_dot = error_of(recording)
    n = e.shape[1]
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-kp * np.eye(n), -kv * np.eye(n)]])
    step = expm(A * 0.01)
    state, expected = np.concatenate([e[0], e_dot[0]]), []
    for _ in recording.time:
        expected.append(state[:n])
        state = step @ state
    assert np.abs(e[0]).max() > 0.01  # there is something to die out
    assert np.abs(e - expected).max() < ERROR_EQUATION


def test_the_closed_loop_of_an_arm():
    rng = np.random.default_rng(0)
    arm = random_arm(rng, "RPRR", drives=True).replace(coulomb_speed=0.05)
    start, end, off = rng.normal(size=(3, 4)) * 0.3

    def error_of(r):
        return r.error, r.target_velocity - r.velocity

    follows_the_error_equation(arm, JointMove(start, end, 1.0), (start + off, 0.2 * off), error_of)


def test_the_closed_loop_of_a_platform():
    """In x, y, z and the angles, friction and all."""
    platform = tf.load("motion-rig")
    numbers = Sine([0, 0, 1.1, 0, 0, 0], [0.05, 0.03, 0.05, 0.1, 0.08, 0.1], 0.5, 2.0)

    def error_of(r):
        rates = [pose_rates(p, v)[0] for p, v in ((r.target_position, r.target_velocity), (r.position, r.velocity))]
        return r.error, rates[0] - rates[1]

    start = PoseMotion(numbers).sample(0.0)
    off = np.array([0.02, -0.03, 0.02, 0.05, -0.04, 0.06])
    follows_the_error_equation(platform, PoseMotion(numbers), (start.position + off, start.velocity), error_of)


def heavy_puma():
    """Ten per cent more mass than the controller thinks, and a payload of 2 kg that it knows nothing of."""
    return PUMA.replace(mass=[1.1 * joint.mass for joint in PUMA.joints]).carrying(tf.Payload(2.0, (0, 0, 0.05)))


def test_a_wrong_model_costs_and_adaptation_mends():
    plant = heavy_puma()
    error = np.abs(study(3.0, plant=plant).error).max()
    assert 0.02 < error < 0.2  # a hundred times the error of the right model
    motion = Sine((START + END) / 2, (END - START) / 4, 0.4, 10.0)
    fixed = tf.simulate(PUMA, ComputedTorque(PUMA), motion, step=2e-3, control_period=0.01, plant=plant)
    learning = AdaptiveComputedTorque(PUMA, rate=20.0, period=0.01)
    adaptive = tf.simulate(PUMA, learning, motion, step=2e-3, control_period=0.01, plant=plant)
    last = slice(-1000, None)
    assert np.abs(adaptive.error[last]).max() < np.abs(fixed.error[last]).max() / 100
    learnt = learning.parameters
    learning.reset()
    assert not np.array_equal(learnt, learning.parameters)


def test_carrying_equals_a_payload():
    rng = np.random.default_rng(1)
    payload = tf.Payload(1.5, (0.1, -0.2, 0.3), [0.2, 0.3, 0.25])
    q, qd, qdd = rng.normal(size=(3, 5, 6))
    for arm in (PUMA, random_arm(rng, "RPRRPR", "general")):
        assert np.allclose(
            arm.carrying(payload).inverse_dynamics(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd, payload=payload)
        )
    with pytest.raises(tf.ModelError, match="one payload, not a batch"):
        PUMA.carrying(tf.Payload([1.0, 2.0]))


@pytest.mark.parametrize("law", [GravityPD, FeedforwardPD])
def test_simpler_laws_hold_and_follow(law):
    arm = PUMA
    motion = JointMove(START, START + 0.2, 1.0)
    gains = {"kp": [2000, 2000, 1000, 200, 200, 200], "kv": [200, 200, 100, 10, 10, 10]}
    end = tf.simulate(arm, law(arm, **gains), motion, duration=2.0, control_period=1e-3).error[-1]
    plain = tf.simulate(arm, PD(arm, **gains), motion, duration=2.0, control_period=1e-3).error[-1]
    assert np.abs(end).max() < 0.1 * np.abs(plain).max()  # PD alone sags under the arm's weight


def test_pd_in_leg_space():
    platform = tf.load("motion-rig")
    motion = tf.motion.StraightLine([0, 0, 1.0, 0, 0, 0], [0.05, 0, 1.1, 0, 0.05, 0], 1.0, 0.15, 0.08)
    laws = {law: law(platform, kp=4e5, kv=8e3) for law in (PD, GravityPD, FeedforwardPD)}
    errors = {
        law: np.abs(tf.simulate(platform, laws[law], motion, step=2e-3, control_period=2e-3).error).max()
        for law in laws
    }
    assert errors[FeedforwardPD] < errors[GravityPD] < errors[PD] < 0.02


def test_forward_kinematics_in_the_loop():
    """Dasgupta's path I with leg lengths in steps of a micrometre: the steps cost less than the held forces do."""
    platform = tf.load("dasgupta1998")
    path = tf.motion.StraightLine(
        [0.1, 0.0, 0.4, 0, 0, -0.2], [0.3, 0.0, 0.6, 0, 0, 0.2], 6.0, 0.08, 0.08
    )  # about z alone
    errors = {}
    for resolution in (0.0, 1e-6, 1e-4):
        law = LegSpaceComputedTorque(platform, resolution=resolution)
        run = tf.simulate(platform, law, path, step=0.01, control_period=0.01, duration=2.0)
        errors[resolution] = np.abs(run.error).max(axis=0)
    assert errors[0.0][:3].max() < 2e-4  # m
    # A run in steps is chaotic: the cost of the steps is compared with that of holding, and not with a number.
    assert (np.abs(errors[1e-6] - errors[0.0]) < errors[0.0] / 10).all()
    assert (np.abs(errors[1e-4] - errors[0.0]) > errors[0.0] / 10).any()
    with pytest.raises(tf.ModelError, match="resolution: expected a length >= 0, got -1"):
        LegSpaceComputedTorque(platform, resolution=-1)


@pytest.mark.parametrize(
    ("kp", "kv", "match"),
    [
        (-1.0, 20.0, r"kp: condition \(b\)"),
        (100.0, -1.0, r"kv: condition \(a\)"),
        (np.eye(6) + np.eye(6, k=1), 20.0, "kp: condition of stability: the gain matrix must be symmetric"),
        (100.0, [20, 20, 20, 20, 20, 0], r"kv: condition \(c\)"),
        (0.0, 20.0, r"condition \(b\)"),
        ([1.0, 2.0], 20.0, r"kp: expected a number, 6 numbers or a matrix \(6, 6\)"),
        (np.nan, 20.0, "kp: expected a number"),
        ("high", 20.0, "kp: expected a number"),
    ],
)
def test_gains_that_are_refused(kp, kv, match):
    with pytest.raises(tf.ModelError, match=match):
        ComputedTorque(PUMA, kp, kv)


@pytest.mark.parametrize(
    ("law", "field"),
    [
        (lambda: PD(PUMA, -1.0, 1.0), "kp"),
        (lambda: GravityPD(PUMA, 1.0, [1, 1, 1, -0.5, 1, 1]), "kv"),
        (lambda: FeedforwardPD(PUMA, 1.0, np.eye(6) + 3 * np.eye(6, k=1)), "kv"),
        (lambda: ResolvedRate(PUMA, kv=-10.0), "kv"),
        (lambda: AdaptiveComputedTorque(PUMA, -10.0, period=1e-3), "rate"),
        (lambda: AdaptiveComputedTorque(PUMA, damping=-1.0, period=1e-3), "damping"),
    ],
)
def test_gains_that_drive_an_error_away_are_refused(law, field):
    with pytest.raises(tf.ModelError, match=f"^{field}: the gain increases some errors: e' K e must not be negative"):
        law()


def test_gains_of_nothing_and_turning_gains_are_taken():
    """No stiffness, no damping, and matrices that turn an error without feeding it: e' K e is 0."""
    turning = np.zeros((6, 6))
    turning[0, 1], turning[1, 0] = 5.0, -5.0
    assert np.array_equal(PD(PUMA, 0.0, turning).kv, turning)


def test_gains_that_couple():
    """Condition (c) may hold although one joint has no damping of its own: the stiffness passes it on."""

    def slowest(law):
        """The largest real part of the roots of e'' + Kv e' + Kp e = 0."""
        system = np.block([[np.zeros((6, 6)), np.eye(6)], [-law.kp, -law.kv]])
        return np.linalg.eigvals(system).real.max()

    kp = 100 * np.eye(6)
    kp[4, 5] = kp[5, 4] = 30
    kv = np.diag([20.0, 20, 20, 20, 20, 0])
    assert slowest(ComputedTorque(PUMA, kp, kv)) < -0.1
    with pytest.raises(tf.ModelError, match=r"\(c\) of stability: .* must have full rank, or some error is never dam"):
        ComputedTorque(PUMA, 100.0, kv)
    assert abs(slowest(ComputedTorque(PUMA, 100.0, kv, check=False))) < 1e-12


def test_adaptive_control_is_asked_as_often_as_it_learns():
    law = AdaptiveComputedTorque(PUMA, period=0.01)
    for period in (None, 0.02):
        with pytest.raises(
            tf.ModelError, match=f"expected 0.01 s, the period with which the controller learns, got {period}"
        ):
            tf.simulate(PUMA, law, JointMove(START, END, 1.0), step=0.01, control_period=period)


def test_adaptive_control_is_for_arms():
    with pytest.raises(tf.ModelError, match="regressor"):
        AdaptiveComputedTorque(tf.load("motion-rig"), period=0.01)


def test_resolved_rates_follow_a_line_in_space():
    """The tool of a PUMA along a line, orientation kept; then towards a place it cannot reach: it stops where the arm
    is stretched, and no joint is faster than allowed.
    """
    q = np.array([0.3, -0.8, 0.4, 0.2, 0.7, 0.1])
    pose = tool_pose(PUMA, q)
    line = tf.motion.StraightLine(pose, pose + [0.1, -0.15, 0.1, 0, 0, 0], 1.0, 0.3, 1.0)
    law = ResolvedRate(PUMA)
    run = tf.simulate(PUMA, law, line, initial=(q, np.zeros(6)), control_period=1e-3)
    there = np.array([tool_pose(PUMA, x) for x in run.position[::100]])
    wanted = line.sample(run.time[::100]).position
    assert np.abs(there - wanted)[:, :3].max() < 5e-3  # the velocity loop's lag
    assert np.abs(there[-1] - line.end).max() < 5e-3
    far = tf.motion.StraightLine(pose, pose + [3.0, 0, 0, 0, 0, 0], 1.0, 4.0, 1.0)
    stretched = tf.simulate(PUMA, law, far, initial=(q, np.zeros(6)), control_period=1e-3)
    upper, (offset, aside), fore = PUMA.joints[1].dh.a, (PUMA.joints[2].dh.a, PUMA.joints[2].dh.d), PUMA.joints[3].dh.d
    reach = np.hypot(aside, upper + np.hypot(offset, fore))  # from the shoulder, where the base is, to the wrist
    assert abs(np.linalg.norm(tool_pose(PUMA, stretched.position[-1])[:3]) / reach - 1) < 1e-6  # flat near its largest
    assert 0.99 * law.fastest < np.abs(stretched.velocity).max() < 1.001 * law.fastest  # the velocity loop's error
    assert np.abs(stretched.velocity[-1]).max() < 0.02 * law.fastest
    with pytest.raises(tf.ModelError, match="a motion of the tool does not determine the joints"):
        tf.simulate(PUMA, law, line)
    with pytest.raises(
        tf.ModelError, match="ResolvedRate needs a robot with a Jacobian; Stewart platform motion-rig has"
    ):
        ResolvedRate(tf.load("motion-rig"))


def test_the_error_of_a_run_in_space_is_that_of_the_tool(tmp_path):
    """Translation and rotation vector from the tool to its target; recordings keep it, plots and summaries show it."""
    arm = random_arm(np.random.default_rng(8), "RRPRR")  # five joints: the tool lags
    q = np.full(5, 0.4)
    pose = tool_pose(arm, q)
    line = tf.motion.StraightLine(pose, pose + [0.05, -0.1, 0.1, 0.2, 0, 0.1], 0.5, 0.5, 0.7)
    given = {"initial": (q, np.zeros(5)), "control_period": 2e-3, "step": 2e-3}
    run = tf.simulate(arm, ResolvedRate(arm, fastest=50.0), line, **given)
    wanted = line.sample(run.time).position
    for k in (0, 100, 250):
        T, D = arm.forward_kinematics(run.position[k]), Rotation.from_euler("xyz", wanted[k, 3:])
        turn = (D * Rotation.from_matrix(T[:3, :3]).inv()).as_rotvec()
        assert np.abs(run.error[k] - np.r_[wanted[k, :3] - T[:3, 3], turn]).max() < 1e-12
    assert run.error.shape == (251, 6)
    assert np.isnan(run.target_position).all()
    run.save(tmp_path / "run.npz")
    assert tf.Recording.load(tmp_path / "run.npz") == run
    assert "The tool beside its target" in str(run.summary())
    labels = [axes.get_ylabel() for axes in run.plot(["error"]).axes]
    assert labels == ["error, m", "error, rad"]
    rows = tf.rollout(arm, ResolvedRate(arm, fastest=50.0), line, **given)
    assert np.abs(rows.error[0] - run.error).max() < 1e-12
    usual = tf.simulate(arm, ComputedTorque(arm), JointMove(q, q + 0.1, 0.1), control_period=1e-3)
    assert usual.tool_error is None


def tool_pose(arm, q):
    T = arm.forward_kinematics(q)
    return np.r_[T[:3, 3], Rotation.from_matrix(T[:3, :3]).as_euler("xyz")]


def test_full_gain_matrices_are_used_as_they_are():
    """K e, not K' e nor its diagonal: the force is the inverse dynamics of the corrected acceleration."""
    rng = np.random.default_rng(5)
    arm = random_arm(rng, "RRPRRR", drives=True).replace(coulomb_speed=0.1)
    kp, kv = (A @ A.T + 50 * np.eye(6) for A in rng.normal(size=(2, 6, 6)) * 4)
    skew = rng.normal(size=(6, 6))
    q, qd, target = rng.normal(size=6), rng.normal(size=6), JointMove(START, END, 1.0).sample(0.3)
    for Kp, Kv in ((kp, kv), (kp + skew - skew.T, kv + skew)):
        law = ComputedTorque(arm, Kp, Kv, check=False)
        wanted = target.acceleration + Kv @ (target.velocity - qd) + Kp @ (target.position - q)
        expected = arm.inverse_dynamics(q, qd, wanted)
        assert np.abs(law.force(0.3, q, qd, target) - expected).max() < 1e-9 * np.abs(expected).max()
        plain = PD(arm, Kp, Kv).force(0.3, q, qd, target)
        assert np.allclose(plain, Kp @ (target.position - q) + Kv @ (target.velocity - qd))


def test_stability_is_judged_by_eigenvalues():
    """Diagonals that look well on matrices that are not."""
    bad = 10 * np.eye(6)
    bad[0, 1] = bad[1, 0] = 20
    with pytest.raises(tf.ModelError, match=r"kp: condition \(b\)"):
        ComputedTorque(PUMA, bad, 20.0)
    with pytest.raises(tf.ModelError, match=r"kv: condition \(a\)"):
        ComputedTorque(PUMA, 100.0, bad)
    lopsided = 20 * np.eye(6)
    lopsided[0, 1] = 1.0
    with pytest.raises(tf.ModelError, match="kv: condition of stability: the gain matrix must be symmetric"):
        ComputedTorque(PUMA, 100.0, lopsided)
    with pytest.raises(tf.ModelError, match=r"kv: condition \(a\)"):
        LegSpaceComputedTorque(tf.load("motion-rig"), 100.0, -1.0)


FLOATING = tf.Mechanism(
    name="drone",
    bodies=[tf.Body("base", 5.0, (0, 0, 0), np.eye(3) * 0.1), tf.Body("link", 1.0, (0.2, 0, 0), np.eye(3) * 0.02)],
    joints=[tf.Free("float", "ground", "base"), tf.Hinge("elbow", "base", "link", axis=(0, 0, 1), actuated=True)],
)


@pytest.mark.parametrize(
    ("law", "robot", "message"),
    [
        (law, FLOATING, "drone has 7 degrees of freedom and 1 actuator, which cannot give every acceleration. Use PD")
        for law in (GravityPD, FeedforwardPD)
    ]
    + [
        (law, tf.load("mathworks-hexapod"), "mathworks-hexapod has a geometry but no masses")
        for law in (GravityPD, FeedforwardPD, ComputedTorque, LegSpaceComputedTorque)
    ],
)
def test_laws_that_need_forces_of_the_model_say_so_when_they_are_made(law, robot, message):
    with pytest.raises(tf.ModelError, match=f"robot: {law.__name__} needs inverse dynamics; {message}"):
        law(robot, 10.0, 1.0)


def test_actuators_that_work_against_each_other_do_not_suffice():
    """As many actuators as coordinates, and one of these has none: two of the actuators move the same four-bar."""
    bars = tf.load("four-bar")
    hinges = [replace(joint, actuated=joint.name.endswith("pivot")) for joint in bars.joints]
    free = tf.Hinge("pendulum", "ground", "bob", axis=(0, 1, 0))
    bob = tf.Body("bob", 1.0, (0.2, 0, 0), np.eye(3) * 0.02)
    both = bars.replace(bodies=[*bars.bodies, bob], joints=[*hinges, free])
    assert len(both.actuators) == both.n == 2
    for law in (ComputedTorque, ResolvedRate):
        with pytest.raises(
            tf.ModelError, match=r"needs inverse dynamics; four-bar has 2 .* cannot give every accelerat"
        ):
            law(both)


def test_a_proportional_law_of_a_floating_base_needs_no_forces_of_the_model():
    start, end = np.zeros(7), np.r_[np.zeros(6), 0.1]
    run = tf.simulate(FLOATING, PD(FLOATING, 10.0, 1.0), JointMove(start, end, 0.02))
    assert run.force.shape == (21, 1)


def test_gravity_is_held_where_the_robot_is():
    q, target = START + 0.3, JointMove(START, END, 1.0).sample(0.5)
    law = GravityPD(PUMA, 10.0, 1.0)
    plain = PD(PUMA, 10.0, 1.0).force(0.5, q, np.zeros(6), target)
    assert np.allclose(law.force(0.5, q, np.zeros(6), target) - plain, PUMA.gravity_forces(q))


def test_slotine_and_lis_law():
    """Before it has learnt: M qdd_r + C qd_r + g + friction + K s, of the arm's own matrices, rotors included."""
    rng = np.random.default_rng(6)
    arm = random_arm(rng, "RRR", drives=True).replace(coulomb_speed=0.1)
    law = AdaptiveComputedTorque(arm, rate=7.0, damping=2.0, period=1e-3, learning=1e-9)
    q, qd = rng.normal(size=(2, 3))
    target = tf.motion.MotionSample(*rng.normal(size=(3, 3)))
    e, e_dot = target.position - q, target.velocity - qd
    s, reference, slope = e_dot + 7 * e, target.velocity + 7 * e, target.acceleration + 7 * e_dot
    C = arm.coriolis_matrix(q, qd)
    expected = arm.mass_matrix(q) @ slope + C @ reference + arm.bias_forces(q, 0 * qd) + arm.friction_forces(qd) + 2 * s
    assert np.abs(law.force(0.0, q, qd, target) - expected).max() < 1e-8 * np.abs(expected).max()  # what it has learnt
    assert np.abs(C @ (reference - qd)).max() > 1e-3  # the reference velocity matters here


def test_what_slotine_and_lis_law_learns():
    """Their theorem: V = s' M s / 2 + a' G^-1 a / 2, with the plant's M and a the error of the parameters, decreases by
    s' K s. That is of continuous time: the sampled law is off in proportion to its period, so two of them tell.
    """
    arm = random_arm(np.random.default_rng(6), "RRR", drives=True).replace(coulomb_speed=0.1)
    plant = arm.replace(mass=[1.5 * joint.mass for joint in arm.joints])
    move, start = JointMove([0, 0, 0], [0.5, -0.3, 0.4], 0.4), ([0.1, -0.1, 0.05], [0, 0, 0])

    def balance(period):
        law = AdaptiveComputedTorque(arm, rate=7.0, damping=2.0, period=period, learning=0.05)
        run = tf.simulate(arm, law, move, initial=start, step=period / 4, control_period=period, plant=plant)
        wanted = move.sample(run.time)
        s = wanted.velocity - run.velocity + 7 * (wanted.position - run.position)
        kinetic = np.einsum("ki,kij,kj->k", s, plant.mass_matrix(run.position), s)[[0, -1]] / 2
        wrong = np.stack([arm.inertial_parameters, law.parameters]) - plant.inertial_parameters
        unknown = (wrong**2 / (law.learning * law._scale)).sum(axis=1) / 2
        assert unknown[1] != pytest.approx(unknown[0], rel=0.05)  # it learns
        V, damped = kinetic + unknown, 2 * np.trapezoid((s**2).sum(axis=1), run.time)
        return (V[0] - V[1] - damped) / damped

    coarse, fine = balance(1e-3), balance(5e-4)
    assert abs(2 * fine - coarse) < 2e-3 < abs(fine)


def test_resolved_rates_turn_the_tool_too():
    """In the world's axes: J qd is the twist and what brings position and orientation back."""
    q = np.array([0.2, 0.6, -0.8, 0.3, 0.9, -0.2])
    tool = PUMA.forward_kinematics(q)
    turn = Rotation.from_rotvec([0.02, -0.03, 0.01])  # world axes
    wanted = turn.as_matrix() @ tool[:3, :3]
    pose = np.r_[tool[:3, 3] + [0.01, 0, -0.02], Rotation.from_matrix(wanted).as_euler("xyz")]
    twist = np.array([0.1, 0.2, -0.1, 0.3, -0.2, 0.1])
    rates = ResolvedRate(PUMA, gain=5.0, fastest=100.0).rates(q, tf.motion.MotionSample(pose, twist, np.zeros(6)))
    expected = twist + 5 * np.r_[[0.01, 0, -0.02], turn.as_rotvec()]
    assert np.abs(PUMA.jacobian(q) @ rates - expected).max() < 1e-9  # far from singular poses nothing is damped


@pytest.mark.parametrize("damping", [0.05, 0.2])
def test_resolved_rates_are_damped_least_squares_near_singular_poses(damping):
    """(J'J + w I) qd = J' twist with w = damping^2 (1 - (s / damping)^2), s the smallest singular value below it."""
    q = np.array([0.2, 0.6, -0.8, 0.3, 0.02, -0.2])  # the axes of the wrist are nearly in line
    tool = PUMA.forward_kinematics(q)
    pose = np.r_[tool[:3, 3], Rotation.from_matrix(tool[:3, :3]).as_euler("xyz")]
    twist = np.array([0.1, 0.2, -0.1, 0.3, -0.2, 0.1])
    law = ResolvedRate(PUMA, damping=damping, fastest=100.0)
    J = PUMA.jacobian(q)
    smallest = np.linalg.svd(J, compute_uv=False)[-1]
    assert smallest < damping / 2
    normal = J.T @ J + (damping**2 - smallest**2) * np.eye(6)
    rates = law.rates(q, tf.motion.MotionSample(pose, twist, np.zeros(6)))
    assert error(rates, np.linalg.solve(normal, J.T @ twist)) < solve_tolerance(normal)


def test_legs_are_measured_where_they_are():
    """The converters round to the nearest step."""
    rig = tf.load("motion-rig")
    law = LegSpaceComputedTorque(rig, resolution=1e-3)
    pose, still = np.array([0.01, 0, 1.0, 0, 0.02, 0]), np.zeros(6)
    target = tf.motion.MotionSample(pose, still, still)
    asked = law.force(0.0, pose, still, target)
    lengths = rig.inverse_kinematics(pose)
    rounded = np.round(lengths / 1e-3) * 1e-3
    seen = rig.forward_kinematics(rounded, pose)
    acceleration = rig.forward_rates(seen, still, 100 * (lengths - rounded))[1]
    assert np.allclose(asked, rig.inverse_dynamics(seen, still, acceleration))


def test_the_pose_is_searched_from_where_it_was():
    """Below the base there is a pose with the same lengths: a target there does not move the platform there."""
    rig, still = tf.load("motion-rig"), np.zeros(6)
    above = np.array([0.1, -0.05, 1.0, 0, 0, 0.2])
    below = above * [1, 1, -1, 1, 1, 1]
    assert np.array_equal(rig.inverse_kinematics(above), rig.inverse_kinematics(below))
    held, hung = (rig.inverse_dynamics(pose, still, still) for pose in (above, below))
    law = LegSpaceComputedTorque(rig)
    forces = [law.force(0.0, above, still, tf.motion.MotionSample(x, still, still)) for x in (above, below)]
    law.reset()
    forces.append(law.force(0.0, above, still, tf.motion.MotionSample(below, still, still)))
    assert error(forces, [held, held, hung]) < SEARCHED
    assert error(held, hung) > 1
