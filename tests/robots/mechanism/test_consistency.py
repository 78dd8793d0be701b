"""What must hold among a mechanism's functions: derivatives, power, payloads, varying masses, kernels, NaN rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support import random_mechanisms as mechanisms
from support.mechanism_witness import Witness
from support.random_mechanisms import closed_positions, random_masses, random_mechanism
from support.strategies import random_payload
from support.tolerances import FORMULATIONS, OUTSIDE, ROUNDING, SINGLE, error, error_beside

STEP = 1e-5  # of central differences: their own error is about its square
DIFFERENCES = 1e-7


def spatial(seed: int = 3, **more: Any) -> tf.Mechanism:
    """A loop in space with a ball in the tree, an inverted universal joint, friction, rotors and a spring."""
    rng = np.random.default_rng(seed)
    kinds = [tf.Hinge, tf.Spherical, tf.Universal]
    options = {"drives": True, "springs": 1, "coulomb_speed": 0.2, "branching": 0.0, "actuated": 1.0, "reverse": 0.5}
    return random_mechanism(rng, kinds, [tf.Cylinder], **(options | more))


def bennett() -> tf.Mechanism:
    return random_masses(np.random.default_rng(0), mechanisms.bennett())


MADE = {"spatial": spatial, "bennett": bennett, "five-bar": mechanisms.five_bar}


@pytest.mark.parametrize("name", list(MADE))
def test_derivatives_along_closed_loops(name):
    m, rng = MADE[name](), np.random.default_rng(1)
    x = closed_positions(m, rng, 1)[0]
    q, qd, qdd = m.positions.coordinates(x), *rng.normal(size=(2, m.n))
    tau = m.inverse_dynamics(x, qd, qdd) if m._analysis.controlled else rng.normal(size=len(m.actuators))
    checks = [("forward_dynamics", tau)] + ([("inverse_dynamics", qdd)] if m._analysis.controlled else [])
    for function, last in checks:
        f = getattr(m, function)
        by_q, by_qd, by_last = getattr(m, f"{function}_derivatives")(x, qd, last)
        steps = STEP * np.eye(m.n)
        ahead, behind = (m.configuration(q + sign * steps, near=x) for sign in (1, -1))
        wanted = (f(ahead, qd, last) - f(behind, qd, last)).T / (2 * STEP)
        assert error_beside(by_q, wanted, wanted) <= DIFFERENCES
        wanted = (f(x, qd + steps, last) - f(x, qd - steps, last)).T / (2 * STEP)
        assert error_beside(by_qd, wanted, wanted) <= DIFFERENCES
        own = STEP * np.eye(len(last))
        wanted = (f(x, qd, last + own) - f(x, qd, last - own)).T / (2 * STEP)
        assert error_beside(by_last, wanted, wanted) <= DIFFERENCES


@pytest.mark.parametrize("name", list(MADE))
def test_power(name):
    """Energy changes by the power of actuators less friction and dampers: along the true motion, by differences."""
    m, rng = MADE[name]().without_friction(), np.random.default_rng(2)
    x = closed_positions(m, rng, 1)[0]
    qd, tau = rng.normal(size=m.n), rng.normal(size=len(m.actuators))
    qdd = m.forward_dynamics(x, qd, tau)
    rates = Witness(m, x, qd).rates
    places = [m.coordinate_names.index(name) for name in m.structure.actuated]
    power = tau @ rates[places]
    change = m._evaluator("coordinate_rates", {"x": x[None], "qd": qd[None]})[0][0]
    h = 1e-6

    def energy(sign: float) -> float:
        near = x + sign * h * change
        moved = m.configuration(m.positions.coordinates(near), near=near)
        return float(sum(m.energy(moved, qd + sign * h * qdd)))

    scale = abs(power) + sum(abs(e) for e in m.energy(x, qd)) + 1.0
    assert abs((energy(1) - energy(-1)) / (2 * h) - power) <= 1e-5 * scale


def test_a_payload_is_carried():
    m, rng = spatial(), np.random.default_rng(3)
    payload = random_payload(rng)
    x = closed_positions(m, rng, 3)
    heavy = m.carrying(payload)
    qd = rng.normal(size=(len(x), m.n))
    tau = rng.normal(size=(len(x), len(m.actuators)))
    assert error(m.forward_dynamics(x, qd, tau, payload=payload), heavy.forward_dynamics(x, qd, tau)) <= FORMULATIONS
    assert error(m.mass_matrix(x, payload=payload), heavy.mass_matrix(x), 2) <= FORMULATIONS
    assert error(m.energy(x, qd, payload=payload)[1], heavy.energy(x, qd)[1], 0) <= FORMULATIONS


def test_rows_that_are_not_finite():
    m, rng = bennett(), np.random.default_rng(4)
    x = closed_positions(m, rng, 3)
    qd, qdd = rng.normal(size=(2, len(x), 1))
    right = m.inverse_dynamics(x, qd, qdd)
    for place in (0, 2):
        y = x.copy()
        y[1, place] = np.nan
        found = m.inverse_dynamics(y, qd, qdd)
        assert np.isnan(found[1]).all()
        np.testing.assert_array_equal(np.delete(found, 1, 0), np.delete(right, 1, 0))
    qdd[0] = np.inf
    assert np.isnan(m.joint_wrenches(x, qd, qdd)[0]).all()


# ------------------------------------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize("name", list(MADE))
def test_kernels_equal_the_reference(name, kernels_on, monkeypatch):
    m, rng = MADE[name](), np.random.default_rng(5)
    x = closed_positions(m, rng, 12)
    qd, qdd = rng.normal(size=(2, len(x), m.n))
    tau = rng.normal(size=(len(x), len(m.actuators)))
    calls: dict[str, tuple[Any, ...]] = {
        "forward_dynamics": (x, qd, tau),
        "generalised_forces": (x, qd, qdd),
        "mass_matrix": (x,),
        "body_frames": (x,),
    }
    if m._analysis.controlled:
        calls |= {"inverse_dynamics": (x, qd, qdd), "joint_wrenches": (x, qd, qdd)}
    compiled = {function: getattr(m, function)(*arguments) for function, arguments in calls.items()}
    single = m.forward_dynamics(*(a.astype(np.float32) for a in calls["forward_dynamics"]))
    monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    fresh = MADE[name]()
    for function, arguments in calls.items():
        reference = getattr(fresh, function)(*arguments)
        np.testing.assert_array_equal(np.isnan(compiled[function]), np.isnan(reference))
        known = np.isfinite(reference)
        assert error_beside(compiled[function][known], reference[known], reference[known]) <= OUTSIDE, function
    assert single.dtype == np.float32
    rounded = [a.astype(np.float32).astype(float) for a in calls["forward_dynamics"]]
    exact = fresh.forward_dynamics(*rounded)
    limit = SINGLE * np.linalg.cond(fresh.mass_matrix(rounded[0])).max()
    assert error_beside(single, exact, exact) <= limit


@pytest.mark.usefixtures("kernels_on")
def test_varying_masses_equal_the_changed_mechanism():
    m, rng = spatial(), np.random.default_rng(6)
    x = closed_positions(m, rng, 3)
    qd, tau = rng.normal(size=(len(x), m.n)), rng.normal(size=(len(x), len(m.actuators)))
    own = m.own_values(("mass", "com", "gravity"))
    values = {field: own[field] * rng.uniform(0.9, 1.1, (len(x), *(1,) * own[field].ndim)) for field in own}
    kernel = m.kernel("forward_dynamics", varying=tuple(values))
    found = kernel(x, qd, tau, *values.values())
    for row in range(len(x)):
        changed = m.replace(**{field: value[row].tolist() for field, value in values.items()})
        wanted = changed.forward_dynamics(x[row], qd[row], tau[row])
        assert error(found[row], wanted) <= 1e3 * ROUNDING
