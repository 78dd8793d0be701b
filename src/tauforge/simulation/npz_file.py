"""Arrays of an .npz file, read strictly: sizes, types and shapes are known and accepted before anything is expanded."""

from __future__ import annotations

import os
import stat
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, Protocol

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError

MAX_DIRECTORY = 2**16  # bytes of a zip file's list of its members; ours take a thousand
MAX_HEADER = 2000  # characters of an array's header
END_RECORD, LONGEST_COMMENT = 22, 2**16  # bytes, of the record that ends a zip file
PIECE = 2**20  # bytes that are expanded at a time
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Header(NamedTuple):
    """What an array says of itself before its data."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Bytes."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize


class Check(Protocol):
    """Refuses headers that do not fit, by ModelError."""

    def __call__(self, headers: Mapping[str, Header]) -> None: ...


def open_plain(path: Path) -> BinaryIO:
    """A file to read. ModelError where there is none, and where reading might never end: pipes, devices, folders."""
    try:
        # A pipe without a writer blocks whoever opens it, unless told not to.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise ModelError("no such file", file=path) from None
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}", file=path) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise ModelError(
            "expected a file, got a folder" if stat.S_ISDIR(mode) else "expected a regular file", file=path
        )
    return os.fdopen(descriptor, "rb")


def read_npz(
    file: BinaryIO, names: tuple[str, ...], check: Check, max_bytes: int, optional: tuple[str, ...] = ()
) -> dict[str, Array]:
    """The named arrays of an open file.

    optional:  names of arrays that older files do not have
    check:     sees all headers before any array is read
    max_bytes: that the whole file and all of the arrays together may have
    """
    size = os.fstat(file.fileno()).st_size
    if size > max_bytes:
        raise _too_large(size, max_bytes)
    _check_directory(file, size)
    with _damage_named(), zipfile.ZipFile(file) as archive:
        there = {info.filename for info in archive.infolist()}
        members = {name: _member(archive, name) for name in names}
        members |= {name: _member(archive, name) for name in optional if f"{name}.npy" in there}
        declared = sum(info.file_size for info in members.values())
        if declared > max_bytes:
            raise _too_large(declared, max_bytes)
        headers = {}
        for name, info in members.items():
            with archive.open(info) as member:
                headers[name] = _header(member, name)
                if headers[name].size != info.file_size - member.tell():
                    raise ModelError("the length of the data differs from the one in the header", field=name)
        check(headers)
        return {name: _array(archive, info, headers[name]) for name, info in members.items()}


def _too_large(size: int, most: int) -> ModelError:
    remedy = f"Recording.load takes max_bytes={size} if you trust the file"
    return ModelError(f"the recording holds {size / 2**20:.4g} MiB, more than {most / 2**20:.4g} MiB", remedy=remedy)


@contextmanager
def _damage_named() -> Iterator[None]:
    """What a damaged file may raise, as a ModelError."""
    try:
        yield
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise ModelError(f"not a valid recording: {error}") from None
    except ModelError:
        raise
    except (ValueError, OSError, zlib.error) as error:
        raise ModelError(f"not a valid recording: {error}") from None


def _check_directory(file: BinaryIO, size: int) -> None:
    """zipfile makes objects of the whole list of members, however long it is."""
    start = max(0, size - END_RECORD - LONGEST_COMMENT)
    file.seek(start)
    tail = file.read(size - start)
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or len(tail) - place < END_RECORD:
        raise ModelError("not a valid recording: not a zip file")
    if int.from_bytes(tail[place + 12 : place + 16], "little") > MAX_DIRECTORY:
        raise ModelError("not a valid recording: the archive has too many members")
    file.seek(0)


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    found = [info for info in archive.infolist() if info.filename == f"{name}.npy"]
    if len(found) != 1:
        raise ModelError(
            "not a valid recording: " + ("the array is missing" if not found else "the array is there twice"),
            field=name,
        )
    if found[0].compress_type not in PLAIN or found[0].flag_bits & 1:
        raise ModelError("not a valid recording: the array is neither stored nor deflated", field=name)
    return found[0]


def _header(member: IO[bytes], name: str) -> Header:
    from numpy.lib import format as npy

    version = npy.read_magic(member)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ModelError(f"not a valid recording: version {version} of the array format is unknown", field=name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        header = Header(*readers[version](member, max_header_size=MAX_HEADER))
    if header.dtype.hasobject or header.dtype.names is not None or header.dtype.subdtype is not None:
        raise ModelError(f"expected numbers or text, got {header.dtype}", field=name)
    return header


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, header: Header) -> Array:
    shape = header.shape[::-1] if header.fortran_order else header.shape
    values = np.empty(shape, header.dtype)
    whole = values.reshape(-1).view(np.uint8) if header.size else np.empty(0, np.uint8)
    with archive.open(info) as member:
        _header(member, info.filename)
        filled = 0
        while filled < header.size:
            piece = member.read(min(PIECE, header.size - filled))
            if not piece:
                raise EOFError(f"{info.filename} ends too early")
            whole[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
            filled += len(piece)
        member.read(1)  # at the end the checksum is compared
    return values.T if header.fortran_order else values
