"""Text to machine code in memory, which is freed when nothing refers to it any more."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.cpu.code_memory import executable, need_memory
from tauforge.kernels.cpu.host import Host, initialise
from tauforge.kernels.lock import LOCK

_unused: deque[Any] = deque()  # engines to be closed


def target_machine(host: Host) -> Any:
    initialise()
    target = llvm.Target.from_triple(host.triple)
    return target.create_target_machine(
        cpu=host.cpu, features=host.features, opt=3, jit=True, codemodel="small", reloc="pic"
    )


def compile_text(text: str, host: Host) -> bytes:
    """An object file."""
    # A context of its own: LLVM's global one keeps every constant and type it has ever seen.
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

    So whatever keeps an address of it (a ufunc, a builtin) must refer to this object. NoKernelError where there is no
    memory for it. entry: the function by which it is verified that the code can be executed
    """

    def __init__(self, code: bytes, host: Host, entry: str) -> None:
        with LOCK:
            _close_unused()
            need_memory()
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine(host))
            # Freed by the death of an array, not by a finalizer of this object: of objects that refer to each other in
            # a circle, the garbage collector runs all finalizers first, and others among them may still call the code.
            # An array is no concern of the collector; it dies when the circle is taken apart.
            self._life = np.empty(0)
            weakref.finalize(self._life, _close, self._engine).atexit = False
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
            if not executable(self.address(entry)):
                raise NoKernelError("the system did not make the machine code executable")

    def address(self, name: str) -> int:
        """Of a function or a global; 0 if there is none."""
        with LOCK:
            return int(self._engine.get_function_address(name) or self._engine.get_global_value_address(name))


def _close(engine: Any) -> None:
    """Called wherever the last reference is dropped, so it waits for nobody: if it must, the next load closes it."""
    _unused.append(engine)
    if LOCK.acquire(blocking=False):
        try:
            _close_unused()
        finally:
            LOCK.release()


def _close_unused() -> None:
    while True:
        try:
            engine = _unused.popleft()
        except IndexError:
            return
        engine.close()
