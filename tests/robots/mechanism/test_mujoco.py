"""Mechanisms with loops against MuJoCo: its constraint solver in the rigid limit, and its mass matrix and bias.

Its constraints are soft by at least 1e-4. The rigid limit is extrapolated from eight softnesses, which leaves an error
where a loop is hardly stiffer than that (`MujocoMechanism.untold`): where its constraint is nearly redundant. The first
thirty seeds are tried. Two of them give mechanisms that cannot move (3, 27). For four others MuJoCo cannot tell the
accelerations to 1e-10 (5, 6, 24 and, with a stiffness of 1.0e-4, 29): there the witness judges them to 1e-12, and
MuJoCo to its own error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support import mechanisms
from support import random_mechanisms as well_known
from support.mechanism_mujoco import CLOSING, MujocoMechanism
from support.mechanism_witness import Witness
from support.random_mechanisms import closed_positions, random_masses, random_mechanism
from support.tolerances import FORMULATIONS, OUTSIDE, error_beside

TREE_KINDS = (tf.Hinge, tf.Slider, tf.Universal, tf.Spherical, tf.Cylinder, tf.Planar)
CONSTRAINED = 10  # times the accelerations themselves, what constraints take from free bodies; seen: 3.3
LOCKED, SOFT = (3, 27), (5, 6, 24, 29)
SEEDS = [seed for seed in range(30) if seed not in LOCKED]
OVER_CONSTRAINED = ["five_bar", "four_bar", "bennett", "bricard", "sarrus", "parallelograms"]


def agrees(m: tf.Mechanism, rng: np.random.Generator, *, soft: bool = False) -> None:
    """Bodies move and loops are closed: MuJoCo's accelerations need the rate of its constraints' Jacobian, too."""
    other = MujocoMechanism(m)
    assert other.closing
    x = closed_positions(m, rng, 1)[0]
    qd, qdd = rng.normal(size=(2, m.n))
    tau = 3 * rng.normal(size=len(m.actuators))
    for rates in (qd, 0 * qd):
        witness = Witness(m, x, rates)
        found, known = other.accelerations(x, witness.rates, tau)
        wanted = witness.joint_accelerations(m.forward_dynamics(x, rates, tau))
        assert (other.untold() > OUTSIDE) == soft
        assert error_beside(found[known], wanted[known], wanted) <= (CONSTRAINED * other.untold() if soft else OUTSIDE)
        own = witness.joint_accelerations(witness.forward(tau).qdd)
        assert error_beside(own, wanted, wanted) <= FORMULATIONS
    # S' (M v' + bias) of MuJoCo's tree, with v = S qd closed by the witness
    witness = Witness(m, x, qd)
    S = np.array([Witness(m, x, unit).rates for unit in np.eye(m.n)]).T
    force = S.T @ other.tree_forces(x, witness.rates, witness.joint_accelerations(qdd))
    assert error_beside(m.generalised_forces(x, qd, qdd), force, force) <= OUTSIDE


def kinds_of(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    kinds = [TREE_KINDS[k] for k in rng.integers(0, len(TREE_KINDS), rng.integers(3, 6))]
    return kinds, [CLOSING[k] for k in rng.integers(0, len(CLOSING), rng.integers(1, 3))]


@pytest.mark.parametrize("seed", SEEDS)
def test_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, *kinds_of(rng), drives=True, reverse=0.0).without_friction()
    agrees(m, rng, soft=seed in SOFT)


@pytest.mark.parametrize("seed", LOCKED)
def test_seeds_that_cannot_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with pytest.raises(tf.ModelError, match="it cannot move: its constraints lock it"):
        random_mechanism(rng, *kinds_of(rng), drives=True, reverse=0.0)


def test_all_kinds_are_met() -> None:
    trees, loops = zip(*(kinds_of(np.random.default_rng(seed)) for seed in SEEDS), strict=True)
    assert {kind for tree in trees for kind in tree} == set(TREE_KINDS)
    assert {kind for closing in loops for kind in closing} == set(CLOSING)


@pytest.mark.parametrize("name", OVER_CONSTRAINED)
def test_over_constrained(name: str) -> None:
    rng = np.random.default_rng(3)
    agrees(random_masses(rng, getattr(well_known, name)()), rng)


@pytest.mark.parametrize("build", [mechanisms.delta, mechanisms.six_rus])
def test_platforms(build: Any) -> None:
    rng = np.random.default_rng(4)
    agrees(random_masses(rng, build()), rng)
