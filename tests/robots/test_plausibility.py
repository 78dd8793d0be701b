"""Degrees and millimetres where radians and metres are meant: a warning, and the numbers are used as given."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import tauforge as tf
from tauforge.errors import TauforgeWarning

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
HAND = "".join(
    (
        '<robot name="hand">',
        *(f'<link name="{name}">{INERTIAL}</link>' for name in ("base", "arm", "wrist", "finger")),
        '<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>',
        '<joint name="bend" type="revolute"><parent link="arm"/><child link="wrist"/>',
        '<limit lower="-1" upper="2" effort="1" velocity="1"/></joint>',
        '<joint name="slide" type="prismatic"><parent link="wrist"/><child link="finger"/>',
        '<limit lower="0.001" upper="0.04" effort="1" velocity="1"/></joint></robot>',
    )
)
DEGREES, MILLIMETRES = "If it is in degrees, give radians", "If it is in millimetres, give metres"


def told(make) -> list[str]:
    """The warnings of a call, which must come from this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    assert all(warning.category is TauforgeWarning and warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


COORDINATES = [  # joint, coordinate, what is wrong; None where nothing is
    ("turn", 90.0, f"90 rad is beyond two turns. {DEGREES}"),
    ("turn", -13.0, f"-13 rad is beyond two turns. {DEGREES}"),
    ("turn", 12.5, None),
    ("bend", 45.0, f"45 rad is beyond two turns. {DEGREES}"),
    ("bend", 2.1, f"2.1 rad is outside of its limits, -1 to 2 rad. {DEGREES}"),
    ("bend", 2.0, None),
    ("slide", 20.0, f"20 m is outside of its limits, 0.001 to 0.04 m. {MILLIMETRES}"),
    ("slide", 0.02, None),
    ("slide", 0.0, None),  # where the file draws it
]


@pytest.mark.parametrize(("joint", "coordinate", "words"), COORDINATES)
def test_joints_that_are_locked(joint, coordinate, words):
    found = told(lambda: tf.loads(HAND, lock={joint: coordinate}))
    assert len(found) == (words is not None)
    assert not found or f"lock['{joint}']: {words}" in found[0]


@pytest.mark.parametrize(("joint", "coordinate", "words"), COORDINATES)
def test_home_positions(joint, coordinate, words):
    found = told(lambda: tf.loads(HAND, home={joint: coordinate}))
    assert len(found) == (words is not None)
    assert not found or f"hand: {joint}.home: {words}" in found[0]


def test_homes_of_joints():
    def made(**given):
        return tf.Mechanism(bodies=[tf.Body("rod", 1.0)], joints=[tf.Hinge("pin", "ground", "rod", **given)], name="m")

    assert told(lambda: made(home=0.5, limits=(0.0, 1.0))) == []
    assert told(lambda: made(limits=(0.5, 1.0))) == []  # a home of 0 is a worry, see `issues`
    (text,) = told(lambda: made(home=1.5, limits=(0.0, 1.0)))
    assert text.startswith(f"m: pin.home: 1.5 rad is outside of its limits, 0 to 1 rad. {DEGREES}")
    (text,) = told(lambda: made(home=30.0))
    assert text.startswith(f"m: pin.home: 30 rad is beyond two turns. {DEGREES}")


ARM, PLATFORM = tf.load("planar-2r"), tf.load("motion-rig")


def pendulum(com, at):
    body, joint = tf.Body("rod", 1.0, com=com), tf.Hinge("pin", "ground", "rod", at=at, axis=(1, 0, 0))
    return tf.Mechanism(bodies=[body], joints=[joint], name="m")


@pytest.mark.parametrize(
    ("make", "body"),
    [
        (lambda x: ARM.replace(com=[(x, 0, 0), (0, 0, 0)]), "planar-2r: link of joint1"),
        (lambda x: PLATFORM.replace(platform_com=(0, 0, x)), "motion-rig: platform"),
        (lambda x: PLATFORM.replace(upper_com=[(x, 0, 0)] * 6), "motion-rig: upper part"),
        (lambda x: pendulum((0, 0, x), (0, 0, 0)), "m: rod"),
        (lambda x: tf.Payload(1.0, (0, x, 0)), "payload: body"),
        (lambda x: tf.Payload([1.0, 2.0], [(0, 0, 0), (0, x, 0)]), "payload: body"),
    ],
    ids=["arm", "platform", "leg", "mechanism", "payload", "payloads"],
)
def test_centres_of_mass_in_millimetres(make, body):
    (text,) = told(lambda: make(150.0))
    assert re.match(rf"{body}: the centre of mass is 150 m from .*, and few links are that long\. {MILLIMETRES}", text)
    assert told(lambda: make(19.0)) == []
    assert told(lambda: make(-19.0)) == []


def test_what_stands_far_away_is_not_long():
    """A mechanism is given in the world, and may stand anywhere."""
    assert told(lambda: pendulum((500.0, 0, 1.0), (500.0, 0, 0))) == []
    assert told(lambda: pendulum((500.0, 0, 1.0), (0, 0, 0)))


def test_a_part_without_mass_has_no_centre():
    assert told(lambda: ARM.replace(mass=[0.0, 1.0], com=[(150, 0, 0), (0, 0, 0)])) == []


def test_a_gap_is_no_distance():
    assert told(lambda: tf.Payload(1.0, np.ma.array([150.0, 0, 0], mask=[1, 0, 0]))) == []


@pytest.mark.parametrize("name", tf.catalogue())
def test_the_catalogue_is_silent(name):
    assert told(lambda: tf.load(name)) == []
