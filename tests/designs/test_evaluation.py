"""Measures of designs, against a design in closed form and against the changed robots one by one."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.platforms import ring
from support.tolerances import FORMULATIONS, ROUNDING
from tauforge.designs import MEASURES, evaluation, measures_of, states_around

RIG = tf.load("motion-rig")
DESIGNS = 200


def drawn(count, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "base_radius": rng.uniform(0.7, 1.1, count),
        "base_angle": rng.uniform(0.1, 0.9, count),
        "platform_radius": rng.uniform(0.4, 0.8, count),
        "platform_angle": rng.uniform(0.1, 0.9, count),
        "longest_leg": rng.uniform(1.2, 1.5, count),
        "platform_mass": rng.uniform(100, 300, count),
        "z": rng.uniform(0.95, 1.15, count),
    }


def test_equal_to_changed_robots(as_installed, monkeypatch):
    designs, states = drawn(DESIGNS), states_around(RIG, 20)
    found = tf.designs.evaluate(RIG, designs, states=states)
    assert list(found) == list(MEASURES) == list(measures_of(RIG))
    monkeypatch.setenv("TAUFORGE_KERNELS", "0")  # each of the others would be compiled
    for i in range(DESIGNS):
        row = {name: x[i] for name, x in designs.items()}
        home = states.home.copy()
        home[2] = row.pop("z")
        robot, poses = RIG.designs.redesign(**row), home + states.offsets
        condition, H = robot.condition_number(poses), robot.force_matrix(poses)
        forces = np.abs(robot.holding_forces(poses))
        share = forces / np.array(robot.force_limit)
        expected = {
            "condition": condition.max(),
            "mean_condition": condition.mean(),
            "stiffness": np.linalg.eigvalsh(H @ np.swapaxes(H, 1, 2))[:, 0].min(),
            "force": forces.max(),
            "force_share": share.max(),
            "within_limits": ((robot.bounds.margins(poses) >= 0).all(axis=1) & (share <= 1).all(axis=1)).mean(),
        }
        for name, value in expected.items():
            # the condition number of H H' costs that of H squared
            allowed = FORMULATIONS * max(1.0, condition.max() ** 2 * 1e-2 if name == "stiffness" else 1.0)
            assert abs(found[name][i] - value) <= allowed * value, name
    assert 0 < found["within_limits"].mean() < 1


@pytest.mark.parametrize("name", ["five-bar", "delta", "gripper", "hexapod-6rus", "palletiser"])
def test_mechanisms_at_closed_positions(name):
    """Homes of other coordinates: each row is the mechanism at positions whose loops are closed."""
    m, length = tf.load(name), 0.4
    states, first = states_around(m, 5, angle=0.02), m.coordinates[0].name
    assert states.home.shape == (m.n,)
    designs = {first: states.home[0] + np.array([0.0, 0.03, -0.02]), "payload": np.array([0.0, 0.5, 1.0])}
    found = tf.designs.evaluate(m, designs, states=states, characteristic_length=length)
    for i in range(3):
        q = states.home + states.offsets
        q[:, 0] += designs[first][i] - states.home[0]
        x = m.configuration(q)
        condition = m.condition_number(x, characteristic_length=length)
        forces = np.abs(m.carrying(tf.Payload(designs["payload"][i])).holding_forces(x))
        assert abs(found["condition"][i] / condition.max() - 1) <= ROUNDING * condition.max()
        assert abs(found["mean_condition"][i] / condition.mean() - 1) <= ROUNDING * condition.max()
        assert abs(found["force"][i] / forces.max() - 1) <= FORMULATIONS


def test_a_home_whose_loops_do_not_close():
    m = tf.load("five-bar")
    states = states_around(m, 3, angle=0.01)
    found = tf.designs.evaluate(m, {"left": [2.3, 3.1], "right": [0.9, 0.3]}, states=states)
    assert np.isfinite(found["condition"][0])
    assert np.isnan(m.configuration([3.1, 0.3], on_failure="nan")).any()
    assert np.isnan(found["condition"][1])
    assert np.isnan(found["force"][1])
    assert found["within_limits"].tolist() == [1.0, 0.0]


def test_a_design_in_closed_form():
    """Legs whose horizontal part is at right angles to the platform's radius, and rises as far as it runs.

    Then H H' is diagonal: 3 (1 - c), 3 (1 - c), 6 c and R^2 times 3 c, 3 c, 6 (1 - c), where c = 1/2 is the square of
    the legs' vertical part. With the platform's radius R as characteristic length the condition number is sqrt 2.
    """
    other = tf.StewartPlatform(base_points=ring(0.4, 20), platform_points=ring(0.3, 35), name="other")
    turn = np.deg2rad(40)  # between the two joints of a leg: 10 degrees below, 50 above
    design = {
        "base_radius": 1.0,
        "base_angle": np.deg2rad(20),
        "platform_radius": np.cos(turn),
        "platform_angle": np.deg2rad(20),
        "z": np.sin(turn),
    }
    home = states_around(other, 1, at={"x": 0.0, "y": 0.0})
    found = tf.designs.evaluate(other, design, states=home, stiffness=2e6, characteristic_length=np.cos(turn))
    assert list(found) == ["condition", "mean_condition", "stiffness"]  # neither masses nor limits
    assert abs(found["condition"] - np.sqrt(2)) < ROUNDING
    assert abs(found["stiffness"] / (2e6 * 1.5) - 1) < ROUNDING


def test_what_a_heavier_robot_needs():
    masses = np.linspace(0.0, 100.0, 5)
    states = states_around(RIG, 3)
    found = tf.designs.evaluate(RIG, {"payload": masses}, states=states)
    assert (np.diff(found["force"]) > 0).all()
    assert np.ptp(found["condition"]) == 0
    held = RIG.carrying(tf.Payload(50.0)).holding_forces(states.home + states.offsets)
    assert abs(found["force"][2] / np.abs(held).max() - 1) < FORMULATIONS


def test_blocks_change_nothing(monkeypatch):
    designs = drawn(7)
    whole = tf.designs.evaluate(RIG, designs)
    monkeypatch.setattr(evaluation, "BLOCK_PAIRS", 40)
    parts = tf.designs.evaluate(RIG, designs)
    assert all(np.array_equal(whole[name], parts[name]) for name in whole)


def test_arms():
    arm = tf.load("puma560")
    found = tf.designs.evaluate(arm, {"a2": [0.4318, 0.5], "d4": 0.4318}, ["stiffness", "force"])
    states = states_around(arm)
    q = states.home + states.offsets
    longer = arm.replace(a=[0.0, 0.5, 0.0203, 0.0, 0.0, 0.0])
    for k, robot in enumerate((arm, longer)):
        J = robot.jacobian(q)
        stiffest = 1 / np.linalg.eigvalsh(J @ np.swapaxes(J, 1, 2))[:, -1].max()
        assert abs(found["stiffness"][k] / stiffest - 1) < FORMULATIONS
        assert abs(found["force"][k] / np.abs(robot.holding_forces(q)).max() - 1) < FORMULATIONS


def test_states():
    states = states_around(RIG, 50, distance=0.2, angle=0.1, at={"z": 1.0})
    assert states.home[2] == 1.0
    assert not states.offsets[0].any()
    assert np.abs(states.offsets).max(axis=0) == pytest.approx([0.2] * 3 + [0.1] * 3, rel=0.1)
    assert np.abs(states.offsets.mean(axis=0) / states.offsets.max(axis=0)).max() < 0.1, "spread evenly"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"designs": {"base_width": 1.0}}, "'base_width' is no design parameter"),
        ({"designs": {}}, "parameters with values"),
        ({"designs": {"z": [[1.0]]}}, "parameters with values"),
        ({"designs": {"z": np.inf}}, "finite"),
        ({"designs": {"z": "high"}}, "z"),
        ({"designs": {"z": [1.0, 1.1], "x": [0.0, 0.1, 0.2]}}, "designs"),
        ({"states": 0}, "states: expected a whole number >= 1, got 0"),
        ({"designs": {"base_radius": -1.0}}, "expected numbers > 0"),
        ({"measures": ["beauty"]}, "'beauty' is no measure of a design"),
        ({"stiffness": 0.0}, "stiffness: expected a number > 0"),
        ({"characteristic_length": -1.0}, "characteristic_length"),
    ],
)
def test_bad_input(change, message):
    given = {"designs": {"z": 1.0}} | change
    with pytest.raises(tf.TauforgeError, match=message):
        tf.designs.evaluate(RIG, **given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 0}, "states: expected a whole number >= 1, got 0"),
        ({"distance": -1.0}, "distance: expected a number >= 0"),
        ({"angle": np.nan}, "angle: expected a number >= 0"),
        ({"at": {"height": 1.0}}, "no coordinate is called 'height'"),
    ],
)
def test_bad_states(change, message):
    with pytest.raises(tf.ModelError, match=message):
        states_around(RIG, **change)


def test_measures_that_a_robot_does_not_have():
    bare = tf.StewartPlatform(base_points=ring(0.9, 12), platform_points=ring(0.6, 50), name="bare")
    with pytest.raises(tf.ModelError, match="no masses"):
        tf.designs.evaluate(bare, {"z": 1.0}, ["force"])
    with pytest.raises(tf.UnsupportedFeatureError, match="has no limits"):
        tf.designs.evaluate(bare, {"z": 1.0}, ["within_limits"])
