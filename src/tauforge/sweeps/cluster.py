"""Clusters: one of worker processes on this machine, or one that runs already, and blocks of a sweep on their workers.

Dask decides where, and does the blocks of a lost worker elsewhere.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tauforge.errors import ModelError, SweepError
from tauforge.sweeps.fingerprint import differences, environment
from tauforge.sweeps.grid import Index
from tauforge.sweeps.store import GO_ON, Store, compute_block, sweeps_extra
from tauforge.sweeps.study import Study
from tauforge.validation import whole

if TYPE_CHECKING:
    from distributed import Client, Future


PATIENCE = 5.0  # s, for an answer of a scheduler
LOOPBACK = "127.0.0.1"
FAILURES = 10  # deaths of workers that Dask allows a block, which is seldom their cause
WINDOW = 4  # blocks for each thread that Dask knows of at a time: enough to keep it busy, however many there are
RETRIES = 2  # of a block that raises an OSError or another passing fault
LOSSES = 2  # times that a block is given to Dask again after it gave up, because workers died over it


@contextmanager
def local_workers(count: int) -> Iterator[Client]:
    """A client of this many worker processes with one thread each. They listen on this machine alone."""
    count = whole(count, "workers")
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
        remedy = "Start one (dask scheduler), or correct the address"
        raise ModelError(f"no scheduler answers: {fault}", field=scheduler, remedy=remedy)
    with Client(scheduler, timeout=PATIENCE, set_as_default=False) as client:
        yield client


def _fault_of(address: str) -> str:
    """Reason for which there is no scheduler at an address; "" where one answers.

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
    """Kind of a server, such as "Scheduler", or "Worker" where an address of one is given by mistake."""
    from distributed.comm.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=PATIENCE, **Security().get_connection_args("client"))
    try:
        await comm.write({"op": "identity", "reply": True})
        return str((await comm.read())["type"])
    finally:
        comm.abort()


def blocks_on_cluster(
    client: Client, study: Study, store: Store, indices: Iterable[Index], finished: Callable[[Index], None]
) -> None:
    """Computes the blocks on the client's workers. SweepError before any work if they cannot give the same results."""
    with sweeps_extra():
        import cloudpickle
        from distributed import KilledWorker, as_completed
    check_workers(client, store.path)
    pickled, own = cloudpickle.dumps(study), secrets.token_hex(4)
    remaining, losses = iter(indices), dict[Index, int]()
    running = dict[Any, Index]()

    def submit(index: Index) -> Future[Any]:
        name = f"tauforge-sweep-{own}-{'-'.join(map(str, index))}-{losses.get(index, 0)}"
        future = client.submit(compute_pickled, pickled, str(store.path), index, key=name, pure=False, retries=RETRIES)
        running[future] = index
        return future

    window = WINDOW * max(1, sum(client.nthreads().values()))
    first = [submit(index) for index in islice(remaining, window)]
    try:
        completed = as_completed(first)
        for future in completed:
            index = running.pop(future)
            if future.status == "finished":
                finished(index)
                following = next(remaining, None)
            elif future.status == "error":
                error: BaseException = future.exception()
                losses[index] = losses.get(index, 0) + 1
                if not isinstance(error, KilledWorker):
                    raise error
                if losses[index] > LOSSES:
                    remedy = f"See their logs. {GO_ON}"
                    raise SweepError(f"workers die of block {index}", store=store.path, remedy=remedy)
                following = index
            else:
                raise SweepError("the scheduler of the cluster is gone", store=store.path, remedy=GO_ON)
            if following is not None:
                completed.add(submit(following))
    finally:
        client.cancel(list(running), reason="the sweep has ended")


def check_workers(client: Client, path: Path) -> None:
    """Raises SweepError unless there are workers, and all of them have what this process has and see the store."""
    if not client.nthreads():
        raise SweepError("the cluster has no workers", store=path, remedy="Start some: dask worker ADDRESS")
    try:
        answers: Mapping[str, Any] = client.run(look_around, str(path), on_error="return")
    except Exception as error:
        raise SweepError(f"the workers do not answer: {error}", store=path) from None
    here = look_around(str(path))
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            remedy = "Install the same tauforge on every worker"
            raise SweepError(f"worker {worker} cannot take part: {answer}", store=path, remedy=remedy)
        if found := differences(here, answer):
            problem = f"worker {worker} differs from this process: {'; '.join(found)}"
            remedy = "Give every worker the same versions, settings and kind of processor, and the same folder"
            raise SweepError(problem, store=path, remedy=remedy)


def look_around(path: str) -> dict[str, Any]:
    """State of a worker on which results depend."""
    return {**environment(), "sees_the_store": Path(path).is_dir()}


def compute_pickled(pickled: bytes, path: str, index: Index) -> None:
    """The task of a worker, one block. Dask asks again for what a lost worker had finished: that is in the store."""
    study, store = _unpickled(pickled, path)
    if not store.is_done(index):
        compute_block(study, store, index)


@lru_cache(maxsize=4)
def _unpickled(pickled: bytes, path: str) -> tuple[Study, Store]:
    """Study and store, once for all blocks of a worker: a robot compiles its kernels when it is first asked."""
    import pickle

    study: Study = pickle.loads(pickled)
    return study, Store(Path(path))
