"""Rules on counts and times: other numbers of joints and other operations give the outcomes that a rule names."""

from __future__ import annotations

import numpy as np
import pytest

from support.wrong_terms import verdict
from tauforge.analysis.complexity import general_cost_of, general_operation_count
from tauforge.formulations.serial import INVERSE_DYNAMICS, strobing
from tauforge.tracing.counting import count
from tauforge.tracing.graph import trace
from tauforge_papers import count_tables
from tauforge_papers import published_counts as published
from tauforge_papers.dasgupta1998 import judged_cost
from tauforge_papers.dasgupta1998.operations import LEG, PLATFORM, SOLUTION
from tauforge_papers.lee1982 import cost
from tauforge_papers.turney1980 import appendix, counts, explicit, schedule, term_counts
from tauforge_papers.turney1980.counts import SETS, degree, our_row


def factors(n, tables=(published.LEE_1, published.LEE_2)):
    lagrange, newton = (table.total for table in tables)
    pairs = zip(lagrange[1:], newton[1:], strict=True)
    return [float(a(n) / b(n)) for a, b in pairs]


def test_rows_add_up_or_one_is_lost():
    for table, expected in ((published.LEE_1, "holds"), (published.ANGELES_7_1, "does not hold")):
        claim = count_tables.adds_up("a", "b", table)
        assert claim.verdict == expected


@pytest.mark.parametrize(("n", "verdict"), [(6, "holds with a correction"), (12, "does not hold")])
def test_about_a_hundred_times(n, verdict):
    assert cost.ABOUT.decide(factors=factors(n)) == verdict


def test_about_a_hundred_times_for_multiplications_of_five_joints():
    assert cost.ABOUT.decide(factors=factors(5)[:1]) == "holds"


def test_extremely_inefficient():
    """By the tables from few joints on; with sums first, order n^3, only for many."""
    by_sums = [
        [float(a(n) / b(n)) for a, b in zip(our_row(SETS[0])[1:], our_row(SETS[1])[1:], strict=True)] for n in (6, 20)
    ]
    decide = cost.EXTREMELY.decide
    assert decide(tables=factors(20), sums_first=by_sums[1]) == "holds"
    assert decide(tables=factors(6), sums_first=by_sums[0]) == "mixed"
    assert decide(tables=factors(1), sums_first=by_sums[0]) == "does not hold"


def test_a_set_point_on_the_papers_computer():
    def milliseconds(table, n):
        total = table.total
        return cost.Cost("", int(total.multiplications(n)), int(total.additions(n))).milliseconds()

    found = [cost.MILLISECONDS.decide(milliseconds=milliseconds(published.LEE_2, n)) for n in (6, 8)]
    assert found == ["holds", "does not hold"]
    times = [[milliseconds(table, n) for table in (published.LEE_2, published.LEE_1)] for n in (6, 1)]
    verdicts = [cost.REAL_TIME.decide(newton=a, lagrange=b, period=10.0) for a, b in times]
    assert verdicts == ["holds", "does not hold"]


def test_products_with_q_and_with_a_full_matrix():
    full = count(trace(lambda x: [sum(x[3 * i + k] * x[9 + k] for k in range(3)) for i in range(3)], {"x": 12}))
    found = [appendix.free_products(), full.multiplications + full.additions]
    assert [appendix.FREE.decide(operations=x) for x in found] == ["holds", "does not hold"]


def test_formulas_of_the_appendix_and_their_parts():
    """A formula of the appendix beside its own parts, half mended, and mended."""
    one = appendix.second_derivatives()
    mended = appendix.Printed((one.printed[0], one.parts[1]), one.parts)
    neither = appendix.Printed(one.printed[::-1], one.parts)
    names = "multiplications", "additions"
    found = [
        appendix.IN_PARTS.decide(**dict(zip(names, case.differences(), strict=True))) for case in (mended, one, neither)
    ]
    assert found == ["holds", "mixed", "does not hold"]


def test_forms_in_the_number_of_joints():
    """The Lagrange set is of degree 3, both Newton-Euler sets of degree 1; M by strobing is of degree 2."""
    lagrange, newton, _ = (degree(our_row(name).multiplications) for name in SETS)
    assert explicit.order(lagrange).decide(degrees=[lagrange]) == "holds"
    assert explicit.order(lagrange).decide(degrees=[newton]) == "does not hold"
    assert explicit.FORM_C.decide(kinematic=lagrange, dynamic=lagrange) == "holds with a correction"
    assert explicit.FORM_C.decide(kinematic=newton, dynamic=newton) == "does not hold"
    square = degree(explicit.passes(lambda arm, q: strobing.mass_matrix(explicit.MODIFIED, arm, q))[1])
    assert explicit.FORM_C.decide(kinematic=lagrange, dynamic=square) == "holds"
    pairs = ((square, square), (square, newton), (lagrange, newton))
    found = [explicit.FORM_M.decide(kinematic=a, dynamic=b) for a, b in pairs]
    assert found == ["holds", "mixed", "does not hold"]
    sets = ((lagrange, newton, newton), (newton, newton, newton), (newton, square, square))
    found = [counts.ORDERS_IN_N.decide(degrees=degrees) for degrees in sets]
    assert found == ["holds", "mixed", "does not hold"]


def test_stages_with_forces_beside_and_ahead_of_moments():
    late = [[max(schedule.late(n, ahead).values(), default=0) for n in (4, 6)] for ahead in (0, 1)]
    decide = schedule.CARRIED_OUT.decide
    assert decide(late=late[1], late_ahead=late[1]) == "holds"
    assert decide(late=late[0], late_ahead=late[1]) == "holds with a correction"
    assert decide(late=late[0], late_ahead=late[0]) == "does not hold"


def test_the_printed_flops_of_six_and_of_seven_joints():
    total = 6 * LEG + PLATFORM + SOLUTION
    serial = [132 * n + 111 * n - 4 for n in (6, 7)]
    assert [judged_cost.ONLY.decide(total=total, serial=x) for x in serial] == ["holds", "does not hold"]
    alone = [
        judged_cost.EVEN_LESS.decide(printed=[LEG, SOLUTION, x], ours=[LEG, SOLUTION, y])
        for x, y in ((1454, 1454), (1454, 968), (968, 968))
    ]
    assert alone == ["holds", "mixed", "does not hold"]  # of six joints, and of four: 132 n + 111 n - 4


def test_forward_kinematics_with_and_without_the_terms_of_the_velocity():
    """Of a pendulum of length l: x = l sin q. Without q'^2 the acceleration is wrong, from another length all."""
    q, qd, qdd = 0.4, 1.5, -2.0

    def verdict(length, centripetal=1.0):
        position = np.arcsin(length * np.sin(q))
        velocity = length * np.cos(q) * qd / np.cos(position)
        acceleration = length * (np.cos(q) * qdd - np.sin(q) * qd**2) + centripetal * np.sin(position) * velocity**2
        found = position, velocity, acceleration / np.cos(position)
        errors = [abs(x - true) for x, true in zip(found, (q, qd, qdd), strict=True)]
        return judged_cost.FORWARD.decide(**dict(zip(("position", "velocity", "acceleration"), errors, strict=True)))

    assert (verdict(1.0), verdict(1.0, 0.0), verdict(0.9)) == ("holds", "mixed", "does not hold")


def test_formulations_of_one_joint_and_of_six():
    def found(n):
        flops = {name: general_operation_count(n, name).flops for name in INVERSE_DYNAMICS}
        others = [flops.pop(name) for name in counts.NOT_RECURSIVE]
        return counts.MOST_EFFICIENT.decide(recursive=list(flops.values()), others=others)

    assert [found(6), found(1)] == ["holds", "does not hold"]


def test_the_modified_set_and_sets_in_its_place():
    """Newton-Euler in its place is cheaper than Lagrange, and not than itself; Lagrange is cheaper than neither."""
    lagrange, newton, modified = (list(general_operation_count(4, name)[:2]) for name in SETS)

    def found(in_its_place):
        return counts.LESS_COMPLEX.decide(lagrange=lagrange, newton_euler=newton, modified=in_its_place)

    assert [found(one) for one in (modified, newton, lagrange)] == ["holds", "mixed", "does not hold"]


def test_steps_by_rows_and_by_operations():
    rows = [counts.steps_by_terms(name, 6) for name in SETS]
    operations = [counts.steps_of(INVERSE_DYNAMICS[name], 3).once for name in SETS]

    def found(*which):
        names = "lagrange", "newton_euler", "modified"
        return counts.MORE_PARALLEL.decide(**{name: [x[k] for x in which] for k, name in enumerate(names)})

    assert [found(rows), found(rows, operations), found(operations)] == ["holds", "mixed", "does not hold"]


def test_the_effort_of_strobing():
    """Of four joints M takes less by strobing than from Lagrange's equations; M, C and G take more."""

    def ratios(what):
        ours, theirs = (general_cost_of(functions[what], 4) for functions in (explicit.STROBED, explicit.LAGRANGE))
        return ours.multiplications / theirs.multiplications, ours.flops / theirs.flops

    def found(*what):
        multiplications, operations = zip(*map(ratios, what), strict=True)
        return explicit.LESS.decide(multiplications=multiplications, operations=operations)

    cases = found("M"), found("M", "M, C and G"), found("M, C and G")
    assert cases == ("holds", "mixed", "does not hold")


def test_rows_of_terms_as_printed_and_as_counted():
    (three, _) = term_counts.row_claims()
    differences = three.evidence["differences"]
    wrong = [x for x in differences if x]
    cases = ([0.0 for x in differences if not x], differences, wrong)
    found = [verdict(three, differences=x) for x in cases]
    assert found == ["holds", "mixed", "does not hold"]


def test_totals_of_the_appendix_and_sums_of_its_parts():
    claim = appendix.total_claim()
    own = appendix.totals(appendix.second_derivatives().printed[1])
    multiplications, additions = appendix.Printed(own, own).differences()
    mended = {"multiplications": multiplications, "additions": additions}
    assert [verdict(claim), verdict(claim, **mended)] == ["does not hold", "holds"]
