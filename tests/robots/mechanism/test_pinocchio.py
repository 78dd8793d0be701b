"""Mechanisms against Pinocchio: aba, rnea and crba for trees, constraintDynamics for loops, reactions included."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import tauforge as tf
from support import random_mechanisms as mechanisms
from support.mechanism_pinocchio import PinocchioMechanism
from support.random_mechanisms import (
    LOOP_KINDS,
    TREE_KINDS,
    closed_positions,
    random_joint,
    random_masses,
    random_mechanism,
)
from support.tolerances import OUTSIDE, PLACED, error_beside

TREES = range(8)
LOOPS = [1, 2, 3, 5, 7, 9, 10, 13, 16]
OVER_CONSTRAINED = ["five_bar", "four_bar", "bennett", "bricard", "sarrus", "parallelograms"]
MOVING_KINDS = TREE_KINDS[:-1]


def close(a: Any, b: Any, tolerance: float = OUTSIDE) -> None:
    assert error_beside(a, b, np.append(np.ravel(b), 1e-3)) <= tolerance


@pytest.mark.parametrize("seed", TREES)
def test_trees(seed):
    rng = np.random.default_rng(seed)
    kinds = [MOVING_KINDS[k] for k in rng.integers(0, len(MOVING_KINDS), 5)]
    m = random_mechanism(rng, kinds, drives=True)
    other = PinocchioMechanism(m)
    for x in closed_positions(m, rng, 2):
        qd, tau = rng.normal(size=m.n), 5 * rng.normal(size=len(m.actuators))
        wrench = 5 * rng.normal(size=6)
        close(m.forward_dynamics(x, qd, tau, external_wrench=wrench), other.accelerations(x, qd, tau, wrench))
        q, v, rows = other.configuration(x), other.velocity(x, qd), other.rows(x)
        R = np.array([rows[name] for name in m.structure.independent])  # ours = R theirs, R orthogonal
        data = other.model.createData()
        M = pin.crba(other.model, data, q)
        close(m.mass_matrix(x), R @ (np.triu(M) + np.triu(M, 1).T) @ R.T)
        still = pin.rnea(other.model, data, q, 0 * v, 0 * v)
        close(m.generalised_forces(x, 0 * qd, 0 * qd), R @ still)
        pin.computeJointJacobians(other.model, data, q)
        for body in m.bodies:
            k, origin = other.on[body.name]
            place = data.oMi[k].act(pin.SE3(np.eye(3), np.array(body.origin) - origin))
            close(m.forward_kinematics(x, body.name), place.homogeneous, PLACED)
            frame = pin.Frame("f", k, 0, pin.SE3(np.eye(3), np.array(body.origin) - origin), pin.FrameType.OP_FRAME)
            J = pin.getJointJacobian(other.model, data, k, pin.ReferenceFrame.LOCAL)
            J = pin.SE3(place.rotation, np.zeros(3)).action @ frame.placement.inverse().action @ J
            close(m.jacobian(x, body.name), J @ R.T)


def loops_agree(m: tf.Mechanism, rng: np.random.Generator) -> None:
    moving, still = PinocchioMechanism(m), PinocchioMechanism(m, welded=False)
    for x in closed_positions(m, rng, 2):
        qd, tau = rng.normal(size=m.n), 3 * rng.normal(size=len(m.actuators))
        close(m.forward_dynamics(x, qd, tau), moving.accelerations(x, qd, tau))
        close(m.forward_dynamics(x, 0 * qd, tau), still.accelerations(x, 0 * qd, tau))
        if len(m.actuators) == m.n and m._analysis.controlled:
            for other, rates in ((moving, qd), (still, 0 * qd)):
                qdd = m.forward_dynamics(x, rates, tau)
                close(m.inverse_dynamics(x, rates, qdd), tau, 1e-8)
                wanted, residual = other.wrenches(x, rates, tau)
                assert residual < 1e-11
                found = m.joint_wrenches(x, rates, qdd)
                unique = np.isfinite(found)
                close(found[unique], wanted[unique])


@pytest.mark.parametrize("seed", LOOPS)
def test_loops(seed):
    rng = np.random.default_rng(seed)
    kinds = [MOVING_KINDS[k] for k in rng.integers(0, len(MOVING_KINDS), rng.integers(3, 6))]
    loops = [LOOP_KINDS[k] for k in rng.integers(0, len(LOOP_KINDS), rng.integers(1, 3))]
    m = random_mechanism(rng, kinds, loops, drives=True).without_friction()
    loops_agree(m, rng)


@pytest.mark.parametrize("seed", range(3))
def test_reactions_of_spatial_loops(seed):
    """As many actuators as freedoms and nothing redundant: every reaction is unique."""
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, [tf.Hinge, tf.Slider, tf.Universal], actuated=0.0, branching=0.0, reverse=0.0)
    driven = dataclasses.replace(m.joints[0], actuated=True)
    m = m.replace(joints=[driven, *m.joints[1:], random_joint(rng, tf.Spherical, "loop", "body2", "ground")])
    assert m.n == len(m.actuators) == 1
    assert not m.open_reactions
    loops_agree(m, rng)


@pytest.mark.parametrize("name", OVER_CONSTRAINED)
def test_over_constrained(name):
    rng = np.random.default_rng(3)
    loops_agree(random_masses(rng, getattr(mechanisms, name)()), rng)
