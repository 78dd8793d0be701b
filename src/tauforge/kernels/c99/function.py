"""One function as C: names and comments that C accepts, its signature and its definition."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.kernels.arithmetic import to_single
from tauforge.kernels.c99.body import ArrayElement, FunctionBody, body
from tauforge.kernels.c_common import number_type
from tauforge.kernels.specification import Shape, Specification
from tauforge.tracing.counting import count
from tauforge.tracing.graph import Graph, without_dead_code

# words of C99, those that later versions added, and those of C++, because the header serves both
C_WORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await co_return co_yield
    compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend
    module mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid typename
    typeof using virtual wchar_t xor xor_eq main errno"""
KEYWORDS = frozenset(C_WORDS.split())
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
MAX_PREFIX_LENGTH = 40  # C99 promises 31 significant characters of names that other files see, compilers many more
RESERVED_NAMES = re.compile(r"[vsc]\d+|tf_.*|work|poison")  # names that the generated code uses itself


def check_prefix(prefix: object) -> str:
    """The prefix, if files and functions of C can begin with it."""
    if not isinstance(prefix, str) or not IDENTIFIER.fullmatch(prefix) or "__" in prefix:
        problem = f"expected letters, digits and single underscores, a letter first, got {prefix!r}"
        raise ModelError(problem, field="prefix", remedy="Give a name such as 'my_arm'")
    if prefix.lower() in KEYWORDS:
        raise ModelError(f"{prefix!r} is a word of C or C++", field="prefix", remedy="Give another name")
    if RESERVED_NAMES.fullmatch(prefix):
        raise ModelError(f"{prefix!r} is used inside the generated code", field="prefix", remedy="Give another name")
    if len(prefix) > MAX_PREFIX_LENGTH:
        raise ModelError(f"expected at most {MAX_PREFIX_LENGTH} characters, got {len(prefix)}", field="prefix")
    return prefix


def prefix_of(name: str) -> str:
    """A prefix from a robot's name, such as puma560_armstrong from puma560-armstrong."""
    words = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", name)).strip("_")[:MAX_PREFIX_LENGTH].rstrip("_")
    if not words or not words[0].isalpha() or words.lower() in KEYWORDS or RESERVED_NAMES.fullmatch(words):
        words = f"robot_{words}"[:MAX_PREFIX_LENGTH].rstrip("_")
    return words


def parameter(name: str) -> str:
    """The argument's name, or with an underscore after it where C or our own code has another use for the word."""
    plain = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", name)).strip("_") or "x"
    return f"{plain}_" if not plain[0].isalpha() or plain in KEYWORDS or RESERVED_NAMES.fullmatch(plain) else plain


def comment_text(text: str) -> str:
    """A text in one line that cannot end a comment, join lines or be anything but ASCII: names come from files."""
    shown = "".join(c if 32 <= ord(c) < 127 else ("?" if ord(c) > 126 else " ") for c in text)
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").rstrip("\\ ")


MAX_OPERATIONS = 40_000  # gcc takes about 10 s for so many
COMMENT_WIDTH = 110


class Array(NamedTuple):
    """A parameter: an array of numbers, row by row."""

    name: str
    core: Shape
    meaning: str

    @property
    def numbers(self) -> int:
        return math.prod(self.core)

    @property
    def shown(self) -> str:
        """Such as q[6], or M[36] (6 x 6, row by row)."""
        rows = f" ({' x '.join(map(str, self.core))}, row by row)" if len(self.core) > 1 else ""
        return f"{self.name}[{self.numbers}]{rows}"


class Described(NamedTuple):
    """Texts about a function that its specification does not have.

    summary:   what it computes, a paragraph
    arguments: what each argument means
    results:   names and meanings
    notes:     further paragraphs
    """

    summary: str
    arguments: Sequence[str]
    results: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()


class CFunction:
    """A specification as C in one precision, without the doubt of guarded functions."""

    def __init__(self, specification: Specification, described: Described, prefix: str, bits: int) -> None:
        self.name, self.prefix, self.bits = specification.name, prefix, bits
        if not IDENTIFIER.fullmatch(self.name):
            raise UnsupportedFeatureError(f"{self.name!r} is no name of a function in C", field="functions")
        self.c_name = f"{prefix}_{specification.name}"
        self.described, self.number = described, number_type(bits)
        self.graph = without_doubt(specification)
        check_graph(self.name, self.graph, bits)
        taken: set[str] = set()
        # C has no arrays without numbers: forces of a mechanism without actuators
        given = [
            (name, core, meaning)
            for (name, core), meaning in zip(specification.arguments, described.arguments, strict=True)
            if math.prod(core)
        ]
        self.arguments = [Array(_unique(name, taken), core, meaning) for name, core, meaning in given]
        self.results = [
            Array(_unique(name, taken), core, meaning)
            for (name, meaning), core in zip(described.results, specification.results, strict=True)
            if math.prod(core)
        ]
        inputs = {
            f"{name}{k}": ArrayElement(array.name, k)
            for (name, _, _), array in zip(given, self.arguments, strict=True)
            for k in range(array.numbers)
        }
        outputs = [ArrayElement(array.name, k) for array in self.results for k in range(array.numbers)]
        self.body: FunctionBody = body(self.name, self.graph, inputs, outputs, prefix, bits)

    @property
    def signature(self) -> str:
        restrict = f"{self.prefix.upper()}_RESTRICT"
        given = [f"const {self.number} {a.name}[{restrict} {a.numbers}]" for a in self.arguments]
        given += [f"{self.number} {a.name}[{restrict} {a.numbers}]" for a in self.results]
        head = f"void {self.c_name}("
        return head + f",\n{' ' * len(head)}".join(given) + ")"

    @property
    def definition(self) -> str:
        lines = "".join(f"    {line}\n" for line in self.body.lines)
        return "\n".join((*self.body.parts, f"{self.signature}\n{{\n{lines}}}\n"))

    def comment(self, more: Sequence[str]) -> str:
        """The comment before the declaration in the header."""
        cost = count(self.graph)
        parts = [f"{cost.multiplications} multiplications", f"{cost.additions} additions"]
        others = (cost.divisions, "divisions"), (cost.roots, "square roots"), (cost.sincos, "sines and cosines")
        parts += [f"{number} {name}" for number, name in others if number]
        lines = [self.described.summary]
        lines += [f"{a.shown}: {a.meaning}" for a in self.arguments]
        lines += [f"{a.shown}, written: {a.meaning}" if a.meaning else f"{a.shown}, written" for a in self.results]
        lines += [f"Operations: {', '.join(parts)}."]
        lines += [
            f"Stack: at most {self.body.stack} bytes; {self.body.waiting * self.bits // 8} bytes of values wait at the"
            " same time, which is about what an optimising compiler needs."
        ]
        return block(*lines, *self.described.notes, *more)


def without_doubt(specification: Specification) -> Graph:
    graph, guarded = specification.graph, specification.doubt_limit is not None
    return without_dead_code(graph.nodes, graph.outputs[:-1]) if guarded else graph


def check_graph(name: str, graph: Graph, bits: int) -> None:
    if len(graph.nodes) > MAX_OPERATIONS:
        problem = f"{name} has {len(graph.nodes)} operations, and at most {MAX_OPERATIONS} are written as C"
        raise UnsupportedFeatureError(problem, field="functions", remedy="Leave it out")
    chosen = {k for node in graph.nodes if node.op == "select" for k in node.args[2:]}  # NaN, where there is no answer
    numbers = {k: node.value if bits == 64 else to_single(node.value) for k, node in enumerate(graph.nodes)}
    if any(math.isinf(x) or (math.isnan(x) and k not in chosen) for k, x in numbers.items()):
        problem = f"{name} has a constant that is not a finite number of {bits} bits"
        remedy = "Use other units in the model" if bits == 64 else "Use float64"
        raise UnsupportedFeatureError(problem, field="dtype", remedy=remedy)


def block(*paragraphs: str) -> str:
    """A comment, wrapped."""
    lines = []
    for paragraph in paragraphs:
        text = comment_text(paragraph)
        wrapped = textwrap.wrap(text, COMMENT_WIDTH, subsequent_indent="    ", break_long_words=False)
        lines += [f" * {comment_text(line)}" for line in wrapped]
    return "/*\n" + "\n".join(lines) + "\n */\n"


def _unique(name: str, taken: set[str]) -> str:
    """A parameter's name that no other has: a result may be called like an argument."""
    found = parameter(name)
    while found in taken:
        found = f"{found}_out"
    taken.add(found)
    return found
