"""Arithmetic on one number in C: every result is a constant with a name of its own."""

from __future__ import annotations

import math
from typing import NamedTuple

from tauforge.kernels.arithmetic import to_single

SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "xor": "^", "shl": "<<"}
COMPARISONS = {"olt": "{} < {}", "ogt": "{} > {}", "oeq": "{} == {}", "ugt": "!({} <= {})"}


class Dialect(NamedTuple):
    """What differs between the languages that are written as C.

    function:  begins the definition of a function that is called from other generated code
    fused:     whether there is an instruction for a b + c with one rounding
    calls:     the functions of the language by our names (fma, sqrt, fabs, copysign, bits, number), for 64 bits and for
               32; without rsqrt and reciprocal it divides, without select it uses ?:, which may branch
    nan:       an expression, for 64 bits and for 32
    integer:   an unsigned integer type, of 64 bits and of 32
    """

    function: str
    fused: bool
    calls: dict[int, dict[str, str]]
    nan: dict[int, str]
    integer: dict[int, str]


def number_type(bits: int) -> str:
    return "double" if bits == 64 else "float"


class CNumbers:
    """Statements of one function body (`kernels.arithmetic.Arithmetic`)."""

    def __init__(self, dialect: Dialect, bits: int) -> None:
        self.dialect, self.bits, self.fused = dialect, bits, dialect.fused
        self.type = number_type(bits)
        self.lines: list[str] = []
        self._names: dict[str, str] = {}

    def emit(self, expression: str, kind: str | None = None) -> str:
        """The name of a constant with this value. Equal expressions have one: sqrt(x) beside 1 / sqrt(x)."""
        name = self._names.get(expression)
        if name is None:
            name = self._names[expression] = f"v{len(self.lines)}"
            self.lines.append(f"const {kind or self.type} {name} = {expression};")
        return name

    def do(self, statement: str) -> None:
        self.lines.append(statement)

    def constant(self, value: float) -> str:
        return self.dialect.nan[self.bits] if math.isnan(value) else literal(value, self.bits)

    def operation(self, op: str, a: str, b: str) -> str:
        return self.emit(f"{a} {SYMBOLS[op]} {b}")

    def exactly(self, op: str, a: str, b: str) -> str:
        return self.operation(op, a, b)

    def negated(self, a: str) -> str:
        return self.emit(f"-{a}")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.intrinsic("fma", a, b, c) if self.fused else self.emit(f"{a} * {b} + {c}")

    def intrinsic(self, name: str, *arguments: str) -> str:
        return self.emit(f"{self.dialect.calls[self.bits][name]}({', '.join(arguments)})")

    def reciprocal(self, x: str) -> str:
        if "reciprocal" in self.dialect.calls[self.bits]:
            return self.intrinsic("reciprocal", x)
        return self.operation("div", self.constant(1.0), x)

    def reciprocal_root(self, x: str) -> str:
        if "rsqrt" in self.dialect.calls[self.bits]:
            return self.intrinsic("rsqrt", x)
        return self.reciprocal(self.intrinsic("sqrt", x))

    def compare(self, how: str, a: str, b: str) -> str:
        return COMPARISONS[how].format(a, b)

    def select(self, mask: str, a: str, b: str) -> str:
        if "select" in self.dialect.calls[self.bits]:
            return self.intrinsic("select", mask, a, b)
        return self.emit(f"({mask}) ? {a} : {b}")

    def integer_constant(self, value: int) -> str:
        suffix = "ULL" if self.bits == 64 else "U"
        return f"0x{value % (1 << self.bits):X}{suffix}"

    def integer_operation(self, op: str, a: str, b: str) -> str:
        return self.emit(f"{a} {SYMBOLS[op]} {b}", self.dialect.integer[self.bits])

    def is_odd(self, integer: str) -> str:
        return f"({integer} & {self.integer_constant(1)}) != 0"

    def as_integers(self, a: str) -> str:
        return self.emit(f"{self.dialect.calls[self.bits]['bits']}({a})", self.dialect.integer[self.bits])

    def as_numbers(self, a: str) -> str:
        return self.emit(f"{self.dialect.calls[self.bits]['number']}({a})")


def literal(value: float, bits: int) -> str:
    """A decimal constant that reads back equal."""
    if math.isinf(value):
        raise ValueError("a constant of the graph is infinite")
    if bits == 64:
        return repr(float(value))
    single = to_single(value)
    shortest = next(text for digits in range(1, 10) if to_single(float(text := f"{single:.{digits}g}")) == single)
    return f"{shortest if any(c in shortest for c in '.e') else shortest + '.0'}f"
