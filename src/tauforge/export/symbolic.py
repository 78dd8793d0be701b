"""Functions of a robot for CasADi and SymPy, by evaluating the traced graph on their symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.class_tools import with_field_docs
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.differentiable import BoundFunction, named_function
from tauforge.extras import how_to_install
from tauforge.kernels.specification import Shape
from tauforge.robots.robot import Robot
from tauforge.tracing.graph import Graph

__all__ = ["Expressions", "casadi_function", "sympy_expressions"]


def casadi_function(robot: Robot, name: str, *, loads: Sequence[str] = (), **options: Any) -> Any:
    """A `casadi.Function` of one state, for trajectory optimisation and code of CasADi.

    name:    of the robot's function, such as "inverse_dynamics"
    loads:   optional arguments that the function takes too, such as "payload" (its 10 numbers) or "tip_wrench"
    options: those of the function, such as formulation=
    returns: a Function with the method's name and argument names. Vectors are columns, matrices are matrices, and of
             results with more dimensions the first ones are rows one after another. A single result has the name
             "result", several are "result0", "result1" and so on.

    Identity: equals the method on one state. Singular states give what the formula gives: nothing raises.
    """
    casadi = _library("casadi")
    evaluation = named_function(robot, name, options, loads)
    columns = {argument.name: casadi.SX.sym(argument.name, argument.numbers) for argument in evaluation.arguments}
    inputs = {f"{key}{k}": column[k] for key, column in columns.items() for k in range(column.numel())}
    values = evaluation.graph.evaluate(inputs)

    def shaped(core: Shape, own: list[Scalar]) -> Any:
        rows = core[0] if len(core) == 1 else math.prod(core[:-1])
        # CasADi keeps matrices column by column
        return casadi.reshape(casadi.vertcat(*own), math.prod(core) // rows, rows).T

    outs = [shaped(core, own) for core, own in _shares(evaluation, values)]
    names = ["result"] if len(outs) == 1 else [f"result{k}" for k in range(len(outs))]
    return casadi.Function(name, [*columns.values()], outs, [*columns], names)


@with_field_docs
class Expressions(NamedTuple):
    """A function as SymPy writes it.

    arguments:     symbols of each argument by its name: q0, q1 and so on
    results:       one of each result: an expression, a Matrix (vectors are columns), or an array of more dimensions
    substitutions: symbols that stand for shared parts, each with its expression, in the order of computation: x0, x1
                   and so on, or y0, y1 where x is an argument; none unless they were asked for
    """

    arguments: dict[str, tuple[Any, ...]]
    results: tuple[Any, ...]
    substitutions: list[tuple[Any, Any]]


def sympy_expressions(
    robot: Robot, name: str, *, loads: Sequence[str] = (), shared: bool = False, **options: Any
) -> Expressions:
    """The function of one state in SymPy's expressions, the robot's parameters as numbers.

    name, loads, options: as in `casadi_function`
    shared: whether parts that are needed more than once are `substitutions`, as `sympy.cse` returns them. Large
            functions need it: SymPy looks at a part again wherever it occurs, which may take for ever

    Identity: equals the method on one state.
    """
    sympy = _library("sympy")
    evaluation = named_function(robot, name, options, loads)
    arguments = {
        argument.name: tuple(sympy.Symbol(f"{argument.name}{k}", real=True) for k in range(argument.numbers))
        for argument in evaluation.arguments
    }
    inputs = {symbol.name: symbol for symbols in arguments.values() for symbol in symbols}
    substitutions: list[tuple[Any, Any]] = []
    if shared:
        values, substitutions = _with_shared_parts(sympy, evaluation.graph, inputs)
    else:
        values = evaluation.graph.evaluate(inputs)

    def shaped(core: Shape, own: list[Scalar]) -> Any:
        if not core:
            return sympy.sympify(own[0])
        if len(core) <= 2:
            return sympy.Matrix(core[0], math.prod(core[1:]), own)
        return sympy.Array(own, core)

    results = tuple(shaped(core, own) for core, own in _shares(evaluation, values))
    return Expressions(arguments, results, substitutions)


def _with_shared_parts(sympy: Any, graph: Graph, inputs: dict[str, Any]) -> tuple[list[Scalar], list[tuple[Any, Any]]]:
    """The outputs, and a substitution for each operation that is needed more than once."""
    uses = [0] * len(graph.nodes)
    for k in [*(a for node in graph.nodes for a in node.args), *(output.node for output in graph.outputs)]:
        uses[k] += 1
    letter = "y" if "x0" in inputs else "x"
    values: list[Scalar] = []
    substitutions: list[tuple[Any, Any]] = []
    for node, count in zip(graph.nodes, uses, strict=True):
        value = graph.operation(node, [values[k] for k in node.args], inputs)
        if node.args and count > 1:
            symbol = sympy.Symbol(f"{letter}{len(substitutions)}", real=True)
            substitutions.append((symbol, value))
            value = symbol
        values.append(value)
    return [-values[k] if negative else values[k] for k, negative in graph.outputs], substitutions


def _shares(evaluation: BoundFunction, values: list[Scalar]) -> list[tuple[Shape, list[Scalar]]]:
    """Each result's core shape and its values."""
    given = iter(values)
    return [(core, [next(given) for _ in range(math.prod(core))]) for core in evaluation.results]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UnsupportedFeatureError(
            f"{name} is not installed", field="tauforge.symbolic", remedy=how_to_install("symbolic")
        ) from None
