"""Matrices of random arms: twists, constraints and their wrenches; derivatives of frames, and pseudo-inertias."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.strategies import conventions, random_arm, random_state, seeds
from support.tolerances import FORMULATIONS, ROUNDING, error, error_beside
from tauforge.algebra.dual import Dual, derivative
from tauforge.analysis import frame_derivatives, orthogonal_complement, pseudo_inertias
from tauforge.robots.serial import formulas

few = st.text("RP", min_size=1, max_size=6)


def transposed(matrix):
    return np.swapaxes(matrix, -1, -2)


def times(matrix, vector):
    return (matrix @ vector[..., None])[..., 0]


def stacked(angular, linear):
    """(..., n, 3) each to (..., 6 n)."""
    return np.concatenate([angular, linear], axis=-1).reshape(*angular.shape[:-2], -1)


@given(seeds, few, conventions)
def test_twists_are_those_of_the_links(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q, qd, qdd = (x.reshape(3, 1, arm.n) for x in random_state(rng, arm.n, 3))
    found, motions = orthogonal_complement(arm, q, qd, qdd), arm.link_motions(q, qd, qdd)
    twists = stacked(motions.angular_velocities, motions.velocities)
    rates = stacked(motions.angular_accelerations, motions.accelerations)
    assert found.T.shape == (3, 1, 6 * arm.n, arm.n)
    assert error(found.t, twists) < FORMULATIONS
    assert error(times(found.T, qdd) + times(found.T_dot, qd), rates) < FORMULATIONS
    size = np.abs(found.K).max() * np.abs(found.T).max() * arm.n
    assert np.abs(found.K @ found.T).max() < ROUNDING * size
    assert (np.linalg.matrix_rank(found.K) == 5 * arm.n).all()


@given(seeds, few, conventions)
def test_the_complement_projects_the_uncoupled_equations(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q, qd, qdd = random_state(rng, arm.n, 2)
    found = orthogonal_complement(arm, q, qd, qdd)
    assert error(transposed(found.T) @ found.M @ found.T, arm.mass_matrix(q), core=2) < FORMULATIONS
    tau, bias = arm.inverse_dynamics(q, qd, qdd), arm.bias_forces(q, qd)
    parts = [found.gravity_wrenches, found.actuator_wrenches, found.constraint_wrenches]
    size = np.abs(found.T).max() * np.abs(parts).max()
    assert error_beside(times(transposed(found.T), found.actuator_wrenches), tau, size) < FORMULATIONS
    assert np.abs(times(transposed(found.T), found.constraint_wrenches)).max() < FORMULATIONS * size
    moved = found.M @ found.T_dot + found.W @ found.M @ found.T  # eq. 7.57
    forces = times(transposed(found.T), times(moved, qd) - found.gravity_wrenches)
    assert error_beside(forces, bias, size) < FORMULATIONS
    still = orthogonal_complement(arm, q, qd)
    assert error_beside(times(transposed(still.T), still.actuator_wrenches), bias, size) < FORMULATIONS


@given(seeds, few, st.sampled_from(["standard", "general"]))
def test_constraint_wrenches_are_those_of_the_joints(rng, letters, convention):
    """K' lambda; and the multipliers with a force are the forces of `joint_wrenches` across a revolute joint."""
    arm = random_arm(rng, letters, convention)
    state = random_state(rng, arm.n, 2)
    found = orthogonal_complement(arm, *state)
    size = max(np.abs(part).max() for part in (found.constraint_wrenches, found.multipliers))
    assert error_beside(times(transposed(found.K), found.multipliers), found.constraint_wrenches, size) < FORMULATIONS
    R = arm.link_frames(state[0])[:, :-1, :3, :3]
    forces = (R @ arm.joint_wrenches(*state)[..., :3, None])[..., 0]
    multipliers = found.multipliers.reshape(2, arm.n, 6)
    for i, letter in enumerate(letters):
        if letter == "R":
            assert error_beside(multipliers[:, i, 3:], forces[:, i], size) < FORMULATIONS


@given(seeds, few, conventions)
def test_derivatives_of_frames(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q = random_state(rng, arm.n)[0]
    found = frame_derivatives(arm, q)
    for j in range(arm.n):
        along = [Dual(x, {0: float(i == j)}) for i, x in enumerate(q.tolist())]
        slopes = [[[derivative(x, 0) for x in row] for row in T] for T in formulas.link_frames(arm.model, along)[1:]]
        assert error_beside(found.first[:, j], slopes, max(1.0, np.abs(arm.link_frames(q)).max())) < FORMULATIONS
    assert np.array_equal(found.second, np.swapaxes(found.second, 1, 2))
    step, whole = 1e-30, found.first  # a complex step: the first derivatives are sums of products of sines
    for k in range(arm.n):
        moved = [complex(x, step * (i == k)) for i, x in enumerate(q)]
        slope = first_derivatives(arm, moved).imag / step
        assert error_beside(found.second[:, :, k], slope, max(1.0, np.abs(whole).max())) < FORMULATIONS


def first_derivatives(arm, q):
    """Of the links' frames, over complex numbers: products of 4 x 4 matrices with the generator of one joint."""
    n, found = arm.n, np.zeros((arm.n, arm.n, 4, 4), complex)
    for j in range(n):
        T = np.array(arm.base, complex)
        for i, joint in enumerate(arm.joints):
            angle, slide = (q[i] + joint.offset, 0.0) if joint.kind == "R" else (0.0, q[i] + joint.offset)
            c, s = np.cos(angle), np.sin(angle)
            step = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, slide], [0, 0, 0, 1]])
            if i == j:
                Q = np.zeros((4, 4))
                Q[(0, 1), (1, 0)] = (-1, 1) if joint.kind == "R" else (0, 0)
                Q[2, 3] = joint.kind == "P"
                step = step @ Q
            T = T @ np.array(joint.before) @ step @ np.array(joint.after)
            found[i, j] = T if i >= j else 0.0
    return found


@given(seeds, few, conventions)
def test_traces_of_frames_and_pseudo_inertias_are_the_mass_matrix(rng, letters, convention):
    """Turney 2.9-2.11, over a batch: M and C^i_jk from the public ingredients."""
    arm = random_arm(rng, letters, convention)
    q = random_state(rng, arm.n, 2)[0]
    (first, second), J = frame_derivatives(arm, q), pseudo_inertias(arm)
    M = np.einsum("rqjab,qbc,rqiac->rij", first, J, first)
    assert error(M, arm.mass_matrix(q), core=2) < FORMULATIONS
    C = np.einsum("rqjkab,qbc,rqiac->rijk", second, J, first)
    assert error_beside(C, arm.coriolis_coefficients(q), M) < FORMULATIONS
    masses = [joint.mass for joint in arm.joints]
    assert np.array_equal(J[:, 3, 3], masses)
    assert np.array_equal(J, transposed(J))


def test_only_arms_have_them():
    platform = tf.load("dasgupta1998")
    for call in (lambda: pseudo_inertias(platform), lambda: frame_derivatives(platform, np.zeros(6))):
        with pytest.raises(tf.UnsupportedFeatureError, match=r"dasgupta1998 is a Stewart platform.*Use explicit_model"):
            call()
    with pytest.raises(tf.ModelError, match="expected a robot such as a SerialArm"):
        orthogonal_complement("puma560", np.zeros(6), np.zeros(6))
    arm = random_arm(np.random.default_rng(0), "RPR")
    with pytest.raises(tf.ShapeError, match="random RPR has 3 joints"):
        orthogonal_complement(arm, np.zeros(3), np.zeros(2))
    with pytest.raises(tf.ShapeError, match="random RPR has 3 joints"):
        frame_derivatives(arm, np.zeros(2))


def test_a_row_that_is_not_finite_spoils_itself():
    arm = random_arm(np.random.default_rng(0), "RPR")
    state = np.ones((2, 3))
    state[1, 0] = np.inf
    for found in (orthogonal_complement(arm, state, np.ones(3)), frame_derivatives(arm, state)):
        for part in found:
            assert np.isfinite(part[0]).all()
            assert np.isnan(part[1]).all()
    whole, one = orthogonal_complement(arm, state, np.ones(3)), orthogonal_complement(arm, state[0], np.ones(3))
    assert [part.shape for part in one] == [part.shape[1:] for part in whole]
    assert max(error_beside(a[0], b, whole.M[0]) for a, b in zip(whole, one, strict=True)) < FORMULATIONS
