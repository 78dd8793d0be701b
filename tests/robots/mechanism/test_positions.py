"""`moved_body.towards`: the tool body of a mechanism follows a hand, loops closed and within the limits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import names_of

MECHANISMS = names_of("mechanism")
BESIDE = {"andrews": [-0.3]}  # its home is a toggle, on whose two sides the tool is at the same places
STEP = 0.02  # rad or m
REACHED = 1e-8  # m and rad: an error of 1e-11 of the size, where a radian counts a hundredth of it
CLOSED = 1e-12  # of the size
AT_THE_LIMIT = 1e-9  # m or rad
LIMITED = (
    "3-rps",
    "delta",
    "delta-parallelograms",
    "five-bar",
    "gripper",
    "hexapod-6rus",
    "palletiser",
    "planar-3rrr",
)


def start_of(m: tf.Mechanism) -> np.ndarray:
    return m.positions.at(np.array(BESIDE[m.name])) if m.name in BESIDE else np.array(m.home)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_tool_body_arrives_where_it_can_be(name: str) -> None:
    m = tf.load(name)
    start = start_of(m)
    goal = m.positions.at(m.positions.coordinates(start) + STEP * np.cos(np.arange(m.n)), start)
    wanted = m.moved_body.frames(goal)
    found = m.moved_body.towards(wanted, start)
    np.testing.assert_allclose(m.moved_body.frames(found), wanted, atol=REACHED)
    assert m.loop_gap(found) < CLOSED


@pytest.mark.usefixtures("as_installed")  # hundreds of steps
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_far_hand_pulls_as_far_as_the_limits_allow(name: str) -> None:
    m = tf.load(name)
    start = start_of(m)
    far = m.moved_body.frames(start).copy()
    far[:3, 3] += [100.0, 20.0, 30.0]
    found = m.moved_body.towards(far, start)
    assert np.linalg.norm(far[:3, 3] - m.moved_body.frames(found)[:3, 3]) < np.linalg.norm([100.0, 20.0, 30.0])
    assert m.loop_gap(found) < CLOSED
    assert (m.bounds.margins(found) >= -CLOSED).all()
    assert (name in LIMITED) == bool(len(m.bounds.limits))
    if name in LIMITED:
        assert m.bounds.margins(found).min() < AT_THE_LIMIT


def test_the_tip_of_a_five_bar_is_on_its_circles() -> None:
    """The oracle: both cranks' ends are a rod away from the place that the hand holds."""
    m = tf.load("five-bar")
    wanted = m.moved_body.frames(m.home).copy()
    wanted[:3, 3] += [0.03, 0.0, -0.02]
    left, right = m.positions.coordinates(m.moved_body.towards(wanted, m.home))
    tip = wanted[[0, 2], 3]
    ends = np.array([[np.cos(left), np.sin(left)], [np.cos(right), np.sin(right)]]) * 0.3 + [[0, 0], [0.25, 0]]
    # the orientation, which a hand holds too, takes a little of the place: 1e-4 of the squares
    np.testing.assert_allclose(np.linalg.norm(ends - tip, axis=1), 0.4, atol=1e-4)


def test_limits_of_dependent_joints_count() -> None:
    m = tf.load("five-bar")
    joints = [dataclasses.replace(j, limits=(-0.1, 0.1)) if j.name == "tip" else j for j in m.joints]
    held = m.replace(joints=joints)
    wanted = m.moved_body.frames(m.home).copy()
    wanted[:3, 3] += [0.0, 0.0, -0.1]
    free, found = (r.moved_body.towards(wanted, r.home) for r in (m, held))
    place = m.coordinate_names.index("tip")
    assert abs(free[place]) > 0.2
    assert 0.05 < abs(found[place]) <= 0.1 + CLOSED


def test_a_pose_that_is_not_finite_moves_nothing() -> None:
    m = tf.load("delta")
    np.testing.assert_array_equal(m.moved_body.towards(np.full((4, 4), np.nan), m.home), m.home)
