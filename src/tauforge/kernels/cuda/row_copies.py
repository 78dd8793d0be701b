"""How rows of arrays come into shared memory and back.

Where each state is a contiguous row, a block of threads copies all its rows, so that copies between memory and the chip
are of neighbouring numbers. Rows there are padded where too many threads would read the same bank.
"""

from __future__ import annotations

import math
from typing import NamedTuple

BANKS = 32  # of shared memory
PIECE = 16  # bytes that a thread can copy at a time
AT_ONCE = 6  # copies of a thread under way; more of them take longer to compile, and registers


class Operand(NamedTuple):
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


def copied(staged: list[Operand], block: int, bits: int, *, out: bool) -> list[str]:
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


def _copied_singly(operand: Operand, block: int, *, out: bool) -> list[str]:
    length, pitch, name = operand.length, operand.pitch, operand.name
    place = "k" if pitch == length else f"k / {length} * {pitch} + k % {length}"
    shared, memory = f"{name}_rows[{place}]", f"{name}[first * {length} + k]"
    copy = f"{memory} = {shared};" if out else f"{shared} = {memory};"
    return [
        f"#pragma unroll {AT_ONCE}",
        f"for (int j = 0; j < {length}; ++j) {{",
        f"    const int k = thread + j * {block};",
        f"    if (k < rows * {length}) {copy}",
        "}",
    ]


def _copied_in_pieces(operand: Operand, block: int, bits: int, *, out: bool) -> list[str]:
    length, name = operand.length, operand.name
    pieces = block * length * bits // (8 * PIECE)
    shared, memory = f"((int4 *){name}_rows)", f"(({'' if out else 'const '}int4 *)({name} + first * {length}))"
    to, of = (memory, shared) if out else (shared, memory)
    lines = []
    for start in range(0, pieces, block):
        copy = f"{to}[thread + {start}] = {of}[thread + {start}];"
        lines.append(copy if start + block <= pieces else f"if (thread < {pieces - start}) {copy}")
    return lines
