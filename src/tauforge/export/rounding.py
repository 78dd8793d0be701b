"""How far a function in single or double precision is from the reference: measured on random states, at export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.kernels.specification import Shape
from tauforge.tracing.graph import Graph

STATES = 256


class Rounding(NamedTuple):
    """Errors of a result: largest difference of a state over the largest magnitude in it.

    median, largest: over the states; NaN states, which singular poses give, are left out
    """

    median: float
    largest: float


def rounded(arguments: Sequence[Array], dtype: str) -> list[Array]:
    """The nearest numbers of this precision, in double."""
    return [x.astype(dtype).astype(float) for x in arguments]


def evaluated(graph: Graph, arguments: Mapping[str, Array], results: Sequence[Shape], dtype: str) -> list[Array]:
    """The graph in this precision, operation by operation, (states, numbers) for each result."""
    states = len(next(iter(arguments.values())))
    inputs = {f"{name}{k}": x[:, k].astype(dtype) for name, x in arguments.items() for k in range(x.shape[1])}
    with np.errstate(all="ignore"):
        values = iter(graph.evaluate(inputs))
    columns = [[np.broadcast_to(next(values), states) for _ in range(int(np.prod(core)))] for core in results]
    return [np.array(column, float).reshape(-1, states).T for column in columns]


def rounding(got: Sequence[Array], want: Sequence[Array]) -> list[Rounding]:
    """One for each result. got, want: (states, numbers) each"""
    found = []
    for a, b in zip(got, want, strict=True):
        size = np.abs(b).max(axis=1)
        with np.errstate(all="ignore"):
            errors = np.abs(a - b).max(axis=1) / np.where(size > 0, size, 1.0)
        errors = errors[np.isfinite(errors)]
        found.append(Rounding(float(np.median(errors)), float(errors.max())) if len(errors) else Rounding(0.0, 0.0))
    return found
