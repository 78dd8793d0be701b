"""Opens the store of a sweep for reading."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tauforge.errors import ModelError
from tauforge.sweeps.extra import sweeps_extra
from tauforge.sweeps.metadata import damaged_metadata
from tauforge.sweeps.opening import is_sweep
from tauforge.sweeps.store import Store

if TYPE_CHECKING:
    from xarray import Dataset


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
