"""Sines and cosines made in a loop before the rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.kernel_checks import agree, reference, traced_kernel
from support.strategies import random_arm, random_state
from support.tolerances import ROUNDING, error
from tauforge.algebra.scalars import cos, sin
from tauforge.kernels.cpu import llvm_body
from tauforge.kernels.cpu.engine import VECTOR_BITS
from tauforge.kernels.cpu.llvm_body import early_sines
from tauforge.kernels.cpu.llvm_text import literal
from tauforge.kernels.scheduling import least_crowded
from tauforge.tracing.graph import trace

pytestmark = pytest.mark.usefixtures("kernels_on")
STEPS = 32  # rounding errors of 1: an angle of up to 8 is rounded to 4 of them, and the result times up to 8


def every_kind(x):
    """Plain and shifted angles, one that is used elsewhere too, a sine without cosine, and one of a sine."""
    shifted, doubled, sliding = x[1] + 0.7, 2.0 * x[2], x[3] - x[4]
    results = [sin(x[0]), cos(x[0]) * sin(shifted), cos(shifted) + shifted, sin(doubled), cos(sliding) * sliding]
    nested = sin(sin(x[0]) + x[1])
    return [*results, nested * x[0], cos(x[4]), x[0] * sin(x[4])]


def by_numpy(x):
    a, b, c, d, e = np.asarray(x, float).T
    s = np.array(
        [
            np.sin(a),
            np.cos(a) * np.sin(b + 0.7),
            np.cos(b + 0.7) + b + 0.7,
            np.sin(2 * c),
            np.cos(d - e) * (d - e),
            np.sin(np.sin(a) + b) * a,
            np.cos(e),
            a * np.sin(e),
        ]
    )
    return s.T


def test_which_angles_wait_for_nothing():
    graph = trace(lambda x: [*every_kind(x), sin(sin(x[0]))], {"x": 5})
    angles, slots = early_sines(graph)
    assert len(set(angles)) == 5  # all but those of the two nested sines
    sines = {k: node for k, node in enumerate(graph.nodes) if node.op in ("sin", "cos")}
    assert len({node.args[0] for node in sines.values()} - set(angles)) == 2
    assert slots == {
        k: 2 * angles.index(node.args[0]) + (node.op == "cos") for k, node in sines.items() if node.args[0] in angles
    }


@pytest.mark.parametrize("width", ["128", "256", "512"])
@pytest.mark.parametrize("part_nodes", [4, 3000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_loop_gives_what_numpy_gives(monkeypatch, width, part_nodes, dtype):
    monkeypatch.setenv(VECTOR_BITS, width)
    monkeypatch.setattr(llvm_body, "is_crowded", lambda graph: True)
    monkeypatch.setattr(llvm_body, "PART_NODES", part_nodes)
    graph = trace(every_kind, {"x": 5})
    kernel = traced_kernel("turns", graph, [("x", (5,))], [(8,)], f"turns {part_nodes} {width}")
    x = np.random.default_rng(5).uniform(-4, 4, (37, 5)).astype(dtype)
    assert error(kernel(x), by_numpy(x)) < STEPS * np.finfo(dtype).eps
    assert kernel(x).dtype == dtype


def test_the_loop_is_in_the_code_of_crowded_graphs_only(monkeypatch):
    graph = trace(every_kind, {"x": 5})
    ins, outs = [llvm_body.Operand("x", (5,), 0)], [llvm_body.Operand("", (8,), 1)]
    assert "@sines" not in llvm_body.emit_body(graph, ins, outs, 64, 8, avx512=True).text
    monkeypatch.setattr(llvm_body, "is_crowded", lambda graph: True)
    body = llvm_body.emit_body(graph, ins, outs, 64, 8, avx512=True)
    assert body.text.count("call void @sines") == 1
    assert body.taint == 2 * 5
    assert body.scratch == 2 * 5 + 1
    reduction = literal(2 / math.pi, 64)  # by which every angle is multiplied first
    assert body.text.count(reduction) == 2  # in the loop, and for the nested sine


def test_what_the_loop_makes_takes_no_other_memory_and_the_order_is_changed(monkeypatch):
    monkeypatch.setattr(llvm_body, "PART_NODES", 4)
    monkeypatch.setattr(llvm_body, "is_crowded", lambda graph: True)
    graph = trace(every_kind, {"x": 5})
    plan = llvm_body.Plan(graph, [llvm_body.Operand("x", (5,), 0)], [llvm_body.Operand("", (8,), 1)], 64, 8)
    assert plan.early_sines == early_sines(plan.graph)
    assert plan.graph == least_crowded(graph, early_sines(graph).slots)
    assert not set(plan.slots) & set(plan.early_sines.slots)
    assert min(plan.slots.values()) == 2 * 5 + 1  # after the taint


@pytest.mark.parametrize("width", ["128", "256", "512"])
@pytest.mark.parametrize("turns", [1.0, 1e6])
def test_a_long_arm_equals_the_reference(monkeypatch, width, turns):
    """Joints of both kinds, angles of many turns; a batch that fills no block."""
    monkeypatch.setenv(VECTOR_BITS, width)
    rng = np.random.default_rng(8)
    arm = random_arm(rng, "RRPRRRRPRRRRRPRR", "modified", drives=True)
    q, qd, qdd = random_state(rng, arm.n, 13)
    q[:, 0] *= turns
    agree(arm.inverse_dynamics(q, qd, qdd), reference(arm, "inverse_dynamics", q, qd, qdd), (13,), ROUNDING)


def test_what_is_not_finite_stays_in_its_row():
    arm = random_arm(np.random.default_rng(2), "R" * 12, "standard")
    q, qd, qdd = random_state(np.random.default_rng(3), 12, 9)
    expected = arm.inverse_dynamics(q, qd, qdd)
    q[4, 7] = math.inf
    got = arm.inverse_dynamics(q, qd, qdd)
    assert np.isnan(got[4]).any()
    rest = np.arange(9) != 4
    assert np.array_equal(got[rest], expected[rest])


def test_the_builtin_for_one_state_runs_the_loop_too():
    arm = random_arm(np.random.default_rng(4), "R" * 14, "standard")
    q, qd, qdd = random_state(np.random.default_rng(6), 14, 5)
    batch = arm.inverse_dynamics(q, qd, qdd)
    for k in range(5):
        assert np.array_equal(arm.inverse_dynamics(q[k], qd[k], qdd[k]), batch[k])
