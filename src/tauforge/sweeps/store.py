"""A sweep on disk: a Zarr 3 group that xarray reads, and a ledger of the blocks that are done.

    out.zarr/zarr.json            what was asked, and the metadata of all arrays
    out.zarr/x                    values of an axis
    out.zarr/force                a result: one shard, which is one file, for every block
    out.zarr/blocks/status        one chunk for every block: 1 when its results are stored, else there is no file

Every chunk carries a CRC-32C, the index of a shard too. A block's files are written whole (Zarr renames them into
place) and reach the disk before its status is written. So whatever ends the process or the machine, a block whose
status is 1 and whose files exist has its data. No two tasks write one file. A block may be written again at any time:
its bytes are the same.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import compress, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError
from tauforge.extras import extra_for
from tauforge.files import reach_disk
from tauforge.kernels.cpu.threads import get_threads, on_this_thread
from tauforge.sweeps.fingerprint import digest, environment
from tauforge.sweeps.grid import Axis, Grid, Index
from tauforge.sweeps.study import LEDGER, Result, Study

if TYPE_CHECKING:
    from xarray import Dataset

STATUS = f"{LEDGER}/status"
CHUNKS = "c"  # the folder of an array's chunks
CRC32C_OF_ONE = 0xA016D052  # of the byte 1
DONE = b"\x01" + struct.pack("<I", CRC32C_OF_ONE)  # the chunk of a block that is done, as Zarr writes it
GO_ON = "Run the same sweep again: it goes on where it stopped"
FILE = "zarr.json"
LARGEST_METADATA = 100_000_000  # bytes
READ_TOGETHER = 1000  # blocks that threads are given together: a store may have a million
DIGEST = "metadata_digest"  # the attribute of the group that holds a digest of all metadata but itself
MARK = "tauforge_sweep"  # the attribute of the group that holds the description
FORMAT = 1  # of the store


class Store:
    """A store that exists. path: its folder; grid: its points in blocks; axes: their names; results: their names."""

    def __init__(self, path: Path) -> None:
        with sweeps_extra():
            import zarr
        self.path = path
        asked = root_metadata(path)["attributes"][MARK]
        self.axes, self.results = tuple(asked["axes"]), tuple(asked["results"])
        shape = (axis["points"] for axis in asked["axes"].values())
        self.grid = Grid(tuple(shape), tuple(asked["blocks"]["shape"]), tuple(asked["blocks"]["chunk"]))
        self._cores = {name: len(result["core"]) for name, result in asked["results"].items()}
        # chunks that hold nothing but the fill are written, too: a file that is missing is a fault
        with zarr.config.set({"array.write_empty_chunks": True}):
            group = zarr.open_group(path, mode="r+", use_consolidated=False)
            self._arrays: dict[str, Any] = {name: group[name] for name in (*self.results, *self.axes, STATUS)}

    def indices(self) -> Iterator[Index]:
        """Indices of all blocks, in the order of the grid."""
        return product(*map(range, self.grid.counts))

    def is_done(self, index: Index) -> bool:
        """True if the block's status is 1 and none of its files is gone or empty."""
        try:
            if self.status_file(index).read_bytes() != DONE:
                return False
            return all(file.stat().st_size for file in self.shard_files(index))
        except (FileNotFoundError, NotADirectoryError):
            return False

    def status_file(self, index: Index) -> Path:
        return self._chunk_file(STATUS, index)

    def shard_files(self, index: Index) -> list[Path]:
        """The files of a block, one for each result. Identity: no file belongs to two blocks."""
        return [self._chunk_file(name, (*index, *(0,) * core)) for name, core in self._cores.items()]

    def write(self, index: Index, values: Mapping[str, Array]) -> None:
        """Stores a block's results, (N, *core) each, and then its status."""
        slices, lengths = self.grid.slices(index), self.grid.lengths(index)
        for name in self.results:
            self._arrays[name][slices] = values[name].reshape(*lengths, *values[name].shape[1:])
        for file in self.shard_files(index):
            reach_disk(file)
        self._arrays[STATUS][index] = 1

    def read(self, index: Index) -> dict[str, Array]:
        """A block's results, (*lengths, *core) each; an error of Zarr's where a checksum does not fit."""
        slices = self.grid.slices(index)
        return {name: self._arrays[name][slices] for name in self.results}

    def read_axis(self, name: str) -> Array:
        """The values of an axis, (points,); ModelError where they are missing, which Zarr reads as NaN, or damaged."""
        try:
            self._chunk_file(name, (0,)).stat()  # the only one
            found: Array = self._arrays[name][:]
        except Exception:  # whatever codecs make of damaged bytes
            problem = f"the values of axis {name} are missing or damaged"
            raise ModelError(problem, file=self.path, remedy="Run the sweep again: it writes them") from None
        return found

    def write_axis(self, name: str, values: Array) -> None:
        self._arrays[name][:] = values

    def forget(self, index: Index) -> None:
        """Makes a block one that is not done; its status goes first."""
        for file in (self.status_file(index), *self.shard_files(index)):
            file.unlink(missing_ok=True)

    def _chunk_file(self, array: str, index: Index) -> Path:
        return self.path.joinpath(array, CHUNKS, *map(str, index))


def compute_block(study: Study, store: Store, index: Index) -> None:
    """Computes a block on the calling thread and stores it. Doing it again gives the same bytes."""
    with on_this_thread():  # the other threads have blocks of their own
        values = study.computed(store.grid.coordinates(study.axes, index))
    store.write(index, values)


def is_sweep(path: Path) -> bool:
    """True if there is a sweep at a path. ModelError where something else is, or where none can be made."""
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


def open_dataset(store: str | os.PathLike[str], *, partial: bool = False) -> Dataset:
    """Opens the results of a sweep as an xarray Dataset, which reads them when they are used.

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
        remedy = "Run the sweep again: it computes them. Or read what is there with partial=True"
        raise ModelError(f"{missing} of {found.grid.blocks} blocks are missing", file=path, remedy=remedy)
    with sweeps_extra():
        import xarray
    opened: Dataset = xarray.open_zarr(path)
    return opened


@with_field_docs
class Damage(NamedTuple):
    """Damage that `verify` found: none where all three are empty.

    metadata: names of arrays whose metadata is damaged, "" for that of the group; then the rest is not looked at
    axes:     names of axes whose values cannot be read
    blocks:   indices of blocks with an entry in the ledger that cannot be read, or whose results cannot be read
    """

    metadata: tuple[str, ...]
    axes: tuple[str, ...]
    blocks: tuple[Index, ...]


def verify(store: str | Path) -> Damage:
    """Reads every block that is done, and lists what does not have its checksum. The store is left as it is.

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

    def damaged(index: Index) -> bool:
        return store.status_file(index).exists() and not (store.is_done(index) and _readable(store.read, index))

    found, indices = list[Index](), store.indices()
    with ThreadPoolExecutor(get_threads()) as pool:
        while some := list(islice(indices, READ_TOGETHER)):
            found += compress(some, pool.map(damaged, some))
    return found


def _readable(read: Callable[[Any], Any], of: Any) -> bool:
    try:
        read(of)
    except Exception:  # whatever codecs make of damaged bytes; nothing else can go wrong with a store that was opened
        return False
    return True


def sweeps_extra() -> AbstractContextManager[None]:
    """Context for imports of the libraries of the extra `sweeps`, which are made when they are needed."""
    return extra_for("sweeps need", "sweeps")


def root_metadata(path: Path) -> dict[str, Any]:
    """The metadata of the group at a path; {} where there is none, or none that JSON can read."""
    return _read(path / FILE)


def damaged_metadata(path: Path) -> list[str]:
    """Names of the metadata files that are not as they were written: "" for the group's own, "x" for that of x."""
    root = root_metadata(path)
    members = consolidated(root)
    found = [] if root and root.get("attributes", {}).get(DIGEST) == metadata_digest(root) else [""]
    return found + [name for name, entry in members.items() if not _same(_read(path / name / FILE), entry)]


def _same(own: dict[str, Any], repeated: dict[str, Any]) -> bool:
    """True for equal metadata. Groups have a place for repeated metadata, empty where it is repeated itself."""
    nothing = {"consolidated_metadata": None}
    return own | nothing == repeated | nothing


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes()) if file.stat().st_size < LARGEST_METADATA else None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def description(study: Study, grid: Grid) -> dict[str, Any]:
    """Description of a sweep, as JSON. Two runs with equal descriptions write the same bytes."""
    return {
        "format": FORMAT,
        "study": study.name,
        "asked": study.fingerprint,
        "axes": {axis.name: _axis(axis) for axis in study.axes},
        "results": {result.name: _result(result) for result in study.results},
        "blocks": {"shape": list(grid.block), "chunk": list(grid.chunk)},
        "made_with": environment(),
    }


def axis_attributes(axis: Axis) -> dict[str, Any]:
    return {"units": axis.unit} if axis.unit else {}


def result_attributes(result: Result) -> dict[str, Any]:
    """Attributes of a result as the CF conventions name them, so that xarray labels its plots."""
    found: dict[str, Any] = {"units": result.unit} if result.unit else {}
    if result.meaning:
        found["long_name"] = result.meaning
    if result.codes:
        found["flag_values"] = list(result.codes)
        found["flag_meanings"] = " ".join(text.replace(" ", "_") for text in result.codes.values())
    if result.integer:
        found["not_computed"] = result.fill
    return found


def metadata_digest(root: Mapping[str, Any]) -> str:
    """Digest of a group's metadata with that of all its members, but for the attribute that keeps it."""
    attributes = {name: value for name, value in root.get("attributes", {}).items() if name != DIGEST}
    return digest([attributes, consolidated(root)])


def consolidated(root: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of the group's members, as its own metadata repeats it."""
    found = (root.get("consolidated_metadata") or {}).get("metadata")
    return found if isinstance(found, dict) else {}


def _axis(axis: Axis) -> dict[str, Any]:
    first, last = axis.values[0].item(), axis.values[-1].item()
    return {"points": len(axis), "first": first, "last": last, "unit": axis.unit, "values": digest(axis.values)}


def _result(result: Result) -> dict[str, Any]:
    fill = result.fill if result.integer else str(result.fill)
    return {"dtype": result.dtype, "unit": result.unit, "fill": fill, "core": dict(result.core)}
