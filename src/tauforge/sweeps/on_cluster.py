"""Blocks on the workers of a Dask cluster: Dask decides where, and does the blocks of a lost worker elsewhere."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tauforge.errors import SweepError
from tauforge.sweeps.advice import GO_ON
from tauforge.sweeps.extra import sweeps_extra
from tauforge.sweeps.fingerprint import differences
from tauforge.sweeps.grid import Index
from tauforge.sweeps.made_with import made_with
from tauforge.sweeps.one_block import do_block
from tauforge.sweeps.store import Store
from tauforge.sweeps.study import Study

if TYPE_CHECKING:
    from distributed import Client, Future

WINDOW = 4  # blocks for each thread that Dask knows of at a time: enough to keep it busy, however many there are
RETRIES = 2  # of a block that raises an OSError or another passing fault
LOSSES = 2  # times that a block is given to Dask again after it gave up, because workers died over it


def blocks_on_cluster(
    client: Client, study: Study, store: Store, indices: Iterable[Index], finished: Callable[[Index], None]
) -> None:
    """Does the blocks on the client's workers. SweepError before any work if they cannot give the same results."""
    with sweeps_extra():
        import cloudpickle
        from distributed import KilledWorker, as_completed
    check_workers(client, store.path)
    pickled, own = cloudpickle.dumps(study), secrets.token_hex(4)
    remaining, losses = iter(indices), dict[Index, int]()
    running = dict[Any, Index]()

    def submit(index: Index) -> Future[Any]:
        name = f"tauforge-sweep-{own}-{'-'.join(map(str, index))}-{losses.get(index, 0)}"
        future = client.submit(do_pickled, pickled, str(store.path), index, key=name, pure=False, retries=RETRIES)
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
                    raise SweepError(
                        f"workers die of block {index}", store=store.path, remedy=f"See their logs. {GO_ON}"
                    )
                following = index
            else:
                raise SweepError("the scheduler of the cluster is gone", store=store.path, remedy=GO_ON)
            if following is not None:
                completed.add(submit(following))
    finally:
        client.cancel(list(running), reason="the sweep has ended")


def check_workers(client: Client, path: Path) -> None:
    """SweepError unless there are workers, and all of them have what this process has and see the store."""
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
            raise SweepError(
                f"worker {worker} differs from this process: {'; '.join(found)}",
                store=path,
                remedy="Give every worker the same versions, settings and kind of processor, and the same folder",
            )


def look_around(path: str) -> dict[str, Any]:
    """What a worker has that results depend on."""
    return {**made_with(), "sees_the_store": Path(path).is_dir()}


def do_pickled(pickled: bytes, path: str, index: Index) -> None:
    """The task, as workers get it. Dask asks again for what a lost worker had finished: that is in the store."""
    study, store = _unpickled(pickled, path)
    if not store.is_done(index):
        do_block(study, store, index)


@lru_cache(maxsize=4)
def _unpickled(pickled: bytes, path: str) -> tuple[Study, Store]:
    """Once for all blocks that a worker does: a robot compiles its kernels when it is first asked."""
    import pickle

    study: Study = pickle.loads(pickled)
    return study, Store(Path(path))
