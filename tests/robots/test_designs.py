"""The numbers that a designer chooses: what they measure, and that fields which vary are those of the changed robot."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.platforms import random_platform, ring
from support.tolerances import ROUNDING

RING = tf.StewartPlatform(
    base_points=ring(0.9, 12), platform_points=ring(0.6, 50) + [0.0, 0.0, 0.1], stroke=(0.5, 1.5), name="ring"
)


def own_of(robot):
    return {parameter.name: parameter.value for parameter in (robot.designs.parameters if robot.designs else ())}


@pytest.mark.parametrize("name", list(tf.catalogue()))
def test_own_values_give_the_own_fields(name):
    robot = tf.load(name)
    found = robot.designs.fields(own_of(robot)) if robot.designs else {}
    for field, value in found.items():
        assert np.abs(value - robot.own_values([field])[field]).max() <= ROUNDING * np.abs(value).max()


@pytest.mark.parametrize("robot", [random_platform(np.random.default_rng(3)), tf.load("puma560"), RING], ids=str)
def test_rows_of_designs_are_the_fields_of_the_redesigned_robot(robot):
    rng = np.random.default_rng(5)
    values = {name: own * rng.uniform(0.8, 1.2, 4) for name, own in own_of(robot).items()}
    found = robot.designs.fields(values)
    for k in range(4):
        other = robot.designs.redesign(**{name: x[k] for name, x in values.items()})
        for field, value in found.items():
            assert np.array_equal(value[k], other.own_values([field])[field])
        measured = own_of(other)
        assert measured.keys() == values.keys()
        if robot.name == "random":  # joints without symmetry: when they turn about their centre, that moves
            continue
        for name, x in values.items():
            assert abs(measured[name] - x[k]) <= ROUNDING * abs(x[k])


def test_radii_and_angles_of_a_ring():
    assert {name: round(x, 12) for name, x in own_of(RING).items()} == {
        "base_radius": 0.9,
        "base_angle": round(np.deg2rad(24), 12),  # pairs are 12 degrees to both sides of their middle
        "platform_radius": 0.6,
        "platform_angle": round(np.deg2rad(20), 12),  # here the near ones belong to neighbouring directions
        "shortest_leg": 0.5,
        "longest_leg": 1.5,
    }
    angles = {"base_angle": np.deg2rad(30), "platform_angle": np.deg2rad(40)}
    other = RING.designs.redesign(base_radius=0.5, longest_leg=1.2, **angles)
    assert np.abs(np.array(other.base_points) - ring(0.5, 15)).max() < ROUNDING
    assert np.abs(np.array(other.platform_points) - ring(0.6, 40) - [0.0, 0.0, 0.1]).max() < ROUNDING
    assert np.abs(np.array(other.stroke) - [0.5, 1.2]).max() < ROUNDING


def test_joints_in_the_same_direction_have_no_angle():
    """Where one joint is above the other, it is open which one turns to which side."""
    corners = ring(0.6, 60)
    stacked = corners + np.outer([0, 0, 0.2, 0, 0.2, 0.2], [0, 0, 1])
    platform = tf.StewartPlatform(base_points=ring(0.9, 12), platform_points=stacked, name="stacked")
    assert list(own_of(platform)) == ["base_radius", "base_angle", "platform_radius"]


def test_parameters_of_arms_are_lengths_that_are_not_zero():
    assert list(own_of(tf.load("puma560"))) == ["a2", "a3", "d3", "d4"]
    assert own_of(tf.load("puma560").designs.redesign(d4=0.5))["d4"] == 0.5


def test_other_kinds_have_none():
    assert CartPendulum().designs is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"base_width": 1.0}, "'base_width' is no design parameter. Use one of base_radius, base_angle"),
        ({"base_radius": 0.0}, "base_radius: expected numbers > 0, got 0"),
        ({"base_angle": [0.1, -0.1]}, "base_angle: expected numbers > 0, got -0.1"),
        ({"platform_radius": np.nan}, "platform_radius: expected finite numbers"),
        ({"platform_radius": "wide"}, "platform_radius: expected numbers, got text"),
    ],
)
def test_bad_values(values, message):
    with pytest.raises(tf.TauforgeError) as caught:
        RING.designs.fields(values)
    assert re.sub(r"\s+", " ", str(caught.value)).find(message) >= 0, str(caught.value)
