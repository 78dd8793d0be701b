"""The backend of NVIDIA's GPUs: CUDA C, compiled by NVRTC and launched through CuPy."""

from __future__ import annotations

from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.cuda.kernel import CudaKernel
from tauforge.kernels.specification import Specification

DTYPES = ("float64", "float32")


class CudaBackend:
    """The kernels it makes are compiled when they are called: their source needs no GPU."""

    def compile(self, specification: Specification, dtype: str = "float64") -> CudaKernel:
        if dtype not in DTYPES:
            raise UnsupportedFeatureError(f"dtype {dtype!r}", field="kernel", remedy="Use float64 or float32")
        return CudaKernel(specification, dtype)


BACKEND = CudaBackend()
