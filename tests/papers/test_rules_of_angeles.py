"""Angeles' rules: other arms, other counts and wrong terms give each outcome that a rule names."""

from __future__ import annotations

import numpy as np
import pytest

from support.wrong_terms import verdict, verdict_with
from tauforge.algebra.vectors import E_Z, IDENTITY, ZERO, Transform, Vector, cross
from tauforge.formulations.bodies import Wrench
from tauforge_papers import published_counts as published
from tauforge_papers.angeles import algorithm_counts, complement, counts, prismatic, recursions, savings
from tauforge_papers.misprints import as_printed
from tauforge_papers.random_arms import random_arm


def arm(kinds):
    return random_arm(np.random.default_rng(3), kinds)


def with_changed(name, change):
    """A matrix of the complement's module, changed by a function of it."""
    right = getattr(complement, name)
    return lambda *state: change(np.array(right(*state), float))


def pushed(*state):
    """Constraint wrenches with 1 N more on each link."""
    return [Wrench(w.force + E_Z, w.moment) for w in complement.constraint_wrenches(*state)]


def weightless(parameters, *state):
    return complement.inverse_dynamics(parameters._replace(gravity=ZERO), *state)


ACTUATED_TOO = as_printed(complement, ("0.0 if actuated else w.z", "w.z"))["joint_constraints"]
WRONG = {  # what is exchanged, by what, and what follows
    "a joint that constrains nothing": (
        "constraint_matrix",
        with_changed("constraint_matrix", lambda K: np.vstack([0 * K[:6], K[6:]])),
        {"nullity": "does not hold"},
    ),
    "a sign of T": (
        "twist_shaping_matrix",
        with_changed("twist_shaping_matrix", lambda T: np.vstack([T[:-1], -T[-1:]])),
        {"orthogonal-complement": "does not hold"},
    ),
    "twice the inertia": (
        "generalized_inertia",
        with_changed("generalized_inertia", lambda M: 2 * M),
        {"generalized-inertia": "mixed"},
    ),
    "no own inertia": (
        "generalized_inertia",
        with_changed("generalized_inertia", lambda M: M - np.diag(np.diag(M))),
        {"generalized-inertia": "does not hold"},
    ),
    "the actuator's component, too": (
        "joint_constraints",
        ACTUATED_TOO,
        {"no-work": "does not hold", "joint-wrenches": "does not hold"},
    ),
    "1 N on each link": ("constraint_wrenches", pushed, {"range": "does not hold"}),
    "no gravity": (
        "inverse_dynamics",
        weightless,
        {"euler-lagrange": "does not hold", "state-equation": "does not hold"},
    ),
}


def verdicts_of_complement(**others):
    names = as_printed(complement)
    names.update(others)
    found = [names["measured"](arm("RPR"))]
    claims = (*complement.of_matrices(found), *complement.of_wrenches(found), *complement.of_equations(found))
    return {claim.name: claim.verdict for claim in claims if claim.verdict != "not judged"}


def test_the_complement_as_it_is():
    assert set(verdicts_of_complement().values()) == {"holds"}


@pytest.mark.parametrize("wrong", WRONG)
def test_the_complement_with_a_wrong_term(wrong):
    name, other, expected = WRONG[wrong]
    found = verdicts_of_complement(**{name: other})
    assert {claim: found[claim] for claim in expected} == expected


RECURSIONS = {  # function: (ours, in its place)
    "link_motions": ("R @ held", "held"),
    "gravity": ("*(joint.mass * g)", "*(-joint.mass * g)"),
    "on_a_moving_base": ("Vector(*second[:3].tolist())", "Vector(*(0 * second[:3]).tolist())"),
}


@pytest.mark.parametrize("function", RECURSIONS)
def test_recursions_and_the_other_way_with_a_wrong_term(function):
    few = {"ARMS": 1, "STATES": 2, "CARRIED": ("R",), "POSES": 2}
    assert verdict_with(recursions, function, **few) == "holds"
    assert verdict_with(recursions, function, RECURSIONS[function], **few) == "does not hold"


def test_slides_as_printed():
    """An arm without slides does not see the misprints; what is called mended is wrong."""

    def found(kinds, *changes):
        return verdict_with(prismatic, "handled", *changes, arms=lambda: [arm(kinds)], STATES=2)

    assert found("RR") == "holds"
    assert found("RP") == "holds with a correction"
    assert found("RP", ("INVERSE_DYNAMICS[NAME], both", "both, both")) == "does not hold"


def test_a_point_that_is_moved_and_not_moved_back():
    assert verdict_with(prismatic, "free_points", STATES=2) == "holds"
    there = ("here.constant.translation - shift", "here.constant.translation")
    assert verdict_with(prismatic, "free_points", there, STATES=2) == "does not hold"


def test_two_planar_turns_and_a_full_matrix():
    claim, full = counts.transformation(), [9, 6]
    assert verdict(claim) == "holds"
    assert verdict(claim, backward=full) == "mixed"
    assert verdict(claim, forward=full, backward=full) == "does not hold"


def test_products_of_vectors_in_a_plane_and_along_any_axis():
    def cost(what):
        return list(counts.traced(what)[:2])

    claim = counts.products()
    any_axis = {"with_axis": cost(lambda a, b, s: cross(a, b)), "added": cost(lambda a, b, s: a + b * s)}
    plane = cost(lambda a, b, s: cross(Vector(a.x, a.y, 0.0), Vector(b.x, b.y, 0.0)))
    assert [verdict(claim), verdict(claim, **any_axis)] == ["holds", "mixed"]
    assert verdict(claim, arbitrary=plane, **any_axis) == "does not hold"


def test_rows_of_the_chapter_and_of_our_code():
    """Revolute joints cost what is listed, prismatic ones some of it; seven joints are not six."""
    decide = counts.all_equal("").decide
    revolute = counts.differences(published.ANGELES_REVOLUTE, algorithm_counts.outward_rows("R"))
    slides = counts.differences(published.ANGELES_PRISMATIC, algorithm_counts.outward_rows("P"))
    found = [decide(differences=x) for x in (revolute, slides, [x for x in slides if x])]
    assert found == ["holds", "mixed", "does not hold"]
    tables = [verdict_with(counts, "table_7_4_from_7_3", SIX=n) for n in (6, 7)]
    assert tables == ["holds", "does not hold"]


def test_counts_of_the_inward_recursions_as_printed_and_mended_and_of_the_outward_ones():
    total = published.ANGELES_7_2.total
    rows = [
        algorithm_counts.as_row("", cost)
        for cost in (
            lambda n: algorithm_counts.inward_cost(n, True),
            algorithm_counts.inward_cost,
            algorithm_counts.outward_cost,
        )
    ]
    found = [counts.COUNT.decide(**counts.beyond(row, total)) for row in rows]
    assert found == ["holds", "holds with a correction", "does not hold"]


def test_walker_and_orin_beside_others():
    def beside(*changes):
        return verdict_with(counts, "walker_and_orin", *changes)

    itself = ("    ours = published.ANGELES_7_43\n    (theirs,) = (", "    (ours,) = (theirs,) = tuple(")
    found = [beside(), beside(itself), beside(('"Walker & Orin"', '"Luh"'))]
    assert found == ["holds", "mixed", "does not hold"]


def test_gravity_in_recursions_and_in_energies():
    found = [verdict_with(savings, "gravity_cost", NAME=name, SIX=3) for name in ("outward-inward", "lagrange-euler")]
    assert found == ["holds", "does not hold"]


def test_slides_beside_hinges_that_are_parallel():
    """A slide at unknown angles is dearer than a hinge whose axis is parallel to the next one."""

    def parallel(kinds, number):
        made = algorithm_counts.arm_with(kinds, number)
        if "P" in kinds:
            return made
        places = [Transform(IDENTITY, joint.constant.translation) for joint in made.joints]
        joints = (joint._replace(constant=place) for joint, place in zip(made.joints, places, strict=True))
        return made._replace(joints=tuple(joints))

    assert verdict_with(savings, "slides_are_cheaper", SIX=3) == "holds"
    assert verdict_with(savings, "slides_are_cheaper", SIX=3, arm_with=parallel) == "does not hold"


def test_arms_that_are_tailored_and_one_with_nothing_aligned():
    assert verdict_with(savings, "tailored", ARMS=("planar-2r",)) == "holds"
    assert verdict_with(savings, "tailored", ARMS=("RRR",), load=arm) == "does not hold"
