"""Motions of links and coefficients of the Coriolis forces, against derivatives of kinematics and mass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.strategies import conventions, kinds, random_arm, random_payload, random_state, seeds
from support.tolerances import FORMULATIONS, error, error_beside
from tauforge.algebra.dual import Dual, derivative, seeded
from tauforge.formulations.serial import lagrange_euler
from tauforge.robots.serial import formulas

few = st.text("RP", min_size=1, max_size=6)


def along(values, rates):
    return [Dual(x, {0: y}) for x, y in zip(values.tolist(), rates.tolist(), strict=True)]


def error_in_arm(found, expected, *sizes):
    """The largest difference, beside quantities of the arm and at least 1: speeds and lengths are of order one."""
    return error_beside(found, expected, max(1.0, *(np.abs(size).max() for size in (expected, *sizes))))


def rates_of(nested):
    """Time derivatives of nested sequences of dual numbers."""
    if hasattr(nested, "__iter__"):
        return np.array([rates_of(part) for part in nested])
    return derivative(nested, 0)


@given(seeds, kinds, conventions)
def test_motions_of_links_are_derivatives_of_their_frames(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q, qd, qdd = random_state(rng, arm.n)
    found, Q, QD = arm.link_motions(q, qd, qdd), along(q, qd), along(qd, qdd)
    frames, coms = arm.link_frames(q)[1:], np.array([[*joint.com, 1.0] for joint in arm.joints])
    assert error(found.centres, (frames @ coms[..., None])[:, :3, 0], core=2) < FORMULATIONS
    rates = rates_of(formulas.link_frames(arm.model, Q))[1:]
    assert error(found.velocities, (rates @ coms[..., None])[:, :3, 0], core=2) < FORMULATIONS
    spin = rates[:, :3, :3] @ np.swapaxes(frames[:, :3, :3], -1, -2)  # R' R^T = [omega]x
    assert error_in_arm(spin[:, [2, 0, 1], [1, 2, 0]], found.angular_velocities) < FORMULATIONS
    motions = rates_of(formulas.link_motions(arm.model, Q, QD, [0.0] * arm.n))
    for rate, second in ((0, found.angular_accelerations), (3, found.accelerations)):
        assert error_in_arm(motions[rate], second) < FORMULATIONS


@given(seeds, kinds, conventions)
def test_motions_of_links_have_the_kinetic_energy(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q, qd, qdd = random_state(rng, arm.n, 4)
    found, R = arm.link_motions(q, qd, qdd), arm.link_frames(q)[:, 1:, :3, :3]
    own = np.einsum("...ba,...b->...a", R, found.angular_velocities)  # in each link's own axes
    turning = np.einsum("ria,iab,rib->r", own, [joint.inertia for joint in arm.joints], own)
    masses = [joint.mass for joint in arm.joints]
    moving = np.einsum("i,ria,ria->r", masses, found.velocities, found.velocities)
    kinetic, _ = arm.energy(q, qd)
    assert error((turning + moving) / 2, kinetic) < FORMULATIONS


@given(seeds, st.text("RP", min_size=2, max_size=6), conventions)
def test_a_moving_base_is_the_motion_of_the_link_it_stands_on(rng, letters, convention):
    whole = random_arm(rng, letters, convention)
    first = whole.joints[0]
    whole = whole.replace(joints=(replace(first, com=(0, 0, 0)), *whole.joints[1:]))  # its centre is the frame's origin
    q, qd, qdd = random_state(rng, whole.n)
    wanted = whole.link_motions(q, qd, qdd)
    omega, alpha, _, v, a = (part[0] for part in wanted)
    outer = tf.SerialArm(joints=whole.joints[1:], base=whole.link_frames(q)[1])
    found = outer.link_motions(q[1:], qd[1:], qdd[1:], base_motion=tf.BaseMotion(omega, alpha, a))
    for name, part, expected in zip(found._fields, found, wanted, strict=True):
        moved = part + v if name == "velocities" else part
        assert error_in_arm(moved, expected[1:], expected, found.accelerations) < FORMULATIONS, name


def test_motions_of_links_say_what_they_want():
    arm = random_arm(np.random.default_rng(0), "RPR")
    with pytest.raises(tf.ShapeError, match=r"qd.*random RPR has 3 joints"):
        arm.link_motions(np.zeros(3), np.zeros(2), np.zeros(3))
    with pytest.raises(tf.ShapeError, match=r"base_motion.*tauforge\.BaseMotion"):
        arm.link_motions(*np.zeros((3, 3)), base_motion=np.zeros(9))
    state = np.zeros((2, 3))
    state[1, 0] = np.nan
    spoilt = arm.link_motions(state, state * 0, state * 0)
    assert all(np.isfinite(part[0]).all() and np.isnan(part[1]).all() for part in spoilt)


@given(seeds, few, conventions)
def test_coriolis_coefficients_are_lagranges(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q = random_state(rng, arm.n)[0]
    found = arm.coriolis_coefficients(q)
    expected = lagrange_euler.coriolis_coefficients(arm.model.parameters, q.tolist())
    assert error_beside(found, expected, arm.mass_matrix(q)) < FORMULATIONS
    assert np.array_equal(found, np.swapaxes(found, -1, -2))


@given(seeds, few, conventions)
def test_coriolis_coefficients_give_the_forces_and_the_slopes_of_mass(rng, letters, convention):
    arm, payload = random_arm(rng, letters, convention, drives=True), random_payload(rng)
    q, qd, _ = random_state(rng, arm.n, 3)
    C = arm.coriolis_coefficients(q, payload=payload)
    size = arm.mass_matrix(q, payload=payload)
    forces = np.einsum("...ijk,...j,...k->...i", C, qd, qd)
    bias = arm.bias_forces(q, qd, payload=payload)
    assert error_in_arm(forces, bias - arm.gravity_forces(q, payload=payload), size, bias) < FORMULATIONS
    matrix = arm.coriolis_matrix(q, qd, payload=payload)
    assert error_in_arm(np.einsum("...ijk,...k->...ij", C, qd), matrix, size) < FORMULATIONS
    M = formulas.mass_matrix(arm.carrying(payload).model, seeded(q[0].tolist()))
    slopes = np.array([[[derivative(x, k) for k in range(arm.n)] for x in row] for row in M])
    assert error_beside(C[0] + np.swapaxes(C[0], 0, 1), slopes, size) < FORMULATIONS
