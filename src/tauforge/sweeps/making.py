"""Makes the store of a sweep: metadata and axes, whole or not at all."""

from __future__ import annotations

import re
import secrets
import shutil
import time
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tauforge._version import __version__
from tauforge.errors import ModelError
from tauforge.files import reach_disk
from tauforge.sweeps.description import (
    DIGEST,
    MARK,
    axis_attributes,
    description,
    metadata_digest,
    result_attributes,
)
from tauforge.sweeps.extra import sweeps_extra
from tauforge.sweeps.grid import Grid
from tauforge.sweeps.metadata import FILE, root_metadata
from tauforge.sweeps.study import LEDGER, Result, Study

VERSIONS = ("numpy", "zarr", "numcodecs")
PATIENCE, SETTLED, PAUSE = 5.0, 0.3, 0.02  # s
PARTIAL = re.compile(r"\.[0-9a-f]{32}\.partial$")  # what Zarr had not renamed yet


def make_store(path: Path, study: Study, grid: Grid, command: str | None) -> None:
    """A new store at a path where nothing is, or an empty folder; it appears there complete.

    If another process makes one there at the same time, the first one stays.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        _fill(temporary, study, grid, command)
        try:
            temporary.rename(path)
        except OSError:
            if not root_metadata(path):
                raise
            shutil.rmtree(temporary, ignore_errors=True)
    except BaseException:
        _remove_for_good(temporary)
        raise


def _remove_for_good(folder: Path) -> None:
    """Removes a folder that may still be written to: where one write fails, others go on in Zarr's own thread.

    It is gone when it has not come back for a while. What comes back later `remove_leftovers` of the next run finds.
    """
    gone, end = time.monotonic(), time.monotonic() + PATIENCE
    while time.monotonic() < min(gone + SETTLED, end):
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
            gone = time.monotonic()
        time.sleep(PAUSE)


def remove_leftovers(path: Path) -> None:
    """Folders of processes that were killed while they made or removed a store at this path, and half files in it."""
    ours = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{12}\.tmp")
    for left in path.parent.iterdir():
        if ours.fullmatch(left.name):
            shutil.rmtree(left, ignore_errors=True)
    for left in path.rglob("*.partial"):
        if PARTIAL.search(left.name):
            left.unlink(missing_ok=True)


def remove_store(path: Path) -> None:
    """Removes it from its name in one step, then from the disk; ModelError if the folder holds something else, too."""
    foreign = [x.name for x in path.iterdir() if x.name != FILE and not (x / FILE).is_file() and x.name != LEDGER]
    if foreign:
        names = ", ".join(sorted(foreign))
        raise ModelError(f"beside the sweep the folder holds {names}", file=path, remedy="Move it elsewhere first")
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    path.rename(aside)
    shutil.rmtree(aside)


def _fill(path: Path, study: Study, grid: Grid, command: str | None) -> None:
    with sweeps_extra():
        import zarr
        from zarr.codecs import Crc32cCodec
    group = zarr.open_group(path, mode="w-", attributes=_attributes(study, grid, command))
    for axis in study.axes:
        made = group.create_array(
            axis.name,
            shape=(len(axis),),
            chunks=(len(axis),),
            dtype=axis.values.dtype,
            compressors=[Crc32cCodec()],
            fill_value=0 if axis.values.dtype.kind == "i" else float("nan"),
            dimension_names=(axis.name,),
            attributes=axis_attributes(axis),
        )
        made[:] = axis.values
    for result in study.results:
        _create_result(group, study, result, grid)
    ledger = group.create_group(LEDGER)
    ledger.create_array(
        "status",
        shape=grid.counts,
        chunks=(1,) * len(grid.counts),
        dtype="uint8",
        compressors=[Crc32cCodec()],
        fill_value=0,
        dimension_names=tuple(f"{axis.name}_block" for axis in study.axes),
        attributes={"long_name": "1 where a block is stored"},
    )
    _consolidate(path)
    group.attrs[DIGEST] = metadata_digest(root_metadata(path))
    _consolidate(path)
    for file in path.rglob("*"):
        if file.is_file():
            reach_disk(file)


def _create_result(group: Any, study: Study, result: Result, grid: Grid) -> None:
    from zarr.codecs import BloscCodec, Crc32cCodec

    core = result.core_shape
    size = int(result.numpy_dtype.itemsize)
    # LZ4 of shuffled bytes costs less than it saves: 3.5 bytes of 9 remain, for 1 ms of 80 a block
    fast = BloscCodec(cname="lz4", clevel=1, shuffle="shuffle", typesize=size)
    group.create_array(
        result.name,
        shape=(*grid.shape, *core),
        shards=(*grid.block, *core),
        chunks=(*grid.chunk, *core),
        dtype=result.dtype,
        compressors=[fast, Crc32cCodec()],
        fill_value=result.fill,
        dimension_names=(*(axis.name for axis in study.axes), *result.core),
        attributes=result_attributes(result),
    )


def _attributes(study: Study, grid: Grid, command: str | None) -> dict[str, Any]:
    extra: Mapping[str, Any] = study.attributes
    return {
        "title": study.title or study.name,
        **extra,
        **({"command": command} if command else {}),
        "versions": {"tauforge": __version__, **{name: version(name) for name in VERSIONS}},
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        MARK: description(study, grid),
    }


def _consolidate(path: Path) -> None:
    import zarr

    with warnings.catch_warnings():
        # Zarr 3 has no word on it yet; xarray warns of a store without, and reads both
        warnings.filterwarnings("ignore", message="Consolidated metadata", category=UserWarning)
        zarr.consolidate_metadata(path)
