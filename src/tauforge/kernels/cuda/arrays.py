"""Arrays on a GPU as arguments and results of kernels, without a copy to or from the host.

Streams of other libraries are given by their addresses; what CuPy launches inside `on_stream` is put on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.kernels.specification import Shape

KERNEL_DTYPES = ("float64", "float32")
DLPACK_GPUS = (2, 13)  # DLPack's numbers of CUDA's own memory and of managed memory


@cache
def cupy() -> Any:
    """CuPy; UnsupportedFeatureError where it or a GPU is missing."""
    try:
        import cupy as found
    except ImportError:
        remedy = "pip install cupy-cuda13x, or cupy-cuda12x for CUDA 12"
        raise UnsupportedFeatureError("CuPy is not installed", field="cuda", remedy=remedy) from None
    try:
        count = found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError as error:
        raise UnsupportedFeatureError(f"CUDA cannot be used: {error}", field="cuda") from None
    if not count:
        raise UnsupportedFeatureError("there is no GPU", field="cuda")
    return found


def is_on_gpu(value: Any) -> bool:
    """True if an object says that its memory is on an NVIDIA GPU, by `__cuda_array_interface__` or by DLPack."""
    if hasattr(value, "__cuda_array_interface__"):
        return True
    ask = getattr(value, "__dlpack_device__", None)
    return ask is not None and ask()[0] in DLPACK_GPUS


def on_device(name: str, array: Any) -> Any:
    """A CuPy array that shares the memory. CuPy waits for the stream that the array names, if it names one."""
    if not is_on_gpu(array):
        got = f"{type(array).__module__}.{type(array).__qualname__}"
        hint = "Copy it there first, for example by cupy.asarray"
        raise ShapeError(name, expected="an array on the GPU", got=got, hint=hint)
    library = cupy()
    return library.asarray(array) if hasattr(array, "__cuda_array_interface__") else library.from_dlpack(array)


def device_of(address: int) -> int:
    """The number of the GPU that has this address."""
    return int(cupy().cuda.runtime.pointerGetAttributes(address).device)


def borrowed(address: int, shape: Shape, dtype: Any, device: int) -> Any:
    """A CuPy array over memory that someone else owns and keeps."""
    library = cupy()
    memory = library.cuda.UnownedMemory(address, math.prod(shape) * np.dtype(dtype).itemsize, None, device)
    return library.ndarray(shape, dtype, library.cuda.MemoryPointer(memory, 0))


class Walk(NamedTuple):
    """Strides by which the threads go through an array.

    array: keeps the memory alive
    row:   elements from one state to the next, 0 where all states share it
    step:  elements from one number of a state to the next
    """

    array: Any
    row: int
    step: int
    length: int

    def reach(self, count: int) -> int:
        """Elements from the first to the last, and threads."""
        return max(abs(self.row) * count + abs(self.step) * self.length, count)

    @property
    def in_pairs(self) -> bool:
        """True if numbers of two neighbouring states can be read together."""
        if not self.length:
            return True
        aligned = self.array.data.ptr % (2 * self.array.itemsize) == 0
        return self.row == 1 and (self.step % 2 == 0 or self.length == 1) and aligned

    @property
    def layout(self) -> str:
        """The layout in the words of the kernel's source."""
        if self.row == 1:
            return "columns"
        return "rows" if self.length > 1 and (self.row, self.step) == (self.length, 1) else "strided"


def walk(array: Any, batch: Shape, core: Shape) -> Walk:
    """Over an array (..., *core) that broadcasts to the batch. What one stride cannot express is copied on the GPU."""
    length = math.prod(core)
    shape = (*batch, *core)
    whole = array if array.shape == shape else cupy().broadcast_to(array, shape)
    if not length:
        return Walk(whole, 0, 0, 0)
    leading, own = slice(None, len(batch)), slice(len(batch), None)
    row, step = (_stride(whole.shape[part], whole.strides[part]) for part in (leading, own))
    if row is None or step is None:
        whole = cupy().ascontiguousarray(whole)
        row, step = length * whole.itemsize, whole.itemsize
    return Walk(whole, row // whole.itemsize, step // whole.itemsize, length)


def _stride(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The one stride, in bytes, by which these dimensions are walked through in order; None if there is none."""
    pairs = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    if not pairs:
        return 0
    found = pairs[-1][1]
    expected = found
    for size, stride in reversed(pairs):
        if stride != expected:
            return None
        expected = stride * size
    return int(found)


def are_columns(walks: Sequence[Walk], count: int) -> bool:
    """True if the arguments are columns, so that results are made so, too."""
    layouts = {walk.layout for walk in walks if walk.length > 1 and count > 1}
    return "columns" in layouts and "rows" not in layouts


def empty(batch: Shape, core: Shape, dtype: Any, columns: bool) -> Any:
    """A new array (*batch, *core), of rows or of columns."""
    if not columns or not core:
        return cupy().empty((*batch, *core), dtype)
    made = cupy().empty((*core, *batch), dtype)
    return made.transpose(*range(len(core), made.ndim), *range(len(core)))


class _Handle(NamedTuple):
    """A stream as CUDA's protocol for streams gives it."""

    address: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


@contextmanager
def on_stream(device: int, address: int) -> Iterator[None]:
    """CuPy's current GPU and stream inside. address: of the `cudaStream_t`, 0 for the default one"""
    library = cupy()
    with library.cuda.Device(device), _stream(library, device, address):
        yield


@cache
def _stream(library: Any, device: int, address: int) -> Any:
    """CuPy's object for a stream of the current GPU.

    It is kept, so that CuPy never finalises it: a stream that is not CuPy's own must not be destroyed with it.
    """
    if hasattr(library.cuda.Stream, "from_external"):
        return library.cuda.Stream.from_external(_Handle(address))
    return library.cuda.ExternalStream(address, device)  # before CuPy 14
