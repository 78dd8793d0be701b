"""Specifications of kernels, which a backend compiles for its target."""

from __future__ import annotations

import hashlib
import math
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from tauforge.class_tools import computed_once
from tauforge.tracing.graph import Graph

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Specification:
    """One function of one robot, or of anything else that was traced.

    name:        the function's name
    doc:         one line for `help`
    make_graph:  traces the function; called only where the code is not in a cache. Element k of argument a is the
                 graph's input a + str(k); the outputs are the elements of the results in order, and after them the
                 doubt where there is a limit for it
    arguments:   names and core shapes
    results:     core shapes
    origin:      a string that determines the graph together with our sources, such as the robot's parameters and the
                 options; None if code that is not among our sources was traced: then the graph itself is the identity
    doubt_limit: the caller must check rows whose doubt is not below it (`Kernel.doubts`)
    large:       whether a graph of many thousand operations is worth the seconds that compiling it takes
    """

    name: str
    doc: str
    make_graph: Callable[[], Graph]
    arguments: tuple[tuple[str, Shape], ...]
    results: tuple[Shape, ...]
    origin: str | None
    doubt_limit: float | None = None
    large: bool = False

    @computed_once
    def graph(self) -> Graph:
        """The graph, which is traced on first use."""
        return self.make_graph()

    @computed_once
    def identity(self) -> str:
        """A digest of everything that can change the result, except the target and its precision."""
        made_from = ("graph", repr(self.graph)) if self.origin is None else ("sources", sources_digest() + self.origin)
        parts = (*made_from, self.name, repr(self.arguments), repr(self.results), repr(self.doubt_limit))
        return hashlib.sha256("".join([f"{len(part)} {part} " for part in parts]).encode()).hexdigest()


def inputs_of(arguments: Iterable[tuple[str, Shape]]) -> list[str]:
    """The inputs of a graph that these arguments are."""
    return [f"{name}{k}" for name, core in arguments for k in range(math.prod(core))]


# folders that kernels come from; kernels in a cache are valid for the sources that they were traced from
TRACED_FOLDERS = ("algebra", "formulations", "tracing", "kernels", "evaluation", "robots", "control", "simulation")


@cache
def sources_digest() -> str:
    """A digest of every source file that a kernel is made from."""
    package = os.path.dirname(os.path.dirname(__file__))  # not pathlib: this is part of every first call
    digest = hashlib.sha256()
    empty = True
    for folder in TRACED_FOLDERS:
        for place, _, files in sorted(os.walk(f"{package}/{folder}")):
            if os.path.basename(place) == "__pycache__":
                continue
            for name in sorted(files):
                if name.endswith((".py", ".pyc", ".ll", ".cuh")):  # a module's bytecode where it has no source
                    with open(f"{place}/{name}", "rb") as file:
                        source = file.read()
                    digest.update(f"{place.removeprefix(package)}/{name} {len(source)} ".encode() + source)
                    empty = False
    if empty:  # in an archive, for example: then entries serve this process alone
        digest.update(secrets.token_bytes())
    return digest.hexdigest()
