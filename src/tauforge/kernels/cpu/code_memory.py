"""Checks that this process may make machine code: permission, addresses and memory maps that are left."""

from __future__ import annotations

import ctypes
import mmap
import sys
import warnings
from functools import cache
from typing import Any

from tauforge.kernels.backends import NoKernelError

COMPILER = 3 * 2**26  # bytes of addresses that the compiler's library takes with what it allocates at first
SPARE_BYTES = 2**26  # what is left to it and to others; a kernel takes about 20 bytes for each byte of its source
PER_CHARACTER = 40
NO_ACCESS = 0  # PROT_NONE
SPARE_MAPS = 16  # an object takes four; the rest is left to the compiler, the interpreter and other libraries


class NoExecutableMemoryWarning(RuntimeWarning):
    """The system allows no new machine code; the NumPy reference is used instead."""


@cache
def _library() -> Any:
    """The C library. Its calls are short, so they keep the GIL: waiting to get it back can take milliseconds."""
    library = ctypes.PyDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def _pages(count: int, protection: int = mmap.PROT_READ | mmap.PROT_WRITE) -> int | None:
    """The address of new pages."""
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    address = _library().mmap(None, count * mmap.PAGESIZE, protection, kind, -1, 0)
    return None if address in (None, ctypes.c_void_p(-1).value) else address


def executable_memory(source: int = 0) -> bool:
    """True if this process can make machine code now; warns once if it cannot. source: characters to compile"""
    return sys.platform != "linux" or (_addresses(source) and _room() and _permitted())


def need_memory(source: int = 0) -> None:
    """Raise NoKernelError if there is none. Call this before importing the compiler, which needs memory itself."""
    if not executable_memory(source):
        raise NoKernelError("there is no executable memory left")


@cache
def _permitted() -> bool:
    """True if written memory may become executable. A hardened service forbids it, and running the code would crash."""
    page = _pages(1)
    if page is None:
        return False
    allowed = executable(page)
    _library().munmap(page, mmap.PAGESIZE)
    if not allowed:
        _warn_once("this process may not make executable memory: kernels are off, the NumPy reference is used")
    return allowed


def executable(address: int) -> bool:
    """Make the page of this address executable if it is not; return whether it is now."""
    if sys.platform != "linux":
        return True
    page = address & ~(mmap.PAGESIZE - 1)
    done: int = _library().mprotect(page, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC)
    return done == 0


def _addresses(source: int) -> bool:
    """True if the process may have the addresses that the compiler needs.

    `ulimit -v` limits them. LLVM does not check: it ends the process by std::bad_alloc. Pages that nobody may read or
    write take addresses and no memory, so they show how many are left.
    """
    wanted = SPARE_BYTES + PER_CHARACTER * source + (0 if "llvmlite.binding" in sys.modules else COMPILER)
    count = wanted // mmap.PAGESIZE
    start = _pages(count, NO_ACCESS)
    if start is not None:
        _library().munmap(start, count * mmap.PAGESIZE)
        return True
    _warn_once(
        "this process may not have the memory that the compiler needs (ulimit -v, RLIMIT_AS): no more kernels are "
        "compiled, the NumPy reference is used. Raise the limit"
    )
    return False


def _room() -> bool:
    """True if the process may have more memory maps.

    Linux limits their number (vm.max_map_count). LLVM does not check: beyond the limit it aborts the process, or leaves
    code that is not executable. Pages with alternating protection take a map each, so they show how many are left.
    """
    library = _library()
    start = _pages(SPARE_MAPS)
    if start is not None:
        every_second = range(start + mmap.PAGESIZE, start + SPARE_MAPS * mmap.PAGESIZE, 2 * mmap.PAGESIZE)
        enough = all(library.mprotect(page, mmap.PAGESIZE, mmap.PROT_READ) == 0 for page in every_second)
        library.munmap(start, SPARE_MAPS * mmap.PAGESIZE)
        if enough:
            return True
    _warn_once(
        "this process has no memory maps left (vm.max_map_count): no more kernels are compiled, the NumPy reference is "
        "used. Drop robots and kernels that are not needed, or make one kernel for many robots with `varying`"
    )
    return False


@cache
def _warn_once(text: str) -> None:
    warnings.warn(text, NoExecutableMemoryWarning, stacklevel=4)
