"""The builtin that Python calls for small arrays: it reads the fields of NumPy's arrays directly."""

from __future__ import annotations

import math

from tauforge.kernels.cpu.engine import Host
from tauforge.kernels.cpu.llvm_body import Operand, VectorBody
from tauforge.kernels.cpu.llvm_loop import run_body
from tauforge.kernels.cpu.llvm_text import ALIGNMENT, Vectors, Writer, restore_status, save_status

FLOAT64_NUMBER = 12  # NumPy's number of the type float64
ALIGNED_AND_CONTIGUOUS = 0x0101
# Offsets in PyArrayObject of a 64-bit CPython; `numpy_binding` verifies them before they are used.
TYPE, DATA, DIMENSIONS_COUNT, DIMENSIONS, DESCRIPTOR, ARRAY_FLAGS = 8, 16, 24, 32, 56, 64
FUNCTIONS = {  # of Python, which the machine code calls
    "vectorcall": "PyObject_Vectorcall",
    "new_tuple": "PyTuple_New",
    "set_item": "PyTuple_SetItem",
    "release": "Py_DecRef",
    "save_thread": "PyEval_SaveThread",
    "restore_thread": "PyEval_RestoreThread",
}
ADDRESSES = ("array_type", "double_descriptor", "new_array", "new_scalar", *FUNCTIONS)
SHORT_BATCH = 4096  # most rows that the builtin takes; larger batches may gain from threads


def builtin_function(body: VectorBody, ins: list[Operand], outs: list[Operand], host: Host) -> tuple[str, Writer]:
    """PyObject *builtin(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames).

    It takes exact, contiguous, aligned float64 arrays of the core shapes, or all of them with one more dimension of at
    most SHORT_BATCH rows. Anything else, and a batch with a doubtful row, is handed to `self`, a callable.
    """
    code = Writer()
    operands = [*ins, *outs]
    rank = max(len(o.core) for o in outs) + 1
    table = code.emit(f"alloca [{2 * len(operands)} x i64], align 16")
    dims = code.emit(f"alloca [{rank} x i64], align 8")
    pointers = code.emit(f"alloca [{len(operands)} x ptr], align 8")
    steps = code.emit(f"alloca [{len(operands) + sum(len(o.core) for o in operands)} x i64], align 8")
    scratch = code.emit(f"alloca [{body.scratch * host.vector_bits // 8} x i8], align {ALIGNMENT}")

    def address(name: str) -> str:
        return code.emit(f"load ptr, ptr {code.at('@addresses', 8 * ADDRESSES.index(name))}, align 8")

    def require(condition: str, stem: str = "checked", otherwise: str = "slow") -> None:
        following = code.fresh(stem)
        code.do(f"br i1 {condition}, label %{following}, label %{otherwise}")
        code.label(following)

    def field(array: str, offset: int, kind: str) -> str:
        return code.emit(f"load {kind}, ptr {code.at(array, offset)}, align {4 if kind == 'i32' else 8}")

    require(code.emit(f"icmp eq i64 %nargs, {len(ins)}"))
    require(code.emit("icmp eq ptr %kwnames, null"))
    array_type, descriptor = address("array_type"), address("double_descriptor")
    arrays = [code.emit(f"load ptr, ptr {code.at('%args', 8 * a)}, align 8") for a in range(len(ins))]
    require(code.emit(f"icmp eq ptr {field(arrays[0], TYPE, 'ptr')}, {array_type}"))
    more = code.emit(f"sub i32 {field(arrays[0], DIMENSIONS_COUNT, 'i32')}, {len(ins[0].core)}")
    require(code.emit(f"icmp ult i32 {more}, 2"))
    batched = code.emit(f"icmp eq i32 {more}, 1")
    first_dims = field(arrays[0], DIMENSIONS, "ptr")
    rows = code.emit(f"select i1 {batched}, i64 {code.emit(f'load i64, ptr {first_dims}, align 8')}, i64 1")
    require(code.emit(f"icmp ule i64 {rows}, {SHORT_BATCH}"))
    shift = code.emit(f"select i1 {batched}, i64 8, i64 0")
    for operand, array in zip(ins, arrays, strict=True):
        require(code.emit(f"icmp eq ptr {field(array, TYPE, 'ptr')}, {array_type}"))
        wanted = code.emit(f"add i32 {more}, {len(operand.core)}")
        require(code.emit(f"icmp eq i32 {field(array, DIMENSIONS_COUNT, 'i32')}, {wanted}"))
        require(code.emit(f"icmp eq ptr {field(array, DESCRIPTOR, 'ptr')}, {descriptor}"))
        flags = code.emit(f"and i32 {field(array, ARRAY_FLAGS, 'i32')}, {ALIGNED_AND_CONTIGUOUS}")
        require(code.emit(f"icmp eq i32 {flags}, {ALIGNED_AND_CONTIGUOUS}"))
        lengths = field(array, DIMENSIONS, "ptr")
        leading = code.emit(f"select i1 {batched}, i64 {code.emit(f'load i64, ptr {lengths}, align 8')}, i64 1")
        require(code.emit(f"icmp eq i64 {leading}, {rows}"))
        core = code.emit(f"getelementptr i8, ptr {lengths}, i64 {shift}")
        for k, d in enumerate(operand.core):
            require(code.emit(f"icmp eq i64 {code.emit(f'load i64, ptr {code.at(core, 8 * k)}, align 8')}, {d}"))
        code.do(f"store ptr {field(array, DATA, 'ptr')}, ptr {code.at(pointers, 8 * operand.number)}, align 8")
    code.do("br label %fast")

    code.label("fast")
    answer = None
    if len(outs) > 1:
        answer = code.emit(f"call ptr {address('new_tuple')}(i64 {len(outs)})")
        require(code.emit(f"icmp ne ptr {answer}, null"), "made", "failed")
    code.do(f"store i64 {rows}, ptr {dims}, align 8")
    for k, out in enumerate(outs):
        for place, d in enumerate(out.core, 1):
            code.do(f"store i64 {d}, ptr {code.at(dims, 8 * place)}, align 8")
        used = code.emit(f"getelementptr i8, ptr {dims}, i64 {code.emit(f'sub i64 8, {shift}')}")
        count = code.emit(f"add i32 {more}, {len(out.core)}")
        array = code.emit(
            f"call ptr {address('new_array')}(ptr {array_type}, i32 {count}, ptr {used}, i32 {FLOAT64_NUMBER}, "
            "ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        require(code.emit(f"icmp ne ptr {array}, null"), "filled", "failed" if answer is None else "discard")
        code.do(f"store ptr {field(array, DATA, 'ptr')}, ptr {code.at(pointers, 8 * out.number)}, align 8")
        if len(outs) > 1:
            code.emit(f"call i32 {address('set_item')}(ptr {answer}, i64 {k}, ptr {array})")
    whole = array if answer is None else answer
    before = code.emit("load atomic i64, ptr @doubts monotonic, align 8")
    code.do(f"br i1 {batched}, label %many, label %one")

    code.label("one")  # the same row in every lane
    status = save_status(code, host)
    for operand in operands:
        pointer = code.emit(f"load ptr, ptr {code.at(pointers, 8 * operand.number)}, align 8")
        code.do(f"store ptr {pointer}, ptr {code.at(table, 16 * operand.number)}, align 8")
        code.do(f"store i64 0, ptr {code.at(table, 16 * operand.number + 8)}, align 8")
    v = Vectors(code, 64, host.lanes(64), avx512=host.has_avx512)
    run_body(code, body, v, table, scratch)
    restore_status(code, host, status)
    code.do("br label %computed")

    code.label("many")
    place = len(operands)
    for operand in operands:
        code.do(f"store i64 {8 * operand.length}, ptr {code.at(steps, 8 * operand.number)}, align 8")
        for k in range(len(operand.core)):
            code.do(f"store i64 {8 * math.prod(operand.core[k + 1 :])}, ptr {code.at(steps, 8 * place)}, align 8")
            place += 1
    state = code.emit(f"call ptr {address('save_thread')}()")
    code.do(f"call void @loop(ptr {pointers}, ptr {dims}, ptr {steps}, ptr null)")
    code.do(f"call void {address('restore_thread')}(ptr {state})")
    code.do("br label %computed")

    code.label("computed")
    after = code.emit("load atomic i64, ptr @doubts monotonic, align 8")
    code.do(f"br i1 {code.emit(f'icmp eq i64 {before}, {after}')}, label %answer, label %doubtful")
    code.label("answer")
    scalars = [(k, out) for k, out in enumerate(outs) if not out.core]
    if scalars:  # of one state these are NumPy's scalars, as its own functions return them
        code.do(f"br i1 {batched}, label %arrays, label %scalars")
        code.label("scalars")
    for k, out in scalars:
        pointer = code.emit(f"load ptr, ptr {code.at(pointers, 8 * out.number)}, align 8")
        scalar = code.emit(f"call ptr {address('new_scalar')}(ptr {pointer}, ptr {descriptor}, ptr null)")
        require(code.emit(f"icmp ne ptr {scalar}, null"), "held", "unmade")
        if answer is None:
            code.do(f"call void {address('release')}(ptr {whole})")
            code.do(f"ret ptr {scalar}")
        else:
            code.emit(f"call i32 {address('set_item')}(ptr {answer}, i64 {k}, ptr {scalar})")  # releases the array
    if scalars:
        if answer is not None:
            code.do("br label %arrays")
        code.label("unmade")
        code.do(f"call void {address('release')}(ptr {whole})")
        code.do("br label %failed")
        code.label("arrays")
    code.do(f"ret ptr {whole}")
    code.label("doubtful")
    code.do(f"call void {address('release')}(ptr {whole})")
    code.do("br label %slow")
    if answer is not None:
        code.label("discard")
        code.do(f"call void {address('release')}(ptr {answer})")
        code.do("br label %failed")
    code.label("failed")
    code.do("ret ptr null")
    code.label("slow")
    handed = code.emit(f"call ptr {address('vectorcall')}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")
    code.do(f"ret ptr {handed}")
    return "define ptr @builtin(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) #1", code
