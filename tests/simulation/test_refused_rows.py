"""Rows of a rollout whose law the kernels refuse, or that has no answer: each goes on, or ends, as by `simulate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.mechanisms import five_bar
from support.strategies import random_arm
from support.tolerances import error

pytestmark = pytest.mark.usefixtures("kernels_on")
PERIOD = 2e-3  # s
FIVE_BAR = five_bar()
ROWS = np.array([0.1, -0.2]) + 0.05 * np.random.default_rng(0).normal(size=(4, 2))
REST = tf.motion.JointMove([0.1, -0.2], [0.1, -0.2], 0.5)
PASSED = 1e-8  # what rounding becomes in a passage near a singular position; the forces there are large
NOISE: dict[str, Any] = {"position_noise": 1e-5, "velocity_noise": 1e-4, "delay": PERIOD}


class Floating(tf.control.Controller):
    """Half of the weight, and an integral: near singular positions only the robot's own methods know the weight."""

    traceable, memory = True, ("total",)

    def __init__(self, gain: float = 0.01) -> None:
        self.robot, self.total, self.gain = FIVE_BAR, np.zeros(2), gain

    def weight(self, position: Any, velocity: Any) -> Any:
        return 0.5 * self.robot.inverse_dynamics(position, 0 * velocity, 0 * velocity)

    def force(self, t: float, position: Any, velocity: Any, target: Any) -> Any:
        return self.weight(position, velocity) + self.total - 0.1 * velocity

    def update(self, t: float, position: Any, velocity: Any, target: Any, force: Any) -> Mapping[str, Any]:
        error = target.position - self.robot.positions.coordinates(position)
        return {"total": 0.99 * self.total + self.gain * error + 1e-3 * force}


class Remembering(Floating):
    """The weight of the instant before, which is part of the memory alone."""

    def force(self, t: float, position: Any, velocity: Any, target: Any) -> Any:
        return self.total - 0.1 * velocity

    def update(self, t: float, position: Any, velocity: Any, target: Any, force: Any) -> Mapping[str, Any]:
        return {"total": self.weight(position, velocity)}


def assert_each_is_simulated(runs: Any, one: Any, known: float) -> list[float]:
    """The times at which rows end. one: simulates a row"""
    ends = []
    for k, position in enumerate(runs.position):
        try:
            alone = one(k)
        except tf.DivergenceError as ended:
            alone = ended.recording
        until = len(alone.time[::2])
        whole = until == len(runs.time)
        assert runs.finite[k] == whole
        assert np.isnan(position[until:]).all()
        assert error(position[:until], alone.position[::2]) < known
        force = runs.force[k, :until] if whole else runs.force[k, : until - 1]
        assert np.abs(force - alone.force[::2][: len(force)]).max() < known * np.abs(force).max()
        if not whole:
            assert np.isnan(runs.force[k, until - 1 :]).all()
            assert k in runs.reasons
        ends.append(float(alone.time[-1]))
    return ends


@pytest.mark.parametrize("law", [Floating, Remembering])
@pytest.mark.parametrize("given", ["sensors", "late", "gains"])
def test_the_memory_of_refused_rows_goes_on(law: type[Floating], given: str) -> None:
    """The cranks of the five-bar lose control on the way, and some rows see positions where its loops do not close."""
    options: dict[str, Any] = {"duration": 0.33, "step": 1e-3, "control_period": PERIOD}
    options |= {"delay": 2 * PERIOD, "force_limits": 4.0} if given == "late" else {}
    gains = 0.005 * np.arange(4)

    def sensed(row: int) -> dict[str, Any]:
        return {"sensors": tf.Sensors(**NOISE, seed=3 + row)}

    def one(k: int) -> Any:
        own = law(gains[k]) if given == "gains" else law()
        return tf.simulate(FIVE_BAR, own, REST, initial=(ROWS[k], np.zeros(2)), **options, **sensed(k))

    varied = {"gains": {"gain": gains}} if given == "gains" else {}
    runs = tf.rollout(FIVE_BAR, law(), REST, initial=(ROWS, np.zeros(2)), **options, **sensed(0), **varied)
    assert "steps by methods" in runs.stepped_by
    assert_each_is_simulated(runs, one, PASSED)


ARM = random_arm(np.random.default_rng(0), "RP")
MOVE = tf.motion.JointMove([0, 0], [0.5, -0.2], 0.1)
START = np.array([[0.1, 0.0], [-0.1, 0.05], [0.02, -0.03]])


class Root(tf.control.Controller):
    """It divides, and has an answer only as long as the first coordinate is below 0.2."""

    traceable, memory = True, ("before",)

    def __init__(self) -> None:
        self.before = np.zeros(2)

    def force(self, t: float, position: Any, velocity: Any, target: Any) -> Any:
        first = np.sqrt(0.2 - position[..., :1])
        return 9.0 * (target.position - position) + 1e-3 / first + 0.1 * self.before

    def update(self, t: float, position: Any, velocity: Any, target: Any, force: Any) -> Mapping[str, Any]:
        return {"before": velocity}


class Raising(Root):
    """It says so, and cannot be traced."""

    def force(self, t: float, position: Any, velocity: Any, target: Any) -> Any:
        if np.any(position[..., 0] > 0.2):
            raise tf.ConvergenceError("too far", residual=np.inf, iterations=0)
        return super().force(t, position, velocity, target)


@pytest.mark.parametrize("kernels", ["on", "off"])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("law", [Root, Raising])
def test_a_row_without_an_answer_ends_at_once(monkeypatch: Any, law: Any, late: bool, kernels: str) -> None:
    """Also where the answer would act later; the other rows go on with their memory."""
    monkeypatch.setenv("TAUFORGE_KERNELS", kernels)
    options: dict[str, Any] = {"step": 5e-3, "control_period": 0.01, "duration": 0.4}
    options |= {"delay": 0.03, "sensors": tf.Sensors(delay=0.02)} if late else {}
    start = START, np.array([1.0, 0.0])

    def one(k: int) -> Any:
        return tf.simulate(ARM, law(), MOVE, initial=(START[k], start[1]), **options)

    runs = tf.rollout(ARM, law(), MOVE, initial=start, **options)
    assert runs.stepped_by.startswith("machine code" if law is Root and kernels == "on" else "methods")
    ends = assert_each_is_simulated(runs, one, 1e-12)
    assert len(set(ends)) == 3
