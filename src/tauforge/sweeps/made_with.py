"""What results were made with: two runs give the same bytes if these agree, and a store goes on only with them."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from tauforge._version import __version__
from tauforge.evaluation.evaluator import kernels_allowed
from tauforge.kernels.cpu.host import host


def made_with() -> dict[str, Any]:
    """Versions and kind of machine, as JSON.

    vector_bits: of the compiled kernels; None where the NumPy reference runs in their place
    """
    kernels = kernels_allowed()
    return {
        "tauforge": __version__,
        "numpy": version("numpy"),
        "kernels": kernels,
        "vector_bits": host().vector_bits if kernels else None,
        "processor": platform.machine(),
    }
