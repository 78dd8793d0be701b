"""Worlds that are stepped one call at a time, against rollouts under the same forces."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.mechanisms import five_bar
from support.tolerances import CLOSED, SAME_STEPS, SINGLE, error
from support.world_cases import ARM, ROBOTS, pushes, states
from tauforge.simulation import world_rows

pytestmark = pytest.mark.usefixtures("kernels_on")
H = 2e-3


@pytest.mark.parametrize("kind", ROBOTS)
@pytest.mark.parametrize(("rows", "steps"), [(1, 1), (13, 3), (16, 1)])
def test_steps_are_those_of_a_rollout_to_the_last_bit(kind: str, rows: int, steps: int) -> None:
    robot, count = ROBOTS[kind], 5
    start, forces = states(robot, rows), pushes(robot, rows, count)
    runs = tf.rollout(robot, initial=start, forces=forces, step=H, control_period=steps * H)
    world = tf.World(robot, rows, step=H)
    found = [world.reset(position=start[0], velocity=start[1])]
    found += [world.step(forces[:, k], steps=steps) for k in range(count)]
    for k, (position, velocity) in enumerate(found):
        assert np.array_equal(position, runs.position[:, k])
        assert np.array_equal(velocity, runs.velocity[:, k])
    assert np.array_equal(world.position, runs.position[:, -1])
    assert np.array_equal(world.velocity, runs.velocity[:, -1])
    assert world.time == pytest.approx(np.full(rows, count * steps * H))
    assert world.stepped_by == runs.stepped_by
    assert world.reasons == {}


def test_numbers_of_each_row_and_limits_of_the_forces() -> None:
    rng, rows = np.random.default_rng(6), 9
    given: dict[str, Any] = {
        "varying": {"mass": rng.uniform(1.0, 2.0, (rows, 3)), "gravity": rng.normal(size=3)},
        "payload": tf.Payload(rng.uniform(1.0, 2.0, rows), (0.1, 0.0, 0.05)),
    }
    start, forces = states(ARM, rows), 30 * pushes(ARM, rows, 4)
    most = np.array([20.0, 10.0, 30.0])
    runs = tf.rollout(ARM, initial=start, forces=np.clip(forces, -most, most), step=H, control_period=H, **given)
    world = tf.World(ARM, rows, step=H, force_limits=most, **given)
    world.reset(position=start[0], velocity=start[1])
    for k in range(4):
        position, velocity = world.step(forces[:, k])
    assert np.array_equal(position, runs.position[:, -1])
    assert np.array_equal(velocity, runs.velocity[:, -1])


def test_without_forces_and_with_those_that_all_rows_share() -> None:
    start, shared = states(ARM, 10), np.array([1.0, -2.0, 3.0])
    for given, same in ((None, np.zeros((10, 3))), (shared, np.tile(shared, (10, 1))), (shared.tolist(), shared)):
        one, other = tf.World(ARM, 10), tf.World(ARM, 10)
        for world in (one, other):
            world.reset(None, *start)
        for a, b in zip(one.step(given), other.step(same), strict=True):
            assert np.array_equal(a, b)
    default = tf.World(ROBOTS["five-bar"], 3)
    assert default.position == pytest.approx(np.tile(ROBOTS["five-bar"].positions.default, (3, 1)), rel=CLOSED)
    assert not default.velocity.any()


def test_by_methods_where_kernels_are_switched_off(monkeypatch: Any) -> None:
    for kind, robot in ROBOTS.items():
        start, forces = states(robot, 5), pushes(robot, 5, 3)
        with monkeypatch.context() as patch:
            patch.setenv("TAUFORGE_KERNELS", "0")
            plain = tf.World(robot, 5)
        compiled = tf.World(robot, 5)
        assert plain.stepped_by == "methods: kernels are switched off"
        assert compiled.stepped_by == "machine code"
        for world in (plain, compiled):
            world.reset(None, *start)
        for k in range(3):
            for a, b in zip(plain.step(forces[:, k], steps=2), compiled.step(forces[:, k], steps=2), strict=True):
                assert np.abs(a - b).max() < SAME_STEPS * np.abs(b).max(), kind


def test_results_have_memory_of_their_own() -> None:
    world, other = tf.World(ARM, 5), tf.World(ARM, 5)
    forces = pushes(ARM, 5, 1)[:, 0]
    for _ in range(3):
        for array in (*world.reset([1]), *world.step(forces), world.position, world.velocity):
            array += 1.0
        other.reset([1])
        other.step(forces)
    assert np.array_equal(world.position, other.position)
    assert np.array_equal(world.velocity, other.velocity)
    first = world.step(forces)[0]
    kept = first.copy()
    world.step(forces)
    assert np.array_equal(first, kept)


@pytest.mark.parametrize("library", ["jax.numpy", "torch"])
def test_arrays_of_other_libraries(library: str) -> None:
    """What is given decides, and else `like`."""
    xp = pytest.importorskip(library)
    start, forces = states(ARM, 6), pushes(ARM, 6, 3)
    world, there = tf.World(ARM, 6), tf.World(ARM, 6, like=xp.zeros(1))
    world.reset(None, *start)
    first = there.reset(None, *(xp.asarray(x) for x in start))
    kept = np.asarray(first[0]).copy()
    for k in range(3):
        right = world.step(forces[:, k])
        for given in (forces[:, k], xp.asarray(forces[:, k]))[k % 2 :][:1]:
            mine = there.step(given)
        for a, b in zip(mine, right, strict=True):
            assert type(a) is type(xp.zeros(1))
            assert error(np.asarray(a), b) < SINGLE * 10
    assert np.array_equal(np.asarray(first[0]), kept)
    assert type(there.position) is type(xp.zeros(1))
    mask = xp.asarray(np.arange(6) < 2)
    assert np.asarray(there.reset(mask)[0])[0] == pytest.approx(ARM.positions.default, rel=SINGLE)
    assert type(world.step(xp.asarray(forces[:, 0]))[0]) is type(xp.zeros(1))
    assert type(world.step(xp.zeros((6, 3), dtype=int))[0]) is type(xp.zeros(1))
    assert type(world.step()[0]) is np.ndarray


def test_many_steps_are_made_in_parts(monkeypatch: Any) -> None:
    """Between two of them the keyboard can interrupt."""
    forces = pushes(ARM, 5, 1)[:, 0]
    whole = tf.World(ARM, 5).step(forces, steps=17)
    monkeypatch.setattr(world_rows, "STEPS_AT_ONCE", 25)
    for mine, right in zip(tf.World(ARM, 5).step(forces, steps=17), whole, strict=True):
        assert np.array_equal(mine, right)


def test_jax_cannot_record_a_step() -> None:
    jax = pytest.importorskip("jax")
    world = tf.World(ARM, 2)
    with pytest.raises(tf.UnsupportedFeatureError, match="a World is computed by NumPy and cannot be transformed by"):
        jax.jit(lambda forces: world.step(forces)[0])(jax.numpy.zeros((2, 3)))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: tf.World("arm"), "robot"),
        (lambda: tf.World(ARM, 0), "n: expected a whole number >= 1, got 0"),
        (lambda: tf.World(ARM, 2, step=0.0), "step: expected"),
        (
            lambda: tf.World(ARM, 2, varying={"mass": np.ones((3, 3))}),
            "varying: expected arrays with the same leading N",
        ),
        (lambda: tf.World(ARM, 2, payload=1.0), "payload: expected a Payload, got 1.0"),
        (lambda: tf.World(ARM, 2, force_limits=[1.0]), "force_limits: expected one number >= 0, or 3"),
        (lambda: tf.World(ARM, 2, like="torch"), "like: expected an array of NumPy, torch, JAX or CuPy, got 'torch'"),
        (lambda: tf.World(ARM, 2).step(np.zeros((3, 3))), r"forces: expected \(2, 3\) or \(3,\) numbers, got \(3, 3\)"),
        (lambda: tf.World(ARM, 2).step("none"), r"forces: expected \(2, 3\) or \(3,\) numbers, got 'none'"),
        (lambda: tf.World(ARM, 2).step(steps=0), "steps: expected a whole number >= 1, got 0"),
        (lambda: tf.World(ARM, 2).reset([2]), r"rows: expected row numbers from 0 to 1, or a mask \(2,\), got \[2\]"),
        (lambda: tf.World(ARM, 2).reset([-1]), "rows: expected row numbers from 0 to 1"),
        (lambda: tf.World(ARM, 2).reset([0.0]), "rows: expected row numbers from 0 to 1"),
        (lambda: tf.World(ARM, 2).reset([True]), "rows: expected row numbers from 0 to 1"),
        (lambda: tf.World(ARM, 2).reset([0], np.zeros((2, 3))), r"position: expected \(1, 3\), \(3,\) numbers"),
        (
            lambda: tf.World(ARM, 2).reset(velocity=np.zeros(2)),
            r"velocity: expected \(2, 3\), \(3,\) numbers, got \(2,\)",
        ),
        (lambda: tf.World(five_bar(), 2).reset([1], np.zeros(3)), r"position: expected \(1, 2\), \(2,\) or \(1, 5\)"),
    ],
)
def test_bad_input(call: Any, match: str) -> None:
    with pytest.raises(tf.TauforgeError, match=match):
        call()


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_world_is_not_copied(way: Any) -> None:
    with pytest.raises(tf.UnsupportedFeatureError, match=r"a World has memory that is not copied.* reset it with this"):
        way(tf.World(ARM, 2))
    assert repr(tf.World(ARM, 2, step=0.01)) == f"World({ARM.name}, n=2, step=0.01)"


def test_warns_of_friction_that_is_too_stiff() -> None:
    stiff = tf.load("puma560").replace(coulomb_speed=1e-4)
    with pytest.warns(tf.StiffFrictionWarning):
        tf.World(stiff, 2)
    with pytest.raises(tf.ModelError, match="coulomb_speed"):
        tf.World(tf.load("puma560"), 2)
