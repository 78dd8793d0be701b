"""Mechanisms in assemblies other than the one they are described in: the same loops, other geometry."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.catalogue import names_of
from support.mechanism_witness import Witness
from support.mechanisms import Z, bar
from support.tolerances import OUTSIDE, PLACED, error_beside
from tauforge.errors import SingularityError
from tauforge.robots.mechanism.loop_matrices import LoopEquations
from tauforge.robots.mechanism.mobility import ELSEWHERE, samples

NO_ENTRY = 1e-9  # of J: samples are closed to 1e-11 of the size, and angles near a singular position to less


def parallelogram(**more):
    """A crank of 0.3 m, a coupler of 0.5 m: crossed, the second crank turns the other way."""
    A, B, C, D = (0.0, 0.0, 0.0), (0.0, 0.3, 0.0), (0.5, 0.3, 0.0), (0.5, 0.0, 0.0)
    return tf.Mechanism(
        name="parallelogram",
        bodies=[bar("crank", A, B, 1.0), bar("coupler", B, C, 2.0), bar("follower", D, C, 1.5)],
        joints=[
            tf.Hinge("motor", "ground", "crank", at=A, axis=Z, actuated=True),
            tf.Hinge("pin 1", "crank", "coupler", at=B, axis=Z),
            tf.Hinge("pin 2", "coupler", "follower", at=C, axis=Z),
            tf.Hinge("foot", "ground", "follower", at=D, axis=Z),
        ],
        gravity=(0.0, -9.81, 0.0),
        **more,
    )


def crossed():
    """x of the parallelogram where C is mirrored about the diagonal B D."""
    B, C, D = np.array([0.0, 0.3]), np.array([0.5, 0.3]), np.array([0.5, 0.0])
    along = (D - B) / np.linalg.norm(D - B)
    mirrored = B + 2 * ((C - B) @ along) * along - (C - B)

    def turned(point):
        (a, b), (c, d) = C - point, mirrored - point
        return np.arctan2(a * d - b * c, a * c + b * d)

    return np.array([0.0, turned(B), turned(D) - turned(B), turned(D)])


@pytest.mark.parametrize("cut", [None, ("pin 1",), ("foot",)])
def test_a_crossed_parallelogram(cut):
    """Its follower is parallel to the crank at home, so entries of the loop matrix vanish there, and not crossed."""
    m, rng = parallelogram(cut=cut), np.random.default_rng(0)
    near = crossed()
    assert m.loop_gap(near) <= PLACED
    x = m.configuration([0.2], near=near)
    assert np.abs(x - near).max() < 0.5  # still crossed, and no turn further
    qd, qdd = rng.normal(size=(2, 1))
    witness = Witness(m, x, qd)
    assert witness.open <= PLACED
    wanted = witness.inverse(qdd)
    assert error_beside(m.inverse_dynamics(x, qd, qdd), wanted.tau, wanted.tau) <= OUTSIDE
    assert error_beside(m.forward_dynamics(x, qd, wanted.tau), qdd, qdd) <= OUTSIDE
    assert error_beside(m.energy(x, qd)[0], witness.energy()[0], witness.energy()[0]) <= OUTSIDE


@pytest.mark.usefixtures("kernels_on")  # they are reduced in the cheapest way, the reference in the first
def test_a_palletiser_with_crossed_levelling_rods():
    m = tf.load("palletiser")
    x = m.configuration(
        m.positions.coordinates(m.home) + [0.2, -1.435, 0.188, 1.07]
    )  # beyond where the rods are in line
    plate = x[m.coordinate_names.index("levelling plate")]
    assert abs(plate + x[m.coordinate_names.index("shoulder")]) > 0.5
    qd, qdd = np.array([0.3, 0.5, -0.2, 0.1]), np.array([1.0, -2.0, 1.0, 0.5])
    wanted = Witness(m, x, qd).inverse(qdd)
    assert error_beside(m.inverse_dynamics(x, qd, qdd), wanted.tau, wanted.tau) <= OUTSIDE


def elsewhere(m):
    """Closed positions in any assembly, from other random starts than those that the library looked at."""
    p = m._analysis.parameters
    search = ELSEWHERE._replace(tried=150, enough=60, seed=7)
    return samples(LoopEquations(p), m.home, search)


TREES = {"flyball-governor", "gripper"}


@pytest.mark.parametrize("name", sorted({*names_of("mechanism")} - TREES))
def test_entries_that_are_taken_for_zero_are_zero_in_every_assembly(name):
    m = tf.load(name)
    x, analysis = elsewhere(m), m._analysis
    assert len(x) > 30
    for reduction in analysis.parameters.reductions:
        cuts = tuple(cut._replace(axes=own) for cut, own in zip(analysis.parameters.cuts, reduction.axes, strict=True))
        J, _ = LoopEquations(analysis.parameters._replace(cuts=cuts)).scaled(x)
        assert max(np.abs(J[:, i, j]).max() for i, j in reduction.zeros) <= NO_ENTRY


def test_an_assembly_with_less_freedom_is_refused():
    """The parallelograms of this Delta may be crossed: then they hold the platform's orientation in two ways."""
    m = tf.load("delta-parallelograms")
    x, analysis = elsewhere(m), m._analysis
    J, _ = LoopEquations(analysis.parameters).scaled(x)
    s = np.linalg.svd(J, compute_uv=False)
    usual = analysis.parameters.n - m.n
    blocked = s[:, usual] > 1e-2
    assert blocked.sum() > 5
    assert (~blocked).sum() > 5
    qd, qdd = np.random.default_rng(0).normal(size=(2, len(x), m.n))
    found = m.inverse_dynamics(x, qd, qdd, on_singular="nan")
    assert np.isnan(found[blocked]).all()
    assert np.isnan(m.mass_matrix(x, on_singular="nan")[blocked]).all()
    whole = ~blocked & (m.loop_condition(x) < 1e3)
    assert whole.sum() > 5
    for row in np.flatnonzero(whole)[: 10 * SOAK]:
        wanted = Witness(m, x[row], qd[row]).inverse(qdd[row])
        assert error_beside(found[row], wanted.tau, wanted.tau) <= OUTSIDE
    with pytest.raises(SingularityError, match="less freedom here than at home"):
        m.forward_dynamics(x[blocked][0], qd[0], np.zeros(m.n))
