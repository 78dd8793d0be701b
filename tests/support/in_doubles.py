"""JAX in double precision, by the name that its version has."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import jax


def in_doubles() -> AbstractContextManager[Any]:
    """`jax.enable_x64(True)`; older versions have it as an experiment."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # type: ignore[attr-defined, unused-ignore]

    return enable_x64(True)
