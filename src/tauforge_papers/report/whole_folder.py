"""A folder that is replaced in one step, and only what we wrote in it: other files are kept as they are.

The new folder is made beside the old one. Files that are not ours get a second name (a hard link) in it; then the two
folders swap names, and the old one is removed. So at every moment, even if the process is killed, the name leads to a
whole folder, old or new, with all of the user's files.

The swap is one system call on Linux (renameat2). Where the system or its file system has none, two renames take its
place; between them the name leads nowhere, and both whole folders are beside it as `.NAME.*.old` and `.NAME.*.tmp`. If
the process is killed just there, the next one puts the old folder back first.
"""

from __future__ import annotations

import atexit
import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tauforge.errors import ModelError

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux
OLD = re.compile(r"\.[0-9a-f]{12}\.old$")
NO_SWAP = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


@contextmanager
def whole_folder(path: Path, *, mark: tuple[str, str], own: Callable[[Path], Collection[str]]) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `path` when the block ends well and vanishes if not.

    mark: an entry, and a text that stands near its beginning in an earlier folder of ours and nowhere else
    own:  names of the files that we wrote into such a folder, relative to it
    """
    target = path.absolute()
    try:
        _put_back(target)
    except OSError as error:
        raise not_writable(path, error) from None
    _check(target, mark)
    replacement = _Replacement(target.resolve())
    try:
        try:
            replacement.make()
        except OSError as error:
            raise not_writable(path.parent, error, "The new report is made beside the old one. ") from None
        yield replacement.folder
        try:
            replacement.keep_others(own)
            replacement.put_in_place()
        except OSError as error:
            raise not_writable(path, error) from None
    finally:
        replacement.settle()


def not_writable(path: Path, error: OSError, why: str = "") -> ModelError:
    """A refusal of the system, as ours."""
    problem = f"the folder cannot be written: {error.strerror or error}"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "Make room, or name a folder on another disk" if full else "Name a folder that you may write to"
    return ModelError(problem, file=path, remedy=why + remedy)


class _Replacement:
    """A new folder on its way to the place of another one.

    folder: the new folder; once it is in place, the old one
    old:    the old folder, only while two renames take the place of a swap
    """

    def __init__(self, target: Path) -> None:
        own = secrets.token_hex(6)
        self.target = target
        self.folder, self.old = (target.with_name(f".{target.name}.{own}.{end}") for end in ("tmp", "old"))
        self._made: os.stat_result | None = None
        self._removable: set[str] = set()  # names in the old folder: our files, and others that the new one has too

    def make(self) -> None:
        _UNSETTLED[self] = os.getpid()
        self.folder.mkdir(parents=True)
        self._made = self.folder.stat()

    def keep_others(self, own: Callable[[Path], Collection[str]]) -> None:
        """Gives the new folder everything of the old one that we did not write."""
        if not self.target.exists():
            return
        self._removable.update(own(self.target))
        made: list[str] = []
        for name, is_folder in _entries(self.target):
            here, there = self.target / name, self.folder / name
            if is_folder and not os.path.lexists(there):
                there.mkdir()
                made.append(name)
            elif is_folder and there.is_dir() and not there.is_symlink():
                shutil.copymode(here, there)
            elif is_folder or (name not in self._removable and os.path.lexists(there)):
                problem = f"the folder holds {name}, which no earlier report wrote and the new one would overwrite"
                raise ModelError(problem, file=self.target, remedy="Move it away, or name a new folder")
            elif name not in self._removable:
                _link_or_copy(here, there)
                self._removable.add(name)
        for name in reversed(made):
            shutil.copystat(self.target / name, self.folder / name)
        shutil.copymode(self.target, self.folder)

    def put_in_place(self) -> None:
        if not self.target.exists():
            os.rename(self.folder, self.target)
        elif not _swapped(self.folder, self.target):
            os.rename(self.target, self.old)
            os.rename(self.folder, self.target)

    def settle(self) -> None:
        """Removes what is left, from wherever the work has come to; may be called again after an interrupt."""
        with suppress(OSError):
            if self.old.exists():
                os.rename(self.old, self.folder if self.target.exists() else self.target)
        if self._made is None or _is(self.folder, self._made):
            shutil.rmtree(self.folder, ignore_errors=True)
        elif self.folder.exists():
            self._remove_old()
        _UNSETTLED.pop(self, None)

    def _remove_old(self) -> None:
        """Only what may go. What came into the old folder meanwhile moves on, or stays where the name is taken."""
        entries = list(_entries(self.folder))
        for name in (name for name, is_folder in entries if not is_folder):
            with suppress(OSError):
                if name in self._removable:
                    (self.folder / name).unlink()
                elif not os.path.lexists(self.target / name):
                    os.rename(self.folder / name, self.target / name)
        for name in [*(name for name, is_folder in reversed(entries) if is_folder), ""]:
            with suppress(OSError):
                (self.folder / name).rmdir()


_UNSETTLED: dict[_Replacement, int] = {}  # with the process that began it, which a fork is not


@atexit.register
def _settle_all() -> None:
    """An interrupt may cut `settle` short."""
    for replacement, process in tuple(_UNSETTLED.items()):
        if process == os.getpid():
            replacement.settle()


def _entries(folder: Path, below: str = "") -> Iterator[tuple[str, bool]]:
    """Names of everything in a folder, relative to it, and whether each is a folder; links are not followed."""
    with os.scandir(folder / below) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        name, is_folder = f"{below}{entry.name}", entry.is_dir(follow_symlinks=False)
        yield name, is_folder
        if is_folder:
            yield from _entries(folder, f"{name}/")


def _is(path: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), status)
    except OSError:
        return False


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # some file systems have no hard links
        shutil.copy2(source, target, follow_symlinks=False)


def _swapped(one: Path, other: Path) -> bool:
    """Swaps two names in one step; False where that cannot be."""
    try:
        import ctypes

        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, TypeError, AttributeError):
        return False
    if rename(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in NO_SWAP:
        return False
    raise OSError(number, os.strerror(number))


def _put_back(target: Path) -> None:
    """The old folder, if a process was killed before the new one took its place."""
    if not os.path.lexists(target) and target.parent.is_dir():
        left = [name for name in os.listdir(target.parent) if name.startswith(f".{target.name}.") and OLD.search(name)]
        if left:
            os.rename(target.with_name(left[0]), target)


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
