"""Explicit models by strobing, of robots of anybody: against the robots' own matrices and forward dynamics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.platforms import random_motion, random_platform
from support.strategies import conventions, random_arm, random_state, seeds
from support.tolerances import FORMULATIONS, error, error_beside, solve_tolerance
from tauforge.analysis import explicit_model, explicit_model_cost, strobing_cost

few = st.text("RP", min_size=1, max_size=4)
STROBED = 10 * FORMULATIONS  # gravity, which every run has and which is subtracted, may be ten times the other forces


@given(seeds, few, conventions, st.sampled_from(tf.FORMULATIONS))
def test_strobing_finds_the_matrices_of_an_arm(rng, letters, convention, formulation):
    arm = random_arm(rng, letters, convention, drives=True)
    q = random_state(rng, arm.n, 3)[0].reshape(3, 1, arm.n)
    model = explicit_model(arm, q, formulation=formulation)
    M, G = arm.mass_matrix(q), arm.gravity_forces(q)
    size = max(np.abs(M).max(), np.abs(G).max())
    assert model.coriolis_coefficients.shape == (3, 1, arm.n, arm.n, arm.n)
    assert error_beside(model.mass_matrix, M, size) < STROBED
    assert error_beside(model.coriolis_coefficients, arm.coriolis_coefficients(q), size) < STROBED
    assert error_beside(model.gravity_forces, G, size) < STROBED


@pytest.mark.parametrize("robot", ["puma560", "delta", "four-bar", "3-rps", "motion-rig"])
def test_its_accelerations_are_those_of_forward_dynamics(robot):
    """Without friction; several speeds at each position, which are solved with one model."""
    own = tf.load(robot)
    q, qd, tau = own.random_states(4, seed=2)
    model = explicit_model(own, q)
    found = model.acceleration(qd, tau)
    expected = own.without_friction().forward_dynamics(q, qd, tau)
    assert error(found, expected) < 10 * solve_tolerance(model.mass_matrix)
    assert not np.allclose(found, model.acceleration(qd * 0, tau))


@pytest.mark.parametrize("formulation", ["exact", "dasgupta1998"])
def test_a_platform_has_leg_forces_and_twists(formulation):
    platform = random_platform(np.random.default_rng(3))
    pose, twist, acceleration = random_motion(np.random.default_rng(4), (3,))
    model = explicit_model(platform, pose, formulation=formulation)
    velocity_forces = np.einsum("...ijk,...j,...k->...i", model.coriolis_coefficients, twist, twist)
    forces = (model.mass_matrix @ acceleration[..., None])[..., 0] + velocity_forces + model.gravity_forces
    expected = platform.without_friction().inverse_dynamics(pose, twist, acceleration, formulation=formulation)
    tolerance = solve_tolerance(platform.force_matrix(pose))
    assert error(forces, expected) < tolerance
    by_wrenches = np.linalg.solve(platform.force_matrix(pose), platform.mass_matrix(pose))
    assert (error(model.mass_matrix, by_wrenches, core=2) < tolerance) == (formulation == "exact")


def test_a_robot_of_a_users_own_kind():
    """A cart with a pendulum, closed form."""
    cart, angle = CartPendulum(friction=0.0), np.array([0.4, -1.2])
    m, length = cart.parameters["mass"], cart.parameters["length"]
    model = explicit_model(cart, np.stack([angle, angle], axis=-1))
    b, s = m * length * np.cos(angle), m * length * np.sin(angle)
    one = np.ones(2)
    M = np.moveaxis(np.array([[(2.0 + m) * one, b], [b, m * length**2 * one]]), -1, 0)
    C = np.zeros((2, 2, 2, 2))
    C[:, 0, 1, 1] = -s
    assert error(model.mass_matrix, M, core=2) < FORMULATIONS
    assert error(model.coriolis_coefficients, C, core=3) < FORMULATIONS
    assert error(model.gravity_forces, np.stack([0 * s, 9.81 * s], axis=-1)) < FORMULATIONS


class FreeRod(CartPendulum):
    actuators = CartPendulum.actuators[:1]


def test_other_robots_and_formulations_are_refused():
    arm = random_arm(np.random.default_rng(1), "RP")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"unknown formulation 'newton'.*Use one of lagrange-euler"):
        explicit_model(arm, [0.1, 0.2], formulation="newton")
    with pytest.raises(tf.ModelError, match="expected a robot such as a SerialArm"):
        explicit_model("puma560", [0.0] * 6)
    with pytest.raises(tf.ShapeError, match="random RP has 2 joints"):
        explicit_model(arm, [0.1, 0.2, 0.3])
    with pytest.raises(tf.ShapeError, match=r"force.*2 forces, one for each actuator"):
        explicit_model(arm, [0.1, 0.2]).acceleration([0.1, 0.2], [1.0])
    with pytest.raises(tf.UnsupportedFeatureError, match=r"has 1 actuator for 2 coordinates.*Use mass_matrix"):
        explicit_model(FreeRod(), [0.1, 0.2])
    with pytest.raises(tf.UnsupportedFeatureError, match="operations are counted of serial arms; box is a"):
        explicit_model_cost(tf.load("box"))
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown formulation 'exact'"):
        explicit_model_cost(arm, "exact")
    for wrong in (0, 2.5, True):
        with pytest.raises(tf.ModelError, match="n: expected a whole number >= 1"):
            strobing_cost(wrong, 10, 5)
    with pytest.raises(tf.ModelError, match="inward: expected a number >= 0"):
        strobing_cost(6, 10, -5)


def test_a_link_without_mass_has_no_acceleration():
    arm = random_arm(np.random.default_rng(2), "RPR")
    light = arm.replace(mass=[2.0, 1.0, 0.0], inertia=[*(joint.inertia for joint in arm.joints[:2]), np.zeros((3, 3))])
    with pytest.raises(tf.SingularityError, match="the mass matrix has no inverse; a link without mass"):
        explicit_model(light, [0.1, 0.2, 0.3]).acceleration(np.zeros(3), np.ones(3))


def test_strobing_costs_orders():
    """Third differences: M grows with n^2, the coefficients with n^3 in both passes, as printed in one."""
    at = {n: strobing_cost(n, 10, 5) for n in range(1, 7)}
    assert at[6] == (15 * 21, 10 * 91 + 5 * 126, 10 * 91 + 5 * 21)
    for field, orders in {"mass_matrix": 0, "coefficients": 35, "coefficients_as_printed": 20}.items():
        values = [getattr(cost, field) for cost in at.values()]
        assert set(np.diff(values, 3)) == {orders}


def test_an_arms_own_cost_has_these_orders():
    """With twice the joints about 4 times the operations for M and for M and C + G, and 8 times for all C^i_jk."""
    six, twelve = (explicit_model_cost(random_arm(np.random.default_rng(n), "R" * n)) for n in (6, 12))
    for a, b, order in zip(six, twelve, (4, 8, 4), strict=True):
        assert 0.75 * order < b.flops / a.flops < 1.25 * order
    arm = random_arm(np.random.default_rng(6), "RPRRPR")
    one = tf.operation_count(arm, "newton-euler").flops
    cost = explicit_model_cost(arm, "newton-euler")
    assert cost.mass_matrix.flops < cost.step.flops < cost.mass_matrix.flops + one
    assert cost.step.flops < cost.explicit_model.flops < (6 + 21 + 1) * one
