"""Machine code as genuine generalized ufuncs of NumPy."""

from __future__ import annotations

import ctypes
import platform
from functools import cache
from typing import Any

import numpy as np
import numpy._core._multiarray_umath as umath

from tauforge.kernels import cache as disk
from tauforge.kernels.cpu.code_memory import need_memory
from tauforge.kernels.cpu.engine import Loaded, compile_text
from tauforge.kernels.cpu.host import host

FROM_SIGNATURE = 31  # slot of PyUFunc_FromFuncAndDataAndSignature in the ufunc API
TYPE_NUMBERS = {64: 12, 32: 11}  # NumPy's float64 and float32
OWNER = object.__basicsize__ + 72  # offset in PyUFuncObject of `obj`, the object that a ufunc keeps alive
_kept: list[Any] = []  # used where a ufunc cannot keep the object alive itself

# Jumps to the loop that `data` points to, if there is one. It is compiled before the ufunc is called.
TRAMPOLINE = """define void @trampoline(ptr %args, ptr %dims, ptr %steps, ptr %data) {
entry:
  %loop = load atomic ptr, ptr %data acquire, align 8
  %missing = icmp eq ptr %loop, null
  br i1 %missing, label %done, label %go
go:
  call void %loop(ptr %args, ptr %dims, ptr %steps, ptr null)
  br label %done
done:
  ret void
}
"""


class Slot(ctypes.Structure):
    """The memory that a loop's `data` points to."""

    _fields_ = (("loop", ctypes.c_void_p),)


class Loops:
    """The memory that a ufunc has raw pointers to: its tables, and the machine code of its inner loops by bits.

    The ufunc keeps it alive. float64 comes first, so that integers, booleans and half precision run in double; only
    all-float32 arguments match the float32 loop.
    """

    def __init__(self, name: str, doc: str, signature: str, count: int) -> None:
        """count: the number of arguments and results together."""
        self.loaded: dict[int, Loaded] = {}
        self._slots = {bits: Slot(None) for bits in TYPE_NUMBERS}
        jump = trampoline().address("trampoline")
        self.functions = (ctypes.c_void_p * 2)(jump, jump)
        self.data = (ctypes.c_void_p * 2)(*(ctypes.addressof(slot) for slot in self._slots.values()))
        numbers = [number for number in TYPE_NUMBERS.values() for _ in range(count)]
        self.types = (ctypes.c_byte * len(numbers))(*numbers)
        self.name, self.doc, self.signature = (
            ctypes.create_string_buffer(text.encode()) for text in (name, doc, signature)
        )

    def put(self, bits: int, loaded: Loaded) -> None:
        """Called before the loop is needed. `loaded` is set last: another thread that finds it calls the loop."""
        self._slots[bits].loop = loaded.address("loop")
        self.loaded[bits] = loaded


def api_table(capsule: object) -> Any:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))


@cache
def trampoline() -> Loaded:
    """One trampoline for all ufuncs, which is never freed."""
    machine = host()
    name = disk.key(TRAMPOLINE, *map(str, machine))
    code = disk.load(name)
    if code is None:
        need_memory()
        code = compile_text(TRAMPOLINE, machine)
        disk.save(name, code)
    return Loaded(code, machine, "trampoline")


def signature(arguments: list[tuple[int, ...]], results: list[tuple[int, ...]]) -> str:
    """The signature with fixed sizes: a name would accept any length and read beyond the array.

    NumPy has no fixed size 0. There is a name for it: nothing is read, and `CpuKernel` checks the length.
    """

    def side(shapes: list[tuple[int, ...]]) -> str:
        return ",".join("(" + ",".join(str(size) if size else "none" for size in core) + ")" for core in shapes)

    return f"{side(arguments)}->{side(results)}"


@cache
def make_ufunc() -> Any:
    """NumPy's function that makes a generalized ufunc."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, *[pointer] * 3, *[number] * 4, pointer, pointer, number, pointer)
    return kind(api_table(umath._UFUNC_API)[FROM_SIGNATURE])


def generalized_ufunc(
    name: str, doc: str, arguments: list[tuple[int, ...]], results: list[tuple[int, ...]]
) -> tuple[np.ufunc, Loops]:
    """The ufunc, and the object that takes its inner loops (`Loops.put`)."""
    loops = Loops(name, doc, signature(arguments, results), len(arguments) + len(results))
    no_identity = -1
    ufunc = make_ufunc()(
        ctypes.addressof(loops.functions),
        ctypes.addressof(loops.data),
        ctypes.addressof(loops.types),
        len(loops.functions),
        len(arguments),
        len(results),
        no_identity,
        ctypes.addressof(loops.name),
        ctypes.addressof(loops.doc),
        0,
        ctypes.addressof(loops.signature),
    )
    _keep(ufunc, loops)
    return ufunc, loops


def _keep(ufunc: np.ufunc, loops: Loops) -> None:
    """Make the loops live as long as the ufunc."""
    if not _owner_is_where_assumed():
        _kept.append(loops)
        return
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(loops))
    ctypes.c_void_p.from_address(id(ufunc) + OWNER).value = id(loops)


@cache
def _owner_is_where_assumed() -> bool:
    """Whether a ufunc made from a Python function has that function at this offset."""
    if platform.python_implementation() != "CPython":
        return False

    def function(x: Any) -> Any:
        return x

    made = np.frompyfunc(function, 1, 1)
    found: bool = ctypes.c_void_p.from_address(id(made) + OWNER).value == id(function)
    return found
