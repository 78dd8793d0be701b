"""Files that are read with a cap on their size, and written whole: readers see the old or the new, never half."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tauforge.errors import ModelError


def read_capped(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file, of a larger one the first that are allowed and one more."""
    try:
        if path.is_file() or not path.exists():  # a pipe would block, a device never end
            with path.open("rb") as file:
                return file.read(most_bytes + 1)
        problem = f"expected a {'file, got a folder' if path.is_dir() else 'regular file'}"
    except (FileNotFoundError, ValueError):  # a null character in the name
        problem = "no such file"
    except OSError as error:
        problem = f"the file cannot be read: {error.strerror}"
    raise ModelError(problem, file=path)


def decoded(data: bytes, most_bytes: int) -> str:
    """The text of UTF-8 that is not too long; a ModelError names the line of the first byte that is none."""
    if len(data) > most_bytes:
        size = f"{most_bytes >> 20} MiB" if most_bytes >= 2**20 else f"{most_bytes >> 10} KiB"
        raise ModelError(f"the file is larger than {size}, the most a model file may have")
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"the text is not UTF-8: byte {data[error.start]:#04x}",
            line=data.count(b"\n", 0, error.start) + 1,
            remedy="Save the file as UTF-8",
        ) from None


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` when the block ends well and vanishes when it does not.

    If the path is a symbolic link, its target is replaced. A file that is replaced keeps its mode, and until then only
    its owner can read the new one. ModelError where the folder does not exist or the system refuses.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        refused, remedy = None, None
        if not target.parent.is_dir():
            refused, remedy = "its folder does not exist", f"Make {target.parent} first"
        elif target.is_dir():
            refused = "the path is a folder"
        elif target.exists() and not target.is_file():  # a pipe, or /dev/null behind a link: a file would replace it
            refused, remedy = "the path is not a regular file", "Give the name of a file"
        if refused is not None:
            raise ModelError(f"the file cannot be written: {refused}", file=Path(path), remedy=remedy)
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
