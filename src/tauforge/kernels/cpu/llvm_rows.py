"""Rows of arrays to vectors across the batch and back, in registers: no gathers, no scatters.

A block is `lanes` rows of an operand: a pointer and a stride in bytes, the elements of a row one after another. They
are read in pieces of 128 bits and transposed by shuffles; the last piece of a row overlaps the one before, so that
nothing beyond the row is touched. They are written in wider pieces, because many narrow stores fill the processor's
store queue and stall everything else. Operands that are not such rows are copied (`copies`).
"""

from __future__ import annotations

from tauforge.kernels.cpu.llvm_text import Code, Vectors, shuffle

STORE_BITS = 256  # widest piece of a row that is stored at once: 512 needs more shuffles and is no faster


class Rows:
    """The rows of one operand in a block; their pointers are computed on first use."""

    def __init__(self, v: Vectors, table: str, number: int, columns: int) -> None:
        self.v, self.columns = v, columns
        self._table, self._number = table, number
        self._pointers: list[str] = []

    def pointers(self) -> list[str]:
        if not self._pointers:
            code, entry = self.v.code, 16 * self._number
            base = code.emit(f"load ptr, ptr {code.at(self._table, entry)}, align 8")
            stride = code.emit(f"load i64, ptr {code.at(self._table, entry + 8)}, align 8")
            for k in range(self.v.lanes):
                self._pointers.append(code.at(base, 0 if k == 0 else code.emit(f"mul i64 {stride}, {k}")))
        return self._pointers

    def load(self, column: int) -> tuple[int, list[str]]:
        """The piece with this column: its first column, and a vector for each of its columns."""
        v, code, pointers, width = self.v, self.v.code, self.pointers(), 128 // self.v.bits
        if self.columns < width:
            value = "poison"
            for k, pointer in enumerate(pointers):
                x = code.emit(f"load {v.number}, ptr {code.at(pointer, column * v.itemsize)}, align {v.itemsize}")
                value = code.emit(f"insertelement {v.type} {value}, {v.number} {x}, i64 {k}")
            return column, [value]
        start = min(column // width * width, self.columns - width)
        kind = f"<{width} x {v.number}>"
        gathered = []
        for first in range(width):
            pieces = [
                code.emit(f"load {kind}, ptr {code.at(pointers[k], start * v.itemsize)}, align {v.itemsize}")
                for k in range(first, v.lanes, width)
            ]
            gathered.append(joined(code, v.number, pieces, width))
        return start, transposed(v, gathered)

    def store(self, start: int, values: list[str]) -> None:
        """One piece of every row, from the vectors of its columns."""
        v, code, width = self.v, self.v.code, len(values)
        kind = f"<{width} x {v.number}>"
        spread = transposed(v, values)
        for first in range(width):
            for group, k in enumerate(range(first, v.lanes, width)):
                piece = spread[first]
                if width < v.lanes:
                    piece = shuffle(code, v.type, piece, "poison", range(group * width, (group + 1) * width))
                place = code.at(self.pointers()[k], start * v.itemsize)
                code.do(f"store {kind} {piece}, ptr {place}, align {v.itemsize}")


class BlockColumns:
    """The same for the time loop, which keeps the rows of a block as columns, one vector after another.

    shared: a row for the whole block instead; then only arguments
    """

    def __init__(self, v: Vectors, table: str, number: int, *, shared: bool) -> None:
        self.v, self._table, self._number, self._shared = v, table, number, shared
        self._base = ""

    def _at(self, bytes_: int) -> str:
        code = self.v.code
        self._base = self._base or code.emit(f"load ptr, ptr {code.at(self._table, 8 * self._number)}, align 8")
        return code.at(self._base, bytes_)

    def load(self, column: int) -> tuple[int, list[str]]:
        v, code = self.v, self.v.code
        if not self._shared:
            return column, [v.load(self._at(column * v.bytes), aligned=True)]
        x = code.emit(f"load {v.number}, ptr {self._at(column * v.itemsize)}, align {v.itemsize}")
        one = code.emit(f"insertelement {v.type} poison, {v.number} {x}, i64 0")
        return column, [v.shuffle(one, "poison", [0] * v.lanes)]

    def store(self, start: int, values: list[str]) -> None:
        for k, value in enumerate(values, start):
            self.v.store(value, self._at(k * self.v.bytes), aligned=True)


def store_pieces(columns: int, bits: int, lanes: int) -> list[tuple[int, int]]:
    """First column and width of the pieces a row is stored in, wide ones first; the last may overlap the one before."""
    narrow, start, result = 128 // bits, 0, []
    while start < columns:
        width = min(lanes, STORE_BITS // bits)
        while width > narrow and width > columns - start:
            width //= 2
        if width > columns:
            width = 1
        result.append((min(start, columns - width), width))
        start += width
    return result


def transposed(v: Vectors, vectors: list[str]) -> list[str]:
    """Squares of len(vectors) lanes, transposed side by side by exchanges at distance 1, 2, 4, ...; its own inverse."""
    result, distance = list(vectors), 1
    while distance < len(vectors):
        low = [lane + v.lanes - distance if lane & distance else lane for lane in range(v.lanes)]
        high = [lane + v.lanes if lane & distance else lane + distance for lane in range(v.lanes)]
        for i in range(len(vectors)):
            if not i & distance:
                a, b = result[i], result[i + distance]
                result[i], result[i + distance] = v.shuffle(a, b, low), v.shuffle(a, b, high)
        distance *= 2
    return result


def joined(code: Code, number: str, pieces: list[str], width: int) -> str:
    """Pieces one after another in one vector."""
    while len(pieces) > 1:
        kind = f"<{width} x {number}>"
        pieces = [shuffle(code, kind, pieces[k], pieces[k + 1], range(2 * width)) for k in range(0, len(pieces), 2)]
        width *= 2
    return pieces[0]


def copies(number: str, itemsize: int) -> str:
    """`copy_in` and `copy_out`: rows with any strides to rows that follow one another, and back.

    offsets: of the elements of a row, in bytes. `copy_in` repeats the last row to fill the block (it reads `count` rows
    and writes `rows`); `copy_out` writes only `count` rows, and `rows` is equal to it.
    """
    text = """define internal void @copy_%(way)s(%(parameters)s) #1 {
entry:
  %%last = sub i64 %%count, 1
  br label %%each_row
each_row:
  %%k = phi i64 [ 0, %%entry ], [ %%k1, %%row_done ]
  %%past = icmp sgt i64 %%k, %%last
  %%row = select i1 %%past, i64 %%last, i64 %%k
  %%row_bytes = mul i64 %%row, %%stride
  %%row_at = getelementptr i8, ptr %%outside, i64 %%row_bytes
  %%start = mul i64 %%k, %%columns
  br label %%each_element
each_element:
  %%j = phi i64 [ 0, %%each_row ], [ %%j1, %%each_element ]
  %%offset_at = getelementptr i64, ptr %%offsets, i64 %%j
  %%offset = load i64, ptr %%offset_at, align 8
  %%there = getelementptr i8, ptr %%row_at, i64 %%offset
  %%place = add i64 %%start, %%j
  %%here = getelementptr %(number)s, ptr %%inside, i64 %%place
  %%x = load %(number)s, ptr %(source)s, align %(itemsize)d
  store %(number)s %%x, ptr %(target)s, align %(itemsize)d
  %%j1 = add i64 %%j, 1
  %%more = icmp slt i64 %%j1, %%columns
  br i1 %%more, label %%each_element, label %%row_done
row_done:
  %%k1 = add i64 %%k, 1
  %%again = icmp slt i64 %%k1, %%rows
  br i1 %%again, label %%each_row, label %%finished
finished:
  ret void
}
"""
    parameters = "ptr %outside, i64 %stride, ptr %offsets, i64 %columns, ptr %inside, i64 %count, i64 %rows"
    ways = {"way": "in", "source": "%there", "target": "%here"}, {"way": "out", "source": "%here", "target": "%there"}
    return "".join(text % {**way, "parameters": parameters, "number": number, "itemsize": itemsize} for way in ways)
