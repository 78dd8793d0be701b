"""Computed torque on a chosen formulation, gains from a frequency, and what a law costs (Lee secs 4 and 5)."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.platforms import HOME, random_platform
from support.strategies import random_arm
from support.tolerances import FORMULATIONS, error
from tauforge.control import PD, ComputedTorque, gains
from tauforge.formulations.serial import INVERSE_DYNAMICS

ARM = random_arm(np.random.default_rng(3), "RPRR", drives=True).replace(coulomb_speed=0.2)
MOVE = tf.motion.JointMove([0, 0, 0, 0], [0.4, 0.1, -0.3, 0.2], 0.1)
SAME_RUN = 1e3 * FORMULATIONS  # errors of the forces, through a hundred steps


@pytest.mark.usefixtures("kernels_on")
@pytest.mark.parametrize("formulation", list(INVERSE_DYNAMICS))
def test_lees_comparison_runs_on_any_arm(formulation):
    """The law gives the same forces and the same run by every formulation, compiled as the others are."""
    usual, law = ComputedTorque(ARM, 90.0, 12.0), ComputedTorque(ARM, 90.0, 12.0, formulation=formulation)
    q, qd, _ = (x[0] for x in ARM.random_states(1))
    target = MOVE.sample(0.03)
    assert error(law.force(0.0, q, qd, target), usual.force(0.0, q, qd, target)) < FORMULATIONS
    runs = [tf.simulate(ARM, x, MOVE, control_period=1e-3) for x in (law, usual)]
    assert runs[0].stepped_by == "machine code"
    assert error(runs[0].position[-1], runs[1].position[-1]) < SAME_RUN
    many = tf.rollout(ARM, law, MOVE, initial=(np.tile(q, (2, 1)), np.tile(qd, (2, 1))), control_period=1e-3)
    assert np.array_equal(many.force[0], many.force[1])


@pytest.mark.usefixtures("kernels_on")
def test_a_law_on_a_published_model_of_a_platform_is_wrong_as_the_model_is():
    platform = random_platform(np.random.default_rng(2))
    law = ComputedTorque(platform, 90.0, 12.0, formulation="dasgupta1998")
    target = tf.motion.MotionSample(HOME, np.zeros(6), np.ones(6))
    found = law.force(0.0, HOME, np.zeros(6), target)
    paper, exact = (
        platform.inverse_dynamics(HOME, np.zeros(6), np.ones(6), model=x) for x in ("dasgupta1998", "exact")
    )
    assert error(found, paper) < FORMULATIONS
    assert error(found, exact) > 1e3 * FORMULATIONS


def test_unknown_formulations_are_refused():
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown formulation 'lagrange'") as no:
        ComputedTorque(ARM, formulation="lagrange")
    assert "lagrange-euler" in no.value.remedy


def test_gains_are_those_of_a_damped_oscillator():
    kp, kv = gains([10.0, 20.0, 5.0, 8.0], 0.7)
    for k, v, w in zip(kp, kv, (10.0, 20.0, 5.0, 8.0), strict=True):
        assert np.poly(np.linalg.eigvals([[0, 1], [-k, -v]])) == pytest.approx([1, 2 * 0.7 * w, w * w])
    assert ComputedTorque(ARM, *gains(10.0)).kv[0, 0] == 20.0
    with pytest.raises(tf.ModelError, match="natural_frequency: expected numbers > 0, got -1"):
        gains(-1.0)
    with pytest.raises(tf.ModelError, match="damping: expected numbers > 0"):
        gains(1.0, np.nan)


@pytest.mark.parametrize("formulation", list(INVERSE_DYNAMICS))
def test_a_law_costs_its_inverse_dynamics_and_the_correction(formulation):
    """qdd_d + Kv e' + Kp e with diagonal gains: two products, four sums and differences and one more for each joint."""
    arm = random_arm(np.random.default_rng(4), "RRR")
    law = ComputedTorque(arm, [90.0, 80.0, 70.0], 12.0, formulation=formulation)
    alone, whole = tf.operation_count(arm, formulation), tf.operation_count(law)
    assert whole.as_written.multiplications == alone.as_written.multiplications + 2 * arm.n
    assert whole.as_written.additions == alone.as_written.additions + 4 * arm.n
    assert whole.multiplications <= alone.multiplications + 2 * arm.n
    assert whole.sincos == alone.sincos


def test_seconds_are_counts_by_times():
    count = tf.operation_count(PD(ARM, 300.0, 30.0))
    assert (count.multiplications, count.additions, count.sincos) == (8, 12, 0)
    assert count.seconds(3e-6, 1e-6) == pytest.approx(8 * 3e-6 + 12e-6)
    assert count.seconds(3e-6, 1e-6, fetch=1e-6) == pytest.approx(8 * 4e-6 + 12 * 2e-6)
    written = tf.operation_count(ARM, "newton-euler")
    assert written.seconds(1.0, 1.0, as_written=True) == sum(written.as_written[:2])


def test_laws_whose_operations_cannot_be_counted():
    class Branching(PD):
        def force(self, t, position, velocity, target):
            return super().force(t, position, velocity, target) if position[0] > 0 else np.zeros(4)

    with pytest.raises(tf.UnsupportedFeatureError, match=r"operations of Branching cannot be counted: .*test_comp"):
        tf.operation_count(Branching(ARM, 1.0, 1.0))
    with pytest.raises(tf.UnsupportedFeatureError, match="Give the law's own formulation="):
        tf.operation_count(PD(ARM, 1.0, 1.0), "newton-euler")
