"""The inner loop of a generalized ufunc: blocks of rows to the body and back, with NaN in rows that are not finite.

The body leaves a taint, a sum that is finite only if all inputs of its block are (`scheduling.nan_probes`). If the
taint is not finite, the inputs are checked one by one, because the taint may overflow in valid rows too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tauforge.kernels.cpu.engine import Host
from tauforge.kernels.cpu.llvm_body import Operand, VectorBody
from tauforge.kernels.cpu.llvm_text import ALIGNMENT, Vectors, Writer, literal, restore_status, save_status

EXPONENT = {64: 0x7FF0_0000_0000_0000, 32: 0x7F80_0000}  # these bits are all set in an infinity or a NaN


def run_body(code: Writer, body: VectorBody, v: Vectors, table: str, scratch: str) -> None:
    """All parts on the block of rows in the table; then NaN where an input of a row is not finite."""
    for part in range(body.parts):
        doubtful = code.emit(f"call i1 @body{part}(ptr {table}, ptr {scratch})")
        if body.guarded:
            with code.when(doubtful):
                code.emit("atomicrmw add ptr @doubts, i64 1 monotonic")
    taint = v.load(code.at(scratch, body.taint * v.bytes), aligned=True)
    with code.when(v.any_beyond(taint, math.inf)):
        code.do(f"call void @spoil(ptr {table})")


def spoil_function(
    ins: Sequence[Operand], outs: Sequence[Operand], bits: int, lanes: int, *, columns: bool = False
) -> tuple[str, Writer]:
    """void spoil(void *table): NaN over all results of the rows of a block in which an input is not finite.

    columns: whether blocks are `BlockColumns`
    """
    code = Writer()
    number, integer, itemsize = ("double" if bits == 64 else "float"), f"i{bits}", bits // 8

    def element(operand: Operand, row: str, k: str) -> str:
        if columns:
            base = code.emit(f"load ptr, ptr {code.at('%table', 8 * operand.number)}, align 8")
            place = code.emit(f"add i64 {code.emit(f'mul i64 {k}, {lanes}')}, {row}")
            return code.emit(f"getelementptr {number}, ptr {base}, i64 {k if operand.shared else place}")
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


STACK_BYTES = 64 * 1024  # larger blocks come from the heap

OFFSETS = Path(__file__).with_name("offsets.ll").read_text(encoding="utf-8")


def loop_function(
    body: VectorBody, ins: list[Operand], outs: list[Operand], bits: int, lanes: int, host: Host
) -> tuple[str, Writer]:
    """void loop(char **args, const npy_intp *dims, const npy_intp *steps, void *data).

    The body reads a block of rows in place if the elements of a row are contiguous and the block is full; otherwise the
    block is copied.
    """
    code = Writer()
    itemsize = bits // 8
    operands = [*ins, *outs]
    table_bytes = -(-16 * len(operands) // ALIGNMENT) * ALIGNMENT
    copy_at, end = [], table_bytes + body.scratch * lanes * itemsize  # in bytes: table, scratch, copies
    for operand in operands:
        copy_at.append(end)
        end += -(-operand.length * lanes * itemsize // ALIGNMENT) * ALIGNMENT

    offsets = [code.emit(f"alloca [{o.length} x i64], align 8") for o in operands]
    heap = end > STACK_BYTES
    if heap:
        code.declarations |= {"declare ptr @malloc(i64)", "declare void @free(ptr)"}
        raw = code.emit(f"call ptr @malloc(i64 {end + ALIGNMENT})")
        number = code.emit(f"ptrtoint ptr {raw} to i64")
        up = code.emit(f"add i64 {number}, {ALIGNMENT - 1}")
        memory = code.emit(f"inttoptr i64 {code.emit(f'and i64 {up}, {-ALIGNMENT}')} to ptr")
    else:
        memory = code.emit(f"alloca [{end} x i8], align {ALIGNMENT}")
    status = save_status(code, host)

    def entry(table: str, index: int, kind: str) -> str:
        return code.emit(f"load {kind}, ptr {code.at(table, 8 * index)}, align 8")

    rows = entry("%dims", 0, "i64")
    bases, strides, flat = [], [], []
    place = len(operands)
    for a, operand in enumerate(operands):
        bases.append(entry("%args", a, "ptr"))
        strides.append(entry("%steps", a, "i64"))
        dimensions = [*(1,) * (3 - len(operand.core)), *operand.core]
        steps = ["0"] * (3 - len(operand.core)) + [entry("%steps", place + k, "i64") for k in range(len(operand.core))]
        place += len(operand.core)
        if not operand.length:  # the body never asks for it
            flat.append("true")
            continue
        given = ", ".join(f"i64 {x}" for x in (*dimensions, *steps, itemsize))
        flat.append(code.emit(f"call i1 @offsets(ptr {offsets[a]}, {given})"))

    blocks = code.emit(f"sdiv i64 {code.emit(f'add i64 {rows}, {lanes - 1}')}, {lanes}")

    with code.loop(blocks) as number:
        row = code.emit(f"mul i64 {number}, {lanes}")
        count = code.smaller(code.emit(f"sub i64 {rows}, {row}"), str(lanes))
        full = code.emit(f"icmp eq i64 {count}, {lanes}")
        places = [
            code.emit(f"getelementptr i8, ptr {base}, i64 {code.emit(f'mul i64 {row}, {stride}')}")
            for base, stride in zip(bases, strides, strict=True)
        ]

        def copy(way: str, a: int, written: str) -> None:
            code.do(
                f"call void @copy_{way}(ptr {places[a]}, i64 {strides[a]}, ptr {offsets[a]}, i64 {operands[a].length}, "
                f"ptr {code.at(memory, copy_at[a])}, i64 {count}, i64 {written})"
            )

        copied = []
        for a, operand in enumerate(operands):
            if not operand.length:
                copied.append("false")
                continue
            whole = full
            if a < len(ins):  # an argument with stride 0 is valid for every row
                whole = code.emit(f"or i1 {full}, {code.emit(f'icmp eq i64 {strides[a]}, 0')}")
            plain = code.emit(f"and i1 {whole}, {flat[a]}")
            copied.append(code.emit(f"xor i1 {plain}, true"))
            if a < len(ins):
                with code.when(copied[a]):
                    copy("in", a, str(lanes))
            pointer = code.emit(f"select i1 {plain}, ptr {places[a]}, ptr {code.at(memory, copy_at[a])}")
            stride = code.emit(f"select i1 {plain}, i64 {strides[a]}, i64 {operand.length * itemsize}")
            code.do(f"store ptr {pointer}, ptr {code.at(memory, 16 * a)}, align 8")
            code.do(f"store i64 {stride}, ptr {code.at(memory, 16 * a + 8)}, align 8")
        v = Vectors(code, bits, lanes, avx512=host.has_avx512)
        run_body(code, body, v, memory, code.at(memory, table_bytes))
        for a in range(len(ins), len(operands)):
            with code.when(copied[a]):
                copy("out", a, count)
    restore_status(code, host, status)
    if heap:
        code.do(f"call void @free(ptr {raw})")
    code.do("ret void")
    return "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) #1", code
