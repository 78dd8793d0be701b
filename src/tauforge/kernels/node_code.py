"""The operations of a graph, one after another, in the words of a target."""

from __future__ import annotations

from tauforge.kernels import elementary_functions as functions
from tauforge.kernels.arithmetic import Arithmetic
from tauforge.tracing.graph import Graph, Node


class NodeCode:
    """Writes nodes; a target says where a value that is already known is (`value`)."""

    def __init__(self, graph: Graph, numbers: Arithmetic) -> None:
        self.graph, self.numbers = graph, numbers
        self.pairs: dict[int, tuple[str, str]] = {}  # sine and cosine of a node
        self.reciprocals: dict[int, str] = {}

    def value(self, k: int) -> str:
        """The name of node k, or a constant."""
        raise NotImplementedError

    def sine_and_cosine(self, x: str) -> tuple[str, str]:
        return functions.sine_and_cosine(self.numbers, x)

    def hyperbolic_tangent(self, x: str) -> str:
        return functions.hyperbolic_tangent(self.numbers, x)

    def arctangent(self, y: str, x: str) -> str:
        return functions.arctangent(self.numbers, y, x)

    def computed(self, node: Node) -> str:
        """The name of the result of one operation."""
        a, v = node.args[0], self.numbers
        match node.op:
            case "add" | "sub" | "mul":
                return v.operation(node.op, self.value(a), self.value(node.args[1]))
            case "div":
                return self.quotient(a, node.args[1])
            case "sin" | "cos":
                if a not in self.pairs:
                    self.pairs[a] = self.sine_and_cosine(self.value(a))
                return self.pairs[a][node.op == "cos"]
            case "sqrt":
                return v.intrinsic("sqrt", self.value(a))
            case "sign":
                return functions.sign(v, self.value(a))
            case "tanh":
                return self.hyperbolic_tangent(self.value(a))
            case "atan2":
                return self.arctangent(self.value(a), self.value(node.args[1]))
            case "abs":
                return v.intrinsic("fabs", self.value(a))
            case "select":
                left, right, x, y = (self.value(k) for k in node.args)
                return v.select(v.compare("olt", left, right), x, y)
        raise NotImplementedError(node.op)

    def quotient(self, a: int, b: int) -> str:
        if b not in self.reciprocals:
            denominator = self.graph.nodes[b]
            if denominator.op == "sqrt":
                self.reciprocals[b] = self.numbers.reciprocal_root(self.value(denominator.args[0]))
            else:
                self.reciprocals[b] = self.numbers.reciprocal(self.value(b))
        numerator = self.graph.nodes[a]
        if numerator.op == "constant" and numerator.value == 1.0:
            return self.reciprocals[b]
        return self.numbers.operation("mul", self.value(a), self.reciprocals[b])
