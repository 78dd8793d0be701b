"""Long graphs cut into many parts: values handed on through scratch memory, slots used again, order changed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from support.kernel_checks import traced_kernel
from support.random_functions import random_function
from support.tolerances import ROUNDING, error
from tauforge.algebra.scalars import sqrt
from tauforge.kernels.cpu import llvm_body
from tauforge.tracing.graph import trace


@pytest.mark.parametrize("part_nodes", [40, 150, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_parts_give_what_the_whole_gives(monkeypatch, seed, part_nodes):
    rng = np.random.default_rng(seed)
    inputs, outputs = 7, 19
    graph = trace(random_function(rng, inputs, 900, outputs), {"x": inputs})
    monkeypatch.setattr(llvm_body, "PART_NODES", part_nodes)
    kernel = traced_kernel("parts", graph, [("x", (inputs,))], [(outputs,)], f"{seed} {part_nodes}")
    x = rng.uniform(-1, 1, (53, inputs))
    expected = np.array([graph.evaluate({f"x{k}": value for k, value in enumerate(row)}) for row in x])
    assert error(kernel(x), expected) < ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_a_slot_is_free_only_when_its_value_is_dead(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    graph = trace(random_function(rng, 5, 600, 11), {"x": 5})
    monkeypatch.setattr(llvm_body, "PART_NODES", 60)
    plan = llvm_body.Plan(graph, [llvm_body.Operand("x", (5,), 0)], [llvm_body.Operand("", (11,), 1)], 64, 8)
    needed = {}  # node -> last part that reads it
    for k, node in enumerate(plan.graph.nodes):
        reads = [*node.args]
        for piece in plan.pieces.get(k, ()):
            reads += [plan.graph.outputs[output].node for output in piece.outputs]
        for a in reads:
            needed[a] = max(needed.get(a, 0), plan.part_of[k])
    holders: dict[int, list[tuple[int, int]]] = {}
    for node, slot in plan.slots.items():
        holders.setdefault(slot, []).append((plan.part_of[node], needed[node]))
    assert max(map(len, holders.values())) > 1  # slots are used again, or this shows nothing
    for spans in holders.values():
        spans.sort()
        for (_, dead), (born, _) in itertools.pairwise(spans):
            assert dead < born


def test_reciprocal_roots_across_parts(monkeypatch):
    """1 / sqrt(x) is made from x: which must be handed on to the part that divides."""
    monkeypatch.setattr(llvm_body, "PART_NODES", 12)

    def f(x):
        squares = [a * a + 1.0 for a in x]
        roots = [sqrt(s) for s in squares]
        chain = x[0]
        for a in x:
            chain = chain * a + 0.3
        return [chain / r for r in roots] + [a + r for a, r in zip(x, roots, strict=True)]

    graph = trace(f, {"x": 6})
    kernel = traced_kernel("roots", graph, [("x", (6,))], [(12,)], "roots across parts")
    x = np.random.default_rng(3).uniform(-1, 1, (19, 6))
    expected = np.array([graph.evaluate({f"x{k}": value for k, value in enumerate(row)}) for row in x])
    assert error(kernel(x), expected) < ROUNDING
