"""Which robot may move in place of another: one with the same coordinates and actuators, whatever it is called."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from tauforge.class_tools import computed_once
from tauforge.control import ComputedTorque
from tauforge.robots.positions import Positions

CART, MOVE = CartPendulum(), tf.motion.JointMove([0.0, 0.0], [0.3, 0.8], 0.1)
OPTIONS = {"step": 0.01, "control_period": 0.01}
ARM = tf.load("planar-2r")


class Posed(Positions):
    pose = (0, 1)


def changed(**attributes):
    return type("Changed", (CartPendulum,), attributes)()


def columns(parts, **changes):
    """These parts, the second one changed."""
    return (parts[0], parts[1]._replace(**changes))


@pytest.mark.parametrize(
    "attributes",
    [
        {"kind": "trolley"},
        {"coordinates": columns(CartPendulum.coordinates, name="mast", upper=3.0)},
        {"actuators": columns(CartPendulum.actuators, name="drive", max_force=9.0)},
    ],
    ids=["kind", "name of a coordinate", "name of an actuator"],
)
def test_a_label_does_not_matter(attributes):
    plant = changed(**attributes)
    runs = [tf.simulate(CART, ComputedTorque(CART), MOVE, plant=robot, **OPTIONS) for robot in (plant, CART)]
    assert np.array_equal(runs[0].position, runs[1].position)
    tf.simulate(plant, ComputedTorque(CART), MOVE, **OPTIONS)
    tf.rollout(CART, ComputedTorque(plant), MOVE, **OPTIONS)


@pytest.mark.parametrize(
    ("attributes", "differing"),
    [
        (
            {"coordinates": columns(CartPendulum.coordinates, column="s", unit="m")},
            r"coordinate 2 of other is s \[m\], that of cart is phi \[rad\]",
        ),
        (
            {"coordinates": columns(CartPendulum.coordinates, unit="m")},
            r"coordinate 2 of other is phi \[m\], that of cart is phi \[rad\]",
        ),
        ({"actuators": CartPendulum.actuators[:1]}, "other has 1 actuator, cart has 2 actuators"),
        (
            {"actuators": columns(CartPendulum.actuators, unit="N")},
            r"actuator 2 of other is T \[N\], that of cart is T \[N m\]",
        ),
        ({"positions": computed_once(Posed)}, "positions of other are poses, those of the other are not"),
    ],
)
def test_what_differs_is_told(attributes, differing):
    """Also where both keep the same kind."""
    other = changed(**attributes)
    other.name = "other"
    for start in (tf.simulate, tf.rollout):
        with pytest.raises(tf.ModelError, match=f"plant: other cannot move in place of cart: {differing}"):
            start(CART, ComputedTorque(CART), MOVE, plant=other, **OPTIONS)
    law = ComputedTorque(CART)
    law.robot = other
    with pytest.raises(tf.ModelError, match=f"the controller is made for other, not for cart: {differing}"):
        tf.simulate(CART, law, MOVE, **OPTIONS)


def test_joints_that_turn_and_joints_that_slide():
    sliding = tf.SerialArm.from_dh(
        joints="RP",
        alpha=[0, 0],
        a=[1, 1],
        d=[0, 0],
        theta=[0, 0],
        mass=[1, 1],
        com=np.zeros((2, 3)),
        inertia=np.ones((2, 3)),
    )
    with pytest.raises(tf.ModelError, match=r"coordinate 2 of .* is q2 \[m\], that of planar-2r is q2 \[rad\]"):
        tf.simulate(ARM, ComputedTorque(ARM), MOVE, plant=sliding, **OPTIONS)
