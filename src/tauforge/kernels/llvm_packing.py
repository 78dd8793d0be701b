"""Rows of arrays to packed blocks and back, in registers: no gathers, no scatters.

A block is `lanes` rows. Rows are read in pieces of 128 bits and transposed by shuffles; the last piece of a row
overlaps the one before, so that nothing beyond the row is touched. Columns of arrays stored column by column are plain
vectors. Everything else goes element by element.
"""

from __future__ import annotations

from tauforge.kernels.llvm_text import Code, Vectors, shuffle


def piece_starts(columns: int, width: int) -> list[int]:
    """First columns of pieces of `width` that cover a row, the last one pushed back to end with it."""
    starts = list(range(0, columns - width + 1, width))
    if starts[-1] != columns - width:
        starts.append(columns - width)
    return starts


def transpose(v: Vectors, rows: list[str]) -> list[str]:
    """A square of 2 x 2 or 4 x 4 within every 128 bits; its own inverse."""
    width = len(rows)

    def within(a: str, b: str, picks: list[int]) -> str:
        lanes = [
            start + pick if pick < width else v.lanes + start + pick - width
            for start in range(0, v.lanes, width)
            for pick in picks
        ]
        return v.shuffle(a, b, lanes)

    if width == 2:
        return [within(rows[0], rows[1], [0, 2]), within(rows[0], rows[1], [1, 3])]
    low = within(rows[0], rows[1], [0, 4, 1, 5]), within(rows[2], rows[3], [0, 4, 1, 5])
    high = within(rows[0], rows[1], [2, 6, 3, 7]), within(rows[2], rows[3], [2, 6, 3, 7])
    return [within(a, b, picks) for a, b in (low, high) for picks in ([0, 1, 4, 5], [2, 3, 6, 7])]


def joined(code: Code, number: str, pieces: list[str], width: int) -> str:
    """Pieces one after another in one vector."""
    while len(pieces) > 1:
        kind = f"<{width} x {number}>"
        pieces = [shuffle(code, kind, pieces[k], pieces[k + 1], range(2 * width)) for k in range(0, len(pieces), 2)]
        width *= 2
    return pieces[0]


def row_pointers(v: Vectors, *, clamped: bool) -> list[str]:
    """Pointers to the rows of the block; beyond the last row the last row again."""
    code = v.code
    if clamped:
        code.declarations.add("declare i64 @llvm.smin.i64(i64, i64)")
        last = code.emit("sub i64 %count, 1")
    pointers = []
    for k in range(v.lanes):
        row = code.emit(f"call i64 @llvm.smin.i64(i64 {k}, i64 {last})") if clamped and k else str(k)
        pointers.append(code.emit(f"getelementptr i8, ptr %rows, i64 {code.emit(f'mul i64 %stride, {row}')}"))
    return pointers


def load_rows(v: Vectors, columns: int, *, clamped: bool) -> list[str]:
    """Columns of a block of contiguous rows."""
    code, width = v.code, 128 // v.bits
    pointers = row_pointers(v, clamped=clamped)
    result = [""] * columns
    if columns < width:
        for j in range(columns):
            value = "poison"
            for k, pointer in enumerate(pointers):
                x = code.emit(f"load {v.number}, ptr {code.at(pointer, j * v.size)}, align {v.size}")
                value = code.emit(f"insertelement {v.type} {value}, {v.number} {x}, i64 {k}")
            result[j] = value
        return result
    kind = f"<{width} x {v.number}>"
    for start in piece_starts(columns, width):
        gathered = []
        for first in range(width):
            pieces = [
                code.emit(f"load {kind}, ptr {code.at(pointers[k], start * v.size)}, align {v.size}")
                for k in range(first, v.lanes, width)
            ]
            gathered.append(joined(code, v.number, pieces, width))
        result[start : start + width] = transpose(v, gathered)
    return result


def store_rows(v: Vectors, values: list[str]) -> None:
    """The inverse: a full block of contiguous rows from its columns."""
    code, width = v.code, 128 // v.bits
    pointers = row_pointers(v, clamped=False)
    columns = len(values)
    if columns < width:
        for j, value in enumerate(values):
            for k, pointer in enumerate(pointers):
                x = code.emit(f"extractelement {v.type} {value}, i64 {k}")
                code.do(f"store {v.number} {x}, ptr {code.at(pointer, j * v.size)}, align {v.size}")
        return
    kind = f"<{width} x {v.number}>"
    for start in piece_starts(columns, width):
        spread = transpose(v, values[start : start + width])
        for first in range(width):
            for group, k in enumerate(range(first, v.lanes, width)):
                picks = range(group * width, (group + 1) * width)
                piece = shuffle(code, v.type, spread[first], "poison", picks)
                code.do(f"store {kind} {piece}, ptr {code.at(pointers[k], start * v.size)}, align {v.size}")


def packer(columns: int, bits: int, lanes: int) -> tuple[str, frozenset[str]]:
    """`pack<columns>(rows, stride, offsets, contiguous, block, count)`: `count` rows into a packed block.

    offsets: of the elements of a row, in bytes; contiguous: they follow one another.
    """
    code = Code()
    v = Vectors(code, bits, lanes, avx512=False)
    code.do(f"%full = icmp eq i64 %count, {lanes}")
    code.do(f"%unit = icmp eq i64 %stride, {v.size}")
    code.do("%columnar = and i1 %full, %unit")
    code.do("br i1 %columnar, label %columns, label %other")
    code.label("columns")
    for j in range(columns):
        v.store(v.load(element(code, j), aligned=False), code.at("%block", j * v.bytes), aligned=True)
    code.do("ret void")
    code.label("other")
    code.do("br i1 %contiguous, label %whole, label %single")
    code.label("whole")
    code.do("br i1 %full, label %complete, label %partial")
    for name, clamped in (("complete", False), ("partial", True)):
        code.label(name)
        for j, value in enumerate(load_rows(v, columns, clamped=clamped)):
            v.store(value, code.at("%block", j * v.bytes), aligned=True)
        code.do("ret void")
    code.label("single")
    element_by_element(code, v, columns, into_block=True)
    return define(f"pack{columns}", code)


def unpacker(columns: int, bits: int, lanes: int) -> tuple[str, frozenset[str]]:
    """`unpack<columns>(rows, stride, offsets, contiguous, block, count)`: a packed block out to `count` rows."""
    code = Code()
    v = Vectors(code, bits, lanes, avx512=False)
    code.do(f"%full = icmp eq i64 %count, {lanes}")
    code.do("br i1 %full, label %complete, label %single")
    code.label("complete")
    code.do(f"%unit = icmp eq i64 %stride, {v.size}")
    code.do("br i1 %unit, label %columns, label %other")
    code.label("columns")
    for j in range(columns):
        v.store(v.load(code.at("%block", j * v.bytes), aligned=True), element(code, j), aligned=False)
    code.do("ret void")
    code.label("other")
    code.do("br i1 %contiguous, label %whole, label %single")
    code.label("whole")
    store_rows(v, [v.load(code.at("%block", j * v.bytes), aligned=True) for j in range(columns)])
    code.do("ret void")
    code.label("single")
    element_by_element(code, v, columns, into_block=False)
    return define(f"unpack{columns}", code)


def element(code: Code, j: int) -> str:
    """Pointer to element j of the first row."""
    offset = code.emit(f"load i64, ptr {code.at('%offsets', 8 * j)}, align 8")
    return code.emit(f"getelementptr i8, ptr %rows, i64 {offset}")


def element_by_element(code: Code, v: Vectors, columns: int, *, into_block: bool) -> None:
    """Two loops; into the block the last row is repeated to fill it, out of it only `count` rows are written."""
    code.declarations.add("declare i64 @llvm.smin.i64(i64, i64)")
    lines = f"""  %last = sub i64 %count, 1
  br label %each_row
each_row:
  %k = phi i64 [ 0, %single ], [ %k1, %row_done ]
  %row = call i64 @llvm.smin.i64(i64 %k, i64 %last)
  %row_bytes = mul i64 %row, %stride
  %row_at = getelementptr i8, ptr %rows, i64 %row_bytes
  br label %each_element
each_element:
  %j = phi i64 [ 0, %each_row ], [ %j1, %each_element ]
  %offset_at = getelementptr i64, ptr %offsets, i64 %j
  %offset = load i64, ptr %offset_at, align 8
  %outside = getelementptr i8, ptr %row_at, i64 %offset
  %place0 = mul i64 %j, {v.lanes}
  %place = add i64 %place0, %k
  %inside = getelementptr {v.number}, ptr %block, i64 %place
  %x = load {v.number}, ptr {"%outside" if into_block else "%inside"}, align {v.size}
  store {v.number} %x, ptr {"%inside" if into_block else "%outside"}, align {v.size}
  %j1 = add i64 %j, 1
  %more = icmp slt i64 %j1, {columns}
  br i1 %more, label %each_element, label %row_done
row_done:
  %k1 = add i64 %k, 1
  %again = icmp slt i64 %k1, {v.lanes if into_block else "%count"}
  br i1 %again, label %each_row, label %finished
finished:"""
    code.lines += lines.split("\n")
    code.do("ret void")


def define(name: str, code: Code) -> tuple[str, frozenset[str]]:
    head = (
        f"define internal void @{name}(ptr %rows, i64 %stride, ptr %offsets, i1 %contiguous, ptr %block, i64 %count) #1"
    )
    return head + " {\nentry:\n" + "\n".join(code.lines) + "\n}\n", frozenset(code.declarations)
