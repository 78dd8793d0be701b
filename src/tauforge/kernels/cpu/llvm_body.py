"""The arithmetic of a graph as functions of straight-line vector code.

A body works on a block of rows of every operand, which `table` lists as pairs of pointer and stride. It stores each
piece of its results as soon as it is computed: stores drain slowly, so they should overlap the arithmetic. A body is a
function of its own without any loop, because the compiler would hoist every constant out of a loop and spill it. Long
graphs are cut into parts that pass values on through scratch memory, because register allocation gets worse and slower
with the length of a function. Running a part over several blocks before the next was slower than block by block.
Crowded graphs are put in a better order. The compiler fuses multiplications and additions and spills values: choosing
either here made no kernel faster.

In crowded graphs the sines and cosines of angles that are known from the start come first, in a loop. Unrolled, they
are a quarter of the code of a long arm. Code that does not fit into the processor's caches is decoded again for every
block of rows, and decoding, not arithmetic, then limits the speed. The loop is decoded once and keeps its constants in
registers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tauforge.kernels.arithmetic import NodeCode, sine_and_cosine
from tauforge.kernels.cpu.llvm_rows import BlockColumns, Rows, store_pieces
from tauforge.kernels.cpu.llvm_text import Code, Vectors, Writer
from tauforge.kernels.scheduling import is_crowded, least_crowded, nan_probes
from tauforge.tracing.graph import LEAVES, Graph

EARLY = ("input", "add", "sub", "mul")  # operations that an angle may be the result of


class EarlySines(NamedTuple):
    """Angles in the order of their pairs, and the slot of each sine and cosine; all by their nodes.

    Scratch memory begins with a pair of vectors for each angle, which is stored in the first beforehand.
    """

    angles: tuple[int, ...]
    slots: dict[int, int]


NO_EARLY_SINES = EarlySines((), {})


def early_sines(graph: Graph) -> EarlySines:
    """The angles that are inputs, or sums or products of inputs and constants."""
    places: dict[int, int] = {}
    slots = {}
    for k, node in enumerate(graph.nodes):
        if node.op in ("sin", "cos"):
            angle = graph.nodes[node.args[0]]
            if angle.op in EARLY and all(graph.nodes[a].op in LEAVES for a in angle.args):
                slots[k] = 2 * places.setdefault(node.args[0], len(places)) + (node.op == "cos")
    return EarlySines(tuple(places), slots)


def sines_function(angles: int, bits: int, lanes: int, *, avx512: bool) -> Writer:
    """The loop over the pairs at %pairs: sine and cosine overwrite the pair whose first vector is the angle."""
    code = Writer()
    v = Vectors(code, bits, lanes, avx512=avx512)
    with code.loop(str(angles)) as k:
        first = code.at("%pairs", code.emit(f"mul i64 {k}, {2 * v.bytes}"))
        sine, cosine = sine_and_cosine(v, v.load(first, aligned=True))
        v.store(sine, first, aligned=True)
        v.store(cosine, code.at(first, v.bytes), aligned=True)
    return code


PART_NODES = 4500  # operations in one part, at most


class Operand(NamedTuple):
    """An argument or a result: its name (arguments only), core shape and number in the table.

    shared: whether a block has one row of it (`BlockColumns`)
    """

    name: str
    core: tuple[int, ...]
    number: int
    shared: bool = False

    @property
    def length(self) -> int:
        return math.prod(self.core)


class VectorBody(NamedTuple):
    """Source of the parts, named body0, body1, ..., and how many vectors of scratch memory a block needs.

    taint: the index of the vector that is finite after the last part only if all inputs of the block are
    """

    text: str
    declarations: frozenset[str]
    parts: int
    scratch: int
    taint: int
    guarded: bool


class Piece(NamedTuple):
    """Neighbouring results that are stored together: operand, first column, and their places among the outputs."""

    operand: int
    start: int
    outputs: range


def emit_body(
    graph: Graph,
    ins: list[Operand],
    outs: list[Operand],
    bits: int,
    lanes: int,
    *,
    avx512: bool,
    doubt_limit: float | None = None,
    columns: bool = False,
) -> VectorBody:
    """Input k of argument a is called a + str(k) in the graph; its outputs are those of the results in order,
    and after them the doubt where it has a limit. The part that computes the doubt returns whether it is not below.

    columns: whether blocks are `BlockColumns`
    """
    plan = Plan(graph, ins, outs, bits, lanes, guarded=doubt_limit is not None, columns=columns)
    texts, declarations = [], set()

    def function(head: str, code: Code, ending: str) -> None:
        texts.append(f"define internal {head} #1 {{\nentry:\n" + "\n".join(code.lines) + f"\n  {ending}\n}}\n")
        declarations.update(code.declarations)

    angles = len(plan.early_sines.angles)
    if angles:
        function("void @sines(ptr %pairs)", sines_function(angles, bits, lanes, avx512=avx512), "ret void")
    for part in range(plan.parts):
        code = Code()
        doubtful = PartEmitter(plan, code, Vectors(code, bits, lanes, avx512=avx512), doubt_limit).emit(part)
        function(f"i1 @body{part}(ptr noalias %table, ptr noalias %scratch)", code, f"ret i1 {doubtful}")
    return VectorBody("".join(texts), frozenset(declarations), plan.parts, plan.scratch, plan.taint, plan.guarded)


class Plan:
    """A plan: the part that computes each node, the slots of values for later parts, the pieces of results to store."""

    def __init__(
        self,
        graph: Graph,
        ins: list[Operand],
        outs: list[Operand],
        bits: int,
        lanes: int,
        *,
        guarded: bool = False,
        columns: bool = False,
    ) -> None:
        self.guarded, self.are_columns = guarded, columns
        self.early_sines = NO_EARLY_SINES  # sines and cosines that are computed in a loop
        if is_crowded(graph):
            graph = least_crowded(graph, early_sines(graph).slots)
            self.early_sines = early_sines(graph)
        self.graph, self.ins, self.outs = graph, ins, outs
        self.columns = {f"{operand.name}{k}": (operand.number, k) for operand in ins for k in range(operand.length)}
        nodes = len(graph.nodes)
        self.parts = max(1, math.ceil(nodes / PART_NODES))
        self.part_of = [k * self.parts // nodes for k in range(nodes)]
        self.pieces: dict[int, list[Piece]] = {}  # by the node that completes them
        first = 0
        for operand in outs:
            single = [(k, 1) for k in range(operand.length)]
            for start, width in single if columns else store_pieces(operand.length, bits, lanes):
                outputs = range(first + start, first + start + width)
                complete = max(graph.outputs[k].node for k in outputs)
                self.pieces.setdefault(complete, []).append(Piece(operand.number, start, outputs))
            first += operand.length
        # the doubt is not stored, so it cannot tell of inputs that are not finite
        stored = graph._replace(outputs=graph.outputs[:first])
        self.probes = nan_probes(stored, list(self.columns))
        self.taint = 2 * len(self.early_sines.angles)
        self.slots, self.scratch = self._scratch_slots()

    def told(self, part: int) -> set[int]:
        """The probes that this part stores."""
        pieces = [piece for k, found in self.pieces.items() if self.part_of[k] == part for piece in found]
        return {output for piece in pieces for output in piece.outputs} & set(self.probes.outputs)

    def _scratch_slots(self) -> tuple[dict[int, int], int]:
        """A slot is used again once its value is dead. The first slots are those of the angles, then the taint's."""
        count = self.taint + 1
        if self.parts == 1:
            return {}, count
        last_part: dict[int, int] = {}

        def needed(node: int, part: int) -> None:
            computed = self.graph.nodes[node].op not in LEAVES and node not in self.early_sines.slots
            if computed and part > self.part_of[node]:
                last_part[node] = max(part, last_part.get(node, 0))

        for k, node in enumerate(self.graph.nodes):
            for a in node.args:
                needed(a, self.part_of[k])
                if node.op == "div" and self.graph.nodes[a].op == "sqrt":  # 1 / sqrt(x) is computed from x
                    needed(self.graph.nodes[a].args[0], self.part_of[k])
            for piece in self.pieces.get(k, ()):
                for output in piece.outputs:
                    needed(self.graph.outputs[output].node, self.part_of[k])
        slots: dict[int, int] = {}
        free: list[int] = []
        dying: dict[int, list[int]] = {}
        part = 0
        for k in range(len(self.graph.nodes)):
            if self.part_of[k] != part:
                part = self.part_of[k]
                free += dying.pop(part - 1, [])
            if k in last_part:
                slot = free.pop() if free else count
                count = max(count, slot + 1)
                slots[k] = slot
                dying.setdefault(last_part[k], []).append(slot)
        return slots, count


class PartEmitter(NodeCode):
    """Writes one part: values are loaded, computed or constant, each on first use."""

    def __init__(self, plan: Plan, code: Code, vectors: Vectors, doubt_limit: float | None) -> None:
        super().__init__(plan.graph, vectors)
        self.plan, self.code, self.v, self.doubt_limit = plan, code, vectors, doubt_limit
        self.rows: dict[int, Rows | BlockColumns] = {}
        for o in (*plan.ins, *plan.outs):
            columns = BlockColumns(vectors, "%table", o.number, shared=o.shared)
            self.rows[o.number] = columns if plan.are_columns else Rows(vectors, "%table", o.number, o.length)
        self.names: dict[int, str] = {}
        self.loaded: dict[tuple[int, int], str] = {}  # elements of arguments
        self.finished: dict[tuple[int, bool], str] = {}  # results as they are stored
        self.part = 0

    def emit(self, part: int) -> str:
        """Returns the name of a truth value: is there a doubt that is not below its limit?"""
        self.part = part
        doubtful = "false"
        awaited = self.plan.told(part)
        told = [self.argument(*self.plan.columns[name]) for name in self.plan.probes.inputs] if part == 0 else []
        if part == 0 and not awaited:
            self.leave_taint(told)
        if part == 0 and self.plan.early_sines.angles:
            self.turn()
        for k, node in enumerate(self.graph.nodes):
            if self.plan.part_of[k] != part:
                continue
            if node.op not in LEAVES and k not in self.plan.early_sines.slots:
                self.names[k] = self.computed(node)
            if k in self.plan.slots:
                self.v.store(self.value(k), self.slot(self.plan.slots[k]), aligned=True)
            for piece in self.plan.pieces.get(k, ()):
                values = [self.result(output) for output in piece.outputs]
                new = awaited.intersection(piece.outputs)
                told += [self.result(output) for output in sorted(new)]
                awaited -= new
                if new and not awaited:
                    self.leave_taint(told)
                self.rows[piece.operand].store(piece.start, values)
            if self.doubt_limit is not None and k == self.graph.outputs[-1].node:
                doubtful = self.v.any_beyond(self.result(len(self.graph.outputs) - 1), self.doubt_limit)
        return doubtful

    def leave_taint(self, told: list[str]) -> None:
        """Store the sum of these and of the taint of the parts before.

        It is stored as soon as possible: if it were stored at the end, the compiler would delay all other stores until
        then. Returning it, or computing it from the inputs alone, costs more.
        """
        place = self.slot(self.plan.taint)
        if self.part:
            told = [*told, self.v.load(place, aligned=True)]
        total = told[0] if told else self.v.constant(0.0)
        for value in told[1:]:
            total = self.v.operation("add", total, value)
        self.v.store(total, place, aligned=True)

    def turn(self) -> None:
        """Angles to scratch memory, and the loop over them. Intermediate values are computed again where needed."""
        for place, angle in enumerate(self.plan.early_sines.angles):
            node = self.graph.nodes[angle]
            value = self.value(angle) if node.op in LEAVES else self.computed(node)
            self.v.store(value, self.slot(2 * place), aligned=True)
        self.code.do("call void @sines(ptr %scratch)")

    def slot(self, number: int) -> str:
        return self.code.at("%scratch", number * self.v.bytes)

    def value(self, k: int) -> str:
        if k not in self.names:
            node = self.graph.nodes[k]
            if node.op == "constant":
                return self.v.constant(node.value)
            if node.op == "input":
                self.names[k] = self.argument(*self.plan.columns[node.name])
            else:
                slots = self.plan.early_sines.slots if k in self.plan.early_sines.slots else self.plan.slots
                self.names[k] = self.v.load(self.slot(slots[k]), aligned=True)
        return self.names[k]

    def argument(self, operand: int, column: int) -> str:
        if (operand, column) not in self.loaded:
            start, values = self.rows[operand].load(column)
            for k, value in enumerate(values, start):
                self.loaded[operand, k] = value
        return self.loaded[operand, column]

    def result(self, output: int) -> str:
        node, negative = self.graph.outputs[output]
        if (node, negative) not in self.finished:
            self.finished[node, negative] = self.v.negated(self.value(node)) if negative else self.value(node)
        return self.finished[node, negative]
