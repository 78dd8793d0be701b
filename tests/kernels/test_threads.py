"""Shares of a batch on several threads: each once, errors said, nobody waits for a pool that others hold."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest

import tauforge as tf
from tauforge.kernels.cpu import threads


@pytest.fixture(autouse=True)
def two_threads():
    threads.set_threads(2)
    yield
    threads.set_threads(None)


@pytest.mark.parametrize(("shares", "workers"), [(1, 2), (2, 2), (37, 2), (16, 5), (3, 1)])
def test_every_share_is_done_once(shares, workers):
    done: list[int] = []
    threads.in_turn(done.append, shares, workers)
    assert sorted(done) == list(range(shares))


def test_the_calling_thread_works_too_and_so_does_another():
    both = threading.Barrier(2, timeout=30)  # passed only if two threads are at work at once
    names = set()

    def share(k: int) -> None:
        both.wait()
        names.add(threading.current_thread().name)

    threads.in_turn(share, 2, 2)
    assert len(names) == 2
    assert threading.current_thread().name in names


@pytest.mark.parametrize("here", [True, False])
def test_an_error_of_any_worker_stops_all_and_is_raised(here):
    """The other one ends the share it is at, and takes none after it has seen the error."""
    both = threading.Barrier(2, timeout=30)
    others: list[int] = []

    def share(k: int) -> None:
        if k < 2:
            both.wait()
        if k < 2 and (threading.current_thread() is threading.main_thread()) == here:
            raise FloatingPointError("share")
        time.sleep(0.02)
        others.append(k)

    with pytest.raises(FloatingPointError, match="share"):
        threads.in_turn(share, 1000, 2)
    ended = len(others)
    assert 1 <= ended < 100  # not a thousand; on a busy machine the error is seen late
    time.sleep(0.1)
    assert len(others) == ended  # and nobody goes on behind the caller's back


@pytest.fixture
def interruptible():
    """A job in the background ignores Ctrl-C, and Python then leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interruption_stops_all(interruptible):
    """Ctrl-C while the caller waits for the others' last share: it is raised once that has ended."""
    waiting = threading.Event()
    ended: list[int] = []

    def share(k: int) -> None:
        if threading.current_thread() is threading.main_thread():
            waiting.wait(30)
            return
        waiting.set()
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # who has nothing left to do but wait
        time.sleep(0.1)
        ended.append(k)

    with pytest.raises(KeyboardInterrupt):
        threads.in_turn(share, 2, 2)
    assert len(ended) == 1


def test_a_busy_pool_is_not_waited_for():
    """Two threads of somebody else hold the pool; the caller then does all by itself, and nothing is done later."""
    release = threading.Event()
    held = [threads.pool(2).submit(release.wait, 60) for _ in range(2)]
    done: list[int] = []
    try:
        threads.in_turn(done.append, 9, 2)
        assert done == list(range(9))
        assert not any(future.done() for future in held)
    finally:
        release.set()
        wait(held)
    threads.pool(2).submit(int).result(30)  # behind the helper that came too late
    assert done == list(range(9))


def test_no_thread_to_be_had_but_its_task_is_queued(monkeypatch):
    """An executor that cannot start a thread raises with the task in its queue; whoever runs it is waited for."""
    at_work, release = threading.Event(), threading.Event()
    pool = threads.pool(2)
    blocked = pool.submit(release.wait, 60)  # one thread, held until the refused task lies in the queue
    done: list[int] = []

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    def share(k: int) -> None:
        if threading.current_thread() is threading.main_thread():
            release.set()
            at_work.wait(30)
        else:
            at_work.set()
            time.sleep(0.1)
        done.append(k)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        threads.in_turn(share, 2, 2)
    assert sorted(done) == [0, 1]
    assert blocked.result(30)


@pytest.mark.usefixtures("kernels_on")
@pytest.mark.parametrize("over", ["raise", "ignore"])
@pytest.mark.parametrize("row", [3, 150_000, 299_990])
def test_the_callers_errstate_holds_for_every_share(over, row):
    """A result that float32 cannot hold, wherever its row is."""
    arm = tf.load("planar-2r")
    q = np.zeros((300_000, 2))
    qdd = np.zeros_like(q)
    qdd[row] = 1e300
    out = np.empty(q.shape, np.float32)
    kernel = arm.kernel("inverse_dynamics")
    with np.errstate(over=over), warnings.catch_warnings():
        warnings.simplefilter("error")
        if over == "raise":
            with pytest.raises(FloatingPointError, match="overflow"):
                kernel(q, q, qdd, out=out)
        else:
            kernel(q, q, qdd, out=out)
            assert np.isinf(out[row]).any()


@pytest.mark.usefixtures("kernels_on")
def test_no_row_is_forgotten_between_shares():
    arm = tf.load("planar-2r")
    state = np.random.default_rng(0).normal(size=(3, 300_007, 2))
    expected = arm.kernel("inverse_dynamics").ufunc(*state)
    assert np.array_equal(arm.kernel("inverse_dynamics")(*state), expected)


def test_a_caller_may_keep_its_batches_on_its_own_thread(monkeypatch):
    """And no other caller's batches."""
    monkeypatch.setattr(threads, "_count", 3)
    with threads.on_this_thread():
        assert threads.get_threads() == 1
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(threads.get_threads).result() == 3
    assert threads.get_threads() == 3
