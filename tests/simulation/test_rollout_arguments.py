"""What rollouts take as simulations do: each row equals `simulate`, and steps by methods."""

from __future__ import annotations

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

pytestmark = pytest.mark.usefixtures("kernels_on")

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
        robot, start, gains = tf.load("motion-rig"), HOME, (400.0, 40.0)
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


def test_a_row_is_a_recording(case: Case) -> None:
    """As by `simulate`, with events that can be seen from its rows."""
    most = 0.7 * np.abs(case.runs().force).max(axis=(0, 1))
    masses = {} if case.robot.positions.size > case.robot.n else {"payload": tf.Payload(np.array([0.1, 0.2, 0.3]))}
    runs = case.runs(force_limits=most, **masses)
    for k in (0, -1):
        got = runs.recording(k)
        plant = case.robot.carrying(tf.Payload(masses["payload"].mass[k])) if masses else case.robot
        one = case.run(k % ROWS, force_limits=most, plant=plant)
        for name in ("time", "position", "velocity", "force", "target_position", "target_velocity"):
            assert error(getattr(got, name), getattr(one, name)) < SAME, name
        assert error(got.acceleration, one.acceleration) < 1e3 * SAME
        for name in ("names", "units", "force_names", "force_units", "columns", "wrapped", "coordinates", "robot"):
            assert getattr(got, name) == getattr(one, name), name
        clipped = {event.which for event in one.events if event.what == "force limit"}
        assert {event.which for event in got.events if event.what == "force limit"} == clipped != set()


def test_rollouts_in_files(case: Case, tmp_path: Any) -> None:
    runs = case.runs(force_limits=1.0)
    runs.save(tmp_path / "runs.npz")
    back = tf.Rollout.load(tmp_path / "runs.npz")
    for name in (*NAMES, "time", "target_position", "target_velocity", "clipped", "places"):
        assert np.array_equal(getattr(back, name), getattr(runs, name)), name
    assert back.reasons == runs.reasons == {}
    with pytest.raises(tf.ModelError, match=r"robot: the robot is not kept on a GPU and in files\. Give the"):
        back.recording(1)
    assert back.recording(1, case.robot) == runs.recording(1)


def test_a_row_that_is_lost_says_why(tmp_path: Any) -> None:
    arm = tf.load("planar-2r")
    starts = np.zeros((3, 2)), np.array([[0.0, 0.0], [9e8, 0.0], [0.0, 0.0]])
    starts[0][2] = np.nan
    runs = tf.rollout(arm, initial=starts, forces=np.full((10, 2), 1e9), control_period=0.01)
    lost = runs.recording(1)
    assert 1 <= len(lost.time) < len(runs.time)
    assert lost.events[-1][1:3] == ("stopped", runs.reasons[1])
    with pytest.raises(tf.ModelError, match="row: row 2 has no state: "):
        runs.recording(2)
    with pytest.raises(tf.ShapeError, match="row: expected the number of one of 3 rows, got 3"):
        runs.recording(3)
    with pytest.raises(tf.ModelError, match=r"unknown suffix '\.csv'. Use .npz"):
        runs.save(tmp_path / "runs.csv")
    runs.save(tmp_path / "runs.npz")
    assert tf.Rollout.load(tmp_path / "runs.npz").reasons == runs.reasons


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"force": np.zeros((2, 3, 2))}, r"force: not a valid recording: expected shape \(3, 11, 2\), got \(2, 3, 2\)"),
        (
            {"position": np.zeros((11, 2))},
            r"position: not a valid recording: expected rows of runs over time, got \(11",
        ),
        ({"velocity": np.zeros((3, 11, 2), int)}, "velocity: not a valid recording: the type is int64"),
        ({"time": np.zeros(11)}, "time: not a valid recording: times must increase"),
        ({"target_position": None}, "target_position: not a valid recording: the array is missing"),
    ],
)
def test_files_that_are_no_rollouts(tmp_path: Any, changed: dict[str, Any], match: str) -> None:
    runs = tf.rollout(tf.load("planar-2r"), initial=(np.zeros((3, 2)), np.zeros(2)), duration=0.1, control_period=0.01)
    runs.save(tmp_path / "runs.npz")
    with np.load(tmp_path / "runs.npz") as file:
        arrays = {name: x for name, x in {**file, **changed}.items() if x is not None}
    np.savez(tmp_path / "changed.npz", **arrays)
    with pytest.raises(tf.ModelError, match=match):
        tf.Rollout.load(tmp_path / "changed.npz")
    with pytest.raises(tf.ModelError, match="load takes max_bytes="):
        tf.Rollout.load(tmp_path / "changed.npz", max_bytes=100)
