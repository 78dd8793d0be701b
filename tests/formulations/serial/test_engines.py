"""Against Pinocchio and MuJoCo, reflected inertia included."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
from hypothesis import given
from hypothesis import strategies as st

from support.engines import mujoco_model, pinocchio_model, se3
from support.strategies import (
    conventions,
    kinds,
    random_arm,
    random_base_motion,
    random_payload,
    random_state,
    seeds,
    structured_arm,
)
from support.tolerances import FORMULATIONS, OUTSIDE, error, error_beside, solve_tolerance
from tauforge.analysis.comparison import compare


@given(seeds, kinds, conventions)
def test_pinocchio(rng, letters, convention):
    arm = random_arm(rng, letters, convention, drives=True).without_friction()
    model = pinocchio_model(arm)
    data = model.createData()
    q, qd, qdd = random_state(rng, arm.n)
    tau = pin.rnea(model, data, q, qd, qdd)  # armature included
    assert error(arm.inverse_dynamics(q, qd, qdd), tau) < OUTSIDE
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    assert error(arm.mass_matrix(q), M, core=2) < OUTSIDE
    acceleration = arm.forward_dynamics(q, qd, tau)
    assert error_beside(acceleration, pin.aba(model, data, q, qd, tau), qdd) < max(OUTSIDE, solve_tolerance(M))
    C = pin.computeCoriolisMatrix(model, data, q, qd)
    assert error_beside(arm.coriolis_matrix(q, qd) @ qd, C @ qd, tau) < OUTSIDE
    assert error_beside(arm.gravity_forces(q), pin.computeGeneralizedGravity(model, data, q), tau) < OUTSIDE
    frame = model.getFrameId("tool")
    J = pin.computeFrameJacobian(model, data, q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    assert error(arm.jacobian(q), J.reshape(6, arm.n), core=2) < OUTSIDE
    pin.framesForwardKinematics(model, data, q)
    assert error(arm.forward_kinematics(q), data.oMf[frame].homogeneous, core=2) < OUTSIDE
    assert abs(arm.energy(q, qd)[0] - pin.computeKineticEnergy(model, data, q, qd)) < (OUTSIDE * arm.energy(q, qd)[0])


@given(seeds, kinds)
def test_joint_wrenches_under_motion(rng, letters):
    """All six components against Pinocchio's, which are at the joint and in its moved axes."""
    arm = random_arm(rng, letters, "general")
    model = pinocchio_model(arm)
    data = model.createData()
    q, qd, qdd = random_state(rng, arm.n)
    pin.rnea(model, data, q, qd, qdd)
    ours = arm.joint_wrenches(q, qd, qdd)
    for i, joint in enumerate(arm.joints):
        turn = np.eye(3)
        if joint.kind == "R":
            c, s = np.cos(q[i] + joint.offset), np.sin(q[i] + joint.offset)
            turn[:2, :2] = [[c, -s], [s, c]]
        R = np.array(joint.before)[:3, :3] @ turn
        theirs = np.concatenate([R @ data.f[i + 1].linear, R @ data.f[i + 1].angular])
        assert error_beside(ours[i], theirs, ours) < OUTSIDE


@given(seeds, st.text("RP", min_size=1, max_size=8), st.sampled_from(["standard", "modified"]))
def test_structured_arms(rng, letters, convention):
    """Right angles, parallel, antiparallel and nearly parallel axes, zero lengths, small or massless links."""
    arm = structured_arm(rng, letters, convention)
    model = pinocchio_model(arm)
    data = model.createData()
    state = random_state(rng, arm.n)
    tau = pin.rnea(model, data, *state)
    size = np.abs(arm.joint_wrenches(*state)).max() + 1e-30
    for name, torque in compare(arm, *state).torques.items():
        assert error_beside(torque, tau, [size]) < FORMULATIONS, name
    M = pin.crba(model, data, state[0])
    M = np.triu(M) + np.triu(M, 1).T
    assert error_beside(arm.mass_matrix(state[0]), M, np.abs(M) + 1e-30) < FORMULATIONS


@given(seeds, st.text("RP", min_size=1, max_size=7), conventions)
def test_pinocchio_derivatives(rng, letters, convention):
    arm = random_arm(rng, letters, convention, drives=True).without_friction()
    model = pinocchio_model(arm)
    data = model.createData()
    q, qd, qdd = random_state(rng, arm.n)
    pin.computeRNEADerivatives(model, data, q, qd, qdd)
    tau = arm.inverse_dynamics(q, qd, qdd)
    size = np.abs([*data.dtau_dq.ravel(), *data.dtau_dv.ravel(), *tau])
    M = arm.mass_matrix(q)
    for ours, theirs in zip(arm.inverse_dynamics_derivatives(q, qd, qdd), (data.dtau_dq, data.dtau_dv, M), strict=True):
        assert error_beside(ours, theirs, size) < OUTSIDE
    pin.computeABADerivatives(model, data, q, qd, tau)
    theirs = (data.ddq_dq, data.ddq_dv, np.linalg.inv(M))
    tolerance = max(OUTSIDE, solve_tolerance(M))
    for a, b in zip(arm.forward_dynamics_derivatives(q, qd, tau), theirs, strict=True):
        assert error_beside(a, b, [*theirs[0].ravel(), *theirs[1].ravel(), *theirs[2].ravel()]) < tolerance


@given(seeds, kinds)
def test_pinocchio_with_tip_wrench_and_payload(rng, letters):
    arm = random_arm(rng, letters, "general")
    model = pinocchio_model(arm)
    payload, w = random_payload(rng), rng.normal(size=6) * 20
    tool = model.frames[model.getFrameId("tool")].placement
    model.appendBodyToJoint(arm.n, pin.Inertia(float(payload.mass), payload.com, payload.inertia), tool)
    data = model.createData()
    q, qd, qdd = random_state(rng, arm.n)
    pin.framesForwardKinematics(model, data, q)
    at_tool = pin.SE3(data.oMi[arm.n].rotation, data.oMi[arm.n].translation)
    tip = data.oMf[model.getFrameId("tool")].translation
    force, moment = w[:3], w[3:] + np.cross(tip - at_tool.translation, w[:3])
    local = pin.Force(at_tool.rotation.T @ force, at_tool.rotation.T @ moment)
    forces = [pin.Force.Zero() for _ in range(arm.n)] + [local]
    tau = pin.rnea(model, data, q, qd, qdd, forces)
    assert error(arm.inverse_dynamics(q, qd, qdd, tip_wrench=w, payload=payload), tau) < OUTSIDE


@given(seeds, kinds, conventions)
def test_pinocchio_with_a_moving_base(rng, letters, convention):
    """A free flyer under the arm, moved as the base moves."""
    arm = random_arm(rng, letters, convention)
    model = pinocchio_model(arm, moving_base=True)
    data = model.createData()
    q, qd, qdd = random_state(rng, arm.n)
    motion = random_base_motion(rng)
    base = se3(arm.base)
    R = base.rotation
    omega, alpha, a = (R.T @ np.asarray(x) for x in motion)  # body axes, at zero velocity of the origin
    position = np.concatenate([pin.SE3ToXYZQUAT(base), q])
    velocity = np.concatenate([np.zeros(3), omega, qd])
    acceleration = np.concatenate([a, alpha, qdd])
    tau = pin.rnea(model, data, position, velocity, acceleration)[6:]
    assert error(arm.inverse_dynamics(q, qd, qdd, base_motion=motion), tau) < OUTSIDE


@given(seeds, st.text("RP", min_size=1, max_size=8), conventions)
def test_mujoco(rng, letters, convention):
    arm = random_arm(rng, letters, convention, drives=True).without_friction()
    model = mujoco_model(arm)
    data = mujoco.MjData(model)
    q, qd, qdd = random_state(rng, arm.n)
    data.qpos, data.qvel, data.qacc = q, qd, qdd
    mujoco.mj_inverse(model, data)
    assert error(arm.inverse_dynamics(q, qd, qdd), data.qfrc_inverse) < OUTSIDE
    M = np.zeros((arm.n, arm.n))
    mujoco.mj_fullM(model, data, M)
    assert error(arm.mass_matrix(q), M, core=2) < OUTSIDE
