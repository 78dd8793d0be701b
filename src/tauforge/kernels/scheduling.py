"""Choices that every target makes for a graph: the order of its operations, and which results tell of NaN inputs.

The compiler largely keeps to the order. A value that waits for its last use takes a register or, once those are used
up, a store and a load. Three orders are useful: the order of the source, which mixes independent work and is best where
everything fits into registers; each operation as soon as possible, which suits a long chain of links; and result by
result from the last to the first, each with what it alone needs, which suits many results that share little.

An infinity or a NaN makes a sum, a product, a root, a sine, a cosine, an absolute value and a quotient with it in the
numerator infinite or NaN, whatever the other operand is. Denominators (1 / inf is 0), comparisons, signs and functions
with bounded values may lose it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tauforge.tracing.graph import Graph, in_order

ROOM = 40  # values that may wait before order matters; AVX-512 has 32 registers, and some loads and stores are free
CLEARLY = 0.8  # a better order has at most this share of waiting values; a smaller gain does not outweigh mixed work


def is_crowded(graph: Graph) -> bool:
    """True if more values wait on average than there is room for, in the order of the source."""
    return waiting(graph, as_written(graph)) > ROOM


def least_crowded(graph: Graph, loaded: Collection[int] = ()) -> Graph:
    """The same operations in the order in which the fewest values wait: that of the source, or a clearly better one.

    loaded: operations whose results are read where they are needed, like inputs
    """
    written = as_written(graph)
    others = (as_soon_as_possible(graph), result_by_result(graph))
    best = min(others, key=lambda order: waiting(graph, order, loaded))
    if waiting(graph, best, loaded) > CLEARLY * waiting(graph, written, loaded):
        best = written
    free = [k for k, node in enumerate(graph.nodes) if not node.args]
    return in_order(graph.nodes, graph.outputs, [*free, *best])


def waiting(graph: Graph, order: list[int], loaded: Collection[int] = ()) -> float:
    """Average number of values that wait for their last use. Inputs and constants are read where they are needed."""
    last = [0] * len(graph.nodes)
    for place, k in enumerate(order):
        last[k] = place
        for a in graph.nodes[k].args:
            last[a] = place
    return sum(last[k] - place for place, k in enumerate(order) if k not in loaded) / max(1, len(order))


def as_written(graph: Graph) -> list[int]:
    return [k for k, node in enumerate(graph.nodes) if node.args]


def as_soon_as_possible(graph: Graph) -> list[int]:
    """Each operation follows the last of those it depends on whose arguments are all inputs or constants.

    The inertial force of a link then takes the place of the motion it comes from.
    """
    starts = [-1] * len(graph.nodes)
    order = as_written(graph)
    for k in order:
        start = max([starts[a] for a in graph.nodes[k].args])
        starts[k] = k if start < 0 else start
    return sorted(order, key=starts.__getitem__)


def result_by_result(graph: Graph) -> list[int]:
    """The last result first, each after the operations that it needs and that are not done yet."""
    done = [not node.args for node in graph.nodes]
    order: list[int] = []
    for output in reversed(graph.outputs):
        stack = [output.node]
        while stack:
            k = stack[-1]
            missing = [a for a in graph.nodes[k].args if not done[a]]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if not done[k]:
                done[k] = True
                order.append(k)
    return order


# the number of operands, from the first, whose infinities or NaN an operation passes on
PASSED_ON = {"add": 2, "sub": 2, "mul": 2, "div": 1, "sin": 1, "cos": 1, "sqrt": 1, "abs": 1}


class NanProbes(NamedTuple):
    """Outputs, by their places, and inputs, by name: if all of these are finite, then so are all inputs."""

    outputs: tuple[int, ...]
    inputs: tuple[str, ...]


def nan_probes(graph: Graph, inputs: Sequence[str]) -> NanProbes:
    """A small set, found by a greedy search. An output that covers one input is no better than the input itself."""
    bit = {name: 1 << k for k, name in enumerate(inputs)}
    passed: list[int] = []  # for every node, the inputs that are finite if it is, as bits of an integer
    for node in graph.nodes:
        found = bit[node.name] if node.op == "input" else 0
        for a in node.args[: PASSED_ON.get(node.op, 0)]:
            found |= passed[a]
        passed.append(found)
    left = (1 << len(bit)) - 1
    chosen: list[int] = []
    while True:
        gains = [(passed[output.node] & left).bit_count() for output in graph.outputs]
        best = max(gains, default=0)
        if best < 2:
            return NanProbes(tuple(chosen), tuple(name for name, b in bit.items() if b & left))
        chosen.append(gains.index(best))
        left &= ~passed[graph.outputs[chosen[-1]].node]
