"""The body of a function in C99: its dialect, the statements of a graph, and how much stack they take.

Nothing of a library is needed but a square root: magnitudes and signs are set in the bits. In a freestanding
environment the root is our own, unless the user names an instruction by a macro.

A compiler may give every value a place of its own on the stack, and without optimisation it does. A function with many
values is therefore written as several parts, each a function that is not inlined. Values that later parts need are
kept in an array, whose places are used again. The stack is then at most that array, the values of the largest part and
a frame of an elementary function, whatever the compiler does within a part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tauforge.kernels.c_common import Dialect, Statements, literal, number_type
from tauforge.kernels.scheduling import least_crowded, nan_probes
from tauforge.tracing.graph import Graph

STATIC_PREFIX = "tf_"  # of functions that are seen in their own file only
NAN_BITS = {64: "0x7FF8000000000000ULL", 32: "0x7FC00000U"}
INTEGER = {64: "uint64_t", 32: "uint32_t"}
# what a root is made from: the first guess of 1 / sqrt(x) from its bits, the steps of Newton's method that double the
# digits of it, and a scale for numbers so small that their bits are fewer
FIRST_GUESS = {64: "0x5FE6EB50C7B537A9ULL", 32: "0x5F375A86U"}
NEWTON_STEPS = {64: 4, 32: 3}
SMALL_SCALES = {64: ("1e-290", "0x1p200", "0x1p-100"), 32: ("1e-32f", "0x1p40f", "0x1p-20f")}


def dialect(prefix: str) -> Dialect:
    """C99 without fused steps. prefix: of the robot's functions, whose macro for roots has its name"""
    own = {name: f"{STATIC_PREFIX}{name}" for name in ("fabs", "copysign", "select", "bits", "number")}
    calls = {bits: {**own, "sqrt": root_macro(prefix)} for bits in (64, 32)}
    nan = {bits: f"{STATIC_PREFIX}number({NAN_BITS[bits]})" for bits in (64, 32)}
    return Dialect(STATIC_PREFIX, f"static {STATIC_PREFIX.upper()}APART", False, calls, nan, INTEGER)


def root_macro(prefix: str) -> str:
    return f"{prefix.upper()}_SQRT"


def used(name: str, text: str) -> bool:
    return f"{STATIC_PREFIX}{name}(" in text


def preamble(prefix: str, bits: int, text: str) -> str:
    """Definitions of the small functions that `text` calls, and of no others."""
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
    words = [_punned(name, number, integer) for name in ("bits", "number") if used(name, needed)]
    return "".join(f"static inline {part}\n" for part in (*words, *parts)) + root


def _punned(asked: str, number: str, integer: str) -> str:
    given, source, target = ("number", number, integer) if asked == "bits" else ("bits", integer, number)
    return (
        f"{target} tf_{asked}({source} x)\n{{\n"
        f"    union {{ {number} number; {integer} bits; }} word;\n"
        f"    word.{given} = x;\n    return word.{asked};\n}}\n"
    )


def _root(prefix: str, bits: int) -> str:
    """The macro for roots: that of <math.h>, or our own where there is no library."""
    macro, number, integer = root_macro(prefix), number_type(bits), INTEGER[bits]
    f = "" if bits == 64 else "f"
    small, up, down = SMALL_SCALES[bits]
    steps = "".join(f"    y = y * (1.5{f} - half * y * y);\n" for _ in range(NEWTON_STEPS[bits]))
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


MOST_VALUES = 512  # of one part: more are compiled slowly, for fewer the array between parts is used more often
VALUE_NAMES = re.compile(r"\b[vsc]\d+\b")
DEFINED = re.compile(r"^(?:const \w+ (v\d+) =|\w+ (s\d+), (c\d+);)")
FRAME_BYTES = 160  # bytes of return addresses, saved registers and alignment of one frame, generously
POINTER_BYTES = 8


class ArrayElement(NamedTuple):
    """One number of an array parameter."""

    parameter: str
    k: int

    def __str__(self) -> str:
        return f"{self.parameter}[{self.k}]"


class FunctionBody(NamedTuple):
    """parts:   definitions of functions that the body calls
    lines:   the statements of the body
    called:  elementary functions that it needs
    stack:   bytes, at most
    waiting: the most values that wait for their last use at one time
    """

    parts: list[str]
    lines: list[str]
    called: set[str]
    stack: int
    waiting: int


class Statement(NamedTuple):
    text: str
    defines: tuple[str, ...]
    needs: frozenset[str]


def body(
    name: str, graph: Graph, inputs: Mapping[str, ArrayElement], outputs: Sequence[ArrayElement], prefix: str, bits: int
) -> FunctionBody:
    """inputs: where each input of the graph is, by its name; outputs: where the results go, in order."""
    graph = least_crowded(graph)
    made = Statements(graph, {key: str(place) for key, place in inputs.items()}, dialect(prefix), bits)
    code = [_statement(line) for line in made.lines]
    results = made.outputs()
    seen = nan_probes(graph, list(inputs))
    guard = [str(inputs[key]) for key in seen.inputs]
    parameters = list(dict.fromkeys(p.parameter for p in (*inputs.values(), *outputs)))
    number, size, waiting = number_type(bits), bits // 8, _most_waiting(code, results)
    frame = FRAME_BYTES + 2 * POINTER_BYTES * (len(parameters) + 1)
    elementary = FRAME_BYTES + size * max((ELEMENTARY_VALUES[key] for key in made.called), default=0)
    loaded = sum(node.op == "input" for node in graph.nodes)
    if len(code) - loaded <= MOST_VALUES:
        poison = _poison([*(f"({results[k]})" for k in seen.outputs), *guard], number, bits)
        stores = [f"{place} = {value} + poison;" for place, value in zip(outputs, results, strict=True)]
        used = size * (len(code) + len(outputs) + 2)
        return FunctionBody(
            [], [*(s.text for s in code), poison, *stores], made.called, used + frame + elementary, waiting
        )
    split = _Parts(name, code, dict(zip(map(str, outputs), results, strict=True)), inputs, outputs, number)
    poison = _poison([*(str(outputs[k]) for k in seen.outputs), *guard], number, bits)
    lines = [f"{number} work[{split.slots}];", *split.calls, poison]
    lines += [f"{place} = {place} + poison;" for place in outputs]
    own = size * (split.slots + len(outputs) + 2)
    stack = own + 2 * frame + size * split.largest + elementary
    return FunctionBody(split.definitions, lines, made.called, stack, waiting)


# values in the body of an elementary function, at most; a test counts them
ELEMENTARY_VALUES = {"sincos": 56, "tanh": 48, "atan2": 48}


def _statement(text: str) -> Statement:
    found = DEFINED.match(text)
    assert found is not None, text
    defines = tuple(name for name in found.groups() if name)
    return Statement(text, defines, frozenset(VALUE_NAMES.findall(text)) - set(defines))


def _most_waiting(code: Sequence[Statement], results: Sequence[str]) -> int:
    last = {name: k for k, statement in enumerate(code) for name in (*statement.defines, *statement.needs)}
    last |= {name: len(code) for text in results for name in VALUE_NAMES.findall(text)}
    ends = [0] * (len(code) + 1)
    for place in last.values():
        ends[place] += 1
    now = most = 0
    for k, statement in enumerate(code):
        now += len(statement.defines)
        most = max(most, now)
        now -= ends[k]
    return most


def _poison(terms: Sequence[str], number: str, bits: int) -> str:
    """0 where every term is finite, else NaN."""
    zero, total = literal(0.0, bits), " + ".join(terms)
    return f"const {number} poison = {zero} * ({total});" if terms else f"const {number} poison = {zero};"


class _Parts:
    """The statements in parts, and the array between them.

    definitions: of the parts; calls: statements that run them; slots: of the array; largest: values of one part
    """

    def __init__(
        self,
        name: str,
        code: Sequence[Statement],
        results: Mapping[str, str],
        inputs: Mapping[str, ArrayElement],
        outputs: Sequence[ArrayElement],
        number: str,
    ) -> None:
        places = {str(place) for place in inputs.values()}
        loads = {s.defines[0]: s.text for s in code if s.text.split(" = ")[-1].rstrip(";") in places}
        rest = [s for s in code if s.defines[0] not in loads]
        parts = [rest[k : k + MOST_VALUES] for k in range(0, len(rest), MOST_VALUES)]
        home = {name: k for k, part in enumerate(parts) for s in part for name in s.defines}
        wanted: dict[str, int] = {}  # the last part that needs a value of an earlier one
        for k, part in enumerate(parts):
            for name_ in (x for s in part for x in s.needs):
                if home.get(name_, k) < k:
                    wanted[name_] = k
        stores: list[list[str]] = [[] for _ in parts]
        for place, value in results.items():
            needs = VALUE_NAMES.findall(value)
            at = home.get(needs[0], len(parts) - 1) if needs else len(parts) - 1
            stores[at].append(f"{place} = {value};")
        slot = self._slots(parts, wanted)
        self.definitions, self.calls, self.largest = [], [], 0
        given = list(dict.fromkeys(p.parameter for p in inputs.values()))
        taken = list(dict.fromkeys(p.parameter for p in outputs))
        for k, part in enumerate(parts):
            own = {x for s in part for x in s.defines}
            needs_ = {x for s in part for x in s.needs} | {x for text in stores[k] for x in VALUE_NAMES.findall(text)}
            earlier = sorted(needs_ - own, key=_order)
            lines = [loads[x] for x in earlier if x in loads]
            lines += [f"const {number} {x} = work[{slot[x]}];" for x in earlier if x not in loads]
            lines += [s.text for s in part] + stores[k]
            lines += [f"work[{slot[x]}] = {x};" for s in part for x in s.defines if x in slot]
            text = " ".join(lines)
            read, written = _named(given, text), _named([*taken, "work"], text)
            typed = [f"const {number} *restrict {x}" for x in read]
            constant = "" if any(line.startswith("work[") for line in lines) else "const "
            typed += [f"{constant if x == 'work' else ''}{number} *restrict {x}" for x in written]
            head = f"static TF_APART void {STATIC_PREFIX}{name}_{k + 1}({', '.join(typed)})"
            self.definitions.append(f"{head}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n")
            self.calls.append(f"{STATIC_PREFIX}{name}_{k + 1}({', '.join((*read, *written))});")
            self.largest = max(self.largest, len(own | needs_))

    def _slots(self, parts: Sequence[Sequence[Statement]], wanted: Mapping[str, int]) -> dict[str, int]:
        """A place in the array for every value that a later part needs, free again after the last that does."""
        slot: dict[str, int] = {}
        free: list[int] = []
        self.slots = 0
        for k, part in enumerate(parts):
            free += [slot[x] for x in slot if wanted[x] == k]
            for x in (x for s in part for x in s.defines if x in wanted):
                if not free:
                    free.append(self.slots)
                    self.slots += 1
                slot[x] = free.pop()
        self.slots = max(self.slots, 1)
        return slot


def _named(arrays: Sequence[str], text: str) -> list[str]:
    return [name for name in arrays if re.search(rf"\b{name}\[", text)]


def _order(name: str) -> tuple[int, str]:
    """By number; a sine and a cosine may have the same."""
    return int(name[1:]), name
