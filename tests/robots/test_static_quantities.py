"""What a robot has at many positions, against its methods one by one."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.platforms import random_motion, random_platform, ring
from support.strategies import random_arm
from support.tolerances import FORMULATIONS, ROUNDING
from tauforge.robots.static_quantities import ILL_CONDITIONED, QUANTITIES, at_positions, codes

ROWS = 300
TURN = np.deg2rad(40)  # between the two joints of a leg, seen from above
HELD = tf.Payload(mass=4.0, com=(0.1, -0.05, 0.2), inertia=np.diag([0.1, 0.2, 0.25]))


@pytest.fixture(params=["0", "1"], ids=["reference", "kernels"])
def way(request, monkeypatch, user_environment):
    monkeypatch.setenv("TAUFORGE_KERNELS", request.param)
    monkeypatch.setenv("TAUFORGE_CACHE", user_environment["TAUFORGE_CACHE"])


def robots():
    rng = np.random.default_rng(7)
    platform = random_platform(rng, leg_radius=0.05, cone_angles=(1.2, 1.3), force_limit=rng.uniform(40, 400, 6))
    return [(platform, random_motion(rng, (ROWS,))[0]), (tf.load("puma560"), None), (random_arm(rng, "RPRR"), None)]


def positions(robot, known):
    if known is not None:
        return known
    q = robot.random_states(ROWS, 3)[0]
    q[::3] += 0.5  # some beyond the limits
    return q


@pytest.mark.parametrize("k", range(3))
def test_each_quantity_is_that_of_the_method(way, k):
    robot, known = robots()[k]
    position = positions(robot, known)
    found = at_positions(robot, ["limit", "condition", "force"], position)
    margins = robot.bounds.margins(position)
    assert margins.shape == (ROWS, len(robot.bounds.limits))
    exceeded = margins < 0
    expected = np.where(exceeded.any(axis=1), exceeded.argmax(axis=1) + 1, 0) if margins.size else np.zeros(ROWS)
    assert np.array_equal(found["limit"], expected)
    condition = np.asarray(robot.moved_body.condition(position))
    assert (np.abs(found["condition"] / condition - 1) < ROUNDING * condition).all()
    force = np.abs(robot.holding_forces(position)).max(axis=1)
    assert (np.abs(found["force"] - force) < FORMULATIONS * condition * force).all()


@pytest.mark.parametrize("length", [1.0, 0.3])
@pytest.mark.parametrize("k", range(3))
def test_stiffness_is_the_smallest_eigenvalue(way, k, length):
    robot, known = robots()[k]
    position = np.vstack([positions(robot, known), robot.positions.default, np.full(robot.n, np.nan)])
    found = at_positions(robot, ["stiffness", "condition"], position, characteristic_length=length)
    assert np.isnan(found["stiffness"][-1])
    maps_forces = robot.moved_body.maps_forces
    matrix = (robot.force_matrix if maps_forces else robot.jacobian)(position[:-1])
    matrix[:, 3:] *= 1 / length if maps_forces else length
    values = np.linalg.svd(matrix, compute_uv=False)
    expected = values[:, -1] ** 2 if maps_forces else values[:, 0] ** -2
    condition = values[:, 0] / values[:, -1]
    assert (np.abs(found["condition"][:-1] / condition - 1) < ROUNDING * condition).all()
    assert (np.abs(found["stiffness"][:-1] / expected - 1) < ROUNDING * (condition if maps_forces else 1)).all()


def test_equal_singular_values_are_settled(way):
    """At home of a symmetric platform pairs of singular values are equal; with this length more of them are."""
    platform = tf.StewartPlatform(base_points=ring(1.0, 10), platform_points=ring(np.cos(TURN), 50), name="symmetric")
    home = np.array([[0.0, 0.0, np.sin(TURN), 0.0, 0.0, 0.0]])
    found = at_positions(platform, ["stiffness"], home, characteristic_length=np.cos(TURN))
    assert abs(found["stiffness"][0] - 1.5) < ROUNDING


def test_a_characteristic_length_that_is_none():
    with pytest.raises(tf.ShapeError, match="characteristic_length"):
        at_positions(tf.load("puma560"), ["condition"], np.zeros(6), characteristic_length=0.0)


def test_forces_and_condition_in_the_code(way):
    (platform, pose), *_ = robots()
    free = platform.replace(stroke=None, cone_angles=None, leg_radius=None)
    forces, condition = free.holding_forces(pose), free.condition_number(pose)
    free = free.replace(force_limit=np.quantile(np.abs(forces), 0.9, axis=0))
    limit = float(np.median(condition))
    found = at_positions(free, ("limit",), pose, forces=True, largest_condition=limit)["limit"]
    weak = np.abs(forces) > np.array(free.force_limit)
    expected = np.where(weak.any(axis=1), weak.argmax(axis=1) + 1, np.where(condition > limit, 7, 0))
    assert np.array_equal(found, expected)
    names = codes(free, forces=True, condition=True)
    assert names == ("all limits hold", *(f"leg {i} is too weak" for i in range(1, 7)), ILL_CONDITIONED)
    assert set(expected) == set(range(8)), "all codes occur"
    share = at_positions(free, ["force_share"], pose)["force_share"]
    assert np.abs(share / (np.abs(forces) / free.force_limit).max(axis=1) - 1).max() < FORMULATIONS * condition.max()


def test_a_payload_and_fields_that_vary(way):
    rng = np.random.default_rng(11)
    (platform, pose), *_ = robots()
    fields = {
        "platform_mass": rng.uniform(5, 50, 4),
        "base_points": np.array(platform.base_points) + rng.uniform(-0.05, 0.05, (4, 6, 3)),
        "stroke": np.array(platform.stroke) + rng.uniform(-0.1, 0.1, (4, 6, 2)),
        "cone_angles": rng.uniform(0.8, 1.5, (4, 2)),
        "leg_radius": rng.uniform(0.01, 0.1, 4),
        "force_limit": rng.uniform(40, 400, (4, 6)),
        "base_joint_axes": rng.normal(size=(4, 6, 3)),
        "platform_joint_axes": rng.normal(size=(4, 6, 3)),
    }
    wanted = ["limit", "condition", "force", "force_share"]
    found = at_positions(platform, wanted, pose[:50, None], payload=HELD, forces=True, fields=fields)
    for i in range(4):
        other = platform.replace(**{name: value[i] for name, value in fields.items()}).carrying(HELD)
        expected = at_positions(other, wanted, pose[:50], forces=True)
        assert np.array_equal(found["limit"][:, i], expected["limit"])
        for name in wanted[1:]:
            difference = np.abs(found[name][:, i] / expected[name] - 1)
            assert (difference < FORMULATIONS * expected["condition"]).all(), name


def test_rows_that_are_not_finite(way):
    (platform, pose), *_ = robots()
    spoilt = pose[:9].copy()
    spoilt[4, 2] = np.nan
    spoilt[7, 5] = np.inf
    found = at_positions(platform, QUANTITIES, spoilt, forces=True)
    expected = at_positions(platform, QUANTITIES, pose[:9], forces=True)
    sound = np.isfinite(spoilt).all(axis=1)
    for name, values in found.items():
        assert np.isnan(values[~sound]).all(), name
        assert np.array_equal(values[sound], expected[name][sound]), name


def test_one_position_equals_its_row(way):
    (platform, pose), *_ = robots()
    batch = at_positions(platform, QUANTITIES, pose[:20])
    for i in range(20):
        for name, value in at_positions(platform, QUANTITIES, pose[i]).items():
            assert value == batch[name][i] or (np.isnan(value) and np.isnan(batch[name][i])), name


def test_rows_in_doubt_are_settled(way):
    """Singular values of a platform whose legs stand at right angles are nearly equal, three and more."""
    box = tf.load("box")
    pose = np.random.default_rng(5).normal(size=(200, 6)) * 1e-3
    expected = np.linalg.cond(box.force_matrix(pose))
    assert np.abs(at_positions(box, "condition", pose)["condition"] / expected - 1).max() < ROUNDING * expected.max()
    assert np.abs(box.condition_number(pose) / expected - 1).max() < ROUNDING * expected.max()


def test_bad_input():
    (platform, pose), *_ = robots()
    with pytest.raises(tf.UnsupportedFeatureError, match=r"unknown quantity 'weight'.*Use one of limit, condition"):
        at_positions(platform, ["weight"], pose)
    with pytest.raises(tf.ModelError, match="has a geometry but no masses"):
        at_positions(tf.load("dietmaier"), ["force"], pose)
    with pytest.raises(tf.ModelError, match=r"no actuator of .* has a force limit"):
        at_positions(platform.replace(force_limit=None), ["force_share"], pose)
    with pytest.raises(tf.ShapeError, match=r"position"):
        at_positions(platform, ["limit"], pose[:, :5])
    with pytest.raises(tf.UnsupportedFeatureError, match="'stroke' cannot vary where the platform has none"):
        at_positions(platform.replace(stroke=None), ["limit"], pose, fields={"stroke": np.ones((6, 2))})


def test_names_of_limits():
    arm = tf.load("puma560")
    names = [limit.name for limit in arm.bounds.limits]
    assert names[:2] == [f"{arm.joints[0].name} is {side} its range" for side in ("below", "above")]
    (platform, pose), *_ = robots()
    lengths = platform.inverse_kinematics(pose)
    margins = platform.bounds.margins(pose)
    for k, limit in enumerate(platform.bounds.limits[:12]):
        assert limit.name == f"leg {k % 6 + 1} is too {'short' if k < 6 else 'long'}"
        assert np.abs(limit.value(margins[:, k]) - lengths[:, k % 6]).max() < ROUNDING
