"""The gradient of a rollout by the gains of its law, in a CUDA kernel: a sum over all instants, one thread a row.

The way back (`adjoint_source`) has left the gradient by the forces of every instant. There are many gains: the sums
take registers, which are free here.
"""

from __future__ import annotations

from tauforge.kernels.c_source.numbers import literal, number_type
from tauforge.kernels.c_source.statements import Statements, functions
from tauforge.kernels.cuda.adjoint_source import Adjoint
from tauforge.kernels.cuda.loop_source import BLOCK, given_again, indented
from tauforge.kernels.cuda.source import DIALECT, ESTIMATES, PREFIX
from tauforge.kernels.specification import inputs_of


def gains_source(adjoint: Adjoint, bits: int) -> str:
    """The source of `extern "C" __global__ by_gains(count, begin, end, steps, substeps, ...)`.

    Operands are those of `way_back`; the gradients by gains are added to.
    """
    number, loop, law = number_type(bits), adjoint.loop, adjoint.gains
    size, forces = len(loop.states), loop.recorded
    places = [loop.fixed.index(name) for name in adjoint.steering]
    bars = inputs_of(law.arguments[-1:])
    inputs = loop.places("count", "own") | {name: name for name in (*loop.states, *bars)}
    back = Statements(law.graph, inputs, DIALECT, bits, PREFIX)
    sums = zip(places, back.outputs(), strict=True)
    fma, zero = DIALECT.calls[bits]["fma"], literal(0.0, bits)
    instant = [
        *given_again(number),
        f"const {number} *__restrict__ target = prescribed + (long long)k * {len(loop.targets)};",
        f"const long long state = (long long)(k - begin) * substeps * {size + forces} * count + own;",
        f"const long long force = (long long)(k - begin) * {forces} * count + own;",
        *(f"const {number} {name} = states[state + {j} * count];" for j, name in enumerate(loop.states)),
        *(f"const {number} {name} = force_bars[force + {j} * count];" for j, name in enumerate(bars)),
        *(f"taint = {fma}({name}, {zero}, taint);" for name in bars),
        *back.lines,
        *(f"fixed_bar{k} += {bar};" for k, bar in sums),
    ]
    lines = [
        f"const long long own = (long long)blockIdx.x * {BLOCK} + threadIdx.x;",
        "if (own >= count) return;",
        *(f"{number} fixed_bar{j} = fixed_bars[{j} * count + own];" for j in places),
        f"{number} taint = {zero};",  # NaN for a row that ran away: the way back has left NaN
        "#pragma unroll 1",
        "for (int k = end == steps ? steps : end - 1; k >= begin; --k) {",
        *indented(instant, 1),
        "}",
        *(f"fixed_bars[{j} * count + own] = fixed_bar{j} + taint;" for j in places),
    ]
    integers = ", ".join(f"const int {name}" for name in ("begin", "end", "steps", "substeps"))
    read = ", ".join(f"const {number} *__restrict__ {x}" for x in ("prescribed", "fixed", "states", "force_bars"))
    parameters = f"const long long count, {integers}, {read}, {number} *__restrict__ fixed_bars"
    head = f'extern "C" __global__ void __launch_bounds__({BLOCK}) by_gains({parameters})'
    body = "".join(f"    {line}\n" for line in lines)
    return ESTIMATES + functions(back.called, DIALECT, bits, PREFIX) + f"\n{head}\n{{\n{body}}}\n"
