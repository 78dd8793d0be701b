"""Outputs of a graph that are not finite if an input is not.

An infinity or a NaN makes a sum, a product, a root, a sine, a cosine, an absolute value and a quotient with it in the
numerator infinite or NaN, whatever the other operand is. Denominators (1 / inf is 0), comparisons, signs and functions
with bounded values may lose it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.tracing.graph import Graph

# the number of operands, from the first, whose infinities or NaN an operation passes on
PASSED_ON = {"add": 2, "sub": 2, "mul": 2, "div": 1, "sin": 1, "cos": 1, "sqrt": 1, "abs": 1}


class Witnesses(NamedTuple):
    """Outputs, by their places, and inputs, by name: if all of these are finite, then so are all inputs."""

    outputs: tuple[int, ...]
    inputs: tuple[str, ...]


def witnesses(graph: Graph, inputs: Sequence[str]) -> Witnesses:
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
            return Witnesses(tuple(chosen), tuple(name for name, b in bit.items() if b & left))
        chosen.append(gains.index(best))
        left &= ~passed[graph.outputs[chosen[-1]].node]
