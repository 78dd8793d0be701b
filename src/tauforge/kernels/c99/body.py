"""The body of a function in C: the statements of its graph, in parts where they are many, and how much stack they take.

A compiler may give every value a place of its own on the stack, and without optimisation it does. A function with many
values is therefore written as several parts, each a function that is not inlined. Values that later parts need are
kept in an array, whose places are used again. The stack is then at most that array, the values of the largest part and
a frame of an elementary function, whatever the compiler does within a part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tauforge.kernels.c99.dialect import PREFIX, dialect
from tauforge.kernels.c_source.numbers import literal, number_type
from tauforge.kernels.c_source.statements import Statements
from tauforge.tracing.graph import Graph
from tauforge.tracing.ordering import least_crowded
from tauforge.tracing.witnesses import witnesses

MOST_VALUES = 512  # of one part: more are compiled slowly, for fewer the array between parts is used more often
NAMES = re.compile(r"\b[vsc]\d+\b")
DEFINED = re.compile(r"^(?:const \w+ (v\d+) =|\w+ (s\d+), (c\d+);)")
FRAME = 160  # bytes of return addresses, saved registers and alignment of one frame, generously
POINTER = 8


class Place(NamedTuple):
    """One number of an array parameter."""

    parameter: str
    k: int

    def __str__(self) -> str:
        return f"{self.parameter}[{self.k}]"


class Body(NamedTuple):
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
    name: str,
    graph: Graph,
    inputs: Mapping[str, Place],
    outputs: Sequence[Place],
    prefix: str,
    bits: int,
) -> Body:
    """inputs: where each input of the graph is, by its name; outputs: where the results go, in order."""
    graph = least_crowded(graph)
    made = Statements(graph, {key: str(place) for key, place in inputs.items()}, dialect(prefix), bits, PREFIX)
    code = [_statement(line) for line in made.lines]
    results = made.outputs()
    seen = witnesses(graph, list(inputs))
    guard = [str(inputs[key]) for key in seen.inputs]
    parameters = list(dict.fromkeys(p.parameter for p in (*inputs.values(), *outputs)))
    number, size, waiting = number_type(bits), bits // 8, _most_waiting(code, results)
    frame = FRAME + 2 * POINTER * (len(parameters) + 1)
    elementary = FRAME + size * max((LINES[key] for key in made.called), default=0)
    loaded = sum(node.op == "input" for node in graph.nodes)
    if len(code) - loaded <= MOST_VALUES:
        poison = _poison([*(f"({results[k]})" for k in seen.outputs), *guard], number, bits)
        stores = [f"{place} = {value} + poison;" for place, value in zip(outputs, results, strict=True)]
        used = size * (len(code) + len(outputs) + 2)
        return Body([], [*(s.text for s in code), poison, *stores], made.called, used + frame + elementary, waiting)
    split = _Parts(name, code, dict(zip(map(str, outputs), results, strict=True)), inputs, outputs, number)
    poison = _poison([*(str(outputs[k]) for k in seen.outputs), *guard], number, bits)
    lines = [f"{number} work[{split.slots}];", *split.calls, poison]
    lines += [f"{place} = {place} + poison;" for place in outputs]
    own = size * (split.slots + len(outputs) + 2)
    stack = own + 2 * frame + size * split.largest + elementary
    return Body(split.definitions, lines, made.called, stack, waiting)


LINES = {"sincos": 56, "tanh": 48, "atan2": 48}  # values of the elementary functions, at most (a test counts them)


def _statement(text: str) -> Statement:
    found = DEFINED.match(text)
    assert found is not None, text
    defines = tuple(name for name in found.groups() if name)
    return Statement(text, defines, frozenset(NAMES.findall(text)) - set(defines))


def _most_waiting(code: Sequence[Statement], results: Sequence[str]) -> int:
    last = {name: k for k, statement in enumerate(code) for name in (*statement.defines, *statement.needs)}
    last |= {name: len(code) for text in results for name in NAMES.findall(text)}
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
        inputs: Mapping[str, Place],
        outputs: Sequence[Place],
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
            needs = NAMES.findall(value)
            at = home.get(needs[0], len(parts) - 1) if needs else len(parts) - 1
            stores[at].append(f"{place} = {value};")
        slot = self._slots(parts, wanted)
        self.definitions, self.calls, self.largest = [], [], 0
        given = list(dict.fromkeys(p.parameter for p in inputs.values()))
        taken = list(dict.fromkeys(p.parameter for p in outputs))
        for k, part in enumerate(parts):
            own = {x for s in part for x in s.defines}
            needs_ = {x for s in part for x in s.needs} | {x for text in stores[k] for x in NAMES.findall(text)}
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
            head = f"static TF_APART void {PREFIX}{name}_{k + 1}({', '.join(typed)})"
            self.definitions.append(f"{head}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n")
            self.calls.append(f"{PREFIX}{name}_{k + 1}({', '.join((*read, *written))});")
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
