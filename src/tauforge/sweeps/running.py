"""Runs a sweep: what is missing in the store is computed, on this process's threads or on a Dask cluster."""

from __future__ import annotations

import errno
import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tauforge.errors import ModelError, SweepError
from tauforge.field_docs import with_field_docs
from tauforge.kernels.cpu.threads import get_threads
from tauforge.sweeps.advice import GO_ON
from tauforge.sweeps.grid import Index, grid_of
from tauforge.sweeps.on_threads import blocks_on_threads
from tauforge.sweeps.opening import opened_store
from tauforge.sweeps.progress_bar import progress_bar
from tauforge.sweeps.study import Study
from tauforge.sweeps.verifying import damaged_blocks

if TYPE_CHECKING:
    from distributed import Client


@with_field_docs
class Outcome(NamedTuple):
    """What became of a sweep.

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
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise ModelError(f"expected a whole number >= 1, got {threads!r}", field="threads")
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
                    from tauforge.sweeps.on_cluster import blocks_on_cluster

                    blocks_on_cluster(client, study, made, missing, finished)
            if lost := [index for index in missing if not made.is_done(index)]:
                raise SweepError(f"{len(lost)} blocks were computed and are not there", store=path, remedy=GO_ON)
    except OSError as error:
        raise _stopped(path, error) from error
    seconds = time.perf_counter() - started
    return Outcome(path, grid.points, grid.blocks, computed, len(damaged), seconds, points / seconds)


def _stopped(path: Path, error: OSError) -> SweepError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SweepError("the disk is full", store=path, remedy=f"Make room. {GO_ON}")
    return SweepError(f"the sweep stopped: {error}", store=path, remedy=GO_ON)
