"""Graphs as straight-line C: what CUDA C and C99 have in common.

Every result is a constant with a name of its own; sines, arc tangents and hyperbolic tangents are functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tauforge.kernels import arithmetic
from tauforge.kernels.arithmetic import NodeCode, to_single
from tauforge.tracing.graph import Graph

SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "xor": "^", "shl": "<<"}
COMPARISONS = {"olt": "{} < {}", "ogt": "{} > {}", "oeq": "{} == {}", "ugt": "!({} <= {})"}


class Dialect(NamedTuple):
    """Differences between the languages that are written as C.

    prefix:    of the functions that statements call (`elementary_functions`)
    function:  begins the definition of a function that is called from other generated code
    fused:     whether there is an instruction for a b + c with one rounding
    calls:     the functions of the language by our names (fma, sqrt, fabs, copysign, bits, number), for 64 bits and for
               32; without rsqrt and reciprocal it divides, without select it uses ?:, which may branch
    nan:       an expression, for 64 bits and for 32
    integer:   an unsigned integer type, of 64 bits and of 32
    """

    prefix: str
    function: str
    fused: bool
    calls: dict[int, dict[str, str]]
    nan: dict[int, str]
    integer: dict[int, str]


def number_type(bits: int) -> str:
    return "double" if bits == 64 else "float"


class CNumbers:
    """Statements of one function body (`kernels.arithmetic.Arithmetic`)."""

    def __init__(self, dialect: Dialect, bits: int) -> None:
        self.dialect, self.bits, self.fused = dialect, bits, dialect.fused
        self.type = number_type(bits)
        self.lines: list[str] = []
        self._names: dict[str, str] = {}

    def emit(self, expression: str, kind: str | None = None) -> str:
        """The name of a constant with this value. Equal expressions have one: sqrt(x) beside 1 / sqrt(x)."""
        name = self._names.get(expression)
        if name is None:
            name = self._names[expression] = f"v{len(self.lines)}"
            self.lines.append(f"const {kind or self.type} {name} = {expression};")
        return name

    def do(self, statement: str) -> None:
        self.lines.append(statement)

    def constant(self, value: float) -> str:
        return self.dialect.nan[self.bits] if math.isnan(value) else literal(value, self.bits)

    def operation(self, op: str, a: str, b: str) -> str:
        return self.emit(f"{a} {SYMBOLS[op]} {b}")

    def exactly(self, op: str, a: str, b: str) -> str:
        return self.operation(op, a, b)

    def negated(self, a: str) -> str:
        return self.emit(f"-{a}")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.intrinsic("fma", a, b, c) if self.fused else self.emit(f"{a} * {b} + {c}")

    def intrinsic(self, name: str, *arguments: str) -> str:
        return self.emit(f"{self.dialect.calls[self.bits][name]}({', '.join(arguments)})")

    def reciprocal(self, x: str) -> str:
        if "reciprocal" in self.dialect.calls[self.bits]:
            return self.intrinsic("reciprocal", x)
        return self.operation("div", self.constant(1.0), x)

    def reciprocal_root(self, x: str) -> str:
        if "rsqrt" in self.dialect.calls[self.bits]:
            return self.intrinsic("rsqrt", x)
        return self.reciprocal(self.intrinsic("sqrt", x))

    def compare(self, how: str, a: str, b: str) -> str:
        return COMPARISONS[how].format(a, b)

    def select(self, mask: str, a: str, b: str) -> str:
        if "select" in self.dialect.calls[self.bits]:
            return self.intrinsic("select", mask, a, b)
        return self.emit(f"({mask}) ? {a} : {b}")

    def integer_constant(self, value: int) -> str:
        suffix = "ULL" if self.bits == 64 else "U"
        return f"0x{value % (1 << self.bits):X}{suffix}"

    def integer_operation(self, op: str, a: str, b: str) -> str:
        return self.emit(f"{a} {SYMBOLS[op]} {b}", self.dialect.integer[self.bits])

    def is_odd(self, integer: str) -> str:
        return f"({integer} & {self.integer_constant(1)}) != 0"

    def as_integers(self, a: str) -> str:
        return self.emit(f"{self.dialect.calls[self.bits]['bits']}({a})", self.dialect.integer[self.bits])

    def as_numbers(self, a: str) -> str:
        return self.emit(f"{self.dialect.calls[self.bits]['number']}({a})")


def literal(value: float, bits: int) -> str:
    """A decimal constant that reads back equal."""
    if math.isinf(value):
        raise ValueError("a constant of the graph is infinite")
    if bits == 64:
        return repr(float(value))
    single = to_single(value)
    shortest = next(text for digits in range(1, 10) if to_single(float(text := f"{single:.{digits}g}")) == single)
    return f"{shortest if any(c in shortest for c in '.e') else shortest + '.0'}f"


class Statements(NodeCode):
    """The statements of a graph, in `lines`.

    inputs: an expression for each input, by its name in the graph
    store:  store(k, expression) is the statement that stores output k; it stands where the output is complete. Without
            it nothing is stored, and `outputs` gives the expressions
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, str],
        dialect: Dialect,
        bits: int,
        store: Callable[[int, str], str] | None = None,
    ) -> None:
        self.code = CNumbers(dialect, bits)
        super().__init__(graph, self.code)
        self.inputs, self.lines = inputs, self.code.lines
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
        self.code.do(f"{self.code.type} {sine}, {cosine}; {self.code.dialect.prefix}sincos({x}, &{sine}, &{cosine});")
        return sine, cosine

    def hyperbolic_tangent(self, x: str) -> str:
        self.called.add("tanh")
        return self.code.emit(f"{self.code.dialect.prefix}tanh({x})")

    def arctangent(self, y: str, x: str) -> str:
        self.called.add("atan2")
        return self.code.emit(f"{self.code.dialect.prefix}atan2({y}, {x})")


def elementary_functions(called: set[str], dialect: Dialect, bits: int) -> str:
    """Definitions of the functions that statements call."""
    number, texts = number_type(bits), []

    def define(head: str, code: CNumbers, *results: str) -> None:
        lines = "".join(f"    {line}\n" for line in (*code.lines, *results))
        texts.append(f"{dialect.function} {head}\n{{\n{lines}}}\n")

    if "sincos" in called:
        code = CNumbers(dialect, bits)
        sine, cosine = arithmetic.sine_and_cosine(code, "x")
        head = f"void {dialect.prefix}sincos({number} x, {number} *sine, {number} *cosine)"
        define(head, code, f"*sine = {sine};", f"*cosine = {cosine};")
    if "tanh" in called:
        code = CNumbers(dialect, bits)
        result = arithmetic.hyperbolic_tangent(code, "x")
        define(f"{number} {dialect.prefix}tanh({number} x)", code, f"return {result};")
    if "atan2" in called:
        code = CNumbers(dialect, bits)
        result = arithmetic.arctangent(code, "y", "x")
        define(f"{number} {dialect.prefix}atan2({number} y, {number} x)", code, f"return {result};")
    return "\n".join(texts)
