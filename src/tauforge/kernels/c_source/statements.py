"""A graph as statements, and the functions that they call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tauforge.kernels import elementary_functions as elementary
from tauforge.kernels.c_source.numbers import CNumbers, Dialect, number_type
from tauforge.kernels.node_code import NodeCode
from tauforge.tracing.graph import Graph


class Statements(NodeCode):
    """The statements of a graph, in `lines`.

    inputs: an expression for each input, by its name in the graph
    prefix: of the functions that the statements call (`functions`)
    store:  store(k, expression) is the statement that stores output k; it stands where the output is complete. Without
            it nothing is stored, and `outputs` gives the expressions
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, str],
        dialect: Dialect,
        bits: int,
        prefix: str,
        store: Callable[[int, str], str] | None = None,
    ) -> None:
        self.code = CNumbers(dialect, bits)
        super().__init__(graph, self.code)
        self.inputs, self.prefix = inputs, prefix
        self.called: set[str] = set()
        self.names: dict[int, str] = {}
        waiting: dict[int, list[int]] = {}
        for place, (node_index, _) in enumerate(graph.outputs):
            waiting.setdefault(node_index, []).append(place)
        for k, node in enumerate(graph.nodes):
            if node.op == "input":
                self.names[k] = self.code.emit(inputs[node.name])
            elif node.op != "constant":
                self.names[k] = self.computed(node)
            if store is not None:
                for output in waiting.get(k, ()):
                    self.code.do(store(output, self.output(output)))

    @property
    def lines(self) -> list[str]:
        return self.code.lines

    def value(self, k: int) -> str:
        node = self.graph.nodes[k]
        return self.code.constant(node.value) if node.op == "constant" else self.names[k]

    def outputs(self) -> list[str]:
        """An expression for each output."""
        return [self.output(k) for k in range(len(self.graph.outputs))]

    def output(self, k: int) -> str:
        node, negative = self.graph.outputs[k]
        return f"-{self.value(node)}" if negative else self.value(node)

    def sine_and_cosine(self, x: str) -> tuple[str, str]:
        self.called.add("sincos")
        sine, cosine = f"s{len(self.lines)}", f"c{len(self.lines)}"
        self.code.do(f"{self.code.type} {sine}, {cosine}; {self.prefix}sincos({x}, &{sine}, &{cosine});")
        return sine, cosine

    def hyperbolic_tangent(self, x: str) -> str:
        self.called.add("tanh")
        return self.code.emit(f"{self.prefix}tanh({x})")

    def arctangent(self, y: str, x: str) -> str:
        self.called.add("atan2")
        return self.code.emit(f"{self.prefix}atan2({y}, {x})")


def functions(called: set[str], dialect: Dialect, bits: int, prefix: str) -> str:
    """Definitions of the functions that statements call."""
    number, texts = number_type(bits), []
    if "sincos" in called:
        code = CNumbers(dialect, bits)
        sine, cosine = elementary.sine_and_cosine(code, "x")
        head = f"void {prefix}sincos({number} x, {number} *sine, {number} *cosine)"
        texts.append(_defined(head, dialect, [*code.lines, f"*sine = {sine};", f"*cosine = {cosine};"]))
    if "tanh" in called:
        code = CNumbers(dialect, bits)
        result = elementary.hyperbolic_tangent(code, "x")
        texts.append(_defined(f"{number} {prefix}tanh({number} x)", dialect, [*code.lines, f"return {result};"]))
    if "atan2" in called:
        code = CNumbers(dialect, bits)
        result = elementary.arctangent(code, "y", "x")
        head = f"{number} {prefix}atan2({number} y, {number} x)"
        texts.append(_defined(head, dialect, [*code.lines, f"return {result};"]))
    return "\n".join(texts)


def _defined(head: str, dialect: Dialect, lines: list[str]) -> str:
    return f"{dialect.function} {head}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"
