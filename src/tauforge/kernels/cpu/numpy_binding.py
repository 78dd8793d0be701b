"""Machine code as NumPy calls it, a generalized ufunc, and as Python does, a builtin for one state or a short batch.

The builtin reads NumPy arrays directly and assumes the offsets of their fields. They are verified at first use, on
arrays of several kinds. The builtin stays off if anything differs, on interpreters without a GIL, and on anything but
64-bit CPython.
"""

from __future__ import annotations

import ctypes
import inspect
import platform
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy._core._multiarray_umath as umath

from tauforge.kernels import cache as disk
from tauforge.kernels.cpu import llvm_builtin as layout
from tauforge.kernels.cpu.code_memory import need_memory
from tauforge.kernels.cpu.engine import Loaded, compile_text, host

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


class InnerLoops:
    """The memory that a ufunc has raw pointers to: its tables, and the machine code of its inner loops by bits.

    The ufunc keeps it alive. float64 comes first, so that integers, booleans and half precision run in double; only
    all-float32 arguments match the float32 loop.
    """

    def __init__(self, name: str, doc: str, signature: str, count: int) -> None:
        """count: the number of arguments and results together."""
        self.loaded: dict[int, Loaded] = {}
        self._slots = {bits: ctypes.c_void_p(None) for bits in TYPE_NUMBERS}  # that `data` points to
        jump = trampoline().address("trampoline")
        self.functions = (ctypes.c_void_p * 2)(jump, jump)
        self.data = (ctypes.c_void_p * 2)(*(ctypes.addressof(slot) for slot in self._slots.values()))
        numbers = [number for number in TYPE_NUMBERS.values() for _ in range(count)]
        self.types = (ctypes.c_byte * len(numbers))(*numbers)
        self.texts = [ctypes.create_string_buffer(text.encode()) for text in (name, doc, signature)]

    def put(self, bits: int, loaded: Loaded) -> None:
        """Called before the loop is needed. `loaded` is set last: another thread that finds it calls the loop."""
        self._slots[bits].value = loaded.address("loop")
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
) -> tuple[np.ufunc, InnerLoops]:
    """The ufunc, and the object that takes its inner loops (`InnerLoops.put`)."""
    loops = InnerLoops(name, doc, signature(arguments, results), len(arguments) + len(results))
    tables = [ctypes.addressof(x) for x in (loops.functions, loops.data, loops.types)]
    title, help_text, sizes = map(ctypes.addressof, loops.texts)
    counts, no_identity = (len(loops.functions), len(arguments), len(results)), -1
    ufunc = make_ufunc()(*tables, *counts, no_identity, title, help_text, 0, sizes)
    _keep(ufunc, loops)
    return ufunc, loops


def _keep(ufunc: np.ufunc, loops: InnerLoops) -> None:
    """Make the loops live as long as the ufunc."""
    if not _owner_is_where_assumed():
        _kept.append(loops)
        return
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(loops))
    ctypes.c_void_p.from_address(id(ufunc) + OWNER).value = id(loops)


@cache
def _owner_is_where_assumed() -> bool:
    """True if a ufunc made from a Python function has that function at this offset."""
    if platform.python_implementation() != "CPython":
        return False
    made = np.frompyfunc(api_table, 1, 1)
    return bool(ctypes.c_void_p.from_address(id(made) + OWNER).value == id(api_table))


NEW_ARRAY, NEW_SCALAR, ARRAY_TYPE = 93, 60, 2  # slots of PyArray_New, PyArray_Scalar, PyArray_Type in the array API
FASTCALL_WITH_KEYWORDS = 0x80 | 0x02


# PyMethodDef
METHOD_DEFINITION = np.dtype(
    [("name", np.uintp), ("function", np.uintp), ("flags", np.intc), ("doc", np.uintp)], align=True
)


@cache
def builtins_supported() -> bool:
    """True if this interpreter and this NumPy lay out arrays as the machine code assumes."""
    if platform.python_implementation() != "CPython" or struct.calcsize("P") != 8:
        return False
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    if int(api_table(umath._ARRAY_API)[ARRAY_TYPE]) != id(np.ndarray):
        return False
    samples = np.zeros(3), np.zeros((2, 5)), np.zeros(4, np.float32), np.zeros(8)[::2], np.zeros((3, 4)).T
    return all(_fields_are_where_assumed(sample) for sample in samples)


def _fields_are_where_assumed(array: np.ndarray) -> bool:
    def read(kind: Any, offset: int) -> Any:
        return kind.from_address(id(array) + offset).value

    dims = ctypes.cast(read(ctypes.c_void_p, layout.DIMENSIONS), ctypes.POINTER(ctypes.c_ssize_t))
    good = layout.ALIGNED_AND_CONTIGUOUS
    plain = array.flags.c_contiguous and array.flags.aligned
    return (
        read(ctypes.c_void_p, layout.TYPE) == id(np.ndarray)
        and read(ctypes.c_void_p, layout.DATA) == array.ctypes.data
        and read(ctypes.c_int, layout.DIMENSIONS_COUNT) == array.ndim
        and tuple(dims[k] for k in range(array.ndim)) == array.shape
        and (read(ctypes.c_void_p, layout.DESCRIPTOR) == id(np.dtype(np.float64))) == (array.dtype == np.float64)
        and ((read(ctypes.c_int, layout.ARRAY_FLAGS) & good) == good) == plain
    )


def documentation(call: Callable[..., Any]) -> str:
    """The docstring with the signature where `help` and `inspect` look for that of a builtin."""
    signature = inspect.signature(call)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    plain = signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
    return f"{call.__name__}{plain}\n--\n\n{inspect.getdoc(call) or ''}"


def builtin(
    loaded: Loaded, name: str, call: Callable[..., Any], owner: Callable[[tuple[Any, ...]], Callable[..., Any]]
) -> Callable[..., Any]:
    """The function `builtin` of a compiled module as a builtin, where builtins are supported.

    call:  what it stands for, for its signature and docstring
    owner: makes the callable that takes what the builtin does not. It must keep the objects that it is given, which
           the builtin has raw pointers to, as items of a tuple
    """
    table = (ctypes.c_void_p * len(layout.ADDRESSES)).from_address(loaded.address("addresses"))
    api, python = api_table(umath._ARRAY_API), [getattr(ctypes.pythonapi, name) for name in layout.FUNCTIONS.values()]
    called = [ctypes.cast(function, ctypes.c_void_p).value for function in python]
    table[:] = [id(np.ndarray), id(np.dtype(np.float64)), api[NEW_ARRAY], api[NEW_SCALAR], *called]
    texts = [np.frombuffer(text.encode() + b"\0", np.uint8) for text in (name, documentation(call))]
    title, doc = map(_place, texts)
    definition = np.array([(title, loaded.address("builtin"), FASTCALL_WITH_KEYWORDS, doc)], METHOD_DEFINITION)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = make(_place(definition), owner((loaded, definition, *texts)), None)
    return made


def _place(array: np.ndarray) -> int:
    """The address of its first element."""
    return int(ctypes.c_void_p.from_address(id(array) + layout.DATA).value or 0)
