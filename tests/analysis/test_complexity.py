"""Operation counts: the promises, the papers' tables, and the tables we print."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from tauforge.analysis.complexity import added, general_cost, general_operation_count, operation_count, poly
from tauforge_papers import published_counts as published
from tauforge_papers.published_comparison import count_comparisons, step_comparison


@pytest.fixture(scope="module")
def puma():
    return tf.load("puma560")


def test_puma_costs_less_than_any_published_count(puma):
    """Best published for the customised arm: 224 multiplications, 174 additions."""
    cost = operation_count(puma)
    assert (cost.multiplications, cost.additions, cost.sincos) == (174, 141, 10)


@pytest.mark.parametrize("name", ["puma560", "dasgupta1998", "five-bar"])
def test_options_that_counts_do_not_know_are_refused(name):
    robot = tf.load(name)
    with pytest.raises(tf.UnsupportedFeatureError, match=f"operations of {name} are counted without nonsense, payload"):
        operation_count(robot, payload=tf.Payload(1.0), nonsense=1)


def test_general_six_r_costs_less_than_any_published_count():
    """Angeles' Table 7.4: 459 multiplications, 390 additions."""
    cost = general_operation_count(6)
    assert (cost.multiplications, cost.additions, cost.sincos) == (375, 307, 10)


def test_gravity_across_the_first_axis_costs_a_little():
    """The general count has gravity along joint 1, as the papers do; tilting it brings in that joint's sin and cos."""
    rng = np.random.default_rng(0)
    arm = random_arm(rng, "RRRRRR").replace(base=np.eye(4))
    upright, tilted = (operation_count(arm.replace(gravity=g)) for g in ((0, 0, -9.81), (1, 2, -9)))
    assert upright.multiplications <= 375
    assert upright.additions <= 307 + 4  # the offsets theta_2 to theta_5 of this arm; theta_6's is in the count
    assert upright.sincos == 10
    assert tilted.sincos == 12
    assert tilted.multiplications - upright.multiplications <= 8


@pytest.mark.parametrize("formulation", tf.FORMULATIONS)
def test_traced_is_never_dearer_than_written(puma, formulation):
    for cost in (operation_count(puma, formulation), general_operation_count(5, formulation)):
        assert cost.multiplications <= cost.as_written.multiplications
        assert cost.additions <= cost.as_written.additions
        assert cost.critical_path.steps <= cost.multiplications + cost.additions


@pytest.mark.parametrize("formulation", tf.FORMULATIONS)
@pytest.mark.parametrize("as_written", [False, True])
def test_cost_is_a_polynomial_of_n(formulation, as_written):
    """Determined by arms of 4 to 9 joints, right for 11; linear for the recursions."""
    multiplications, additions = general_cost(formulation, as_written=as_written)
    cost = general_operation_count(11, formulation)
    got = cost.as_written if as_written else cost
    assert (got.multiplications, got.additions) == (multiplications(11), additions(11))
    degree = {"lagrange-euler": 3, "orthogonal-complement": 2}.get(formulation, 1)
    assert len(multiplications.coefficients) == len(additions.coefficients) == degree + 1


def test_friction_and_rotors_are_counted_apart(puma):
    bare = puma.without_friction().without_rotors()
    assert operation_count(puma) == operation_count(bare)


def test_unknown_formulation():
    with pytest.raises(tf.UnsupportedFeatureError, match=r"unknown formulation 'gibbs'.*joint-frames"):
        general_operation_count(3, "gibbs")


@pytest.mark.parametrize("table", published.BREAKDOWNS, ids=lambda table: table.title)
def test_which_printed_tables_add_up(table):
    assert table.adds_up() == (table is not published.ANGELES_7_1)


def test_the_missing_row_of_table_7_1():
    sums, total = published.ANGELES_7_1.sums(), published.ANGELES_7_1.total
    assert total.multiplications(1) - sums.multiplications(1) == 8
    assert total.additions(1) - sums.additions(1) == 10


def test_tables_7_1_and_7_2_make_7_43():
    for kind in (1, 2):
        parts = [published.ANGELES_7_1.total[kind], published.ANGELES_7_2.total[kind]]
        assert added(parts) == published.ANGELES_7_43[kind]


def test_table_7_4_is_table_7_3_at_six_but_for_one_entry():
    wrong = []
    for row in published.ANGELES_7_3:
        formula = (row.multiplications(6), row.additions(6))
        if formula != published.ANGELES_7_4[row.item]:
            wrong.append((row.item, formula))
    assert wrong == [("Balafoutis & Patel (1991), tensor", (489, 421))]


def test_about_100_times_is_149_and_126():
    one, two = published.LEE_1.total, published.LEE_2.total
    assert round(one.multiplications(6) / two.multiplications(6)) == 149
    assert round(one.additions(6) / two.additions(6)) == 126


def test_appendix_of_turney():
    """Its parts, summed: 8.5 q^2 + 7.5 q + 64 multiplications a link, 40/3 n^3 + 74 n^2 - 16/3 n additions in all."""
    for q in range(1, 9):
        parts = 16 * q + q * (q - 1) / 2 + 16 * q * (q - 1) / 2 + 64
        assert parts == 8.5 * q**2 + 7.5 * q + 64
        assert parts != 8.5 * q * (q + 1) + 64
    for n in range(1, 9):
        terms = 2 * 24 * n * (n - 1) + 8 * n * (n**2 - 1) + (8 * n**2 + 7 * n) + (2 * n**2 + n)
        terms += sum(16 * q * (q + 1) + 32 for q in range(1, n + 1))
        assert terms == pytest.approx(40 / 3 * n**3 + 74 * n**2 - 16 / 3 * n)
        assert terms + 8 * n * (n**2 - 1) == pytest.approx(64 / 3 * n**3 + 74 * n**2 - 40 / 3 * n)
    for sum_ in ("40/3 n^3 + 74 n^2 - 16/3 n", "64/3 n^3 + 74 n^2 - 40/3 n"):
        assert sum_ in published.TURNEY_2.erratum


def test_polynomials_print_like_the_papers():
    assert str(published.TURNEY_1[1].multiplications) == "108 n - 12"
    assert str(poly(0, -1, "1/2")) == "1/2 n^2 - n"
    assert str(poly(0)) == "0"
    assert str(poly(-3)) == "-3"


def test_every_paper_is_beside_ours_with_a_reason():
    rows = count_comparisons(6)
    sources = " ".join(row.source for row in rows)
    for paper in (
        "Turney Tables 1, 2",
        "Turney Tables 1, 3",
        "Turney Tables 1, 4",
        "Lee Table 1",
        "Lee Table 2",
        "7.43",
    ):
        assert paper in sources
    assert all(len(row.why) > 20 for row in rows)
    assert rows[0].printed == (5916, 4840)
    steps = step_comparison(6)
    assert steps.printed == (204, 203)
    assert sum(steps.critical_path) < 100


def test_there_is_nothing_to_count_without_masses():
    with pytest.raises(tf.ModelError, match="inverse_dynamics: dietmaier has a geometry but no masses"):
        tf.operation_count(tf.load("dietmaier"))
