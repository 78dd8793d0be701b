"""Our own times once more with narrower vectors, taking turns with the others in the same run.

A robot's kernels are made for the vectors that are allowed at their first call, so a copy of the robot that is first
called under `narrow` keeps narrow ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tauforge.kernels.cpu.engine import VECTOR_BITS, host

BITS = 256  # of AVX2, which nearly every processor has


def narrow_name(name: str) -> str:
    """What times of narrower vectors are called."""
    return f"{name}, {BITS}-bit vectors"


NARROW = narrow_name("tauforge")


def has_wider() -> bool:
    """Whether this processor has vectors for which the narrow ones are worth a comparison."""
    return host().vector_bits > BITS


@contextmanager
def narrow() -> Iterator[None]:
    before = os.environ.get(VECTOR_BITS)
    os.environ[VECTOR_BITS] = str(BITS)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VECTOR_BITS]
        else:
            os.environ[VECTOR_BITS] = before


def narrowed(call: Callable[[], Any]) -> Callable[[], Any]:
    """For calls that look their kernels up every time."""

    def narrow_call() -> Any:
        with narrow():
            return call()

    return narrow_call
