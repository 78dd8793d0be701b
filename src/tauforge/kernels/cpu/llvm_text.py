"""LLVM IR as source: lines with fresh names, control flow, and the arithmetic of vectors of one type."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tauforge.kernels.arithmetic import horner, to_single
from tauforge.kernels.cpu.engine import Host

MAY_FUSE = "contract"  # a multiplication and an addition may fuse; nothing else may be reordered


class Code:
    """Lines of one function. `emit` returns the name of the new value."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self._count = 0

    def emit(self, text: str) -> str:
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def at(self, base: str, bytes_: int | str) -> str:
        """A pointer this many bytes further."""
        return base if bytes_ == 0 else self.emit(f"getelementptr i8, ptr {base}, i64 {bytes_}")


class Vectors:
    """Operations on `lanes` numbers of 32 or 64 bits (`kernels.arithmetic.Arithmetic`)."""

    fused = True

    def __init__(self, code: Code, bits: int, lanes: int, *, avx512: bool) -> None:
        self.code, self.bits, self.lanes, self.avx512 = code, bits, lanes, avx512
        self.itemsize = bits // 8
        self.number = "double" if bits == 64 else "float"
        self.integer = f"i{bits}"
        self.type = f"<{lanes} x {self.number}>"
        self.integers = f"<{lanes} x {self.integer}>"
        self.mask = f"<{lanes} x i1>"

    @property
    def bytes(self) -> int:
        return self.lanes * self.itemsize

    def constant(self, value: float) -> str:
        return f"splat ({self.number} {literal(value, self.bits)})"

    def integer_constant(self, value: int) -> str:
        return f"splat ({self.integer} {value})"

    def operation(self, op: str, a: str, b: str, flags: str = MAY_FUSE) -> str:
        return self.code.emit(f"f{op} {flags} {self.type} {a}, {b}")

    def exactly(self, op: str, a: str, b: str) -> str:
        """Without fusing, for steps that rely on their rounding."""
        return self.operation(op, a, b, flags="")

    def negated(self, a: str) -> str:
        return self.code.emit(f"fneg {self.type} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        return self.intrinsic("fma", a, b, c)

    def intrinsic(self, name: str, *arguments: str) -> str:
        full = f"@llvm.{name}.v{self.lanes}f{self.bits}"
        self.code.declarations.add(f"declare {self.type} {full}({', '.join([self.type] * len(arguments))})")
        return self.code.emit(f"call {self.type} {full}({', '.join(f'{self.type} {a}' for a in arguments)})")

    def reciprocal(self, x: str) -> str:
        """1 / x to the last bit or two. With AVX-512 Newton's steps correct the 14-bit estimate; it is NaN for 0."""
        if not self.avx512:
            return self.operation("div", self.constant(1.0), x)
        y = self.estimate("rcp14", x)
        minus_x = self.negated(x)
        for _ in range(2 if self.bits == 64 else 1):
            y = self.fma(y, self.fma(minus_x, y, self.constant(1.0)), y)
        return y

    def reciprocal_root(self, x: str) -> str:
        """1 / sqrt(x) to the last bit or two. With AVX-512 a series corrects the estimate, and the result is NaN for 0.

        With e = 1 - x y^2 it is y (1 + e/2 + 3/8 e^2 + ...), and |e| < 2^-13.
        """
        if not self.avx512:
            return self.operation("div", self.constant(1.0), self.intrinsic("sqrt", x))
        y = self.estimate("rsqrt14", x)
        e = self.fma(self.negated(self.exactly("mul", x, y)), y, self.constant(1.0))
        terms = (0.5, 0.375, 0.3125, 0.2734375) if self.bits == 64 else (0.5, 0.375)
        series = horner(self, terms, e)
        return self.fma(self.exactly("mul", y, e), series, y)

    def estimate(self, name: str, x: str) -> str:
        """An AVX-512 instruction that is accurate to 14 bits."""
        full = f"@llvm.x86.avx512.{name}.{'pd' if self.bits == 64 else 'ps'}.512"
        mask = "i8" if self.bits == 64 else "i16"
        self.code.declarations.add(f"declare {self.type} {full}({self.type}, {self.type}, {mask})")
        return self.code.emit(f"call {self.type} {full}({self.type} {x}, {self.type} {x}, {mask} -1)")

    def integer_operation(self, op: str, a: str, b: str) -> str:
        return self.code.emit(f"{op} {self.integers} {a}, {b}")

    def is_odd(self, integer: str) -> str:
        one = self.integer_operation("and", integer, self.integer_constant(1))
        return self.code.emit(f"icmp ne {self.integers} {one}, zeroinitializer")

    def as_integers(self, a: str) -> str:
        return self.code.emit(f"bitcast {self.type} {a} to {self.integers}")

    def as_numbers(self, a: str) -> str:
        return self.code.emit(f"bitcast {self.integers} {a} to {self.type}")

    def compare(self, how: str, a: str, b: str) -> str:
        return self.code.emit(f"fcmp {how} {self.type} {a}, {b}")

    def any_beyond(self, value: str, limit: float) -> str:
        """A truth value: is the magnitude in any lane not below the limit?"""
        beyond = self.compare("uge", self.intrinsic("fabs", value), self.constant(limit))
        bits = self.code.emit(f"bitcast {self.mask} {beyond} to i{self.lanes}")
        return self.code.emit(f"icmp ne i{self.lanes} {bits}, 0")

    def select(self, mask: str, a: str, b: str) -> str:
        return self.code.emit(f"select {self.mask} {mask}, {self.type} {a}, {self.type} {b}")

    def shuffle(self, a: str, b: str, picks: Sequence[int]) -> str:
        return shuffle(self.code, self.type, a, b, picks)

    def load(self, pointer: str, *, aligned: bool) -> str:
        return self.code.emit(f"load {self.type}, ptr {pointer}, align {self.bytes if aligned else self.itemsize}")

    def store(self, value: str, pointer: str, *, aligned: bool) -> None:
        self.code.do(f"store {self.type} {value}, ptr {pointer}, align {self.bytes if aligned else self.itemsize}")


def shuffle(code: Code, kind: str, a: str, b: str, picks: Sequence[int]) -> str:
    indices = ", ".join(f"i32 {k}" for k in picks)
    return code.emit(f"shufflevector {kind} {a}, {kind} {b}, <{len(picks)} x i32> <{indices}>")


def literal(value: float, bits: int) -> str:
    """A number as LLVM writes it: the hexadecimal image of a double, rounded to float first if need be."""
    rounded = value if bits == 64 else to_single(value)
    return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"


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
    space = code.emit("alloca i32, align 4" if host.x86 else "alloca [64 x i8], align 16")
    _call_with(code, host, space, "stmxcsr", "fegetenv")
    return space


def restore_status(code: Code, host: Host, space: str) -> None:
    _call_with(code, host, space, "ldmxcsr", "fesetenv")


def _call_with(code: Code, host: Host, space: str, instruction: str, function: str) -> None:
    """The instruction of x86, or the function of C that other processors need."""
    if host.x86:
        code.declarations.add(f"declare void @llvm.x86.sse.{instruction}(ptr)")
        code.do(f"call void @llvm.x86.sse.{instruction}(ptr {space})")
    else:
        code.declarations.add(f"declare i32 @{function}(ptr)")
        code.emit(f"call i32 @{function}(ptr {space})")
