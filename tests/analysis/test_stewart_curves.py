"""Curves of legs along a motion, on random platforms: parts of forces, rotations without spin, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import tauforge as tf
from support.platforms import random_motion, random_platform
from support.strategies import random_arm, seeds
from support.tolerances import ROUNDING, error, error_beside
from tauforge.analysis import compare, leg_force_parts, leg_rotations

TIME = np.array([0.0, 0.1, 0.3, 0.7])


def curves(figure):
    """Of each panel: its title, the label of its y axis, and its curves by name."""
    names = [text.get_text() for text in figure.legends[0].get_texts()] if figure.legends else [""]
    return [
        (
            axes.get_title(loc="left"),
            axes.get_ylabel(),
            dict(zip(names, (line.get_ydata() for line in axes.lines), strict=False)),
        )
        for axes in figure.axes
    ]


@given(seeds)
def test_parts_of_leg_forces_are_those_of_platforms_that_lack_the_others(rng):
    platform = random_platform(rng)
    state, wrench = random_motion(rng, (3,)), 100 * rng.normal(size=(3, 6))
    found = leg_force_parts(platform, *state, external_wrench=wrench)
    whole = platform.inverse_dynamics(*state, external_wrench=wrench)
    assert np.array_equal(found.total, whole)
    assert error_beside(found.weight + found.inertia + found.friction, found.difference, [whole]) < ROUNDING
    smooth, afloat = platform.without_friction(), platform.replace(gravity=(0.0, 0.0, 0.0))
    assert np.array_equal(found.friction, whole - smooth.inverse_dynamics(*state, external_wrench=wrench))
    light = {"lower_mass": 0.0, "upper_mass": 0.0, "lower_inertia": np.zeros((3, 3)), "upper_inertia": np.zeros((3, 3))}
    bare = smooth.replace(**light, reflected_mass=0.0)
    assert error_beside(found.massless, bare.inverse_dynamics(*state, external_wrench=wrench), [whole]) < ROUNDING
    # without gravity and friction only inertia tells legs with masses from those without
    inertia = leg_force_parts(afloat.without_friction(), *state).difference
    assert error_beside(found.inertia, inertia, [whole]) < ROUNDING
    assert np.array_equal(found.fraction, found.difference / found.total)


def test_parts_of_a_published_model_are_of_its_own_legs():
    platform = tf.load("dasgupta1998")
    state = random_motion(np.random.default_rng(1), (2,))
    paper, exact = (leg_force_parts(platform, *state, model=model) for model in ("dasgupta1998", "exact"))
    assert np.array_equal(paper.massless, exact.massless)
    assert np.array_equal(paper.total, platform.inverse_dynamics(*state, model="dasgupta1998"))
    assert np.abs(paper.inertia - exact.inertia).max() > 1e-3 * np.abs(exact.inertia).max()


def test_forces_and_their_parts_are_drawn():
    parts = leg_force_parts(random_platform(np.random.default_rng(3)), *random_motion(np.random.default_rng(4), (4,)))
    for quantity, names in (
        ("force", {"T, total": "total", "S, massless legs": "massless", "D, difference": "difference"}),
        ("parts", {"weight": "weight", "inertia": "inertia", "friction": "friction"}),
    ):
        drawn = curves(parts.plot(TIME, quantity))
        assert [title for title, _, _ in drawn] == [f"leg {i}" for i in range(1, 7)]
        for leg, (_, label, found) in enumerate(drawn):
            assert label.endswith("(N)")
            assert found.keys() == names.keys()
            for name, field in names.items():
                assert np.array_equal(found[name], getattr(parts, field)[:, leg]), name
    for axes, wanted, total in zip(parts.plot(TIME, "fraction").axes, parts.fraction.T, parts.total.T, strict=True):
        shown = axes.lines[0].get_ydata()
        assert np.array_equal(shown[~np.isnan(shown)], wanted[~np.isnan(shown)])
        changes = np.flatnonzero(np.diff(np.sign(total)))
        assert all(np.isnan(shown[k : k + 2]).any() for k in changes)
        assert np.isnan(shown).sum() <= len(changes)
    assert (np.diff(np.sign(parts.total), axis=0) != 0).any()


def test_rotations_are_those_of_leg_motion():
    platform = random_platform(np.random.default_rng(6))
    state = random_motion(np.random.default_rng(7), (4,))
    found, exact = leg_rotations(platform, *state), platform.leg_motion(*state)
    assert error(found.velocities, np.hypot(exact.spins, found.plain_velocities)) < ROUNDING  # the spin is across W
    assert error(found.accelerations, np.sqrt((exact.angular_accelerations**2).sum(axis=-1))) < ROUNDING
    assert np.abs(found.accelerations - found.plain_accelerations).max() > 1e-3
    for quantity, (full, plain) in (("velocity", found[:2]), ("acceleration", found[2:])):
        for leg, (title, label, lines) in enumerate(curves(found.plot(TIME, quantity))):
            assert title == f"leg {leg + 1}"
            assert label.split()[:2] == ["angular", quantity]
            assert np.array_equal(lines["with spin"], full[:, leg])
            assert np.array_equal(lines["simplified, no spin"], plain[:, leg])
            assert np.array_equal(lines["difference"], full[:, leg] - plain[:, leg])


@pytest.mark.parametrize("kind", ["arm", "platform"])
def test_two_formulations_are_drawn_beside_each_other(kind):
    rng = np.random.default_rng(8)
    robot = random_arm(rng, "RPR") if kind == "arm" else random_platform(rng)
    state = robot.random_states(4) if kind == "arm" else random_motion(rng, (4,))
    names = ("lagrange-euler", "newton-euler") if kind == "arm" else ("pedrammehr2012", "dasgupta1998")
    found = compare(robot, *state)
    first, second = (found.torques[name] for name in names)
    drawn = curves(found.plot(TIME, *names))
    assert len(drawn) == robot.n
    for k, (title, _, lines) in enumerate(drawn):
        assert title == f"actuator {k + 1}"
        assert np.array_equal(list(lines.values()), [first[:, k], second[:, k], (first - second)[:, k]])
    with pytest.raises(tf.UnsupportedFeatureError, match="'lagrange' was not compared"):
        found.plot(TIME, "lagrange", names[1])


def test_what_cannot_be_drawn_is_refused():
    platform, state = random_platform(np.random.default_rng(1)), random_motion(np.random.default_rng(2), (4,))
    parts, turning = leg_force_parts(platform, *state), leg_rotations(platform, *state)
    for found in (parts, turning):
        with pytest.raises(
            tf.ShapeError, match=r"time: expected \(k,\), and results \(k, 6\) at the states of a motion"
        ):
            found.plot(TIME[:3])
        with pytest.raises(tf.UnsupportedFeatureError, match="unknown curves 'torque'") as refused:
            found.plot(TIME, "torque")
        assert "Use one of" in refused.value.remedy
    with pytest.raises(tf.ShapeError, match="results"):
        leg_force_parts(platform, *(x[0] for x in state)).plot(0.0)
    arm = tf.load("puma560")
    for curves in (leg_force_parts, leg_rotations):
        with pytest.raises(tf.UnsupportedFeatureError, match="expected a Stewart platform; puma560 is a serial arm"):
            curves(arm, *state)
