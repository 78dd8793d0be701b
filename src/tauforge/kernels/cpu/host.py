"""The processor: its vector width, and the description that compiled code is bound to."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import llvmlite
import llvmlite.binding as llvm

from tauforge.kernels.lock import LOCK
from tauforge.settings import VECTOR_BITS as VECTOR_BITS
from tauforge.settings import vector_bits


class Host(NamedTuple):
    """Target of the compiler. Code made for one host is never loaded on another."""

    triple: str
    cpu: str
    features: str
    vector_bits: int
    llvm: str

    def lanes(self, bits: int) -> int:
        """Numbers of this many bits in one vector."""
        return self.vector_bits // bits

    @property
    def x86(self) -> bool:
        return self.triple.startswith("x86_64")

    @property
    def has_avx512(self) -> bool:
        return self.vector_bits == 512


@cache
def initialise() -> None:
    with LOCK:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()


@cache
def _native() -> Host:
    with LOCK:
        initialise()
        features = llvm.get_host_cpu_features()
        widest = 512 if features.get("avx512f") and features.get("avx512dq") else 256 if features.get("avx2") else 128
        return Host(
            llvm.get_process_triple(),
            llvm.get_host_cpu_name(),
            features.flatten(),
            widest,
            f"{llvmlite.__version__}/{'.'.join(map(str, llvm.llvm_version_info))}",
        )


def host() -> Host:
    """This machine, with vectors no wider than TAUFORGE_VECTOR_BITS."""
    native = _native()
    return native._replace(vector_bits=min(native.vector_bits, vector_bits() or native.vector_bits))
