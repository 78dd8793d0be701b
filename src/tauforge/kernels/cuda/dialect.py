"""CUDA C as a dialect of generated C, and the functions that its statements need."""

from __future__ import annotations

from collections.abc import Iterable

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
# Quotients and inverse roots to the last bit or two. In float32 an instruction gives them (relative errors of at most
# 2^-23 and 2^-22.9 by the PTX manual). In float64 Newton's steps and a series correct its estimate.
# Division and rsqrt of CUDA have a second way for tiny and huge numbers, which costs all threads registers and time.
# For 0 they are NaN in float64, as the CPU's are with AVX-512, and infinite in float32.
ESTIMATES = """
static __device__ __forceinline__ double tauforge_reciprocal(double x)
{
#ifdef __CUDA_ARCH__
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
#else
    return 1.0 / x;
#endif
}

static __device__ __forceinline__ double tauforge_rsqrt(double x)
{
#ifdef __CUDA_ARCH__
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x * y, y, 1.0);
    return fma(y * e, fma(fma(0.3125, e, 0.375), e, 0.5), y);
#else
    return 1.0 / sqrt(x);
#endif
}

static __device__ __forceinline__ float tauforge_reciprocalf(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}

static __device__ __forceinline__ float tauforge_rsqrtf(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / sqrtf(x);
#endif
}
"""


def kernel_text(
    name: str, parameters: str, lines: Iterable[str], called: set[str], bits: int, block: int = BLOCK_THREADS
) -> str:
    """The source of `extern "C" __global__ name(parameters)`, for blocks of so many threads.

    called: elementary functions that the lines call
    """
    head = f'extern "C" __global__ void __launch_bounds__({block}) {name}({parameters})'
    body = "".join(f"    {line}\n" for line in lines)
    return ESTIMATES + elementary_functions(called, DIALECT, bits) + f"\n{head}\n{{\n{body}}}\n"
