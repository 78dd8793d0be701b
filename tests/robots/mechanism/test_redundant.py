"""Over-constrained mechanisms: the motion is right at every state, reactions are unique or NaN."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support import random_mechanisms as mechanisms
from support.mechanism_witness import Witness
from support.random_mechanisms import closed_positions, random_masses, tilt
from support.tolerances import OUTSIDE, error_beside

NAMES = {
    "five_bar": ("elbow 1", "middle"),
    "four_bar": ("pin 1", "pin 2"),
    "bennett": ("hinge1", "hinge2"),
    "bricard": ("hinge2", "hinge4"),
    "sarrus": ("knee0", "hip1"),
}


@pytest.mark.parametrize("tilted", [False, True])
@pytest.mark.parametrize("name", [*NAMES, "parallelograms"])
def test_right_or_open(name, tilted):
    rng = np.random.default_rng(8)
    m = random_masses(rng, getattr(mechanisms, name)())
    m = tilt(rng, m) if tilted else m
    assert m.structure.redundant
    for x in closed_positions(m, rng, 2)[:2]:
        qd, qdd = rng.normal(size=(2, m.n))
        witness = Witness(m, x, qd)
        wanted = witness.inverse(qdd)
        assert witness.velocity_residual < 1e-12
        assert wanted.residual < 1e-11
        assert error_beside(m.inverse_dynamics(x, qd, qdd), wanted.tau, wanted.tau) <= OUTSIDE
        forward = witness.forward(wanted.tau).qdd
        assert error_beside(m.forward_dynamics(x, qd, wanted.tau), forward, forward) <= OUTSIDE
        found = m.joint_wrenches(x, qd, qdd)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted.wrenches))
        unique = np.isfinite(found)
        assert (
            unique.any() != tilted or name == "sarrus"
        )  # in a tilted plane redundancy is felt along every axis of the world
        if unique.any():
            assert error_beside(found[unique], wanted.wrenches[unique], wanted.wrenches[unique]) <= OUTSIDE
        for joint, row in zip(m.joints, np.isnan(found), strict=True):
            assert len(m.open_reactions.get(joint.name, ())) == row.sum()


@pytest.mark.parametrize("name", list(NAMES))
def test_another_cut_changes_nothing(name):
    rng = np.random.default_rng(9)
    m = random_masses(rng, getattr(mechanisms, name)())
    one, other = (m.replace(cut=(cut,)) for cut in NAMES[name])
    assert one.structure.cut != other.structure.cut
    x = closed_positions(m, rng, 2)
    qd, qdd = rng.normal(size=(2, len(x), m.n))
    for method in ("inverse_dynamics", "forward_dynamics", "joint_wrenches"):
        a, b = getattr(one, method)(x, qd, qdd), getattr(other, method)(x, qd, qdd)
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
        unique = np.isfinite(a)
        assert error_beside(a[unique], b[unique], b[unique]) <= OUTSIDE


def test_bricard_far_from_home():
    """Each state chooses its own rows: no choice of rows is good everywhere."""
    rng = np.random.default_rng(1)
    m = random_masses(rng, mechanisms.bricard())
    x = m.home
    for q in np.linspace(0.0, 1.2, 13)[1:]:
        x = m.configuration([q], near=x)
        qd, qdd = rng.normal(size=(2, 1))
        wanted = Witness(m, x, qd).inverse(qdd)
        assert error_beside(m.inverse_dynamics(x, qd, qdd), wanted.tau, wanted.tau) <= OUTSIDE
        assert m.loop_gap(x) <= 1e-12


def test_more_actuators_than_freedoms():
    """The forces with the least sum of squares, among all that give the acceleration."""
    rng = np.random.default_rng(2)
    m = random_masses(rng, mechanisms.parallelograms())
    joints = [tf.Hinge(**{**vars(joint), "actuated": joint.name.startswith("foot")}) for joint in m.joints]
    m = m.replace(joints=joints, independent=("foot0",))
    x = m.configuration([0.2])
    tau = m.inverse_dynamics(x, [1.0], [2.0])
    assert tau.shape == (3,)
    np.testing.assert_allclose(m.forward_dynamics(x, [1.0], tau), [2.0], rtol=1e-12)
    np.testing.assert_allclose(tau, tau[0], rtol=1e-12)  # equal cranks turn alike: equal torques are the least
    assert error_beside(tau.sum(), m.generalised_forces(x, [1.0], [2.0]), tau) <= OUTSIDE
