"""The recorder: what it records is what was written, and no more."""

from __future__ import annotations

import math
import sys
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from support.strategies import conventions, kinds, random_arm, random_state, seeds
from support.tolerances import ROUNDING, error
from tauforge.algebra.scalars import ArrayScalar, arctangent, cos, select, sin, sqrt, tanh
from tauforge.formulations.serial import INVERSE_DYNAMICS
from tauforge.tracing.counting import Operations, count, critical_path, least_steps
from tauforge.tracing.graph import UntraceableError, cheapest_trace, trace

LARGEST = 1e3  # numbers and inverses of divisors on the way through an expression: rounding stays below 1e-7
CALLS = 80  # of functions, for each operation that is recorded


def counted(f, **sizes):
    return count(trace(f, sizes))[:3]


def inputs(**values):
    return {f"{name}{k}": x for name, vector in values.items() for k, x in enumerate(vector)}


@given(seeds, kinds, conventions, st.sampled_from(list(INVERSE_DYNAMICS)))
def test_a_graph_evaluates_to_the_traced_function(rng, letters, convention, name):
    if name == "lagrange-euler":
        letters = letters[:5]
    arm = random_arm(rng, letters, convention).model.parameters
    n = arm.n
    graph = trace(lambda q, qd, qdd: INVERSE_DYNAMICS[name](arm, q, qd, qdd), {"q": n, "qd": n, "qdd": n})
    q, qd, qdd = random_state(rng, n)
    direct = INVERSE_DYNAMICS[name](arm, q.tolist(), qd.tolist(), qdd.tolist())
    assert error(graph.evaluate(inputs(q=q.tolist(), qd=qd.tolist(), qdd=qdd.tolist())), direct) < 10 * ROUNDING
    columns = graph.evaluate(
        inputs(q=map(ArrayScalar, q[:, None]), qd=map(ArrayScalar, qd[:, None]), qdd=map(ArrayScalar, qdd[:, None]))
    )
    assert error([c.value[0] for c in columns], direct) < 10 * ROUNDING


expressions = st.recursive(
    st.sampled_from(["x0", "x1", "x2", "0.0", "1.0", "-1.0", "2.5", "-0.5"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/"]), inner, inner).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        inner.map(lambda e: f"(-{e})"),
        st.tuples(st.sampled_from(["sin", "cos", "tanh"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        inner.map(lambda e: f"sqrt(({e}) * ({e}) + 1.0)"),
    ),
    max_leaves=25,
)


@given(expressions, seeds)
@example("(2.5 * (x0 * (-0.5)))", np.random.default_rng(0))
@example("((-x0) * 2.5 - (x1 - (-x0)) / (-x2))", np.random.default_rng(0))
def test_random_expressions(expression, rng):
    """Folding, sign normalisation and shared nodes never change a value."""
    names = {"sin": sin, "cos": cos, "tanh": tanh, "sqrt": sqrt}

    def f(x):
        return [eval(expression, names | {f"x{k}": value for k, value in enumerate(x)})]

    point = rng.uniform(0.5, 2, 3).tolist()
    size = size_of(expression, point, names)
    assume(size < LARGEST)
    graph = trace(f, {"x": 3})
    assert graph.evaluate(inputs(x=point))[0] == pytest.approx(f(point)[0], abs=LARGEST * ROUNDING * size)


def size_of(expression, point, names):
    """The largest number on the way and the largest inverse of a divisor, which rounding grows with; or infinity."""
    largest = [1.0]

    class Watched(float):
        def __new__(cls, x):
            largest.append(abs(float(x)))
            return super().__new__(cls, x)

        def __neg__(self):
            return Watched(-float(self))

        def __truediv__(self, other):
            return Watched(float(self) * Watched(1.0 / float(other)))

        def __rtruediv__(self, other):
            return Watched(other) / self

    for op in ("add", "sub", "mul", "radd", "rsub", "rmul"):
        method = getattr(float, f"__{op}__")
        setattr(Watched, f"__{op}__", lambda self, other, method=method: Watched(method(self, float(other))))
    watched = {name: lambda x, function=function: Watched(function(float(x))) for name, function in names.items()}
    try:
        eval(expression, watched | {f"x{k}": Watched(value) for k, value in enumerate(point)})
    except (ZeroDivisionError, OverflowError):
        return math.inf
    return max(largest)


def test_common_subexpressions_are_shared():
    assert counted(lambda x: [x[0] * x[1] + x[1] * x[0]], x=2) == (2, 0, 0)
    assert counted(lambda x: [(x[0] + x[1]) * (x[1] + x[0])], x=2) == (1, 1, 0)
    assert counted(lambda x: [sin(x[0]) * sin(x[0])], x=1) == (1, 0, 1)


def test_signs_are_free():
    assert counted(lambda x: [x[0] - x[1], x[1] - x[0]], x=2) == (0, 1, 0)
    assert counted(lambda x: [-x[0] - x[1], x[0] + x[1]], x=2) == (0, 1, 0)
    assert counted(lambda x: [(-x[0]) * (-x[1]), x[0] * x[1], -(x[0] * x[1])], x=2) == (1, 0, 0)
    assert counted(lambda x: [x[0] - (-x[1]), x[0] + x[1]], x=2) == (0, 1, 0)
    assert counted(lambda x: [sin(-x[0]), sin(x[0]), cos(-x[0]), cos(x[0])], x=1) == (0, 0, 2)
    assert counted(lambda x: [x[0] * -2.0, x[0] * 2.0], x=1) == (1, 0, 0)


def test_constants_gather_and_cancel():
    assert counted(lambda x: [2.0 * (3.0 * x[0])], x=1) == (1, 0, 0)
    assert counted(lambda x: [0.5 * (2.0 * x[0])], x=1)[0] <= 1
    assert counted(lambda x: [x[0] - x[0], x[0] + 0.0, x[0] * 0.0, x[0] * 1.0], x=1) == (0, 0, 0)
    graph = trace(lambda x: [x[0] - x[0]], {"x": 1})
    assert graph.evaluate({"x0": 3.0}) == [0.0]


def test_dead_code_is_removed():
    graph = trace(lambda x: [[x[0] * x[1], sin(x[0])][0]], {"x": 2})
    assert [node.op for node in graph.nodes] == ["input", "input", "mul"]


def test_constant_inputs_are_precomputed():
    graph = trace(lambda a, x: [a[0] * a[1] * x[0] + sin(a[0])], {"robot.a": 2, "x": 1})
    assert count(graph, "robot.") == Operations(multiplications=1, additions=1)
    assert count(graph) == Operations(multiplications=2, additions=1, sincos=1)


def test_critical_path():
    graph = trace(lambda x: [(x[0] * x[1] + x[2]) * x[3], x[0] + x[1] + x[2] + x[3]], {"x": 4})
    path = critical_path(graph)
    assert (path.multiplications, path.additions, path.steps) in {(2, 1, 3), (0, 3, 3)}
    balanced = trace(lambda x: [(x[0] + x[1]) + (x[2] + x[3])], {"x": 4})
    assert critical_path(balanced).additions == 2


@pytest.mark.parametrize(
    ("formula", "steps"),
    [
        (lambda x: [x[0] + x[1] + x[2] + x[3]], 2),  # in pairs
        (lambda x: [x[0] * x[1] * x[2] - x[3] * 2.0], 3),
        (lambda x: [x[0] * x[1] * x[2] * x[3] + x[0] + x[1]], 3),  # what is ready early is added early
        (lambda x: [(x[0] + x[1] + x[2]) * x[3], x[0] + x[1] + x[2] + x[3]], 3),  # the shared sum is formed again
        (lambda x: [x[0] / (x[1] + x[2] + x[3] + x[0])], 3),
        (lambda x: [sin(x[0])], 0),
        (lambda x: [x[0]], 0),
    ],
)
def test_least_steps(formula, steps):
    assert least_steps(trace(formula, {"x": 4})) == steps


@pytest.mark.parametrize(
    ("formula", "steps"),
    [
        (lambda x: [x[0] + x[1] + x[2] + x[3]], 2),  # nothing is shared
        (lambda x: [(x[0] + x[1] + x[2]) * x[3], x[0] + x[1] + x[2] + x[3]], 3),  # the second output waits for the sum
        (lambda x: [x[0] + x[1] + x[2], x[0] + x[1] + x[2] + x[3], (x[0] + x[1] + x[2] + x[3]) * x[0]], 4),
        (lambda x: [x[0] * x[1] + x[2], (x[0] * x[1] + x[2]) + x[2] + x[3]], 3),
    ],
)
def test_least_steps_where_values_are_formed_once(formula, steps):
    graph = trace(formula, {"x": 4})
    assert least_steps(graph, once=True) == steps >= least_steps(graph)


def test_least_steps_with_robot_numbers():
    """What is constant is precomputed."""
    graph = trace(lambda a, x: [a[0] * a[1] * x[0] + a[0] + x[1]], {"robot.a": 2, "x": 2})
    assert (least_steps(graph, "robot."), least_steps(graph)) == (2, 3)


def test_tracing_takes_few_calls_an_operation():
    """As many for a long arm as for a short one: milliseconds, as long as no operation looks through the others."""

    def calls_an_operation(letters):
        arm, calls = random_arm(np.random.default_rng(0), letters).model.parameters, []
        f, n = INVERSE_DYNAMICS["joint-frames"], len(letters)
        sys.setprofile(lambda frame, event, argument: calls.append(event) if "call" in event else None)
        try:
            graph = trace(lambda q, qd, qdd: f(arm, q, qd, qdd), {"q": n, "qd": n, "qdd": n})
        finally:
            sys.setprofile(None)
        return len(calls) / len(graph.nodes)

    short, long = calls_an_operation("R" * 6), calls_an_operation("R" * 24)
    assert short < CALLS
    assert long == pytest.approx(short, rel=0.2)


def test_of_several_functions_the_one_with_the_fewest_operations_is_kept():
    """Operations count, not the inputs and constants they need: here two on five nodes, and three on four."""

    def few(x):
        return [x[0] * 1.5 + 2.5]

    def many(x):
        return [x[0] * x[0] * x[0] * x[0]]

    for functions in ([few, many], [many, few]):
        assert cheapest_trace(functions, {"x": 1}) == trace(few, {"x": 1})


def test_signs_of_constants_that_must_be_inside():
    """Where a sign cannot be kept beside the node: comparisons and the second argument of the arc tangent."""

    def f(x):
        return [select(x[0], -1.0, x[0], x[1]), arctangent(x[0], -2.0)]

    graph = trace(f, {"x": 2})
    for a, b in ((-3.0, 0.5), (0.5, 7.0)):
        picked, angle = graph.evaluate({"x0": a, "x1": b})
        assert picked == (a if a < -1.0 else b)
        assert angle == math.atan2(a, -2.0)


def test_scalars_of_another_recording_are_no_results():
    kept = []
    trace(lambda x: kept.append(x[0]) or [x[0]], {"x": 1})
    with pytest.raises(ValueError, match="scalars of two different recordings cannot be combined"):
        trace(lambda x: kept, {"x": 1})


@pytest.mark.parametrize("ask", [str, "{:.3f}".format, lambda x: x.is_integer(), lambda x: np.exp(np.array([x]))])
def test_what_is_asked_of_a_number_is_refused_also_where_somebody_catches_it(ask):
    def formula(x):
        with suppress(TypeError):
            ask(x[0])
        return x

    with pytest.raises(UntraceableError, match="is asked for that is known only when it runs"):
        trace(formula, {"x": 1})
