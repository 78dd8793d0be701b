"""A builtin function for one state or a short batch: machine code that reads NumPy arrays directly.

It assumes the offsets of an array's fields. They are verified at first use, on arrays of several kinds. The builtin
stays off if anything differs, on interpreters without a GIL, and on anything but 64-bit CPython.
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

from tauforge.kernels.cpu import llvm_builtin as layout
from tauforge.kernels.cpu.engine import Loaded
from tauforge.kernels.cpu.numpy_binding import api_table

NEW_ARRAY, NEW_SCALAR, ARRAY_TYPE = 93, 60, 2  # slots of PyArray_New, PyArray_Scalar, PyArray_Type in the array API
FASTCALL_WITH_KEYWORDS = 0x80 | 0x02
FUNCTIONS = {  # functions of Python that the machine code calls
    "vectorcall": "PyObject_Vectorcall",
    "new_tuple": "PyTuple_New",
    "set_item": "PyTuple_SetItem",
    "release": "Py_DecRef",
    "save_thread": "PyEval_SaveThread",
    "restore_thread": "PyEval_RestoreThread",
}


# PyMethodDef
METHOD_DEFINITION = np.dtype(
    [("name", np.uintp), ("function", np.uintp), ("flags", np.intc), ("doc", np.uintp)], align=True
)


@cache
def supported() -> bool:
    """Whether this interpreter and this NumPy lay out arrays as the machine code assumes."""
    if platform.python_implementation() != "CPython" or struct.calcsize("P") != 8:
        return False
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    if int(api_table(umath._ARRAY_API)[ARRAY_TYPE]) != id(np.ndarray):
        return False
    samples: list[np.ndarray] = [
        np.zeros(3),
        np.zeros((2, 5)),
        np.zeros(4, np.float32),
        np.zeros(8)[::2],
        np.zeros((3, 4)).T,
    ]
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
    loaded: Loaded,
    name: str,
    call: Callable[..., Any],
    owner: Callable[[tuple[Any, ...]], Callable[..., Any]],
) -> Callable[..., Any] | None:
    """The function `builtin` of a compiled module as a builtin; None where builtins are not supported.

    call:  what it stands for, for its signature and docstring
    owner: makes the callable that takes what the builtin does not. It must keep the objects that it is given, which
           the builtin has raw pointers to, as items of a tuple
    """
    address = loaded.address("builtin")
    if not supported() or not address:
        return None
    table = (ctypes.c_void_p * len(layout.ADDRESSES)).from_address(loaded.address("addresses"))
    table[layout.ADDRESSES.index("array_type")] = id(np.ndarray)
    table[layout.ADDRESSES.index("double_descriptor")] = id(np.dtype(np.float64))
    table[layout.ADDRESSES.index("new_array")] = api_table(umath._ARRAY_API)[NEW_ARRAY]
    table[layout.ADDRESSES.index("new_scalar")] = api_table(umath._ARRAY_API)[NEW_SCALAR]
    for name_in_table, function in FUNCTIONS.items():
        table[layout.ADDRESSES.index(name_in_table)] = ctypes.cast(
            getattr(ctypes.pythonapi, function), ctypes.c_void_p
        ).value
    texts = [np.frombuffer(text.encode() + b"\0", np.uint8) for text in (name, documentation(call))]
    title, doc = map(_place, texts)
    definition = np.array([(title, address, FASTCALL_WITH_KEYWORDS, doc)], METHOD_DEFINITION)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = make(_place(definition), owner((loaded, definition, *texts)), None)
    return made


def _place(array: np.ndarray) -> int:
    """The address of its first element."""
    return int(ctypes.c_void_p.from_address(id(array) + layout.DATA).value or 0)
