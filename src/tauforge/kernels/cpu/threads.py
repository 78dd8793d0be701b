"""Large batches on all cores. The loops release the GIL, so plain threads are sufficient."""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any

import numpy as np

from tauforge import settings

SMALLEST_SHARE = 16_384  # the fewest rows for which waking a thread pays
SHARES = 8  # for each thread: if one is delayed, the others take its shares
_count: int | None = None
_alone: ContextVar[bool] = ContextVar("_alone", default=False)
_pool: ThreadPoolExecutor | None = None


def set_threads(count: int | None) -> None:
    """Set how many threads a large batch uses, the calling one included; None: one per core (or TAUFORGE_THREADS)."""
    global _count
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ValueError(f"count: expected a whole number >= 1 or None, got {count!r}")
    _count = count
    _forget_pool()


@contextmanager
def on_this_thread() -> Iterator[None]:
    """Batches in the block run on the calling thread alone, for callers who keep every core busy themselves."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def get_threads() -> int:
    if _alone.get():
        return 1
    wanted = settings.threads() if _count is None else _count
    if wanted is not None:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _forget_pool() -> None:
    """After a fork the threads of the pool are gone."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def pool(count: int) -> ThreadPoolExecutor:
    global _pool
    found = _pool  # another thread may forget it meanwhile
    if found is None or found._max_workers != count:
        found = _pool = ThreadPoolExecutor(count, thread_name_prefix="tauforge")
    return found


def call(
    ufunc: np.ufunc,
    arguments: Sequence[np.ndarray],
    cores: Sequence[int],
    results: Sequence[tuple[int, ...]],
    out: Any = None,
) -> Any:
    """Call the ufunc; if the batch is large enough, over shares of the first axis, which the threads take in turn.

    cores: number of core dimensions of each argument.
    """
    shape, given = arguments[0].shape, {} if out is None else {"out": out}
    alike = all(a.shape == shape for a in arguments)
    if alike and math.prod(shape[: len(shape) - max(cores)]) < 2 * SMALLEST_SHARE:
        return ufunc(*arguments, **given)
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - c] for a, c in zip(arguments, cores, strict=True)))
    rows = math.prod(batch)
    workers = min(get_threads(), rows // SMALLEST_SHARE, batch[0] if batch else 0)
    if workers < 2 or any(type(a) is not np.ndarray for a in arguments):
        return ufunc(*arguments, **given)
    if out is None:
        single = all(a.dtype == np.float32 for a in arguments)
        outs = tuple(np.empty(batch + core, np.float32 if single else np.float64) for core in results)
    else:
        outs = out if isinstance(out, tuple) else (out,)
        fits = len(outs) == len(results) and all(
            type(o) is np.ndarray and o.shape == batch + core for o, core in zip(outs, results, strict=True)
        )
        # NumPy orders overlapping reads and writes, which threads cannot, and it judges `out` of another type or shape
        if not fits or any(np.may_share_memory(o, a) for o in outs for a in arguments):
            return ufunc(*arguments, out=out)
    whole = [np.broadcast_to(a, batch + a.shape[a.ndim - c :]) for a, c in zip(arguments, cores, strict=True)]
    shares = min(rows // SMALLEST_SHARE, SHARES * workers, batch[0])

    def share(k: int) -> None:
        part = slice(batch[0] * k // shares, batch[0] * (k + 1) // shares)
        ufunc(*(a[part] for a in whole), out=tuple(o[part] for o in outs))

    in_turn(share, shares, workers)
    return outs if len(outs) > 1 else outs[0]


def in_turn(share: Callable[[int], None], shares: int, workers: int) -> None:
    """share(0), share(1), ...: every worker takes the next one as soon as it is free.

    The calling thread is one of the workers. It starts at once, while the others wake up, and a share costs no message
    between threads. After an error, or an interruption from the keyboard, no worker takes another share, and all have
    stopped when this returns or raises.
    """
    shared = SharedWork(share, shares)
    try:
        for _ in range(workers - 1):
            # the caller's own settings, such as NumPy's errstate, hold for the helpers too
            pool(get_threads()).submit(copy_context().run, shared.help)
    except RuntimeError:  # no threads are available: at the end of the interpreter, or because there are too many
        pass
    except BaseException:
        shared.stop()
        raise
    shared.work()


class SharedWork:
    """The shares of one call, and the number of helpers at work on them.

    Helpers are counted when they begin and when they end, because the pool does not tell reliably: it may be busy with
    other calls, and if it cannot start a thread, it has queued the task nevertheless. A helper that starts when the
    call is over finds no share left.
    """

    def __init__(self, share: Callable[[int], None], shares: int) -> None:
        self._share, self._shares = share, shares
        self._following = itertools.count().__next__
        self._failed: list[BaseException] = []
        self._helpers = 0
        self._changed = threading.Condition()

    def work(self) -> None:
        """Called by the caller; returns when all shares are done."""
        try:
            self._take()
            self._wait()
        except BaseException:
            self.stop()
            raise
        if self._failed:
            raise self._failed[0]

    def help(self) -> None:
        with self._changed:
            self._helpers += 1
        try:
            self._take()
        except BaseException as error:  # the caller raises it
            self._failed.append(error)
        finally:
            with self._changed:
                self._helpers -= 1
                self._changed.notify_all()

    def stop(self) -> None:
        """Let nobody take a further share."""
        self._shares = 0
        self._wait()

    def _take(self) -> None:
        while not self._failed and (k := self._following()) < self._shares:
            self._share(k)

    def _wait(self) -> None:
        """Wait for the helpers, because they write into the caller's arrays."""
        with self._changed:
            self._changed.wait_for(lambda: not self._helpers)
