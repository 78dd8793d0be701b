"""What a mechanism refuses, and in which words."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.random_mechanisms import bar, five_bar, four_bar
from tauforge.errors import TauforgeWarning

ORIGIN, TIP = (0, 0, 0), (1, 0, 0)
ROD, OTHER = bar("rod", ORIGIN, TIP, 1.0), bar("other", TIP, (2, 0, 0), 1.0)
SHOULDER = tf.Hinge("shoulder", "ground", "rod", actuated=True)
ELBOW = tf.Hinge("elbow", "rod", "other", at=TIP)


def says(text: str) -> Any:
    return pytest.raises(tf.ModelError, match=re.escape(text))


@pytest.mark.parametrize(
    ("bodies", "joints", "text"),
    [
        ([ROD, OTHER], [SHOULDER], "other is not connected to the ground. Join them, or give a body that moves freely"),
        ([ROD], [SHOULDER, ELBOW], "elbow.child: there is no body 'other'. Known: ground, rod"),
        (
            [ROD, OTHER],
            [SHOULDER, tf.Hinge("elbow", "Ground", "other", at=TIP)],
            "elbow.parent: there is no body 'Ground'. Did you mean ground? Known: ground, rod, other",
        ),
        ([OTHER], [SHOULDER], "shoulder.child: there is no body 'rod'"),
        ([ROD, ROD], [SHOULDER], "two bodies are called 'rod'"),
        ([ROD, OTHER], [SHOULDER, tf.Hinge("shoulder", "rod", "other")], "two joints are called 'shoulder'"),
        ([], [SHOULDER], "a mechanism needs at least one body and one joint"),
        ([ROD], [], "a mechanism needs at least one body and one joint"),
        (ROD, [SHOULDER], "bodies: expected a sequence of Body, got"),
        ([ROD], ["shoulder"], "joints: expected a sequence of MechanismJoint, got 'shoulder' in it"),
        ([ROD], [tf.Weld("weld", "ground", "rod")], "it cannot move: its constraints lock it. All joints are welds"),
        (
            [ROD],
            [SHOULDER, tf.Hinge("second", "ground", "rod", at=TIP)],
            "it cannot move: its constraints lock it. 5 constraints stand against 1 freedom; 4 of them are redundant. "
            "Axes that should be parallel or meet must be exactly so",
        ),
        (
            [ROD],
            [tf.Free("a", "ground", "rod"), tf.Free("b", "ground", "rod")],
            "b: ground and rod have a place beside each other without it. Leave out the Free joint",
        ),
        (
            [ROD, OTHER],
            [SHOULDER, tf.Free("free", "other", "rod")],
            "free: the free body has to be the child, and rod is nearer to the ground than other. Exchange",
        ),
        (
            [ROD, OTHER],
            [SHOULDER, tf.Hinge("elbow", "rod", "other", at=TIP, mimic=("shoulder", 2.0, 0.5))],
            "elbow.home: its home is 0, and by the mimic it is 0.5. Give the joint home= as factor times",
        ),
        (
            [ROD, OTHER],
            [SHOULDER, tf.Hinge("elbow", "rod", "other", at=TIP, mimic=("wrist", 2.0, 0.0))],
            "elbow.mimic: there is no joint 'wrist'. Known: shoulder, elbow",
        ),
        (
            [ROD, OTHER],
            [tf.Spherical("ball", "ground", "rod"), tf.Hinge("elbow", "rod", "other", mimic=("ball", 1.0, 0.0))],
            "elbow.mimic: 'ball' is no Hinge or Slider",
        ),
    ],
)
def test_what_cannot_be_built(bodies, joints, text):
    with says(text):
        tf.Mechanism(bodies=bodies, joints=joints)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            lambda: tf.Hinge("a", "ground", "rod", axis=(0, 0, 0)),
            "a.axis: expected an axis of a length other than zero",
        ),
        (lambda: tf.Universal("a", "ground", "rod", axes=((1, 0, 0), (0, 0, 0))), "a.axes: expected axes of a length"),
        (lambda: tf.Universal("a", "ground", "rod", axes=((1, 0, 0), (2, 0, 0))), "a.axes: the two axes are parallel"),
        (lambda: tf.Planar("a", "ground", "rod", along=(0, 0, 1)), "a.along: expected a direction in the plane"),
        (lambda: tf.Hinge("a", "rod", "rod"), "a.child: 'rod' cannot be joined to itself"),
        (lambda: tf.Hinge("", "ground", "rod"), "name: expected a name, got ''"),
        (lambda: tf.Hinge("a", "ground", "rod", actuated=1), "a.actuated: expected True or False, got 1"),
        (lambda: tf.Hinge("a", "ground", "rod", gear_ratio=0), "a.gear_ratio: expected a gear ratio other than 0"),
        (lambda: tf.Hinge("a", "ground", "rod", limits=(1, 0)), "a.limits: the lower limit 1.0 is above the upper"),
        (lambda: tf.Hinge("a", "ground", "rod", mimic=("b",)), "a.mimic: expected (joint, factor, offset), got"),
        (lambda: tf.Hinge("a", "ground", "rod", mimic=("a", 2, 0)), "a.mimic: a joint cannot follow itself"),
        (lambda: tf.Spherical("a", "ground", "rod", mimic=("b", 1, 0)), "a.mimic: only a Hinge or a Slider can follow"),
        (
            lambda: tf.Hinge("a", "ground", "rod", actuated=True, mimic=("b", 1, 0)),
            "a.actuated: a joint that follows another has no actuator",
        ),
        (lambda: tf.Weld("a", "ground", "rod", viscous=1.0), "a.actuated: a joint that does not move has no drive"),
        (lambda: tf.Spherical("a", "ground", "rod", home=(0.1, 0, 0)), "a.home: its coordinates in the home position"),
        (lambda: tf.Free("a", "ground", "rod", home=1.0), "a.home: its coordinates in the home position follow from"),
        (lambda: tf.Body("ground"), "name: 'ground' is the base, which needs no Body"),
        (lambda: tf.Body("rod", mass=-1.0), "rod.mass: "),
        (lambda: tf.Body("rod", com=(1, 2)), "rod.com: "),
        (lambda: tf.Body("rod", inertia=((1, 2, 3), (0, 1, 0), (0, 0, 1))), "rod.inertia: "),
        (lambda: tf.Spring("a", ORIGIN, "b", TIP, -1.0), "spring.stiffness: "),
    ],
)
def test_parts_that_are_wrong(made, text):
    with says(text):
        made()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"independent": ("left", "knee")},
            "independent: there is no coordinate 'knee'. Known: left, elbow 1, right",
        ),
        (
            {"independent": ("left", "Right")},
            "independent: there is no coordinate 'Right'. Did you mean right? Known: left, elbow 1, right, elbow 2",
        ),
        (
            {"independent": ("left", "middle")},
            "independent: 'middle' is cut to open the loop. Name another, or choose the",
        ),
        (
            {"independent": ("left",)},
            "independent: 1 coordinate is named, but five-bar has 2 degrees of freedom. Name as many",
        ),
        ({"independent": 3}, "independent: expected a sequence of str, got 3"),
        ({"tool": "hand"}, "tool: there is no body 'hand'. Known: crank 1, "),
        ({"cut": ("knee",)}, "cut: there is no joint 'knee'. Known: left, elbow 1, "),
        ({"cut": ("elbow1",)}, "cut: there is no joint 'elbow1'. Did you mean elbow 1? Known: "),
        ({"cut": ("left",)}, "left: a joint with an actuator, friction, a rotor or a mimic cannot be cut. Cut another"),
        (
            {"springs": [tf.Spring("crank 1", ORIGIN, "hand", TIP, 1.0)]},
            "springs: there is no body 'hand'. Known: ground, ",
        ),
        ({"gravity": (0, 0)}, "gravity: "),
        ({"coulomb_speed": 1e-12}, "coulomb_speed: expected 0 or at least 1e-09, got 1e-12"),
        ({"colour": "red"}, "colour: 'colour' cannot be replaced. Known: bodies, joints"),
    ],
)
def test_choices_that_are_wrong(changes, text):
    with says(text):
        five_bar().replace(**changes)


def test_loops_that_rounding_opens():
    """Joints are given where they are at home, so loops are closed there, unless the machine is very far away."""

    def at(distance: float) -> tf.Mechanism:
        m = four_bar()
        away = np.array([distance, 0.3 * distance, 0.7 * distance])

        def moved(part: Any, *places: str) -> Any:
            return dataclasses.replace(part, **{p: (away + getattr(part, p)).tolist() for p in places})

        bodies, joints = [moved(body, "com", "origin") for body in m.bodies], [moved(joint, "at") for joint in m.joints]
        return m.replace(bodies=bodies, joints=joints)

    assert at(1e3).n == 1
    with says("joints: the home position does not close: the loop at "):
        at(1e10)


def test_independent_rates_that_do_not_determine_the_motion():
    """The weight falls by itself, whatever crank and coupler do."""
    with says("independent: 2 coordinates are named, but four-bar has 1 degree of freedom"):
        four_bar(independent=("crank", "pin 1"))
    both = {
        "bodies": [*four_bar().bodies, bar("weight", (2, 0, 0), (3, 0, 0), 1.0)],
        "joints": [*four_bar().joints, tf.Slider("slide", "ground", "weight")],
    }
    with says("crank, pin 1 do not determine the motion of pair: others move while they stand still. Name others, or"):
        tf.Mechanism(**both, name="pair", independent=("crank", "pin 1"))


def four_bar_with(**changes: Any) -> tf.Mechanism:
    """A four-bar whose pin 1 is changed."""
    joints = list(four_bar().joints)
    joints[1] = dataclasses.replace(joints[1], **changes)
    return four_bar().replace(joints=joints)


def test_axes_that_are_nearly_parallel_are_named():
    with says("must be exactly so: those of crank and pin 1 are parallel but for 0.0001 rad"):
        four_bar_with(axis=(0.0, 1e-4, 1.0))
    assert four_bar_with(axis=(0.0, 1e-16, 1.0)).n == 1
    with pytest.raises(tf.ModelError, match=r"must be exactly so$"):  # too far to be a slip
        four_bar_with(axis=(0.0, 0.3, 1.0))


def test_axes_that_nearly_meet_are_named():
    """A spherical four-bar: all axes meet at the origin, or miss it by a little."""

    def spherical(miss: float) -> tf.Mechanism:
        axes = [(1.0, 0.0, 0.2), (0.3, 1.0, 0.1), (-1.0, 0.4, 0.3), (0.2, -1.0, 0.5)]
        ends = [("ground", "a"), ("a", "b"), ("b", "c"), ("ground", "c")]
        at = [(0, 0, 0), (0, 0, miss), (0, 0, 0), (0, 0, 0)]
        return tf.Mechanism(
            bodies=[bar(name, (0, 0, 0), (1, 0, 0), 1.0) for name in "abc"],
            joints=[
                tf.Hinge(f"j{k}", *own, at=point, axis=axis)
                for k, (own, point, axis) in enumerate(zip(ends, at, axes, strict=True), 1)
            ],
        )

    assert spherical(0.0).n == 1
    with pytest.raises(tf.ModelError, match=r"exactly so: those of j\d and j\d miss each other by .*e-05 m"):
        spherical(1e-4)


def test_states_of_a_wrong_shape():
    m = five_bar()
    with pytest.raises(tf.ShapeError, match=re.escape("(..., 5): five-bar has 5 coordinates, all joints together")):
        m.inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))
    with pytest.raises(tf.ShapeError, match=re.escape("(..., 2): five-bar has 2 independent coordinates")):
        m.inverse_dynamics(m.home, np.zeros(5), np.zeros(2))
    with pytest.raises(tf.ModelError, match="there is no body 'hand'"):
        m.forward_kinematics(m.home, "hand")


def test_positions_out_of_reach():
    m = five_bar()
    with pytest.raises(tf.ConvergenceError, match=re.escape("five-bar: the loops do not close at [1.5, -1.5]")):
        m.configuration([1.5, -1.5])
    found = m.configuration([[0.0, 0.0], [1.5, -1.5], [np.nan, 0.0]], on_failure="nan")
    assert np.isnan(found[1:]).all()
    np.testing.assert_allclose(found[0], m.home, atol=1e-12)


def test_all_coordinates_of_a_tree_in_another_order():
    """A position and its coordinates would be as long, and mean different joints."""
    words = (
        "independent: all coordinates are named, in another order than positions have: nothing would tell a position "
        "from its coordinates. Leave independent out, or name them as shoulder, elbow"
    )
    given = {"bodies": [ROD, OTHER], "joints": [SHOULDER, ELBOW]}
    with says(words):
        tf.Mechanism(**given, independent=("elbow", "shoulder"))
    for independent in (None, ("shoulder", "elbow")):
        m = tf.Mechanism(**given, independent=independent)
        assert m.structure.independent == ("shoulder", "elbow")
        x = np.array([0.3, -0.4])
        for found in (m.configuration(x), m.positions.at(x), m.positions.coordinates(x)):
            np.testing.assert_array_equal(found, x)


def test_limits_in_degrees_are_suspected():
    def arm(**limits: Any) -> tf.Mechanism:
        return tf.Mechanism(bodies=[ROD], joints=[dataclasses.replace(SHOULDER, **limits)], name="arm")

    words = r"^arm: shoulder\.limits: -180 to 180 rad is beyond two turns\. If these are degrees, give radians"
    with pytest.warns(TauforgeWarning, match=words) as caught:
        arm(limits=(-180.0, 180.0))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    arm(limits=(-12.5, 12.5))  # silent: nearly two turns
    tf.Mechanism(bodies=[ROD], joints=[tf.Slider("slide", "ground", "rod", limits=(0.0, 20.0))])


def test_a_home_outside_of_its_limits_is_a_worry():
    away = tf.Mechanism(bodies=[ROD], joints=[dataclasses.replace(SHOULDER, limits=(0.5, 2.0))])
    assert away.issues() == ["home is outside of the limits: shoulder is 0, and its limits are 0.5 to 2"]
    there = dataclasses.replace(SHOULDER, limits=(0.5, 2.0), home=0.5)
    assert tf.Mechanism(bodies=[ROD], joints=[there]).issues() == []


def test_fewer_actuators_than_freedoms():
    m = tf.Mechanism(bodies=[ROD, OTHER], joints=[SHOULDER, ELBOW], name="pendulum")
    words = (
        "pendulum has 2 degrees of freedom and 1 actuator, which cannot give every acceleration. Use forward_dynamics"
    )
    with pytest.raises(tf.UnsupportedFeatureError, match=re.escape(words)):
        m.inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))
    assert np.isfinite(m.forward_dynamics(np.zeros(2), np.zeros(2), np.zeros(1))).all()


def test_actuators_that_do_not_control_the_motion():
    """Two actuators for two freedoms, but both turn the same one."""
    weight = bar("weight", (2, 0, 0), (3, 0, 0), 1.0)
    m = tf.Mechanism(
        bodies=[*four_bar().bodies, weight],
        joints=[
            *four_bar().joints[:2],
            tf.Hinge("rocker", "ground", "rocker", at=four_bar().joints[2].at, actuated=True),
            four_bar().joints[3],
            tf.Slider("slide", "ground", "weight"),
        ],
    )
    assert m.structure.freedom == len(m.actuators) == 2
    with pytest.raises(
        tf.UnsupportedFeatureError, match="2 degrees of freedom and 2 actuators, which cannot give every"
    ):
        m.inverse_dynamics(m.home, np.zeros(2), np.zeros(2))
    assert np.isfinite(m.forward_dynamics(m.home, np.zeros(2), np.zeros(2))).all()


def test_batches_that_do_not_fit():
    m = tf.load("four-bar")
    with pytest.raises(
        tf.ShapeError, match=r"near: expected leading shapes that broadcast together, got q \(2,\), near"
    ):
        m.configuration(np.zeros((2, 1)), near=np.zeros((3, len(m.home))))


@pytest.mark.parametrize("far", [1e6, 1e300])
def test_ways_that_are_too_long(far):
    bricard = tf.load("bricard")
    with pytest.raises(tf.ConvergenceError, match=r"too long to be followed\. Give a nearer start by near="):
        bricard.configuration([far])
    assert np.isnan(bricard.configuration([far], on_failure="nan")).all()


def test_trees_have_no_way_to_follow():
    turning = tf.Mechanism(
        bodies=[tf.Body("wheel", 1.0, inertia=(1.0, 1.0, 1.0))], joints=[tf.Hinge("axle", "ground", "wheel")]
    )
    assert turning.configuration([1e9]).tolist() == [1e9]


def test_a_floating_body_is_named_by_itself_or_by_its_joint():
    m = tf.Mechanism(
        bodies=[tf.Body("base", 1.0, inertia=(1.0, 1.0, 1.0)), tf.Body("arm", 1.0, (1, 0, 0), (1.0, 1.0, 1.0))],
        joints=[tf.Free("floating", "ground", "base"), tf.Hinge("hinge", "base", "arm")],
    )
    by_body, by_joint = (m.replace(independent=(name, "hinge")) for name in ("base", "floating"))
    assert by_body.structure == by_joint.structure
    assert by_body.structure.independent[0] == "floating.x"


def test_friction_of_numpys_numbers():
    assert tf.Hinge("h", "ground", "a", coulomb=np.float32(0.5)).coulomb == (0.5, 0.5)


def test_jacobians_of_several_points():
    m = tf.load("five-bar")
    points, x = np.random.default_rng(0).uniform(-1, 1, (4, 3)), np.broadcast_to(m.home, (2, 1, len(m.home)))
    found = m.jacobian(x, "left rod", point=points)
    assert found.shape == (2, 4, 6, 2)
    for k, point in enumerate(points):
        np.testing.assert_array_equal(found[1, k], m.jacobian(m.home, "left rod", point=point))


def test_joints_that_mimic_each_other_in_a_circle_are_refused():
    bodies = [tf.Body(name, 1.0, inertia=(1.0, 1.0, 1.0)) for name in ("a", "b", "c")]
    joints = [
        tf.Hinge("one", "ground", "a", mimic=("two", 2.0, 0.0)),
        tf.Hinge("two", "ground", "b", mimic=("one", 0.5, 0.0)),
        tf.Hinge("three", "ground", "c", actuated=True),
    ]
    with pytest.raises(tf.ModelError, match=r"one\.mimic: one, two mimic each other in a circle"):
        tf.Mechanism(bodies=bodies, joints=joints)


@pytest.mark.parametrize("seed", range(50))
def test_a_planar_joint_made_again_from_its_own_fields_is_the_same(seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    joint = tf.Planar("plane", "ground", "a", axis=axis, along=axis + 1e-3 * rng.normal(size=3))
    assert dataclasses.replace(joint) == joint
