"""The arithmetic of a graph as functions of straight-line vector code.

A body works on packed blocks: input k of the block is the vector at `in + k`, output k goes to `out + k`. It is a
function of its own without any loop, or else the compiler hoists every constant out of the loop and spills it. Long
graphs are cut into parts that hand values on through a scratch block, so that each part stays in the instruction cache
while it runs over a tile of blocks. Multiplications and additions are left for the compiler to fuse: choosing the pairs
here made no kernel faster.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.kernels import llvm_functions as functions
from tauforge.kernels.llvm_text import Code, Vectors
from tauforge.tracing.graph import Graph, Node

PART_NODES = 1200  # operations in one part


class Body(NamedTuple):
    """Text of the parts, named body0, body1, ..., and the sizes of the packed blocks in vectors."""

    text: str
    declarations: frozenset[str]
    parts: int
    scratch: int


def emit_body(graph: Graph, inputs: dict[str, int], bits: int, lanes: int, *, avx512: bool) -> Body:
    """inputs: position of each input of the graph in the packed block."""
    cuts = list(range(0, len(graph.nodes), PART_NODES)) or [0]
    if len(cuts) > 1 and len(graph.nodes) - cuts[-1] < PART_NODES // 4:
        cuts.pop()
    bounds = [*cuts, len(graph.nodes)]
    part_of = [0] * len(graph.nodes)
    for part in range(len(cuts)):
        for k in range(bounds[part], bounds[part + 1]):
            part_of[k] = part
    slots, scratch = scratch_slots(graph, part_of)
    texts, declarations = [], set()
    for part in range(len(cuts)):
        code = Code()
        PartEmitter(graph, inputs, part_of, slots, code, Vectors(code, bits, lanes, avx512=avx512)).emit(part)
        texts.append(
            f"define internal void @body{part}(ptr noalias %in, ptr noalias %out, ptr noalias %scratch) #1 {{\nentry:\n"
            + "\n".join(code.lines)
            + "\n  ret void\n}\n"
        )
        declarations |= code.declarations
    return Body("".join(texts), frozenset(declarations), len(cuts), scratch)


def cheap(node: Node) -> bool:
    """Not worth handing on: every part can have it at no cost."""
    return node.op in ("input", "constant")


def scratch_slots(graph: Graph, part_of: list[int]) -> tuple[dict[int, int], int]:
    """Where values live that a later part needs; a slot is used again once its value is dead."""
    last_part: dict[int, int] = {}
    for k, node in enumerate(graph.nodes):
        for a in node.args:
            if not cheap(graph.nodes[a]) and part_of[k] > part_of[a]:
                last_part[a] = part_of[k]
    slots: dict[int, int] = {}
    free: list[int] = []
    count = 0
    dying: dict[int, list[int]] = {}
    part = 0
    for k in range(len(graph.nodes)):
        if part_of[k] != part:
            part = part_of[k]
            free += dying.pop(part - 1, [])
        if k in last_part:
            slot = free.pop() if free else count
            count = max(count, slot + 1)
            slots[k] = slot
            dying.setdefault(last_part[k], []).append(slot)
    return slots, count


class PartEmitter:
    """Writes one part: values are loaded, computed or constant, each on first use."""

    def __init__(
        self,
        graph: Graph,
        inputs: dict[str, int],
        part_of: list[int],
        slots: dict[int, int],
        code: Code,
        vectors: Vectors,
    ) -> None:
        self.graph, self.inputs, self.part_of, self.slots = graph, inputs, part_of, slots
        self.code, self.v = code, vectors
        self.names: dict[int, str] = {}
        self.pairs: dict[int, tuple[str, str]] = {}  # sine and cosine of a node
        self.reciprocals: dict[int, str] = {}
        self.part = 0
        # infinities become not a number on the way in or on the way out, wherever there are fewer
        self.guard_inputs = len(inputs) < len(graph.outputs)

    def emit(self, part: int) -> None:
        self.part = part
        outputs: dict[int, list[int]] = {}
        for position, output in enumerate(self.graph.outputs):
            outputs.setdefault(output.node, []).append(position)
        for k, node in enumerate(self.graph.nodes):
            if self.part_of[k] != part:
                continue
            if not cheap(node):
                self.names[k] = self.computed(node)
                if k in self.slots:
                    self.v.store(self.names[k], self.code.at("%scratch", self.slots[k] * self.v.bytes), aligned=True)
            for position in outputs.get(k, ()):
                value = self.value(k)
                if self.graph.outputs[position].negative:
                    value = self.v.negated(value)
                if node.op != "constant" and not self.guard_inputs:
                    value = self.finite_or_nan(value)
                self.v.store(value, self.code.at("%out", position * self.v.bytes), aligned=True)

    def value(self, k: int) -> str:
        if k not in self.names:
            node = self.graph.nodes[k]
            if node.op == "constant":
                return self.v.constant(node.value)
            source = ("%in", self.inputs[node.name]) if node.op == "input" else ("%scratch", self.slots[k])
            value = self.v.load(self.code.at(source[0], source[1] * self.v.bytes), aligned=True)
            self.names[k] = self.finite_or_nan(value) if node.op == "input" and self.guard_inputs else value
        return self.names[k]

    def finite_or_nan(self, value: str) -> str:
        """What is not finite becomes not a number: 0 x + x."""
        return self.v.fma(value, self.v.constant(0.0), value)

    def computed(self, node: Node) -> str:
        a = node.args[0]
        match node.op:
            case "add" | "sub" | "mul":
                return self.v.operation(node.op, self.value(a), self.value(node.args[1]))
            case "div":
                return self.quotient(a, node.args[1])
            case "sin" | "cos":
                if a not in self.pairs:
                    self.pairs[a] = functions.sine_and_cosine(self.v, self.value(a))
                return self.pairs[a][node.op == "cos"]
            case "sqrt":
                return self.v.intrinsic("sqrt", self.value(a))
            case "sign":
                return functions.sign(self.v, self.value(a))
            case "tanh":
                return functions.hyperbolic_tangent(self.v, self.value(a))
        raise NotImplementedError(node.op)

    def quotient(self, a: int, b: int) -> str:
        if b not in self.reciprocals:
            self.reciprocals[b] = self.v.reciprocal(self.value(b))
        numerator = self.graph.nodes[a]
        if numerator.op == "constant" and numerator.value == 1.0:
            return self.reciprocals[b]
        return self.v.operation("mul", self.value(a), self.reciprocals[b])
