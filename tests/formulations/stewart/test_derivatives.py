"""Derivatives of a platform's inverse and forward dynamics.

Against dual numbers through the other exact form, the vector equations, which share nothing with the compiled one but
the platform's parameters; against differences of Newton-Euler over 13 bodies; against each other.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from support.spherical_witness import random_spherical, random_state
from support.stewart_witness import newton_euler, random_platform, random_platform_state
from support.strategies import random_payload, seeds
from support.tolerances import FORMULATIONS, error, solve_tolerance
from tauforge.algebra.dual import derivative, seeded
from tauforge.evaluation.functions import flat, results_of
from tauforge.formulations.stewart.lumping import lumped
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.stewart import formulas
from tauforge.robots.stewart.model import PlatformModel
from tauforge.tracing.graph import trace

KINDS = ("universal", "spherical")
FRICTIONS = ("rubbing", "smooth platform joints", "none")
STEP = 1e-5  # of central differences in numbers of about 1
# Rounding of a 78 x 78 solve with a condition number of 1e4, 1e-13 of a force, over the step; the third derivative
# times STEP^2 is less
CENTRAL = 1e-7


def example(rng, kind):
    if kind == "universal":
        platform = random_platform(rng)
        return platform, *random_platform_state(rng, platform)[:3]
    platform = random_spherical(rng)
    return platform, *random_state(rng, platform)[:3]


def by_duals(platform, state):
    """Derivatives of the vector equations, (6, 18)."""
    parameters = platform.parameters
    model = PlatformModel(parameters, lumped(parameters))
    pose, twist, acceleration = (seeded(x.tolist(), 6 * k) for k, x in enumerate(state))
    forces = formulas.inverse_dynamics(model, pose, twist, acceleration, model="exact-vectors").results
    return np.array([[derivative(f, k) for k in range(18)] for f in forces])


@pytest.mark.parametrize("friction", FRICTIONS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(rng=seeds)
def test_duals_of_the_vector_equations(kind, friction, rng):
    platform, *state = example(rng, kind)
    if friction != "rubbing":
        platform = platform.replace(friction=(*platform.friction[:2], 0.0))
    if friction == "none":
        platform = platform.without_friction().replace(reflected_mass=0.0)
    ours = platform.inverse_dynamics_derivatives(*state)
    H = platform.force_matrix(state[0])
    for x, expected in zip(ours, np.split(by_duals(platform, state), 3, axis=1), strict=True):
        assert error(x, expected, core=2) < max(FORMULATIONS, solve_tolerance(H))


@settings(max_examples=8)
@given(rng=seeds)
def test_differences_of_newton_euler(rng):
    """13 bodies, 78 unknowns, a payload as a 14th body."""
    platform, *state = example(rng, "universal")
    payload = random_payload(rng)

    def forces(x):
        return newton_euler(platform, *np.split(x, 3), np.zeros(6), payload=payload).actuators

    at = np.concatenate(state)
    expected = np.array([(forces(at + h) - forces(at - h)) / (2 * STEP) for h in STEP * np.eye(18)]).T
    ours = platform.inverse_dynamics_derivatives(*state, payload=payload)
    for x, y in zip(ours, np.split(expected, 3, axis=1), strict=True):
        assert error(x, y, core=2) < CENTRAL


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(rng=seeds)
def test_identities(kind, rng):
    """dF/da = H^-1 M; da/dF = M^-1 H; da/dx = - (dF/da)^-1 dF/dx, for pose and twist; with a payload too."""
    platform, pose, twist, acceleration = example(rng, kind)
    load = {"payload": random_payload(rng)}
    F = platform.inverse_dynamics(pose, twist, acceleration, **load)
    H, M = platform.force_matrix(pose), platform.mass_matrix(pose, **load)
    inverse = platform.inverse_dynamics_derivatives(pose, twist, acceleration, **load)
    forward = platform.forward_dynamics_derivatives(pose, twist, F, **load)
    tolerance = max(FORMULATIONS, solve_tolerance(M), solve_tolerance(H))
    assert error(inverse[2], np.linalg.solve(H, M), core=2) < tolerance
    assert error(forward[2], np.linalg.solve(M, H), core=2) < tolerance
    for by_inverse, by_forward in zip(inverse[:2], forward[:2], strict=True):
        expected = -np.linalg.solve(inverse[2], by_inverse)
        assert error(by_forward, expected, core=2) < max(FORMULATIONS, solve_tolerance(inverse[2]))


@pytest.mark.parametrize(("kind", "rubs"), [("universal", True), ("universal", False), ("spherical", False)])
def test_cost(kind, rubs):
    """One direction after another would take the operations of inverse dynamics 12 times, each with its slope."""
    platform = example(np.random.default_rng(2), kind)[0]
    if not rubs:
        platform = platform.replace(friction=(*platform.friction[:2], 0.0))
    model = PlatformModel(platform.parameters, lumped(platform.parameters))

    def operations(name, last):
        sizes = {"pose": 6, "twist": 6, last: LEGS}
        graph = trace(lambda *state: flat(results_of(getattr(formulas, name)(model, *state))), sizes)
        return sum(1 for node in graph.nodes if node.args)

    for name, last in (("inverse_dynamics", "acceleration"), ("forward_dynamics", "leg_forces")):
        whole = operations(f"{name}_derivatives", last)
        assert whole < (15_000 if rubs else 12_500 if kind == "universal" else 8_500)
        assert whole < 8 * operations(name, last)
