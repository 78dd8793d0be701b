"""The claim on legs with spherical joints at both ends, recomputed by Pinocchio's tree, in which spins are free."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.spherical_witness import numbers, pinocchio_inverse, tree, tree_state
from support.study_checks import printed
from support.tolerances import FORMULATIONS
from tauforge_papers.dasgupta1998.spherical import SPIN, measured_forces, spherical_legs, symmetric_manipulator
from tauforge_papers.stewart_paths import FAST, SLOW

NO_SPIN, NO_WRENCH = np.zeros(6), np.zeros(6)
FLIPS = {  # other evidence for `assert_every_verdict_can_change`
    "spherical-legs": {"holds": {"published": [0.0, 0.0]}, "does not hold": {"mended": [1e-3, 1e-3]}},
}


def witnessed(motion, spin=0.0, samples=61):
    """Actuator forces along a path, N, and the largest spin rate, rad/s^2, by Pinocchio."""
    made = tree(numbers(symmetric_manipulator()))
    forces, rates = [], []
    for t in np.linspace(0.0, motion.duration, samples):
        state = (*motion.sample(t), NO_WRENCH)
        found = pinocchio_inverse(made, tree_state(made, state, np.full(6, spin), NO_SPIN))
        forces.append(found.actuators)
        rates.append(np.abs(found.spin_rates).max())
    return np.array(forces), max(rates)


def test_every_outcome_of_the_rule():
    claim = spherical_legs()
    assert claim.verdict == "holds with a correction"
    for verdict, evidence in FLIPS[claim.name].items():
        assert set(evidence) <= set(claim.evidence)
        assert claim.rule.decide(**{**claim.evidence, **evidence}) == verdict
    assert {claim.verdict, *FLIPS[claim.name]} == set(claim.rule.outcomes)
    assert claim.rule.words.endswith(".")


@pytest.mark.parametrize(("path", "motion"), [(0, SLOW), (1, FAST)], ids=["path I", "path II"])
def test_the_numbers_by_pinocchio(path, motion):
    """At the paper's own 61 samples, of the 601 that the claim looks at."""
    platform, told = symmetric_manipulator(), measured_forces()
    times = np.linspace(0.0, motion.duration, 61)
    right, spin_rate = witnessed(motion)
    assert spin_rate < 1e-10  # the legs do not start to spin
    published, mended = (
        platform.inverse_dynamics(*motion.sample(times), model="dasgupta1998", corrections=corrections)
        for corrections in ((), ("parallel_axis_once",))
    )
    assert np.abs(mended - right).max() < FORMULATIONS * np.abs(right).max()
    assert np.abs(published - right).max() == pytest.approx(told.published[path], rel=0.02)
    assert told.peak > 0.99 * np.abs(right).max()
    rubs = platform.friction[0]
    assert rubs > 0
    spinning, _ = witnessed(motion, SPIN)
    assert np.abs(spinning - right).max() == pytest.approx(told.gyroscopic[path], rel=0.02)


def test_the_claim_prints_what_was_measured():
    claim, told = spherical_legs(), measured_forces()
    printed(claim.measured, *told.published, round(told.peak))
    printed(claim.reason, told.gyroscopic[1], SPIN)


def test_what_we_made_symmetric():
    """Everything else is the appendix'."""
    ours, theirs = symmetric_manipulator(), tf.load("dasgupta1998")
    for field in ("base_points", "platform_points", "lower_mass", "upper_mass", "platform_inertia", "gravity"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert ours.friction == (*theirs.friction[:2], 0.0)
    assert [x for x, _, _ in ours.lower_com] == [x for x, _, _ in theirs.lower_com]
    for part in ("lower", "upper"):
        diagonal = np.array(getattr(theirs, f"{part}_inertia"))[0].diagonal()
        made = np.array(getattr(ours, f"{part}_inertia"))[0].diagonal()
        assert made.tolist() == [diagonal.min(), diagonal.max(), diagonal.max()]
