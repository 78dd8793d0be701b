"""Derivatives of arms that are too large for one kernel, put together from smaller kernels.

Inverse dynamics is differentiated in one direction after another, so that the kernel does not grow with the square of
the number of joints. Those of forward dynamics follow from them: dqdd/dx = - M^-1 dtau/dx at the qdd that tau produces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.evaluate import Evaluator, batch_shape, finite_rows
from tauforge.robots.serial import functions as formulas

State = Mapping[str, Array]


def derivatives(evaluator: Evaluator, n: int, method: str, state: State) -> tuple[Array, ...]:
    """By one kernel if it can be had, else by parts; by the reference where there are no kernels at all."""
    function, formula = formulas.FUNCTIONS[method], getattr(formulas, method)
    shapes = {name: value.shape[-1:] for name, value in state.items()}
    if evaluator.too_large(method, formula, shapes, function.results(n), **function.options):
        dtype = np.result_type(*state.values())  # a part that takes few of the arguments has the precision of all
        return IN_PARTS[method](evaluator, n, {name: x.astype(dtype, copy=False) for name, x in state.items()})
    return evaluator(method, formula, state, function.results(n), **function.options)


def inverse_dynamics_derivatives(evaluator: Evaluator, n: int, state: State) -> tuple[Array, ...]:
    # directions come before the batch, so that the kernel's inner loop is over the batch
    batch = (1,) * len(batch_shape(state))
    directions = np.eye(2 * n, dtype=state["q"].dtype).reshape(2 * n, *batch, 2 * n)
    every = {**state, "dq": directions[..., :n], "dqd": directions[..., n:]}
    (slopes,) = evaluator("inverse_dynamics_slope", formulas.inverse_dynamics_slope, every, [(n,)])
    own = {name: value for name, value in state.items() if name in ("q", "payload")}
    (M,) = evaluator("mass_matrix", formulas.mass_matrix, own, [(n, n)])
    sound = finite_rows(state)[..., None, None]
    return *as_columns(slopes, 2), np.where(sound, M, np.array(np.nan, slopes.dtype))


def forward_dynamics_derivatives(evaluator: Evaluator, n: int, state: State) -> tuple[Array, ...]:
    (qdd,) = evaluator("forward_dynamics", formulas.forward_dynamics, state, [(n,)], **formulas.LOADS)
    accelerated = {("qdd" if name == "tau" else name): qdd if name == "tau" else x for name, x in state.items()}
    by_q, by_qd, M = derivatives(evaluator, n, "inverse_dynamics_derivatives", accelerated)
    unit = np.broadcast_to(np.eye(n, dtype=M.dtype), M.shape)
    rights = np.concatenate([np.moveaxis(x, -1, 0) for x in (-by_q, -by_qd, unit)])
    given = {"matrix": M.reshape(*M.shape[:-2], n * n), "right": rights}
    (solutions,) = evaluator("solution", formulas.solution, given, [(n,)])
    by_q, by_qd, inverse = as_columns(solutions, 3)
    return by_q, by_qd, (inverse + np.swapaxes(inverse, -1, -2)) / 2


def as_columns(vectors: Array, count: int) -> list[Array]:
    """So many matrices (..., n, n) whose columns are the vectors (count n, ..., n), one after another."""
    return [np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in np.split(vectors, count)]


IN_PARTS: dict[str, Callable[[Evaluator, int, State], tuple[Array, ...]]] = {
    "inverse_dynamics_derivatives": inverse_dynamics_derivatives,
    "forward_dynamics_derivatives": forward_dynamics_derivatives,
}
