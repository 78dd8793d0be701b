"""The backend of this processor: LLVM code, called through NumPy."""

from __future__ import annotations

from collections import OrderedDict
from weakref import WeakValueDictionary

from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.cpu.host import Host, host
from tauforge.kernels.cpu.kernel import CpuKernel
from tauforge.kernels.lock import LOCK
from tauforge.kernels.specification import Specification

RECENT = 32  # kernels that are kept for a while although nothing refers to them
BITS = {"float64": 64, "float32": 32}
Key = tuple[str, Host]


class CpuBackend:
    """Equal specifications share one kernel while something refers to it, and for a while after."""

    def __init__(self) -> None:
        self._shared: WeakValueDictionary[Key, CpuKernel] = WeakValueDictionary()
        self._recent: OrderedDict[Key, CpuKernel] = OrderedDict()  # for robots made, called and dropped in a loop

    def compile(self, specification: Specification, dtype: str = "float64") -> CpuKernel:
        """The kernel, with its machine code in this precision loaded."""
        if dtype not in BITS:
            raise UnsupportedFeatureError(
                f"dtype {dtype!r} is not supported", field="kernel", remedy="Use float64 or float32"
            )
        empty = [0 in core for core in specification.results]
        # NumPy takes the size of a result without numbers from an argument without numbers
        if all(empty) or (any(empty) and not any(0 in core for _, core in specification.arguments)):
            raise NoKernelError(f"{specification.name} has results without numbers")
        kernel = self.kernel_of(specification)
        kernel.loaded(BITS[dtype])
        return kernel

    def kernel_of(self, specification: Specification) -> CpuKernel:
        """The kernel; a new one is not compiled yet."""
        key = (specification.identity, host())
        with LOCK:
            found = self._shared.get(key)
            if found is None:
                found = self._shared[key] = CpuKernel(specification)
            self._recent[key] = found
            self._recent.move_to_end(key)
            if len(self._recent) > RECENT:
                self._recent.popitem(last=False)
            return found


BACKEND = CpuBackend()
