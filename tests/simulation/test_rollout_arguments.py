"""What rollouts take as simulations do: each row equals `simulate`, and steps by methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.mechanisms import five_bar
from support.platforms import HOME, random_platform
from support.strategies import random_arm
from support.tolerances import error
from tauforge.control import ComputedTorque
from tauforge.motion import PoseMotion

pytestmark = pytest.mark.usefixtures("kernels_on")

SAME = 1e-10  # the same steps by another order of operations; loops are closed to 1e-13
ROWS = 3
SCHEDULE: dict[str, Any] = {"step": 2e-3, "control_period": 4e-3}
NAMES = ("position", "velocity", "force")


@dataclass
class Case:
    """A robot, a law and a motion, and starts (N, n) beside it."""

    robot: Any
    law: Any
    move: Any
    initial: tuple[Any, Any]

    def alone(self, row: int) -> tuple[Any, Any]:
        return self.initial[0][row], self.initial[1][row]

    def runs(self, **options: Any) -> Any:
        return tf.rollout(self.robot, self.law, self.move, initial=self.initial, **SCHEDULE, **options)

    def run(self, row: int, **options: Any) -> Any:
        every = 2  # rows of `simulate` are steps
        given = {"initial": self.alone(row), "record_every": every, **SCHEDULE, **options}
        return tf.simulate(self.robot, self.law, self.move, **given)


class Integrating(ComputedTorque):
    """Remembers what the actuators gave."""

    traceable, memory = True, ("given",)

    def __init__(self, robot: Any, kp: float, kv: float) -> None:
        super().__init__(robot, kp, kv)
        self.given = np.zeros(len(robot.actuators))

    def force(self, t: float, position: Any, velocity: Any, target: Any) -> Any:
        return super().force(t, position, velocity, target) + 0.1 * self.given

    def update(self, t: float, position: Any, velocity: Any, target: Any, force: Any) -> Any:
        return {"given": 0.5 * self.given + 0.5 * force}


def case_of(kind: str) -> Case:
    rng = np.random.default_rng(8)
    if kind == "arm":
        robot, start, gains = random_arm(np.random.default_rng(3), "RPR", drives=True), np.zeros(3), (90.0, 15.0)
        robot = robot.replace(coulomb_speed=0.5)
    elif kind == "platform":
        robot, start, gains = random_platform(np.random.default_rng(1)), HOME, (400.0, 40.0)
    else:
        robot, start, gains = five_bar(), np.array([0.1, -0.2]), (900.0, 60.0)
    move: Any = tf.motion.JointMove(start, start + 0.1, 0.05)
    move = PoseMotion(move) if kind == "platform" else move
    n = len(start)
    initial = start + 0.02 * rng.normal(size=(ROWS, n)), 0.1 * rng.normal(size=(ROWS, n))
    return Case(robot, Integrating(robot, *gains), move, initial)


@pytest.fixture(scope="module", params=["arm", "platform", "five-bar"])
def case(request: Any) -> Case:
    return case_of(request.param)


def assert_the_same(case: Case, monkeypatch: Any, rows: dict[str, Any], **options: Any) -> Any:
    """Each row is that of `simulate`, compiled or not; rows: options that differ from row to row."""
    runs = case.runs(**options, **rows)
    assert runs.stepped_by.startswith("machine code")
    for k in range(ROWS):
        one = case.run(k, **options, **{name: value[k] for name, value in rows.items()})
        assert one.stepped_by.startswith("machine code")
        for name in NAMES:
            assert error(getattr(runs, name)[k], getattr(one, name)) < SAME, (k, name)
    with monkeypatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "off")
        by_methods, one = case.runs(**options, **rows), case.run(0, **options, **{n: x[0] for n, x in rows.items()})
        assert by_methods.stepped_by == one.stepped_by == "methods: kernels are switched off"
    for name in NAMES:
        assert error(getattr(by_methods, name), getattr(runs, name)) < SAME, name
        assert error(getattr(one, name), getattr(runs, name)[0]) < SAME, name
    return runs


def test_forces_have_limits_of_each_row(case: Case, monkeypatch: Any) -> None:
    free = case.runs()
    most = 0.7 * np.abs(free.force).max(axis=1)
    runs = assert_the_same(case, monkeypatch, {"force_limits": most})
    assert (np.abs(runs.force) <= most[:, None]).all()
    assert (np.abs(runs.force) == most[:, None]).any(axis=1).all()
    assert np.array_equal(runs.clipped, np.abs(runs.force) == most[:, None])
    assert free.clipped is None
    assert_the_same(case, monkeypatch, {}, force_limits=float(most.min()))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"force_limits": np.ones((2, 2))}, r"force_limits: expected one number > 0, or 3, or \(N, 3\), got array"),
        ({"force_limits": [1.0, 0.0, 1.0]}, r"force_limits: expected one number > 0, or 3, or \(N, 3\)"),
        ({"force_limits": "mine"}, "force_limits: expected 3 numbers, 'robot' or None, got 'mine'"),
        ({"force_limits": np.ones((2, 3))}, "expected arrays with the same leading N, got 3 of initial"),
    ],
)
def test_what_does_not_fit_is_said(given: Any, match: str) -> None:
    with pytest.raises(tf.TauforgeError, match=match):
        case_of("arm").runs(**given)
