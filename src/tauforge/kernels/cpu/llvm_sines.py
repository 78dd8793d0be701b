"""Sines and cosines of the angles that are known from the start, in one loop before everything else.

Unrolled, they are a quarter of the code of a long arm. Code that does not fit into the processor's caches is decoded
again for every block of rows, and decoding, not arithmetic, then limits the speed. The loop is decoded once and keeps
its constants in registers.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.kernels.cpu.llvm_text import Vectors
from tauforge.kernels.cpu.llvm_writer import Writer
from tauforge.kernels.elementary_functions import sine_and_cosine
from tauforge.tracing.graph import FREE, Graph

EARLY = ("input", "add", "sub", "mul")  # operations that an angle may be the result of


class EarlySines(NamedTuple):
    """Angles in the order of their pairs, and the slot of each sine and cosine; all by their nodes."""

    angles: tuple[int, ...]
    slots: dict[int, int]

    @property
    def vectors(self) -> int:
        """Vectors of scratch memory, from its start: a pair for each angle, which is stored in the first beforehand."""
        return 2 * len(self.angles)


NO_EARLY_SINES = EarlySines((), {})


def early_sines(graph: Graph) -> EarlySines:
    """The angles that are inputs, or sums or products of inputs and constants."""
    places: dict[int, int] = {}
    slots = {}
    for k, node in enumerate(graph.nodes):
        if node.op in ("sin", "cos"):
            angle = graph.nodes[node.args[0]]
            if angle.op in EARLY and all(graph.nodes[a].op in FREE for a in angle.args):
                slots[k] = 2 * places.setdefault(node.args[0], len(places)) + (node.op == "cos")
    return EarlySines(tuple(places), slots)


def sines_function(angles: int, bits: int, lanes: int, *, avx512: bool) -> Writer:
    """The loop over the pairs at %pairs: sine and cosine overwrite the pair whose first vector is the angle."""
    code = Writer()
    v = Vectors(code, bits, lanes, avx512=avx512)
    with code.loop(str(angles)) as k:
        first = code.at("%pairs", code.emit(f"mul i64 {k}, {2 * v.bytes}"))
        sine, cosine = sine_and_cosine(v, v.load(first, aligned=True))
        v.store(sine, first, aligned=True)
        v.store(cosine, code.at(first, v.bytes), aligned=True)
    return code
