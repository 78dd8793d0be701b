"""Kernels as calls of XLA, which runs the compiled programs of JAX.

XLA hands a call frame of C structs to a function pointer: buffers of arguments and results, and attributes. Here the
function behind the pointer is Python's. `jax.pure_callback` would be shorter, but it copies the arguments by XLA's own
threads inside the call: on a machine with one core a large batch waits for ever.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_void_p
from functools import cache
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.differentiable import Evaluation

TARGET = "tauforge_evaluation"
KINDS: dict[int, np.dtype[Any]] = {11: np.dtype(np.float32), 12: np.dtype(np.float64)}  # XLA's numbers of the types
METADATA = 1  # the extension by which XLA asks for the version
EXECUTE = 3  # the stage that computes
MAJOR, FIRST_MINOR = 0, 1  # the version of the structs below; minor versions only add to their ends
INTERNAL_ERROR = 13

# Evaluations by the number that programs know them by. They stay: a compiled program may be run at any time.
_evaluations: dict[int, Evaluation] = {}
_numbers: dict[Evaluation, int] = {}
_next_number = itertools.count()


def number_of(evaluation: Evaluation) -> int:
    """The number by which a program names the evaluation."""
    number = _numbers.get(evaluation)
    if number is None:
        number = _numbers.setdefault(evaluation, next(_next_number))  # of two threads that come here, one is first
        _evaluations[number] = evaluation
    return number


class _Extension(Structure):
    _fields_ = [("struct_size", c_size_t), ("type", c_int), ("next", c_void_p)]


class _Version(Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int)]


class _Metadata(Structure):
    _fields_ = [("struct_size", c_size_t), ("version", _Version), ("traits", ctypes.c_uint32)]


class _MetadataExtension(Structure):
    _fields_ = [("base", _Extension), ("metadata", POINTER(_Metadata))]


class _Buffer(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    ]


class _Scalar(Structure):
    _fields_ = [("dtype", c_int), ("value", POINTER(c_int64))]


class _Buffers(Structure):
    """The arguments, or the results."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", c_void_p),
        ("buffers", POINTER(POINTER(_Buffer))),
    ]


class _Attributes(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", c_void_p),
        ("names", c_void_p),
        ("values", POINTER(POINTER(_Scalar))),
    ]


class _ErrorArguments(Structure):
    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int)]


class _Api(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("version", _Version),
        ("internal", c_void_p),
        ("error", ctypes.CFUNCTYPE(c_void_p, POINTER(_ErrorArguments))),
    ]


class _Frame(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", POINTER(_MetadataExtension)),
        ("api", POINTER(_Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", _Buffers),
        ("results", _Buffers),
        ("attributes", _Attributes),
    ]


def _array(buffer: Any) -> Array:
    """The numbers of a buffer, where XLA keeps them."""
    shape, dtype = tuple(buffer.dims[: buffer.rank]), KINDS[buffer.dtype]
    count = math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(buffer.data)
    return np.frombuffer(memory, dtype).reshape(shape)


def _handled(pointer: Any) -> int | None:
    """None, or the address of an error."""
    frame = pointer[0]
    if frame.extension and frame.extension[0].base.type == METADATA:
        version = frame.extension[0].metadata[0].version
        version.struct_size, version.major = ctypes.sizeof(_Version), MAJOR  # XLA refuses us if it has another
        version.minor = frame.api[0].version.minor if frame.api else FIRST_MINOR
        return None
    if frame.stage != EXECUTE:
        return None
    try:
        given, wanted = frame.arguments, frame.results
        evaluation = _evaluations[frame.attributes.values[0][0].value[0]]
        outs = evaluation.on_processor(*(_array(given.buffers[k][0]) for k in range(given.size)))
        for k, out in enumerate(outs):
            _array(wanted.buffers[k][0])[...] = out
    except BaseException as error:  # nothing may be raised through XLA's frames
        text = f"{type(error).__name__}: {error}".encode()
        told = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, text, INTERNAL_ERROR)
        made: int | None = frame.api[0].error(ctypes.byref(told))
        return made
    return None


@cache
def target() -> str:
    """The name under which JAX calls evaluations; it is registered on first use."""
    import jax

    pointer = ctypes.CFUNCTYPE(c_void_p, POINTER(_Frame))(_handled)
    _handlers.append(pointer)
    ffi: Any = jax.ffi
    ffi.register_ffi_target(TARGET, ffi.pycapsule(ctypes.cast(pointer, c_void_p).value), platform="cpu")
    return TARGET


_handlers: list[Any] = []  # XLA keeps the address alone
