"""Worlds on a GPU that is not there: kernels run thread by thread, against the processor's worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support import pretended_gpu
from support.cuda_on_cpu import needs_compiler
from support.mechanisms import five_bar
from support.platforms import random_platform, without_legs
from support.pretended_gpu import asarray
from support.strategies import random_arm
from support.tolerances import SINGLE, error

pytestmark = [needs_compiler, pytest.mark.usefixtures("kernels_on")]

SAME = 1e-11  # the same sums in another order, through some steps
ARM = random_arm(np.random.default_rng(5), "RPR", drives=True).replace(coulomb_speed=0.5)
ROBOTS: dict[str, Any] = {
    "arm": ARM,
    "platform": without_legs(random_platform(np.random.default_rng(1))),
    "five-bar": five_bar(),
}
ROWS = 70


@pytest.fixture(autouse=True)
def gpu(monkeypatch: Any, tmp_path: Any) -> Any:
    return pretended_gpu.pretend(monkeypatch, tmp_path)


@pytest.mark.parametrize(("kind", "dtype"), [("arm", "float64"), ("arm", "float32"), ("platform", "float64")])
def test_steps_and_resets_are_those_of_the_processor(kind: str, dtype: str) -> None:
    robot, rng = ROBOTS[kind], np.random.default_rng(7)
    ones = np.ones(robot.n)
    m, tolerance = len(robot.actuators), SAME if dtype == "float64" else 10 * SINGLE
    start = robot.positions.default + 0.01 * rng.normal(size=(ROWS, robot.n)), 0.1 * rng.normal(size=(ROWS, robot.n))
    given: dict[str, Any] = {
        "varying": {"gravity": np.array([0.0, 0.5, -9.0])},
        "payload": tf.Payload(np.linspace(0.1, 1.0, ROWS)),
        "force_limits": np.linspace(0.5, 1.5, m),
    }
    here, there = tf.World(robot, ROWS, **given), tf.World(robot, ROWS, **given, like=asarray(np.zeros(1), dtype))
    here.reset(None, *start)
    there.reset(None, *map(asarray, start))
    mask = np.arange(ROWS) % 9 == 3
    for k in range(4):
        forces = rng.normal(size=(ROWS, m)).astype(dtype)
        right, mine = here.step(forces, steps=k % 2 + 1), there.step(asarray(forces), steps=k % 2 + 1)
        if k == 2:
            vary = {"gravity": np.array([0.0, 0.0, -5.0])}
            right = here.reset(mask, velocity=ones, varying=vary)
            mine = there.reset(asarray(mask), None, ones, varying=vary)
        for a, b in zip(mine, right, strict=True):
            assert isinstance(a, pretended_gpu.GpuArray)
            assert str(a.dtype) == dtype
            assert error(np.array(a), b) < tolerance
            a += 1.0  # what is handed out is not what is stepped
    assert np.array_equal(there.time, here.time)
    assert there.reasons is None
    assert there.stepped_by == "machine code"
    assert error(np.array(there.step()[0]), here.step()[0]) < tolerance


def test_one_kernel_makes_a_step(gpu: Any) -> None:
    world, forces = tf.World(ARM, 5, like=asarray(np.zeros(1))), asarray(np.zeros((5, 3)))
    before = len(gpu.launches)
    for _ in range(3):
        world.step(forces)
    assert len(gpu.launches) == before + 3


def test_rows_that_are_not_finite_touch_no_other() -> None:
    start, forces = np.zeros((4, 2)), np.zeros((4, 2))
    gantry = tf.SerialArm(joints=[tf.Joint(kind="P", mass=2.0, inertia=np.eye(3), before=np.eye(4))] * 2)
    world = tf.World(gantry, 4, step=1.0, like=asarray(np.zeros(1)))
    world.reset(None, asarray(start), asarray(start + np.array([[0.0], [4e8], [0.0], [1e10]])))
    forces[2] = np.nan
    for k in range(3):
        position, _ = world.step(asarray(forces))
        assert np.isnan(position[:, 0]).tolist() == [False, k == 2, True, True]
    position, _ = world.reset([1, 2, 3])
    assert np.isfinite(position).all()
    assert np.isfinite(world.step()[0]).all()


def test_a_mechanism_with_loops() -> None:
    robot = ROBOTS["five-bar"]
    here, there = tf.World(robot, 3), tf.World(robot, 3, like=asarray(np.zeros(1)))
    forces = np.random.default_rng(8).normal(size=(3, 2))
    for _ in range(3):
        for a, b in zip(there.step(asarray(forces)), here.step(forces), strict=True):
            assert error(np.array(a), b) < SAME
    with pytest.raises(tf.UnsupportedFeatureError, match=f"{robot.name} needs float64: its loops stay closed"):
        tf.World(robot, 3, like=asarray(np.zeros(1), "float32"))


@pytest.mark.parametrize(
    ("like", "forces", "match"),
    [
        (asarray(np.zeros(1)), np.zeros((2, 3)), "forces: expected an array on the GPU, got numpy.ndarray"),
        (asarray(np.zeros(1)), asarray(np.zeros((2, 3)), "float32"), "forces: expected float64 numbers, got float32"),
        (asarray(np.zeros(1)), asarray(np.zeros((3, 3))), r"forces: expected \(2, 3\) or \(3,\) numbers, got \(3, 3\)"),
        (asarray(np.zeros(1, int)), None, "like: expected float64 or float32 numbers, got int64"),
        (
            None,
            asarray(np.zeros((2, 3))),
            "forces: expected an array where the rows are, got one on a GPU. Make the World",
        ),
    ],
)
def test_bad_input(like: Any, forces: Any, match: str) -> None:
    with pytest.raises(tf.ShapeError, match=match):
        tf.World(ARM, 2, like=like).step(forces)
