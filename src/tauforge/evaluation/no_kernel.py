"""Why a function has no kernel, for the one who asked for it."""

from __future__ import annotations

from tauforge import settings
from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import NoKernelError


def no_kernel(function: str, error: NoKernelError | None = None) -> UnsupportedFeatureError:
    """Why a function has no kernel: what the backend says, or where nobody asked it, that no kernels are made."""
    if error is not None:
        why = str(error)
    elif not settings.kernels():
        why = f"{settings.shown(settings.KERNELS)} switches kernels off"
    else:
        why = "there is no executable memory left"
    return UnsupportedFeatureError(
        f"{function} has no kernel: {why}", field="kernel", remedy="Call the method, which uses the NumPy reference"
    )
