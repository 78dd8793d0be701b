"""Opens the store of a sweep for reading, and finds what is damaged in it.

For that every chunk is read, and its checksum must fit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError
from tauforge.kernels.cpu.threads import get_threads
from tauforge.sweeps.grid import Index
from tauforge.sweeps.opening import is_sweep
from tauforge.sweeps.store import Store, damaged_metadata, sweeps_extra

if TYPE_CHECKING:
    from xarray import Dataset


AT_ONCE = 1000  # blocks that threads are given together: a store may have a million


def open_dataset(store: str | os.PathLike[str], *, partial: bool = False) -> Dataset:
    """The results of a sweep as an xarray Dataset, which reads them when they are used.

    partial: whether blocks may be missing; they read as NaN, or as the fill of an integer

    As xarray.open_zarr, which reads these stores too; but damaged metadata, axes without values and missing
    blocks are errors.
    """
    path = Path(os.path.realpath(store))
    if not is_sweep(path):
        raise ModelError("there is no sweep", file=path)
    if damaged := damaged_metadata(path):
        raise ModelError(f"the metadata is damaged: {', '.join(name or 'zarr.json' for name in damaged)}", file=path)
    found = Store(path)
    for axis in found.axes:
        found.read_axis(axis)
    if not partial and (missing := sum(not found.is_done(index) for index in found.indices())):
        raise ModelError(
            f"{missing} of {found.grid.blocks} blocks are missing",
            file=path,
            remedy="Run the sweep again: it computes them. Or read what is there with partial=True",
        )
    with sweeps_extra():
        import xarray
    opened: Dataset = xarray.open_zarr(path)
    return opened


@with_field_docs
class Damage(NamedTuple):
    """What `verify` found; nothing is damaged where all three are empty.

    metadata: names of arrays whose metadata is damaged, "" for that of the group; then the rest is not looked at
    axes:     names of axes whose values cannot be read
    blocks:   indices of blocks with an entry in the ledger that cannot be read, or whose results cannot be read
    """

    metadata: tuple[str, ...]
    axes: tuple[str, ...]
    blocks: tuple[Index, ...]


def verify(store: str | Path) -> Damage:
    """Reads every block that is done, and says what does not have its checksum. The store is left as it is.

    `run(..., verify=True)` computes damaged blocks again.
    """
    path = Path(store).absolute()
    if not is_sweep(path):
        raise ModelError("there is no sweep", file=path)
    if metadata := damaged_metadata(path):
        return Damage(tuple(metadata), (), ())
    found = Store(path)
    axes = tuple(name for name in found.axes if not _readable(found.read_axis, name))
    return Damage((), axes, tuple(damaged_blocks(found)))


def damaged_blocks(store: Store) -> list[Index]:
    """Indices of the blocks that have an entry in the ledger and cannot be read."""

    def damaged(index: Index) -> Index | None:
        if not store.status_file(index).exists():
            return None
        whole = store.is_done(index) and _readable(store.read, index)
        return None if whole else index

    found, indices = [], store.indices()
    with ThreadPoolExecutor(get_threads()) as pool:
        while some := list(islice(indices, AT_ONCE)):
            found += [index for index in pool.map(damaged, some) if index is not None]
    return found


def _readable(read: Callable[[Any], Any], of: Any) -> bool:
    try:
        read(of)
    except Exception:  # whatever codecs make of damaged bytes; nothing else can go wrong with a store that was opened
        return False
    return True
