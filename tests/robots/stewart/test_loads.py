"""Payloads, moving bases and derivatives as arguments and methods of a platform: batches, kernels, bad input."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.platforms import HOME, quarter_turned, random_motion, random_platform, with_spherical_legs
from support.strategies import random_base_motion, random_inertia, random_payload
from support.tolerances import FORMULATIONS, ROUNDING, SINGLE, error

RNG = np.random.default_rng(8)
PLATFORM = random_platform(RNG)
SPHERICAL = with_spherical_legs(PLATFORM, RNG)
REST = np.zeros(6)
PAYLOAD, DECK = random_payload(RNG), random_base_motion(RNG)
DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")


def all_calls(platform, state, forces):
    """Method, arguments, and whether it takes a moving base."""
    pose, twist, _ = state
    return (
        ("inverse_dynamics", state, True),
        ("forward_dynamics", (pose, twist, forces), True),
        ("joint_reactions", state, True),
        ("mass_matrix", (pose,), False),
        ("bias_wrench", (pose, twist), False),
        ("energy", (pose, twist), False),
        ("inverse_dynamics_derivatives", state, False),
        ("forward_dynamics_derivatives", (pose, twist, forces), False),
    )


def arrays(result):
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("kind", ["universal", "spherical"])
def test_a_load_for_each_row(kind):
    """A payload and a base motion per row of the batch give what each row gives alone."""
    rng = np.random.default_rng(1)
    platform = PLATFORM if kind == "universal" else SPHERICAL.replace(friction=(0.0, 1.0, 0.0))
    state = random_motion(rng, (3,))
    forces = platform.inverse_dynamics(*state)
    payload = tf.Payload(rng.uniform(1, 5, 3), rng.normal(size=(3, 3)), [random_inertia(rng) for _ in range(3)])
    deck = tf.BaseMotion(*rng.normal(size=(3, 3, 3)))
    for method, arguments, moves in all_calls(platform, state, forces):
        loads = {"payload": payload} | ({"base_motion": deck} if moves else {})
        many = arrays(getattr(platform, method)(*arguments, **loads))
        for k in range(3):
            one = {"payload": tf.Payload(payload.mass[k], payload.com[k], payload.inertia[k])}
            if moves:
                one["base_motion"] = tf.BaseMotion(*(x[k] for x in deck))
            alone = arrays(getattr(platform, method)(*(x[k] for x in arguments), **one))
            for a, b in zip(many, alone, strict=True):
                assert np.abs(a[k] - b).max() <= ROUNDING * np.abs(b).max(), method


@pytest.mark.usefixtures("kernels_on")
@pytest.mark.parametrize("kind", ["universal", "spherical"])
def test_kernels(kind, monkeypatch):
    """Compiled, by one kernel or by several, in both precisions, against the reference."""
    rng = np.random.default_rng(2)
    platform = tf.load("motion-rig") if kind == "universal" else SPHERICAL.replace(friction=(0.0, 1.0, 0.0))
    around = HOME if kind == "spherical" else np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    state = [x.astype(np.float32).astype(float) for x in random_motion(rng, (5,), around)]
    forces = platform.inverse_dynamics(*state).astype(np.float32).astype(float)
    calls = [
        (method, arguments, load)
        for method, arguments, moves in all_calls(platform, state, forces)
        for load in ({}, {"payload": PAYLOAD, "base_motion": DECK} if moves else {"payload": PAYLOAD})
    ]
    found = {
        (method, len(load)): arrays(getattr(platform, method)(*arguments, **load)) for method, arguments, load in calls
    }
    single = [x.astype(np.float32) for x in state]
    for method in DERIVATIVES:
        arguments = single if method.startswith("inverse") else (*single[:2], forces.astype(np.float32))
        found[method, "float32"] = arrays(getattr(platform, method)(*arguments))
        assert all(x.dtype == np.float32 for x in found[method, "float32"])
    monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    for method, arguments, load in calls:
        reference = arrays(getattr(platform, method)(*arguments, **load))
        for a, b in zip(found[method, len(load)], reference, strict=True):
            assert np.abs(a - b).max() <= FORMULATIONS * np.abs(b).max(), (method, *load)
    for method in DERIVATIVES:
        for a, b in zip(found[method, "float32"], found[method, 0], strict=True):
            assert error(a, b, core=2) < SINGLE, method


@pytest.mark.usefixtures("kernels_on")
def test_plain_calls_stay_plain():
    """A payload, then none, then a payload again: no call gets another's answer."""
    rig, state = tf.load("motion-rig"), (np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), REST, REST)
    bare = rig.inverse_dynamics(*state)
    held = rig.inverse_dynamics(*state, payload=PAYLOAD)
    assert np.array_equal(rig.inverse_dynamics(*state), bare)
    assert np.array_equal(rig.inverse_dynamics(*state, payload=PAYLOAD), held)
    assert error(held, bare) > 1e-3
    assert np.array_equal(
        rig.inverse_dynamics(*state, base_motion=DECK), rig.inverse_dynamics(*state, base_motion=DECK)
    )


@pytest.mark.parametrize("method", DERIVATIVES)
def test_rows_that_are_not_finite(method):
    pose, twist, acceleration = random_motion(np.random.default_rng(3), (4,))
    last = acceleration if method.startswith("inverse") else PLATFORM.inverse_dynamics(pose, twist, acceleration)
    whole = getattr(PLATFORM, method)(pose, twist, last)
    for spoilt in range(3):
        arguments = [x.copy() for x in (pose, twist, last)]
        arguments[spoilt][1, 2] = np.nan
        for a, b in zip(getattr(PLATFORM, method)(*arguments), whole, strict=True):
            assert np.isnan(a[1]).all()
            assert np.array_equal(np.delete(a, 1, axis=0), np.delete(b, 1, axis=0))
    payload = tf.Payload([1.0, np.nan, 1.0, 1.0])
    for a in getattr(PLATFORM, method)(pose, twist, last, payload=payload):
        assert np.array_equal(np.isnan(a).all(axis=(-1, -2)), [False, True, False, False])


def test_singular_poses():
    """Where H has no inverse there are no forces, and no slopes of them; accelerations have slopes."""
    rig = tf.load("motion-rig")
    poses = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], quarter_turned()])
    with pytest.raises(tf.SingularityError, match=r"the legs cannot hold the platform \(row 1, "):
        rig.inverse_dynamics_derivatives(poses, REST, REST)
    for x in rig.inverse_dynamics_derivatives(poses, REST, REST, on_singular="nan"):
        assert np.isfinite(x[0]).all()
        assert np.isnan(x[1]).all()
    for x in rig.forward_dynamics_derivatives(poses, REST, REST):
        assert np.isfinite(x).all()
    with pytest.raises(tf.SingularityError, match="cannot hold"):
        rig.inverse_dynamics(poses, REST, REST, payload=PAYLOAD, base_motion=DECK)
    far = rig.inverse_dynamics(poses, REST, REST, payload=PAYLOAD, base_motion=DECK, on_singular="nan")
    assert np.array_equal(np.isnan(far).all(axis=-1), [False, True])
    nothing = dict.fromkeys(("lower_mass", "upper_mass", "platform_mass", "reflected_mass"), 0.0)
    nothing |= dict.fromkeys(("lower_inertia", "upper_inertia", "platform_inertia"), (0.0, 0.0, 0.0))
    empty = rig.replace(**nothing)
    for method in ("forward_dynamics", "forward_dynamics_derivatives"):
        with pytest.raises(tf.SingularityError, match="the mass matrix has no inverse"):
            getattr(empty, method)(poses[0], REST, REST)
        heavy = arrays(getattr(empty, method)(poses[0], REST, REST, payload=tf.Payload(2.0, inertia=(1.0, 1.0, 1.0))))
        assert all(np.isfinite(x).all() for x in heavy)


def test_bad_input():
    state = (HOME, REST, REST)
    for method in ("inverse_dynamics", "joint_reactions", "inverse_dynamics_derivatives"):
        with pytest.raises(tf.ShapeError, match=r"payload: expected a tauforge\.Payload, got float"):
            getattr(PLATFORM, method)(*state, payload=2.0)
    with pytest.raises(tf.ShapeError, match=r"base_motion: expected a tauforge\.BaseMotion, got tuple"):
        PLATFORM.forward_dynamics(*state, base_motion=(0, 0, 1))
    with pytest.raises(tf.ShapeError, match="leading shapes that broadcast together"):
        PLATFORM.inverse_dynamics(*random_motion(RNG, (3,)), payload=tf.Payload([1.0, 2.0]))
    for model in ("dasgupta1998", "pedrammehr2012", "pedrammehr2012-closed"):
        with pytest.raises(tf.UnsupportedFeatureError, match=f"{model} does not take a moving base.*exact-vectors"):
            PLATFORM.inverse_dynamics(*state, base_motion=DECK, model=model)
    with pytest.raises(tf.ShapeError, match=r"payload: expected a tauforge\.Payload, got int"):
        PLATFORM.carrying(3)
    with pytest.raises(tf.ModelError, match="expected one payload, not a batch"):
        PLATFORM.carrying(tf.Payload([1.0, 2.0]))
    bare = random_platform(RNG, masses=False)
    for call in (lambda: bare.carrying(PAYLOAD), lambda: bare.inverse_dynamics_derivatives(*state)):
        with pytest.raises(tf.ModelError, match="has a geometry but no masses"):
            call()


def test_a_base_that_moves_under_rubbing_spherical_joints():
    """A base that turns would spin the legs by their friction. Without it they keep their absolute spin of zero."""
    state = (HOME, REST, REST)
    rubbing = SPHERICAL.replace(friction=(0.5, 1.0, 0.0))
    for method in ("inverse_dynamics", "forward_dynamics", "joint_reactions"):
        with pytest.raises(tf.UnsupportedFeatureError, match=r"nothing holds its spin.*a change of gravity"):
            getattr(rubbing, method)(*state, base_motion=DECK)
    smooth = rubbing.replace(friction=(0.0, 1.0, 0.0))
    assert np.isfinite(smooth.inverse_dynamics(*state, base_motion=DECK)).all()


def test_n_and_carrying():
    rig = tf.load("motion-rig")
    assert rig.n == 6
    heavy = rig.carrying(tf.Payload(10.0, (0.0, 0.0, 0.2)))
    assert heavy.platform_mass == rig.platform_mass + 10.0
    assert type(heavy) is type(rig)
    assert heavy.name == rig.name
    assert heavy.base_points == rig.base_points


def test_payloads_as_varying_fields():
    """Row by row those of `carrying`, also beside a platform's mass that varies."""
    payloads = tf.Payload(np.array([1.0, 2.0]), np.array([[0.1, 0.0, 0.2], [0.0, -0.3, 0.1]]), random_inertia(RNG))
    masses = np.array([20.0, 30.0])
    found = PLATFORM._fields_carrying(payloads, {"platform_mass": masses})
    for k in range(2):
        one = tf.Payload(payloads.mass[k], payloads.com[k], payloads.inertia)
        heavy = PLATFORM.replace(platform_mass=masses[k]).carrying(one)
        for field, values in found.items():
            assert error(values[k], getattr(heavy, field), core=values.ndim - 1) < ROUNDING, field
