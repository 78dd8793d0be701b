"""Arrays of an .npz file, without pickles; what they take together is accepted before anything is expanded."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.lib import format as npy

from tauforge.arrays import Array
from tauforge.errors import ModelError

MEMBERS = 100  # of the zip file, at most; ours have 22
MAX_HEADER = 2000  # characters of an array's header
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def invalid(problem: object, name: str | None = None) -> NoReturn:
    """ModelError about an array of a recording."""
    raise ModelError(f"not a valid recording: {problem}", field=name) from None


def check_regular(path: Path) -> None:
    """ModelError where there is no file, and where reading might never end: pipes, devices, folders."""
    if not path.exists():
        raise ModelError("no such file", file=path)
    if not path.is_file():
        problem = "expected a file, got a folder" if path.is_dir() else "expected a regular file"
        raise ModelError(problem, file=path)


def read_npz(path: Path, names: tuple[str, ...], optional: tuple[str, ...], max_bytes: int) -> dict[str, Array]:
    """The named arrays.

    optional:  names of arrays that older files do not have
    max_bytes: that the whole file and all of the arrays together may have
    """
    _check_size(path.stat().st_size, max_bytes)
    try:
        with zipfile.ZipFile(path) as archive:
            if len(archive.infolist()) > MEMBERS:
                invalid("the archive has too many members")
            there = {name: _member(archive, name) for name in (*names, *optional)}
            members = {name: info for name, info in there.items() if info is not None}
            for name in names:
                if name not in members:
                    invalid("the array is missing", name)
            _check_size(sum(info.file_size for info in members.values()), max_bytes)
            return {name: _array(archive.read(info), name) for name, info in members.items()}
    except ModelError:
        raise
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, RuntimeError, ValueError, OSError, zlib.error) as error:
        invalid(error)


def _check_size(size: int, most: int) -> None:
    if size > most:
        remedy = f"Recording.load takes max_bytes={size} if you trust the file"
        raise ModelError(f"the recording holds {size / 2**20:.4g} MiB, more than {most / 2**20:.4g} MiB", remedy=remedy)


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo | None:
    found = [info for info in archive.infolist() if info.filename == f"{name}.npy"]
    if len(found) > 1:
        invalid("the array is there twice", name)
    if found and (found[0].compress_type not in PLAIN or found[0].flag_bits & 1):
        invalid("the array is neither stored nor deflated", name)
    return found[0] if found else None


def _array(content: bytes, name: str) -> Array:
    file = io.BytesIO(content)
    version = npy.read_magic(file)
    if version not in HEADERS:
        invalid(f"version {version} of the array format is unknown", name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        shape, fortran_order, dtype = HEADERS[version](file, max_header_size=MAX_HEADER)
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
        raise ModelError(f"expected numbers or text, got {dtype}", field=name)
    if math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ModelError("the length of the data differs from the one in the header", field=name)
    return np.ndarray(shape, dtype, content, file.tell(), order="F" if fortran_order else "C").copy()
