"""Shares of a batch on several threads: each once, errors said, nobody waits for a pool that others hold."""

from __future__ import annotations

import threading
from concurrent.futures import wait

import pytest

from tauforge.kernels import threads


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
def test_an_error_of_any_worker_is_raised_after_all_have_stopped(here):
    both = threading.Barrier(2, timeout=30)
    finished = []

    def share(k: int) -> None:
        both.wait()
        if (threading.current_thread() is threading.main_thread()) == here:
            raise FloatingPointError("share")
        finished.append(k)

    with pytest.raises(FloatingPointError, match="share"):
        threads.in_turn(share, 2, 2)
    assert len(finished) == 1


def test_a_busy_pool_is_not_waited_for():
    """Two threads of somebody else hold the pool; the caller then does all by itself."""
    release = threading.Event()
    held = [threads.pool(2).submit(release.wait, 60) for _ in range(2)]
    try:
        done: list[int] = []
        threads.in_turn(done.append, 9, 2)
        assert done == list(range(9))
        assert not any(future.done() for future in held)
    finally:
        release.set()
        wait(held)
