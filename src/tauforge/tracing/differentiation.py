"""Jacobians of a graph, by reverse accumulation on the graph itself.

A Jacobian takes one backward sweep for each output, over the nodes that lie between it and the chosen inputs. Products
with 0 and 1 fold, and the recorder shares what the sweeps have in common. For an arm's inverse dynamics (n outputs, 2 n
inputs) this takes about half the operations of forward accumulation. A gradient (`pulled_back`) takes one sweep.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tauforge.algebra.scalars import Scalar, cos, is_number, select, sign, sin
from tauforge.tracing.graph import Graph, Node, Output


def jacobian(graph: Graph, inputs: dict[str, Scalar], wrt: Sequence[str]) -> list[list[Scalar]]:
    """d output_i / d input_k at `inputs`, over any scalar: rows by output, columns by name in `wrt`.

    Identity: equals the derivatives by dual numbers.
    """
    values, depends = graph.values(inputs), dependent(graph, wrt)
    return [swept_back(graph, values, depends, [(output, 1.0)], wrt) for output in graph.outputs]


def pulled_back(
    graph: Graph, inputs: dict[str, Scalar], wrt: Sequence[str], bars: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """The outputs, and sum_i bar_i d output_i / d input_k for the inputs in `wrt`, by one sweep; over any scalar.

    Identity: bars @ jacobian.
    """
    values = graph.values(inputs)
    seeds = list(zip(graph.outputs, bars, strict=True))
    outputs = [-values[k] if negative else values[k] for k, negative in graph.outputs]
    return outputs, swept_back(graph, values, dependent(graph, wrt), seeds, wrt)


def dependent(graph: Graph, wrt: Collection[str]) -> list[bool]:
    """Mask of nodes that depend on the inputs of these names."""
    depends: list[bool] = []
    for node in graph.nodes:
        depends.append(node.name in wrt if node.op == "input" else any(depends[a] for a in node.args))
    return depends


def swept_back(
    graph: Graph, values: list[Scalar], depends: list[bool], seeds: Sequence[tuple[Output, Scalar]], wrt: Sequence[str]
) -> list[Scalar]:
    """One number for each name in `wrt`. seeds: outputs and what the sum counts them with"""
    found: dict[str, Scalar] = {}
    adjoint: dict[int, Scalar] = {}
    for output, bar in seeds:
        signed = -bar if output.negative else bar
        adjoint[output.node] = adjoint[output.node] + signed if output.node in adjoint else signed
    for k in range(max(adjoint, default=-1), -1, -1):
        if k not in adjoint or not depends[k]:
            continue
        bar, node = adjoint.pop(k), graph.nodes[k]
        if node.op == "input":
            found[node.name] = bar
            continue
        for a, step in zip(node.args, steps(node, values, k, bar), strict=True):
            if depends[a] and not (is_number(step) and step == 0):
                adjoint[a] = adjoint[a] + step if a in adjoint else step
    return [found.get(name, 0.0) for name in wrt]


def steps(node: Node, values: list[Scalar], k: int, bar: Scalar) -> tuple[Scalar, ...]:
    """The increment of each argument's adjoint; 0 for the branch that `select` did not take, whatever its slope."""
    if node.op != "select":
        return tuple(bar * slope for slope in slopes(node, values, k))
    a, b = values[node.args[0]], values[node.args[1]]
    return 0.0, 0.0, select(a, b, bar, 0.0), select(a, b, 0.0, bar)


def slopes(node: Node, values: list[Scalar], k: int) -> tuple[Scalar, ...]:
    """d node / d argument, for each argument."""
    x = [values[a] for a in node.args]
    match node.op:
        case "add":
            return 1.0, 1.0
        case "sub":
            return 1.0, -1.0
        case "mul":
            return x[1], x[0]
        case "div":
            return 1.0 / x[1], -values[k] / x[1]
        case "sin":
            return (cos(x[0]),)
        case "cos":
            return (-sin(x[0]),)
        case "sqrt":
            return (0.5 / values[k],)
        case "tanh":
            return (1.0 - values[k] * values[k],)
        case "abs":
            return (sign(x[0]),)
        case "atan2":
            scale = 1.0 / (x[0] * x[0] + x[1] * x[1])
            return x[1] * scale, -(x[0] * scale)
        case _:  # sign, rint: flat wherever they have a derivative, and taken as flat elsewhere
            return (0.0,)
