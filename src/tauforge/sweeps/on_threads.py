"""Blocks on the threads of this process; kernels release Python's lock while they compute."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from tauforge.sweeps.grid import Index
from tauforge.sweeps.one_block import do_block
from tauforge.sweeps.store import Store
from tauforge.sweeps.study import Study


def blocks_on_threads(
    study: Study, store: Store, indices: Iterable[Index], threads: int, finished: Callable[[Index], None]
) -> None:
    """Does the blocks, one at a time on every thread, so that memory does not grow with their number.

    After an error or an interrupt no further block begins, and those in hand are finished first.
    """
    stopped = threading.Event()

    def work(index: Index) -> Index | None:
        if stopped.is_set():
            return None
        do_block(study, store, index)
        return index

    remaining, running = iter(indices), set[Future[Index | None]]()
    with ThreadPoolExecutor(threads, thread_name_prefix="tauforge-sweep") as pool:
        try:
            while True:
                while len(running) < threads and (index := next(remaining, None)) is not None:
                    running.add(pool.submit(work, index))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    if (index := future.result()) is not None:
                        finished(index)
        finally:
            stopped.set()
