"""Derivatives of a robot's functions by dual numbers through their own formulas: for robots of any kind.

One kernel gives all directions at once; where it would be too large, a kernel of one direction serves them one after
another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, wraps
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.algebra.dual import Dual, derivative, primal, seeded
from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.evaluation.arguments import batch_shape
from tauforge.evaluation.functions import Argument, Doubtful, Formula, Function, FunctionTable, flat, results_of
from tauforge.tracing.differentiation import jacobian
from tauforge.tracing.graph import trace

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator

DYNAMICS = ("inverse_dynamics", "forward_dynamics")


def with_derivatives(table: FunctionTable) -> FunctionTable:
    """The table, and the derivatives of inverse and forward dynamics by their three arguments.

    A guard of the function guards its derivatives, too: they are what its `judge` then gets as results.
    """
    added: dict[str, Function] = {}
    for name in DYNAMICS:
        function = table[name]
        names = tuple(argument.name for argument in function.arguments)
        (count,) = function.results[0]
        changes = tuple(Argument(f"d{a.name}", a.core, f"a change of {a.name}") for a in function.arguments)
        alone = function._replace(guard=None, quick=False, public=False)
        by = slope(function.formula, names)
        added[f"{name}_slope"] = alone._replace(formula=by, arguments=(*function.arguments, *changes))
        added[f"{name}_derivatives"] = function._replace(
            formula=jacobians(function.formula, names),
            results=tuple((count, argument.numbers) for argument in function.arguments),
            in_parts=partial(by_directions, f"{name}_slope", function.arguments),
        )
    return {**table, **added}


def slope(formula: Formula, names: tuple[str, ...]) -> Formula:
    """The derivative of the results in one direction: for each of the names there is an argument d + name more."""

    @wraps(formula)  # it comes from where the formula comes from
    def slope(model: Any, /, **given: Any) -> list[Scalar]:
        for name in names:
            change = given.pop(f"d{name}")
            given[name] = [Dual(x, {0: dx}) for x, dx in zip(given[name], change, strict=True)]
        return [derivative(y, 0) for y in results_of(formula(model, **given))]

    return slope


def jacobians(formula: Formula, names: tuple[str, ...]) -> Formula:
    """The derivatives of the results by each of these arguments, a matrix for each name."""

    @wraps(formula)
    def jacobians(model: Any, /, **given: Any) -> Any:
        places = [0, *accumulate(len(given[name]) for name in names)]
        given |= {name: seeded(given[name], place) for name, place in zip(names, places, strict=False)}
        found = formula(model, **given)
        results = results_of(found)
        matrices = [[[derivative(y, k) for k in range(*span)] for y in results] for span in pairwise(places)]
        return Doubtful(matrices, lambda: primal(found.doubt())) if isinstance(found, Doubtful) else matrices

    return jacobians


def slopes_by(formula: Formula, names: tuple[str, ...]) -> Formula:
    """The derivatives of all results by each of these arguments, by sweeping back over the formula's graph.

    Loads such as a payload may be among the names. For each name all results come one after another, (*core, numbers).
    """

    @wraps(formula)
    def slopes(model: Any, /, **given: Any) -> list[Scalar]:
        vectors = {name: value for name, value in given.items() if isinstance(value, list)}
        options = {name: value for name, value in given.items() if name not in vectors}

        def flat_results(*columns: Any) -> list[Scalar]:
            return flat(results_of(formula(model, **dict(zip(vectors, columns, strict=True)), **options)))

        graph = trace(flat_results, {name: len(vector) for name, vector in vectors.items()})
        inputs = {f"{name}{k}": x for name, vector in vectors.items() for k, x in enumerate(vector)}
        places = [f"{name}{k}" for name in names for k in range(len(vectors[name]))]
        rows = jacobian(graph, inputs, places)
        spans = pairwise([0, *accumulate(len(vectors[name]) for name in names)])
        return [slope for first, end in spans for row in rows for slope in row[first:end]]

    return slopes


def by_directions(
    name: str, wanted: tuple[Argument, ...], evaluator: Evaluator, arguments: Mapping[str, Array]
) -> tuple[Array, ...]:
    """The matrices, one column after another, by the function of this name."""
    counts = [argument.numbers for argument in wanted]
    changes = unit_changes(counts, arguments)
    given = {f"d{argument.name}": change for argument, change in zip(wanted, changes, strict=True)}
    return columns_of(name, wanted, counts, given, evaluator, arguments)


def unit_changes(counts: Sequence[int], arguments: Mapping[str, Array]) -> list[Array]:
    """Changes of arguments with so many entries: one entry changes by 1, in every direction another.

    Directions come before the batch, so that a kernel's inner loop is over the batch.
    """
    total = sum(counts)
    batch = (1,) * len(batch_shape(arguments))
    dtype = next(iter(arguments.values())).dtype
    directions = np.eye(total, dtype=dtype).reshape(total, *batch, total)
    return np.split(directions, np.cumsum(counts)[:-1], axis=-1)


def columns_of(
    name: str,
    wanted: tuple[Argument, ...],
    counts: Sequence[int],
    changes: Mapping[str, Array],
    evaluator: Evaluator,
    arguments: Mapping[str, Array],
) -> tuple[Array, ...]:
    """Matrices with so many columns each, which are the slopes in the directions of the changes."""
    state = {argument.name: arguments[argument.name] for argument in wanted}
    loads = {key: value for key, value in arguments.items() if key not in state}
    (columns,) = evaluator(name, {**state, **changes, **loads})
    parts = np.split(columns, np.cumsum(counts)[:-1])
    return tuple(np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in parts)
