"""A stand-in for CuPy on machines without a GPU: arrays are NumPy's, kernels run thread by thread (`cuda_on_cpu`).

What a kernel is given, how arrays are laid out and where results go is then tested through the public functions.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from support.cuda_on_cpu import argument, compiled
from tauforge.kernels.cuda import arrays, compiling

FREE = 2**40  # bytes


class Device(contextlib.nullcontext):
    id = 0
    compute_capability = "90"
    free = FREE

    def __eq__(self, other):
        return isinstance(other, Device)

    __hash__ = None

    @property
    def mem_info(self):
        return self.free, self.free


class OnGpu(np.ndarray):
    """An array that says it is on a GPU. Reading it as one of NumPy's without `get` is an error, as for CuPy's."""

    @property
    def device(self):
        return Device()

    @property
    def __cuda_array_interface__(self):
        return self.__array_interface__

    def get(self):
        return np.array(self.view(np.ndarray))


def on_gpu(value, dtype=None):
    return np.asarray(value, dtype).view(OnGpu)


class FakeCupy:
    """The functions of NumPy that return arrays on the GPU."""

    cuda = SimpleNamespace(Device=Device)

    def __getattr__(self, name):
        found = getattr(np, name)
        if not callable(found) or isinstance(found, type):
            return found

        def called(*arguments, **options):
            result = found(*arguments, **options)
            return result.view(OnGpu) if isinstance(result, np.ndarray) else result

        return called

    @staticmethod
    def empty(shape, dtype=float):
        """Full of NaN, so that what is not written is found."""
        return np.full(shape, np.nan, dtype).view(OnGpu)

    @staticmethod
    def get_default_memory_pool():
        return SimpleNamespace(free_bytes=lambda: 0)


def function(source, name):
    """A kernel as CuPy launches it."""
    library = compiled(source, name, Path(tempfile.mkdtemp()))

    def launch(grid, block, numbers):
        library.launch(grid[0], block[0], *map(argument, numbers))

    return launch


def install(monkeypatch):
    """CuPy's stand-in for one test."""
    fake = FakeCupy()
    monkeypatch.setattr(arrays, "cupy", lambda: fake)
    monkeypatch.setattr(compiling, "function", function)
    return fake
