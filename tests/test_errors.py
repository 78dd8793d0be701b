"""Errors travel between processes: what a worker raises reaches the one who asked."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tauforge as tf
from tauforge import errors

ERRORS = [
    tf.TauforgeError("it failed"),
    tf.ModelError("no mass", file="arm.toml", line=3, field="mass", remedy="Give one"),
    tf.UnsupportedFeatureError("planar joints", remedy="Use a revolute one"),
    tf.ShapeError("q", expected="(..., 6)", got="(5,)", hint="Six joints"),
    tf.SettingError("TAUFORGE_KERNELS", expected="0 or 1", got="off"),
    tf.SingularityError("no answer", pose=np.zeros(6), condition_number=1e17),
    tf.ConvergenceError("no pose", residual=1e-3, iterations=50),
    tf.DivergenceError("it ran away", time=0.5, position=np.zeros(2), velocity=np.ones(2), recording=None),
]


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_errors_come_back_from_other_processes(error, again):
    made = again(error)
    assert type(made) is type(error)
    assert str(made) == str(error)
    assert set(vars(made)) == set(vars(error))
    for name, value in vars(error).items():
        assert np.array_equal(getattr(made, name), value)


def test_every_error_is_tried():
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, tf.TauforgeError)}
    assert kinds == {type(error) for error in ERRORS}
