"""Clusters: one of worker processes on this machine, or one that runs already."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
    if fault := _fault_of(scheduler):
        raise ModelError(
            f"no scheduler answers: {fault}",
            field=scheduler,
            remedy="Start one (dask scheduler), or correct the address",
        )
    with Client(scheduler, timeout=PATIENCE, set_as_default=False) as client:
        yield client


def _fault_of(address: str) -> str:
    """Why there is no scheduler at an address; "" where one answers.

    A Client that meets something else, such as a page of the web, hangs or takes its first bytes for a length.
    """
    if not address.strip():
        return "the address is empty"  # Dask would start a cluster of its own
    try:
        # in a thread, because a notebook's own has an event loop already
        with ThreadPoolExecutor(1) as pool:
            kind = pool.submit(lambda: asyncio.run(asyncio.wait_for(_kind_of_server(address), PATIENCE))).result()
    except TimeoutError:
        return f"nothing is heard within {PATIENCE:g} s"
    except (OSError, ValueError) as error:
        return str(error)
    except Exception:  # whatever Dask makes of bytes that are not its own
        return "what is there does not speak Dask's language"
    return "" if kind == "Scheduler" else f"a {kind} is there"


async def _kind_of_server(address: str) -> str:
    """Such as "Scheduler", or "Worker" where an address of one is given by mistake."""
    from distributed.comm.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=PATIENCE, **Security().get_connection_args("client"))
    try:
        await comm.write({"op": "identity", "reply": True})
        return str((await comm.read())["type"])
    finally:
        comm.abort()
