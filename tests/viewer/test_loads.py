"""Payload, gravity and formulation: what is played, charted and saved follows them; a recording has its own forces."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from tauforge.units import number
from tauforge.viewer.evaluation import Evaluation, State
from tauforge.viewer.playback_panel import file_of
from tauforge.viewer.session import Session

pytest.importorskip("viser")
PATIENCE = 60.0  # s, on a busy machine
MOVE = tf.motion.JointMove([0, 0], [1, 1], duration=1.0)
MOON = 1.62  # m/s^2


def becomes(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def run_of(arm: tf.SerialArm) -> tf.Recording:
    return tf.simulate(arm, tf.control.ComputedTorque(arm), MOVE, initial=([0.1, 0], [0, 0]), step=0.01)


@pytest.fixture
def session() -> Iterator[Session]:
    arm = tf.load("planar-2r")
    with tf.view(arm, {"move": MOVE, "run": run_of(arm)}, port=0) as viewer:
        yield viewer.session


def loaded_forces(arm: tf.SerialArm, times: Any) -> np.ndarray:
    """By another way: the arm in another gravity with a payload."""
    down = np.array(arm.gravity) / np.linalg.norm(arm.gravity)
    moon = arm.replace(gravity=tuple(MOON * down))
    return moon.inverse_dynamics(*MOVE.sample(times), payload=tf.Payload(2.0))


def test_charts_and_files_of_a_motion_follow_the_loads(session: Session) -> None:
    session.load(payload=2.0, gravity=MOON)
    clip = session.clip
    assert clip is not None
    expected = loaded_forces(session.robot, clip.frames.times)
    tolerance = 1e-9 * np.abs(expected).max()
    np.testing.assert_allclose(clip.frames.force, expected, rtol=0, atol=tolerance)

    def charted() -> bool:
        if not session.playback._charts:  # they are being made again
            return False
        (chart, node), *_ = session.playback._charts
        return chart.curves.shape == expected.T.shape and np.allclose(
            node.data[1:-1], expected.T, rtol=0, atol=tolerance
        )

    assert becomes(charted)
    header, *rows = csv.reader(io.StringIO(file_of(session, "csv").decode()))
    columns = [k for k, name in enumerate(header) if name.startswith("tau")]
    saved = np.array(rows, float)[:, columns]
    np.testing.assert_allclose(saved, expected, rtol=0, atol=tolerance)
    session.reset_loads()
    np.testing.assert_array_equal(
        session.clip.frames.force, session.robot.inverse_dynamics(*MOVE.sample(clip.frames.times))
    )


def test_films_of_a_motion_follow_the_loads(session: Session) -> None:
    session.load(payload=2.0, gravity=MOON)
    page = file_of(session, "html").decode()
    title = re.search("<title>(.*?)</title>", page)
    assert title is not None
    assert title[1] == "planar-2r: payload 2 kg, gravity 1.62 m/s²"
    largest = np.abs(loaded_forces(session.robot, np.linspace(0, 1, 31))).max()
    assert largest == pytest.approx(largest_on(page), rel=1e-4)
    session.reset_loads()
    alone = file_of(session, "html").decode()
    assert "payload" not in alone
    own = np.abs(session.robot.inverse_dynamics(*MOVE.sample(np.linspace(0, 1, 31)))).max()
    assert largest_on(alone) == pytest.approx(own, rel=1e-4)
    assert own != pytest.approx(largest, rel=0.1)


def largest_on(page: str) -> float:
    """The largest force of all actuators that a page of `tf.animate` has."""
    data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)[1])  # type: ignore[index]
    return max(float(actuator["largest"]) for actuator in data["actuators"])


def test_a_recording_keeps_its_forces_and_is_without_the_chosen_loads() -> None:
    arm = tf.load("planar-2r")
    recorded = run_of(arm)
    with tf.view(arm, {"run": recorded}, port=0) as viewer:
        other = viewer.session
        other.load(payload=2.0, gravity=MOON)
        other.go(0.5)
        clip = other.clip
        assert clip is not None
        k = clip.frame_at(0.5)
        np.testing.assert_allclose(
            clip.frames.force[:, 1], np.interp(clip.frames.times, recorded.time, recorded.force[:, 1])
        )
        _, potential = other.robot.energy(clip.frames.position[k], clip.frames.velocity[k])
        shown = f">{number(float(potential), 5)} J<"
        assert becomes(lambda: shown in other.panel.readings.content)
        assert "Forces as recorded" in other.panel.readings.content
        assert b"payload" not in file_of(other, "html")
        other.change("position", 0, 0.2)  # the sliders decide again, and the loads count
        assert becomes(lambda: "Forces as recorded" not in other.panel.readings.content)
        loaded = other.evaluation.read(other.state).energy
        assert loaded is not None
        assert becomes(lambda: f">{number(loaded[1], 5)} J<" in other.panel.readings.content)


def test_reset_moves_the_controls_back(session: Session) -> None:
    panel, start = session.panel, session.evaluation.start()
    session.load(payload=2.0, gravity=MOON, formulation="newton-euler")
    session.rest()
    assert becomes(lambda: panel.payload.value == 2.0 and panel.formulation.value == "newton-euler")
    session.rest(home=True)
    assert session.state.payload == 2.0  # going home is not unloading
    session.reset_loads()
    assert session.state.loads == start.loads
    assert becomes(lambda: (panel.payload.value, panel.gravity.value) == (0.0, 9.81))
    assert panel.formulation.value == session.robot.formulations.default


@pytest.mark.parametrize("name", ["puma560", "motion-rig"])
def test_rows_of_forces_are_those_of_single_states(name: str) -> None:
    robot = tf.load(name)
    evaluation = Evaluation(robot)
    state = evaluation.start()._replace(payload=1.5, gravity=3.0, formulation=evaluation.formulations[-1])
    rows = state.position + np.linspace(-0.05, 0.05, 4)[:, None]
    still = np.zeros_like(rows)
    found = evaluation.forces_along(state)(rows, still, still)
    for row, forces in zip(rows, found, strict=True):
        expected = evaluation.read(state._replace(position=row)).forces
        np.testing.assert_allclose(forces, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def test_what_the_loads_are_called() -> None:
    evaluation = Evaluation(tf.load("dasgupta1998"))
    start = evaluation.start()
    assert evaluation.loads_text(start) == ""
    assert evaluation.loads_text(start._replace(formulation="exact")) == ""
    other = start._replace(payload=0.5, gravity=0.0, formulation="massless-legs")
    assert evaluation.loads_text(other) == "payload 0.5 kg, gravity 0 m/s², massless-legs"
    assert evaluation.unloaded(other) == start


def test_the_first_payload_finds_its_kernels_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[State] = []
    evaluation = Evaluation(tf.load("planar-2r"))
    monkeypatch.setattr(evaluation, "read", asked.append)
    evaluation.warm_up(lambda: True)
    loads = {(state.payload > 0, state.gravity != evaluation.gravity) for state in asked}
    assert loads == {(True, False), (False, True), (True, True)}
    asked.clear()
    evaluation.warm_up(lambda: False)
    assert asked == []
