"""CUDA C as a dialect of generated C, and the functions that its statements need."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tauforge.kernels.c_common import Dialect, elementary_functions

BLOCK_THREADS = 64  # more in a block are not faster
DIALECT = Dialect(
    prefix="tauforge_",
    function="static __device__ __forceinline__",
    fused=True,
    calls={
        bits: {name: f"{name}{ending}" for name in ("fma", "sqrt", "fabs", "copysign")}
        | {name: f"tauforge_{name}{ending}" for name in ("rsqrt", "reciprocal")}
        | {"bits": f"__{number}_as_{integer}", "number": f"__{integer}_as_{number}"}
        for bits, ending, number, integer in ((64, "", "double", "longlong"), (32, "f", "float", "uint"))
    },
    nan={64: "__longlong_as_double(0x7ff8000000000000LL)", 32: "__uint_as_float(0x7fc00000u)"},
    integer={64: "unsigned long long", 32: "unsigned int"},
)
ESTIMATES = Path(__file__).with_name("estimates.cuh").read_text(encoding="utf-8")


def kernel_text(
    name: str, parameters: str, lines: Iterable[str], called: set[str], bits: int, block: int = BLOCK_THREADS
) -> str:
    """The source of `extern "C" __global__ name(parameters)`, for blocks of so many threads.

    called: elementary functions that the lines call
    """
    head = f'extern "C" __global__ void __launch_bounds__({block}) {name}({parameters})'
    body = "".join(f"    {line}\n" for line in lines)
    return ESTIMATES + elementary_functions(called, DIALECT, bits) + f"\n{head}\n{{\n{body}}}\n"
