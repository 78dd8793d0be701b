"""Random mechanisms against Newton's and Euler's equations of every body: positions, velocities, forces, reactions."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.mechanism_witness import Witness
from support.random_mechanisms import LOOP_KINDS, TREE_KINDS, closed_positions, random_mechanism
from support.strategies import random_base_motion, random_payload, random_rotation
from support.tolerances import OUTSIDE, PLACED, error_beside

TREES = [1, 2, 4, 6, 8, 10, 12, 20, 22]
LOOPS = [1, 3, 5, 9, 14, 17, 19, 21, 23, 26, 33]
TINY = 1e-3  # beside which a quantity that may be zero is compared


def of_tree(rng: np.random.Generator) -> list[Any]:
    return [TREE_KINDS[k] for k in rng.integers(0, len(TREE_KINDS), rng.integers(1, 7))]


def of_loops(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    kinds = [TREE_KINDS[k] for k in rng.integers(0, len(TREE_KINDS), rng.integers(3, 6))]
    return kinds, [LOOP_KINDS[k] for k in rng.integers(0, len(LOOP_KINDS), rng.integers(1, 3))]


def near(a: Any, b: Any, tolerance: float = OUTSIDE) -> None:
    x, y = np.asarray(a), np.asarray(b)
    assert error_beside(x, y, np.append(np.ravel(y), TINY)) <= tolerance


def agrees(m: tf.Mechanism, rng: np.random.Generator, *, loaded: bool) -> None:
    for x in closed_positions(m, rng, 1)[:1]:
        qd, qdd = rng.normal(size=(2, m.n))
        tau = 5 * rng.normal(size=len(m.actuators))
        loads: dict[str, Any] = {}
        if loaded:
            loads = {"external_wrench": 5 * rng.normal(size=6), "payload": random_payload(rng)}
            loads |= {"base_motion": random_base_motion(rng)}
        held = loads.get("payload")
        at_rest, moving = Witness(m, x, qd, payload=held), Witness(m, x, qd, **loads)
        assert at_rest.open <= PLACED
        near(m.body_frames(x)[: len(m.bodies)], [at_rest.frame(body.name) for body in m.bodies], PLACED)
        body = m.bodies[rng.integers(len(m.bodies))]
        point = rng.uniform(-1, 1, 3)
        twist, place = at_rest.twists[body.name], at_rest.displaced[body.name]
        there = place[:3, :3] @ point + place[:3, 3]
        near(m.jacobian(x, body.name, point) @ qd, [*(twist[3:] + np.cross(twist[:3], there)), *twist[:3]])
        kinetic, potential = at_rest.energy()
        found = m.energy(x, qd, payload=held)
        near(found[0], kinetic)
        near(found[1], potential)
        near(qd @ m.mass_matrix(x, payload=held) @ qd / 2, kinetic)
        near(m.forward_dynamics(x, qd, tau, **loads), moving.forward(tau).qdd)
        near(m.generalised_forces(x, qd, qdd, **loads), moving.inverse(qdd, "independent").tau)
        if m._analysis.controlled:
            inverse_agrees(m, moving, x, qd, qdd, loads)


def inverse_agrees(m: tf.Mechanism, witness: Witness, x: Any, qd: Any, qdd: Any, loads: Any) -> None:
    tau = m.inverse_dynamics(x, qd, qdd, **loads)
    near(m.forward_dynamics(x, qd, tau, **loads), qdd, 1e-8)
    if len(m.actuators) > m.n:
        return
    wanted = witness.inverse(qdd)
    near(tau, wanted.tau)
    wrenches = m.joint_wrenches(x, qd, qdd, **loads)
    unique = np.isfinite(wrenches)
    assert np.isfinite(wanted.wrenches[unique]).all()
    if unique.any():
        near(wrenches[unique], wanted.wrenches[unique])


@pytest.mark.parametrize("seed", TREES)
def test_trees(seed):
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, of_tree(rng), drives=True, springs=2)
    agrees(m, rng, loaded=seed % 4 != 0)


@pytest.mark.parametrize("seed", LOOPS)
def test_loops(seed):
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, *of_loops(rng), drives=bool(rng.random() < 0.5), springs=1)
    agrees(m, rng, loaded=seed % 2 == 0)


@pytest.mark.parametrize("seed", range(4))
def test_mimic(seed):
    rng = np.random.default_rng(seed)
    kinds = [tf.Hinge, tf.Universal, tf.Slider, tf.Hinge]
    m = random_mechanism(rng, kinds, [tf.Spherical] if seed % 2 else [], drives=True, mimic=True)
    agrees(m, rng, loaded=True)


@pytest.mark.parametrize("name", ["joint0", "joint1"])
@pytest.mark.parametrize("kind", TREE_KINDS[:6])
def test_every_kind_of_joint_passed_from_child_to_parent(kind, name):
    """The same joint in a tree, reached from its parent or from its child."""
    rng = np.random.default_rng(5)
    m = random_mechanism(rng, [tf.Hinge, kind], reverse=1.0 if name == "joint1" else 0.0, branching=0.0, actuated=1.0)
    agrees(m, rng, loaded=False)


def test_all_kinds_are_met():
    assert {kind for seed in TREES for kind in of_tree(np.random.default_rng(seed))} == set(TREE_KINDS)
    assert {kind for seed in LOOPS for kind in of_loops(np.random.default_rng(seed))[1]} == set(LOOP_KINDS)


def test_rates_of_a_ball_are_an_angular_velocity():
    """In axes that are fixed in the parent and the world's at home, however the bodies' own frames are turned."""
    rng = np.random.default_rng(31)
    m = random_mechanism(rng, [tf.Hinge, tf.Spherical], reverse=0.0, branching=0.0, actuated=0.0)
    turned = [np.block([[random_rotation(rng), rng.normal(size=(3, 1))], [np.eye(4)[3:]]]) for _ in m.bodies]
    m = m.replace(bodies=[dataclasses.replace(b, origin=None, frame=F) for b, F in zip(m.bodies, turned, strict=True)])
    x, rates = rng.normal(size=4), rng.normal(size=4)
    parent, child = m.body_frames(x)[:, :3, :3] @ m.body_frames(m.home)[:, :3, :3].transpose(0, 2, 1)
    near(parent.T @ child, Rotation.from_euler("xyz", x[1:]).as_matrix())  # about fixed axes: Rz Ry Rx
    omega = [(m.jacobian(x, body=body.name) @ rates)[3:] for body in m.bodies]
    near(omega[1], omega[0] + parent @ rates[1:])
    assert "angular velocity" in tf.Spherical.__doc__


def test_pose_of_a_body_as_independent_coordinates():
    """independent= names a body: its pose stands in x, its rates are velocity and angular velocity."""
    rng = np.random.default_rng(21)
    m = random_mechanism(
        rng, [tf.Universal, tf.Slider, tf.Spherical], [tf.Spherical], actuated=0.0, branching=0.0, independent="body2"
    )
    agrees(m, rng, loaded=True)
