"""Turney, Mudge & Lee 1980: steps that must follow one another, by terms and by operations."""

from __future__ import annotations

import numpy as np
import pytest

from support.strategies import random_arm
from support.study_checks import numbers
from support.turney_witness import Ready, formed_once
from tauforge.analysis.comparison import random_states, row_errors
from tauforge.analysis.complexity import general_arm
from tauforge.formulations.serial import INVERSE_DYNAMICS
from tauforge_papers.misprints import as_printed
from tauforge_papers.random_arms import reference
from tauforge_papers.turney1980 import counts, schedule

ROUNDING = 1e-12


@pytest.mark.parametrize("n", [2, 4, 6, 9])
def test_the_longest_chain_by_hand(n):
    """a_1 after alpha_1 and A_1; 33 steps a link outward to m a-bar_n; 18 a link inward."""
    a_1 = (9 + 9) + (6 + 9) + (9 + 9)
    before_last = a_1 + (n - 2) * (18 + 15)
    moment_n = before_last + (9 + 6) + (3 + 3) + (6 + 3) + 3
    expected = moment_n + (n - 1) * (9 + 6 + 3)
    found = schedule.longest_chain(schedule.terms(n))
    assert sum(found) == expected == 51 * n
    assert found[0] == 27 * n - 3


@pytest.mark.parametrize("n", [2, 4, 6, 9])
def test_whole_rows_by_hand(n):
    """a_1 after alpha_1 and A_1; 33 steps a link outward to a_{n-1}; m a-bar_n and its moment; 24 a link inward."""
    a_1 = (9 + 9) + (6 + 9) + (18 + 15)
    moment_n = a_1 + (n - 2) * (18 + 15) + (12 + 9) + (6 + 3) + 3
    assert sum(schedule.longest_chain(schedule.whole_rows(n))) == moment_n + (n - 1) * (9 + 6 + 9) == 57 * n + 9


def test_split_rows_take_as_many_operations_as_whole_ones():
    """But for R a_0, A_n r_n and the sum of a_n, which only Table 3 needs."""
    split, whole = (
        sum(task.steps for name, task in work.items() if name not in ("carried 1", "a 6"))
        for work in (schedule.terms(6), schedule.whole_rows(6))
    )
    assert split == whole


def test_the_printed_stages():
    """R f takes 15 steps, the vector product 9, two sums 6: nine more than the 21 of an inward stage."""
    assert schedule.stage_ends(6)[-1] == 27 * 6 + 42 + 27 * 6 + 41
    assert max(schedule.late(6).values()) == 15 + 9 + 3 + 3 - (9 + 12)
    assert not schedule.late(6, ahead=1)


def test_a_schedule_respects_what_a_term_needs():
    work = schedule.terms(5)
    known, names = schedule.worked(work, schedule.stages(5, 1), schedule.stage_ends(5)), list(work)
    for name, term in work.items():
        assert all(known[names[need]] + term.steps <= known[name] for need in term.needs), name
    one = 16 + 18 + 15 + 33 + 15 + 6 + 9 + 9  # omega, alpha, A, a, swept, m a-bar, Tr and r x m a-bar of each link
    assert sum(term.steps for term in work.values()) == 5 * (one + 3) + 4 * (15 + 15 + 9 + 3 + 3 + 3)


@pytest.mark.parametrize("n", [3, 4, 6])
def test_steps_in_the_best_order_another_way(n):
    """A scalar that knows when it is ready, run through the same formulas: no graph, no heap."""
    formulas = {name: INVERSE_DYNAMICS[name] for name in counts.SETS}
    formulas[counts.SETS[-1]] = as_printed(counts.modified_newton_euler, counts.AS_5_1)["inverse_dynamics"]
    for name, formula in formulas.items():
        arm = general_arm(n, lambda _: Ready(constant=True), False)
        found = formula(arm, *([Ready() for _ in range(n)] for _ in range(3)))
        assert max(one.step for one in found) == counts.steps()[name][counts.SIZES.index(n)].best


@pytest.mark.parametrize("n", [3, 4, 5, 6, 9])
def test_steps_where_every_value_is_formed_once(n):
    """By the printed equations alone. For six joints Newton-Euler has one step fewer than the modified set."""
    found = {name: counts.steps()[name][counts.SIZES.index(n)].once for name in counts.SETS[1:]}
    assert found == {"newton-euler": formed_once(n, False), "modified-newton-euler": formed_once(n, True)}
    if n == 6:
        assert found == {"newton-euler": 51, "modified-newton-euler": 52}
        assert numbers(counts.parallelism().measured) == [351, 399, 560, 44, 45, 28, 52, 51, 28, 6]


@pytest.mark.parametrize("n", [2, 4, 6])
def test_newton_euler_waits_for_the_acceleration_of_the_origin(n):
    """Table 3 has a-bar_i after a_i: A_i r_i and a sum more than in Table 4, once, at the last link."""
    plain, modified = (sum(schedule.longest_chain(schedule.terms(n, one))) for one in (False, True))
    assert plain == modified + 9 + 6 + 3


@pytest.mark.parametrize("n", [2, 4, 6])
def test_whole_rows_of_table_3_by_hand(n):
    """alpha_1, A_1, n rows of a, then a-bar_n, the moment of link n; inward R n and four sums a link."""
    chain = (9 + 9) + (6 + 9) + n * (18 + 15) + (9 + 9) + (6 + 3) + 6 + (n - 1) * (9 + 6 + 12)
    assert sum(schedule.longest_chain(schedule.whole_rows(n, modified=False))) == chain == 60 * n + 39


def test_the_set_with_the_force_of_5_1_is_the_same_set():
    arm = random_arm(np.random.default_rng(2), "RRRRR")
    states = random_states(arm, 5)
    literal = as_printed(counts.modified_newton_euler, counts.AS_5_1)["inverse_dynamics"]
    found = reference(literal, arm.model.parameters, *states)
    assert row_errors(found, arm.inverse_dynamics(*states)).max() < ROUNDING
