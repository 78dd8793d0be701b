"""Streams of other libraries, by their addresses: what CuPy launches inside is put on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from tauforge.kernels.cuda import arrays


class _Handle(NamedTuple):
    """A stream as CUDA's protocol for streams gives it."""

    address: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


@contextmanager
def on_stream(device: int, address: int) -> Iterator[None]:
    """CuPy's current GPU and stream inside. address: of the `cudaStream_t`, 0 for the default one"""
    library = arrays.cupy()
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
