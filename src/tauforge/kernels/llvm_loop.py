"""The functions that NumPy and Python call: the inner loop of a generalized ufunc, and a builtin for one state."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tauforge.kernels.host import Host
from tauforge.kernels.llvm_body import Body, emit_body
from tauforge.kernels.llvm_packing import packer, unpacker
from tauforge.kernels.llvm_text import Code, Vectors
from tauforge.tracing.graph import Graph

TILE = 4  # blocks that a part of a long body runs over before the next part
STACK_BYTES = 64 * 1024  # larger blocks come from the heap
ALIGNMENT = 64
DOUBLE = 12  # NumPy's number of the type float64
ALIGNED_AND_CONTIGUOUS = 0x0101

ATTRIBUTES = (
    'attributes #0 = { nounwind "no-trapping-math"="true" %(width)s }\n'
    'attributes #1 = { noinline nounwind alignstack=64 "no-trapping-math"="true" %(width)s }\n'
)
# Offsets in PyArrayObject of a 64-bit CPython; `single_state` verifies them before they are used.
TYPE, DATA, DIMENSIONS_COUNT, DIMENSIONS, DESCRIPTOR, ARRAY_FLAGS = 8, 16, 24, 32, 56, 64
ADDRESSES = ("array_type", "double_descriptor", "new_array", "vectorcall")


class Operand(NamedTuple):
    """An argument or a result: its core shape, and where its first element is in the packed block."""

    core: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        return math.prod(self.core)


def operands(shapes: list[tuple[int, ...]]) -> list[Operand]:
    result, start = [], 0
    for core in shapes:
        result.append(Operand(core, start))
        start += math.prod(core)
    return result


class Writer(Code):
    """Code with loops and conditions."""

    def __init__(self) -> None:
        super().__init__()
        self._labels = 0
        self._block = "entry"  # the basic block that is being written

    def fresh(self, stem: str) -> str:
        self._labels += 1
        return f"{stem}{self._labels}"

    def label(self, name: str) -> None:
        super().label(name)
        self._block = name

    @contextmanager
    def loop(self, count: str) -> Iterator[str]:
        """for i in range(count)."""
        test, body, done = self.fresh("test"), self.fresh("body"), self.fresh("done")
        before = self._block
        self.do(f"br label %{test}")
        self.label(test)
        place = len(self.lines)
        i = self.emit("phi")  # completed below, when the block that leads back is known
        more = self.emit(f"icmp slt i64 {i}, {count}")
        self.do(f"br i1 {more}, label %{body}, label %{done}")
        self.label(body)
        yield i
        following = self.emit(f"add i64 {i}, 1")
        self.do(f"br label %{test}")
        self.lines[place] = f"  {i} = phi i64 [ 0, %{before} ], [ {following}, %{self._block} ]"
        self.label(done)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        yes, on = self.fresh("yes"), self.fresh("on")
        self.do(f"br i1 {condition}, label %{yes}, label %{on}")
        self.label(yes)
        yield
        self.do(f"br label %{on}")
        self.label(on)

    def smaller(self, a: str, b: str) -> str:
        self.declarations.add("declare i64 @llvm.smin.i64(i64, i64)")
        return self.emit(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")


OFFSETS = """define internal i1 @offsets(ptr %off, i64 %d0, i64 %d1, i64 %d2, i64 %s0, i64 %s1, i64 %s2, i64 %size) #1 {
entry:
  br label %l0
l0:
  %i = phi i64 [ 0, %entry ], [ %i1, %e0 ]
  %n0 = phi i64 [ 0, %entry ], [ %n3, %e0 ]
  %f0 = phi i1 [ true, %entry ], [ %f3, %e0 ]
  %b0 = mul i64 %i, %s0
  br label %l1
l1:
  %j = phi i64 [ 0, %l0 ], [ %j1, %e1 ]
  %n1 = phi i64 [ %n0, %l0 ], [ %n3, %e1 ]
  %f1 = phi i1 [ %f0, %l0 ], [ %f3, %e1 ]
  %c0 = mul i64 %j, %s1
  %b1 = add i64 %b0, %c0
  br label %l2
l2:
  %k = phi i64 [ 0, %l1 ], [ %k1, %l2 ]
  %n2 = phi i64 [ %n1, %l1 ], [ %n3, %l2 ]
  %f2 = phi i1 [ %f1, %l1 ], [ %f3, %l2 ]
  %c1 = mul i64 %k, %s2
  %b2 = add i64 %b1, %c1
  %p = getelementptr i64, ptr %off, i64 %n2
  store i64 %b2, ptr %p, align 8
  %want = mul i64 %n2, %size
  %same = icmp eq i64 %want, %b2
  %f3 = and i1 %f2, %same
  %n3 = add i64 %n2, 1
  %k1 = add i64 %k, 1
  %m2 = icmp slt i64 %k1, %d2
  br i1 %m2, label %l2, label %e1
e1:
  %j1 = add i64 %j, 1
  %m1 = icmp slt i64 %j1, %d1
  br i1 %m1, label %l1, label %e0
e0:
  %i1 = add i64 %i, 1
  %m0 = icmp slt i64 %i1, %d0
  br i1 %m0, label %l0, label %done
done:
  ret i1 %f3
}
"""


def emit_module(
    graph: Graph,
    arguments: list[tuple[str, tuple[int, ...]]],
    results: list[tuple[int, ...]],
    host: Host,
    bits: int,
) -> str:
    """LLVM text with `loop` (the gufunc's inner loop) and, for one result in 64 bits, `single` (the builtin).

    arguments: names and core shapes; input k of argument a is called a + str(k) in the graph.
    """
    lanes = host.lanes(bits)
    ins, outs = operands([core for _, core in arguments]), operands(results)
    positions = {
        f"{name}{k}": operand.start + k
        for (name, _), operand in zip(arguments, ins, strict=True)
        for k in range(operand.size)
    }
    body = emit_body(graph, positions, bits, lanes, avx512=host.has_avx512)
    texts, declarations = [body.text, OFFSETS], set(body.declarations)
    for make, sizes in ((packer, {o.size for o in ins}), (unpacker, {o.size for o in outs})):
        for size in sorted(sizes):
            text, more = make(size, bits, lanes)
            texts.append(text)
            declarations |= more
    writers = [loop_function(body, ins, outs, bits, lanes, host)]
    if bits == 64 and len(outs) == 1:
        texts.append(f"@addresses = global [{len(ADDRESSES)} x ptr] zeroinitializer\n")
        rank = max(1, len(outs[0].core))
        dims = ", ".join(f"i64 {d}" for d in outs[0].core or (1,))
        texts.append(f"@result_dims = internal constant [{rank} x i64] [{dims}]\n")
        writers.append(single_function(body, ins, outs[0], lanes, host))
    for head, code in writers:
        texts.append(head + " {\nentry:\n" + "\n".join(code.lines) + "\n}\n")
        declarations |= code.declarations
    width = f'"prefer-vector-width"="{host.vector_bits}" "min-legal-vector-width"="{host.vector_bits}"'
    return "".join([*texts, *(f"{d}\n" for d in sorted(declarations)), ATTRIBUTES % {"width": width}])


def save_status(code: Code, host: Host) -> str:
    """Remember the floating-point status, so that lanes nobody asked for raise no warnings."""
    if not host.x86:
        space = code.emit("alloca [64 x i8], align 16")
        code.declarations.add("declare i32 @fegetenv(ptr)")
        code.emit(f"call i32 @fegetenv(ptr {space})")
        return space
    space = code.emit("alloca i32, align 4")
    code.declarations.add("declare void @llvm.x86.sse.stmxcsr(ptr)")
    code.do(f"call void @llvm.x86.sse.stmxcsr(ptr {space})")
    return space


def restore_status(code: Code, host: Host, space: str) -> None:
    if not host.x86:
        code.declarations.add("declare i32 @fesetenv(ptr)")
        code.emit(f"call i32 @fesetenv(ptr {space})")
        return
    code.declarations.add("declare void @llvm.x86.sse.ldmxcsr(ptr)")
    code.do(f"call void @llvm.x86.sse.ldmxcsr(ptr {space})")


def loop_function(
    body: Body, ins: list[Operand], outs: list[Operand], bits: int, lanes: int, host: Host
) -> tuple[str, Writer]:
    """void loop(char **args, const npy_intp *dims, const npy_intp *steps, void *data)."""
    code = Writer()
    size = bits // 8
    vector = lanes * size
    tile = TILE if body.parts > 1 else 1
    in_bytes = sum(o.size for o in ins) * vector
    out_bytes = sum(o.size for o in outs) * vector
    scratch_bytes = body.scratch * vector
    block = in_bytes + out_bytes + scratch_bytes
    everything = [*ins, *outs]

    offsets = [code.emit(f"alloca [{o.size} x i64], align 8") for o in everything]
    heap = tile * block > STACK_BYTES
    if heap:
        code.declarations |= {"declare ptr @malloc(i64)", "declare void @free(ptr)"}
        raw = code.emit(f"call ptr @malloc(i64 {tile * block + ALIGNMENT})")
        number = code.emit(f"ptrtoint ptr {raw} to i64")
        up = code.emit(f"add i64 {number}, {ALIGNMENT - 1}")
        memory = code.emit(f"inttoptr i64 {code.emit(f'and i64 {up}, {-ALIGNMENT}')} to ptr")
    else:
        memory = code.emit(f"alloca [{tile * block} x i8], align {ALIGNMENT}")
    status = save_status(code, host)

    def entry(table: str, index: int, kind: str) -> str:
        return code.emit(f"load {kind}, ptr {code.at(table, 8 * index)}, align 8")

    rows = entry("%dims", 0, "i64")
    bases, strides, flat = [], [], []
    place = len(everything)
    for a, operand in enumerate(everything):
        bases.append(entry("%args", a, "ptr"))
        strides.append(entry("%steps", a, "i64"))
        sizes = [*(1,) * (3 - len(operand.core)), *operand.core]
        steps = ["0"] * (3 - len(operand.core)) + [entry("%steps", place + k, "i64") for k in range(len(operand.core))]
        place += len(operand.core)
        given = ", ".join(f"i64 {x}" for x in (*sizes, *steps, size))
        flat.append(code.emit(f"call i1 @offsets(ptr {offsets[a]}, {given})"))

    blocks = code.emit(f"sdiv i64 {code.emit(f'add i64 {rows}, {lanes - 1}')}, {lanes}")
    tiles = code.emit(f"sdiv i64 {code.emit(f'add i64 {blocks}, {tile - 1}')}, {tile}") if tile > 1 else blocks

    def each_block(t: str, first: str) -> tuple[str, str, str]:
        """Packed memory, first row and number of rows of block t of the tile."""
        at = code.emit(f"getelementptr i8, ptr {memory}, i64 {code.emit(f'mul i64 {t}, {block}')}")
        row = code.emit(f"mul i64 {code.emit(f'add i64 {first}, {t}')}, {lanes}")
        return at, row, code.smaller(code.emit(f"sub i64 {rows}, {row}"), str(lanes))

    def call(name: str, a: int, operand: Operand, at: str, row: str, count: str) -> None:
        outside = code.emit(f"getelementptr i8, ptr {bases[a]}, i64 {code.emit(f'mul i64 {row}, {strides[a]}')}")
        shift = operand.start * vector + (in_bytes if name == "unpack" else 0)
        code.do(
            f"call void @{name}{operand.size}(ptr {outside}, i64 {strides[a]}, ptr {offsets[a]}, i1 {flat[a]}, "
            f"ptr {code.at(at, shift)}, i64 {count})"
        )

    @contextmanager
    def each_of(here: str) -> Iterator[str]:
        """The blocks of the tile; a tile of one needs no loop."""
        if tile == 1:
            yield "0"
        else:
            with code.loop(here) as t:
                yield t

    with code.loop(tiles) as number:
        first = code.emit(f"mul i64 {number}, {tile}")
        here = code.smaller(code.emit(f"sub i64 {blocks}, {first}"), str(tile))
        at_start = code.emit(f"icmp eq i64 {number}, 0")
        with each_of(here) as t:
            at, row, count = each_block(t, first)
            for a, operand in enumerate(ins):
                moving = code.emit(f"icmp ne i64 {strides[a]}, 0")
                with code.when(code.emit(f"or i1 {moving}, {at_start}")):  # what stands still is packed once
                    call("pack", a, operand, at, row, count)
        for part in range(body.parts):
            with each_of(here) as t:
                at = code.emit(f"getelementptr i8, ptr {memory}, i64 {code.emit(f'mul i64 {t}, {block}')}")
                out = code.at(at, in_bytes)
                code.do(f"call void @body{part}(ptr {at}, ptr {out}, ptr {code.at(at, in_bytes + out_bytes)})")
        with each_of(here) as t:
            at, row, count = each_block(t, first)
            for a, operand in enumerate(outs, len(ins)):
                call("unpack", a, operand, at, row, count)
    restore_status(code, host, status)
    if heap:
        code.do(f"call void @free(ptr {raw})")
    code.do("ret void")
    return "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) #1", code


def single_function(body: Body, ins: list[Operand], out: Operand, lanes: int, host: Host) -> tuple[str, Writer]:
    """PyObject *single(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames).

    For exact, contiguous, aligned float64 arrays of the core shapes; anything else is handed to `self`, a callable.
    """
    code = Writer()
    v = Vectors(code, 64, lanes, avx512=False)
    in_bytes, out_bytes = sum(o.size for o in ins) * v.bytes, out.size * v.bytes
    memory = code.emit(f"alloca [{in_bytes + out_bytes + body.scratch * v.bytes} x i8], align {ALIGNMENT}")
    slow, fast = "slow", "fast"

    def address(name: str, kind: str) -> str:
        return code.emit(f"load {kind}, ptr {code.at('@addresses', 8 * ADDRESSES.index(name))}, align 8")

    def require(condition: str) -> None:
        following = code.fresh("checked")
        code.do(f"br i1 {condition}, label %{following}, label %{slow}")
        code.label(following)

    require(code.emit(f"icmp eq i64 %nargs, {len(ins)}"))
    require(code.emit("icmp eq ptr %kwnames, null"))
    array_type, descriptor = address("array_type", "ptr"), address("double_descriptor", "ptr")
    data = []
    for a, operand in enumerate(ins):
        array = code.emit(f"load ptr, ptr {code.at('%args', 8 * a)}, align 8")

        def field(offset: int, kind: str, array: str = array) -> str:
            return code.emit(f"load {kind}, ptr {code.at(array, offset)}, align {4 if kind == 'i32' else 8}")

        require(code.emit(f"icmp eq ptr {field(TYPE, 'ptr')}, {array_type}"))
        require(code.emit(f"icmp eq i32 {field(DIMENSIONS_COUNT, 'i32')}, {len(operand.core)}"))
        require(code.emit(f"icmp eq ptr {field(DESCRIPTOR, 'ptr')}, {descriptor}"))
        flags = code.emit(f"and i32 {field(ARRAY_FLAGS, 'i32')}, {ALIGNED_AND_CONTIGUOUS}")
        require(code.emit(f"icmp eq i32 {flags}, {ALIGNED_AND_CONTIGUOUS}"))
        dims = field(DIMENSIONS, "ptr")
        for k, d in enumerate(operand.core):
            length = code.emit(f"load i64, ptr {code.at(dims, 8 * k)}, align 8")
            require(code.emit(f"icmp eq i64 {length}, {d}"))
        data.append(field(DATA, "ptr"))
    code.do(f"br label %{fast}")
    code.label(fast)
    status = save_status(code, host)
    for operand, base in zip(ins, data, strict=True):
        for k in range(operand.size):
            x = code.emit(f"load double, ptr {code.at(base, 8 * k)}, align 8")
            lane = code.emit(f"insertelement {v.type} poison, double {x}, i64 0")
            splat = code.emit(f"shufflevector {v.type} {lane}, {v.type} poison, <{lanes} x i32> zeroinitializer")
            v.store(splat, code.at(memory, (operand.start + k) * v.bytes), aligned=True)
    results = code.at(memory, in_bytes)
    scratch = code.at(memory, in_bytes + out_bytes)
    for part in range(body.parts):
        code.do(f"call void @body{part}(ptr {memory}, ptr {results}, ptr {scratch})")
    restore_status(code, host, status)
    array = code.emit(
        f"call ptr {address('new_array', 'ptr')}(ptr {array_type}, i32 {len(out.core)}, ptr @result_dims, "
        f"i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)"
    )
    failed, filled = code.fresh("failed"), code.fresh("filled")
    code.do(f"br i1 {code.emit(f'icmp eq ptr {array}, null')}, label %{failed}, label %{filled}")
    code.label(filled)
    target = code.emit(f"load ptr, ptr {code.at(array, DATA)}, align 8")
    for k in range(out.size):
        y = code.emit(f"load double, ptr {code.at(results, k * v.bytes)}, align 8")
        code.do(f"store double {y}, ptr {code.at(target, 8 * k)}, align 8")
    code.do(f"br label %{failed}")
    code.label(failed)
    code.do(f"ret ptr {array}")
    code.label(slow)
    answer = code.emit(f"call ptr {address('vectorcall', 'ptr')}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")
    code.do(f"ret ptr {answer}")
    return "define ptr @single(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) #1", code
