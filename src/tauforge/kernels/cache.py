"""Compiled objects on disk, so that a kernel is made once per machine and not once per process.

An entry is a digest and the object; it is loaded only if the digest is right and nobody else could have written it. The
folder is made private (0700) and used only if no one else can write to it; it is never a shared temporary folder.
Writers race harmlessly: each writes its own file and renames it into place. TAUFORGE_CACHE names another folder or
switches the cache off.
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
MAX_BYTES = 256 * 2**20  # of all entries together, or a little more; the oldest go first
TRIMS = 16  # times that the folder is looked through while MAX_BYTES are saved, on average
OURS = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{16}\.tmp)?")  # names of entries, and of entries being written


class KernelCacheWarning(RuntimeWarning):
    """The kernel cache, or an entry of it, cannot be used; everything still works, only slower to start."""


def folder() -> Path | None:
    """Where entries go; None if the cache is switched off or the folder is not ours alone."""
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
    """Made if missing; refused, with one warning, if others could plant files in it.

    A relative name means a folder in the directory that is current when it is first asked for, also later.
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
    """How somebody else could have written there; None if nobody could.

    Windows has neither owners nor modes in this sense; its folders of users are private.
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
    """A name for what the parts describe."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part.encode())
    return digest.hexdigest()


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
    _warn(f"the kernel cache entry {path} {fault or 'is damaged'} and is made again")
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
    return None


def _read(path: Path) -> tuple[str | None, bytes]:
    """What is wrong with the file, and its content. The open file is judged: its name may lead elsewhere meanwhile."""
    with open(path, "rb", opener=_directly) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return "is not a file", b""
        if fault := _open_to_others(status):
            return fault, b""
        return None, file.read()


def _directly(path: str, flags: int) -> int:
    """Opens it without following a link, and without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def save(name: str, code: bytes) -> None:
    """Best effort: a full or read-only disk costs nothing but the saving."""
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
    """Opens it for us alone, whatever the umask."""
    return os.open(path, flags, 0o600)


def _digest(name: str, code: bytes) -> bytes:
    """Bound to the name, so that an entry copied to another name is not taken for it."""
    return hashlib.sha256(name.encode() + b"\0" + code).digest()


def _trim_is_due(name: str, size: int) -> bool:
    """Of many entries together TRIMS times for every MAX_BYTES, however many processes save them.

    To look through the folder takes as long as there are entries: not with every one of them. Names are digests, so
    they decide as a die would.
    """
    return int(name[:8], 16) / 16**8 < TRIMS * size / MAX_BYTES


def _trim(place: Path) -> None:
    """Only our own files: the folder may be one that the user has other things in."""
    entries = []
    with os.scandir(place) as found:
        for item in found:
            if not (OURS.fullmatch(item.name) and item.is_file(follow_symlinks=False)):
                continue
            try:
                status = item.stat(follow_symlinks=False)
            except OSError:
                continue
            entries.append((status.st_mtime, status.st_size, item.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= MAX_BYTES:
            break
        with contextlib.suppress(OSError):  # another process trims too
            os.unlink(path)
            total -= size
