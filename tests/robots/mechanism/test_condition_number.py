"""The condition number of a mechanism is that of the map from its actuators' rates to a body's twist."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.as_mechanisms import arm_as_mechanism, platform_as_mechanism
from support.mechanisms import bar, crank_rocker, delta, five_bar, six_rus
from support.platforms import random_platform
from support.tolerances import ROUNDING, SHORT_DIFFERENCES
from tauforge.robots.poses import pose_of
from tauforge.robots.static_quantities import at_positions

STEP = 1e-6  # rad or m
STILL = 1e-7  # m/s or rad/s of unit rates, by differences over STEP: a row that does not move
DRIVEN = ["3-rps", "andrews", "delta", "delta-parallelograms", "five-bar", "four-bar", "gripper", "hexapod-6rus"]
DRIVEN += ["palletiser", "planar-3rrr", "slider-crank"]


def by_differences(m: tf.Mechanism, x: Any, body: str | None = None) -> Any:
    """(6, m) twists of a body at unit rates of the actuators, which are the independent coordinates."""
    q, columns = m.positions.coordinates(x), []
    for step in STEP * np.eye(m.n):
        before, after = (m.forward_kinematics(m.configuration(q + s * step, x), body) for s in (-1, 1))
        change = (after - before) / (2 * STEP)
        turn = change[:3, :3] @ m.forward_kinematics(x, body)[:3, :3].T
        columns.append([*change[:3, 3], turn[2, 1], turn[0, 2], turn[1, 0]])
    return np.transpose(columns)


def condition(matrix: Any) -> float:
    """NumPy's, without the rows that do not move."""
    return float(np.linalg.cond(matrix[np.abs(matrix).max(axis=1) > STILL]))


def agree(found: Any, expected: Any, each: float) -> None:
    """To the relative error `each` of the matrix."""
    assert np.all(np.abs(found / expected - 1) <= 2 * each * expected)


@pytest.mark.parametrize("name", DRIVEN)
def test_differences_of_forward_kinematics(name):
    m = tf.load(name)
    assert [actuator.name for actuator in m.actuators] == [coordinate.name for coordinate in m.coordinates]
    for x in m.random_states(4, seed=1)[0]:
        T = by_differences(m, x)
        for length in (None, 0.3):
            scaled = np.vstack([T[:3], T[3:] * (1.0 if length is None else length)])
            agree(m.condition_number(x, characteristic_length=length), condition(scaled), SHORT_DIFFERENCES)


def test_a_delta_in_closed_form():
    """Rods keep their lengths: u_i . v = u_i . (a_i x r_i) w_i, with u_i along rod i and r_i along crank i."""
    m = delta()
    x = m.random_states(5)[0]
    frames, home = m.body_frames(x), m.body_frames(m.home)
    names = [body.name for body in m.bodies]
    expected = []
    for row in range(5):
        U, D = np.empty((3, 3)), np.zeros((3, 3))
        for i in range(3):
            motor, elbow = (next(j for j in m.joints if j.name == name) for name in (f"motor{i}", f"elbow{i}a"))
            ball = next(j for j in m.joints if j.name == f"ball{i}a")
            crank, platform = names.index(f"arm{i}"), names.index("platform")
            knee, top = (
                (frames[row, k] @ np.linalg.inv(home[k]) @ [*joint.at, 1.0])[:3]
                for k, joint in ((crank, elbow), (platform, ball))
            )
            U[i] = (top - knee) / np.linalg.norm(top - knee)
            arm = knee - np.array(motor.at)
            D[i, i] = U[i] @ np.cross(np.array(motor.axis) / np.linalg.norm(motor.axis), arm)
        expected.append(np.linalg.cond(np.linalg.solve(U, D)))
    agree(m.condition_number(x, "platform"), np.array(expected), ROUNDING)
    agree(m.condition_number(x, "platform", 0.01), np.array(expected), ROUNDING)  # it does not turn
    assert (m.loop_condition(x) > 5 * np.array(expected)).all()  # which is about other matrices


def test_a_five_bar_in_closed_form():
    """The tip of two cranks and rods, and the turn of the rod that is the tool: v = d'_i a_i / (d_i . ...)."""
    m = five_bar(tool="r2")
    x = m.random_states(5)[0]
    A, E = np.array([0.0, 0.0]), np.array([0.25, 0.0])
    origin = np.array(m.bodies[3].origin)[:2]
    lengths = {"c1": ((0, 0), (-0.1, 0.28)), "c2": ((0.25, 0), (0.35, 0.28))}
    for row in x:
        q = m.positions.coordinates(row)
        cranks = []
        for angle, (a, b) in zip(q, lengths.values(), strict=True):
            c, s = np.cos(angle), np.sin(angle)
            cranks.append(np.array([[c, -s], [s, c]]) @ (np.array(b) - a))
        knees = A + cranks[0], E + cranks[1]
        place = m.forward_kinematics(row, "r2")
        tip = place[:2, :2] @ (np.array([0.12, 0.55]) - origin) + place[:2, 3]
        rods = tip - knees[0], tip - knees[1]
        knee_rates = np.array([[-c[1], c[0]] for c in cranks])
        B = np.diag([rods[i] @ knee_rates[i] for i in range(2)])
        v = np.linalg.solve(np.array(rods), B)  # of the tip
        relative = v - np.column_stack([np.zeros(2), knee_rates[1]])
        omega = (rods[1][0] * relative[1] - rods[1][1] * relative[0]) / (rods[1] @ rods[1])
        arm = place[:2, 3] - tip
        twist = np.vstack([v + np.outer([-arm[1], arm[0]], omega), omega])
        agree(m.condition_number(row), np.linalg.cond(twist), ROUNDING)


@pytest.mark.parametrize("length", [None, 0.2, 5.0])
def test_a_platform_with_six_legs(length):
    platform = random_platform(np.random.default_rng(4))
    home = np.array([0.05, -0.02, 0.9])
    m = platform_as_mechanism(platform, home)
    q = np.r_[home, np.zeros(3)] + 0.05 * np.random.default_rng(1).normal(size=(6, 6))
    expected = platform.condition_number(q, length)
    agree(m.condition_number(m.configuration(q), characteristic_length=length), expected, ROUNDING)


@pytest.mark.parametrize("name", ["puma560", "panda", "scara", "planar-2r"])
def test_a_tree_has_the_jacobian_of_its_arm(name):
    """Seven joints move six freedoms, and four of a SCARA four."""
    arm = tf.load(name)
    q = arm.random_states(6)[0]
    expected = arm.condition_number(q)
    agree(arm_as_mechanism(arm).condition_number(q), expected, ROUNDING)
    J = arm.jacobian(q) * np.repeat([1.0, 0.2], 3)[:, None]
    agree(arm_as_mechanism(arm).condition_number(q, None, 0.2), np.linalg.cond(J), ROUNDING)
    agree(arm.moved_body.condition(q, 0.2), np.linalg.cond(J), ROUNDING)


def chain(tilt: float, links: int = 4) -> tf.Mechanism:
    """Links of 0.3 m in a plane that is tilted in the world, each with a motor."""
    axis, side = (0.0, -np.sin(tilt), np.cos(tilt)), np.array([0.0, np.cos(tilt), np.sin(tilt)])
    places = [np.array([0.3 * k, 0.0, 0.0]) + 0.05 * (k % 2) * side for k in range(links + 1)]
    ends = list(pairwise(places))
    names = ["ground", *(f"link {k}" for k in range(links))]
    return tf.Mechanism(
        bodies=[bar(names[k + 1], *map(tuple, ends[k]), 1.0) for k in range(links)],
        joints=[
            tf.Hinge(f"motor {k}", names[k], names[k + 1], at=tuple(ends[k][0]), axis=axis, actuated=True)
            for k in range(links)
        ],
        name="chain",
    )


@pytest.mark.parametrize("tilt", [0.0, 0.7])
def test_freedoms_that_a_body_never_has_do_not_count(tilt):
    """Four motors in a plane move three freedoms, in whatever axes of the world these are."""
    m = chain(tilt)
    x = m.random_states(5)[0]
    to_plane = np.array([[1, 0, 0], [0, np.cos(tilt), np.sin(tilt)], [0, -np.sin(tilt), np.cos(tilt)]])
    J = m.jacobian(x)
    J = np.concatenate([(to_plane @ J[:, :3])[:, :2], (to_plane @ J[:, 3:])[:, 2:]], axis=1)
    agree(m.condition_number(x), np.linalg.cond(J), ROUNDING)
    first = m.condition_number(x, "link 0")  # one motor moves it
    assert np.abs(first - 1).max() <= ROUNDING


def test_the_independent_coordinates_do_not_matter():
    plain, posed = six_rus(), six_rus("platform")
    x = plain.random_states(5)[0]
    other = posed.configuration(pose_of(plain.forward_kinematics(x, "platform")))
    agree(posed.condition_number(other), plain.condition_number(x, "platform"), ROUNDING)
    crank, rocker = crank_rocker(), crank_rocker(("rocker",))
    dead = _dead_centre(crank)
    assert rocker.loop_condition(dead) > 1e6  # the rocker does not tell there how the crank moves
    assert abs(rocker.condition_number(dead, "coupler") - 1) <= ROUNDING


def _dead_centre(m: tf.Mechanism) -> Any:
    """Where the rocker turns back: its rate is zero."""
    low, high = 0.0, 3.0

    def rate(angle: float) -> float:
        x = m.configuration([angle])
        return float(m.jacobian(x, "rocker")[5, 0])

    assert rate(low) * rate(high) < 0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rate(middle) * rate(low) > 0 else (low, middle)
    return m.configuration([low])


def test_more_actuators_than_freedoms():
    """Rates that fit together: the least-squares inverse of theirs by the independent rates."""
    plain = five_bar()
    m = plain.replace(
        joints=[tf.Hinge(**{**vars(j), "actuated": j.name in ("left", "right", "e1")}) for j in plain.joints]
    )
    assert len(m.actuators) == 3
    x = m.random_states(5)[0]
    slopes = m.positions.slopes(x)
    rows = [m.coordinate_names.index(actuator.name) for actuator in m.actuators]
    T = m.jacobian(x) @ np.linalg.pinv(slopes[:, rows])
    values = np.linalg.svd(T, compute_uv=False)
    assert (values[:, 2] < 1e-12 * values[:, 0]).all()
    agree(m.condition_number(x), values[:, 0] / values[:, 1], ROUNDING)
    assert (m.condition_number(x) < plain.condition_number(x)).any()


def test_fewer_actuators_than_freedoms():
    """Then the independent coordinates take their place."""
    plain = five_bar()
    m = plain.replace(
        joints=[tf.Hinge(**{**vars(j), "actuated": j.name == "left"}) for j in plain.joints],
        independent=("left", "right"),
    )
    x = m.random_states(5)[0]
    agree(m.condition_number(x), plain.condition_number(x), ROUNDING)
    none = plain.replace(
        joints=[tf.Hinge(**{**vars(j), "actuated": False}) for j in plain.joints], independent=("left", "right")
    )
    agree(none.condition_number(x), plain.condition_number(x), ROUNDING)


@pytest.mark.parametrize("name", ["puma560", "scara", "motion-rig"])
def test_arms_and_platforms_have_no_loop_condition(name):
    assert tf.load(name).loops is None


@pytest.mark.parametrize("factors", [(), (2.0,), (2.0, -3.0)])
def test_the_loop_condition_without_loops_is_that_of_the_mimics(factors):
    """J = (-f, 1), and J J' = 1 + f f' has the eigenvalues 1 and 1 + f.f. So has the motion by what its motor sees."""
    bodies = [tf.Body(f"link {k}", 1.0, (k + 0.5, 0.1, 0.0), (0.1, 0.1, 0.1)) for k in range(len(factors) + 2)]
    joints = [tf.Hinge("base", "ground", "link 0", actuated=True), tf.Hinge("elbow", "link 0", "link 1", at=(1, 0, 0))]
    for k, factor in enumerate(factors, 2):
        at = (float(k), 0.0, 0.0)
        joints.append(tf.Hinge(f"mimic {k}", f"link {k - 1}", f"link {k}", at=at, mimic=("base", factor, 0.0)))
    m = tf.Mechanism(name="tree", bodies=bodies, joints=joints)
    x = m.configuration(np.random.default_rng(0).uniform(-1, 1, (5, m.n)))
    agree(m.loop_condition(x), np.sqrt(1 + np.dot(factors, factors)), ROUNDING)


def test_rows_batches_and_bodies():
    m = tf.load("five-bar")
    x = m.random_states(6)[0]
    found = m.condition_number(x)
    assert np.shape(m.condition_number(x[0])) == ()
    assert np.array_equal(m.condition_number(x.reshape(2, 3, -1)), found.reshape(2, 3))
    assert m.condition_number(x[:0]).shape == (0,)
    for row in range(6):
        agree(m.condition_number(x[row]), found[row], ROUNDING)
    spoiled = x.copy()
    spoiled[2, 1] = np.nan
    for method in (m.condition_number, m.loop_condition):
        whole, got = method(x), method(spoiled)
        assert np.isnan(got[2])
        assert np.array_equal(np.delete(got, 2), np.delete(whole, 2))
        assert np.isnan(method(spoiled[2]))
    crank = m.condition_number(x, "left crank")
    assert np.abs(crank - 1).max() <= ROUNDING
    with pytest.raises(tf.ModelError, match="there is no body 'rod'"):
        m.condition_number(x, "rod")
    for bad in (0.0, -1.0, np.inf, "1", True):
        with pytest.raises(tf.ShapeError, match="characteristic_length: expected a number > 0"):
            m.condition_number(x, characteristic_length=bad)


def test_singular_positions():
    """Rods in line: the tip moves without bounds at unit rates of the cranks, by 1 / bend."""
    A, B, C, D, E = (0, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 0), (2.5, 0, 0)
    names = {"c1": (A, B), "r1": (B, C), "c2": (E, D), "r2": (D, C)}
    places = dict(zip(("left", "e1", "right", "e2", "mid"), (A, B, E, D, C), strict=True))
    m = five_bar(
        bodies=[bar(name, *ends, 1.0) for name, ends in names.items()],
        joints=[tf.Hinge(**{**vars(joint), "at": places[joint.name]}) for joint in five_bar().joints],
    )
    bends = 10.0 ** -np.arange(1, 8)
    x = m.replace(independent=("left", "e1")).configuration(np.column_stack([0 * bends, -bends]))
    found = m.condition_number(x)
    products = found * bends
    assert np.ptp(products[3:]) < 1e-3 * products[-1]
    assert m.condition_number(m.home) > 1e12
    open_loops = m.home.copy()
    open_loops[1] += 0.1
    assert m.condition_number(open_loops) == np.inf
    assert m.loop_condition(open_loops) == np.inf


def test_a_body_that_cannot_move():
    m = five_bar()
    fixed = m.replace(
        bodies=[*m.bodies, bar("stand", (1, 0, 0), (1, 1, 0), 1.0)],
        joints=[*m.joints, tf.Weld("bolts", "ground", "stand")],
    )
    assert np.isnan(fixed.condition_number(fixed.home, "stand"))
    assert fixed.replace(tool="stand").moved_body.condition(fixed.home) is None
    with pytest.raises(tf.UnsupportedFeatureError, match="has no condition number"):
        at_positions(fixed.replace(tool="stand"), ["condition"], fixed.home)


def test_maps_take_a_characteristic_length():
    m = tf.load("five-bar")
    x = m.random_states(4)[0]
    found = at_positions(m, ["condition"], x, characteristic_length=0.3)["condition"]
    assert np.array_equal(found, m.condition_number(x, characteristic_length=0.3))
