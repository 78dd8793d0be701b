"""The order in which the operations of a graph are written.

The compiler largely keeps to it. A value that waits for its last use takes a register or, once those are used up, a
store and a load. Three orders are useful: the order of the source, which mixes independent work and is best where
everything fits into registers; each operation as soon as possible, which suits a long chain of links; and result by
result from the last to the first, each with what it alone needs, which suits many results that share little.
"""

from __future__ import annotations

from collections.abc import Collection

from tauforge.tracing.graph import Graph, in_order

ROOM = 40  # values that may wait before order matters; AVX-512 has 32 registers, and some loads and stores are free
CLEARLY = 0.8  # a better order has at most this share of waiting values; a smaller gain does not outweigh mixed work


def is_crowded(graph: Graph) -> bool:
    """Whether more values wait on average than there is room for, in the order of the source."""
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
    """How many values wait for their last use, on average. Inputs and constants are read where they are needed."""
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
