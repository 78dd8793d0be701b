"""What a target writes for the operations of a graph: the one vocabulary of LLVM, CUDA C and C99.

Values are texts: names or constants of the target's language. A kernel's statements and the elementary functions are
written once, in these words.
"""

from __future__ import annotations

import math
import struct
from typing import Protocol


class Arithmetic(Protocol):
    """Numbers of 32 or 64 bits: one, or a vector of them.

    fused: whether `fma` rounds once; otherwise it is a product and a sum
    """

    bits: int
    fused: bool

    def constant(self, value: float) -> str: ...

    def operation(self, op: str, a: str, b: str) -> str:
        """add, sub, mul or div; a product and a sum may fuse."""

    def exactly(self, op: str, a: str, b: str) -> str:
        """As `operation`, for steps that rely on their rounding."""

    def negated(self, a: str) -> str: ...

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c."""

    def intrinsic(self, name: str, *arguments: str) -> str:
        """sqrt, fabs or copysign."""

    def reciprocal(self, x: str) -> str: ...

    def reciprocal_root(self, x: str) -> str: ...

    def compare(self, how: str, a: str, b: str) -> str:
        """A truth value: olt, ogt, oeq, or ugt, which is also true for NaN."""

    def select(self, mask: str, a: str, b: str) -> str: ...

    def integer_constant(self, value: int) -> str: ...

    def integer_operation(self, op: str, a: str, b: str) -> str:
        """add, sub, and, xor or shl, of integers with as many bits as the numbers."""

    def is_odd(self, integer: str) -> str: ...

    def as_integers(self, a: str) -> str:
        """The bits of the numbers."""

    def as_numbers(self, a: str) -> str: ...


def to_single(x: float) -> float:
    """Rounded to float32; infinite beyond its range."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)
