"""Orders of a graph's operations: each is one, none changes a value, and the choice is the least crowded."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.random_functions import random_function
from tauforge.kernels import scheduling
from tauforge.kernels.scheduling import (
    as_soon_as_possible,
    as_written,
    is_crowded,
    least_crowded,
    result_by_result,
    waiting,
)
from tauforge.tracing.graph import in_order, trace

ORDERS = (as_written, as_soon_as_possible, result_by_result)


def random_graph(seed):
    return trace(random_function(np.random.default_rng(seed), 6, 500, 8), {"x": 6})


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(3))
def test_every_order_is_an_order_and_changes_no_value(order, seed):
    graph = random_graph(seed)
    places = order(graph)
    assert sorted(places) == [k for k, node in enumerate(graph.nodes) if node.args]
    free = [k for k, node in enumerate(graph.nodes) if not node.args]
    again = in_order(graph.nodes, graph.outputs, [*free, *places])
    assert all(a < k for k, node in enumerate(again.nodes) for a in node.args)
    values = {f"x{k}": 0.1 * (k + 1) for k in range(6)}
    assert again.evaluate(values) == graph.evaluate(values)


@pytest.mark.parametrize("order", ORDERS)
def test_waiting_is_the_average_of_what_is_alive(order):
    """Counted step by step: what has been computed and will be read later on."""
    graph = random_graph(7)
    places = order(graph)
    alive = []
    for step in range(len(places)):
        later = {a for k in places[step + 1 :] for a in graph.nodes[k].args}
        alive.append(len(later & set(places[: step + 1])))
    assert waiting(graph, places) == pytest.approx(np.mean(alive), rel=1e-12)


def test_a_long_chain_and_many_results_want_different_orders():
    """Links whose forces are summed up backwards; and results that share a start, all begun before any is ended."""

    def chain(x):
        motion, motions = (x[0], x[1], x[2]), []
        for a in x:
            turn = a * a
            motion = (motion[0] * turn + motion[1], motion[1] * turn + motion[2], motion[2] * turn + a)
            motions.append(motion)
        forces = [u * v + v * w + w * u for u, v, w in motions]
        return [sum(reversed(forces), start=0.0)]

    def side_by_side(x):
        shared = x[0] * x[1]
        values = [shared * (0.1 + k) for k in range(90)]
        for _ in range(5):
            values = [v * v + shared for v in values]
        return values

    for f, order in ((chain, as_soon_as_possible), (side_by_side, result_by_result)):
        graph = trace(f, {"x": 120})
        assert is_crowded(graph)
        best = least_crowded(graph)
        crowds = [waiting(graph, candidate(graph)) for candidate in ORDERS]
        assert waiting(best, as_written(best)) == min(crowds)
        assert min(crowds) == waiting(graph, order(graph)) < 0.7 * crowds[0]


def test_result_by_result_starts_with_the_last_and_with_first_arguments():
    def f(x):
        return [x[0] * x[1] + x[2] * x[3], (x[0] + x[1]) * (x[2] + x[3])]

    graph = trace(f, {"x": 4})
    written = as_written(graph)  # the operations of the first result, then those of the second
    assert result_by_result(graph) == [*written[3:], *written[:3]]


def test_a_small_gain_is_no_reason_to_leave_the_order_of_the_text(monkeypatch):
    graph = random_graph(4)
    crowds = [waiting(graph, order(graph)) for order in ORDERS]
    gain = min(crowds[1:]) / crowds[0]
    for clearly, kept in ((gain * 1.01, False), (gain * 0.99, True)):
        monkeypatch.setattr(scheduling, "CLEARLY", clearly)
        best = least_crowded(graph)
        assert (waiting(best, as_written(best)) == crowds[0]) == kept


def test_what_is_loaded_where_it_is_needed_does_not_wait():
    graph = random_graph(5)
    order = as_written(graph)
    waits = {k: max([order.index(u) for u in order if k in graph.nodes[u].args], default=0) for k in order}
    longest = max(order, key=lambda k: waits[k] - order.index(k))
    less = (waits[longest] - order.index(longest)) / len(order)
    assert waiting(graph, order, {longest}) == pytest.approx(waiting(graph, order) - less, rel=1e-12)


@pytest.mark.usefixtures("kernels_on")
def test_an_arm_of_six_joints_keeps_the_order_of_its_text():
    arm = tf.load("puma560")
    assert not is_crowded(arm.kernel("inverse_dynamics").specification.graph)
    assert is_crowded(arm.kernel("forward_dynamics_derivatives").specification.graph)


def test_a_graph_without_operations():
    graph = trace(lambda x: [x[1], 3.0], {"x": 2})
    assert waiting(graph, as_written(graph)) == 0
    assert least_crowded(graph).evaluate({"x0": 5.0, "x1": 7.0}) == [7.0, 3.0]
