"""NaN in all results of a row with an input that is not finite.

The body leaves a taint, a sum that is finite only if all inputs of its block are (`tracing.witnesses`). If the taint is
not finite, the inputs are checked one by one, because the taint may overflow in valid rows too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tauforge.kernels.cpu.llvm_body import Body, Operand
from tauforge.kernels.cpu.llvm_text import Vectors, literal
from tauforge.kernels.cpu.llvm_writer import Writer

EXPONENT = {64: 0x7FF0_0000_0000_0000, 32: 0x7F80_0000}  # these bits are all set in an infinity or a NaN


def run_body(code: Writer, body: Body, v: Vectors, table: str, scratch: str) -> None:
    """All parts on the block of rows in the table; then NaN where an input of a row is not finite."""
    for part in range(body.parts):
        doubtful = code.emit(f"call i1 @body{part}(ptr {table}, ptr {scratch})")
        if body.guarded:
            with code.when(doubtful):
                code.emit("atomicrmw add ptr @doubts, i64 1 monotonic")
    taint = v.load(code.at(scratch, body.taint * v.bytes), aligned=True)
    with code.when(v.any_beyond([taint], math.inf)):
        code.do(f"call void @spoil(ptr {table})")


def spoil_function(ins: Sequence[Operand], outs: Sequence[Operand], bits: int, lanes: int) -> tuple[str, Writer]:
    """void spoil(void *table): NaN over all results of the rows of a block in which an input is not finite."""
    code = Writer()
    number, integer, itemsize = ("double" if bits == 64 else "float"), f"i{bits}", bits // 8

    def element(operand: Operand, row: str, k: str) -> str:
        base = code.emit(f"load ptr, ptr {code.at('%table', 16 * operand.number)}, align 8")
        stride = code.emit(f"load i64, ptr {code.at('%table', 16 * operand.number + 8)}, align 8")
        start = code.at(base, code.emit(f"mul i64 {stride}, {row}"))
        return code.emit(f"getelementptr {number}, ptr {start}, i64 {k}")

    spoilt = code.emit("alloca i1, align 1")
    with code.loop(str(lanes)) as row:
        code.do(f"store i1 false, ptr {spoilt}, align 1")
        for operand in ins:
            with code.loop(str(operand.length)) as k:
                image = code.emit(f"load {integer}, ptr {element(operand, row, k)}, align {itemsize}")
                exponent = code.emit(f"and {integer} {image}, {EXPONENT[bits]}")
                with code.when(code.emit(f"icmp eq {integer} {exponent}, {EXPONENT[bits]}")):
                    code.do(f"store i1 true, ptr {spoilt}, align 1")
        with code.when(code.emit(f"load i1, ptr {spoilt}, align 1")):
            for operand in outs:
                with code.loop(str(operand.length)) as k:
                    place = element(operand, row, k)
                    code.do(f"store {number} {literal(math.nan, bits)}, ptr {place}, align {itemsize}")
    code.do("ret void")
    return "define internal void @spoil(ptr %table) #1", code
