"""Text to machine code in memory. Compilation runs under one lock; what is loaded stays loaded."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import threading
import warnings
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from tauforge.kernels.host import Host, initialise

LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that another thread holds
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)
_engines: list[Any] = []  # NumPy keeps raw pointers into them: never freed


class NoExecutableMemoryWarning(RuntimeWarning):
    """The system allows no new machine code; the NumPy reference answers instead."""


@cache
def executable_memory() -> bool:
    """Whether memory that was written may become code. A hardened service forbids it, and calling it then crashes."""
    if sys.platform != "linux":
        return True
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    size = mmap.PAGESIZE
    page = library.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if page in (None, ctypes.c_void_p(-1).value):
        return False
    allowed: bool = library.mprotect(page, size, mmap.PROT_READ | mmap.PROT_EXEC) == 0
    library.munmap(page, size)
    if not allowed:
        warnings.warn(
            "this process may not make executable memory: kernels are off, the NumPy reference answers",
            NoExecutableMemoryWarning,
            stacklevel=2,
        )
    return allowed


def target_machine(host: Host) -> Any:
    initialise()
    target = llvm.Target.from_triple(host.triple)
    return target.create_target_machine(
        cpu=host.cpu, features=host.features, opt=3, jit=True, codemodel="small", reloc="pic"
    )


def compile_text(text: str, host: Host) -> bytes:
    """An object file."""
    with LOCK:
        module = llvm.parse_assembly(text)
        module.triple = host.triple
        return bytes(target_machine(host).emit_object(module))


class Loaded:
    """Machine code in memory, by the names of its functions."""

    def __init__(self, code: bytes, host: Host) -> None:
        with LOCK:
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine(host))
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
            _engines.append(self._engine)

    def address(self, name: str) -> int:
        """Of a function or a global; 0 if there is none."""
        return int(self._engine.get_function_address(name) or self._engine.get_global_value_address(name))
