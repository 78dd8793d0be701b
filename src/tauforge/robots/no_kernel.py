"""Why a function has no kernel, for the one who asked for it."""

from __future__ import annotations

from tauforge import settings
from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import NoCompilerError, NoKernelError
from tauforge.kernels.cpu.code_memory import executable_memory


def no_kernel(function: str, error: NoKernelError | None = None) -> UnsupportedFeatureError:
    """Why a function has no kernel."""
    if isinstance(error, NoCompilerError):
        why = str(error)
    elif not settings.kernels():
        why = f"{settings.shown(settings.KERNELS)} switches kernels off"
    elif not executable_memory():
        why = "there is no executable memory left"
    else:
        from tauforge.kernels.cpu.kernel import MAX_NODES

        why = f"it has more than {MAX_NODES} operations, or there is no executable memory left"
    return UnsupportedFeatureError(
        f"{function} has no kernel: {why}", field="kernel", remedy="Call the method, which uses the NumPy reference"
    )
