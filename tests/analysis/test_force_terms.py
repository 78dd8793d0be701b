"""Terms of actuator forces, of robots of anybody: against inverse dynamics, matrices and deletion by hand."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.platforms import random_motion, random_platform
from support.strategies import random_arm, random_state
from support.tolerances import FORMULATIONS, error, solve_tolerance
from tauforge.analysis import ForceTerms, term_contributions

SUM = 10 * FORMULATIONS  # terms may be ten times their sum


@pytest.fixture(scope="module")
def arm():
    return random_arm(np.random.default_rng(11), "RPRR", drives=True)


@pytest.fixture(scope="module")
def states(arm):
    return random_state(np.random.default_rng(12), arm.n, 40)


@pytest.mark.parametrize("formulation", [None, "newton-euler"])
def test_terms_add_up_to_inverse_dynamics(arm, states, formulation):
    terms = term_contributions(arm, *states, formulation=formulation)
    assert terms.velocity.shape == (40, 4, 4, 4)
    assert error(terms.force(), arm.inverse_dynamics(*states)) < SUM
    one = term_contributions(arm, *(x[3] for x in states))
    assert error(one.force(), arm.inverse_dynamics(*(x[3] for x in states))) < SUM


def test_terms_are_those_of_the_arms_matrices(arm, states):
    q, qd, qdd = states
    terms = term_contributions(arm, *states)
    C = arm.coriolis_coefficients(q)
    assert np.allclose(terms.inertia[:, 1, 2], arm.mass_matrix(q)[:, 1, 2] * qdd[:, 2])
    assert np.allclose(terms.velocity[:, 0, 2, 2], C[:, 0, 2, 2] * qd[:, 2] ** 2)
    assert np.allclose(terms.velocity[:, 3, 0, 2], 2 * C[:, 3, 0, 2] * qd[:, 0] * qd[:, 2])
    assert not terms.velocity[:, 3, 2, 0].any()
    assert np.allclose(terms.friction, arm.friction_forces(qd))
    assert terms.friction.any()
    assert np.allclose(terms.gravity, arm.gravity_forces(q))


def test_one_position_with_many_rates(arm, states):
    """Every part has the leading shape of the forces."""
    q, qd, qdd = states
    terms = term_contributions(arm, q[0], qd, qdd[0])
    assert [x.shape for x in terms] == [(40, 4), (40, 4, 4), (40, 4, 4, 4), (40, 4)]
    assert error(terms.force(), arm.inverse_dynamics(q[0], qd, qdd[0])) < SUM
    with pytest.raises(tf.ShapeError, match="velocity: expected numbers, got text"):
        term_contributions(arm, q, "fast", qdd)


@pytest.mark.parametrize("robot", ["delta", "four-bar"])
def test_mechanisms(robot):
    own = tf.load(robot)
    states = own.random_states(5, seed=2)
    expected = own.inverse_dynamics(*states)
    assert error(term_contributions(own, *states).force(), expected) < 10 * solve_tolerance(own.mass_matrix(states[0]))


def test_platforms_and_robots_of_a_users_own_kind():
    """Friction of a platform's joints is in the leg forces too."""
    platform = random_platform(np.random.default_rng(3))
    states = random_motion(np.random.default_rng(4), (3,))
    terms = term_contributions(platform, *states)
    assert error(terms.force(), platform.inverse_dynamics(*states)) < solve_tolerance(platform.force_matrix(states[0]))
    assert terms.friction.any() == any(platform.friction)
    own = CartPendulum(friction=0.0)
    states = own.random_states(4)
    assert error(term_contributions(own, *states).force(), own.inverse_dynamics(*states)) < SUM


def test_shares_are_what_deleting_a_term_alone_changes(arm, states):
    terms = term_contributions(arm, *states)
    shares, largest = terms.shares(), np.abs(terms.force()).max(axis=0)
    for i, j, k in ((0, 1, 2), (2, 0, 0), (3, 3, 3)):
        keep = ForceTerms(*(np.ones_like(x, bool) for x in shares))
        keep.velocity[i, j, k] = False
        change = np.abs(terms.force(keep) - terms.force()).max(axis=0) / largest
        assert change[i] == pytest.approx(shares.velocity[i, j, k], rel=1e-9)
        assert np.allclose(terms.error(keep), change)
        assert not np.delete(change, i).any()


def test_terms_that_do_not_matter_are_left_out_elsewhere_too(arm, states):
    terms = term_contributions(arm, *states)
    keep = terms.significant(0.02)
    kept, every = (sum(int(mask.sum()) for mask in masks) for masks in (keep, terms.significant(0)))
    assert 0 < kept < every
    assert (terms.error(keep) < 0.02 * (every - kept)).all()
    assert terms.error(keep).any()
    assert not terms.error(terms.significant(0)).any()
    others = tuple(0.5 * x for x in states)
    found = term_contributions(arm, *others)
    expected = found.gravity * keep.gravity + found.friction * keep.friction
    expected = expected + np.einsum("...ij,ij->...i", found.inertia, keep.inertia.astype(float))
    expected = expected + np.einsum("...ijk,ijk->...i", found.velocity, keep.velocity.astype(float))
    assert np.allclose(found.force(keep), expected)


def test_masks_that_do_not_fit(arm, states):
    terms = term_contributions(arm, *states)
    keep = terms.significant()._replace(gravity=np.ones(3, bool))
    with pytest.raises(tf.ShapeError, match=r"keep.gravity.*expected \(4,\), got \(3,\)"):
        terms.force(keep)
    with pytest.raises(tf.ModelError, match="share"):
        terms.significant(-0.1)
