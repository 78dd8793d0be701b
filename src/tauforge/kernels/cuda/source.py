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

from tauforge.kernels.c_source.numbers import Dialect, literal, number_type
from tauforge.kernels.c_source.statements import Statements, functions
from tauforge.kernels.cuda.row_copies import PIECE, Operand, copied
from tauforge.kernels.specification import Shape
from tauforge.tracing.graph import Graph
from tauforge.tracing.ordering import is_crowded, least_crowded
from tauforge.tracing.witnesses import witnesses

DIALECT = Dialect(
    function="static __device__ __forceinline__",
    fused=True,
    calls={
        64: {
            "fma": "fma",
            "sqrt": "sqrt",
            "rsqrt": "tauforge_rsqrt",
            "reciprocal": "tauforge_reciprocal",
            "fabs": "fabs",
            "copysign": "copysign",
            "bits": "__double_as_longlong",
            "number": "__longlong_as_double",
        },
        32: {
            "fma": "fmaf",
            "sqrt": "sqrtf",
            "rsqrt": "tauforge_rsqrtf",
            "reciprocal": "tauforge_reciprocalf",
            "fabs": "fabsf",
            "copysign": "copysignf",
            "bits": "__float_as_uint",
            "number": "__uint_as_float",
        },
    },
    nan={64: "__longlong_as_double(0x7ff8000000000000LL)", 32: "__uint_as_float(0x7fc00000u)"},
    integer={64: "unsigned long long", 32: "unsigned int"},
)
PREFIX = "tauforge_"
# Quotients and inverse roots to the last bit or two. In float32 an instruction gives them (relative errors of at most
# 2^-23 and 2^-22.9 by the PTX manual). In float64 Newton's steps and a series correct its estimate.
# Division and rsqrt of CUDA have a second way for tiny and huge numbers, which costs all threads registers and time.
# For 0 they are NaN in float64, as the CPU's are with AVX-512, and infinite in float32.
ESTIMATES = """
static __device__ __forceinline__ double tauforge_reciprocal(double x)
{
#ifdef __CUDA_ARCH__
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
#else
    return 1.0 / x;
#endif
}

static __device__ __forceinline__ double tauforge_rsqrt(double x)
{
#ifdef __CUDA_ARCH__
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x * y, y, 1.0);
    return fma(y * e, fma(fma(0.3125, e, 0.375), e, 0.5), y);
#else
    return 1.0 / sqrt(x);
#endif
}

static __device__ __forceinline__ float tauforge_reciprocalf(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}

static __device__ __forceinline__ float tauforge_rsqrtf(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / sqrtf(x);
#endif
}
"""
CHAINS_OF_PAIRS = 3  # measured
# Whether inputs are finite is told by a sum over them, which comes first and makes the compiler read them all at once,
# or by a result or two (`witnesses`), for which the others wait. Measured: results are quicker for rows, for a crowded
# kernel that reads columns, and for pairs with many operations.
FEW_RESULTS = 12  # more do not wait
MANY_OPERATIONS = 450  # of a pair
WARP, BLOCK = 32, 64  # threads; more in a block are not faster
SHARED_BYTES = 40 * 1024  # of a block, for rows; what does not fit is written directly


def operands(
    arguments: tuple[tuple[str, Shape], ...], results: tuple[Shape, ...], layouts: tuple[str, ...]
) -> list[Operand]:
    cores = [*(core for _, core in arguments), *results]
    names = [*(f"in{k}" for k in range(len(arguments))), *(f"out{k}" for k in range(len(results)))]
    return [Operand(name, math.prod(core), layout) for name, core, layout in zip(names, cores, layouts, strict=True)]


def fitting(found: list[Operand], bits: int, block: int) -> list[Operand]:
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


def block_size(found: list[Operand], bits: int, *, crowded: bool) -> int:
    """Threads of a block: few enough for the rows to fit into shared memory, where that can be.

    crowded: many values wait for their use; a warp that need not wait for another one is quicker then
    """
    numbers = sum(operand.pitch for operand in found if operand.staged)
    return BLOCK if numbers * BLOCK * bits // 8 <= SHARED_BYTES and not (numbers and crowded) else WARP


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
        body = Statements(graph, inputs, DIALECT, bits, PREFIX, store)
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
    head = f'extern "C" __global__ void __launch_bounds__({block}) kernel({", ".join(parameters)})'
    text = f"\n{head}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"
    return ESTIMATES + functions(body.called, DIALECT, bits, PREFIX) + text, block


def _one_state(
    ins: list[Operand], outs: list[Operand], bits: int, index: str, block: int, statements: list[str]
) -> list[str]:
    number = number_type(bits)
    lines = [
        f"const {index} first = ({index})blockIdx.x * {block};",
        "const int rows = (int)(count - first < BLOCK ? count - first : BLOCK);".replace("BLOCK", str(block)),
        "const int thread = threadIdx.x;",
        "const bool inside = thread < rows;",
        "const int own = inside ? thread : rows - 1;",
        f"const {index} state = first + own;",
    ]
    for operand in (*ins, *outs):
        if operand.staged:
            lines.append(f"__shared__ __align__({PIECE}) {number} {operand.name}_rows[{block * operand.pitch}];")
    lines += copied([operand for operand in ins if operand.staged], block, bits, out=False)
    for operand in ins:
        if operand.parked:
            bare = operand._replace(parked=False)
            lines.append(f"__shared__ {number} {operand.name}_parked[{block * operand.length}];")
            lines += [f"{_element(operand, k, block)} = {_element(bare, k, block)};" for k in range(operand.length)]
    if any(operand.staged or operand.parked for operand in ins):
        lines.append("__syncthreads();")  # also keeps the compiler from holding what is parked in registers
    lines += statements
    if any(operand.staged for operand in outs):
        lines.append("__syncthreads();")
    return lines + copied([operand for operand in outs if operand.staged], block, bits, out=True)


def _two_states(ins: list[Operand], outs: list[Operand], number: str, block: int, statements: list[str]) -> list[str]:
    """The compiler writes the loop out and mixes the two."""
    both = f"{number}2"

    def place(operand: Operand, k: int) -> str:
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


def _of_pair(operand: Operand, k: int) -> str:
    """Number k of one of the two states."""
    return f"(half ? {operand.name}_{k}.y : {operand.name}_{k}.x)"


def _element(operand: Operand, k: int, block: int) -> str:
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
    body = Statements(graph, inputs, DIALECT, bits, PREFIX)
    found, values = witnesses(graph, list(inputs)), body.outputs()
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
