"""One process at a time works on a store: the system's own lock, which ends with the process however it ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tauforge.errors import ModelError

UNKNOWN = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)  # file systems without locks


@contextmanager
def locked(file: Path, store: Path) -> Iterator[None]:
    """Holds the lock on a file of the store while the block runs; ModelError if another process has it.

    Where the file system knows no locks there is none: two processes then compute blocks twice, and write the same.
    """
    file.parent.mkdir(parents=True, exist_ok=True)  # of a damaged store it may be gone
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not _taken(handle) or not _is(file, handle):  # another one may have put a new store in its place
            raise ModelError(
                "another process is at work on this sweep", file=store, remedy="Wait for it, or name another store"
            )
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
        return error.errno in UNKNOWN
    return True


def _is(file: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False
