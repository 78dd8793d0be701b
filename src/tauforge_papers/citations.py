"""Where the papers' equations live in our source: comments and docstrings cite them by a letter and a number.

D16  Dasgupta & Mruthyunjaya 1998     P37   Pedrammehr et al. 2012     T3.16  Turney, Mudge & Lee 1980
L4.4 Lee, Chung, Mudge & Turney 1982  A7.38d Angeles, chapter 7        P18-21 four equations
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

PAPERS = {"dasgupta1998": "D", "pedrammehr2012": "P", "turney1980": "T", "lee1982": "L", "angeles": "A"}
CITATION = re.compile(r"\b([DPTLA])(\d+(?:\.\d+)*)([a-h]?)(?:-(\d+)(?:\.(\d+))?([a-h]?))?(?![\w.]*\w)")
FOLDERS = ("formulations", "algebra", "robots", "motion", "control", "simulation", "analysis")  # where equations live
OURS = (  # below tauforge_papers: printed formulas of operation counts, and lines of derivations
    "published_counts.py",
    "expansion_lines.py",
    "turney1980/expansion.py",
    "lee1982/expansion.py",
)
Places = dict[str, list[str]]  # number of an equation -> "formulations/serial/newton_euler.py, wrenches"


def places(paper: str) -> Places:
    """Functions and classes whose comments or docstrings cite an equation of the paper; none without source files."""
    return {number: list(where) for number, where in _places_by_letter()[PAPERS[paper]].items()}


@cache
def _places_by_letter() -> dict[str, dict[str, dict[str, None]]]:
    """For each letter, and each number, the places in their order. The whole source is read once for all papers."""
    found: dict[str, dict[str, dict[str, None]]] = {letter: defaultdict(dict) for letter in PAPERS.values()}
    root = files("tauforge")
    sources = [source for folder in FOLDERS for source in _sources(root / folder, folder)]
    papers = files("tauforge_papers")
    sources += [(f"tauforge_papers/{path}", (papers / path).read_text(encoding="utf-8")) for path in OURS]
    for path, text in sources:
        for letter, number, place in _cited(text):
            found[letter][number][f"{path}, {place}" if place else path] = None
    return found


def numbers_of(citation: re.Match[str]) -> list[str]:
    """The equations that a citation names: 18-21 and 3.15-3.17 are all between, others themselves."""
    _, number, letter, *_ = citation.groups()
    whole, dot, first = number.rpartition(".")
    last = citation[5] if citation[5] and citation[4] == whole else citation[4] if not dot else None
    if last is None:
        return [number + letter]
    return [f"{whole}{dot}{k}" for k in range(int(first), int(last) + 1)]


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        below = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _sources(entry, below)
        elif entry.name.endswith(".py"):
            yield below, entry.read_text(encoding="utf-8")


def _cited(text: str) -> Iterator[tuple[str, str, str]]:
    """(letter, number, innermost function or class) of every citation in the comments and docstrings of a module."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and token.string.lstrip("rR").startswith('"""')
        if token.type != tokenize.COMMENT and not docstring:
            continue
        for citation in CITATION.finditer(token.string):
            line = token.start[0] + token.string[: citation.start()].count("\n")
            inside = [(end - start, name) for start, end, name in spans if start <= line <= end]
            for number in numbers_of(citation):
                yield citation[1], number, min(inside)[1] if inside else ""
