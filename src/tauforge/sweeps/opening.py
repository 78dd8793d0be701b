"""Opens or makes the store of a study, and refuses whatever is something else, before any work.

A store is made whole or not at all, with its metadata and axes. One process at a time works on it: it holds the
system's own lock, which ends with the process however it ends.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tauforge import __version__
from tauforge.errors import ModelError
from tauforge.files import reach_disk
from tauforge.sweeps.fingerprint import differences
from tauforge.sweeps.grid import Grid
from tauforge.sweeps.store import (
    DIGEST,
    FILE,
    MARK,
    STATUS,
    Store,
    axis_attributes,
    damaged_metadata,
    description,
    is_sweep,
    metadata_digest,
    result_attributes,
    root_metadata,
    sweeps_extra,
)
from tauforge.sweeps.study import LEDGER, Result, Study
from tauforge.validation import listed

SETTINGS = ("made_with.kernels ", "made_with.vector_bits ")  # differences that the environment makes
NAMED_DIFFERENCES = 3  # in a message
ANOTHER = "Name another store, or start this one again with --restart (restart=True), which removes its results"
AS_THEN = "Set TAUFORGE_KERNELS and TAUFORGE_VECTOR_BITS as they were then. Or: "
VERSIONS = ("numpy", "zarr", "numcodecs")
PATIENCE, SETTLED, PAUSE = 5.0, 0.3, 0.02  # s
PARTIAL = re.compile(r"\.[0-9a-f]{32}\.partial$")  # what Zarr had not renamed yet
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)  # file systems without locks


@contextmanager
def opened_store(
    path: Path, study: Study, grid: Grid, *, command: str | None = None, restart: bool = False
) -> Iterator[Store]:
    """Opens the store, made where there is none, while nobody else works on it.

    ModelError for a path that is something else, or a store that was asked for something else.
    """
    if restart and is_sweep(path):
        with locked(lock_file(path), path):
            remove_store(path)
    if not is_sweep(path):
        make_store(path, study, grid, command)
    with locked(lock_file(path), path):
        check_same(path, study, grid)
        remove_leftovers(path)
        store = Store(path)
        _check_axes(store, study)
        yield store


def lock_file(path: Path) -> Path:
    """Path of the lock: beside the status, in a folder that nobody lists for arrays."""
    return path / STATUS / "lock"


def check_same(path: Path, study: Study, grid: Grid) -> None:
    """Raises ModelError with what differs, unless the store was asked for the same and made with the same."""
    if damaged := damaged_metadata(path):
        places = ", ".join(str(Path(name) / FILE) for name in damaged[:NAMED_DIFFERENCES])
        raise ModelError(f"the metadata is damaged: {places}", file=path, remedy=ANOTHER)
    if found := differences(root_metadata(path)["attributes"][MARK], description(study, grid)):
        settings = all(text.startswith(SETTINGS) for text in found)
        raise ModelError(
            f"the store is of another sweep: {listed(found, NAMED_DIFFERENCES, '; ')}",
            file=path,
            remedy=f"{AS_THEN}{ANOTHER}" if settings else ANOTHER,
        )


def _check_axes(store: Store, study: Study) -> None:
    """Writes the values of an axis again if they cannot be read as they were written."""
    for axis in study.axes:
        try:
            whole = np.array_equal(store.read_axis(axis.name), axis.values)
        except ModelError:
            whole = False
        if not whole:
            store.write_axis(axis.name, axis.values)


def make_store(path: Path, study: Study, grid: Grid, command: str | None) -> None:
    """Makes a store at a path where nothing or an empty folder is; it appears there complete.

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
    """Removes folders of processes that were killed while they made or removed this store, and half files in it."""
    ours = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{12}\.tmp")
    for left in path.parent.iterdir():
        if ours.fullmatch(left.name):
            shutil.rmtree(left, ignore_errors=True)
    for left in path.rglob("*.partial"):
        if PARTIAL.search(left.name):
            left.unlink(missing_ok=True)


def remove_store(path: Path) -> None:
    """Removes a store from its name in one step, then from the disk; ModelError if its folder holds other things."""
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
    group = zarr.open_group(path, mode="w-", attributes=_attributes(study, grid, command))
    for axis in study.axes:
        size, fill = (len(axis),), 0 if axis.values.dtype.kind == "i" else float("nan")
        kept: dict[str, Any] = {"shape": size, "chunks": size, "dtype": axis.values.dtype, "fill_value": fill}
        _created(group, axis.name, [axis.name], axis_attributes(axis), **kept)[:] = axis.values
    for result in study.results:
        _create_result(group, study, result, grid)
    blocks = [f"{axis.name}_block" for axis in study.axes]
    kept = {"shape": grid.counts, "chunks": (1,) * len(blocks), "dtype": "uint8", "fill_value": 0}
    _created(group.create_group(LEDGER), "status", blocks, {"long_name": "1 where a block is stored"}, **kept)
    _consolidate(path)
    group.attrs[DIGEST] = metadata_digest(root_metadata(path))
    _consolidate(path)
    for file in path.rglob("*"):
        if file.is_file():
            reach_disk(file)


def _create_result(group: Any, study: Study, result: Result, grid: Grid) -> None:
    from zarr.codecs import BloscCodec

    core, names = result.core_shape, [*(axis.name for axis in study.axes), *result.core]
    # LZ4 of shuffled bytes costs less than it saves: 3.5 bytes of 9 remain, for 1 ms of 80 a block
    fast = BloscCodec(cname="lz4", clevel=1, shuffle="shuffle", typesize=int(result.numpy_dtype.itemsize))
    kept: dict[str, Any] = {"dtype": result.dtype, "fill_value": result.fill, "codecs": [fast]}
    kept |= {"shape": (*grid.shape, *core), "shards": (*grid.block, *core), "chunks": (*grid.chunk, *core)}
    _created(group, result.name, names, result_attributes(result), **kept)


def _created(group: Any, name: str, dimensions: Sequence[str], attributes: Any, codecs: Any = (), **kept: Any) -> Any:
    """An array with a checksum in every chunk. kept: its shape, chunks, type and fill value, by the names of Zarr"""
    from zarr.codecs import Crc32cCodec

    kept |= {"compressors": [*codecs, Crc32cCodec()], "dimension_names": tuple(dimensions), "attributes": attributes}
    return group.create_array(name, **kept)


def _attributes(study: Study, grid: Grid, command: str | None) -> dict[str, Any]:
    return {
        "title": study.title or study.name,
        **study.attributes,
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


@contextmanager
def locked(file: Path, store: Path) -> Iterator[None]:
    """Holds the lock on a file of the store while the block runs; ModelError if another process has it.

    Where the file system knows no locks there is none: two processes then compute blocks twice, and write the same.
    """
    file.parent.mkdir(parents=True, exist_ok=True)  # of a damaged store it may be gone
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not _taken(handle) or not _is(file, handle):  # another one may have put a new store in its place
            remedy = "Wait for it, or name another store"
            raise ModelError("another process is at work on this sweep", file=store, remedy=remedy)
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in NO_LOCKS
    return True


def _is(file: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False
