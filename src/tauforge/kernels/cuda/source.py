"""A graph as a CUDA kernel: one thread computes one state.

Arrays come in three layouts. Where neighbouring threads read neighbouring numbers ("columns"), and where nothing is
known about the strides ("strided"), they are read and written directly. Where each state is a contiguous row ("rows"),
a block of threads copies its rows through shared memory, so that the copies between memory and the chip are of
neighbouring numbers again. Rows there are padded where too many threads would read the same bank. Where many values
wait for their use, arguments in other layouts stay in shared memory, too, so that they take no registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from tauforge.kernels.c_common import Statements, literal, number_type
from tauforge.kernels.cuda.dialect import BLOCK_THREADS, DIALECT, kernel_text
from tauforge.kernels.scheduling import is_crowded, least_crowded, nan_probes
from tauforge.kernels.specification import Shape
from tauforge.tracing.graph import Graph

BANKS = 32  # of shared memory
PIECE = 16  # bytes that a thread can copy at a time
COPIES_AT_ONCE = 6  # copies of a thread under way; more of them take longer to compile, and registers
CHAINS_OF_PAIRS = 3  # measured
# Whether inputs are finite is told by a sum over them, which comes first and makes the compiler read them all at once,
# or by a result or two (`nan_probes`), for which the others wait. Measured: results are quicker for rows, for a crowded
# kernel that reads columns, and for pairs with many operations.
FEW_RESULTS = 12  # more do not wait
MANY_OPERATIONS = 450  # of a pair
WARP_THREADS = 32
SHARED_BYTES = 40 * 1024  # of a block, for rows; what does not fit is written directly


class GpuOperand(NamedTuple):
    """An argument or a result of the kernel.

    name:   of the pointer; the strides in elements are name_row and name_step
    length: numbers of one state
    layout: "columns", "strided" or "rows"; these go through shared memory
    parked: whether a thread keeps its numbers in shared memory, if they are not there as rows
    """

    name: str
    length: int
    layout: str
    parked: bool = False

    @property
    def staged(self) -> bool:
        return self.layout == "rows" and self.length > 0

    @property
    def pitch(self) -> int:
        """Numbers between two rows in shared memory."""
        return self.length if math.gcd(self.length, BANKS) <= 2 else self.length | 1


def operands(
    arguments: tuple[tuple[str, Shape], ...], results: tuple[Shape, ...], layouts: tuple[str, ...]
) -> list[GpuOperand]:
    cores = [*(core for _, core in arguments), *results]
    names = [*(f"in{k}" for k in range(len(arguments))), *(f"out{k}" for k in range(len(results)))]
    return [GpuOperand(name, math.prod(core), layout) for name, core, layout in zip(names, cores, layouts, strict=True)]


def fitting(found: list[GpuOperand], bits: int, block: int) -> list[GpuOperand]:
    """The operands, of which the longest are not in shared memory if all together would need too much of it."""
    left, crowded = SHARED_BYTES, set()
    for operand in sorted((o for o in found if o.staged or o.parked), key=lambda o: (not o.staged, o.length)):
        left -= operand.pitch * block * bits // 8
        if left < 0:
            crowded.add(operand.name)
    return [
        operand._replace(layout="strided" if operand.staged else operand.layout, parked=False)
        if operand.name in crowded
        else operand
        for operand in found
    ]


def block_size(found: list[GpuOperand], bits: int, *, crowded: bool) -> int:
    """Threads of a block: few enough for the rows to fit into shared memory, where that can be.

    crowded: many values wait for their use; a warp that need not wait for another one is quicker then
    """
    numbers = sum(operand.pitch for operand in found if operand.staged)
    fits = numbers * BLOCK_THREADS * bits // 8 <= SHARED_BYTES
    return BLOCK_THREADS if fits and not (numbers and crowded) else WARP_THREADS


def kernel_source(
    graph: Graph,
    arguments: tuple[tuple[str, Shape], ...],
    results: tuple[Shape, ...],
    bits: int,
    layouts: tuple[str, ...],
    *,
    wide: bool = False,
    pairs: bool = False,
) -> tuple[str, int]:
    """The source of `extern "C" __global__ kernel(count, in0, in0_row, in0_step, ..., out0, ...)`, and its block size.

    Input k of argument a is called a + str(k) in the graph; its outputs are those of the results in order.
    wide:  whether places in arrays have 64 bits instead of 32
    pairs: whether a thread computes two neighbouring states, which it reads and writes together; for columns only
    """
    number = number_type(bits)
    wanted = operands(arguments, results, layouts)
    crowded = is_crowded(graph)
    if crowded:
        graph = least_crowded(graph)
        ins, outs = wanted[: len(arguments)], wanted[len(arguments) :]
        wanted = [*(operand._replace(parked=not operand.staged) for operand in ins), *outs]
    few = sum(map(math.prod, results)) <= FEW_RESULTS
    block = block_size(wanted, bits, crowded=crowded and few)
    every = fitting(wanted, bits, block)
    ins, outs = every[: len(arguments)], every[len(arguments) :]
    element = _of_pair if pairs else partial(_element, block=block)
    inputs = {
        f"{name}{k}": element(operand, k)
        for (name, _), operand in zip(arguments, ins, strict=True)
        for k in range(operand.length)
    }
    places = [(operand, k) for operand in outs for k in range(operand.length)]

    def store(k: int, expression: str) -> str:
        operand, place = places[k]
        statement = f"{element(operand, place)} = {expression} + taint;"
        return statement if operand.staged or pairs else f"if (inside) {statement}"

    many = sum(bool(node.args) for node in graph.nodes) > MANY_OPERATIONS
    staged = any(operand.staged for operand in ins)
    if few and (staged != crowded or (pairs and many)):
        body, statements = _told_by_results(graph, inputs, bits, store)
    else:
        body = Statements(graph, inputs, DIALECT, bits, store)
        statements = [*_taint(list(inputs.values()), bits, CHAINS_OF_PAIRS if pairs else 1), *body.lines]
    index = "long long" if wide else "int"
    parameters = [f"const {index} count"]
    for operand in every:
        const = "const " if operand in ins else ""
        parameters.append(f"{const}{number} *__restrict__ {operand.name}")
        parameters += [f"const {index} {operand.name}_row", f"const {index} {operand.name}_step"]
    if pairs:
        lines = _two_states(ins, outs, number, block, statements)
    else:
        lines = _one_state(ins, outs, bits, index, block, statements)
    return kernel_text("kernel", ", ".join(parameters), lines, body.called, bits, block), block


def _one_state(
    ins: list[GpuOperand], outs: list[GpuOperand], bits: int, index: str, block: int, statements: list[str]
) -> list[str]:
    number = number_type(bits)
    lines = [
        f"const {index} first = ({index})blockIdx.x * {block};",
        f"const int rows = (int)(count - first < {block} ? count - first : {block});",
        "const int thread = threadIdx.x;",
        "const bool inside = thread < rows;",
        "const int own = inside ? thread : rows - 1;",
        f"const {index} state = first + own;",
    ]
    read, written = ([operand for operand in part if operand.staged] for part in (ins, outs))
    lines += [f"__shared__ __align__({PIECE}) {number} {o.name}_rows[{block * o.pitch}];" for o in (*read, *written)]
    lines += copied(read, block, bits, out=False)
    for operand in ins:
        if operand.parked:
            bare = operand._replace(parked=False)
            lines.append(f"__shared__ {number} {operand.name}_parked[{block * operand.length}];")
            lines += [f"{_element(operand, k, block)} = {_element(bare, k, block)};" for k in range(operand.length)]
    if any(operand.staged or operand.parked for operand in ins):
        lines.append("__syncthreads();")  # also keeps the compiler from holding what is parked in registers
    lines += [*statements, *(["__syncthreads();"] if written else [])]
    return lines + copied(written, block, bits, out=True)


def _two_states(
    ins: list[GpuOperand], outs: list[GpuOperand], number: str, block: int, statements: list[str]
) -> list[str]:
    """The compiler writes the loop out and mixes the two."""
    both = f"{number}2"

    def place(operand: GpuOperand, k: int) -> str:
        return f"{operand.name} + state + {k} * {operand.name}_step"

    return [
        f"const int state = 2 * ((int)blockIdx.x * {block} + (int)threadIdx.x);",
        "if (state >= count) return;",
        *(f"const {both} {o.name}_{k} = *(const {both} *)({place(o, k)});" for o in ins for k in range(o.length)),
        *(f"{both} {o.name}_{k};" for o in outs for k in range(o.length)),
        "#pragma unroll",
        "for (int half = 0; half < 2; ++half) {",
        *(f"    {line}" for line in statements),
        "}",
        *(f"*({both} *)({place(o, k)}) = {o.name}_{k};" for o in outs for k in range(o.length)),
    ]


def _of_pair(operand: GpuOperand, k: int) -> str:
    """Number k of one of the two states."""
    return f"(half ? {operand.name}_{k}.y : {operand.name}_{k}.x)"


def _element(operand: GpuOperand, k: int, block: int) -> str:
    """Number k of this thread's state."""
    if operand.parked:
        return f"{operand.name}_parked[{k * block} + thread]"
    if operand.layout == "rows":
        return f"{operand.name}_rows[own * {operand.pitch} + {k}]"
    row = "state" if operand.layout == "columns" else f"state * {operand.name}_row"
    return f"{operand.name}[{row} + {k} * {operand.name}_step]"


def _told_by_results(
    graph: Graph, inputs: Mapping[str, str], bits: int, store: Callable[[int, str], str]
) -> tuple[Statements, list[str]]:
    """The graph's statements, and all statements with the stores, which wait for the results that tell of inputs."""
    body = Statements(graph, inputs, DIALECT, bits)
    found, values = nan_probes(graph, list(inputs)), body.outputs()
    telling = [*(f"({values[k]})" for k in found.outputs), *(inputs[name] for name in found.inputs)]
    stores = [store(k, value) for k, value in enumerate(values)]
    return body, [*body.lines, *_taint(telling, bits, 1), *stores]


def _taint(numbers: Sequence[str], bits: int, chains: int) -> list[str]:
    """A number that is 0, or NaN if one of these is not finite: added to every result, it needs no branch.

    chains: sums that are computed side by side; more are quicker, and take registers
    """
    zero, sums = literal(0.0, bits), []
    for k in range(chains):
        total = zero
        for expression in numbers[k::chains]:
            total = f"{DIALECT.calls[bits]['fma']}({expression}, {zero}, {total})"
        sums.append(total)
    return [f"const {number_type(bits)} taint = {' + '.join(sums)};"]


def copied(staged: list[GpuOperand], block: int, bits: int, *, out: bool) -> list[str]:
    """The rows of the block, between memory and shared memory. Some copies are under way at the same time.

    A full block is copied 16 bytes at a time, where addresses and paddings allow that.
    """
    single = [line for operand in staged for line in _copied_singly(operand, block, out=out)]
    if not staged or any(operand.pitch != operand.length for operand in staged):
        return single
    pieces = [line for operand in staged for line in _copied_in_pieces(operand, block, bits, out=out)]
    places = " | ".join(f"(unsigned long long){operand.name}" for operand in staged)
    return [
        f"if (rows == {block} && ({places}) % {PIECE} == 0) {{",
        *(f"    {line}" for line in pieces),
        "} else {",
        *(f"    {line}" for line in single),
        "}",
    ]


def _copied_singly(operand: GpuOperand, block: int, *, out: bool) -> list[str]:
    length, pitch, name = operand.length, operand.pitch, operand.name
    place = "k" if pitch == length else f"k / {length} * {pitch} + k % {length}"
    shared, memory = f"{name}_rows[{place}]", f"{name}[first * {length} + k]"
    copy = f"{memory} = {shared};" if out else f"{shared} = {memory};"
    return [
        f"#pragma unroll {COPIES_AT_ONCE}",
        f"for (int j = 0; j < {length}; ++j) {{",
        f"    const int k = thread + j * {block};",
        f"    if (k < rows * {length}) {copy}",
        "}",
    ]


def _copied_in_pieces(operand: GpuOperand, block: int, bits: int, *, out: bool) -> list[str]:
    length, name = operand.length, operand.name
    pieces = block * length * bits // (8 * PIECE)
    shared, memory = f"((int4 *){name}_rows)", f"(({'' if out else 'const '}int4 *)({name} + first * {length}))"
    to, of = (memory, shared) if out else (shared, memory)
    lines = []
    for start in range(0, pieces, block):
        copy = f"{to}[thread + {start}] = {of}[thread + {start}];"
        lines.append(copy if start + block <= pieces else f"if (thread < {pieces - start}) {copy}")
    return lines
