"""CUDA source to a binary for the GPU at hand, kept on disk as the CPU's are."""

from __future__ import annotations

from typing import Any

from tauforge.kernels import cache
from tauforge.kernels.lock import LOCK

OPTIONS = ("-std=c++17", "-default-device")


def binary(source: str, architecture: str) -> bytes:
    """The binary (cubin); NVRTC compiles it if it is not in the cache."""
    from cupy_backends.cuda.libs import nvrtc

    name = cache.key("cuda", source, architecture, *map(str, nvrtc.getVersion()), *OPTIONS)
    code = cache.load(name)
    if code is None:
        code = _compiled(nvrtc, source, architecture)
        cache.save(name, code)
    return code


def _compiled(nvrtc: Any, source: str, architecture: str) -> bytes:
    with LOCK:
        program = nvrtc.createProgram(source, "kernel.cu", (), ())
        try:
            nvrtc.compileProgram(program, (f"-arch={architecture}", *OPTIONS))
            return bytes(nvrtc.getCUBIN(program))
        except nvrtc.NVRTCError as error:
            raise RuntimeError(f"NVRTC: {error}\n{nvrtc.getProgramLog(program)}") from None
        finally:
            nvrtc.destroyProgram(program)


def function(source: str, name: str) -> Any:
    """The function of this name on the current GPU, ready to be launched."""
    import cupy

    module = cupy.cuda.function.Module()
    module.load(binary(source, f"sm_{cupy.cuda.Device().compute_capability}"))
    return module.get_function(name)
