"""Kernels as calls of XLA, which runs the compiled programs of JAX.

XLA hands a call frame of C structs to a function pointer: buffers of arguments and results, and attributes. Here the
function behind the pointer is Python's. `jax.pure_callback` would be shorter, but it copies the arguments by XLA's own
threads inside the call: on a machine with one core a large batch waits for ever. On a GPU it copies them to the host.

On a GPU the kernel is put on XLA's stream and works on XLA's buffers. XLA records nothing of ours in CUDA graphs.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
from collections import deque
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from functools import cache
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.differentiable import BoundFunction
from tauforge.kernels.cuda import arrays

FFI_TARGET = "tauforge_evaluation"
FLOAT_TYPES: dict[int, np.dtype[Any]] = {11: np.dtype(np.float32), 12: np.dtype(np.float64)}  # by XLA's numbers
REMEMBERED_ERRORS = 16
METADATA_EXTENSION = 1  # the extension by which XLA asks for the version
EXECUTE_STAGE = 3  # the stage that computes
API_MAJOR, FIRST_API_MINOR = 0, 1  # the version of the structs below; minor versions only add to their ends
INTERNAL_ERROR = 13

# Evaluations by the number that programs know them by. They stay: a compiled program may be run at any time.
_evaluations: dict[int, BoundFunction] = {}
_numbers: dict[BoundFunction, int] = {}
_next_number = itertools.count()


# The C structs by which XLA calls a function, as far as we read them (`xla/ffi/api/c_api.h`).


def _struct(name: str, **fields: Any) -> Any:
    return type(name, (Structure,), {"_fields_": list(fields.items())})


SIZED: dict[str, Any] = {"struct_size": c_size_t, "extension": c_void_p}  # the first fields of most
Extension = _struct("Extension", struct_size=c_size_t, type=c_int, next=c_void_p)
Version = _struct("Version", **SIZED, major=c_int, minor=c_int)
Metadata = _struct("Metadata", struct_size=c_size_t, version=Version, traits=c_uint32)
MetadataExtension = _struct("MetadataExtension", base=Extension, metadata=POINTER(Metadata))
Buffer = _struct("Buffer", **SIZED, dtype=c_int, data=c_void_p, rank=c_int64, dims=POINTER(c_int64))
Number = _struct("Number", dtype=c_int, value=POINTER(c_int64))
Buffers = _struct("Buffers", **SIZED, size=c_int64, types=c_void_p, buffers=POINTER(POINTER(Buffer)))
Attributes = _struct(
    "Attributes", **SIZED, size=c_int64, types=c_void_p, names=c_void_p, values=POINTER(POINTER(Number))
)
ErrorArguments = _struct("ErrorArguments", **SIZED, message=c_char_p, code=c_int)
StreamArguments = _struct("StreamArguments", **SIZED, context=c_void_p, stream=c_void_p)
Api = _struct(
    "Api",
    **SIZED,
    version=Version,
    internal=c_void_p,
    error=CFUNCTYPE(c_void_p, POINTER(ErrorArguments)),
    message_of_error=c_void_p,
    destroy_error=c_void_p,
    register=c_void_p,
    stream=CFUNCTYPE(c_void_p, POINTER(StreamArguments)),
)
CallFrame = _struct(
    "CallFrame",
    struct_size=c_size_t,
    extension=POINTER(MetadataExtension),
    api=POINTER(Api),
    context=c_void_p,
    stage=c_int,
    arguments=Buffers,
    results=Buffers,
    attributes=Attributes,
)
HANDLER = CFUNCTYPE(c_void_p, POINTER(CallFrame))


# -------------------------------------------------------------------------------------------------------- programs


def number_of(evaluation: BoundFunction) -> int:
    """The number by which a program names the evaluation."""
    number = _numbers.get(evaluation)
    if number is None:
        number = _numbers.setdefault(evaluation, next(_next_number))  # of two threads that come here, one is first
        _evaluations[number] = evaluation
    return number


# -------------------------------------------------------------------------------------------------------- computing


def _buffers(of: Any) -> Iterator[Any]:
    return (of.buffers[k][0] for k in range(of.size))


def _shape(buffer: Any) -> tuple[int, ...]:
    return tuple(buffer.dims[: buffer.rank])


def _array(buffer: Any) -> Array:
    """The numbers of a buffer in the processor's memory, where XLA keeps them."""
    shape, dtype = _shape(buffer), FLOAT_TYPES[buffer.dtype]
    count = math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(buffer.data)
    return np.frombuffer(memory, dtype).reshape(shape)


def _on_processor(evaluation: BoundFunction, frame: Any) -> None:
    outs = evaluation.on_processor(*map(_array, _buffers(frame.arguments)))
    for buffer, out in zip(_buffers(frame.results), outs, strict=True):
        _array(buffer)[...] = out


def _on_gpu(evaluation: BoundFunction, frame: Any) -> None:
    results = list(_buffers(frame.results))
    if not any(math.prod(_shape(buffer)) for buffer in results):
        return
    device = arrays.device_of(results[0].data)
    given, outs = (
        [arrays.borrowed(buffer.data, _shape(buffer), FLOAT_TYPES[buffer.dtype], device) for buffer in part]
        for part in (_buffers(frame.arguments), results)
    )
    with arrays.on_stream(device, _stream(frame)):
        evaluation.on_gpu(*given, out=outs)


def _stream(frame: Any) -> int:
    """The address of the stream on which XLA wants the work."""
    asked = StreamArguments(ctypes.sizeof(StreamArguments), None, frame.context, None)
    if frame.api[0].stream(ctypes.byref(asked)):
        raise RuntimeError("XLA gives no stream")
    return asked.stream or 0


# ----------------------------------------------------------------------------------------------------------- errors

_errors: deque[tuple[int, Exception]] = deque(maxlen=REMEMBERED_ERRORS)
_next_error = itertools.count()


def _text_of(error: BaseException) -> str:
    """Text of an error for JAX, by which `error_behind` finds it again."""
    number = next(_next_error)
    if isinstance(error, Exception):
        _errors.append((number, error.with_traceback(None)))
    return f"{type(error).__name__}: {error} [tauforge {number}]"


def error_behind(told: Exception) -> Exception:
    """The error that was raised inside a call, if JAX's error tells of one of the last; else JAX's itself."""
    marks = [int(number) for number in re.findall(r"\[tauforge (\d+)\]", str(told))]
    return next((error for number, error in list(_errors) if number in marks), told)


# --------------------------------------------------------------------------------------------------------- handlers


def _handler(compute: Callable[[BoundFunction, Any], None]) -> Callable[[Any], int | None]:
    """A function that XLA calls with a pointer to a frame; it returns None, or the address of an error."""

    def handled(pointer: Any) -> int | None:
        frame = pointer[0]
        if frame.extension and frame.extension[0].base.type == METADATA_EXTENSION:
            version = frame.extension[0].metadata[0].version
            # XLA refuses us if it has another
            version.struct_size, version.major = ctypes.sizeof(Version), API_MAJOR
            version.minor = frame.api[0].version.minor if frame.api else FIRST_API_MINOR
            return None
        if frame.stage != EXECUTE_STAGE:
            return None
        try:
            compute(_evaluations[frame.attributes.values[0][0].value[0]], frame)
        except BaseException as error:  # nothing may be raised through XLA's frames
            size, text = ctypes.sizeof(ErrorArguments), _text_of(error).encode()
            told = ErrorArguments(size, None, text, INTERNAL_ERROR)
            made: int | None = frame.api[0].error(ctypes.byref(told))
            return made
        return None

    return handled


@cache
def target() -> str:
    """The name under which JAX calls evaluations, on the processor and on GPUs; it is registered on first use."""
    import jax

    ffi: Any = jax.ffi
    for platform, compute in (("cpu", _on_processor), ("CUDA", _on_gpu)):
        pointer = HANDLER(_handler(compute))
        _handlers.append(pointer)
        ffi.register_ffi_target(FFI_TARGET, ffi.pycapsule(ctypes.cast(pointer, c_void_p).value), platform=platform)
    return FFI_TARGET


_handlers: list[Any] = []  # XLA keeps the address alone
