"""The ready study "workspace", against the robot's own methods."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from tauforge.sweeps import Axis, open_dataset, ready_study, run
from tauforge.sweeps.workspace import CALL_POINTS

RIG = tf.load("motion-rig")
ROUNDED = 2.0**-23  # of float32
AXES = (Axis("x", np.linspace(-0.6, 0.6, 7)), Axis("z", np.linspace(0.7, 1.4, 8)), Axis("theta_y", [-0.4, 0.0, 0.5]))


def poses(axes, at):
    grid = np.stack(np.meshgrid(*(axis.values for axis in axes), indexing="ij"), -1)
    found = np.zeros((*grid.shape[:-1], 6)) + at
    for k, axis in enumerate(axes):
        found[..., [c.name for c in RIG.coordinates].index(axis.name)] = grid[..., k]
    return found


def test_the_store_holds_what_the_methods_say(tmp_path):
    pose = poses(AXES, np.array([0, 0.1, 0, 0, 0, 0]))
    forces = RIG.holding_forces(pose.reshape(-1, 6)).reshape(pose.shape)
    limits, condition = RIG.within_limits(pose, forces), RIG.condition_number(pose)
    largest = float(np.median(condition[limits.hold]))
    study = ready_study("workspace", RIG, AXES, at={"y": 0.1}, options={"condition": repr(largest)})
    run(study, tmp_path / "out.zarr", progress=False)
    found = open_dataset(tmp_path / "out.zarr")
    holds = limits.hold & (condition <= largest)
    assert 0 < holds.mean() < 1
    assert np.array_equal(found.limit.values == 0, holds)
    meanings = found.limit.attrs["flag_meanings"].split()
    names = dict(zip(found.limit.attrs["flag_values"], meanings, strict=True))
    leg, long = (x[limits.stroke.min(axis=-1) < 0] for x in (limits.stroke, RIG.inverse_kinematics(pose)))
    for code, margins, lengths in zip(found.limit.values[limits.stroke.min(axis=-1) < 0], leg, long, strict=True):
        short = np.flatnonzero((margins < 0) & (lengths < 1.2))  # those that are too short come first
        first = short[0] if len(short) else np.flatnonzero(margins < 0)[0]
        assert names[code] == f"leg_{first + 1}_is_too_{'short' if len(short) else 'long'}"
    last = max(names)
    assert names[last] == "the_condition_number_is_too_large"
    ill = limits.hold & (condition > largest)
    assert ill.any()
    assert (found.limit.values[ill] == last).all()
    assert np.abs(found.condition.values / condition - 1).max() < ROUNDED
    assert np.abs(found.force.values / np.abs(forces).max(axis=-1) - 1).max() < ROUNDED
    assert found.force.attrs["units"] == "N"
    assert found.attrs["judged"] == {"forces": True, "condition": largest, "payload": 0.0}
    assert found.attrs["at"] == {"y": 0.1, "theta_x": 0.0, "theta_z": 0.0}


def test_parts_of_a_block_do_not_matter():
    study = ready_study("workspace", RIG, [Axis("x", np.linspace(-0.5, 0.5, 2 * CALL_POINTS + 5))])
    x = study.axes[0].values
    whole = study.compute({"x": x})
    for part in (slice(0, 7), slice(CALL_POINTS - 3, CALL_POINTS + 4), slice(-3, None)):
        for name, values in study.compute({"x": x[part]}).items():
            assert np.array_equal(values, whole[name][part]), name


def test_an_arm_with_a_payload_as_an_axis():
    arm = tf.load("puma560")
    axes = [Axis("payload", [0.0, 2.0, 5.0]), Axis("q2", [-1.0, 0.5])]
    study = ready_study("workspace", arm, axes, at={"q3": 0.3}, options={"quantities": "limit,force"})
    block = {"payload": np.array([0.0, 5.0]), "q2": np.array([0.5, 0.5])}
    found = study.compute(block)
    q = np.array(arm.positions.default)
    q[1], q[2] = 0.5, 0.3
    for k, mass in enumerate((0.0, 5.0)):
        expected = np.abs(arm.gravity_forces(q, payload=tf.Payload(mass))).max()
        assert abs(found["force"][k] / expected - 1) < ROUNDED
    assert found["force"][1] > found["force"][0]
    assert set(found) == {"limit", "force"}


def test_a_platform_without_masses_has_no_forces():
    study = ready_study("workspace", tf.load("dietmaier"), [Axis("x", [0.0, 0.1])])
    assert [result.name for result in study.results] == ["limit", "condition"]


BAD = {
    "forces": ("maybe", r"option forces: expected yes or no, got 'maybe'"),
    "condition": ("-1", r"option condition: expected a number >= 1, got -1"),
    "payload": ("heavy", r"option payload: expected a number in kg, got 'heavy'"),
    "quantities": ("weight", r"unknown quantity 'weight'"),
    "colour": ("red", r"workspace has no option 'colour'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options(name):
    value, message = BAD[name]
    with pytest.raises(tf.ModelError, match=message):
        ready_study("workspace", RIG, AXES, options={name: value})


def test_a_payload_that_nothing_depends_on_and_one_that_limits_depend_on():
    heavy, free = {"quantities": "limit", "payload": "1e6kg"}, RIG.replace(force_limit=None)
    study = ready_study("workspace", RIG, [Axis("z", [1.0, 1.05])], options=heavy)
    assert (study.compute({"z": np.array([1.0, 1.05])})["limit"] > 0).all()
    with pytest.raises(tf.ModelError, match=r"payload: nothing that is asked depends on it"):
        ready_study("workspace", free, [Axis("z", [1.0])], options=heavy)
    with pytest.raises(tf.ModelError, match=r"option payload: it is an axis, too"):
        ready_study("workspace", RIG, [Axis("payload", [0.0, 1.0])], options={"payload": "5"})


def test_bad_axes():
    with pytest.raises(tf.ModelError, match=r"axis w: unknown axis. The axes are x, y, z, .*payload"):
        ready_study("workspace", RIG, [Axis("w", [0.0])])
    with pytest.raises(tf.ModelError, match=r"payload: expected kg >= 0, got -1"):
        ready_study("workspace", RIG, [Axis("payload", [-1.0, 2.0])])
    with pytest.raises(tf.ModelError, match=r"no actuator of .* has a force limit|geometry but no masses"):
        ready_study("workspace", tf.load("dasgupta1998"), [Axis("x", [0.0])], options={"forces": "yes"})
