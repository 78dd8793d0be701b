"""Opens or makes the store of a study, and refuses whatever is something else, before any work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tauforge.errors import ModelError
from tauforge.sweeps.description import MARK, description
from tauforge.sweeps.fingerprint import differences
from tauforge.sweeps.grid import Grid
from tauforge.sweeps.making import make_store, remove_leftovers, remove_store
from tauforge.sweeps.metadata import FILE, damaged_metadata, root_metadata
from tauforge.sweeps.store import STATUS, Store
from tauforge.sweeps.store_lock import locked
from tauforge.sweeps.study import Study

SETTINGS = ("made_with.kernels ", "made_with.vector_bits ")  # differences that the environment makes
SHOWN = 3  # differences that a message names
ANOTHER = "Name another store, or start this one again with --restart (restart=True), which removes its results"
AS_THEN = "Set TAUFORGE_KERNELS and TAUFORGE_VECTOR_BITS as they were then. Or: "


@contextmanager
def opened_store(
    path: Path, study: Study, grid: Grid, *, command: str | None = None, restart: bool = False
) -> Iterator[Store]:
    """The store, made where there is none, while nobody else works on it.

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


def is_sweep(path: Path) -> bool:
    """Whether there is a sweep at a path. ModelError where something else is, or where none can be made."""
    if not path.exists():
        if not path.parent.is_dir():
            raise ModelError("its folder does not exist", file=path, remedy=f"Make {path.parent} first")
        return False
    if not path.is_dir():
        raise ModelError("the path is not a folder", file=path, remedy="A sweep is a folder: name a new one")
    entries = sorted(entry.name for entry in path.iterdir())
    if not entries:
        return False
    root = root_metadata(path)
    attributes = root.get("attributes")
    if isinstance(attributes, dict) and MARK in attributes:
        return True
    if root:
        what = "is a Zarr group, and no sweep wrote it"
    elif FILE in entries and (path / STATUS).is_dir():
        what = f"is a sweep whose {FILE} cannot be read"
    else:
        what = f"holds {entries[0]} and is no sweep"
    raise ModelError(f"the folder {what}", file=path, remedy="Name a new folder")


def lock_file(path: Path) -> Path:
    """Beside the status, in a folder that nobody lists for arrays."""
    return path / STATUS / "lock"


def check_same(path: Path, study: Study, grid: Grid) -> None:
    """ModelError with what differs, unless the store was asked for the same and made with the same."""
    if damaged := damaged_metadata(path):
        places = ", ".join(str(Path(name) / FILE) for name in damaged[:SHOWN])
        raise ModelError(f"the metadata is damaged: {places}", file=path, remedy=ANOTHER)
    found = differences(root_metadata(path)["attributes"][MARK], description(study, grid))
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        settings = all(text.startswith(SETTINGS) for text in found)
        raise ModelError(
            f"the store is of another sweep: {'; '.join(found[:SHOWN])}{more}",
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
