"""The study "designs": its numbers are those of `tf.designs.evaluate`, its fingerprint holds the states."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from tauforge import sweeps
from tauforge.designs import measures_of, states_around

RIG = tf.load("motion-rig")
AXES = [
    sweeps.Axis("base_radius", np.linspace(0.8, 1.0, 3)),
    sweeps.Axis("z", np.array([1.0, 1.1])),
    sweeps.Axis("payload", np.array([0.0, 50.0])),
]
OPTIONS = {"states": "6", "distance": "20mm", "angle": "3deg", "stiffness": "1e6", "length": "0.5"}


def test_equal_to_evaluate(tmp_path):
    study = sweeps.ready_study("designs", RIG, AXES, at={"x": 0.01}, options=OPTIONS)
    sweeps.run(study, tmp_path / "s.zarr")
    found = sweeps.open_dataset(tmp_path / "s.zarr").load()
    r, z, m = (x.ravel() for x in np.meshgrid(*(axis.values for axis in AXES), indexing="ij"))
    states = states_around(RIG, 6, distance=0.02, angle=np.deg2rad(3), at={"x": 0.01})
    expected = tf.designs.evaluate(
        RIG,
        {"base_radius": r, "z": z, "payload": m},
        states=states,
        stiffness=1e6,
        characteristic_length=0.5,
    )
    assert sorted(found) == sorted(measures_of(RIG))
    for name, values in expected.items():
        assert np.array_equal(found[name].values.ravel(), values.astype(np.float32))
    assert found.stiffness.attrs["units"] == "N/m"
    assert found.attrs["at"]["x"] == 0.01


def test_other_states_are_another_study(tmp_path):
    sweeps.run(sweeps.ready_study("designs", RIG, AXES[:1], options={"states": "3"}), tmp_path / "s.zarr")
    with pytest.raises(tf.ModelError, match=r"states"):
        sweeps.run(sweeps.ready_study("designs", RIG, AXES[:1], options={"states": "4"}), tmp_path / "s.zarr")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"axes": [sweeps.Axis("base_width", np.ones(1))]}, "unknown axis"),
        ({"axes": [sweeps.Axis("z", np.ones(1), "rad")]}, "expected values in m, got rad"),
        ({"at": {"z": 1.0}}, "z is an axis"),
        ({"options": {"states": "many"}}, "states: expected a whole number, got 'many'"),
        ({"options": {"states": "0"}}, "states: expected a whole number >= 1"),
        ({"options": {"distance": "far"}}, "expected a number"),
        ({"options": {"distance": "1,2"}}, "distance: expected one number, got '1,2'"),
        ({"options": {"angle": "1mm"}}, "expected a number in rad, got '1mm'"),
        ({"options": {"stiffness": "-1"}}, "stiffness: expected a number > 0"),
        ({"options": {"colour": "red"}}, "no option 'colour'"),
    ],
)
def test_bad_input(change, message):
    given = {"axes": AXES} | change
    axes = given.pop("axes")
    with pytest.raises(tf.ModelError, match=message):
        sweeps.ready_study("designs", RIG, axes, **given)


def test_a_mechanism(tmp_path):
    delta = tf.load("delta")
    study = sweeps.ready_study(
        "designs", delta, [sweeps.Axis("motor 1", [0.0, 0.1])], at={"motor 2": 0.05}, options={"states": "4"}
    )
    sweeps.run(study, tmp_path / "d.zarr")
    found = sweeps.open_dataset(tmp_path / "d.zarr")
    states = states_around(delta, 4, at={"motor 2": 0.05})
    expected = tf.designs.evaluate(delta, {"motor 1": [0.0, 0.1]}, states=states)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name].values, values, rtol=np.finfo(np.float32).eps)
    assert found.attrs["at"] == {"motor 2": 0.05, "motor 3": 0.3}
