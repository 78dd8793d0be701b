"""The seven formulations against each other, against printed numbers, and against what mechanics demands of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.strategies import (
    conventions,
    kinds,
    random_arm,
    random_base_motion,
    random_payload,
    random_state,
    random_transform,
    seeds,
)
from support.tolerances import FORMULATIONS, ROUNDING, error, error_beside, solve_tolerance
from tauforge.algebra import vectors as v
from tauforge.analysis.arm_identifiability import base_parameters
from tauforge.analysis.comparison import compare
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.serial import INVERSE_DYNAMICS as TEXTS
from tauforge.formulations.serial import lagrange_euler, orthogonal_complement, strobing
from tauforge.formulations.serial.frame_choice import aligned, in_joint_frames, placed, regrouped
from tauforge.formulations.serial.joint_frames import cheapest_chain, inverse_dynamics_of
from tauforge.formulations.serial.kinematics import tool_frame
from tauforge.formulations.serial.parameters import base_at_rest
from tauforge.formulations.trees import composite_inertia
from tauforge.formulations.trees.economical_frames import nearly

REFERENCE = json.loads((Path(__file__).parents[2] / "data" / "serial_6R.json").read_text())["arm"]


@given(seeds, kinds, conventions, st.booleans())
def test_all_formulations_agree(rng, letters, convention, moving):
    arm = random_arm(rng, letters, convention, drives=True)
    loads = {"tip_wrench": rng.normal(size=6) * 10, "payload": random_payload(rng)}
    if moving:
        loads["base_motion"] = random_base_motion(rng)
    state = random_state(rng, arm.n, 3)
    result = compare(arm, *state, **loads)
    assert len(result.torques) == (6 if moving else 7)
    # a torque below a hundredth of the forces it is a component of has cancelled, and is measured against those
    reactions = np.abs(arm.joint_wrenches(*state, **loads)).max(axis=(-1, -2))
    torques = np.array(list(result.torques.values()))
    size = np.maximum(np.abs(torques).max(axis=(0, -1)), reactions / 100)
    assert (np.ptp(torques, axis=0).max(axis=-1) < FORMULATIONS * size).all()


@pytest.fixture(scope="module")
def six_r():
    r = REFERENCE
    return tf.SerialArm.from_dh(
        joints="RRRRRR",
        **{key: r[key] for key in ("alpha", "a", "d")},
        theta=r["theta_offset"],
        mass=r["m"],
        com=r["rbar"],
        inertia=r["I_cm"],
        gravity=(0, 0, -r["g"]),
    )


@pytest.mark.parametrize("formulation", tf.FORMULATIONS)
def test_the_reference_arm(six_r, formulation):
    r = REFERENCE
    tau = six_r.inverse_dynamics(r["q"], r["qd"], r["qdd"], formulation=formulation)
    assert error(tau, r["tau"]) < FORMULATIONS
    assert error(six_r.mass_matrix(r["q"]), r["M"], core=2) < FORMULATIONS


@given(seeds, kinds, conventions)
def test_mass_matrices_agree(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q = random_state(rng, arm.n)[0]
    M = arm.mass_matrix(q)
    p = arm.model.parameters
    for other in (
        lagrange_euler.mass_matrix(p, q.tolist()),
        orthogonal_complement.generalized_inertia(p, q.tolist()),
        strobing.mass_matrix(TEXTS["newton-euler"], p, q.tolist()),
        composite_inertia.mass_matrix(in_joint_frames(p).frames, q.tolist()),
        arm.inverse_dynamics_derivatives(q, q * 0, q * 0)[2],
    ):
        assert error(M, other, core=2) < FORMULATIONS
    assert np.linalg.eigvalsh(M).min() > 0


@given(seeds, st.text("RP", min_size=1, max_size=6), conventions)
def test_strobing_finds_the_lagrangian_coefficients(rng, letters, convention):
    p = random_arm(rng, letters, convention).model.parameters
    q = random_state(rng, p.n)[0].tolist()
    for text in ("newton-euler", "outward-inward"):
        model = strobing.explicit_model(TEXTS[text], p, q)
        assert error(model.M, lagrange_euler.mass_matrix(p, q), core=2) < FORMULATIONS
        assert error_beside(model.C, lagrange_euler.coriolis_coefficients(p, q), model.M) < FORMULATIONS
        assert error(model.G, lagrange_euler.gravity_forces(p, q)) < FORMULATIONS


def test_strobing_as_printed_is_wrong():
    """Turney's recipe, two unit velocities without subtracting the single ones, does not give C^i_jk."""
    p = random_arm(np.random.default_rng(5), "RRR").model.parameters
    q = [0.3, 0.4, 0.5]
    weightless = p._replace(gravity=v.ZERO)
    pair = TEXTS["newton-euler"](weightless, q, strobing.unit(3, 0, 1), [0.0] * 3)
    C = lagrange_euler.coriolis_coefficients(p, q)
    assert abs(pair[0] / 2 - C[0][0][1]) > 1e-3 * abs(pair[0])


@given(seeds, kinds, conventions)
def test_coriolis_matrix_is_christoffels(rng, letters, convention):
    """C qd is the velocity torque, and M' - 2C is skew: M' by dual numbers along qd, not by differences."""
    arm = random_arm(rng, letters, convention)
    q, qd, _ = random_state(rng, arm.n)
    C = arm.coriolis_matrix(q, qd)
    bias = arm.bias_forces(q, qd)
    assert error_beside(C @ qd, bias - arm.gravity_forces(q), bias) < FORMULATIONS
    N = rate_of_mass_matrix(arm, q, qd) - 2 * C
    assert error_beside(N, -N.T, arm.mass_matrix(q)) < FORMULATIONS


def rate_of_mass_matrix(arm, q, qd):
    from tauforge.algebra.dual import Dual, derivative
    from tauforge.robots.serial.formulas import mass_matrix

    M = mass_matrix(arm.model, [Dual(x, {0: y}) for x, y in zip(q.tolist(), qd.tolist(), strict=True)])
    return np.array([[derivative(x, 0) for x in row] for row in M])


@given(seeds, kinds, conventions)
def test_energy_rate_is_power(rng, letters, convention):
    """d(T + V)/dt = qd . (tau - friction), the rate by dual numbers along the motion."""
    from tauforge.algebra.dual import Dual, derivative
    from tauforge.robots.serial.formulas import energy

    arm = random_arm(rng, letters, convention, drives=True)
    q, qd, qdd = random_state(rng, arm.n)
    Q = [Dual(x, {0: y}) for x, y in zip(q.tolist(), qd.tolist(), strict=True)]
    QD = [Dual(x, {0: y}) for x, y in zip(qd.tolist(), qdd.tolist(), strict=True)]
    rates = [derivative(part, 0) for part in energy(arm.model, Q, QD)]
    powers = qd * (arm.inverse_dynamics(q, qd, qdd) - arm.friction_forces(qd))
    assert abs(sum(rates) - powers.sum()) < FORMULATIONS * (np.abs(powers).sum() + np.abs(rates).sum())


@given(seeds, kinds, conventions)
def test_energies(rng, letters, convention):
    arm = random_arm(rng, letters, convention, drives=True)
    q, qd, _ = random_state(rng, arm.n)
    kinetic, _ = arm.energy(q, qd)
    assert abs(kinetic - qd @ arm.mass_matrix(q) @ qd / 2) < FORMULATIONS * kinetic
    frames = arm.link_frames(q)
    centres = [frames[i + 1] @ [*joint.com, 1.0] for i, joint in enumerate(arm.joints)]
    parts = [-joint.mass * np.dot(arm.gravity, c[:3]) for joint, c in zip(arm.joints, centres, strict=True)]
    assert abs(arm.energy(q, qd)[1] - sum(parts)) < FORMULATIONS * np.abs(parts).sum()


@given(seeds, kinds, conventions)
def test_gravity_is_the_slope_of_the_potential(rng, letters, convention):
    from tauforge.algebra.dual import derivative, seeded
    from tauforge.robots.serial.formulas import energy

    arm = random_arm(rng, letters, convention)
    q = random_state(rng, arm.n)[0]
    V = energy(arm.model, seeded(q.tolist()), [0.0] * arm.n)[1]
    slope = [derivative(V, k) for k in range(arm.n)]
    assert error(arm.gravity_forces(q), slope) < FORMULATIONS * condition_of_gravity(arm, q)


def condition_of_gravity(arm, q):
    """How far the gravity torques cancel: the torque of all weights at full reach over the largest that is left."""
    reach = sum(np.abs(joint.before)[:3, 3].sum() + np.abs(joint.after)[:3, 3].sum() + 0.2 for joint in arm.joints)
    weight = sum(joint.mass for joint in arm.joints) * np.linalg.norm(arm.gravity)
    largest = np.abs(arm.gravity_forces(q)).max()
    return max(1.0, weight * max(1.0, reach + np.abs(q).sum()) / largest)


@given(seeds, kinds, conventions)
def test_constraint_matrix_times_twist_shaping_matrix_vanishes(rng, letters, convention):
    p = random_arm(rng, letters, convention).model.parameters
    q = random_state(rng, p.n)[0].tolist()
    n = p.n
    K = np.array(orthogonal_complement.constraint_matrix(p, q))
    T = np.array(orthogonal_complement.twist_shaping_matrix(p, q))
    assert np.abs(K @ T).max() < ROUNDING * np.abs(K).max() * np.abs(T).max() * n
    assert np.linalg.matrix_rank(K) == 5 * n
    assert np.linalg.matrix_rank(T) == n


@given(seeds, kinds, conventions)
def test_forward_undoes_inverse(rng, letters, convention):
    arm = random_arm(rng, letters, convention, drives=True)
    q, qd, qdd = random_state(rng, arm.n, 2)
    loads = {"tip_wrench": rng.normal(size=6), "payload": random_payload(rng), "base_motion": random_base_motion(rng)}
    tau = arm.inverse_dynamics(q, qd, qdd, **loads)
    again = arm.inverse_dynamics(q, qd, arm.forward_dynamics(q, qd, tau, **loads), **loads)
    assert error(again, tau) < solve_tolerance(arm.mass_matrix(q, payload=loads["payload"]))


@given(seeds, kinds, conventions)
def test_regressor_times_parameters_is_the_torque(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q, qd, qdd = random_state(rng, arm.n, 2)
    Y = arm.regressor(q, qd, qdd)
    assert error(Y @ arm.inertial_parameters, arm.inverse_dynamics(q, qd, qdd)) < FORMULATIONS
    assert not Y[..., -1, : 10 * (arm.n - 1)].any()


@given(seeds, kinds, conventions)
def test_regressor_with_a_reference_velocity(rng, letters, convention):
    arm = random_arm(rng, letters, convention, drives=True)
    q, qd, qdd = random_state(rng, arm.n)
    reference = rng.normal(size=arm.n)
    bare = arm.without_rotors().without_friction()
    expected = bare.mass_matrix(q) @ qdd + arm.coriolis_matrix(q, qd) @ reference + arm.gravity_forces(q)
    Y = arm.regressor(q, qd, qdd, reference)
    size = np.abs(Y * arm.inertial_parameters).sum(axis=-1).max()
    assert np.abs(Y @ arm.inertial_parameters - expected).max() < FORMULATIONS * size


def test_base_parameters_of_a_general_six_r():
    """7 a link, 1 for the first, plus what tilted gravity shows of it: 2 first moments."""
    arm = random_arm(np.random.default_rng(3), "RRRRRR")
    found = base_parameters(arm)
    assert found.size == 38
    q, qd, qdd = random_state(np.random.default_rng(4), 6, 5)
    torque = arm.regressor(q, qd, qdd)[..., found.columns] @ (found.combination @ arm.inertial_parameters)
    assert error(torque, arm.inverse_dynamics(q, qd, qdd)) < 1e-8  # the rank decision's own tolerance, times 10
    upright = arm.replace(gravity=(0, 0, -9.81), base=np.eye(4))
    assert base_parameters(upright).size == 36


@given(seeds, kinds, conventions)
def test_aligned_axes_change_nothing(rng, letters, convention):
    p = random_arm(rng, letters, convention).model.parameters
    cheap = aligned(p)
    q, qd, qdd = (x.tolist() for x in random_state(rng, p.n))
    for text in ("newton-euler", "lagrange-euler"):
        assert error(TEXTS[text](p, q, qd, qdd), TEXTS[text](cheap, q, qd, qdd)) < FORMULATIONS
    for a, b in zip(tool_frame(p, q), tool_frame(cheap, q), strict=True):
        assert error(flat(a), flat(b)) < FORMULATIONS


def flat(x):
    return [y for row in x.rows for y in row] if isinstance(x, v.Matrix) else list(x)


@given(seeds, kinds, conventions)
def test_placed_frames_change_nothing(rng, letters, convention):
    arm = random_arm(rng, letters, convention).model.parameters
    plain = in_joint_frames(arm)
    q, qd, qdd = (x.tolist() for x in random_state(rng, arm.n))
    state = (q, qd, qdd, Wrench(v.E_X, v.E_Y), base_at_rest(arm))
    expected = inverse_dynamics_of(plain, *state)
    for chain in (regrouped(plain), placed(regrouped(plain)), cheapest_chain(arm)):
        assert error(inverse_dynamics_of(chain, *state), expected) < FORMULATIONS
        M = composite_inertia.mass_matrix(chain.frames, q)
        assert error(M, composite_inertia.mass_matrix(plain.frames, q), core=2) < FORMULATIONS


@given(seeds, st.text("R", min_size=2, max_size=8), conventions)
def test_cheapest_frames_have_the_promised_zeros(rng, letters, convention):
    frames = cheapest_chain(random_arm(rng, letters, convention).model.parameters).frames
    for i, frame in enumerate(frames[1:], 1):
        R, p = frame.before
        assert (R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[2, 0]) == (1, 0, 0, 0, 0)
        assert p.z == 0
        assert p.y == 0 or i < len(letters) - 1
    assert frames[-1].first_moment.y == 0


@given(seeds, kinds)
def test_regrouping_leaves_seven_numbers_a_link(rng, letters):
    chain = in_joint_frames(random_arm(rng, letters, "general").model.parameters)
    for before, after in zip(chain.frames, regrouped(chain).frames, strict=True):
        if before.revolute:
            assert after.mass == 0
            assert after.first_moment.z == 0
            assert after.flat
            I = after.inertia
            assert abs(I[0, 0] + I[1, 1] - I[2, 2]) < ROUNDING * max(abs(I[k, k]) for k in range(3))
        else:
            assert not any(x for row in after.inertia.rows for x in row)


@given(seeds, kinds, conventions)
def test_a_payload_is_a_heavier_last_link(rng, letters, convention):
    """Against an arm built from the start with the merged body: two clouds of points."""
    arm = random_arm(rng, letters, convention)
    payload = random_payload(rng)
    last, tool = arm.joints[-1], np.array(arm.tool)
    c1, c2 = np.array(last.com), tool[:3, :3] @ payload.com + tool[:3, 3]
    m1, m2 = last.mass, float(payload.mass)
    c = (m1 * c1 + m2 * c2) / (m1 + m2)

    def about(m, I, r):
        return I + m * (r @ r * np.eye(3) - np.outer(r, r))

    I = about(m1, np.array(last.inertia), c1 - c) + about(m2, tool[:3, :3] @ payload.inertia @ tool[:3, :3].T, c2 - c)
    merged = arm.replace(
        mass=[*(j.mass for j in arm.joints[:-1]), m1 + m2],
        com=[*(j.com for j in arm.joints[:-1]), c],
        inertia=[*(j.inertia for j in arm.joints[:-1]), I],
    )
    q, qd, qdd = random_state(rng, arm.n)
    for a, b, core in (
        (arm.inverse_dynamics(q, qd, qdd, payload=payload), merged.inverse_dynamics(q, qd, qdd), 1),
        (arm.mass_matrix(q, payload=payload), merged.mass_matrix(q), 2),
        (arm.joint_wrenches(q, qd, qdd, payload=payload), merged.joint_wrenches(q, qd, qdd), 2),
        (arm.energy(q, qd, payload=payload), merged.energy(q, qd), 1),
    ):
        assert error(a, b, core=core) < FORMULATIONS
    C = arm.coriolis_matrix(q, qd, payload=payload)
    assert error_beside(C, merged.coriolis_matrix(q, qd), merged.mass_matrix(q)) < FORMULATIONS
    assert error(arm.inverse_dynamics(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd, payload=tf.Payload(0.0))) < ROUNDING


def test_a_massless_payload_on_a_massless_link_is_nothing():
    arm = random_arm(np.random.default_rng(0), "RRR").replace(mass=[1.0, 1.0, 0.0])
    q, qd, qdd = random_state(np.random.default_rng(1), 3)
    expected = arm.inverse_dynamics(q, qd, qdd)
    assert error(arm.inverse_dynamics(q, qd, qdd, payload=tf.Payload(0.0)), expected) < ROUNDING


@given(seeds, kinds, conventions)
def test_tip_wrench_is_minus_jacobian_transpose(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q, qd, qdd = random_state(rng, arm.n)
    w = rng.normal(size=6) * 100
    J = arm.jacobian(q)
    free = arm.inverse_dynamics(q, qd, qdd)
    assert error(arm.inverse_dynamics(q, qd, qdd, tip_wrench=w), free - J.T @ w) < FORMULATIONS * 10
    R = arm.forward_kinematics(q)[:3, :3]
    in_tool = np.concatenate([R.T @ w[:3], R.T @ w[3:]])
    assert (
        error(arm.inverse_dynamics(q, qd, qdd, tip_wrench=in_tool, wrench_frame="tool"), free - J.T @ w)
        < FORMULATIONS * 10
    )


@given(seeds, kinds, conventions)
def test_joint_wrenches_carry_the_torque_on_their_axis(rng, letters, convention):
    arm = random_arm(rng, letters, convention, drives=True)
    q, qd, qdd = random_state(rng, arm.n)
    loads = {"tip_wrench": rng.normal(size=6), "payload": random_payload(rng), "base_motion": random_base_motion(rng)}
    W = arm.joint_wrenches(q, qd, qdd, **loads)
    tau = arm.without_friction().without_rotors().inverse_dynamics(q, qd, qdd, **loads)
    for i, joint in enumerate(arm.joints):
        axis = np.array(joint.before)[:3, 2]
        part = W[i, 3:] if joint.kind == "R" else W[i, :3]
        assert abs(axis @ part - tau[i]) < FORMULATIONS * np.abs(W).max()


@given(seeds, kinds, conventions)
def test_joint_wrenches_balance_every_link(rng, letters, convention):
    """At rest each link hangs between its two joints: force and moment balance about the world origin."""
    arm = random_arm(rng, letters, convention)
    q = random_state(rng, arm.n)[0]
    frames = arm.link_frames(q)
    W = arm.joint_wrenches(q, q * 0, q * 0)
    world = []
    for i in range(arm.n):
        R = frames[i][:3, :3]
        match convention:
            case "standard":
                origin = frames[i][:3, 3]
            case "modified":
                origin = frames[i + 1][:3, 3]
            case _:
                origin = (frames[i + 1] @ np.linalg.inv(arm.joints[i].after))[:3, 3]
        f = R @ W[i, :3]
        world.append(np.concatenate([f, R @ W[i, 3:] + np.cross(origin, f)]))
    world.append(np.zeros(6))
    for i, joint in enumerate(arm.joints):
        weight = joint.mass * np.array(arm.gravity)
        c = (frames[i + 1] @ [*joint.com, 1.0])[:3]
        left = world[i] - world[i + 1] + np.concatenate([weight, np.cross(c, weight)])
        assert np.abs(left).max() < FORMULATIONS * np.abs(world).max() * 10


def test_base_motion_is_refused_by_name_where_it_is_not_taken(six_r):
    z = np.zeros(6)
    with pytest.raises(tf.UnsupportedFeatureError, match="lagrange-euler does not take a moving base"):
        six_r.inverse_dynamics(z, z, z, base_motion=tf.BaseMotion(), formulation="lagrange-euler")


def test_unknown_formulation_lists_the_known(six_r):
    z = np.zeros(6)
    with pytest.raises(tf.UnsupportedFeatureError, match=r"unknown formulation 'newton'.*newton-euler.*joint-frames"):
        six_r.inverse_dynamics(z, z, z, formulation="newton")


@given(seeds)
def test_friction(rng):
    arm = random_arm(rng, "RPR", drives=True)
    qd = rng.normal(size=3)
    got = arm.friction_forces(qd)
    for joint, speed, force in zip(arm.joints, qd, got, strict=True):
        G, (plus, minus) = joint.gear_ratio, joint.coulomb
        expected = joint.viscous * G**2 * speed + abs(G) * (plus if speed > 0 else -minus)
        assert force == pytest.approx(expected, rel=1e-13)
    assert not arm.friction_forces(np.zeros(3)).any()
    dtau = arm.inverse_dynamics_derivatives(qd, qd * 0, qd * 0)[1]
    smooth = arm.replace(coulomb_speed=0.1)
    viscous = [joint.viscous * joint.gear_ratio**2 for joint in arm.joints]
    bare = arm.without_friction().inverse_dynamics_derivatives(qd, qd * 0, qd * 0)[1]
    assert error(np.diag(dtau - bare), viscous) < 1e2 * ROUNDING
    s = np.tanh(qd / 0.1)
    halves = [
        (abs(j.gear_ratio) * (j.coulomb[0] + j.coulomb[1]) / 2, abs(j.gear_ratio) * (j.coulomb[0] - j.coulomb[1]) / 2)
        for j in arm.joints
    ]
    expected = [v * x + odd * t + even * t * t for v, x, t, (odd, even) in zip(viscous, qd, s, halves, strict=True)]
    assert error(smooth.friction_forces(qd), expected) < ROUNDING


def test_rotors_add_reflected_inertia():
    rng = np.random.default_rng(7)
    arm = random_arm(rng, "RPRR", drives=True)
    reflected = np.diag([joint.motor_inertia * joint.gear_ratio**2 for joint in arm.joints])
    q, qd, qdd = random_state(rng, 4)
    bare = arm.without_rotors()
    assert error(arm.mass_matrix(q) - bare.mass_matrix(q), reflected, core=2) < 1e3 * ROUNDING
    assert error(arm.inverse_dynamics(q, qd, qdd) - bare.inverse_dynamics(q, qd, qdd), reflected @ qdd) < 1e3 * ROUNDING
    assert error(arm.bias_forces(q, qd), bare.bias_forces(q, qd)) == 0


def test_planar_two_r_closed_form():
    """Textbook planar elbow, both links with full numbers; gravity along -y."""
    rng = np.random.default_rng(2)
    l1, lc1, lc2, m1, m2, I1, I2, g = 0.7, 0.3, 0.25, 2.0, 1.5, 0.12, 0.08, 9.81
    arm = tf.SerialArm.from_dh(
        joints="RR",
        alpha=[0, 0],
        a=[l1, 0.5],
        d=[0, 0],
        mass=[m1, m2],
        com=[(lc1 - l1, 0, 0), (lc2 - 0.5, 0, 0)],
        inertia=[np.diag([zz / 2, zz / 2, zz]) for zz in (I1, I2)],
        gravity=(0, -g, 0),
    )
    q, qd, qdd = random_state(rng, 2, 50)
    c2, s2 = np.cos(q[:, 1]), np.sin(q[:, 1])
    c1, c12 = np.cos(q[:, 0]), np.cos(q[:, 0] + q[:, 1])
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2) + I1 + I2
    d12 = m2 * (lc2**2 + l1 * lc2 * c2) + I2
    d22 = m2 * lc2**2 + I2
    h = -m2 * l1 * lc2 * s2
    tau1 = d11 * qdd[:, 0] + d12 * qdd[:, 1] + h * (2 * qd[:, 0] * qd[:, 1] + qd[:, 1] ** 2)
    tau1 += (m1 * lc1 + m2 * l1) * g * c1 + m2 * lc2 * g * c12
    tau2 = d12 * qdd[:, 0] + d22 * qdd[:, 1] - h * qd[:, 0] ** 2 + m2 * lc2 * g * c12
    assert error(arm.inverse_dynamics(q, qd, qdd), np.stack([tau1, tau2], -1)) < ROUNDING
    C = np.stack([np.stack([h * qd[:, 1], h * (qd[:, 0] + qd[:, 1])], -1), np.stack([-h * qd[:, 0], 0 * h], -1)], -2)
    assert error(arm.coriolis_matrix(q, qd), C, core=2) < ROUNDING


@given(seeds, st.floats(-9, -1))
def test_nearly_parallel_last_axes(rng, exponent):
    """The last common normal may be far off: sliding the last origin to it must not cost digits."""
    bodies = random_arm(rng, "RRR").joints
    beside, tilt = np.eye(4), np.eye(4)
    beside[:3, 3] = [0.2, 1.0, 0.1]  # the displacement keeps a y component
    c, s = np.cos(10.0**exponent), np.sin(10.0**exponent)
    tilt[1:3, 1:3] = [[c, -s], [s, c]]
    joints = [
        tf.Joint(before=before, **body_of(joint, small))
        for joint, before, small in zip(
            bodies, (np.eye(4), random_transform(rng), beside @ tilt), (0, 0, 1), strict=True
        )
    ]
    result = compare(tf.SerialArm(joints=tuple(joints)), *random_state(rng, 3, 20))
    assert result.largest < FORMULATIONS


def body_of(joint, small):
    """The joint's body, or a small one: its own inertia is what sliding could swamp."""
    scale = 0.03 if small else 1.0
    return {"mass": joint.mass, "com": np.array(joint.com) * scale, "inertia": np.array(joint.inertia) * scale**2}


def test_only_rounding_is_rounded_away():
    size = v.Matrix.diagonal(1.0, 2.0, 0.5)
    assert nearly(1e-15, size) == 0
    assert nearly(1e-14, size) == 1e-14
    assert nearly(-3e-14, size) == -3e-14
