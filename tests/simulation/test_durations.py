"""Motions of any duration: simulations and rollouts hold the end of the motion to the end of the last period."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from support.tolerances import SAME_STEPS
from tauforge.control import ComputedTorque
from tauforge.motion import JointMove, Motion

pytestmark = pytest.mark.usefixtures("kernels_on")

ARM = random_arm(np.random.default_rng(0), "RPR", drives=True).replace(coulomb_speed=0.05)
LAW = ComputedTorque(ARM, 100.0, 20.0)
FROM, TO = [0.0, 0.0, 0.0], [0.5, 0.2, -0.4]


class Lengthened(Motion):
    """Another motion, and rest at its end: one whose duration is a whole number of periods."""

    def __init__(self, motion: Motion, duration: float) -> None:
        self.motion, self.duration = motion, duration

    def _within(self, t):
        return self.motion.sample(t)


@pytest.mark.parametrize("profile", ["quintic", "trapezoidal"])
@pytest.mark.parametrize("method", ["rk4", "dormand-prince"])
@pytest.mark.parametrize(
    ("duration", "step", "period", "end"),
    [
        (0.07233, 1e-3, None, 0.073),
        (0.07233, 1e-3, 2e-3, 0.074),
        (0.0705, 5e-4, 2e-3, 0.072),
        (0.07, 1e-3, 4e-3, 0.072),
        (0.0004, 1e-3, None, 0.001),
    ],
)
def test_the_end_is_held_to_the_end_of_the_last_period(duration, step, period, end, method, profile):
    way = np.array(TO) * min(1.0, (duration / 0.07) ** 2)  # a short motion with the accelerations of the others
    move = JointMove(FROM, way, duration, profile)
    options = {"step": step, "control_period": period, "method": method}
    run = tf.simulate(ARM, LAW, move, **options)
    same = tf.simulate(ARM, LAW, Lengthened(move, end), **options)
    assert np.array_equal(run.time, step * np.arange(round(end / step) + 1))
    assert run == same
    assert np.allclose(run.target_position[-1], way, rtol=SAME_STEPS, atol=0)
    assert not run.target_velocity[-1].any()


@pytest.mark.parametrize("duration", [0.07233, 0.0705, 0.07, 1e-5])
@pytest.mark.parametrize(("step", "period"), [(1e-3, 2e-3), (1e-3, 1e-3), (5e-4, 3e-3)])
def test_rollouts_end_where_simulations_do(duration, step, period):
    move, every = JointMove(FROM, TO, duration), round(period / step)
    options = {"step": step, "control_period": period}
    one, many = tf.simulate(ARM, LAW, move, **options), tf.rollout(ARM, LAW, move, **options)
    gradient, pull_back = tf.differentiable_rollout(ARM, LAW, move, initial=(FROM, FROM), **options)
    assert many.time[-1] >= duration > many.time[-1] - period
    assert np.allclose(one.time[::every], many.time, rtol=SAME_STEPS, atol=0)
    assert one.time[-1] == one.time[::every][-1]
    for name in ("position", "velocity", "force"):
        expected = getattr(one, name)[::every]
        for runs in (many, gradient):
            assert np.abs(getattr(runs, name)[0] - expected).max() < SAME_STEPS * (1 + np.abs(expected).max())
    assert pull_back(position=np.ones_like(many.position)).position.shape == (3,)


@pytest.mark.parametrize(
    ("duration", "step", "steps"),
    [(0.3, 0.1, 3), (0.7, 0.1, 7), (7 * 0.1, 0.1, 7), (1.1, 0.1, 11), (0.1 + 0.2, 0.1, 3), (0.03, 0.01 / 3, 9)],
)
def test_rounding_adds_no_period(duration, step, steps):
    """0.3 / 0.1 is 2.9999999999999996, 0.7 / 0.1 is 6.999999999999999 and 1.1 / 0.1 is 11.000000000000002."""
    free = ARM.without_friction().replace(gravity=(0, 0, 0))
    one = tf.simulate(free, initial=(FROM, FROM), duration=duration, step=step)
    many = tf.rollout(free, initial=(FROM, FROM), duration=duration, step=step, control_period=step)
    assert len(one.time) == len(many.time) == steps + 1


def test_a_duration_that_is_given_is_covered_by_whole_periods():
    """Longer or shorter than the motion; forces are given for the periods that cover it."""
    move = JointMove(FROM, TO, 0.05)
    for duration, end in ((0.0712, 0.072), (0.0312, 0.032)):
        options = {"duration": duration, "control_period": 2e-3}
        one, many = tf.simulate(ARM, LAW, move, **options), tf.rollout(ARM, LAW, move, **options)
        assert one.time[-1] == pytest.approx(end, rel=SAME_STEPS)
        assert many.time[-1] == pytest.approx(end, rel=SAME_STEPS)
    with pytest.raises(tf.ShapeError, match="forces: expected forces for 37 control periods, got 36"):
        tf.rollout(ARM, initial=(FROM, FROM), forces=np.zeros((36, 3)), duration=0.0735, control_period=2e-3)


def test_the_last_row_is_kept_however_rows_are_thinned():
    move = JointMove(FROM, TO, 0.7003)
    whole, thin = (tf.simulate(ARM, LAW, move, record_every=every) for every in (1, 10))
    kept = [*range(0, 701, 10), 701]
    for name in ("time", "position", "velocity", "acceleration", "force", "target_position"):
        assert np.array_equal(getattr(thin, name), getattr(whole, name)[kept])
    ran_away = {"initial": ([0.1, 0.2, 0.3], FROM), "duration": 2.0}
    ends = []
    for every in (1, 64):
        with pytest.raises(tf.DivergenceError) as caught:
            tf.simulate(ARM, lambda t, q, qd: [np.exp(80 * t), 0.0, 0.0], record_every=every, **ran_away)
        ends.append((caught.value.time, *caught.value.position))
    assert ends[0] == ends[1]


def test_periods_are_still_whole_numbers_of_steps_and_runs_have_an_end():
    move = JointMove(FROM, TO, 0.0705)
    for run in (tf.simulate, tf.rollout):
        with pytest.raises(tf.ShapeError, match=r"control_period: expected a whole number of steps of 0\.001 s"):
            run(ARM, LAW, move, control_period=0.0015)
        with pytest.raises(tf.ShapeError, match="duration: expected at most 1,000,000,000 steps, got inf of 1e-300 s"):
            run(ARM, LAW, move, duration=1e300, step=1e-300, control_period=1e-300)
