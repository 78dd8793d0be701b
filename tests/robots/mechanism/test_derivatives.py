"""Derivatives of the dynamics of mechanisms against complex steps of Newton's and Euler's equations, loops closed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support import mechanisms
from support import random_mechanisms as well_known
from support.mechanism_slopes import coordinate_changes, slopes
from support.random_mechanisms import LOOP_KINDS, TREE_KINDS, closed_positions, random_masses, random_mechanism
from support.strategies import random_payload
from support.tolerances import COMPLEX_STEP, error_beside

LOOPS = [2, 3, 5, 12, 14, 21, 25, 29, 33, 36]  # 12: whole balls and lone angles together are independent
TREES = range(3)
WELL_KNOWN = ["five_bar", "four_bar", "bennett", "bricard", "sarrus", "parallelograms"]
PLATFORMS = {
    "Delta": mechanisms.delta,
    "6-RUS by its pose": lambda: mechanisms.six_rus("platform"),
}
SMALL = 1e-3  # beside which slopes that are zero are compared
WORST = 4e3  # condition of the loops times that of the mass matrix: COMPLEX_STEP holds below


def agree(m: tf.Mechanism, rng: np.random.Generator, payload: tf.Payload | None = None) -> list[str]:
    """Names of the functions that were compared."""
    x = closed_positions(m, rng, 1)[0]
    assert m.loop_condition(x) * np.linalg.cond(m.mass_matrix(x, payload=payload)) < WORST
    assert error_beside(changes_of(m, x), coordinate_changes(m, x), 1.0) <= COMPLEX_STEP
    qd, qdd = rng.normal(size=(2, m.n))
    cases = {"forward_dynamics": 5 * rng.normal(size=len(m.actuators))}
    if m._analysis.controlled and len(m.actuators) == m.n:
        cases["inverse_dynamics"] = qdd
    for function, last in cases.items():
        found = getattr(m, f"{function}_derivatives")(x, qd, last, payload=payload)
        for got, wanted in zip(found, slopes(m, function, x, qd, last, payload=payload), strict=True):
            assert got.shape == wanted.shape
            assert error_beside(got, wanted, np.append(wanted, SMALL)) <= COMPLEX_STEP, function
    return list(cases)


def changes_of(m: tf.Mechanism, x: Any) -> Any:
    return m._evaluator("closed_changes", {"x": x, "dq": np.eye(m.n)})[0].T


def with_loops(seed: int) -> tuple[tf.Mechanism, np.random.Generator]:
    rng = np.random.default_rng(seed)
    kinds = [TREE_KINDS[k] for k in rng.integers(0, len(TREE_KINDS) - 1, rng.integers(3, 6))]
    loops = [LOOP_KINDS[k] for k in rng.integers(0, len(LOOP_KINDS), rng.integers(1, 3))]
    return random_mechanism(rng, kinds, loops, drives=True, springs=1, coulomb_speed=0.2), rng


@pytest.mark.parametrize("seed", LOOPS)
def test_loops(seed: int) -> None:
    """Drives, smoothed friction, springs, a payload; full inertias and tilted gravity."""
    m, rng = with_loops(seed)
    agree(m, rng, random_payload(rng))


def test_whole_balls_and_lone_angles_are_met() -> None:
    assert {len(group) for group in with_loops(12)[0].positions.turning} == {1, 3}


@pytest.mark.parametrize("seed", TREES)
def test_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = [TREE_KINDS[k] for k in rng.permutation(len(TREE_KINDS))[:4]]
    agree(random_mechanism(rng, kinds, drives=True, springs=2, coulomb_speed=0.2), rng, random_payload(rng))


@pytest.mark.parametrize("seed", range(2))
def test_mimic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = [tf.Hinge, tf.Universal, tf.Slider, tf.Hinge]
    m = random_mechanism(rng, kinds, [tf.Spherical] if seed else [], drives=True, mimic=True, coulomb_speed=0.2)
    agree(m, rng)


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_over_constrained(name: str) -> None:
    rng = np.random.default_rng(3)
    assert "inverse_dynamics" in agree(random_masses(rng, getattr(well_known, name)()), rng)


@pytest.mark.parametrize("name", list(PLATFORMS))
def test_platforms(name: str) -> None:
    rng = np.random.default_rng(4)
    assert "inverse_dynamics" in agree(random_masses(rng, PLATFORMS[name]()), rng, random_payload(rng))


@pytest.mark.parametrize("name", ["five_bar", "bennett"])
def test_kernels(name: str, kernels_on: None) -> None:
    rng = np.random.default_rng(5)
    agree(random_masses(rng, getattr(well_known, name)()), rng)
