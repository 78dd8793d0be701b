"""Springs whose ends meet."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import ROUNDING

STIFFNESS = 40.0  # N/m
ARM, HEIGHT = 0.5, 0.7  # m
SIMULATED = 1e-6  # m: the default tolerance of simulate over some tenths of a second


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


def damped(length: float) -> tf.Mechanism:
    """A ball of 1 kg on a vertical rod, with a spring and a damper to a point of it that it passes at home."""
    return tf.Mechanism(
        name="ball on a rod",
        bodies=[tf.Body("ball", 1.0)],
        joints=[tf.Slider("rod", "ground", "ball", axis=(0, 0, 1))],
        springs=[tf.Spring("ground", (0, 0, 0), "ball", (0, 0, 0), stiffness=10, damping=0.5, length=length)],
    )


@pytest.mark.parametrize("rate", [0.0, 2.0, -3.0])
@pytest.mark.parametrize("place", [0.0, 1e-15, 1e-6, -0.3])
def test_a_damper_without_length_takes_the_whole_rate_where_its_ends_meet(place, rate):
    """z'' = -g - k z - c z' everywhere."""
    wanted = -9.81 - 10 * place - 0.5 * rate
    assert abs(damped(0.0).forward_dynamics([place], [rate], [])[0] - wanted) <= ROUNDING * abs(wanted)


@pytest.mark.parametrize("length", [0.0, 0.3])
def test_a_damper_alone_acts_along_it_alone(length):
    """Between ends that are apart; where they meet they part along their velocity, whatever that is and its length."""
    spring = tf.Spring("ground", (0, 0, 0), "ball", (0, 0, 0), stiffness=0.0, damping=0.5, length=length)
    m = tf.Mechanism(
        bodies=[tf.Body("ball", 2.0, inertia=(1, 1, 1))], joints=[tf.Free("free", "ground", "ball")], springs=[spring]
    ).replace(gravity=(0, 0, 0))
    v = np.array([0.3, -0.2, 0.7])
    for way in (np.zeros(3), np.array([0.0, 0.0, 0.4]), np.array([1e-5, 2e-5, 0.0])):
        e = way / (np.linalg.norm(way) or 1.0)
        along = v if not way.any() else e * (e @ v)
        found = m.forward_dynamics([*way, 0, 0, 0], [*v, 0, 0, 0], [])[:3]
        assert np.abs(found + 0.5 / 2.0 * along).max() <= ROUNDING


def test_a_damper_passes_its_own_place_in_a_simulation():
    """Started where the ends meet, against the closed form of a damped oscillator."""
    m, t = damped(0.0), 0.4
    states = tf.simulate(m, initial=(m.home, [1.0]), duration=t)
    rest, decay, pace = -0.981, 0.25, np.sqrt(10 - 0.25**2)
    amplitude = (1.0 + decay * -rest) / pace
    wanted = rest + np.exp(-decay * t) * (-rest * np.cos(pace * t) + amplitude * np.sin(pace * t))
    assert abs(states.position[-1, 0] - wanted) <= SIMULATED


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "generalised_forces", "joint_wrenches"])
def test_a_spring_with_a_length_is_refused_where_its_ends_meet(name):
    """It pushes, and there is no direction to push in; the message names the spring. Other rows stay."""
    m, end = balanced((0.0, 0.0, HEIGHT)), (ARM, 0.0, 0.0)
    m = m.replace(name="crane", springs=[*m.springs, tf.Spring("bar", end, "ground", end, STIFFNESS, length=0.1)])
    rest, near = np.zeros((2, 1)), np.array([[0.0], [1e-6]])
    method = getattr(m, name)
    with pytest.raises(tf.SingularityError) as caught:
        method(near, rest, rest)
    assert "crane: the ends of the spring between bar and ground meet here" in str(caught.value)
    assert "Give it length=0, or points that do not meet" in str(caught.value)
    found = method(near, rest, rest, on_singular="nan")
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], method(near[1], rest[1], rest[1]))
    assert np.isfinite(m.mass_matrix(near)).all()


def test_a_simulation_says_which_spring_has_no_direction():
    m = damped(0.1)
    with pytest.raises(tf.SingularityError, match="the ends of the spring between ground and ball meet here"):
        tf.simulate(m, initial=(m.home, [0.0]), duration=0.1)
