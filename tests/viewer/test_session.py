"""The viewer at work, without a browser: the clock, many messages at once, and what changes what."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import tauforge as tf
from tauforge.viewer.session import FRAME, Session

pytest.importorskip("viser")


@pytest.fixture
def session() -> Iterator[Session]:
    move = tf.motion.JointMove([0, 0], [1, 1], duration=5.0)
    with tf.view(tf.load("planar-2r"), {"move": move}, port=0) as viewer:
        yield viewer.session


def settle(session: Session) -> None:
    """Until nothing is left to show."""
    end = time.monotonic() + 10
    while session._asked or session._woken.is_set():
        assert time.monotonic() < end
        time.sleep(0.005)
    time.sleep(0.05)


def test_time_that_passed_before_playing_does_not_count(session: Session) -> None:
    time.sleep(0.7)
    session.play(True)
    time.sleep(0.2)
    session.play(False)
    assert 0.0 < session.clock.time < 0.6


def test_a_slider_ends_the_playing(session: Session) -> None:
    session.play(True)
    time.sleep(0.2)
    session.change("position", 0, 0.7)
    settle(session)
    assert not session.clock.playing
    assert session.state.position[0] == 0.7
    session.go(5.0)
    settle(session)
    np.testing.assert_allclose(session.state.position, [1, 1])


def test_pictures_come_in_time_while_others_ask_for_things(session: Session) -> None:
    session.play(True)
    before, start = session.updates, time.perf_counter()
    while time.perf_counter() - start < 1.0:
        session.load(payload=float(np.random.default_rng().uniform()))
        time.sleep(0.02)
    session.play(False)
    assert session.updates - before > 0.5 / FRAME
    assert session.clock.time == pytest.approx(1.0, abs=0.5)


def test_a_flood_of_messages_costs_few_answers(session: Session) -> None:
    settle(session)
    before = session.updates

    def flood(k: int) -> None:
        for value in np.linspace(0, 1, 500):
            session.change("position", k, float(value))

    threads = [threading.Thread(target=flood, args=(k,)) for k in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settle(session)
    assert session.updates - before < 500
    np.testing.assert_array_equal(session.state.position, [1, 1])
    assert len(session.answer_times) >= 500


def test_arrows_are_scaled_anew_after_a_large_force(session: Session) -> None:
    session.change("acceleration", 0, 10.0)
    settle(session)
    large = session._largest["N m"]
    session.rest(home=True)
    settle(session)
    assert session._largest["N m"] < large
