"""Rollouts and their gradients on a real GPU, against the processor's; skipped where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import SINGLE, error

cupy = pytest.importorskip("cupy", reason="needs CuPy: pip install cupy-cuda13x")
pytestmark = [
    pytest.mark.skipif(not cupy.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.usefixtures("kernels_on"),
]

SAME = 1e-10  # the same sums in another order, through a hundred steps
ROWS, PERIODS = 200, 40
ARM = tf.load("puma560").without_friction()
LAW = tf.control.ComputedTorque(ARM, 60.0, 12.0)


def given(dtype, library):
    rng = np.random.default_rng(0)
    start = 0.1 * rng.normal(size=(2, ROWS, 6))
    gains = {"kp": LAW.kp + rng.normal(size=(ROWS, 6, 6)), "kv": LAW.kv}
    forces, held = rng.normal(size=(ROWS, PERIODS, 6)), rng.uniform(0.5, 1.0, ROWS)

    def there(array):
        return library.asarray(np.asarray(array, dtype))

    return {
        "initial": tuple(map(there, start)),
        "forces": there(forces),
        "gains": {name: there(gain) for name, gain in gains.items()},
        "payload": tf.Payload(np.asarray(held, dtype), np.full((ROWS, 3), 0.05, dtype)),
    }


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("step", "every"), [(0.01, 1), (0.01, 7), (0.005, 40)])
def test_gradients(dtype, step, every):
    motion = tf.motion.JointMove(np.zeros(6), np.full(6, 0.4), 0.01 * PERIODS)
    schedule = {"control_period": 0.01, "step": step, "record_every": every}
    runs, back = tf.differentiable_rollout(ARM, LAW, motion, **given(dtype, np), **schedule)
    gpu_runs, gpu_back = tf.differentiable_rollout(ARM, LAW, motion, **given(dtype, cupy), **schedule)
    tolerance = SAME if dtype == "float64" else SINGLE * PERIODS
    assert gpu_runs.finite.all()
    assert error(gpu_runs.error.get(), runs.error) < tolerance * PERIODS
    expected = back(position=runs.position, velocity=runs.velocity, force=runs.force)
    got = gpu_back(position=gpu_runs.position, velocity=gpu_runs.velocity, force=gpu_runs.force)
    pairs = [(got.position, expected.position), (got.velocity, expected.velocity), (got.forces, expected.forces)]
    pairs += [(got.payload, expected.payload), *((got.gains[k], expected.gains[k]) for k in ("kp", "kv"))]
    for mine, right in pairs:
        assert mine.shape == right.shape
        assert error(mine.get(), right) < tolerance
