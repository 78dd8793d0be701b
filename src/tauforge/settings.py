"""The environment variables of the package: each is read here, and a value that cannot be is refused by name.

They are read when they are needed and not when the package is imported, so a program may still set them.
"""

from __future__ import annotations

import os

from tauforge.errors import SettingError

KERNELS = "TAUFORGE_KERNELS"
CACHE = "TAUFORGE_CACHE"
THREADS = "TAUFORGE_THREADS"
VECTOR_BITS = "TAUFORGE_VECTOR_BITS"
ON = ("1", "on", "yes", "true")
OFF = ("0", "off", "no", "false")
VECTOR_WIDTHS = (128, 256, 512)
MAX_DIGITS = 9  # of a whole number


def kernels() -> bool:
    """True if kernels may be compiled; without a value they may."""
    word = _word(KERNELS)
    if word in OFF:
        return False
    if word in ("", *ON):
        return True
    raise _refused(KERNELS, f"{_one_of(ON)}, or {_one_of(OFF)}")


def cache_folder() -> str | bool:
    """The folder of the kernel cache; True for the default one, False for none.

    An empty value switches the cache off, as `TAUFORGE_CACHE= command` does in a shell.
    """
    value = os.environ.get(CACHE)
    if value is None or _word(CACHE) in ON:
        return True
    return False if _word(CACHE) in ("", "none", *OFF) else value


def threads() -> int | None:
    """Threads of a large batch; None where nothing is said."""
    return _whole_number(THREADS, "a whole number >= 1")


def vector_bits() -> int | None:
    """The widest vectors that may be used; None where nothing is said."""
    found = _whole_number(VECTOR_BITS, "128, 256 or 512")
    if found not in (None, *VECTOR_WIDTHS):
        raise _refused(VECTOR_BITS, "128, 256 or 512")
    return found


def check() -> None:
    """Raises SettingError for the first value that cannot be, before any work depends on it."""
    for read in (kernels, cache_folder, threads, vector_bits):
        read()


def shown(name: str) -> str:
    """The variable as it is set, NAME=value."""
    return f"{name}={os.environ.get(name, '')}"


def _word(name: str) -> str:
    return os.environ.get(name, "").strip().lower()


def _whole_number(name: str, expected: str) -> int | None:
    word = _word(name)
    if not word:
        return None
    if not (word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS and int(word) > 0):
        raise _refused(name, expected)
    return int(word)


def _one_of(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _refused(name: str, expected: str) -> SettingError:
    return SettingError(name, expected=expected, got=os.environ[name])
