"""Operation counts of a traced graph, and of a function as it is written.

Convention: sums and differences are additions; negations, and products with 0, 1 and -1, are free; operations among
parameters of the robot are precomputed; divisions, square roots and sines and cosines are counted apart; signs,
absolute values, roundings and selections are free.
"""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from tauforge.algebra.scalars import FoldingScalar, Scalar, is_number
from tauforge.tracing.differentiation import dependent
from tauforge.tracing.graph import Graph, Node

COUNTED_AS = {
    "mul": "multiplications",
    "add": "additions",
    "sub": "additions",
    "div": "divisions",
    "sin": "sincos",
    "cos": "sincos",
    "sqrt": "roots",
}


class Operations(NamedTuple):
    multiplications: int = 0
    additions: int = 0
    sincos: int = 0
    divisions: int = 0
    roots: int = 0

    @property
    def flops(self) -> int:
        """Multiplications, additions, divisions and roots; sines and cosines apart."""
        return self.multiplications + self.additions + self.divisions + self.roots


def operations(tally: Counter[str]) -> Operations:
    total: Counter[str] = Counter()
    for op in COUNTED_AS.keys() & tally.keys():
        total[COUNTED_AS[op]] += tally[op]
    return Operations(**total)


def varying(graph: Graph, constants: str) -> list[bool]:
    """Mask of nodes that depend on more than inputs whose names begin with `constants` (parameters of the robot)."""
    inputs = {node.name for node in graph.nodes if node.op == "input"}
    return dependent(graph, {name for name in inputs if not (constants and name.startswith(constants))})


def is_negation(graph: Graph, node: Node) -> bool:
    """0 - x: recorded where a sign could not be kept beside its node."""
    return node.op == "sub" and graph.nodes[node.args[0]] == Node("constant", value=0.0)


def count(graph: Graph, constants: str = "") -> Operations:
    """Operations of a graph: common subexpressions count once, dead code and constant subexpressions not at all."""
    each = zip(graph.nodes, varying(graph, constants), strict=True)
    return operations(Counter(node.op for node, varies in each if varies and not is_negation(graph, node)))


class Counted(FoldingScalar):
    """A scalar without a value that counts every operation of a function as written; nothing is shared.

    A constant stands for an unknown parameter of the robot; operations among constants are precomputed and not counted.
    """

    __slots__ = ("constant", "tally")

    def __init__(self, tally: Counter[str], constant: bool = False) -> None:
        self.tally, self.constant = tally, constant

    def _binary(self, name: str, a: Scalar, b: Scalar) -> Counted:
        return self._tick(name, all(is_number(x) or x.constant for x in (a, b)))

    def _unary(self, name: str) -> Counted:
        return self._tick(name, self.constant)

    def _select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Counted:
        return self._tick("select", all(is_number(s) or s.constant for s in (a, b, x, y)))

    def _tick(self, name: str, constant: bool) -> Counted:
        self.tally[name] += not constant
        return Counted(self.tally, constant)


class CriticalPath(NamedTuple):
    """Operations on the longest chain of dependent ones: the steps left if everything else ran in parallel."""

    multiplications: int
    additions: int

    @property
    def steps(self) -> int:
        return self.multiplications + self.additions


def critical_path(graph: Graph, constants: str = "") -> CriticalPath:
    """The longest chain of multiplications and additions from any input to any output; sines and cosines are given."""
    depth: list[tuple[int, int, int]] = []  # steps, multiplications, additions
    for node, varies in zip(graph.nodes, varying(graph, constants), strict=True):
        steps, multiplications, additions = max((depth[k] for k in node.args), default=(0, 0, 0))
        works = varies and not is_negation(graph, node)
        multiplies, adds = works and node.op in ("mul", "div"), works and node.op in ("add", "sub")
        depth.append((steps + (multiplies or adds), multiplications + multiplies, additions + adds))
    longest = max((depth[output.node] for output in graph.outputs), default=(0, 0, 0))
    return CriticalPath(longest[1], longest[2])


def least_steps(graph: Graph, constants: str = "", *, once: bool = False) -> int:
    """Steps left if everything independent ran in parallel and every sum and product were put in the best order.

    A value that several others need may be formed several times, in the order that is best for each. With `once` it is
    formed once, and the others wait for it. Products are not multiplied out.
    """
    kinds = {"add": "sum", "sub": "sum", "mul": "product"}
    varies = varying(graph, constants)
    needed = Counter(a for node in graph.nodes for a in node.args)
    needed.update(output.node for output in graph.outputs)
    ready: list[int] = []  # steps after which a node is known
    terms: list[list[int]] = []  # when the terms of a sum or product are ready, nested sums or products flattened
    for k, node in enumerate(graph.nodes):
        latest = max((ready[a] for a in node.args), default=0)
        kind = kinds.get(node.op) if varies[k] else None
        terms.append([])
        if kind is None:
            ready.append(latest + (varies[k] and node.op == "div"))
            continue
        for a in node.args:
            same = varies[a] and kinds.get(graph.nodes[a].op) == kind and not (once and needed[a] > 1)
            terms[k] += terms[a] if same else [ready[a]]
        ready.append(_joined(terms[k]))
    return max((ready[output.node] for output in graph.outputs), default=0)


def _joined(times: list[int]) -> int:
    """The step at which the sum of terms that are ready at these times is known: the two earliest are joined first."""
    heap = list(times)
    heapify(heap)
    while len(heap) > 1:
        heappush(heap, max(heappop(heap), heappop(heap)) + 1)
    return heap[0]
