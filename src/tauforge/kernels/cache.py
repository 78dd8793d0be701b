"""Compiled objects on disk, so that a kernel is compiled once per machine and not once per process.

An entry is a digest and the object; it is loaded only if the digest is right and nobody else could have written it. The
folder is made private (0700) and used only if no one else can write to it; it is never a shared temporary folder.
Concurrent writers do no harm: each writes its own file and renames it. TAUFORGE_CACHE names another folder or switches
the cache off.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
import warnings
from functools import cache
from pathlib import Path

from tauforge import settings

MAGIC = b"tauforge-kernel-1\n"
DIGEST_BYTES = 32
MAX_CACHE_BYTES = 256 * 2**20  # approximate limit for all entries together; the oldest are removed first
TRIMS = 16  # how often the folder is scanned while MAX_CACHE_BYTES are saved, on average
ENTRY_NAMES = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{16}\.tmp)?")  # names of entries, and of entries being written


class KernelCacheWarning(RuntimeWarning):
    """The kernel cache, or an entry of it, cannot be used. Everything still works but starts more slowly."""


def folder() -> Path | None:
    """The folder of the entries; None if the cache is switched off or others can write to the folder."""
    wanted = settings.cache_folder()
    if wanted is False:
        return None
    if isinstance(wanted, str):
        return _checked(wanted)
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # the XDG specification: others are ignored
        if not _has_home():
            return None
        base = Path.home() / ".cache"
    return _checked(str(base / "tauforge" / "kernels"))


def _has_home() -> bool:
    try:
        return Path.home().is_dir()
    except RuntimeError:
        return False


@cache
def _checked(name: str) -> Path | None:
    """The folder, which is made if missing; None, with one warning, if others could put files into it.

    A relative name means a folder in the directory that is current at the first call, even after a change of directory.
    """
    try:
        path = Path(name).expanduser().absolute()
        for above in reversed(path.parents):  # `parents=True` would make them with the umask's mode
            if not above.exists():
                above.mkdir(mode=0o700, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError) as error:  # no such user, or a user without a home
        _warn(f"the kernel cache {name} cannot be used: {getattr(error, 'strerror', None) or error}")
        return None
    if fault := _open_to_others(status):
        _warn(f"the kernel cache {path} {fault} and is not used. Make it private: chmod 700, or name another folder")
        return None
    return path


def _open_to_others(status: os.stat_result) -> str | None:
    """The reason why somebody else could have written there; None if nobody could.

    Windows has neither owners nor modes in this sense; the folders of its users are private.
    """
    if not hasattr(os, "geteuid"):
        return None
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by others"
    return None


def _warn(text: str) -> None:
    warnings.warn(text, KernelCacheWarning, stacklevel=3)


def key(*parts: str) -> str:
    """The name of the entry that the parts identify."""
    return hashlib.sha256(b"".join([len(part).to_bytes(8, "little") + part.encode() for part in parts])).hexdigest()


def load(name: str) -> bytes | None:
    """The object, or None if there is none or it cannot be trusted (then it is removed, with one warning)."""
    place = folder()
    if place is None:
        return None
    path = place / name
    try:
        fault, entry = _read(path)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EMLINK):
            return None
        fault, entry = "is a link", b""
    head, digest, code = entry[: len(MAGIC)], entry[len(MAGIC) :][:DIGEST_BYTES], entry[len(MAGIC) + DIGEST_BYTES :]
    if fault is None and head == MAGIC and digest == _digest(name, code):
        return code
    _warn(f"the kernel cache entry {path} {fault or 'is damaged'} and is compiled again")
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
    return None


def _read(path: Path) -> tuple[str | None, bytes]:
    """The fault of the file or None, and its content. The open file is checked: its name may change meanwhile."""
    with open(path, "rb", opener=_directly) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return "is not a file", b""
        if fault := _open_to_others(status):
            return fault, b""
        return None, file.read()


def _directly(path: str, flags: int) -> int:
    """Open it without following a link, and without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def save(name: str, code: bytes) -> None:
    """Save an entry if possible: on a full or read-only disk the entry is not kept."""
    place = folder()
    if place is None:
        return
    entry = MAGIC + _digest(name, code) + code
    temporary = place / f"{name}.{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb", opener=_private) as file:
            file.write(entry)
        temporary.replace(place / name)
        if _trim_is_due(name, len(entry)):
            _trim(place)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    """Open it for this user alone, whatever the umask."""
    return os.open(path, flags, 0o600)


def _digest(name: str, code: bytes) -> bytes:
    """A digest that includes the name, so that an entry copied to another name is refused."""
    return hashlib.sha256(name.encode() + b"\0" + code).digest()


def _trim_is_due(name: str, size: int) -> bool:
    """True about TRIMS times for every MAX_CACHE_BYTES of saved entries, however many processes save them.

    Scanning the folder takes time in proportion to its entries, so it is not done for each of them. Names are digests,
    so they serve as random numbers.
    """
    return int(name[:8], 16) / 16**8 < TRIMS * size / MAX_CACHE_BYTES


def _trim(place: Path) -> None:
    """Remove only our own files: the user may keep other files in the folder."""
    entries = []
    with os.scandir(place) as found:
        for item in found:
            if not (ENTRY_NAMES.fullmatch(item.name) and item.is_file(follow_symlinks=False)):
                continue
            try:
                status = item.stat(follow_symlinks=False)
            except OSError:
                continue
            entries.append((status.st_mtime, status.st_size, item.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= MAX_CACHE_BYTES:
            break
        with contextlib.suppress(OSError):  # another process trims too
            os.unlink(path)
            total -= size
