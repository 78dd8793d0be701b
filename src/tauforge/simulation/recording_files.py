"""Files of recordings and rollouts: .npz without pickles, whose size is accepted before they are expanded, and .csv."""

from __future__ import annotations

import io
import math
import sys
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib import format as npy

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.simulation.events import Event
from tauforge.tables.reading import read_csv
from tauforge.tables.robot_columns import PLATFORM_COLUMNS, TIME, Columns, arm_columns, columns_in
from tauforge.tables.table import CsvColumn, CsvTable, write_csv

if TYPE_CHECKING:
    from tauforge.simulation.recording import Recording

ANGLE_NAMES = tuple(column.name for column in PLATFORM_COLUMNS.position[3:])
TEXTS = ("names", "force_names", "units", "force_units")
ADDED = ("columns", "wrapped", "coordinates")  # texts that files of older versions do not have
EVENTS = ("event_time", "event_what", "event_which")
REPEATS = ("event_count", "event_last")  # of events, which files of older versions do not have
ARRAYS = ("position", "velocity", "acceleration", "force", "target_position", "target_velocity")
TOOL_ERROR = "tool_error"  # of runs that have one
NUMBERS = ("time", "event_time", *ARRAYS, *REPEATS, TOOL_ERROR)
MEMBERS = 100  # of the zip file, at most; ours have 22
MAX_HEADER = 2000  # characters of an array's header
ROLLOUT_ARRAYS = (
    "time", "position", "velocity", "force", "target_position", "target_velocity", "places", "clipped", "wrench"
)  # fmt: skip
ROLLOUT_KINDS = {"clipped": "b", "places": "i", "reason_row": "i", "reason": "U"}  # of types; others are real numbers
PLAIN_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write_npz(run: Recording, file: IO[bytes]) -> None:
    texts = {name: getattr(run, name) for name in (*TEXTS, *ADDED, "robot")}
    happened = [(e.time, e.what, e.which, e.occurrences, e.time if e.last is None else e.last) for e in run.events]
    events = {name: [event[k] for event in happened] for k, name in enumerate((*EVENTS, *REPEATS))}
    arrays: dict[str, Any] = {name: getattr(run, name) for name in ("time", *ARRAYS)}
    arrays |= {name: np.array(value) for name, value in (texts | events).items()}
    arrays |= {} if run.tool_error is None else {TOOL_ERROR: run.tool_error}
    np.savez_compressed(file, **arrays)


def write_rollout(arrays: Mapping[str, Array], reasons: Mapping[int, str] | None, file: IO[bytes]) -> None:
    """arrays: those of `ROLLOUT_ARRAYS` that there are"""
    told = (
        {}
        if reasons is None
        else {"reason_row": np.array([*reasons], int), "reason": np.array([*reasons.values()], str)}
    )
    np.savez_compressed(file, **{**arrays, **told})  # type: ignore[arg-type]


def read_rollout(path: Path, max_bytes: int) -> dict[str, Any]:
    """The fields of the rollout in a file; max_bytes: that its arrays may take."""
    _check_regular(path)
    try:
        found = _read_npz(path, ROLLOUT_ARRAYS[:5], (*ROLLOUT_ARRAYS[5:], "reason_row", "reason"), max_bytes)
        if any(found[name].ndim != 3 for name in ("position", "velocity", "force")):
            _invalid(f"expected rows of runs over time, got {found['position'].shape}", "position")
        (rows, instants, n), m = found["velocity"].shape, found["force"].shape[2]
        shapes: dict[str, tuple[int, ...]] = {"time": (instants,), "velocity": (rows, instants, n), "places": (n,)}
        shapes |= {"position": (rows, instants, found["position"].shape[2])}
        shapes |= dict.fromkeys(("force", "clipped"), (rows, instants, m))
        shapes |= dict.fromkeys(("target_position", "target_velocity"), (instants, n))
        shapes["wrench"] = (*((rows,) if found.get("wrench", found["time"]).ndim == 3 else ()), instants, 6)
        shapes |= dict.fromkeys(("reason_row", "reason"), found.get("reason", found["time"]).shape[:1])
        for name, array in found.items():
            if array.shape != shapes[name] or not instants:
                _invalid(f"expected shape {shapes[name]}, got {array.shape}", name)
            if array.dtype.kind != ROLLOUT_KINDS.get(name, "f"):
                _invalid(f"the type is {array.dtype}", name)
        _check_numbers({"time": found["time"]})
        _check_texts({name: found[name] for name in ("reason",) if name in found})
    except ModelError as error:
        raise error.located(path) from None
    numbers, texts = (found.pop(name, None) for name in ("reason_row", "reason"))
    told = None if numbers is None or texts is None else dict(zip(numbers.tolist(), map(str, texts), strict=True))
    return {**found, "reasons": told}


def write_table(run: Recording, file: IO[str]) -> None:
    """CSV under the names of `columns`; targets are left out where there are none."""
    widths = run.position.shape[1], run.force.shape[1]
    if (len(run.units), len(run.force_units)) != widths:
        needed = "a .csv file needs the units of the {} coordinates and {} forces".format(*widths)
        raise ModelError(needed, remedy="Set units and force_units, or save as .npz")
    columns = _columns(run)
    present = [name for name in ARRAYS if not np.isnan(getattr(run, name)).all()]
    header = [TIME, *(column for name in present for column in _columns_of(run, columns, name))]
    write_csv(file, header, np.hstack([run.time[:, None], *(getattr(run, name) for name in present)]))


def _columns_of(run: Recording, columns: Columns, name: str) -> tuple[CsvColumn, ...]:
    """Columns of the array with this name; targets are of the coordinates alone."""
    found: tuple[CsvColumn, ...] = getattr(columns, name)
    return tuple(found[k] for k in run.places) if name == "target_position" else found


def _columns(run: Recording) -> Columns:
    own = run.coordinate_units
    if not run.columns or len(run.columns) != len(run.units) + 2 * len(own) + len(run.force_units):
        return arm_columns(run.units) if run.force_names == run.names else PLATFORM_COLUMNS
    names = iter(run.columns)
    per = [list(run.units), *([unit + rate for unit in own] for rate in ("/s", "/s^2"))]
    return Columns(*(tuple(CsvColumn(next(names), unit) for unit in group) for group in (*per, run.force_units)))


def read_recording(path: Path, max_bytes: int) -> dict[str, Any]:
    """The fields of the recording in a file; max_bytes: that the arrays of an .npz file may take."""
    _check_regular(path)
    if path.suffix.lower() == ".csv":
        return _of_table(read_csv(path))
    try:
        found = _read_npz(path, ("time", *ARRAYS, *TEXTS, "robot", *EVENTS), (*ADDED, *REPEATS, TOOL_ERROR), max_bytes)
        _check_shapes(found)
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
            # in the type that is kept: differences of unsigned numbers are never negative, and large ones may be equal
            numbers = {name: np.ascontiguousarray(found[name], float) for name in NUMBERS if name in found}
        _check_numbers(numbers)
        _check_texts(found)
    except ModelError as error:
        raise error.located(path) from None
    arrays: dict[str, Any] = {name: numbers[name] for name in ("time", *ARRAYS, TOOL_ERROR) if name in numbers}
    arrays |= {name: tuple(map(str, found[name])) for name in (*TEXTS, *ADDED) if name in found}
    once = numbers["event_time"]
    repeats = numbers.get("event_count", np.ones_like(once)), numbers.get("event_last", once)
    happened = zip(once.tolist(), *(found[name].tolist() for name in EVENTS[1:]), *repeats, strict=True)
    events = tuple(
        Event(time, str(what), str(which), int(count), float(last) if count > 1 else None)
        for time, what, which, count, last in happened
    )
    return {**arrays, "robot": str(found["robot"]), "events": events}


def _of_table(table: CsvTable) -> dict[str, Any]:
    columns, coordinates = columns_in(table)
    time = table.take_times(TIME)
    arrays: dict[str, Any] = {name: table.take(getattr(columns, name)) for name in ARRAYS[:4]}
    names, forces = (tuple(column.name for column in group) for group in (columns.position, columns.force))
    places = [names.index(name) for name in coordinates or names]
    targets = tuple(columns.target_position[k] for k in places), columns.target_velocity
    for name, own in zip(ARRAYS[4:], targets, strict=True):
        arrays[name] = table.take(own) if table.has(own) else np.full(arrays["velocity"].shape, np.nan)
    return {
        "time": time,
        **arrays,
        "names": names,
        "force_names": names if forces[:1] == ("tau1",) and not coordinates else forces,
        "units": tuple(column.unit for column in columns.position),
        "force_units": tuple(column.unit for column in columns.force),
        "columns": tuple(column.name for group in columns for column in group),
        "wrapped": ANGLE_NAMES if columns is PLATFORM_COLUMNS else (),
        "coordinates": coordinates,
    }


def _invalid(problem: object, name: str | None = None) -> NoReturn:
    """ModelError about an array of a recording."""
    raise ModelError(f"not a valid recording: {problem}", field=name) from None


def _check_regular(path: Path) -> None:
    """ModelError where there is no file, and where reading might never end: pipes, devices, folders."""
    if not path.exists():
        raise ModelError("no such file", file=path)
    if not path.is_file():
        problem = "expected a file, got a folder" if path.is_dir() else "expected a regular file"
        raise ModelError(problem, file=path)


def _read_npz(path: Path, names: tuple[str, ...], optional: tuple[str, ...], max_bytes: int) -> dict[str, Array]:
    """The named arrays.

    optional:  names of arrays that older files do not have
    max_bytes: that the whole file and all of the arrays together may have
    """
    _check_size(path.stat().st_size, max_bytes)
    try:
        with zipfile.ZipFile(path) as archive:
            if len(archive.infolist()) > MEMBERS:
                _invalid("the archive has too many members")
            there = {name: _member(archive, name) for name in (*names, *optional)}
            members = {name: info for name, info in there.items() if info is not None}
            for name in names:
                if name not in members:
                    _invalid("the array is missing", name)
            _check_size(sum(info.file_size for info in members.values()), max_bytes)
            return {name: _array(archive.read(info), name) for name, info in members.items()}
    except ModelError:
        raise
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, RuntimeError, ValueError, OSError, zlib.error) as error:
        _invalid(error)


def _check_size(size: int, most: int) -> None:
    if size > most:
        remedy = f"load takes max_bytes={size} if you trust the file"
        raise ModelError(f"the recording holds {size / 2**20:.4g} MiB, more than {most / 2**20:.4g} MiB", remedy=remedy)


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo | None:
    found = [info for info in archive.infolist() if info.filename == f"{name}.npy"]
    if len(found) > 1:
        _invalid("the array is there twice", name)
    if found and (found[0].compress_type not in PLAIN_COMPRESSIONS or found[0].flag_bits & 1):
        _invalid("the array is neither stored nor deflated", name)
    return found[0] if found else None


def _array(content: bytes, name: str) -> Array:
    file = io.BytesIO(content)
    version = npy.read_magic(file)
    if version not in HEADERS:
        _invalid(f"version {version} of the array format is unknown", name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        shape, fortran_order, dtype = HEADERS[version](file, max_header_size=MAX_HEADER)
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
        raise ModelError(f"expected numbers or text, got {dtype}", field=name)
    if math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ModelError("the length of the data differs from the one in the header", field=name)
    return np.ndarray(shape, dtype, content, file.tell(), order="F" if fortran_order else "C").copy()


def _check_shapes(found: Mapping[str, Array]) -> None:
    """Types and shapes of the arrays of a recording."""
    rows, columns = found["time"].shape[:1], found["position"].shape[1:]
    actuators = found["force"].shape[1:]
    named = found["coordinates"].shape if "coordinates" in found else (0,)
    own = named if len(named) == 1 and columns and 0 < named[0] <= columns[0] else columns
    shapes = dict.fromkeys(ARRAYS, (*rows, *own)) | {"time": rows, "force": (*rows, *actuators), "robot": ()}
    shapes |= {"position": (*rows, *columns), "coordinates": own, TOOL_ERROR: (*rows, 6)}
    shapes |= dict.fromkeys(("names", "units"), columns) | dict.fromkeys(("force_names", "force_units"), actuators)
    shapes |= dict.fromkeys((*EVENTS, *REPEATS), found["event_time"].shape[:1])
    if len(rows) != 1 or rows[0] < 1 or len(columns) != 1 or len(actuators) != 1:
        got = ", ".join(f"{name} {found[name].shape}" for name in ("time", "position", "force"))
        _invalid(f"expected rows of coordinates over time, got {got}")
    shapes["columns"] = (columns[0] + 2 * own[0] + actuators[0],)
    if "wrapped" in found:
        shapes["wrapped"] = (*found["wrapped"].shape, 0)[:1]
    for name, array in found.items():
        numbers = name in NUMBERS
        empty = not numbers and array.shape == (0,)  # NumPy makes numbers of no texts
        if array.shape != shapes[name] and not (empty and name in (*TEXTS, *ADDED)):
            _invalid(f"expected shape {shapes[name]}, got {array.shape}", name)
        if array.dtype.kind not in ("fiu" if numbers else "U") and not empty:
            _invalid(f"expected {'real numbers' if numbers else 'text'}, got {array.dtype}", name)


def _check_numbers(arrays: Mapping[str, Array]) -> None:
    """ModelError where a number is not finite. Targets may be NaN throughout."""
    for name, values in arrays.items():
        if not np.isfinite(values).all() and not (name.startswith("target_") and np.isnan(values).all()):
            _invalid(f"row {np.argwhere(~np.isfinite(values))[0][0]} is not finite", name)
    count = arrays.get("event_count", np.ones(1))
    if not ((count >= 1) & (count == np.floor(count))).all():
        _invalid("expected whole numbers >= 1", "event_count")
    late = np.flatnonzero(np.diff(arrays["time"]) <= 0)
    if len(late):
        _invalid(f"times must increase; row {late[0] + 1} is not later than the one before", "time")


def _check_texts(arrays: Mapping[str, Array]) -> None:
    """ModelError where a text has numbers that are no characters, or coordinates are not among the names."""
    for name, values in arrays.items():
        if values.dtype.kind == "U" and values.nbytes:
            codes = np.ascontiguousarray(values).reshape(-1).view(values.dtype.str[0] + "u4")
            if (codes > sys.maxunicode).any() or ((codes >= 0xD800) & (codes < 0xE000)).any():
                _invalid("the text is not Unicode", name)
    coordinates = arrays.get("coordinates", np.array([])).tolist()
    if not set(coordinates) <= set(arrays.get("names", np.array([])).tolist()):
        _invalid("coordinates must be among the names")
    if len(set(coordinates)) < len(coordinates):
        _invalid("coordinates must differ")
