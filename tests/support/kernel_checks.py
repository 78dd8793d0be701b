"""Kernels beside the reference: what the tests of kernels share."""

from __future__ import annotations

import numpy as np
import pytest

from support.strategies import random_arm
from support.tolerances import error


def reference(arm, method, *arguments, **loads):
    """The same call without kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "0")
        return several(getattr(arm.replace(), method)(*arguments, **loads))


def several(result):
    return result if isinstance(result, tuple) else (result,)


def agree(got, expected, batch, tolerance):
    for a, b in zip(several(got), expected, strict=True):
        assert a.shape == b.shape
        core = max(1, np.ndim(b) - len(batch))
        if np.size(b):
            one = np.ndim(b) == len(batch)
            assert (
                error(np.asarray(a)[..., None] if one else a, np.asarray(b)[..., None] if one else b, core) < tolerance
            )


def arm_of(kinds, seed=1, convention="modified"):
    return random_arm(np.random.default_rng(seed), kinds, convention, drives=True)


def forget_kernels():
    """The next kernel comes from the disk or is compiled, though an equal robot lives."""
    from tauforge.kernels.cpu.kernel import backend  # most of the tests that import this module need no compiler

    backend._shared.clear()
    backend._recent.clear()


def traced_kernel(name, graph, arguments, results, origin, doubt_limit=None):
    """A kernel of a graph that belongs to no robot."""
    from tauforge.kernels.cpu.kernel import CpuKernel
    from tauforge.kernels.specification import Specification

    return CpuKernel(Specification(name, "", lambda: graph, tuple(arguments), tuple(results), origin, doubt_limit))
