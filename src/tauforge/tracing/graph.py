"""The recorder: a formulation run over `Traced` scalars gives its operations as a list.

Nodes are hash-consed, so a common subexpression exists once. Signs are kept beside the nodes: a value is
plus or minus a node, products of negatives and a - (-b) cost no negation, and b - a is minus the node a - b.
Recording an arm's inverse dynamics takes a few milliseconds in pure Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from tauforge.algebra.scalars import BINARY, FoldingScalar, Scalar, arctangent, function, select

ODD = frozenset({"sin", "sign", "tanh", "rint"})
EVEN = frozenset({"cos", "abs"})
LEAVES = ("input", "constant")  # no operations


class Node(NamedTuple):
    """One operation. args are indices of earlier nodes; value belongs to constants, name to inputs."""

    op: str  # input, constant, add, sub, mul, div, sin, cos, sqrt, sign, tanh, abs, rint, atan2, select
    args: tuple[int, ...] = ()
    value: float = 0.0
    name: str = ""


class UntraceableError(TypeError):
    """A function asks for the number behind a scalar that is being recorded."""


class Recorder:
    """Holds the nodes while a function is being traced.

    refusal: the first error that was raised in it, even if the function caught it
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.refusal: UntraceableError | None = None
        self._index: dict[tuple[Any, ...], int] = {}  # operations by name and arguments, the others by themselves

    def operation(self, op: str, args: tuple[int, ...]) -> int:
        index = self._index.get((op, args))
        if index is None:
            index = self._index[op, args] = len(self.nodes)
            self.nodes.append(Node(op, args))
        return index

    def input(self, name: str) -> Traced:
        return Traced(self, self._free(Node("input", name=name)), False)

    def constant(self, value: float) -> Traced:
        return Traced(self, self._free(Node("constant", value=abs(value))), value < 0)

    def exact_constant(self, value: float) -> Traced:
        """A constant with its sign inside the node."""
        return Traced(self, self._free(Node("constant", value=value)), False)

    def _free(self, node: Node) -> int:
        index = self._index.get(node)
        if index is None:
            index = self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return index


class Traced(FoldingScalar):
    """Plus or minus a node of a recorder."""

    __slots__ = ("index", "negative", "recorder")

    def __init__(self, recorder: Recorder, index: int, negative: bool) -> None:
        self.recorder, self.index, self.negative = recorder, index, negative

    def refuse(self, why: str) -> NoReturn:
        error = UntraceableError(why)
        self.recorder.refusal = self.recorder.refusal or error
        raise error

    def _known(self, *_: object) -> NoReturn:
        self.refuse("a number is asked for that is known only when it runs")

    def _compared(self, *_: object) -> NoReturn:
        self.refuse("a comparison of numbers that are known only when it runs; `numpy.where` chooses between values")

    def __bool__(self) -> bool:
        self.refuse("a branch on a value that is known only when it runs; `numpy.where` chooses between values")

    def __getattr__(self, name: str) -> NoReturn:
        """Refuses what numbers have and this has not, also as NumPy looks for it; anything else is just missing."""
        if hasattr(float, name) or hasattr(math, name):
            self.refuse(f"{name} of a number is asked for that is known only when it runs")
        raise AttributeError(name)

    __float__ = __int__ = __index__ = __complex__ = __round__ = __floor__ = __ceil__ = __trunc__ = _known
    __str__ = __repr__ = __format__ = _known
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = object.__hash__

    def _lift(self, x: Scalar) -> Traced:
        if x is self:
            return x
        if not isinstance(x, Traced):
            return self.recorder.constant(float(x))
        if x.recorder is not self.recorder:
            raise ValueError("scalars of two different recordings cannot be combined")
        return x

    def _binary(self, name: str, a: Scalar, b: Scalar) -> Scalar:
        u, v = self._lift(a), self._lift(b)
        if name == "mul":
            return self._product(u.index, v.index, u.negative != v.negative)
        if name in ("add", "sub"):
            return self._sum(u.index, v.index, u.negative, v.negative != (name == "sub"))
        if name == "div":
            return self._record("div", (u.index, v.index), u.negative != v.negative)
        return self._record("atan2", (u.index, v._positive().index), u.negative)  # odd in the first

    def _sum(self, u: int, v: int, u_negative: bool, v_negative: bool) -> Scalar:
        if u == v:
            return 0.0 if u_negative != v_negative else Traced(self.recorder, u, u_negative) * 2.0
        if u > v:
            u, v, u_negative, v_negative = v, u, v_negative, u_negative
        return self._record("add" if u_negative == v_negative else "sub", (u, v), u_negative)

    def _product(self, u: int, v: int, negative: bool) -> Traced:
        """A constant comes first, and constants gather: c1 (c2 x) becomes (c1 c2) x."""
        nodes = self.recorder.nodes
        if nodes[v].op == "constant" and nodes[u].op != "constant":
            u, v = v, u
        if nodes[u].op != "constant":
            return self._record("mul", (u, v) if u < v else (v, u), negative)
        inner = nodes[v]
        if inner.op == "mul" and nodes[inner.args[0]].op == "constant":
            folded = self.recorder.constant(nodes[u].value * nodes[inner.args[0]].value)
            return self._product(folded.index, inner.args[1], negative)
        return self._record("mul", (u, v), negative)

    def _record(self, op: str, args: tuple[int, ...], negative: bool) -> Traced:
        return Traced(self.recorder, self.recorder.operation(op, args), negative)

    def _unary(self, name: str) -> Traced:
        if name == "neg":
            return Traced(self.recorder, self.index, not self.negative)
        odd = name in ODD
        place = self.index if odd or name in EVEN else self._positive().index
        return self._record(name, (place,), odd and self.negative)

    def _positive(self) -> Traced:
        """The same value as a node without a sign, for where the sign must become an operation, as in sqrt(-x)."""
        if not self.negative:
            return self
        node = self.recorder.nodes[self.index]
        if node.op == "constant":
            return self.recorder.exact_constant(-node.value)
        zero = self.recorder.constant(0.0)
        return self._record("sub", (zero.index, self.index), False)

    def _select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        u, v, p, q = (self._lift(s) for s in (a, b, x, y))
        if (p.index, p.negative) == (q.index, q.negative):
            return p
        negative = p.negative and q.negative
        if negative:
            p, q = -p, -q
        if u.negative and v.negative:  # -u < -v is v < u
            u, v = -v, -u
        args = tuple(s._positive().index for s in (u, v, p, q))
        return self._record("select", args, negative)


class Output(NamedTuple):
    node: int
    negative: bool


class Graph(NamedTuple):
    """A traced function without dead code: nodes in order of evaluation, and the indices of its outputs."""

    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]

    def evaluate(self, inputs: dict[str, Scalar]) -> list[Scalar]:
        """Run the operations on other scalars, by name of input.

        Identity: equals the traced function on the same inputs.
        """
        values = self.values(inputs)
        return [-values[k] if negative else values[k] for k, negative in self.outputs]

    def values(self, inputs: dict[str, Scalar]) -> list[Scalar]:
        """The value of every node."""
        values: list[Scalar] = []
        for node in self.nodes:
            values.append(self.operation(node, [values[k] for k in node.args], inputs))
        return values

    @staticmethod
    def operation(node: Node, arguments: list[Scalar], inputs: dict[str, Scalar]) -> Scalar:
        """One node on other scalars."""
        match node.op:
            case "input":
                return inputs[node.name]
            case "constant":
                return node.value
            case "add" | "sub" | "mul" | "div":
                return BINARY[node.op](*arguments)
            case "atan2":
                return arctangent(*arguments)
            case "select":
                return select(*arguments)
            case op:
                return function(op, arguments[0])


def trace(f: Callable[..., Sequence[Scalar]], sizes: dict[str, int]) -> Graph:
    """Record f(*vectors), one list of `sizes[name]` inputs per name, called name0, name1, ...

    f returns a flat sequence of scalars.
    """
    return cheapest_trace([f], sizes)


def cheapest_trace(functions: Sequence[Callable[..., Sequence[Scalar]]], sizes: dict[str, int]) -> Graph:
    """`trace` of the function with the fewest operations among several that compute the same."""
    recordings = []
    for f in functions:
        recorder = Recorder()
        arguments = [[recorder.input(f"{name}{k}") for k in range(size)] for name, size in sizes.items()]
        results = [*map(recorder.constant(0.0)._lift, f(*arguments))]
        if recorder.refusal is not None:  # the function may have caught it
            raise recorder.refusal
        outputs = [Output(y.index, y.negative) for y in results]
        recordings.append((recorder.nodes, outputs, needed(recorder.nodes, outputs)))

    def operations(recording: tuple[list[Node], list[Output], list[int]]) -> int:
        nodes, _, order = recording
        return sum(1 for k in order if nodes[k].args)

    return in_order(*min(recordings, key=operations))


def without_dead_code(nodes: Sequence[Node], outputs: Sequence[Output]) -> Graph:
    """Only the nodes that the outputs need, renumbered."""
    return in_order(nodes, outputs, needed(nodes, outputs))


def needed(nodes: Sequence[Node], outputs: Sequence[Output]) -> list[int]:
    """The nodes that the outputs need, in the order of recording."""
    live = [False] * len(nodes)
    for output in outputs:
        live[output.node] = True
    for k in reversed(range(len(nodes))):
        if live[k]:
            for argument in nodes[k].args:
                live[argument] = True
    return [k for k, is_live in enumerate(live) if is_live]


def in_order(nodes: Sequence[Node], outputs: Sequence[Output], order: Sequence[int]) -> Graph:
    """These nodes, renumbered; arguments come before the nodes that need them."""
    place = [len(nodes)] * len(nodes)  # an invalid index, so that using a node that is left out raises an error
    for new, old in enumerate(order):
        place[old] = new
    kept = [
        Node(node.op, tuple(map(place.__getitem__, node.args))) if node.args else node
        for node in map(nodes.__getitem__, order)
    ]
    return Graph(tuple(kept), tuple([Output(place[o.node], o.negative) for o in outputs]))
