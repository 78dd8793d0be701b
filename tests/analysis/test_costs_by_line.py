"""Costs line by line: against whole counts, which know no lines."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.strategies import random_arm
from tauforge.analysis import general_operation_count, line_costs
from tauforge.analysis.costs_by_line import recorded_by_line
from tauforge.tracing.counting import Operations


def added(lines, kind):
    return Operations(*map(sum, zip(*(getattr(line, kind) for line in lines), strict=True)))


def assert_adds_up(robot, formulation):
    lines, whole = line_costs(formulation, robot), tf.operation_count(robot, formulation)
    traced = (whole.multiplications, whole.additions, whole.sincos, whole.divisions, whole.roots)
    assert added(lines, "traced") == traced
    assert added(lines, "as_written") == whole.as_written


@pytest.mark.parametrize("formulation", tf.FORMULATIONS)
def test_lines_of_the_general_arm_add_up(formulation):
    lines = line_costs(formulation)
    for n in (4, 9):
        whole = general_operation_count(n, formulation).as_written
        assert sum(line.multiplications(n) for line in lines) == whole.multiplications
        assert sum(line.additions(n) for line in lines) == whole.additions


def test_lines_name_the_equation():
    by_text = {line.text: line for line in line_costs("newton-euler")}
    (omega,) = (line for text, line in by_text.items() if "# T3.15" in text)
    assert str(omega.multiplications) == "8 n - 9"


@pytest.mark.parametrize("formulation", tf.FORMULATIONS)
def test_lines_of_an_arm_add_up(formulation):
    assert_adds_up(random_arm(np.random.default_rng(5), "RPRRP", drives=True), formulation)


@pytest.mark.parametrize(
    ("robot", "formulation"), [("dasgupta1998", "dasgupta1998"), ("delta", None), ("3-rps", None), ("pendulum", None)]
)
def test_lines_of_other_robots_add_up(robot, formulation):
    assert_adds_up(CartPendulum() if robot == "pendulum" else tf.load(robot), formulation)


def test_prismatic_joints_and_zeros_are_counted_out():
    """A slide turns nothing: its line of eq. 7.34f is there, and that of omega takes one joint less."""

    def omega_of(kinds):
        arm = random_arm(np.random.default_rng(6), kinds)
        (line,) = (line for line in line_costs("newton-euler", arm) if "# T3.15" in line.text)
        return line

    revolute, mixed = omega_of("RRRR"), omega_of("RRPR")
    assert mixed.as_written.multiplications == revolute.as_written.multiplications - 8
    texts = [line.text for line in line_costs("newton-euler", random_arm(np.random.default_rng(6), "RRPR"))]
    assert any("# A7.34f" in text for text in texts)
    general = {line.text: line.multiplications(6) for line in line_costs("newton-euler")}
    for line in line_costs("newton-euler", tf.load("puma560")):
        assert line.as_written.multiplications <= general.get(line.text, 1000)


def test_a_formulation_that_a_robot_has_not():
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown formulation 'gibbs'"):
        line_costs("gibbs", tf.load("puma560"))
    with pytest.raises(tf.TauforgeError, match="robot"):
        line_costs("newton-euler", 6)


def test_the_turns_of_a_loop_are_runs_of_their_own():
    """Of one operation, where only the callee differs, and of two, where the second comes after the first."""

    def function(recorder):
        x = [recorder.input(name) for name in "abc"]
        return [[y * y for y in x], [y * y + y for y in x], [(y - 2.0) * y for y in x]]

    graph, places = recorded_by_line(function)
    runs = Counter(place.run for place in places if place is not None)
    assert [graph.nodes[k].op for k, place in enumerate(places) if place is None] == ["input"] * 3 + ["constant"]
    assert list(runs.values()) == [1] * 6 + [2] * 3
