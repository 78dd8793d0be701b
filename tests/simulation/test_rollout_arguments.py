"""What rollouts take as simulations do: each row equals `simulate`, and steps by methods."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.rollout_cases import NAMES, ROWS, SAME, Case, assert_the_same, case_of
from support.tolerances import error

pytestmark = pytest.mark.usefixtures("kernels_on")


@pytest.fixture(scope="module", params=["arm", "platform", "five-bar"])
def case(request: Any) -> Case:
    return case_of(request.param)


def test_forces_have_limits_of_each_row(case: Case) -> None:
    free = case.runs()
    most = 0.7 * np.abs(free.force).max(axis=1)
    runs = assert_the_same(case, lambda k: {"force_limits": most[k]}, force_limits=most)
    assert (np.abs(runs.force) <= most[:, None]).all()
    assert (np.abs(runs.force) == most[:, None]).any(axis=1).all()
    assert np.array_equal(runs.clipped, np.abs(runs.force) == most[:, None])
    assert free.clipped is None
    assert_the_same(case, force_limits=float(most.min()))


def test_infinite_limits_are_none(case: Case) -> None:
    """They must not leave rows to methods, as what is not finite does; "robot" gives them where a robot has none."""
    free = case.runs()
    runs = case.runs(force_limits=np.inf)
    assert runs.stepped_by == free.stepped_by
    assert np.array_equal(runs.position, free.position)
    assert not runs.clipped.any()


def test_nobody_senses_or_delays_where_there_is_no_law() -> None:
    """A motion that runs away is left to methods, which take over what the loop remembers."""
    arm = tf.load("planar-2r")
    run = {
        "initial": ([0, 0], [0, 0]),
        "duration": 1.0,
        "control_period": 0.01,
        "disturbance": lambda t: np.full(6, 1e12),
    }
    with pytest.raises(tf.DivergenceError, match="the motion ran away"):
        tf.simulate(arm, **run, sensors=tf.Sensors(bits=16, delay=0.01), delay=0.01)


def test_a_recording_is_of_a_robot(case: Case) -> None:
    with pytest.raises(tf.ModelError, match="robot: expected a robot"):
        case.runs().recording(0, "puma560")


def test_simulations_take_forces_and_a_payload(case: Case) -> None:
    """Beside those of a law, and alone: the period of the run is then theirs."""
    rng, m = np.random.default_rng(2), len(case.robot.actuators)
    more, masses = rng.normal(size=(ROWS, 13, m)), np.array([0.05, 0.1, 0.2])
    loops = case.robot.positions.size > case.robot.n  # whose fields vary in kernels alone
    held = {} if loops else {"payload": tf.Payload(masses)}

    def row(k: int) -> dict[str, Any]:
        return {"forces": more[k]} | ({} if loops else {"payload": tf.Payload(masses[k])})

    assert_the_same(case, row, forces=more, **held)
    alone = {"forces": more[0], "control_period": 4e-3, "step": 2e-3, "initial": case.alone(0)}
    one, runs = tf.simulate(case.robot, **alone), tf.rollout(case.robot, **alone)
    assert one.stepped_by.startswith("machine code")
    assert one.time[-1] == runs.time[-1] == pytest.approx(0.052)
    assert error(one.position[::2], runs.position[0]) < SAME
    with pytest.raises(tf.ShapeError, match=r"forces: expected \(periods, \d\), got \(3, 13, \d\)"):
        case.run(0, forces=more)
    with pytest.raises(tf.ShapeError, match="payload: expected one Payload, got"):
        case.run(0, payload=tf.Payload(masses))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"force_limits": np.ones((2, 2))}, r"force_limits: expected one number >= 0, or 3, or \(N, 3\), got array"),
        ({"force_limits": [1.0, -1.0, 1.0]}, r"force_limits: expected one number >= 0, or 3, or \(N, 3\)"),
        ({"force_limits": "mine"}, "force_limits: expected 3 numbers, 'robot' or None, got 'mine'"),
        ({"force_limits": np.ones((2, 3))}, "expected arrays with the same leading N, got 3 of initial"),
    ],
)
def test_what_does_not_fit_is_said(given: Any, match: str) -> None:
    with pytest.raises(tf.TauforgeError, match=match):
        case_of("arm").runs(**given)


def test_records_are_counted_in_control_instants(case: Case) -> None:
    """In simulations as in rollouts; a simulation of which nothing is said keeps every step."""
    one, runs = case.run(0, record_every=3), case.runs(record_every=3)
    assert np.array_equal(one.time, runs.time)
    assert error(one.position, runs.position[0]) < SAME
    every = case.run(0, record_every=None)
    assert np.allclose(np.diff(every.time), 2e-3)
    assert np.array_equal(every.position[::6], one.position[: len(every.time[::6])])


def test_an_actuator_of_limit_zero_gives_no_force(case: Case) -> None:
    m = len(case.robot.actuators)
    limits = np.where(np.arange(m) == 0, 0.0, 0.5)
    runs = assert_the_same(case, force_limits=limits)
    assert not runs.force[..., 0].any()
    assert runs.clipped[:, 1:, 0].all()
    if m > 1:
        assert np.abs(runs.force[..., 1:]).max() == 0.5


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


def test_rollouts_travel_without_the_users_functions() -> None:
    case = case_of("arm")
    runs = case.runs(disturbance=lambda t: np.array([t, 0, 0, 0, 0, 0]))
    back = pickle.loads(pickle.dumps(runs))
    assert np.array_equal(back.position, runs.position)
    assert back.task is None
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
