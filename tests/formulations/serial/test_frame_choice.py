"""Payloads in the frames in which an arm's dynamics cost least."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_inertia
from support.tolerances import SINGLE, error
from tauforge.kernels.backends import backend_of


@pytest.mark.usefixtures("kernels_on")
def test_a_payload_beyond_axes_that_are_nearly_parallel():
    """The last frame does not slide so far along its axis that the inertia of a payload loses digits there."""
    rng, angle = np.random.default_rng(3), 0.02
    nearly_parallel = np.eye(4)
    nearly_parallel[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    nearly_parallel[:3, 3] = 0.3, 0.4, 0.1
    body = {"mass": 2.0, "com": (0.05, 0.02, 0.03), "inertia": random_inertia(rng)}
    places = (np.eye(4), turned_about_x(), nearly_parallel)
    arm = tf.SerialArm(joints=[tf.Joint(kind="R", before=before, **body) for before in places])
    q = rng.uniform(-3, 3, (50, 3)).astype(np.float32)
    held = np.array([2.0, 0.05, 0.02, 0.03, 0.01, 0.0, 0.0, 0.01, 0.0, 0.01], np.float32)
    specification = arm.specification("mass_matrix", loads=["payload"])
    got, exact = (
        backend_of("cpu").compile(specification, dtype)(q.astype(dtype), held.astype(dtype))
        for dtype in ("float32", "float64")
    )
    assert error(got, exact, core=2) < SINGLE / 10


def turned_about_x():
    turned = np.eye(4)
    turned[1:3, 1:3] = [[0, -1], [1, 0]]
    return turned
