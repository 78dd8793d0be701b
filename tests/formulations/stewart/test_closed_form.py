"""The closed form, forward dynamics and free motion of Stewart platforms; how much they cost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tauforge as tf
from support.stewart_witness import random_platform, random_platform_state
from support.tolerances import EPSILON, FORMULATIONS, solve_tolerance
from tauforge.motion import pose_rates

SEEDS = range(6)
CONSERVED = 1e-9  # energy of free motion, relative to what there is of it
HOLD = 1e3  # condition number of H up to which free motion is followed


@pytest.mark.parametrize("seed", SEEDS)
def test_the_closed_form(seed):
    """H F + w = M a + eta, M symmetric to the last bit and positive definite."""
    rng = np.random.default_rng(seed)
    platform = random_platform(rng)
    pose, twist, acceleration, wrench = random_platform_state(rng, platform)
    F = platform.inverse_dynamics(pose, twist, acceleration, external_wrench=wrench)
    M, eta, H = platform.mass_matrix(pose), platform.bias_wrench(pose, twist), platform.force_matrix(pose)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0
    size = np.abs(H) @ np.abs(F) + np.abs(M) @ np.abs(acceleration) + np.abs(eta)
    assert (np.abs(H @ F + wrench - M @ acceleration - eta) < 30 * 6 * EPSILON * size.max()).all()
    back = platform.forward_dynamics(pose, twist, F, external_wrench=wrench)
    solved = solve_tolerance(M) + solve_tolerance(H)
    assert np.abs(back - acceleration).max() < solved * np.abs(acceleration).max()
    kinetic, _ = platform.energy(pose, twist)
    assert abs(twist @ M @ twist / 2 / kinetic - 1) < FORMULATIONS


@pytest.mark.parametrize("seed", SEEDS)
def test_massless_legs_are_a_platform_without_legs(seed):
    """Eq. 41 is the exact model of legs that weigh nothing and joints that do not rub."""
    rng = np.random.default_rng(seed)
    platform = random_platform(rng)
    *state, wrench = random_platform_state(rng, platform)
    light = platform.replace(
        lower_mass=0.0,
        upper_mass=0.0,
        lower_inertia=np.zeros((3, 3)),
        upper_inertia=np.zeros((3, 3)),
        reflected_mass=0.0,
    ).without_friction()
    exact = light.inverse_dynamics(*state, external_wrench=wrench)
    massless = platform.inverse_dynamics(*state, external_wrench=wrench, model="massless-legs")
    bound = max(FORMULATIONS, solve_tolerance(platform.force_matrix(state[0])))
    assert np.abs(exact - massless).max() < bound * np.abs(exact).max()


def free_motion(platform, pose, twist, duration):
    """Without leg forces, until H loses its hold: states (k, 12) of pose and twist."""

    def rates(_, y):
        acceleration = platform.forward_dynamics(y[:6], y[6:], np.zeros(6))
        return np.r_[pose_rates(y[:6], y[6:])[0], acceleration]

    def hold(_, y):
        return HOLD - platform.condition_number(y[:6])

    hold.terminal = True
    start = np.r_[pose, twist]
    found = solve_ivp(rates, (0, duration), start, method="DOP853", rtol=1e-12, atol=1e-13, events=hold)
    assert found.success
    return found


@pytest.mark.parametrize("name", ["dasgupta1998", "motion-rig", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_free_motion_keeps_its_energy(name, seed):
    rng = np.random.default_rng(seed)
    platform = random_platform(rng) if name == "random" else tf.load(name)
    platform = platform.without_friction().replace(gravity=(0, 0, 0))
    if name == "random":
        pose, *_ = random_platform_state(rng, platform)
    else:
        pose = np.array([0.2, 0.0, 0.5, 0.0, 0.0, 0.0] if name == "dasgupta1998" else [0, 0, 1.0, 0, 0, 0])
    found = free_motion(platform, pose, rng.normal(size=6) * 0.3, 1.0)
    assert found.t[-1] > 0.05  # long enough to mean something
    kinetic, potential = platform.energy(found.y[:6].T, found.y[6:].T)
    assert not potential.any()
    assert np.abs(kinetic / kinetic[0] - 1).max() < CONSERVED


def test_falling_turns_height_into_speed():
    """With gravity: the sum of both energies stays."""
    platform = tf.load("motion-rig").without_friction()
    found = free_motion(platform, np.array([0, 0, 1.2, 0.1, 0.0, 0.0]), np.zeros(6), 0.15)
    kinetic, potential = platform.energy(found.y[:6].T, found.y[6:].T)
    assert kinetic[-1] > 10
    assert np.abs(kinetic + potential - potential[0]).max() < CONSERVED * kinetic[-1]


def test_the_box_needs_pivots():
    """Exact zeros on the diagonal of H: forces are finite and right all the same, compiled or not."""
    platform = tf.load("box")
    pose = np.zeros(6)
    H = platform.force_matrix(pose)
    assert (np.diag(H) == 0).any()
    F = platform.inverse_dynamics(pose, np.zeros(6), np.zeros(6))
    assert np.allclose(H @ F, platform.bias_wrench(pose, np.zeros(6)), atol=1e-10)


def test_what_it_costs():
    """At most 2042 floating-point operations, beside the paper's 4889 for its simpler model."""
    platform = tf.load("dasgupta1998")
    exact = tf.operation_count(platform)
    assert exact.flops == exact.multiplications + exact.additions + exact.divisions + exact.roots <= 2042
    assert exact.sincos == 6
    assert exact.flops < tf.operation_count(platform, "dasgupta1998").flops < 4889
    assert exact.as_written.flops >= exact.flops
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown model 'newton-euler'"):
        tf.operation_count(platform, "newton-euler")
