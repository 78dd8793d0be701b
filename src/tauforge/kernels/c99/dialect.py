"""C99 as a dialect of generated C, and the small functions that its statements need.

Nothing of a library is needed but a square root: magnitudes and signs are set in the bits. In a freestanding
environment the root is our own, unless the user names an instruction by a macro.
"""

from __future__ import annotations

from tauforge.kernels.c_source.numbers import Dialect, number_type

PREFIX = "tf_"  # of functions that are seen in their own file only
NAN_BITS = {64: "0x7FF8000000000000ULL", 32: "0x7FC00000U"}
INTEGER = {64: "uint64_t", 32: "uint32_t"}
# what a root is made from: the first guess of 1 / sqrt(x) from its bits, the steps of Newton's method that double the
# digits of it, and a scale for numbers so small that their bits are fewer
FIRST_GUESS = {64: "0x5FE6EB50C7B537A9ULL", 32: "0x5F375A86U"}
STEPS = {64: 4, 32: 3}
SMALL = {64: ("1e-290", "0x1p200", "0x1p-100"), 32: ("1e-32f", "0x1p40f", "0x1p-20f")}


def dialect(prefix: str) -> Dialect:
    """C99 without fused steps. prefix: of the robot's functions, whose macro for roots has its name"""
    own = {name: f"{PREFIX}{name}" for name in ("fabs", "copysign", "select", "bits", "number")}
    calls = {bits: {**own, "sqrt": root_macro(prefix)} for bits in (64, 32)}
    nan = {bits: f"{PREFIX}number({NAN_BITS[bits]})" for bits in (64, 32)}
    return Dialect(f"static {PREFIX.upper()}APART", False, calls, nan, INTEGER)


def root_macro(prefix: str) -> str:
    return f"{prefix.upper()}_SQRT"


def used(name: str, text: str) -> bool:
    return f"{PREFIX}{name}(" in text


def preamble(prefix: str, bits: int, text: str) -> str:
    """What the generated functions in `text` call; nothing that they do not."""
    number, integer = number_type(bits), INTEGER[bits]
    suffix = "ULL" if bits == 64 else "U"
    sign = f"0x{1 << (bits - 1):X}{suffix}"
    parts = []
    if used("fabs", text):
        parts.append(f"{number} tf_fabs({number} x)\n{{\n    return tf_number(tf_bits(x) & ~{sign});\n}}\n")
    if used("copysign", text):
        copied = f"tf_number((tf_bits(x) & ~{sign}) | (tf_bits(y) & {sign}))"
        parts.append(f"{number} tf_copysign({number} x, {number} y)\n{{\n    return {copied};\n}}\n")
    if used("select", text):  # compilers make branches of ?:, and then the time depends on the state
        chosen = "tf_number((tf_bits(x) & mask) | (tf_bits(y) & ~mask))"
        mask = f"    const {integer} mask = ({integer})0 - ({integer})truth;\n"
        parts.append(f"{number} tf_select(int truth, {number} x, {number} y)\n{{\n{mask}    return {chosen};\n}}\n")
    root = _root(prefix, bits) if root_macro(prefix) in text else ""
    needed = "".join((text, root, *parts))
    words = []
    if used("bits", needed):
        words.append(_punned("bits", number, integer, "number", "bits"))
    if used("number", needed):
        words.append(_punned("number", integer, number, "bits", "number"))
    return "".join(f"static inline {part}\n" for part in (*words, *parts)) + root


def _punned(name: str, source: str, target: str, given: str, asked: str) -> str:
    number, integer = (source, target) if given == "number" else (target, source)
    return (
        f"{target} tf_{name}({source} x)\n{{\n"
        f"    union {{ {number} number; {integer} bits; }} word;\n"
        f"    word.{given} = x;\n    return word.{asked};\n}}\n"
    )


def _root(prefix: str, bits: int) -> str:
    """The macro for roots: that of <math.h>, or our own where there is no library."""
    macro, number, integer = root_macro(prefix), number_type(bits), INTEGER[bits]
    f = "" if bits == 64 else "f"
    small, up, down = SMALL[bits]
    steps = "".join(f"    y = y * (1.5{f} - half * y * y);\n" for _ in range(STEPS[bits]))
    return f"""#ifndef {macro}
#if __STDC_HOSTED__
#include <math.h>
#define {macro}(x) sqrt{f}(x)
#else
static TF_APART {number} tf_root({number} x)
{{
    const {number} scaled = x < {small} ? x * {up} : x;
    const {number} half = 0.5{f} * scaled;
    const {integer} guess = {FIRST_GUESS[bits]} - (tf_bits(scaled) >> 1);
    {number} y = tf_number(guess);
{steps}    const {number} first = scaled * y;
    const {number} root = first + 0.5{f} * y * (scaled - first * first);
    const {number} found = x < {small} ? root * {down} : root;
    return x > 0.0{f} ? found : (x < 0.0{f} ? tf_number({NAN_BITS[bits]}) : x);
}}
#define {macro}(x) tf_root(x)
#endif
#endif

"""
