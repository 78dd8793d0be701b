"""A folder that is written whole or not at all; only an earlier one of the same kind is ever replaced."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tauforge.errors import ModelError


@contextmanager
def whole_folder(path: Path, *, holds: Collection[str], mark: tuple[str, str]) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `path` when the block ends well and vanishes if not.

    holds: names of the entries that an earlier one may have
    mark:  an entry, and a text that stands near its beginning in an earlier one and nowhere else
    """
    target = path.absolute()
    _check(target, holds, mark)
    target = target.resolve()
    own = secrets.token_hex(6)
    folder, old = (target.with_name(f".{target.name}.{own}.{end}") for end in ("tmp", "old"))
    try:
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise not_writable(path, error) from None
        yield folder
        try:
            _put_in_place(folder, target, old)
        except OSError as error:
            raise not_writable(path, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def not_writable(path: Path, error: OSError) -> ModelError:
    """A refusal of the system, as ours."""
    problem = f"cannot be written: {error.strerror or error}"
    return ModelError(problem, file=path, remedy="Name a folder that you may write to")


def _put_in_place(folder: Path, target: Path, old: Path) -> None:
    if not target.exists():
        os.rename(folder, target)
        return
    os.rename(target, old)
    try:
        os.rename(folder, target)
    except BaseException:
        os.rename(old, target)
        raise


def _check(target: Path, holds: Collection[str], mark: tuple[str, str]) -> None:
    """A folder with anything else in it is somebody's work."""
    try:
        if not target.exists() and not target.is_symlink():
            return
        if not target.is_dir():
            raise ModelError("is not a folder", file=target, remedy="Name a folder: a new one, or an earlier report")
        if Path.cwd().resolve().is_relative_to(target.resolve()):
            raise ModelError("is the folder you are in, or one around it", file=target, remedy="Name one inside it")
        entries = sorted(entry.name for entry in target.iterdir())
        others = [name for name in entries if name not in holds]
        page = target / mark[0]
        marked = page.is_file() and mark[1] in page.read_text(encoding="utf-8", errors="replace")[:2000]
    except OSError as error:
        raise not_writable(target, error) from None
    if others or (entries and not marked):
        found = others[0] if others else "files that are not ours"
        raise ModelError(f"holds {found} and is not replaced", file=target, remedy="Name a new folder, or empty it")
