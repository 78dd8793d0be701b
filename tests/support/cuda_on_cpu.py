"""CUDA sources on the CPU: g++ compiles them with words of CUDA defined, and every thread of a block is a thread.

So the arithmetic, the indices, the copies through shared memory and the barriers of a kernel are tested without a GPU.
"""

from __future__ import annotations

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no g++: apt install g++")
OPTIONS = ("-O1", "-std=c++20", "-fno-strict-aliasing", "-fPIC", "-pthread", "-Wno-unknown-pragmas")
HEAD = """
#include <barrier>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>
using namespace std;
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
struct Index { unsigned x; };
struct float2 { float x, y; };
struct alignas(16) int4 { int x, y, z, w; };
static thread_local Index threadIdx, blockIdx;
static barrier<> *together;
static inline void __syncthreads() { together->arrive_and_wait(); }
template <class To, class From> static inline To as(From x) { To y; memcpy(&y, &x, sizeof y); return y; }
#define __double_as_longlong as<long long, double>
#define __longlong_as_double as<double, long long>
#define __float_as_uint as<unsigned, float>
#define __uint_as_float as<float, unsigned>
"""
LAUNCH = """
extern "C" void launch(int blocks, int threads{parameters})
{{
    for (int b = 0; b < blocks; ++b) {{
        barrier<> all(threads);
        together = &all;
        vector<thread> running;
        for (int t = 0; t < threads; ++t)
            running.emplace_back([=] {{ blockIdx.x = b; threadIdx.x = t; {name}({names}); }});
        for (thread &one : running) one.join();
    }}
}}
"""


def compiled(source: str, name: str, folder) -> ctypes.CDLL:
    """The kernel as a library with a function launch(blocks, threads, the kernel's arguments)."""
    inside = source[source.rindex(f" {name}(") :].split("(", 1)[1].split(")\n{", 1)[0]
    parameters = [parameter.strip() for parameter in inside.split(",")]
    names = [parameter.split()[-1].lstrip("*") for parameter in parameters]
    launch = LAUNCH.format(
        parameters="".join(f", {parameter}" for parameter in parameters), name=name, names=", ".join(names)
    )
    path = folder / "kernel.cpp"
    path.write_text(source + launch)
    library = folder / "kernel.so"
    run("-shared", "-include", head(), "-o", library, path)
    return ctypes.CDLL(str(library))


@cache
def head() -> Path:
    """HEAD in a file, precompiled: it would take half of the time of most kernels."""
    folder = tempfile.mkdtemp(prefix="tauforge-")
    atexit.register(shutil.rmtree, folder)
    path = Path(folder) / "head.hpp"
    path.write_text(HEAD)
    run("-x", "c++-header", path)
    return path


def run(*options) -> None:
    done = subprocess.run([str(COMPILER), *OPTIONS, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


def argument(value):
    """As ctypes passes it: an array by its address, a number by its type."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_int(int(value)) if isinstance(value, np.int32) else ctypes.c_longlong(int(value))
