"""Files that are written whole or not at all: whoever reads one sees the old or the new, never half."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tauforge.errors import ModelError


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` when the block ends well and vanishes when it does not.

    If the path is a symbolic link, its target is replaced. A file that is replaced keeps its mode, and until then only
    its owner can read the new one. ModelError where the folder does not exist or the system refuses.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        if not target.parent.is_dir():
            raise ModelError(
                "the file cannot be written: its folder does not exist",
                file=Path(path),
                remedy=f"Make {target.parent} first",
            )
        if target.is_dir():
            raise ModelError("the file cannot be written: the path is a folder", file=Path(path))
        if target.exists() and not target.is_file():  # a pipe, or /dev/null behind a link: a file would replace it
            raise ModelError(
                "the file cannot be written: the path is not a regular file",
                file=Path(path),
                remedy="Give the name of a file",
            )
        mode = 0o600 if target.exists() else 0o666  # less the umask
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except OSError as error:
        raise ModelError(f"the file cannot be written: {error.strerror or error}", file=Path(path)) from None
    finally:
        with suppress(OSError):  # a name too long for any file
            temporary.unlink(missing_ok=True)


def reach_disk(file: Path) -> None:
    """Waits until the contents of a file that was written are on the disk, where a power cut leaves them."""
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
