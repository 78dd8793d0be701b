"""The closed form of Pedrammehr et al. as matrices, of random platforms: against its own forces and the exact model."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.platforms import random_motion, random_platform
from support.tolerances import FORMULATIONS, error, solve_tolerance
from tauforge.analysis import closed_form_terms
from tauforge.formulations.stewart import MODELS
from tauforge.robots.poses import transforms

SWITCHES = MODELS["pedrammehr2012-closed"].corrections
EXACT = tuple(name for name in SWITCHES if name != "own_axes")


@pytest.fixture(scope="module")
def platform():
    return random_platform(np.random.default_rng(21))


@pytest.fixture(scope="module")
def states():
    return random_motion(np.random.default_rng(22), (2, 3))


def times(matrix, vector):
    return (matrix @ vector[..., None])[..., 0]


@pytest.mark.parametrize("corrections", [(), ("spin_in_forces",), ("own_axes", "extension"), EXACT])
def test_the_matrices_give_the_forces_of_the_closed_form(platform, states, corrections):
    pose, twist, acceleration = states
    found = closed_form_terms(platform, pose, twist, corrections=corrections)
    forces = platform.inverse_dynamics(*states, model="pedrammehr2012-closed", corrections=corrections)
    H = platform.force_matrix(pose)
    by_matrices = np.linalg.solve(H, (times(found.mass_matrix, acceleration) + found.bias_wrench)[..., None])[..., 0]
    assert error(by_matrices, forces) < solve_tolerance(H)


def test_with_every_correction_they_are_the_exact_models(platform, states):
    pose, twist, _ = states
    found, printed = (closed_form_terms(platform, pose, twist, corrections=names) for names in (EXACT, ()))
    tolerance = solve_tolerance(platform.force_matrix(pose))
    assert error(found.mass_matrix, platform.mass_matrix(pose), core=2) < tolerance
    assert error(found.bias_wrench, platform.bias_wrench(pose, twist)) < tolerance
    assert error(printed.mass_matrix, platform.mass_matrix(pose), core=2) > 1e-3
    skewed = printed.mass_matrix - np.swapaxes(printed.mass_matrix, -1, -2)
    assert np.abs(skewed).max() > 1e-3 * np.abs(printed.mass_matrix).max()


def test_legs_add_up_to_the_whole(platform, states):
    """Eqs 48 and 51: what is left without the legs is the platform's own."""
    pose, twist, _ = states
    found = closed_form_terms(platform, pose, twist)
    massless = {"lower_mass": 0, "upper_mass": 0, "lower_inertia": [0, 0, 0], "upper_inertia": [0, 0, 0]}
    alone = closed_form_terms(platform.replace(**massless, reflected_mass=0, friction=(0, 0, 0)), pose, twist)
    assert not alone.leg_masses.any()
    assert not alone.leg_forces.any()
    Q, V = found.leg_masses, found.leg_forces
    assert error(found.mass_matrix[..., :3, :3], Q.sum(axis=-3) + np.eye(3) * platform.platform_mass) < FORMULATIONS
    assert error((found.bias_wrench - alone.bias_wrench)[..., :3], V.sum(axis=-2)) < FORMULATIONS
    q_x = skew(np.einsum("...ab,ib->...ia", transforms(pose)[..., :3, :3], platform.platform_points))
    added = (found.mass_matrix - alone.mass_matrix)[..., 3:, 3:]
    assert error(added, -(q_x @ Q @ q_x).sum(axis=-3)) < 10 * FORMULATIONS


def skew(v):
    """[v]x of vectors (..., 3)."""
    return np.swapaxes(np.cross(v[..., None, :], np.eye(3)), -1, -2)


def test_q_is_that_of_eq_42(states):
    """As printed but for I_ui in the place of L_ui, with inertias about the mass centres."""
    own = random_platform(np.random.default_rng(23), friction=(0, 0, 0), reflected_mass=0)
    state = [x[0, 0] for x in states]
    found = closed_form_terms(own, *state[:2], corrections=("legs_once",))
    bodies, motion = own.leg_bodies(*state), own.leg_motion(*state)
    for i in range(6):
        n, l, u = motion.directions[i], motion.lengths[i], own.universal_axes[i] / np.linalg.norm(own.universal_axes[i])
        c = np.cross(u, np.cross(u, n) / np.linalg.norm(np.cross(u, n)))
        I = bodies.lower_inertias[i] + bodies.upper_inertias[i]
        m_d, m_u = own.lower_mass[i], own.upper_mass[i]
        L = [centres[i] - own.base_points[i] for centres in (bodies.lower_centres, bodies.upper_centres)]
        n_x, squares = skew(n), m_d * skew(L[0]) @ skew(L[0]) + m_u * skew(L[1]) @ skew(L[1])
        twisted = np.outer(n, u) @ n[:, None] @ (u @ n_x)[None] / (l**2 * (1 - (u @ n) ** 2))
        Q = m_u * np.outer(n, n) + n_x @ (squares - I) @ n_x / l**2
        Q += np.outer(np.cross(c, n) / (c @ n), n @ squares @ n_x / l**2 - n @ I @ twisted)
        assert error(found.leg_masses[i], Q, core=2) < 10 * FORMULATIONS


def test_what_has_no_closed_form(platform, states):
    pose, twist, _ = states
    with pytest.raises(tf.UnsupportedFeatureError, match="has no correction 'spin'"):
        closed_form_terms(platform, pose, twist, corrections=("spin",))
    with pytest.raises(tf.UnsupportedFeatureError, match="expected a Stewart platform; puma560 is a serial arm"):
        closed_form_terms(tf.load("puma560"), pose, twist)
    with pytest.raises(tf.UnsupportedFeatureError, match="universal"):
        closed_form_terms(platform.replace(base_joint="spherical"), pose, twist)
    with pytest.raises(tf.UnsupportedFeatureError, match="universal"):
        closed_form_terms(platform.replace(base_joint="spherical", friction=(0, 0, 0)), pose, twist)
    with pytest.raises(tf.ShapeError):
        closed_form_terms(platform, pose[..., :5], twist)
    gone = pose.copy()
    gone[0, 0, 2] = np.nan
    found = closed_form_terms(platform, gone, twist)
    assert np.isnan(found.mass_matrix[0, 0]).all()
    assert np.isfinite(found.bias_wrench[0, 1:]).all()
