"""Worlds on a real GPU, against those of the processor; skipped where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import SINGLE, error

cupy = pytest.importorskip("cupy", reason="needs CuPy: pip install cupy-cuda13x")
pytestmark = [
    pytest.mark.skipif(not cupy.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.usefixtures("kernels_on"),
]

SAME = 1e-10  # the same sums in another order, through some dozens of steps
ROWS, STEPS = 300, 30
ROBOTS: dict[str, Any] = {
    "arm": tf.load("puma560").without_friction(),
    "platform": tf.load("dasgupta1998"),
    "five-bar": tf.load("five-bar"),
}


def compared(robot: Any, there: tf.World, to: Any, back: Any, tolerance: float) -> None:
    """Steps under forces, with resets of some rows. to, back: from NumPy to the GPU, and from there"""
    rng, m, here = np.random.default_rng(0), len(robot.actuators), tf.World(robot, ROWS)
    velocity = 0.01 * rng.normal(size=(ROWS, robot.n))
    here.reset(velocity=velocity)
    there.reset(velocity=to(velocity))
    for k in range(STEPS):
        forces = rng.normal(size=(ROWS, m))
        right, mine = here.step(forces), there.step(to(forces))
        if k == STEPS // 2:
            mask = rng.random(ROWS) < 0.3
            right, mine = here.reset(mask), there.reset(to(mask))
        for a, b in zip(mine, right, strict=True):
            assert error(back(a), b) < tolerance
            a += 1.0  # what is handed out is not what is stepped
    assert np.array_equal(there.time, here.time)


@pytest.mark.parametrize(
    ("kind", "dtype"), [("arm", "float64"), ("arm", "float32"), ("platform", "float64"), ("five-bar", "float64")]
)
def test_arrays_of_cupy(kind: str, dtype: str) -> None:
    def to(array: Any) -> Any:
        return cupy.asarray(array, None if array.dtype == bool else dtype)

    there = tf.World(ROBOTS[kind], ROWS, like=cupy.zeros(1, dtype))
    compared(ROBOTS[kind], there, to, cupy.asnumpy, SAME if dtype == "float64" else SINGLE * STEPS)
    assert type(there.position) is cupy.ndarray


@pytest.mark.parametrize("own_stream", [False, True])
def test_tensors_of_torch(own_stream: bool) -> None:
    """They share no memory with the world, whichever stream they are made on."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    with torch.cuda.stream(torch.cuda.Stream() if own_stream else torch.cuda.default_stream()):
        there = tf.World(ROBOTS["arm"], ROWS, like=torch.zeros(1, dtype=torch.float64, device="cuda"))

        def to(array: Any) -> Any:
            return torch.as_tensor(array, device="cuda")

        compared(ROBOTS["arm"], there, to, lambda array: array.cpu().numpy(), SAME)
        assert there.position.device.type == "cuda"
