"""The native time loop: the same kernels called from Python, step by step; other blocks, threads and interruptions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.kernel_steps import assert_equal_to_the_last_bit
from support.mechanisms import five_bar
from support.strategies import random_arm
from support.tolerances import SAME_STEPS
from tauforge.control import PD, ComputedTorque, FeedforwardPD, GravityPD
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.cpu import time_loop
from tauforge.kernels.cpu.engine import VECTOR_BITS, host
from tauforge.simulation import compiled_loop
from tauforge.simulation.compiled_loop import CompiledLoop
from tauforge.simulation.rollout_task import rollout_task
from tauforge.simulation.task import RolloutTask

pytestmark = pytest.mark.usefixtures("kernels_on")
WIDTHS = [str(bits) for bits in (128, 256, 512) if bits <= host().vector_bits]
ARM = random_arm(np.random.default_rng(3), "RPR", drives=True).replace(coulomb_speed=0.5)
CART, FIVE_BAR = CartPendulum(), five_bar()
ROBOTS = {"arm": ARM, "cart": CART, "five-bar": FIVE_BAR, "platform": tf.load("motion-rig")}
LAWS: dict[str, Any] = {
    "none": lambda robot: None,
    "computed torque": lambda robot: ComputedTorque(robot, 90.0, 15.0),
    "pd": lambda robot: PD(robot, 60.0, 8.0),
    "gravity": lambda robot: GravityPD(robot, 60.0, 8.0),
    "feedforward": lambda robot: FeedforwardPD(robot, 60.0, 8.0),
}
PAIRS = [("arm", law) for law in LAWS] + [("cart", "pd"), ("five-bar", "computed torque"), ("five-bar", "none")]
FIRST = [(WIDTHS[-1], *pair) for pair in PAIRS] + [(width, *PAIRS[k]) for width in WIDTHS[:-1] for k in (1, -2)]
BY_ANOTHER_TEXT = 1e-11  # accelerations of a mechanism, whose loops are closed to 1e-13 of its size


def coordinates(robot: Any) -> Any:
    return robot.positions.coordinates(robot.positions.default)


def task_of(robot: Any, law: Any, rows: int, **options: Any) -> RolloutTask:
    rng, q = np.random.default_rng(4), coordinates(robot)
    move = tf.motion.JointMove(q, q + 0.1, 0.2)
    start = q + 0.02 * rng.normal(size=(rows, robot.n)), 0.1 * rng.normal(size=(rows, robot.n))
    given = {"duration": 0.06, "step": 5e-3, "control_period": 0.01, "initial": start}
    return rollout_task(robot, law, move, **{**given, **options})


@pytest.mark.parametrize(("width", "robot", "law"), FIRST)
def test_it_equals_its_kernels_called_from_python(monkeypatch: Any, width: str, robot: str, law: str) -> None:
    """Also with blocks that are not full."""
    monkeypatch.setenv(VECTOR_BITS, width)
    assert_equal_to_the_last_bit(task_of(ROBOTS[robot], LAWS[law](ROBOTS[robot]), 11))


@pytest.mark.parametrize(("rows", "shared"), [(1, False), (17, False), (16, True)])
def test_whatever_rows_have_of_their_own(rows: int, shared: bool) -> None:
    rng, n = np.random.default_rng(5), ARM.n
    lead = () if shared else (rows,)
    task = task_of(
        ARM,
        PD(ARM, 60.0, 8.0),
        rows,
        gains={"kp": 60.0 * np.eye(n) + rng.normal(size=(*lead, n, n))},
        varying={"mass": rng.uniform(1.0, 2.0, (*lead, n)), "gravity": rng.normal(size=3)},
        payload=tf.Payload(rng.uniform(1.0, 2.0, lead), (0.1, 0.0, 0.05), np.eye(3) * 0.01),
        forces=rng.normal(size=(*lead, 6, n)),
        record_every=4,
    )
    assert_equal_to_the_last_bit(task)


def test_parts_of_a_run_and_threads_change_nothing(monkeypatch: Any) -> None:
    """Progress is told after each part, and the keyboard can interrupt there."""
    law, given = ComputedTorque(ARM, 90.0, 15.0), np.random.default_rng(6).normal(size=(300, 6, 3))
    task = task_of(ARM, law, 300, forces=given)
    whole = CompiledLoop(task, task.formulas()).records(range(7), lambda _: None)
    monkeypatch.setattr(compiled_loop, "STEPS_AT_ONCE", 1200)  # two periods of two steps
    monkeypatch.setattr(time_loop, "SMALLEST_SHARE", 64)
    shares: list[float] = []
    for threads in (1, 3):
        tf.set_threads(threads)
        try:
            parts = CompiledLoop(task, task.formulas()).records(range(7), shares.append)
        finally:
            tf.set_threads(None)
        for mine, right in zip(parts, whole, strict=True):
            assert np.array_equal(mine, right)
    assert shares == [1 / 3, 2 / 3, 1.0] * 2

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CompiledLoop(task, task.formulas()).records(range(7), interrupt)


@pytest.mark.parametrize("rows", [3, 9])
def test_rows_that_are_not_finite_leave_the_others_alone(rows: int) -> None:
    """A row that has no state stays without one; the last one fills the rest of its block."""
    task = task_of(ARM, PD(ARM, 60.0, 8.0), rows)
    good = tf.rollout(ARM, task.controller, task.motion, initial=(task.position, task.velocity), **SCHEDULE)
    position = task.position.copy()
    position[[0, -1], 1] = np.nan
    runs = tf.rollout(ARM, task.controller, task.motion, initial=(position, task.velocity), **SCHEDULE)
    assert runs.finite.tolist() == [False, *[True] * (rows - 2), False]
    for name in ("position", "velocity", "force"):
        assert np.array_equal(getattr(runs, name)[1:-1], getattr(good, name)[1:-1]), name


SCHEDULE: dict[str, Any] = {"duration": 0.06, "step": 5e-3, "control_period": 0.01}


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("period", [None, 1e-3, 4e-3])
@pytest.mark.parametrize(
    ("robot", "law"),
    [("arm", "computed torque"), ("cart", "pd"), ("five-bar", "gravity"), ("platform", "computed torque")],
)
def test_simulations_are_those_by_methods(
    monkeypatch: Any, robot: str, law: str, period: float | None, limited: bool
) -> None:
    """1,000 steps, with a law that is asked continuously or now and then, and forces that reach their limits.

    The laws pull to one motion, so that errors of rounding do not grow. Seen: 1e-13.
    """
    machine = ROBOTS[robot]
    q = coordinates(machine)
    move, controller = tf.motion.JointMove(q, q + 0.2, 0.8), LAWS[law](machine)
    if machine.positions.pose:
        move = tf.motion.PoseMotion(tf.motion.JointMove(q, q + 0.05, 0.8))
    options: dict[str, Any] = {"duration": 1.0, "step": 1e-3, "control_period": period}
    if limited:
        free = tf.simulate(machine, controller, move, **options)
        options["force_limits"] = 0.8 * np.abs(free.force).max(axis=0) + 1e-3
    mine = tf.simulate(machine, controller, move, record_every=3, **options)
    monkeypatch.setattr(import_module("tauforge.simulation.simulate"), "compiled_loop", lambda *x, **more: "as a test")
    theirs = tf.simulate(machine, controller, move, record_every=3, **options)
    assert mine.stepped_by.startswith("machine code")  # one step of Newton's may leave the five-bar open
    assert theirs.stepped_by == "methods: as a test"
    assert np.array_equal(mine.time, theirs.time)
    for name in ("position", "velocity", "acceleration", "force"):
        a, b = getattr(mine, name), getattr(theirs, name)
        allowed = BY_ANOTHER_TEXT if name == "acceleration" else SAME_STEPS
        assert np.abs(a - b).max() < allowed * np.abs(b).max(), name
    assert [event[1:4] for event in mine.events] == [event[1:4] for event in theirs.events]
    assert bool(mine.events) == limited
    assert np.allclose([e.time for e in mine.events], [e.time for e in theirs.events], rtol=0, atol=1e-12)


def test_the_reason_for_steps_by_methods(monkeypatch: Any) -> None:
    move, law = tf.motion.JointMove(np.zeros(3), np.full(3, 0.1), 0.01), PD(ARM, 60.0, 8.0)

    class Same(PD):
        pass

    class Own(PD):
        traceable = False

    def stepped_by(controller: Any, motion: Any = move, **options: Any) -> str:
        return tf.simulate(ARM, controller, motion, control_period=1e-3, **options).stepped_by

    assert stepped_by(law) == "machine code"
    start = {"initial": np.zeros((2, 3)), "duration": 0.01}
    assert stepped_by(None, None, **start) == "machine code"
    assert stepped_by(lambda t, q, qd: -q, None, **start) == "methods: the controller is a callable"
    assert stepped_by(law, disturbance=lambda t: np.zeros(6)) == "machine code"
    assert stepped_by(law, sensors=tf.simulation.Sensors(bits=12)) == "machine code"
    assert stepped_by(law, method="dormand-prince") == "methods: the method dormand-prince calls Python"
    assert stepped_by(Same(ARM, 60.0, 8.0)) == "machine code"
    ours = "methods: Own does not say traceable = True"
    assert stepped_by(Own(ARM, 60.0, 8.0)) == ours
    runs = tf.rollout(ARM, Own(ARM, 60.0, 8.0), move, control_period=1e-3)
    assert runs.stepped_by == ours
    assert tf.rollout(ARM, law, move, control_period=1e-3).stepped_by == "machine code"
    monkeypatch.setattr(compiled_loop, "kernels_allowed", lambda: False)
    assert stepped_by(law) == "methods: kernels are switched off"

    def refused(*_: Any) -> Any:
        raise NoKernelError("law has 40001 operations")

    monkeypatch.setattr(compiled_loop, "kernels_allowed", lambda: True)
    monkeypatch.setattr(compiled_loop, "block_kernel", refused)
    assert stepped_by(law) == "methods: law has 40001 operations"


def test_steps_that_methods_make_in_between() -> None:
    """The cranks of a falling five-bar lose control on the way, where other coordinates take their place."""
    options: dict[str, Any] = {"initial": ([0.1, -0.2], np.zeros(2)), "duration": 0.5, "step": 1e-3}
    one = tf.simulate(FIVE_BAR, **options, control_period=1e-3)
    runs = tf.rollout(FIVE_BAR, **options, control_period=1e-3)
    for text in (one.stepped_by, runs.stepped_by):
        words = text.split()
        assert words[:2] == ["machine", "code;"]
        assert words[3:] == ["steps", "by", "methods"]
        assert 0 < int(words[2]) < 250
    assert (
        np.abs(runs.position[0] - one.position).max() < 1e-10
    )  # half a second of free fall doubles rounding ten times
