"""Wrenches that disturb simulations and rollouts: functions of the time and of the state, compiled and by methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.rollout_cases import NAMES, ROWS, SAME, Case, assert_the_same, case_of
from support.tolerances import error
from tauforge.control import ComputedTorque

pytestmark = pytest.mark.usefixtures("kernels_on")

PUSH = np.array([[30.0, -20.0, 10.0, 2.0, 3.0, -1.0], [5.0, 5.0, 5.0, 0.0, 0.0, 0.0], [-20.0, 0.0, 9.0, 1.0, 1.0, 1.0]])


@pytest.fixture(scope="module", params=["arm", "platform", "five-bar"])
def case(request: Any) -> Case:
    return case_of(request.param)


def pulse(t: float) -> float:
    """Jumps at instants of the integrator, in the middle of its steps and elsewhere."""
    return float(0.008 <= t < 0.015) + float(0.021 < t <= 0.0306) + np.sin(300 * t)


def dragging(t: float, position: Any, velocity: Any) -> Any:
    pull = -3.0 * velocity[..., :2] * (1.0 + np.sin(200 * t))
    return np.concatenate([pull, 0.1 * position[..., :2], 0.0 * pull], axis=-1)


def test_a_push_in_time(case: Case) -> None:
    runs = assert_the_same(case, disturbance=lambda t: PUSH[0] * pulse(t))
    assert error(runs.position, case.runs().position) > 1e-6
    assert np.array_equal(runs.wrench, np.multiply.outer([pulse(t) for t in runs.time], PUSH[0]))


def test_a_push_of_its_own_for_each_row(case: Case) -> None:
    runs = assert_the_same(
        case, lambda k: {"disturbance": lambda t: PUSH[k] * pulse(t)}, disturbance=lambda t: PUSH * pulse(t)
    )
    assert runs.wrench.shape == (ROWS, len(runs.time), 6)


def test_a_push_by_the_state(case: Case) -> None:
    """It is recorded as a law is, or asked for all rows at once where it does not say that it can be traced."""

    class Dragging:
        traceable = True

        def __call__(self, t: float, position: Any, velocity: Any) -> Any:
            return dragging(t, position, velocity)

    runs = assert_the_same(case, disturbance=Dragging())
    assert error(runs.position, case.runs().position) > 1e-9
    slow = case.runs(disturbance=dragging)
    assert slow.stepped_by == "methods: the disturbance is a function of the state that does not say traceable = True"
    for name in NAMES:
        assert error(getattr(slow, name), getattr(runs, name)) < SAME, name
    assert error(slow.wrench, runs.wrench) < SAME


def test_a_function_of_the_state_that_cannot_be_traced_says_its_line() -> None:
    class Branching:
        traceable = True

        def __call__(self, t: float, position: Any, velocity: Any) -> Any:
            return np.zeros(6) if np.all(velocity > 0) else np.ones(6)

    arm = case_of("arm")
    run = arm.run(0, disturbance=Branching())
    assert "np.all(velocity > 0)" in run.stepped_by


@pytest.mark.parametrize("law", [True, False])
def test_pushes_on_a_law_that_is_asked_continuously(law: bool) -> None:
    arm = case_of("arm")
    controller = ComputedTorque(arm.robot, 90.0, 15.0) if law else None
    options: dict[str, Any] = {"step": 1e-3, "disturbance": lambda t: PUSH[0] * pulse(t), "initial": arm.alone(1)}
    options |= {} if law else {"duration": 0.6}
    motion = arm.move if law else None
    mine = tf.simulate(arm.robot, controller, motion, **options)
    assert mine.stepped_by == "machine code"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "off")
        theirs = tf.simulate(arm.robot, controller, motion, **options)
    for name in (*NAMES, "acceleration"):
        assert error(getattr(mine, name), getattr(theirs, name)) < SAME, name


def test_rows_under_pushes_are_recordings(case: Case, tmp_path: Any) -> None:
    def push(t: float) -> Any:
        return PUSH * pulse(t)

    runs = case.runs(disturbance=push)
    runs.save(tmp_path / "runs.npz")
    back = tf.Rollout.load(tmp_path / "runs.npz")
    assert np.array_equal(back.wrench, runs.wrench)
    for k in range(ROWS):
        one = case.run(k, disturbance=lambda t, k=k: PUSH[k] * pulse(t))
        for found in (runs.recording(k), back.recording(k, case.robot)):
            assert error(found.acceleration, one.acceleration) < 1e4 * SAME


def test_a_row_whose_push_is_not_finite_is_lost_alone() -> None:
    """At once, where the time is that of a stage; in a simulation the run ends."""

    def push(t: float) -> Any:
        return np.where(np.arange(ROWS)[:, None] == 1, np.nan if t > 0.0205 else 1.0, PUSH)

    arm = case_of("arm")
    for kernels in ("on", "off"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TAUFORGE_KERNELS", kernels)
            runs = arm.runs(disturbance=push)
            assert runs.finite.tolist() == [True, False, True]
            assert runs.reasons == {1: "the disturbance returned a non-finite wrench"}
            assert np.isnan(runs.position[1]).any(axis=-1).argmax() == 6
            with pytest.raises(tf.DivergenceError, match=r"returned a non-finite wrench at t = 0\.021 s") as caught:
                arm.run(0, disturbance=lambda t: push(t)[1])
            assert caught.value.recording.time[-1] == pytest.approx(0.020)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (3.0, "disturbance: expected a callable of the time, got 3.0"),
        (lambda t: np.zeros(3), r"disturbance: expected \(6,\), a force and a moment, or \(3, 6\), got array"),
        (lambda t: np.zeros((2, 6)), r"disturbance: expected \(6,\), a force and a moment, or \(3, 6\), got array"),
        (lambda t, q, qd: np.zeros(5), r"disturbance: expected \(6,\), a force and a moment, or \(3, 6\), got array"),
    ],
)
def test_what_does_not_fit_is_said(given: Any, match: str) -> None:
    with pytest.raises(tf.TauforgeError, match=match):
        case_of("arm").runs(disturbance=given)


def test_there_are_no_gradients_through_disturbances() -> None:
    arm = case_of("arm")
    law = ComputedTorque(arm.robot)
    with pytest.raises(tf.UnsupportedFeatureError, match="no gradients through sensors and disturbances"):
        tf.differentiable_rollout(arm.robot, law, arm.move, control_period=0.01, disturbance=lambda t: np.zeros(6))


@pytest.mark.parametrize("period", [None, 0.01])
def test_a_push_is_not_asked_for_after_the_end(period: float | None) -> None:
    def table(t: float) -> Any:
        assert t <= 0.05 + 1e-12
        return np.ones(6)

    arm = tf.load("planar-2r")
    law, move = tf.control.ComputedTorque(arm), tf.motion.JointMove([0, 0], [0.1, 0.1], duration=0.05)
    run = tf.simulate(arm, law, move, control_period=period, disturbance=table)
    assert run.stepped_by == "machine code"
    assert run.time[-1] == pytest.approx(0.05)
