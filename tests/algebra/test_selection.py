"""`select` and `absolute` over every scalar: plain, dual, traced, differentiated, compiled."""

from __future__ import annotations

import casadi
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from support.kernel_checks import traced_kernel
from support.tolerances import ROUNDING
from tauforge.algebra.dual import Dual, derivative, seeded
from tauforge.algebra.scalars import ArrayScalar, absolute, select, sqrt
from tauforge.kernels.cpu.engine import VECTOR_BITS, host
from tauforge.tracing.counting import count
from tauforge.tracing.differentiation import jacobian
from tauforge.tracing.graph import trace

WIDTHS = [str(bits) for bits in (128, 256, 512) if bits <= host().vector_bits]
numbers = st.floats(-10, 10).map(lambda x: round(x, 3))


def larger_and_smaller(x):
    """Some function with every case of signs in it."""
    a, b = x
    larger = select(absolute(a), absolute(b), b, a)
    smaller = select(absolute(a), absolute(b), -a, -b)
    mixed = select(-a, -b, a * b, -(a + b))
    return [larger, smaller, mixed, select(a, 0.5, 1.0, -b), select(-a, b, a, a), absolute(a - b)]


def expected(a, b):
    larger, smaller = (b, -a) if abs(a) < abs(b) else (a, -b)
    return [larger, smaller, a * b if -a < -b else -(a + b), 1.0 if a < 0.5 else -b, a, abs(a - b)]


@given(numbers, numbers)
def test_numbers_columns_and_graphs_agree(a, b):
    want = expected(a, b)
    assert larger_and_smaller([a, b]) == want
    columns = larger_and_smaller([ArrayScalar(np.array([a])), ArrayScalar(np.array([b]))])
    assert [float(np.ravel(c.value)[0]) for c in columns] == want
    graph = trace(larger_and_smaller, {"x": 2})
    assert graph.evaluate({"x0": a, "x1": b}) == want


@given(numbers, numbers)
def test_derivatives_forward_and_reverse(a, b):
    graph = trace(larger_and_smaller, {"x": 2})
    duals = larger_and_smaller(seeded([a, b]))
    forward = [[derivative(y, k) for k in range(2)] for y in duals]
    reverse = jacobian(graph, {"x0": a, "x1": b}, ["x0", "x1"])
    assert np.allclose(forward, np.array(reverse, float), rtol=ROUNDING, atol=0)
    assert isinstance(select(Dual(a, {0: 1.0}), 20.0, Dual(a, {0: 2.0}), b), Dual)


@pytest.mark.parametrize("a", [-1.5, 0.25, 2.0])
@pytest.mark.parametrize("b", [-3.0, 0.75])
def test_other_libraries(a, b):
    want = expected(a, b)
    traced = larger_and_smaller([ArrayScalar(jnp.array(a)), ArrayScalar(jnp.array(b))])
    assert np.allclose([float(c.value) for c in traced], want, rtol=1e-6)  # single precision by default there
    u, v = casadi.SX.sym("u"), casadi.SX.sym("v")
    f = casadi.Function(
        "f", [u, v], [casadi.vertcat(*(c.value for c in larger_and_smaller([ArrayScalar(u), ArrayScalar(v)])))]
    )
    assert np.allclose(f(a, b).full().ravel(), want, rtol=ROUNDING)
    s, t = sympy.symbols("s t", real=True)
    values = [c.value.subs({s: a, t: b}) for c in larger_and_smaller([ArrayScalar(s), ArrayScalar(t)])]
    assert np.allclose([float(y) for y in values], want, rtol=ROUNDING)


def test_not_a_number_takes_the_second():
    assert select(np.nan, 1.0, 2.0, 3.0) == 3.0
    column = select(ArrayScalar(np.array([np.nan, 0.0])), 1.0, 2.0, 3.0)
    assert column.value.tolist() == [3.0, 2.0]


def test_the_branch_not_taken_does_not_spoil_derivatives():
    graph = trace(lambda x: [select(0.0, x[0], sqrt(x[0]), x[0])], {"x": 1})
    for a in (-1.0, 0.0):
        assert jacobian(graph, {"x0": a}, ["x0"]) == [[1.0]]
    assert jacobian(graph, {"x0": 4.0}, ["x0"]) == [[0.25]]


def test_selections_are_free_and_folded():
    graph = trace(larger_and_smaller, {"x": 2})
    assert count(graph).multiplications == 1
    assert count(trace(lambda x: [select(x[0], x[1], x[0], -x[1])], {"x": 2})).additions == 0
    assert select(1.0, 2.0, "first", "second") == "first"
    equal = trace(lambda x: [select(x[0], x[1], x[0] + x[1], x[1] + x[0])], {"x": 2})
    assert [node.op for node in equal.nodes] == ["input", "input", "add"]


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("width", WIDTHS)
def test_compiled(monkeypatch, width, bits):
    monkeypatch.setenv(VECTOR_BITS, width)
    graph = trace(larger_and_smaller, {"x": 2})
    kernel = traced_kernel("selection", graph, [("x", (2,))], [(6,)], "test of selection")
    x = np.random.default_rng(0).normal(size=(37, 2)).astype(np.float64 if bits == 64 else np.float32)
    x[3] = [0.5, -0.5]
    got = kernel(x)
    want = np.array([expected(*row) for row in x])
    assert got.dtype == x.dtype
    assert np.allclose(got, want, rtol=ROUNDING if bits == 64 else 4 * np.finfo(np.float32).eps, atol=0)
    for lost in (np.nan, np.inf):  # a selection could pass it by
        x[3] = [lost, 2.0]
        assert np.isnan(kernel(x)[3]).all()
        assert np.array_equal(np.delete(kernel(x), 3, 0), np.delete(got, 3, 0))


def test_two_recordings_do_not_mix():
    outer = []

    def inner(x):
        outer.append(x[0])
        return x

    trace(inner, {"x": 1})
    with pytest.raises(ValueError, match="two different recordings"):
        trace(lambda y: [y[0] * outer[0]], {"y": 1})
