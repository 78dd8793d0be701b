"""A graph as one LLVM module: the body, the loop that NumPy calls and the builtin that Python calls."""

from __future__ import annotations

from tauforge.kernels.cpu.host import Host
from tauforge.kernels.cpu.llvm_body import Operand, emit_body
from tauforge.kernels.cpu.llvm_builtin import ADDRESSES, builtin_function
from tauforge.kernels.cpu.llvm_finite import spoil_function
from tauforge.kernels.cpu.llvm_loop import OFFSETS, loop_function
from tauforge.kernels.cpu.llvm_rows import copies
from tauforge.kernels.specification import Specification
from tauforge.tracing.graph import Graph

ATTRIBUTES = (
    'attributes #0 = { nounwind "no-trapping-math"="true" %(width)s }\n'
    'attributes #1 = { noinline nounwind alignstack=64 "no-trapping-math"="true" %(width)s }\n'
)


def emit_module(
    graph: Graph,
    specification: Specification,
    host: Host,
    bits: int,
) -> str:
    """LLVM source with `loop` (the gufunc's inner loop) and, in 64 bits, `builtin` (for one state).

    Blocks of rows with a doubt that is not below the specification's limit are counted in `doubts`.
    """
    lanes = host.lanes(bits)
    arguments, results, limit = specification.arguments, specification.results, specification.doubt_limit
    shapes = [*arguments, *(("", core) for core in results)]
    operands = [Operand(name, core, k) for k, (name, core) in enumerate(shapes)]
    ins, outs = operands[: len(arguments)], operands[len(arguments) :]
    body = emit_body(graph, ins, outs, bits, lanes, avx512=host.has_avx512, doubt_limit=limit)
    number = "double" if bits == 64 else "float"
    texts, declarations = [body.text, OFFSETS, copies(number, bits // 8)], set(body.declarations)
    texts.append("@doubts = global i64 0\n")
    writers = [spoil_function(ins, outs, bits, lanes), loop_function(body, ins, outs, bits, lanes, host)]
    if bits == 64:
        texts.append(f"@addresses = global [{len(ADDRESSES)} x ptr] zeroinitializer\n")
        writers.append(builtin_function(body, ins, outs, host))
    for head, code in writers:
        texts.append(head + " {\nentry:\n" + "\n".join(code.lines) + "\n}\n")
        declarations |= code.declarations
    width = f'"prefer-vector-width"="{host.vector_bits}" "min-legal-vector-width"="{host.vector_bits}"'
    return "".join([*texts, *(f"{d}\n" for d in sorted(declarations)), ATTRIBUTES % {"width": width}])
