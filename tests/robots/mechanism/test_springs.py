"""Springs whose ends meet."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import ROUNDING

STIFFNESS = 40.0  # N/m
ARM, HEIGHT = 0.5, 0.7  # m


def balanced(mast: tuple[float, float, float]) -> tf.Mechanism:
    """A bar of 2 kg about the y axis, level at home, and a spring without length from its end to a point of a mast."""
    return tf.Mechanism(
        bodies=[tf.Body("bar", 2.0, (ARM / 2, 0.0, 0.0), (0.0, 0.05, 0.05))],
        joints=[tf.Hinge("hinge", "ground", "bar", axis=(0.0, -1.0, 0.0), actuated=True)],
        springs=[tf.Spring("bar", (ARM, 0.0, 0.0), "ground", mast, STIFFNESS, length=0.0)],
    )


def test_a_spring_without_length_balances_everywhere():
    """Its moment is k arm height cos(q), as that of a weight: tau = (m g / 2 - k height) arm cos(q)."""
    m = balanced((0.0, 0.0, HEIGHT))
    q = np.linspace(-3, 3, 7)[:, None]
    tau = m.inverse_dynamics(q, np.zeros_like(q), np.zeros_like(q))
    wanted = (2.0 * 9.81 / 2 - STIFFNESS * HEIGHT) * ARM * np.cos(q)
    assert np.abs(tau - wanted).max() <= ROUNDING * STIFFNESS * HEIGHT * ARM
    square = ARM**2 + HEIGHT**2 - 2 * ARM * HEIGHT * np.sin(q[:, 0])
    potential = STIFFNESS * square / 2 + 2.0 * 9.81 * ARM / 2 * np.sin(q[:, 0])
    assert np.abs(m.energy(q, np.zeros_like(q))[1] - potential).max() <= ROUNDING * potential.max()


@pytest.mark.parametrize("name", ["inverse_dynamics", "joint_wrenches", "forward_dynamics"])
def test_ends_of_a_spring_without_length_may_meet(name):
    m, weight = balanced((ARM, 0.0, 0.0)), 2.0 * 9.81 * ARM / 2
    x, rest = m.home, np.zeros(1)
    found = np.asarray(getattr(m, name)(x, rest, rest))
    wanted = {"inverse_dynamics": weight, "joint_wrenches": 2.0 * 9.81, "forward_dynamics": weight / (0.05 + 2 / 16)}
    assert np.isfinite(found).all()
    assert abs(np.abs(found).max() - wanted[name]) <= ROUNDING * wanted[name]


@pytest.mark.parametrize(("length", "damping"), [(0.1, 0.0), (0.0, 5.0)])
def test_a_spring_with_a_length_or_a_damper_has_no_force_where_its_ends_meet(length, damping):
    """Its direction there would be that of rounding."""
    m = balanced((0.0, 0.0, HEIGHT))
    end = (ARM, 0.0, 0.0)
    m = m.replace(springs=[tf.Spring("bar", end, "ground", end, STIFFNESS, length=length, damping=damping)])
    rest, near = np.zeros((2, 1)), np.array([[0.0], [1e-6]])
    found = m.forward_dynamics(near, rest, rest)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()
