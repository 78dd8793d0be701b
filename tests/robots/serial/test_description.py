"""SerialArm as a description: construction, changes, frames, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given

import tauforge as tf
from support.strategies import conventions, kinds, random_arm, random_state, random_transform, seeds
from support.tolerances import FORMULATIONS, ROUNDING, error

TWO = {"joints": "RP", "alpha": [0.1, 0.2], "a": [0.3, 0.4], "d": [0.5, 0.6]}


def dh_matrix(theta, d, a, alpha, convention):
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    along = np.array([[ct, -st, 0, 0], [st, ct, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]])
    across = np.array([[1, 0, 0, a], [0, ca, -sa, 0], [0, sa, ca, 0], [0, 0, 0, 1]])
    return along @ across if convention == "standard" else across @ along


@given(seeds, kinds, conventions)
def test_link_frames(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q = random_state(rng, arm.n)[0]
    T = np.array(arm.base)
    frames = arm.link_frames(q)
    assert error(frames[0], T, core=2) == 0
    for i, joint in enumerate(arm.joints):
        if convention == "general":
            moved = dh_matrix(q[i] + joint.offset, 0, 0, 0, "standard")
            if joint.kind == "P":
                moved = dh_matrix(0, q[i] + joint.offset, 0, 0, "standard")
            T = T @ np.array(joint.before) @ moved @ np.array(joint.after)
        else:
            alpha, a, d, theta = joint.dh
            theta, d = (theta + q[i], d) if joint.kind == "R" else (theta, d + q[i])
            T = T @ dh_matrix(theta, d, a, alpha, convention)
        assert error(frames[i + 1], T, core=2) < FORMULATIONS
    assert error(arm.forward_kinematics(q), T @ np.array(arm.tool), core=2) < FORMULATIONS


@given(seeds, kinds, conventions)
def test_jacobian_is_the_slope_of_the_pose(rng, letters, convention):
    """By dual numbers: R' R^T is the skew matrix of J's angular rows."""
    from tauforge.algebra.dual import Dual, derivative
    from tauforge.robots.serial.formulas import forward_kinematics

    arm = random_arm(rng, letters, convention)
    q, qd, _ = random_state(rng, arm.n)
    pose = forward_kinematics(arm.model, [Dual(x, {0: v}) for x, v in zip(q.tolist(), qd.tolist(), strict=True)])
    rate = np.array([[derivative(x, 0) for x in row] for row in pose])
    S = rate[:3, :3] @ arm.forward_kinematics(q)[:3, :3].T
    twist = np.concatenate([rate[:3, 3], [S[2, 1], S[0, 2], S[1, 0]]])
    assert error(arm.jacobian(q) @ qd, twist) < FORMULATIONS


@given(seeds, conventions)
def test_frozen_hashable_picklable(rng, convention):
    arm = random_arm(rng, "RPR", convention)
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    assert hash(again) == hash(arm)
    q = random_state(rng, 3)[0]
    assert np.array_equal(again.mass_matrix(q), arm.mass_matrix(q))
    with pytest.raises(AttributeError):
        arm.gravity = (0, 0, 0)


def test_replace():
    arm = random_arm(np.random.default_rng(1), "RPR", drives=True)
    assert arm.replace(gravity=(0, 0, 0)).gravity == (0, 0, 0)
    heavier = arm.replace(mass=[1, 2, 3], com=np.ones((3, 3)))
    assert [j.mass for j in heavier.joints] == [1, 2, 3]
    longer = arm.replace(a=[1, 2, 3])
    assert [j.dh.a for j in longer.joints] == [1, 2, 3]
    assert longer.replace(a=[j.dh.a for j in arm.joints]) == arm
    assert arm.replace(offset=[0, 0, 0]).joints[0].dh is None
    free = arm.without_friction()
    assert not free.friction_forces(np.ones(3)).any()
    assert free.joints[0].motor_inertia == arm.joints[0].motor_inertia
    with pytest.raises(tf.ModelError, match="replace: unknown field 'weight'"):
        arm.replace(weight=[1, 2, 3])
    with pytest.raises(tf.ModelError, match="mass: expected 3 entries, one for each joint, got 2"):
        arm.replace(mass=[1, 2])
    with pytest.raises(tf.ModelError, match="convention: the joints are given in the standard convention"):
        arm.replace(convention="modified")
    with pytest.raises(tf.ModelError, match="joint1 has no DH parameters"):
        random_arm(np.random.default_rng(1), "R", "general").replace(a=[1.0])


def test_inertial_parameters_and_limits():
    arm = tf.SerialArm.from_dh(**TWO, mass=[2, 3], com=[(0.1, 0, 0), (0, 0, 0)], inertia=[(1, 2, 2.5), np.eye(3)])
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = arm.inertial_parameters[:10]
    assert (m, hx, hy, hz) == (2, 0.2, 0, 0)
    assert [xx, xy, yy, xz, yz, zz] == pytest.approx([1, 0, 2.02, 0, 0, 2.52])
    assert arm.limits.tolist() == [[-np.inf, np.inf]] * 2
    assert arm.kinds == "RP"
    with pytest.raises(ValueError, match="read-only"):
        arm.inertial_parameters[0] = 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joints": "RX"}, "joint2.kind: unknown joint letter 'X'. Use R for revolute or P for prismatic"),
        ({"joints": ""}, "joints: expected letters such as 'RRPRRR'"),
        ({"joints": "RRR"}, "alpha: expected 3 entries, one for each joint, got 2"),
        ({"a": 1.0}, "a: expected a sequence of 2"),
        ({"a": [0, np.nan]}, "joint2.a: expected a finite number.*got nan"),
        ({"a": [0, "x"]}, "joint2.a: expected a number, got 'x'"),
        ({"a": [0, True]}, "joint2.a: expected a number, got True"),
        ({"convention": "craig"}, "convention: unknown convention 'craig'. Use one of standard, modified"),
        ({"mass": [1, -1]}, "joint2.mass: expected a number >= 0, got -1.0"),
        ({"com": [(0, 0), (0, 0, 0)]}, r"joint1.com: expected 3 numbers, got shape \(2,\)"),
        ({"com": [(0, 0, 0), "abc"]}, "joint2.com: expected 3 numbers, got 'abc'"),
        (
            {"inertia": [np.zeros((3, 3)), np.triu(np.ones((3, 3)))]},
            "joint2.inertia: the inertia tensor is not symmetric",
        ),
        ({"inertia": [(1, 2), (1, 2, 3)]}, "joint1.inertia: expected 3 numbers"),
        ({"inertia": [np.eye(4), np.eye(3)]}, "joint1.inertia: expected 3 x 3 numbers"),
        ({"coulomb": [(1, -1), (1, 1)]}, "joint1.coulomb: expected a number >= 0"),
        ({"gear_ratio": [0, 1]}, "joint1.gear_ratio: expected a gear ratio other than 0"),
        ({"limits": [(1, -1), None]}, "joint1.limits: the lower limit 1.0 is above the upper limit -1.0"),
        ({"mas": [1, 2]}, r"from_dh: unknown argument 'mas'. Did you mean mass\? Known: .*mass"),
        ({"names": ["a", "a"]}, "names: joint names must differ, repeated: a"),
        ({"names": ["a", 3]}, "name: expected a string, got 3"),
        ({"gravity": (0, 0)}, "gravity: expected 3 numbers"),
        ({"gravity": (0, 0, np.inf)}, "gravity: expected finite numbers"),
        ({"tool": np.eye(3)}, "tool: expected 4 x 4 numbers"),
        ({"base": np.diag([1.0, 1, -1, 1])}, "base: R is not a rotation matrix.*det = -1"),
        ({"coulomb_speed": -1}, "coulomb_speed: expected a number >= 0"),
        ({"name": 3}, "name: expected a string, got 3"),
        ({"coulomb_speed": 1e-300}, "coulomb_speed: expected 0 or at least 1e-09"),
        ({"limits": [(-np.inf, np.inf), None]}, "joint1.limits: .*Give None if there are no limits"),
        ({"coulomb": [[1, [2]], 1]}, "joint1.coulomb: expected 2 numbers"),
    ],
)
def test_bad_descriptions_are_refused(change, message):
    with pytest.raises(tf.ModelError, match=message):
        tf.SerialArm.from_dh(**(TWO | change))


def test_bad_joint_lists_are_refused():
    with pytest.raises(tf.ModelError, match="an arm needs at least one joint"):
        tf.SerialArm(joints=())
    for joints in (["R"], None, 3):
        with pytest.raises(tf.ModelError, match="joints: expected a sequence of Joint"):
            tf.SerialArm(joints=joints)
    assert tf.SerialArm(joints=(tf.Joint(mass=1.0) for _ in range(3))).n == 3
    with pytest.raises(tf.ModelError, match=r"unknown joint letter \['R'\]"):
        tf.Joint(kind=["R"])


def test_unphysical_inertias_warn_by_name_and_compute():
    with pytest.warns(
        tf.UnphysicalInertiaWarning, match="arm: link of joint2: the principal moments .* triangle inequality"
    ):
        arm = tf.SerialArm.from_dh(**TWO, mass=[1, 1], inertia=[(1, 1, 1), (1, 1, 3)])
    assert np.isfinite(arm.inverse_dynamics([0, 0], [1, 1], [1, 1])).all()
    with pytest.warns(tf.UnphysicalInertiaWarning) as caught:
        arm.replace(gravity=(0, 0, 0))
    assert caught[0].filename == __file__
    with pytest.warns(tf.UnphysicalInertiaWarning, match="a principal moment of inertia is negative"):
        tf.SerialArm.from_dh(**TWO, inertia=[(1, 1, 1), (-1, 1, 1)])


def test_a_rotation_with_few_digits_is_made_orthonormal():
    T = random_transform(np.random.default_rng(0))
    arm = tf.SerialArm.from_dh(**TWO, tool=np.round(T, 7))
    R = np.array(arm.tool)[:3, :3]
    assert np.abs(R.T @ R - np.eye(3)).max() < ROUNDING
