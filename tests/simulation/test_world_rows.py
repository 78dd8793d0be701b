"""Rows of worlds that start again, run away or have no state, and what they leave alone."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import SAME_STEPS
from support.world_cases import ARM, ROBOTS, pushes, states
from tauforge.simulation.method_loop import NO_FORCES
from tauforge.simulation.world import NO_START

pytestmark = pytest.mark.usefixtures("kernels_on")
H = 2e-3


@pytest.mark.parametrize("kind", ROBOTS)
@pytest.mark.parametrize("rows", [[2], np.arange(11) % 5 == 2, [10, 0, 3], 4, []])
def test_a_reset_of_some_rows_leaves_the_others_alone(kind: str, rows: Any) -> None:
    robot = ROBOTS[kind]
    start, forces = states(robot, 11), pushes(robot, 11, 4)
    chosen = np.zeros(11, bool)
    chosen[np.asarray(rows, None if np.size(rows) else int)] = True
    one, other = tf.World(robot, 11), tf.World(robot, 11)
    for world in (one, other):
        world.reset(None, *start)
        world.step(forces[:, 0])
    position, velocity = one.reset(rows, start[0][1], start[1][1])
    before = other.reset(np.flatnonzero(chosen), *(x[1:2].repeat(chosen.sum(), axis=0) for x in start))
    assert np.array_equal(position, before[0])
    for k in (1, 2):
        position, velocity = one.step(forces[:, k])
    undisturbed = tf.World(robot, 11)
    undisturbed.reset(None, *start)
    for k in range(3):
        right, right_velocity = undisturbed.step(forces[:, k])
    assert np.array_equal(position[~chosen], right[~chosen])
    assert np.array_equal(velocity[~chosen], right_velocity[~chosen])
    assert np.array_equal(one.time, np.where(chosen, 2, 3) * H)
    again = tf.World(robot, 11)
    again.reset(None, start[0][1], start[1][1])
    for k in (1, 2):
        right, _ = again.step(forces[:, k])
    assert np.array_equal(position[chosen], right[chosen])


@pytest.mark.parametrize("kind", ROBOTS)
@pytest.mark.parametrize("by", ["kernels", "methods"])
def test_rows_without_a_state_touch_no_other(monkeypatch: Any, kind: str, by: str) -> None:
    """Not finite forces, and a start beyond all bounds, make their rows NaN until these are reset."""
    if by == "methods":
        monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    least = 0.0 if by == "kernels" else SAME_STEPS  # methods close the loops of all rows together
    robot = ROBOTS[kind]
    start, forces = states(robot, 6), pushes(robot, 6, 4)
    world, good = tf.World(robot, 6), tf.World(robot, 6)
    good.reset(None, *start)
    world.reset(None, *start)
    far = np.full(robot.n, 1e10)
    assert np.isnan(world.reset([5], None, far)[1][5]).all()
    forces[1, 1, 0], forces[2, 2, -1] = np.nan, np.inf
    calm = np.where(np.isfinite(forces), forces, 0.0)
    for k in range(4):
        position, velocity = world.step(forces[:, k])
        right, right_velocity = good.step(calm[:, k])
        lost = [row for row, begin in ((1, 1), (2, 2), (5, 0)) if k >= begin]
        sound = np.setdiff1d(np.arange(6), lost)
        assert np.isnan(position[lost]).all()
        assert np.isnan(velocity[lost]).all()
        for mine, same in ((position, right), (velocity, right_velocity)):
            assert np.abs(mine[sound] - same[sound]).max() <= least * np.abs(same).max()
        assert sorted(world.reasons) == lost
    refused = NO_FORCES
    assert world.reasons == {1: refused, 2: refused, 5: NO_START}
    position, _ = world.reset([1, 5])
    assert world.reasons == {2: refused}
    assert np.isfinite(position[[0, 1, 3, 4, 5]]).all()
    assert np.isfinite(world.step()[0][[1, 5]]).all()


def test_a_row_that_runs_away_is_lost_in_that_step() -> None:
    slide = tf.SerialArm(joints=[tf.Joint(kind="P", mass=2.0, inertia=np.eye(3))], gravity=(0, 0, 0))
    world = tf.World(slide, 3, step=1.0)
    world.reset(None, [0.0], [[1.0], [4e8], [1.0]])
    for k in range(1, 4):
        position, velocity = world.step([[0.0], [0.0], [2e6]])
        assert np.isnan(position[:, 0]).tolist() == [False, k == 3, False]
        assert np.array_equal(np.isnan(position), np.isnan(velocity))
    assert position[[0, 2], 0] == pytest.approx([3.0, 3.0 + 4.5e6])
    assert world.reasons == {1: "the motion ran away"}


@pytest.mark.parametrize("by", ["kernels", "methods"])
def test_rows_have_other_numbers_after_a_reset(monkeypatch: Any, by: str) -> None:
    if by == "methods":
        monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    rng, start, forces = np.random.default_rng(9), states(ARM, 9), pushes(ARM, 9, 3)
    mass, rows = rng.uniform(1.0, 2.0, (9, 3)), [7, 2, 3]
    given = {"varying": {"mass": mass, "gravity": np.zeros(3)}, "payload": tf.Payload(np.linspace(0.1, 1.0, 9))}
    world = tf.World(ARM, 9, **given)
    world.step(forces[:, 0])
    world.reset(None, *start)
    other = rng.uniform(1.0, 2.0, (3, 3))
    world.reset(rows, start[0][rows], start[1][rows], varying={"mass": other, "gravity": [0.0, 0.0, -3.0]})
    numbers = {"mass": mass.copy(), "gravity": np.zeros((9, 3))}
    numbers["mass"][rows], numbers["gravity"][rows] = other, [0.0, 0.0, -3.0]
    right = tf.World(ARM, 9, **given | {"varying": numbers})
    right.reset(None, *start)
    forces[3, 0] = np.nan  # such a row is left to methods, which must know of its numbers
    for k in range(3):
        for a, b in zip(world.step(forces[:, k]), right.step(forces[:, k]), strict=True):
            assert np.array_equal(a, b, equal_nan=True)
    assert world.reasons == {3: NO_FORCES}
    assert world.stepped_by == right.stepped_by


def test_a_position_that_does_not_close_the_loops() -> None:
    robot = ROBOTS["five-bar"]
    q = np.tile(robot.positions.coordinates(robot.positions.default), (4, 1))
    q[1], q[2] = [1.0, -2.0], np.nan
    world = tf.World(robot, 4)
    assert np.isnan(world.reset(None, q)[0]).any(axis=1).tolist() == [False, True, True, False]
    assert world.reasons == {1: NO_START, 2: NO_START}


def test_fields_that_cannot_be_changed() -> None:
    world = tf.World(ARM, 2, varying={"mass": np.ones(3)})
    with pytest.raises(tf.UnsupportedFeatureError, match=r"'gravity' of this World does not vary\. Give varying={'gra"):
        world.reset(varying={"gravity": np.ones(3)})
    with pytest.raises(tf.ShapeError, match=r"mass: expected \(1, 3\) or \(3,\) numbers, got \(2, 3\)"):
        world.reset([1], varying={"mass": np.ones((2, 3))})
    with pytest.raises(tf.ShapeError, match=r"varying: expected arrays by name, such as .*, got 3"):
        world.reset(varying=3)


def test_methods_that_make_steps_know_of_other_numbers() -> None:
    """The cranks of a falling five-bar lose control on the way, before and after the reset."""
    robot, start = ROBOTS["five-bar"], [0.1, -0.2]
    masses = np.array([body.mass for body in robot.bodies])
    kinds = masses, masses * np.linspace(1.0, 2.0, len(masses))
    world, right = (tf.World(robot, 2, step=1e-3, varying={"mass": x}, payload=tf.Payload(0.1)) for x in kinds)
    for each in (world, right):
        each.reset(None, start)
    before = world.step(steps=400)[0]
    world.reset(None, start, varying={"mass": kinds[1]})
    by = world.stepped_by
    found, expected = world.step(steps=400)[0], right.step(steps=400)[0]
    assert np.array_equal(found, expected)
    assert np.abs(found - before).max() > 1e-4
    assert len({"machine code", by, world.stepped_by}) == 3  # methods made steps in both runs


def test_threads_wait_for_each_other(monkeypatch: Any) -> None:
    """Steps of a world have records and places of their own: those of another thread must not come between."""
    world, inside, most = tf.World(ARM, 2), [0], [0]
    step, put = world._rows.step, world._rows.put

    def alone(method: Any) -> Any:
        def called(*given: Any) -> Any:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.02)
            answer = method(*given)
            inside[0] -= 1
            return answer

        return called

    monkeypatch.setattr(world._rows, "step", alone(step))
    monkeypatch.setattr(world._rows, "put", alone(put))
    threads = [threading.Thread(target=work) for work in (world.step, world.reset, world.step)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
