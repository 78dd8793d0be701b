"""Where a mutant is possible: one change of one expression, of the kinds that a reviewer fears.

A sign, a guard, an index, a comparison, a term, a constant, a limit, sin for cos. Only what changes a result is
changed, never a text.
"""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGES = (
    *("algebra", "formulations", "tracing", "kernels", "evaluation", "robots", "formats", "tables", "motion"),
    *("control", "simulation", "export", "analysis", "designs", "workspace", "sweeps", "viewer"),
)
# No verdict without a GPU or the libraries of the extras; and files that only make text.
UNJUDGED = re.compile(r"/cuda/|gpu_|cupy_|torch_|jax_|xla_|summary|_text\.py")
UNSEEN = re.compile(r"__(repr|str)__|_repr_\w+|summary\w*|describe\w*")  # functions that only make text
TURNED = {"sin": "cos", "cos": "sin"}
LIMITS = {"min", "max", "clip", "minimum", "maximum"}
STRICTER = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
OPPOSITE = {ast.Lt: ("<", ">="), ast.LtE: ("<=", ">"), ast.Gt: (">", "<="), ast.GtE: (">=", "<")}
MOST_IN_FILE = 2
TINY = 1e-3  # below it a constant is taken for a tolerance


@dataclass(frozen=True)
class Mutant:
    """One change: bytes start to end of the file become `new`; reached: places, also in bytes, that tell its use."""

    file: str
    line: int
    column: int
    kind: str
    text: str  # of its first line
    was: str
    new: str
    start: int
    end: int
    reached: tuple[tuple[int, int], ...]

    @property
    def key(self) -> str:
        """The same in sources whose lines have moved."""
        return f"{self.file}: {self.text} [{self.column}: {self.was} -> {self.new}]"

    @property
    def row(self) -> dict[str, str | int]:
        """What the list says of it."""
        return {"file": self.file, "line": self.line, "kind": self.kind, "key": self.key}

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]


class Places(ast.NodeVisitor):
    """All mutants of a file. Text, annotations, decorators, defaults and what is raised are left alone."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source, self.mutants = file, source, list[Mutant]()
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]
        self._uses: list[tuple[int, int]] | None = None  # of a constant of the module, which no test reaches itself
        self._lines = source.decode().splitlines()
        tree = ast.parse(source)
        self._loads: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)):
            for statement in _statements(function):
                for node in _without_text(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                        self._loads[node.id].append(self._span(node))
        for node in tree.body:
            self.visit(node)

    def _span(self, node: ast.expr) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _add(self, kind: str, node: ast.expr, new: str) -> None:
        start, end = self._span(node)
        reached = tuple(self._uses) if self._uses is not None else ((start, end),)
        column, text = node.col_offset, self._lines[node.lineno - 1]
        made = (self.file, node.lineno, column, kind, text.strip(), self._text(node), new, start, end, reached)
        self.mutants.append(Mutant(*made))

    def _operator(self, kind: str, node: ast.expr, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """Changes the operator between two operands of a node, whatever parentheses are around it."""
        start, _ = self._span(node)
        low, high = self._span(left)[1] - start, self._span(right)[0] - start
        whole = self.source[start : self._span(node)[1]]
        between = whole[low:high].replace(old.encode(), new.encode(), 1)
        self._add(kind, node, (whole[:low] + between + whole[high:]).decode())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if not UNSEEN.fullmatch(node.name):
            for statement in node.body:
                self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        if node.col_offset == 0:  # a constant of the module: its uses tell whether a test reaches it
            name = node.targets[0]
            self._uses = self._loads[name.id] if isinstance(name, ast.Name) else []
            if self._uses:
                self.visit(node.value)
            self._uses = None
        else:
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and node.col_offset:
            self.visit(node.value)

    def _left_alone(self, node: ast.AST) -> None:
        """Nothing in it is changed."""

    visit_Raise = visit_JoinedStr = visit_Match = visit_Assert = visit_Import = visit_ImportFrom = _left_alone

    def visit_If(self, node: ast.If) -> None:
        walrus = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test))
        leaves = isinstance(node.body[-1], ast.Raise | ast.Return | ast.Continue)
        if leaves and len(node.body) == 1 and not node.orelse and not walrus and _text_of(node.test) != "TYPE_CHECKING":
            self._add("guard", node.test, "False")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add | ast.Sub) and not any(_no_number(side) for side in (node.left, node.right)):
            old, new = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
            self._operator("sign", node, node.left, node.right, old, new)
            self._add("term", node, f"({self._text(node.left)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self._add("sign", node, f"({self._text(node.operand)})")
        else:
            self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._add("guard", node, "(" + self.source[self._span(node)[0] : self._span(node.values[-2])[1]].decode() + ")")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = (node.left, node.comparators[0])
        if len(node.ops) == 1 and type(node.ops[0]) in STRICTER:
            old, new = (STRICTER if any(map(_counts, sides)) else OPPOSITE)[type(node.ops[0])]
            self._operator("comparison", node, *sides, old, new)
        for side in sides:
            if not isinstance(side, ast.Constant):
                self.visit(side)

    def visit_Call(self, node: ast.Call) -> None:
        name = _text_of(node.func).rpartition(".")[2]
        if name.startswith("warn") or name.endswith(("Error", "Warning")) or _text_of(node.func).startswith("logging"):
            return
        if name in TURNED:
            self._add("sin/cos", node.func, self._text(node.func)[: -len(name)] + TURNED[name])
        plain = [part for part in node.args if not isinstance(part, ast.Constant | ast.Starred | ast.GeneratorExp)]
        if name in LIMITS and len(node.args) > 1 and plain:
            self._add("limit", node, f"({self._text(plain[0])})")
        if name == "range" and not isinstance(node.args[-1], ast.Constant):
            self._add("index", node.args[-1], f"({self._text(node.args[-1])}) - 1")
        for part in (node.func, *node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(part)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        parts = [node.slice.lower, node.slice.upper] if isinstance(node.slice, ast.Slice) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Constant) and isinstance(part.value, int):
                self._add("index", part, str(part.value + 1))
            elif part is not None:
                self.visit(part)
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, float) and node.value:
            self._add("constant", node, repr(node.value * (1000 if abs(node.value) < TINY else 2)))
        elif isinstance(node.value, int) and not isinstance(node.value, bool):
            self._add("constant", node, str(node.value + 1))


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements that run when a function does: bodies of functions, also of those in a class."""
    for part in getattr(node, "body", []):
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            yield from _statements(part)
        elif isinstance(node, ast.FunctionDef):
            yield part


def _without_text(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without f-strings and annotations."""
    yield node
    for name, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            plain = isinstance(part, ast.AST) and not isinstance(part, ast.JoinedStr)
            if plain and name not in ("annotation", "returns"):
                yield from _without_text(part)


def _text_of(node: ast.expr) -> str:
    return ast.unparse(node)


def _no_number(node: ast.expr) -> bool:
    """Texts, lists and tuples are joined by +, not added."""
    text = isinstance(node, ast.Constant) and not isinstance(node.value, int | float)
    joined = isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr)
    made = isinstance(node, ast.Call) and _text_of(node.func) in ("list", "tuple", "str", "repr", "sorted")
    joined |= _text_of(node).startswith(("'", '"'))
    return text or joined or made


def _counts(node: ast.expr) -> bool:
    """Whether an operand is a count, where < and <= differ; of measured numbers hardly any two are equal."""
    whole = isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value != 0
    return whole or _text_of(node).startswith("len(") or _text_of(node).endswith((".ndim", ".size"))


@cache
def mutants_of(file: str, source: bytes) -> tuple[Mutant, ...]:
    """Every mutant of a file."""
    return tuple(Places(file, source).mutants)


def chosen(seed: int, count: int, root: Path) -> list[Mutant]:
    """Mutants of all packages, in proportion to their places, of all kinds alike, at most one at a place."""
    draw = random.Random(seed)
    places: dict[str, dict[str, list[Mutant]]] = {package: defaultdict(list) for package in PACKAGES}
    for package in PACKAGES:
        for path in sorted((root / "src" / "tauforge" / package).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            for mutant in mutants_of(file, path.read_bytes()) if not UNJUDGED.search(file) else ():
                places[package][mutant.kind].append(mutant)
    total = sum(len(mutants) for kinds in places.values() for mutants in kinds.values())
    taken: list[Mutant] = []
    share = 0.0
    for kinds in places.values():
        share += 1 + (count - len(PACKAGES)) * sum(map(len, kinds.values())) / total
        while len(taken) < round(share) and kinds:
            kind = draw.choice(sorted(kinds))
            mutant = kinds[kind].pop(draw.randrange(len(kinds[kind])))
            if not kinds[kind]:
                del kinds[kind]
            beside = [other for other in taken if other.file == mutant.file]
            if len(beside) < MOST_IN_FILE and not any(_overlap(mutant, other) for other in beside):
                taken.append(mutant)
    return taken


def _overlap(one: Mutant, other: Mutant) -> bool:
    ours, theirs = ((*mutant.reached, (mutant.start, mutant.end)) for mutant in (one, other))
    return any(a < d and c < b for a, b in ours for c, d in theirs)
