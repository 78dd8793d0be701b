"""Clusters: one of worker processes on this machine, or one that runs already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tauforge.errors import ModelError
from tauforge.sweeps.extra import sweeps_extra

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 5.0  # s, for an answer of a scheduler
LOOPBACK = "127.0.0.1"
FAILURES = 10  # deaths of workers that Dask allows a block, which is seldom their cause


@contextmanager
def local_workers(count: int) -> Iterator[Client]:
    """A client of this many worker processes with one thread each. They listen on this machine alone."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ModelError(f"expected a whole number >= 1, got {count!r}", field="workers")
    with sweeps_extra():
        import dask
        from distributed import Client, LocalCluster
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": FAILURES}),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            dashboard_address=None,
            # Dask serves its state over HTTP even so: at any free port of this machine, and nothing but that
            scheduler_kwargs={"dashboard_address": f"{LOOPBACK}:0"},
            memory_limit=None,  # blocks are small; a worker that pauses or restarts would be no help
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def connected(scheduler: str) -> Iterator[Client]:
    """A client of a cluster that runs. scheduler: its address, such as "tcp://10.0.0.5:8786"."""
    with sweeps_extra():
        from distributed import Client
    try:
        if not scheduler.strip():  # Dask would start a cluster of its own
            raise ValueError("the address is empty")
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ModelError(
            f"no scheduler answers: {error}",
            field=scheduler,
            remedy="Start one (dask scheduler), or correct the address",
        ) from None
    with client:
        yield client
