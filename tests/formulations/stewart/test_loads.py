"""Payloads on a platform and a base that moves, proved by witnesses that share no formula with the package.

A payload is a 14th body in Newton's and Euler's equations. A moving base carries all bodies: their absolute motions
are derivatives of where they are, by JAX, for Newton-Euler over 13 bodies and for Lagrange from energies in the
inertial frame.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import tauforge as tf
from support.moving_base_witness import lagrange
from support.spherical_witness import random_spherical, random_state
from support.stewart_witness import newton_euler, random_platform, random_platform_state
from support.strategies import random_base_motion, random_inertia, random_payload, seeds
from support.tolerances import FORMULATIONS, ROUNDING, error, solve_tolerance
from tauforge.analysis.stewart_forces import power_balance

POWER = 1e-12  # beside the sum of the powers' magnitudes
JOINTS = ("universal", "prismatic", "spherical")
MODELS = ("exact", "exact-vectors")
KINDS = ("universal", "spherical")


def example(rng, kind="universal"):
    """Friction in every joint that may have it, reflected masses, tilted gravity; pose, twist, acceleration, wrench."""
    if kind == "universal":
        platform = random_platform(rng)
        return platform, *random_platform_state(rng, platform)
    platform = random_spherical(rng)
    platform = platform.replace(friction=(0.0, platform.friction[1], 0.0))
    return platform, *random_state(rng, platform)


# ------------------------------------------------------------------------------------------------------------ payloads


@given(seeds)
def test_a_payload_is_a_14th_body(rng):
    platform, *state, wrench = example(rng)
    payload = random_payload(rng)
    found = newton_euler(platform, *state, wrench, payload=payload)
    for model in MODELS:
        F = platform.inverse_dynamics(*state, external_wrench=wrench, payload=payload, model=model)
        assert error(F, found.actuators) < FORMULATIONS, model
    reactions = platform.joint_reactions(*state, external_wrench=wrench, payload=payload)
    for joint in JOINTS:
        ours, theirs = getattr(reactions, joint), getattr(found, joint)
        assert error(ours[:, :3], theirs[:, :3], core=2) < FORMULATIONS, joint
        assert error(ours[:, 3:], theirs[:, 3:], core=2) < FORMULATIONS, joint
    pose, twist, acceleration = state
    back = platform.forward_dynamics(pose, twist, found.actuators, external_wrench=wrench, payload=payload)
    M = platform.mass_matrix(pose, payload=payload)
    assert error(back, acceleration) < max(FORMULATIONS, solve_tolerance(M))
    assert np.array_equal(M, M.T)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(rng=seeds)
def test_carrying_a_payload(kind, rng):
    """As an argument of a call and as a part of the platform it does the same, in every model."""
    platform, pose, twist, acceleration, wrench = example(rng, kind)
    payload = random_payload(rng)
    heavy = platform.carrying(payload)
    state = (pose, twist, acceleration)
    for model in platform.models:
        ours, theirs = (
            robot.inverse_dynamics(*state, external_wrench=wrench, model=model, **load)
            for robot, load in ((platform, {"payload": payload}), (heavy, {}))
        )
        assert error(ours, theirs) < FORMULATIONS, model
    F = heavy.inverse_dynamics(*state)
    calls = {
        "forward_dynamics": (pose, twist, F),
        "mass_matrix": (pose,),
        "bias_wrench": (pose, twist),
        "energy": (pose, twist),
        "joint_reactions": state,
        "inverse_dynamics_derivatives": state,
        "forward_dynamics_derivatives": (pose, twist, F),
    }
    for method, arguments in calls.items():
        ours = getattr(platform, method)(*arguments, payload=payload)
        theirs = getattr(heavy, method)(*arguments)
        pairs = zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours, theirs)]
        for a, b in pairs:
            core = np.ndim(a)
            if core and np.any(b):
                assert error(a, b, core=core) < FORMULATIONS, method
            else:
                assert np.abs(a - b) <= ROUNDING * np.abs(b) if not core else not np.any(a), method
    powers = power_balance(heavy, *state, platform.inverse_dynamics(*state, payload=payload), np.zeros(6))
    assert abs(powers.imbalance) < POWER * sum(map(abs, powers))


@given(seeds)
def test_payloads_that_are_nothing_or_all(rng):
    """A payload without mass changes nothing; on a platform without mass it is the platform."""
    platform, *state, _ = example(rng)
    assert error(platform.inverse_dynamics(*state, payload=tf.Payload(0.0)), platform.inverse_dynamics(*state)) < (
        ROUNDING
    )
    body = {"platform_mass": 7.0, "platform_com": (0.1, -0.2, 0.3), "platform_inertia": random_inertia(rng)}
    empty = platform.replace(platform_mass=0.0, platform_inertia=(0.0, 0.0, 0.0))
    payload = tf.Payload(*body.values())
    full = platform.replace(**body).inverse_dynamics(*state)
    assert error(empty.inverse_dynamics(*state, payload=payload), full) < FORMULATIONS
    assert error(empty.carrying(payload).inverse_dynamics(*state), full) < FORMULATIONS


# ---------------------------------------------------------------------------------------------------------- moving base


@given(seeds)
def test_newton_euler_on_a_moving_base(rng):
    platform, *state, wrench = example(rng)
    moving, payload = random_base_motion(rng), random_payload(rng)
    found = newton_euler(platform, *state, wrench, base=np.array(moving), payload=payload)
    loads = {"external_wrench": wrench, "base_motion": moving, "payload": payload}
    for model in MODELS:
        F = platform.inverse_dynamics(*state, **loads, model=model)
        assert error(F, found.actuators) < FORMULATIONS, model
    reactions = platform.joint_reactions(*state, **loads)
    for joint in JOINTS:
        ours, theirs = getattr(reactions, joint), getattr(found, joint)
        assert error(ours[:, :3], theirs[:, :3], core=2) < FORMULATIONS, joint
        assert error(ours[:, 3:], theirs[:, 3:], core=2) < FORMULATIONS, joint
    back = platform.forward_dynamics(*state[:2], found.actuators, **loads)
    M = platform.mass_matrix(state[0], payload=payload)
    assert error(back, state[2]) < max(FORMULATIONS, solve_tolerance(M))
    assert error(F, platform.inverse_dynamics(*state, external_wrench=wrench, payload=payload)) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(rng=seeds)
def test_lagrange_in_the_inertial_frame(kind, rng):
    """Legs between spherical joints: their rolls are coordinates, and their absolute spins zero."""
    platform, *state, wrench = example(rng, kind)
    moving = random_base_motion(rng)
    found = lagrange(platform, *state, wrench, np.array(moving))
    loads = {"external_wrench": wrench, "base_motion": moving}
    for model in MODELS:
        assert error(platform.inverse_dynamics(*state, **loads, model=model), found) < FORMULATIONS, model
    back = platform.forward_dynamics(*state[:2], found, **loads)
    assert error(back, state[2]) < max(FORMULATIONS, solve_tolerance(platform.mass_matrix(state[0])))
    F = platform.inverse_dynamics(*state, **loads)
    s = platform.leg_motion(state[0]).directions
    lengths = platform.leg_motion(*state)
    slide = F - platform.friction[1] * lengths.rates - np.array(platform.reflected_mass) * lengths.accelerations
    prismatic = platform.joint_reactions(*state, **loads).prismatic
    assert error((prismatic[:, :3] * s).sum(-1), slide) < FORMULATIONS


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(rng=seeds)
def test_what_a_moving_base_must_not_change(kind, rng):
    """An acceleration is a change of gravity; a base at rest is none; any origin on the base will do."""
    platform, pose, twist, acceleration, wrench = example(rng, kind)
    state = (pose, twist, acceleration)
    for model in ("exact", "exact-vectors", "massless-legs"):
        F = platform.inverse_dynamics(*state, external_wrench=wrench, model=model)
        still = platform.inverse_dynamics(*state, external_wrench=wrench, base_motion=tf.BaseMotion(), model=model)
        assert error(still, F) < FORMULATIONS, model
        a = rng.normal(size=3)
        lifted = platform.inverse_dynamics(*state, base_motion=tf.BaseMotion(linear_acceleration=a), model=model)
        heavier = platform.replace(gravity=np.array(platform.gravity) - a)
        assert error(lifted, heavier.inverse_dynamics(*state, model=model)) < FORMULATIONS, model
        omega, alpha, a = moving = rng.normal(size=(3, 3))
        aside = rng.normal(size=3)
        elsewhere = platform.replace(
            base_points=np.array(platform.base_points) - aside, universal_axes=platform.universal_axes
        )
        there = tf.BaseMotion(omega, alpha, a + np.cross(alpha, aside) + np.cross(omega, np.cross(omega, aside)))
        ours = platform.inverse_dynamics(*state, base_motion=tf.BaseMotion(*moving), model=model)
        moved = pose - [*aside, 0, 0, 0]
        assert error(elsewhere.inverse_dynamics(moved, twist, acceleration, base_motion=there, model=model), ours) < (
            FORMULATIONS
        ), model


@given(seeds)
def test_a_platform_that_stands_still_while_its_base_turns(rng):
    """Massless legs and a platform at rest in the world: its legs hold its weight, whatever the base does."""
    platform, pose, *_ = example(rng)
    omega, alpha, a = rng.normal(size=(3, 3))
    twist = -np.concatenate([np.cross(omega, pose[:3]), omega])
    seen = -a - np.cross(alpha, pose[:3]) - np.cross(omega, np.cross(omega, pose[:3]) + 2 * twist[:3])
    acceleration = np.concatenate([seen, -alpha])
    moving = tf.BaseMotion(omega, alpha, a)
    F = platform.inverse_dynamics(pose, twist, acceleration, base_motion=moving, model="massless-legs")
    still = platform.inverse_dynamics(pose, np.zeros(6), np.zeros(6), model="massless-legs")
    assert error(F, still) < FORMULATIONS
