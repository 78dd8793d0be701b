"""Arms and platforms described as mechanisms are the same robots."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.as_mechanisms import arm_as_mechanism, platform_as_mechanism
from support.strategies import random_arm, random_base_motion, random_inertia, random_payload, random_state
from support.tolerances import FORMULATIONS, ROUNDING, error, solve_tolerance


@pytest.mark.parametrize("source", ["puma560", "stanford", "panda", "RRPRRR", "RPRP"])
def test_a_chain_is_an_arm(source):
    rng = np.random.default_rng(1)
    catalogued = source in ("puma560", "stanford", "panda")
    arm = tf.load(source) if catalogued else random_arm(rng, source, "general", drives=True)
    m = arm_as_mechanism(arm)
    assert m.coordinate_names == tuple(joint.name for joint in arm.joints)
    q, qd, qdd = random_state(rng, arm.n, 5)
    tau = arm.inverse_dynamics(q, qd, qdd)
    assert error(m.inverse_dynamics(q, qd, qdd), tau) <= ROUNDING
    assert error(m.mass_matrix(q), arm.mass_matrix(q), 2) <= ROUNDING
    assert error(m.energy(q, qd)[0], arm.energy(q, qd)[0], 0) <= ROUNDING
    limit = solve_tolerance(arm.mass_matrix(q))
    assert error(m.forward_dynamics(q, qd, tau), arm.forward_dynamics(q, qd, tau)) <= limit
    wrench, motion = rng.normal(size=6), random_base_motion(rng)
    found = m.inverse_dynamics(q, qd, qdd, external_wrench=wrench, base_motion=motion)
    base = np.array(arm.base)
    if not base[:3, 3].any():  # the ground is the world's origin, the arm's base frame may be elsewhere
        assert error(found, arm.inverse_dynamics(q, qd, qdd, tip_wrench=wrench, base_motion=motion)) <= FORMULATIONS
    for mine, its in zip(
        m.inverse_dynamics_derivatives(q, qd, qdd), arm.inverse_dynamics_derivatives(q, qd, qdd), strict=True
    ):
        assert error(mine, its, 2) <= 10 * ROUNDING


def test_operations_of_the_puma():
    """A chain is a tree without branches: no operation more."""
    arm = tf.load("puma560").without_friction()
    m = arm_as_mechanism(arm)
    m = m.replace(joints=[type(j)(**{**vars(j), "motor_inertia": 0.0}) for j in m.joints])
    cost = tf.operation_count(m)
    assert (cost.multiplications, cost.additions, cost.sincos) == (174, 141, 10)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_operations_of_a_general_arm(convention):
    rng = np.random.default_rng(0)
    table = {"alpha": rng.uniform(-3, 3, 6), "a": rng.uniform(0.1, 0.5, 6), "d": rng.uniform(0.1, 0.5, 6)}
    bodies = {"mass": rng.uniform(0.5, 5, 6), "com": rng.uniform(-0.2, 0.2, (6, 3))}
    inertias = [random_inertia(rng).tolist() for _ in range(6)]
    arm = tf.SerialArm.from_dh(
        joints="RRRRRR", convention=convention, theta=np.zeros(6), inertia=inertias, **table, **bodies
    )
    mine, its = tf.operation_count(arm_as_mechanism(arm)), tf.operation_count(arm)
    assert (mine.multiplications, mine.additions) == (its.multiplications, its.additions)


@pytest.mark.parametrize("name", ["dasgupta1998", "pedrammehr2012", "motion-rig", "box"])
def test_a_platform_is_a_mechanism(name):
    platform = tf.load(name).without_friction()
    rng = np.random.default_rng(2)
    lengths = np.linalg.norm(platform.base_points, axis=1).max()
    centre = np.mean(platform.base_points, axis=0) - np.mean(platform.platform_points, axis=0)
    position = centre + np.array([0.02, 0.01, 1.1]) * lengths
    m = platform_as_mechanism(platform, position)
    assert m.structure.freedom == 6
    assert m.structure.floating == ("platform",)
    pose = np.concatenate([position, np.zeros(3)]) + rng.uniform(-0.1, 0.1, (4, 6)) * ([lengths] * 3 + [1.0] * 3)
    twist, acceleration = rng.normal(size=(2, 4, 6))
    x = m.configuration(pose)
    assert m.loop_gap(x).max() <= 1e-12 * lengths
    wrench, payload = rng.normal(size=6), random_payload(rng)
    forces = platform.inverse_dynamics(pose, twist, acceleration, external_wrench=wrench, payload=payload)
    found = m.inverse_dynamics(x, twist, acceleration, external_wrench=wrench, payload=payload)
    assert error(found, forces) <= FORMULATIONS
    limit = 10 * solve_tolerance(platform.mass_matrix(pose))
    assert error(m.forward_dynamics(x, twist, forces), platform.forward_dynamics(pose, twist, forces)) <= limit
    assert error(m.mass_matrix(x), platform.mass_matrix(pose), 2) <= FORMULATIONS
    assert error(m.energy(x, twist)[0], platform.energy(pose, twist)[0], 0) <= FORMULATIONS
