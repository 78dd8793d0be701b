"""Schedules: against critical paths, by hand, and by what every schedule must keep."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.strategies import random_arm
from tauforge.analysis import Task, general_operation_count, line_costs, schedule, scheduled


def own_arm():
    return random_arm(np.random.default_rng(7), "RRPR", drives=True)


def assert_sound(plan, processors=None):
    """Nothing begins before what it needs is known, and a processor does one task at a time."""
    end = plan.end
    for k, task in enumerate(plan.tasks):
        assert all(end[need] <= plan.begin[k] for need in task.needs)
    busy = [set() for _ in range(plan.processors)]
    for task, begin, place in zip(plan.tasks, plan.begin, plan.processor, strict=True):
        slots = set(range(begin, begin + task.steps))
        if task.steps:
            assert not slots & busy[place]
            busy[place] |= slots
    assert plan.steps == max(end)
    assert processors is None or plan.processors <= processors


@pytest.mark.parametrize("formulation", tf.FORMULATIONS)
def test_without_a_limit_the_steps_are_the_critical_path(formulation):
    arm = own_arm()
    plan, whole = schedule(arm, formulation), tf.operation_count(arm, formulation)
    assert plan.steps == whole.critical_path.steps
    assert plan.work == whole.multiplications + whole.additions
    general = schedule(5, formulation)
    assert general.steps == general_operation_count(5, formulation).critical_path.steps


@pytest.mark.parametrize("robot", ["dasgupta1998", "delta", "own kind"])
def test_other_robots(robot):
    own = CartPendulum() if robot == "own kind" else tf.load(robot)
    plan, whole = schedule(own), tf.operation_count(own)
    assert plan.steps == whole.critical_path.steps
    assert plan.work == whole.multiplications + whole.additions + whole.divisions
    assert_sound(plan)


@pytest.mark.parametrize("work", ["operations", "lines"])
@pytest.mark.parametrize("processors", [1, 2, 5, None])
def test_a_schedule_is_sound(work, processors):
    plan = schedule(own_arm(), "modified-newton-euler", processors, work=work)
    assert_sound(plan, processors)
    if processors == 1:
        assert (plan.steps, plan.speed_up) == (plan.work, 1.0)
    if processors == 2 and work == "operations":
        assert plan.steps < 0.6 * plan.work
    assert sum(len(plan.running(step)) for step in range(plan.steps)) == plan.work
    assert max(len(plan.running(step)) for step in range(plan.steps)) == plan.processors


def test_whole_lines_take_longer_and_no_operation_more():
    arm = own_arm()
    operations, lines = (schedule(arm, "newton-euler", work=work) for work in ("operations", "lines"))
    assert lines.work == operations.work
    assert lines.steps > 2 * operations.steps
    assert len(lines.tasks) < len(operations.tasks) / 4
    for plan in (operations, lines):
        assert sum(task.steps for task in plan.longest_chain()) == plan.steps


def test_a_line_of_a_loop_is_a_task_for_each_joint():
    """Eq. 3.15 runs once a joint; the first two joints of the general arm have fewer operations."""
    tasks = [task for task in schedule(5, "newton-euler", work="lines").tasks if "# T3.15" in task.name]
    assert len(tasks) == 5
    assert [task.multiplications for task in tasks][2:] == [8, 8, 8]


def test_tasks_of_ones_own_by_hand():
    """Two chains of 4 and 3 steps join; one processor does 9 steps, two wait for the longer chain."""
    tasks = [Task("a", 2, 2, ()), Task("b", 3, 0, ()), Task("free", 0, 0, (1,)), Task("sum", 0, 2, (0, 2))]
    both, one = scheduled(tasks), scheduled(tasks, 1)
    assert (both.steps, both.processors, both.begin) == (6, 2, (0, 0, 3, 4))
    assert both.processor == (0, 1, -1, 0)
    assert [task.name for task in both.longest_chain()] == ["a", "sum"]
    assert (one.steps, one.begin) == (9, (0, 4, 7, 7))
    assert both.speed_up == 1.5
    assert "6 steps of 2 processors for 9 operations, 1.5 times as fast" in str(both.summary())
    assert [task.name for task in both.running(3)] == ["a"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: schedule(own_arm(), processors=0), "processors: expected a whole number >= 1, got 0"),
        (lambda: schedule(own_arm(), processors=2.5), "processors: expected a whole number >= 1, got 2.5"),
        (lambda: schedule(0), "expected a robot or a number of joints >= 1, got 0"),
        (lambda: schedule(3, work="rows"), "unknown work 'rows'.*Use one of operations, lines"),
        (lambda: schedule(3, "gibbs"), "unknown formulation 'gibbs'"),
        (lambda: schedule(3, corrections=()), "the general arm takes no corrections"),
        (lambda: line_costs("newton-euler", corrections=()), "the general arm takes no corrections"),
        (lambda: scheduled([Task("a", 1, 0, (0,))]), r"task 0 needs \(0,\); a task needs earlier ones"),
    ],
)
def test_what_has_no_schedule(call, message):
    with pytest.raises(tf.TauforgeError, match=message):
        call()
