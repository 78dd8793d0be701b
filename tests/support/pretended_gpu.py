"""A GPU that is not there: NumPy's arrays pose as CuPy's, and g++ compiles the kernels (`cuda_on_cpu`).

So the ways of arrays to CUDA kernels and back are tested without a GPU: whose memory, which stream, which rows.
"""

from __future__ import annotations

import ctypes
import math
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from support.cuda_on_cpu import argument, compiled
from tauforge.kernels.cuda import arrays, kernel


class Device:
    """A context; kernels do not ask for it."""

    id = 0
    free = 2**40  # bytes

    def __init__(self, number=0):
        pass

    @property
    def mem_info(self):
        return self.free, self.free

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __eq__(self, other):
        return isinstance(other, Device)

    __hash__ = None  # type: ignore[assignment]


class GpuArray(np.ndarray):
    """NumPy's array with what CuPy's has beside it."""

    __module__ = "cupy"

    @property
    def __cuda_array_interface__(self):
        return self.__array_interface__

    @property
    def device(self):
        return Device()

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        return np.array(self)


def asarray(value, dtype=None):
    """Memory is shared, also with a tensor of torch."""
    shared = value.numpy() if hasattr(value, "numpy") else value
    return np.asarray(shared, dtype).view(GpuArray)


def ndarray(shape, dtype, memory):
    raw = (ctypes.c_char * (math.prod(shape) * np.dtype(dtype).itemsize)).from_address(memory)
    return np.frombuffer(raw, dtype).reshape(shape).view(GpuArray)


class PretendedGpu:
    """Stands for CuPy, by NumPy's functions of the same names.

    launches: the address of the stream of each launch
    """

    ndarray = staticmethod(ndarray)
    asarray = staticmethod(asarray)
    from_dlpack = staticmethod(lambda value: np.from_dlpack(value.array).view(GpuArray))
    empty = staticmethod(lambda shape, dtype: np.full(shape, np.nan, dtype).view(GpuArray))  # what is not written shows
    get_default_memory_pool = staticmethod(lambda: SimpleNamespace(free_bytes=lambda: 0))

    def __getattr__(self, name):
        """NumPy's function, whose results are on the GPU."""
        found = getattr(np, name)

        def called(*arguments, **options):
            result = found(*arguments, **options)
            return result.view(GpuArray) if isinstance(result, np.ndarray) else result

        return called

    def __init__(self, folder):
        self.folder, self.launches, self.stream, self.libraries = folder, [], 0, {}
        runtime = SimpleNamespace(pointerGetAttributes=lambda address: SimpleNamespace(device=0))
        self.cuda = SimpleNamespace(
            Device=Device,
            Stream=SimpleNamespace(from_external=lambda handle: self.current(handle.__cuda_stream__()[1])),
            UnownedMemory=lambda address, size, owner, device: address,
            MemoryPointer=lambda memory, offset: memory + offset,
            runtime=runtime,
        )

    def current(self, address):
        """A context that can be entered again, as CuPy's streams are."""
        return Reentered(lambda: self.entered(address))

    @contextmanager
    def entered(self, address):
        before, self.stream = self.stream, address
        yield
        self.stream = before

    def function(self, source, name):
        if source not in self.libraries:
            folder = self.folder / str(len(self.libraries))
            folder.mkdir()
            self.libraries[source] = compiled(source, name, folder)

        def launch(grid, block, numbers):
            self.launches.append(self.stream)
            self.libraries[source].launch(*grid, *block, *map(argument, numbers))

        return launch


class Reentered:
    def __init__(self, make):
        self.make, self.inside = make, []

    def __enter__(self):
        self.inside.append(self.make())
        return self.inside[-1].__enter__()

    def __exit__(self, *raised):
        return self.inside.pop().__exit__(*raised)


def pretend(monkeypatch, folder):
    """From now on there is a GPU."""
    gpu = PretendedGpu(folder)
    monkeypatch.setattr(arrays, "cupy", lambda: gpu)
    monkeypatch.setattr(kernel, "compiled_function", gpu.function)
    arrays._stream.cache_clear()
    return gpu
