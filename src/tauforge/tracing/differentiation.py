"""Jacobians of a graph, by reverse accumulation on the graph itself.

There is one backward sweep for each output, over the nodes that lie between it and the chosen inputs. Products with 0
and 1 fold, and the recorder shares what the sweeps have in common. For an arm's inverse dynamics (n outputs, 2 n
inputs) this takes about half the operations of forward accumulation.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.scalars import Scalar, cos, is_number, select, sign, sin
from tauforge.tracing.graph import Graph, Node


def jacobian(graph: Graph, inputs: dict[str, Scalar], wrt: Sequence[str]) -> list[list[Scalar]]:
    """d output_i / d input_k at `inputs`, over any scalar: rows by output, columns by name in `wrt`.

    Identity: equals the derivatives by dual numbers.
    """
    values = graph.values(inputs)
    depends = [False] * len(graph.nodes)
    column: dict[int, int] = {}
    for k, node in enumerate(graph.nodes):
        if node.op == "input":
            depends[k] = node.name in wrt
            if depends[k]:
                column[k] = wrt.index(node.name)
        else:
            depends[k] = any(depends[a] for a in node.args)
    return [
        swept_back(graph, values, depends, column, output.node, -1.0 if output.negative else 1.0, len(wrt))
        for output in graph.outputs
    ]


def swept_back(
    graph: Graph,
    values: list[Scalar],
    depends: list[bool],
    column: dict[int, int],
    start: int,
    seed: float,
    width: int,
) -> list[Scalar]:
    row: list[Scalar] = [0.0] * width
    adjoint: dict[int, Scalar] = {start: seed}
    for k in range(start, -1, -1):
        if k not in adjoint or not depends[k]:
            continue
        bar = adjoint.pop(k)
        if k in column:
            row[column[k]] = bar
            continue
        node = graph.nodes[k]
        for a, step in zip(node.args, steps(node, values, k, bar), strict=True):
            if depends[a] and not (is_number(step) and step == 0):
                adjoint[a] = adjoint[a] + step if a in adjoint else step
    return row


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
        case _:  # sign: flat wherever it has a derivative, and taken as flat at 0
            return (0.0,)
