"""`explain` says of a position what the robot's own limits say."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from tauforge.workspace import explain

ROUNDING = 1e-12  # m, rad or N m: sums of a few numbers of order one
pytestmark = pytest.mark.usefixtures("as_installed")  # many positions: kernels are quicker


@pytest.fixture(scope="module")
def rig():
    return tf.load("motion-rig")


def test_holds_where_the_limits_of_the_platform_hold(rig):
    rng = np.random.default_rng(1)
    poses = np.array([0, 0, 1.07, 0, 0, 0]) + rng.uniform(-1, 1, (60, 6)) * [0.3, 0.3, 0.2, 0.3, 0.3, 0.4]
    forces = rig.inverse_dynamics(poses, np.zeros(6), np.zeros(6))
    by_position, by_force = rig.within_limits(poses), rig.within_limits(poses, forces)
    verdicts = [explain(rig, pose).holds for pose in poses]
    assert verdicts == by_force.hold.tolist()
    assert [explain(rig, pose, forces=False).holds for pose in poses] == by_position.hold.tolist()
    assert len(set(verdicts)) == 2


def test_which_leg_and_by_how_much(rig):
    pose = [0.3, 0.0, 1.3, 0.0, 0.2, 0.0]
    lengths = rig.inverse_kinematics(pose)
    found = explain(rig, pose)
    long = [i for i in range(6) if lengths[i] > 1.45]
    assert [f.name for f in found.exceeded] == [f"leg {i + 1} is too long" for i in long]
    for finding, i in zip(found.exceeded, long, strict=True):
        assert (finding.kind, finding.unit, finding.bound) == ("stroke", "m", 1.45)
        assert abs(finding.value - lengths[i]) < ROUNDING
        assert abs(finding.margin - (1.45 - lengths[i])) < ROUNDING
    assert f"leg {long[0] + 1} is too long by" in str(found)
    low = explain(rig, [0, 0, 0.7, 0, 0, 0])
    assert "leg 1 is too short" in [f.name for f in low.exceeded]


def test_nearest_is_the_smallest_margin_of_each_kind(rig):
    pose = [0.05, 0.02, 1.05, 0.02, 0.05, 0.1]
    found = explain(rig, pose)
    assert found.holds
    assert not found.exceeded
    margins = rig.bounds.margins(pose)
    least = {}
    for limit, margin in zip(rig.bounds.limits, margins, strict=True):
        least[limit.kind] = min(least.get(limit.kind, np.inf), margin)
    assert {f.kind: f.margin for f in found.nearest if f.kind != "force"} == pytest.approx(least, abs=ROUNDING)


def test_forces_and_condition(rig):
    pose, load = [0.05, 0.02, 1.05, 0.02, 0.05, 0.1], tf.Payload(300.0, [0.1, 0.0, 0.5])
    found = explain(rig, pose, payload=load)
    forces = rig.inverse_dynamics(pose, np.zeros(6), np.zeros(6), payload=load)
    assert [f.force for f in found.forces] == pytest.approx(forces.tolist(), rel=ROUNDING)
    assert [f.limit for f in found.forces] == [4000.0] * 6
    assert found.condition == pytest.approx(np.linalg.cond(rig.force_matrix(pose)), rel=1e-9)  # an SVD's own error
    heavy = explain(rig, pose, payload=tf.Payload(3000.0))
    assert {f.kind for f in heavy.exceeded} == {"force"}
    assert heavy.exceeded[0].name.endswith("is too weak")
    steep = explain(rig, pose, largest_condition=2.0)
    assert [f.kind for f in steep.exceeded] == ["condition"]


def test_kinds_of_limits_can_be_chosen(rig):
    pose = [0.3, 0.0, 1.3, 0.0, 0.2, 0.0]
    assert explain(rig, pose, limits=["base cone"]).holds
    assert not explain(rig, pose, limits=["base cone", "stroke"]).holds
    with pytest.raises(tf.ModelError, match=r"no limits of the kind 'strokes'.*Use some of stroke, base cone"):
        explain(rig, pose, limits=["strokes"])


def test_arm():
    arm = tf.load("puma560")
    q = np.zeros(arm.n)
    q[2] = 3.0
    upper = arm.coordinates[2].upper
    found = explain(arm, q)
    assert [f.name for f in found.exceeded] == ["joint3 is above its range"]
    assert abs(found.exceeded[0].margin - (upper - 3.0)) < ROUNDING
    assert found.exceeded[0].unit == "rad"
    assert explain(arm, np.zeros(arm.n)).holds == bool((arm.bounds.margins(np.zeros(arm.n)) >= 0).all())


def test_a_kind_of_robot_that_the_package_does_not_know():
    cart = CartPendulum()
    found = explain(cart, [0.6, 0.3])
    assert [f.name for f in found.exceeded] == ["cart is above its range"]
    assert abs(found.exceeded[0].margin + 0.1) < ROUNDING
    hinge = found.forces[1]
    assert hinge.force == pytest.approx(0.7 * 0.6 * 9.81 * np.sin(0.3), rel=ROUNDING)
    assert hinge.limit is None
    assert found.condition is None
    with pytest.raises(tf.UnsupportedFeatureError, match="payload"):
        explain(cart, [0.0, 0.3], payload=tf.Payload(1.0))


def test_a_robot_without_limits_holds_everywhere():
    found = explain(tf.load("box"), [0, 0, 1, 0, 0, 0])
    assert found.holds
    assert "the robot has no limits" in str(found)


def test_reports(rig):
    found = explain(rig, [0.3, 0.0, 1.3, 0.0, 0.2, 0.0])
    assert "<table>" in found._repr_html_()
    assert found.data()["holds"] is False
    assert found.data()["robot"] == "motion-rig"


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ([0, 0, 1], r"position: expected \(\.\.\., 6\)"),
        (np.zeros((2, 6)), r"position: expected \(6,\), one position, got \(2, 6\)"),
        ([0, 0, np.nan, 0, 0, 0], "position: expected finite numbers, got nan"),
        (["a"] * 6, "position: expected real numbers"),
    ],
)
def test_bad_positions(rig, position, message):
    with pytest.raises(tf.ShapeError, match=message):
        explain(rig, position)


def test_bad_options(rig):
    home = [0, 0, 1, 0, 0, 0]
    with pytest.raises(tf.ModelError, match="expected a robot"):
        explain("motion-rig", home)
    with pytest.raises(tf.ShapeError, match="payload: expected one Payload"):
        explain(rig, home, payload=tf.Payload([1.0, 2.0]))
    with pytest.raises(tf.ShapeError, match="payload: expected one Payload"):
        explain(rig, home, payload=3.0)
    with pytest.raises(tf.ModelError, match="a payload takes nothing away unless forces are judged"):
        explain(rig, home, payload=tf.Payload(1.0), forces=False)
    with pytest.raises(tf.ShapeError, match=r"largest_condition: expected at least 1, got 0\.5"):
        explain(rig, home, largest_condition=0.5)
    with pytest.raises(tf.ModelError, match="largest_condition: expected a finite number"):
        explain(rig, home, largest_condition=np.inf)
    with pytest.raises(tf.ModelError, match="no actuator of box has a force limit"):
        explain(tf.load("box"), home, forces=True)
