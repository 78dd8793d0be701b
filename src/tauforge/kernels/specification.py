"""What a kernel computes, apart from where it runs: a backend turns a specification into something callable."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from tauforge.kernels.sources import sources_digest
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
    origin:      a text that determines the graph together with our sources, such as the robot's parameters and the
                 options; None where something was traced that our sources do not tell: then the graph itself is the
                 identity
    doubt_limit: a row of which the doubt is not below it must be looked at by the caller (`Kernel.doubts`)
    """

    name: str
    doc: str
    make_graph: Callable[[], Graph]
    arguments: tuple[tuple[str, Shape], ...]
    results: tuple[Shape, ...]
    origin: str | None
    doubt_limit: float | None = None

    @cached_property
    def graph(self) -> Graph:
        """Traced when first asked for."""
        return self.make_graph()

    @cached_property
    def identity(self) -> str:
        """A digest of all that can change the result, the target and its precision apart."""
        made_from = ("graph", repr(self.graph)) if self.origin is None else ("sources", sources_digest() + self.origin)
        parts = (*made_from, self.name, repr(self.arguments), repr(self.results), repr(self.doubt_limit))
        digest = hashlib.sha256()
        for part in parts:
            digest.update(f"{len(part)} {part} ".encode())
        return digest.hexdigest()
