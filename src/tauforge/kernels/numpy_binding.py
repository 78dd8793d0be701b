"""Machine code as genuine generalized ufuncs of NumPy."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy._core._multiarray_umath as umath

from tauforge.kernels import cache as disk
from tauforge.kernels.engine import Loaded, compile_text
from tauforge.kernels.host import host

FROM_SIGNATURE = 31  # slot of PyUFunc_FromFuncAndDataAndSignature in the ufunc API
TYPE_NUMBERS = {64: 12, 32: 11}  # NumPy's float64 and float32
_kept: list[Any] = []  # NumPy keeps raw pointers to all of this

# Jumps to the loop that `data` points to. `Kernel` has it compiled before the ufunc is called; nothing happens else.
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
    """What a loop's `data` points to."""

    _fields_ = (("loop", ctypes.c_void_p),)


def api_table(capsule: object) -> Any:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))


@cache
def trampoline() -> int:
    machine = host()
    name = disk.key(TRAMPOLINE, *map(str, machine))
    code = disk.load(name)
    if code is None:
        code = compile_text(TRAMPOLINE, machine)
        disk.save(name, code)
    return Loaded(code, machine).address("trampoline")


def signature(arguments: list[tuple[int, ...]], results: list[tuple[int, ...]]) -> str:
    """With frozen sizes: a letter would accept any length and read beyond the array."""

    def side(shapes: list[tuple[int, ...]]) -> str:
        return ",".join("(" + ",".join(map(str, core)) + ")" for core in shapes)

    return f"{side(arguments)}->{side(results)}"


def generalized_ufunc(
    name: str, doc: str, arguments: list[tuple[int, ...]], results: list[tuple[int, ...]]
) -> tuple[np.ufunc, dict[int, Slot]]:
    """The ufunc, and by number of bits the slots that the addresses of its inner loops go into before they are needed.

    float64 comes first, so that integers, booleans and half precision run in double; only all-float32 arguments match
    the float32 loop.
    """
    slots = {bits: Slot(None) for bits in TYPE_NUMBERS}
    count = len(arguments) + len(results)
    functions = (ctypes.c_void_p * 2)(trampoline(), trampoline())
    data = (ctypes.c_void_p * 2)(*(ctypes.addressof(slot) for slot in slots.values()))
    types = (ctypes.c_byte * (2 * count))(*[number for number in TYPE_NUMBERS.values() for _ in range(count)])
    texts = [ctypes.create_string_buffer(text.encode()) for text in (name, doc, signature(arguments, results))]
    make_ufunc = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *[ctypes.c_void_p] * 3,
        *[ctypes.c_int] * 4,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_void_p,
    )(api_table(umath._UFUNC_API)[FROM_SIGNATURE])
    no_identity = -1
    ufunc = make_ufunc(
        ctypes.addressof(functions),
        ctypes.addressof(data),
        ctypes.addressof(types),
        2,
        len(arguments),
        len(results),
        no_identity,
        ctypes.addressof(texts[0]),
        ctypes.addressof(texts[1]),
        0,
        ctypes.addressof(texts[2]),
    )
    _kept.append((slots, functions, data, types, texts, ufunc))
    return ufunc, slots
