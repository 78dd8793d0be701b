"""A robot of each kind under a law, to compare rollouts with simulations, compiled and by methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.mechanisms import five_bar
from support.strategies import random_arm
from support.tolerances import error
from tauforge.control import ComputedTorque
from tauforge.motion import PoseMotion

HOME = np.array([0, 0, 1.0, 0.1, -0.05, 0.2])
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
        given = {"initial": self.alone(row), "record_every": 1, **SCHEDULE, **options}
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
    robot: Any
    if kind == "arm":
        arm = random_arm(np.random.default_rng(3), "RPR", drives=True)
        robot, start, gains = arm.replace(coulomb_speed=0.5), np.zeros(3), (90.0, 15.0)
    elif kind == "platform":
        robot, start, gains = tf.load("motion-rig"), HOME, (400.0, 40.0)
    else:
        robot, start, gains = five_bar(), np.array([0.1, -0.2]), (900.0, 60.0)
    move: Any = tf.motion.JointMove(start, start + 0.1, 0.05)
    move = PoseMotion(move) if kind == "platform" else move
    n = len(start)
    initial = start + 0.02 * rng.normal(size=(ROWS, n)), 0.1 * rng.normal(size=(ROWS, n))
    return Case(robot, Integrating(robot, *gains), move, initial)


def assert_the_same(case: Case, row_options: Callable[[int], dict[str, Any]] = lambda _: {}, **options: Any) -> Any:
    """Each row is that of `simulate`, compiled or not; row_options: what `simulate` takes in place of the rollout's"""

    def row(k: int) -> Any:
        return case.run(k, **{**options, **row_options(k)})

    runs = case.runs(**options)
    assert runs.stepped_by.startswith("machine code")
    for k in range(ROWS):
        one = row(k)
        assert one.stepped_by.startswith("machine code")
        for name in NAMES:
            assert error(getattr(runs, name)[k], getattr(one, name)) < SAME, (k, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "off")
        by_methods, one = case.runs(**options), row(0)
        assert by_methods.stepped_by.startswith("methods: ")
        assert one.stepped_by.startswith("methods: ")
    for name in NAMES:
        assert error(getattr(by_methods, name), getattr(runs, name)) < SAME, name
        assert error(getattr(one, name), getattr(runs, name)[0]) < SAME, name
    return runs
