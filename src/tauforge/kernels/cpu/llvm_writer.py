"""LLVM IR with control flow: loops, conditions, and the floating-point status around arithmetic on unused lanes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tauforge.kernels.cpu.host import Host
from tauforge.kernels.cpu.llvm_text import Code

ALIGNMENT = 64  # bytes, of tables and scratch memory


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


def save_status(code: Code, host: Host) -> str:
    """Save the floating-point status, so that unused lanes raise no warnings."""
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
