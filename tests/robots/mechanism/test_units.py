"""Nothing that a mechanism tells depends on the unit of length."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tauforge as tf

pytestmark = pytest.mark.filterwarnings("ignore:.*few links are that long")  # as if lengths were in millimetres


def scaled(m: tf.Mechanism, unit: float) -> tf.Mechanism:
    """The mechanism of hinges with all lengths so many times as long, and the same masses."""

    def point(p):
        return tuple((unit * np.array(p)).tolist())

    bodies = [
        tf.Body(b.name, b.mass, point(b.com), (unit**2 * np.array(b.inertia)).tolist(), origin=point(b.origin))
        for b in m.bodies
    ]
    joints = [dataclasses.replace(joint, at=point(joint.at)) for joint in m.joints]
    return m.replace(bodies=bodies, joints=joints, gravity=point(m.gravity), springs=(), visuals=())


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3])
def test_open_reactions(unit):
    m = tf.load("delta-parallelograms")
    assert scaled(m, unit).open_reactions == m.open_reactions


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e5])
def test_independent_coordinates(unit):
    """Bricard's hinges are alike: rounding would choose another of them in every unit."""
    m = tf.load("bricard")
    assert scaled(m, unit).structure.independent == m.structure.independent
