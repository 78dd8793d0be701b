"""The viewer at work, without a browser: the clock, many messages at once, and what changes what."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

import tauforge as tf
from tauforge.viewer.session import Session

pytest.importorskip("viser")

PATIENCE = 60.0  # s, on a busy machine


@pytest.fixture
def session() -> Iterator[Session]:
    move = tf.motion.JointMove([0, 0], [1, 1], duration=5.0)
    with tf.view(tf.load("planar-2r"), {"move": move}, port=0) as viewer:
        yield viewer.session


def wait_until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.005)


def settle(session: Session) -> None:
    """Until nothing is left to show."""
    wait_until(lambda: not session._asked and not session._woken.is_set())
    time.sleep(0.05)


def test_time_that_passed_before_playing_does_not_count(session: Session) -> None:
    time.sleep(0.7)
    begun = time.perf_counter()
    session.play(True)
    time.sleep(0.2)
    session.play(False)
    assert 0.0 < session.clock.time <= time.perf_counter() - begun


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
    """The clock keeps to the time that passes, and what is asked takes no pictures from what is played."""

    def played(until: float, ask: Callable[[], None]) -> int:
        session.go(0.0)
        settle(session)
        before, begun = session.updates, time.perf_counter()
        session.play(True)
        while session.clock.time < until:
            ask()
            time.sleep(0.02)
        session.play(False)
        passed = time.perf_counter() - begun
        assert session.clock.time <= passed
        return (session.updates - before) * (passed / 2 < session.clock.time)

    def loaded() -> None:
        session.load(payload=float(np.random.default_rng().uniform()))

    # of three, for another job may take the processor from one of them
    assert any(played(1.0, loaded) > played(1.0, lambda: None) / 2 > 0 for _ in range(3))


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
    large = session._scale.largest["N m"]
    session.rest(home=True)
    settle(session)
    assert session._scale.largest["N m"] < large


def dragged(session: Session, place: np.ndarray, phase: str = "update") -> None:
    """As viser tells of a hand on the handle."""
    target = SimpleNamespace(position=place, wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
    asyncio.run(session.gizmo._moved(SimpleNamespace(phase=phase, target=target)))


def test_the_handle_waits_for_the_hand_and_then_goes_back(session: Session) -> None:
    """The tool follows as far as it can. A tab that closes while it drags never says that it let go."""
    session.rest(home=True)
    settle(session)
    before = session.state.position
    far = np.array([0.0, 50.0, 0.0])
    dragged(session, far)
    assert session.gizmo.patience is not None
    settle(session)
    assert not np.array_equal(session.state.position, before)
    wait_until(lambda: session.gizmo.patience is None)
    settle(session)
    tool = session.robot.forward_kinematics(session.state.position)[:3, 3]
    np.testing.assert_allclose(session.gizmo._controls.position, tool, atol=1e-9)
    dragged(session, tool + [0.0, 0.01, 0.0])
    dragged(session, tool, phase="end")
    settle(session)
    assert session.gizmo.patience is None


def test_only_the_newest_pose_of_the_handle_is_followed(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inverse kinematics takes a while without kernels: viser's thread must not wait for it."""
    followed: list[float] = []
    threads: set[str] = set()
    all_sent = threading.Event()

    def slow(pose: np.ndarray, near: np.ndarray) -> np.ndarray:
        followed.append(float(pose[0, 3]))
        threads.add(threading.current_thread().name)
        assert all_sent.wait(PATIENCE), "a message waits for the answer to one before"
        return np.array([pose[0, 3], 0.0])

    settle(session)
    monkeypatch.setattr(type(session.robot.moved_body), "towards", lambda self, pose, near: slow(pose, near))
    for x in np.linspace(0.1, 0.5, 20):
        dragged(session, np.array([x, 0.0, 0.0]))
    assert len(followed) <= 1
    all_sent.set()
    settle(session)
    assert session.state.position[0] == 0.5
    assert followed[-1] == 0.5
    assert len(followed) <= 2  # the one that was under way, and the newest
    assert threads == {"tauforge viewer"}


def test_a_pose_that_cannot_be_followed_changes_nothing(session: Session) -> None:
    before = session.state.position
    session.drag(np.full((4, 4), np.nan))
    settle(session)
    np.testing.assert_array_equal(session.state.position, before)


def test_no_reactions_are_left_from_before_a_singular_pose() -> None:
    platform = tf.load("dasgupta1998")
    with tf.view(platform, port=0) as viewer:
        session = viewer.session
        session.show(session._shown._replace(reactions=True))
        wait_until(lambda: session.scene._reactions is not None)  # their kernels may have to be made
        settle(session)
        assert session.scene._reactions.visible
        session.scene.move(
            platform.drawing(platform.positions.default), np.zeros(6), np.zeros((6, 3)), None, reactions=()
        )
        assert not session.scene._reactions.visible
