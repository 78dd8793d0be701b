"""LLVM source to machine code of this processor, in memory that is freed when nothing refers to it any more."""

from __future__ import annotations

import weakref
from collections import deque
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from tauforge.kernels import LOCK
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.cpu.code_memory import executable, need_memory
from tauforge.settings import VECTOR_BITS as VECTOR_BITS
from tauforge.settings import vector_bits


class Host(NamedTuple):
    """Target of the compiler. Code made for one host is never loaded on another."""

    triple: str
    cpu: str
    features: str
    vector_bits: int
    llvm: str

    def lanes(self, bits: int) -> int:
        """Numbers of this many bits in one vector."""
        return self.vector_bits // bits

    @property
    def x86(self) -> bool:
        return self.triple.startswith("x86_64")

    @property
    def has_avx512(self) -> bool:
        return self.vector_bits == 512


@cache
def initialise() -> None:
    with LOCK:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()


@cache
def _native() -> Host:
    with LOCK:
        initialise()
        features = llvm.get_host_cpu_features()
        widest = 512 if features.get("avx512f") and features.get("avx512dq") else 256 if features.get("avx2") else 128
        return Host(
            llvm.get_process_triple(),
            llvm.get_host_cpu_name(),
            features.flatten(),
            widest,
            f"{llvmlite.__version__}/{'.'.join(map(str, llvm.llvm_version_info))}",
        )


def host() -> Host:
    """This machine, with vectors no wider than TAUFORGE_VECTOR_BITS."""
    native = _native()
    return native._replace(vector_bits=min(native.vector_bits, vector_bits() or native.vector_bits))


_unused: deque[Any] = deque()  # engines to be closed


def target_machine(host: Host) -> Any:
    initialise()
    target = llvm.Target.from_triple(host.triple)
    return target.create_target_machine(
        cpu=host.cpu, features=host.features, opt=3, jit=True, codemodel="small", reloc="pic"
    )


def compile_text(text: str, host: Host) -> bytes:
    """The object file of LLVM source."""
    # A context of its own, because LLVM's global one keeps every constant and type for ever.
    with (
        LOCK,
        llvm.create_context() as context,
        llvm.parse_assembly(text, context) as module,
        target_machine(host) as machine,
    ):
        module.triple = host.triple
        return bytes(machine.emit_object(module))


class Loaded:
    """Machine code in memory, by the names of its functions. It is freed with this object.

    So whatever keeps an address of it (a ufunc, a builtin) must refer to this object. It raises NoKernelError if there
    is no memory for it.

    entry: the function with which it is checked that the code is executable
    """

    def __init__(self, code: bytes, host: Host, entry: str) -> None:
        with LOCK:
            _close_unused()
            need_memory()
            # llvmlite's memory manager (lmm) puts all parts of an object into one block. LLVM's own takes what is free
            # for each, and aborts if code and constants are more than 2 GiB apart, as in a process that uses JAX.
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine(host), use_lmm=True)
            # The code is freed with an array, not by a finalizer of this object. In a reference cycle the garbage
            # collector runs all finalizers first, and other objects of the cycle may still call the code. The collector
            # does not track an array; it is freed when the cycle is broken.
            self._life = np.empty(0)
            weakref.finalize(self._life, _close, self._engine).atexit = False
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
            if not executable(self.address(entry)):
                raise NoKernelError("there is no executable memory left")

    def address(self, name: str) -> int:
        """The address of a function or a global; 0 if there is no such name."""
        with LOCK:
            return int(self._engine.get_function_address(name) or self._engine.get_global_value_address(name))


def _close(engine: Any) -> None:
    """Called wherever the last reference is dropped, so it never waits for the lock: else the next load closes it."""
    _unused.append(engine)
    if LOCK.acquire(blocking=False):
        try:
            _close_unused()
        finally:
            LOCK.release()


def _close_unused() -> None:
    with suppress(IndexError):  # until there is none
        while True:
            _unused.popleft().close()
