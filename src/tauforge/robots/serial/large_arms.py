"""Derivatives of arms that are too large for one kernel, put together from smaller kernels.

Inverse dynamics is differentiated in one direction after another, so that the kernel does not grow with the square of
the number of joints. Those of forward dynamics follow from them: dqdd/dx = - M^-1 dtau/dx at the qdd that tau produces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.arguments import batch_shape, finite_rows

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator

State = Mapping[str, Array]


def inverse_dynamics_derivatives(evaluator: Evaluator, state: State) -> tuple[Array, ...]:
    n = state["q"].shape[-1]
    # directions come before the batch, so that the kernel's inner loop is over the batch
    batch = (1,) * len(batch_shape(state))
    directions = np.eye(2 * n, dtype=state["q"].dtype).reshape(2 * n, *batch, 2 * n)
    moved = {name: state[name] for name in ("q", "qd", "qdd")} | {"dq": directions[..., :n], "dqd": directions[..., n:]}
    loads = {name: value for name, value in state.items() if name == "payload"}
    (slopes,) = evaluator("inverse_dynamics_slope", moved | loads)
    (M,) = evaluator("mass_matrix", {"q": state["q"]} | loads)
    sound = finite_rows(state)[..., None, None]
    return *as_columns(slopes, 2), np.where(sound, M, np.array(np.nan, slopes.dtype))


def forward_dynamics_derivatives(evaluator: Evaluator, state: State) -> tuple[Array, ...]:
    n = state["q"].shape[-1]
    (qdd,) = evaluator("forward_dynamics", state)
    accelerated = {("qdd" if name == "tau" else name): qdd if name == "tau" else x for name, x in state.items()}
    by_q, by_qd, M = evaluator("inverse_dynamics_derivatives", accelerated)
    unit = np.broadcast_to(np.eye(n, dtype=M.dtype), M.shape)
    rights = np.concatenate([np.moveaxis(x, -1, 0) for x in (-by_q, -by_qd, unit)])
    (solutions,) = evaluator("solution", {"matrix": M.reshape(*M.shape[:-2], n * n), "right": rights})
    by_q, by_qd, inverse = as_columns(solutions, 3)
    return by_q, by_qd, (inverse + np.swapaxes(inverse, -1, -2)) / 2


def as_columns(vectors: Array, count: int) -> list[Array]:
    """So many matrices (..., n, n) whose columns are the vectors (count n, ..., n), one after another."""
    return [np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in np.split(vectors, count)]
