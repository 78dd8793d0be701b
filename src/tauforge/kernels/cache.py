"""Compiled objects on disk, so that a kernel is made once per machine and not once per process.

An entry is a digest and the object; it is loaded only if the digest is right. The folder is made private (0700) and
used only if no one else can write to it; it is never a shared temporary folder. Writers race harmlessly: each writes
its own file and renames it into place. TAUFORGE_CACHE names another folder or switches the cache off.
"""

from __future__ import annotations

import contextlib
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
MAX_BYTES = 256 * 2**20  # of all entries together; the oldest go first
OURS = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{16}\.tmp)?")  # names of entries, and of entries being written


class KernelCacheWarning(RuntimeWarning):
    """The kernel cache cannot be used, or an entry was damaged; everything still works, only slower to start."""


def folder() -> Path | None:
    """Where entries go; None if the cache is switched off or the folder is not ours alone."""
    wanted = settings.cache_folder()
    if wanted is False:
        return None
    if isinstance(wanted, str):
        return _checked(wanted)
    base = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache" if _has_home() else None)
    return None if base is None else _checked(str(Path(base) / "tauforge" / "kernels"))


def _has_home() -> bool:
    try:
        return Path.home().is_dir()
    except RuntimeError:
        return False


@cache
def _checked(name: str) -> Path | None:
    """Made if missing; refused, with one warning, if others could plant files in it."""
    path = Path(name)
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = path.stat()
    except OSError as error:
        _warn(f"the kernel cache {path} cannot be used: {error.strerror}")
        return None
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        _warn(f"the kernel cache {path} belongs to another user and is not used")
        return None
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        _warn(f"the kernel cache {path} can be written by others and is not used. Make it private: chmod 700")
        return None
    return path


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
    """The object, or None if there is none or it is damaged (then it is removed, with one warning)."""
    place = folder()
    if place is None:
        return None
    path = place / name
    try:
        entry = path.read_bytes()
    except OSError:
        return None
    head, digest, code = entry[: len(MAGIC)], entry[len(MAGIC) :][:DIGEST_BYTES], entry[len(MAGIC) + DIGEST_BYTES :]
    if head == MAGIC and digest == _digest(name, code):
        return code
    _warn(f"the kernel cache entry {path} is damaged and is made again")
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
    return None


def save(name: str, code: bytes) -> None:
    """Best effort: a full or read-only disk costs nothing but the saving."""
    place = folder()
    if place is None:
        return
    temporary = place / f"{name}.{secrets.token_hex(8)}.tmp"
    try:
        temporary.write_bytes(MAGIC + _digest(name, code) + code)
        temporary.replace(place / name)
        _trim(place)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _digest(name: str, code: bytes) -> bytes:
    """Bound to the name, so that an entry copied to another name is not taken for it."""
    return hashlib.sha256(name.encode() + b"\0" + code).digest()


def _trim(place: Path) -> None:
    """Only our own files: the folder may be one that the user has other things in."""
    entries = []
    for path in place.iterdir():
        if not OURS.fullmatch(path.name):
            continue
        try:
            status = path.stat()
        except OSError:
            continue
        entries.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries, key=lambda entry: entry[0]):
        if total <= MAX_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size
