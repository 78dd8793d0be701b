"""A folder that is replaced whole, and only what we wrote in it: other files are kept as they are.

The new folder is made beside the old one, which then steps aside as `.NAME.*.old`. Files in it that are not ours get a
second name (a hard link) in the new folder, which takes its place. If anything fails, the old folder is put back; if
the process is killed in between, the next one puts it back first.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tauforge.errors import ModelError

OLD = re.compile(r"\.[0-9a-f]{12}\.old$")


@contextmanager
def whole_folder(path: Path, *, mark: tuple[str, str], own: Callable[[Path], Collection[str]]) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `path` when the block ends well and vanishes if not.

    mark: an entry, and a text that stands near its beginning in an earlier folder of ours and nowhere else
    own:  names of the files that we wrote into such a folder, relative to it
    """
    target = path.absolute()
    try:
        _put_back(target.resolve())  # where a link leads
    except OSError as error:
        raise not_writable(path, error) from None
    _check(target, mark)
    target, unique = target.resolve(), secrets.token_hex(6)
    folder, old = (target.with_name(f".{target.name}.{unique}.{end}") for end in ("tmp", "old"))
    try:
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise not_writable(path.parent, error, "The new report is made beside the old one. ") from None
        yield folder
        try:
            if target.exists():
                ours = own(target)
                _check_names(target, folder, ours)
                os.rename(target, old)
                _keep_others(old, folder, ours)
            os.rename(folder, target)
        except OSError as error:
            raise not_writable(path, error) from None
    finally:
        if old.exists():
            os.rename(old, folder if target.exists() else target)
        shutil.rmtree(folder, ignore_errors=True)


def not_writable(path: Path, error: OSError, why: str = "") -> ModelError:
    """A refusal of the system, as ours."""
    problem = f"the folder cannot be written: {error.strerror or error}"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "Make room, or name a folder on another disk" if full else "Name a folder that you may write to"
    return ModelError(problem, file=path, remedy=why + remedy)


def _check_names(target: Path, folder: Path, ours: Collection[str]) -> None:
    """ModelError where the new folder has a name that the user has taken in the old one."""
    for path in sorted(target.rglob("*")):
        name = path.relative_to(target).as_posix()
        new = folder / name
        if os.path.lexists(new) and name not in ours and not (path.is_dir() and new.is_dir()):
            problem = f"the folder holds {name}, which no earlier report wrote and the new one would overwrite"
            raise ModelError(problem, file=target, remedy="Move it away, or name a new folder")


def _keep_others(old: Path, folder: Path, ours: Collection[str]) -> None:
    """Gives the new folder everything of the old one that we did not write."""

    def own_names(below: str, names: list[str]) -> list[str]:
        return [name for name in names if (Path(below) / name).relative_to(old).as_posix() in ours]

    shutil.copytree(old, folder, symlinks=True, ignore=own_names, copy_function=_link_or_copy, dirs_exist_ok=True)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # some file systems have no hard links
        shutil.copy2(source, target, follow_symlinks=False)


def _put_back(target: Path) -> None:
    """What a killed process left aside: the old folder, unless the new one had taken its place already."""
    if target.parent.is_dir():
        for name in os.listdir(target.parent):
            if name.startswith(f".{target.name}.") and OLD.search(name):
                if os.path.lexists(target):
                    shutil.rmtree(target.with_name(name))
                else:
                    os.rename(target.with_name(name), target)


def _check(target: Path, mark: tuple[str, str]) -> None:
    """A folder without our mark is somebody's work."""
    try:
        if not target.exists() and not target.is_symlink():
            return
        if not target.is_dir():
            raise ModelError(
                "the path is not a folder", file=target, remedy="Name a folder: a new one, or an earlier report"
            )
        if os.path.ismount(target.resolve()):
            raise ModelError(
                "the folder is a mount point, which cannot be replaced", file=target, remedy="Name a folder inside it"
            )
        if Path.cwd().resolve().is_relative_to(target.resolve()):
            raise ModelError("the folder is the current one, or contains it", file=target, remedy="Name one inside it")
        entries = sorted(entry.name for entry in target.iterdir())
        page = target / mark[0]
        marked = page.is_file() and mark[1] in page.read_text(encoding="utf-8", errors="replace")[:2000]
    except OSError as error:
        raise not_writable(target, error) from None
    if entries and not marked:
        found = next((name for name in entries if name != mark[0]), "files that are not ours")
        raise ModelError(
            f"the folder holds {found} and is not replaced", file=target, remedy="Name a new folder, or empty it"
        )
