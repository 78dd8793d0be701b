"""Runs a sweep: what is missing in the store is computed, on this process's threads or on a Dask cluster.

Kernels release Python's lock while they compute.
"""

from __future__ import annotations

import errno
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError, SweepError
from tauforge.kernels.cpu.threads import get_threads
from tauforge.sweeps.grid import Index, grid_of
from tauforge.sweeps.opening import opened_store
from tauforge.sweeps.store import GO_ON, Store, compute_block, damaged_blocks
from tauforge.sweeps.study import Study
from tauforge.units import number
from tauforge.validation import whole

if TYPE_CHECKING:
    from distributed import Client


RATE_OVER = 10.0  # s, over which the rate is averaged


@with_field_docs
class Outcome(NamedTuple):
    """Result of a run of a sweep.

    store:    its path
    points:   of the grid
    blocks:   of the grid
    computed: blocks that were computed now; the others were there
    damaged:  blocks among them that were there and could not be read; 0 unless they were looked for
    seconds:  that this took
    rate:     points computed in a second
    """

    store: Path
    points: int
    blocks: int
    computed: int
    damaged: int
    seconds: float
    rate: float


def run(
    study: Study,
    store: str | os.PathLike[str],
    *,
    client: Client | None = None,
    threads: int | None = None,
    progress: bool = False,
    restart: bool = False,
    verify: bool = False,
    command: str | None = None,
) -> Outcome:
    """Computes a study over its grid into a Zarr store, which xarray reads: all of it, or what is missing.

    store:    path of a folder, by convention NAME.zarr: a new one, or one that the same study began
    client:   a dask.distributed Client: its workers compute and write, and must see the same path. Default: this
              process and its threads
    threads:  of this process; default as `tf.get_threads`
    progress: whether to show a bar on the terminal
    restart:  remove a sweep that is there and begin anew, whatever was asked of it
    verify:   read what is there first, and compute again what is damaged
    command:  how the sweep was asked for, for the store's attributes

    Identity: the bytes of all results are the same on threads, on a cluster, and in runs that were interrupted and
    continued, as often as they were. ModelError for a path that is something else, or a store of another sweep (robot,
    grid, options, versions, vector width); SweepError where it cannot go on.
    """
    if threads is not None:
        threads = whole(threads, "threads")
    if threads is not None and client is not None:
        raise ModelError("the workers of the client compute, not threads", field="threads", remedy="Give one of both")
    path = Path(os.path.realpath(store))
    largest_core = max(math.prod(result.core_shape) for result in study.results)
    grid = grid_of([len(axis) for axis in study.axes], study.block_points, largest_core)
    started = time.perf_counter()
    try:
        with opened_store(path, study, grid, command=command, restart=restart) as made:
            damaged = damaged_blocks(made) if verify else []
            for index in damaged:
                made.forget(index)
            missing = [index for index in made.indices() if not made.is_done(index)]
            there = grid.points - sum(math.prod(grid.lengths(index)) for index in missing)
            computed = points = 0
            with progress_bar(study.name, grid.points, there, shown=progress) as advance:

                def finished(index: Index) -> None:
                    nonlocal computed, points
                    new = math.prod(grid.lengths(index))
                    computed, points = computed + 1, points + new
                    advance(new)

                if client is None:
                    blocks_on_threads(study, made, missing, threads or get_threads(), finished)
                else:
                    from tauforge.sweeps.cluster import blocks_on_cluster

                    blocks_on_cluster(client, study, made, missing, finished)
            if lost := [index for index in missing if not made.is_done(index)]:
                raise SweepError(f"{len(lost)} blocks were computed and are not there", store=path, remedy=GO_ON)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SweepError("the disk is full", store=path, remedy=f"Make room. {GO_ON}") from error
        raise SweepError(f"the sweep stopped: {error}", store=path, remedy=GO_ON) from error
    seconds = time.perf_counter() - started
    return Outcome(path, grid.points, grid.blocks, computed, len(damaged), seconds, points / seconds)


def blocks_on_threads(
    study: Study, store: Store, indices: Iterable[Index], threads: int, finished: Callable[[Index], None]
) -> None:
    """Computes the blocks, one at a time on every thread, so that memory does not grow with their number.

    After an error or an interrupt no further block begins, and those in hand are finished first.
    """
    stopped = threading.Event()

    def work(index: Index) -> Index | None:
        if stopped.is_set():
            return None
        compute_block(study, store, index)
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


@contextmanager
def progress_bar(label: str, total: int, done: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Shows progress; call what it gives with the points of every finished block. Without a terminal it says nothing.

    total, done: points of the grid, and of the blocks that were there already
    shown:       whether to say anything
    """
    if not shown or not sys.stderr.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        yield lambda _: None
        return
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            return Text(f"{number(task.speed, 3)} points/s" if task.speed else "")

    name = progress.TextColumn("{task.description}", markup=False)
    share = (progress.BarColumn(), progress.TaskProgressColumn(), Rate())
    times = (progress.TimeElapsedColumn(), progress.TextColumn("left"), progress.TimeRemainingColumn())
    with progress.Progress(
        name, *share, *times, console=Console(stderr=True), transient=True, speed_estimate_period=RATE_OVER
    ) as line:
        task = line.add_task(label, total=total, completed=done)
        yield lambda points: line.advance(task, points)
