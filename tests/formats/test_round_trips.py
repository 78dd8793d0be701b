"""Random mechanisms written to files and read back: TOML bit by bit, URDF and MJCF with the same dynamics."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.random_mechanisms import LOOP_KINDS, TREE_KINDS, closed_positions, random_mechanism
from support.strategies import seeds
from support.tolerances import EPSILON, FORMULATIONS, PLACED, error_beside
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.robots.mechanism.parts import MechanismJoint

Kinds = list[type[MechanismJoint]]
STATES = 3
# a ball becomes three revolute joints in URDF, whose rates are others
IN_URDF = tuple(kind for kind in TREE_KINDS if kind is not tf.Spherical)
# MJCF closes loops at balls, hinges and welds
CLOSING = (tf.Spherical, tf.Hinge)


def kinds(among: tuple[type[MechanismJoint], ...], least: int = 1, most: int = 5) -> st.SearchStrategy[Kinds]:
    return st.lists(st.sampled_from(among), min_size=least, max_size=most)


def built(rng: np.random.Generator, of: Kinds, loops: Kinds = (), **more: Any) -> tf.Mechanism | None:  # type: ignore[assignment]
    """A random mechanism; None where the draw is locked, or needs a weld alone."""
    try:
        return random_mechanism(rng, of, loops, **more)
    except ModelError:
        return None


def written_and_read(m: tf.Mechanism, suffix: str) -> tf.Mechanism:
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TauforgeWarning)  # what is lost is said
        path = Path(folder) / f"m{suffix}"
        m.save(path)
        options: dict[str, Any] = {"actuated": []} if suffix == ".urdf" else {}  # a chain is a mechanism then, too
        robot = tf.load(path, **options)
    assert isinstance(robot, tf.Mechanism)
    return robot


def assert_same_motion(rng: np.random.Generator, m: tf.Mechanism, again: tf.Mechanism) -> None:
    """Frames of bodies and generalised forces at random states; coordinates are found by their names."""
    names = m.structure.independent
    everything = again.n == again.positions.size  # then they stand in the file's order, and no other is taken
    again = again.replace(independent=again.structure.independent if everything else names, gravity=m.gravity)
    order = [names.index(name) for name in again.structure.independent]
    assert sorted(order) == list(range(m.n))
    x = closed_positions(m, rng, STATES)
    near = np.tile(again.home, (len(x), 1))
    for k, name in enumerate(again.coordinate_names):  # a hinge that closes a loop has others, and they follow
        if name in m.coordinate_names:
            near[:, k] = x[:, m.coordinate_names.index(name)]
    y = again.configuration(m.positions.coordinates(x)[:, order], near=near)
    qd, qdd = rng.uniform(-2, 2, (2, len(x), m.n))
    bodies = [body.name for body in m.bodies]
    for name in bodies:
        there = again.forward_kinematics(y, name)
        assert np.abs(m.forward_kinematics(x, name) - there).max() < PLACED, name
    ours = m.generalised_forces(x, qd, qdd)[:, order]
    theirs = again.generalised_forces(y, qd[:, order], qdd[:, order])
    M = np.abs(m.mass_matrix(x)).max(axis=(1, 2))[:, None] * 2.0  # a force that each state's inertia is worth
    # loops are solved for the other rates, once for velocities and once more for accelerations
    kappa = float(np.max(m.loop_condition(x)))
    assert error_beside(theirs, ours, M) < max(FORMULATIONS, 30 * len(m.coordinate_names) * EPSILON * kappa**2)


@given(seeds, kinds(TREE_KINDS), kinds(LOOP_KINDS, 0, 2), st.booleans(), st.booleans())
def test_toml_gives_the_same_mechanism(rng, of, loops, drives, mimic) -> None:
    mimic = mimic and sum(len(kind.letters) == 1 for kind in of) > 1
    m = built(rng, of, loops, drives=drives, springs=2, mimic=mimic)
    if m is not None:
        assert written_and_read(m, ".toml") == m


@given(seeds, kinds(IN_URDF), st.booleans())
def test_urdf_keeps_the_motion_of_a_tree(rng, of, mimic) -> None:
    mimic = mimic and sum(len(kind.letters) == 1 for kind in of) > 1
    m = built(rng, of, mimic=mimic)
    if m is not None:
        assert_same_motion(rng, m, written_and_read(m, ".urdf"))


@given(seeds, kinds(TREE_KINDS), kinds(CLOSING, 0, 1), st.booleans())
def test_mjcf_keeps_the_motion_of_loops_and_springs(rng, of, loops, mimic) -> None:
    """Balls that lead inward have other angles in MJCF, balls have no motors, and free bodies are on the ground."""
    mimic = mimic and sum(len(kind.letters) == 1 for kind in of) > 1
    balls = tf.Spherical in of
    m = built(rng, of, loops, springs=1, mimic=mimic, reverse=0.0 if balls else 0.3, actuated=0.0 if balls else 0.7)
    if m is not None and all(joint.parent == "ground" for joint in m.joints if isinstance(joint, tf.Free)):
        assert_same_motion(rng, m, written_and_read(m, ".xml"))
