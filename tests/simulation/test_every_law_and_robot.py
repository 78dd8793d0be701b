"""Every law on every robot of the catalogue: the native time loop equals its kernels called from Python, bit by bit."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import in_turn
from support.kernel_steps import assert_equal_to_the_last_bit
from tauforge.control import (
    PD,
    ComputedTorque,
    Controller,
    FeedforwardPD,
    GravityPD,
    LegSpaceComputedTorque,
    ResolvedRate,
)
from tauforge.control.traceable_robot import why_not_compiled
from tauforge.kernels.backends import NoKernelError
from tauforge.simulation.compiled_loop import CompiledLoop
from tauforge.simulation.rollout_task import rollout_task

pytestmark = pytest.mark.usefixtures("kernels_on")
MASSLESS = ("dietmaier", "mathworks-hexapod")
ROWS = 11  # blocks of 2, 4 and 8 rows that are not full
TIMES: dict[str, Any] = {"duration": 4e-4, "step": 5e-5, "control_period": 1e-4}  # the governor has rates of 3e4 / s


class Remembering(PD):
    """Of a user: with a memory, the time, and a choice between values."""

    memory = ("integral",)

    def __init__(self, robot: Any, kp: float, kv: float) -> None:
        super().__init__(robot, kp, kv)
        self.integral = np.zeros(len(robot.actuators))

    def force(self, t: float, position: Any, velocity: Any, target: Any) -> Any:
        wanted = super().force(t, position, velocity, target) + self.integral * np.cos(3 * t)
        return np.where(np.abs(wanted) > 1.0, wanted, wanted**3)

    def update(self, t: float, position: Any, velocity: Any, target: Any, force: Any) -> Any:
        return {"integral": 0.9 * self.integral + 0.1 * force}


LAWS: tuple[Any, ...] = (ComputedTorque, PD, GravityPD, FeedforwardPD, Remembering)
BY_METHODS: tuple[Any, ...] = (LegSpaceComputedTorque, ResolvedRate)


def laws_of(robot: Any) -> list[Controller | None]:
    """None, and those that the robot can have. Gains are those of masses on soft springs."""
    found: list[Controller | None] = [None]
    inertia = np.diag(robot.mass_matrix(robot.positions.default)).min()
    for kind in (*LAWS, *BY_METHODS):
        with suppress(tf.ModelError):
            found.append(kind(robot, 100.0 * inertia, 10.0 * inertia) if issubclass(kind, PD) else kind(robot))
    assert len(found) > 1 or not robot.actuators
    return found


@pytest.mark.parametrize("name", in_turn([name for name in tf.catalogue() if name not in MASSLESS]))
def test_it_equals_its_kernels_called_from_python(name: str) -> None:
    """Laws that are not compiled say why."""
    robot = tf.load(name)
    if robot.dissipation is not None and robot.dissipation.jumps:
        robot = robot.dissipation.smoothed(0.1)
    rng, n = np.random.default_rng(4), robot.n
    q = robot.positions.coordinates(robot.positions.default)
    move: Any = tf.motion.JointMove(q, q + 0.01, 0.05)
    if robot.positions.pose:
        move = tf.motion.PoseMotion(move)
    start = q + 1e-3 * rng.normal(size=(ROWS, n)), 1e-2 * rng.normal(size=(ROWS, n))
    for law in laws_of(robot):
        if isinstance(law, BY_METHODS):
            assert why_not_compiled(law, robot) == f"{type(law).__name__} does not say traceable = True"
            continue
        task = rollout_task(robot, law, move, initial=start, **TIMES)
        if isinstance(law, FeedforwardPD) and robot.positions.size > n:
            with pytest.raises(NoKernelError, match=f"a law closes loops of {robot.name}"):
                CompiledLoop(task, task.formulas())
        else:
            assert_equal_to_the_last_bit(task)
