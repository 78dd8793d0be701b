"""Pedrammehr, Mahboubkhah & Khani 2012 as a study: its curves, numbers, verdicts and contents.

Numbers of the study are computed again by `pedrammehr_witness` (the paper's equations in plain NumPy) and by
`stewart_witness` (13 bodies, derivatives by JAX).
"""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support import pedrammehr_witness as paper
from support import stewart_witness as bodies
from support.pedrammehr_verdicts import OTHERS, VERDICTS
from support.study_checks import (
    DATA,
    OTHER,
    REFERENCE,
    ROBOT,
    SAMPLES,
    assert_contents,
    assert_every_verdict_can_change,
    assert_whole_and_finite,
    figure,
    named,
    numbers,
    papers_figures,
    printed,
    table,
)
from support.tolerances import FORMULATIONS, OUTSIDE, error
from tauforge.algebra.rotations import rotation_of
from tauforge.algebra.vectors import Vector
from tauforge.analysis.stewart_forces import power_balance
from tauforge.formulations.stewart.parameters import motion
from tauforge.motion import pose_rates
from tauforge_papers.contents_table import contents_table
from tauforge_papers.pedrammehr2012 import rotations
from tauforge_papers.pedrammehr2012 import study as pedrammehr2012
from tauforge_papers.pedrammehr2012.measured import Measured
from tauforge_papers.random_platforms import fast_states
from tauforge_papers.stewart_legs import legs
from tauforge_papers.stewart_rules import EQUATION

SLOPE = 1e-7  # central differences of energies, steps of 1e-6
PATHS = {"2": paper.line(6.0, 0.08), "3": paper.line(0.6, 0.8)}
PEAK = 2200.0  # N, of path 3
AGREE = FORMULATIONS * PEAK
SOME = slice(None, None, 60)  # states for witnesses that take one at a time


@pytest.fixture(scope="module")
def pedrammehr():
    told = []
    made = pedrammehr2012.study(told.append)
    assert told
    return made


@pytest.fixture(scope="module")
def exact():
    """By path, from the paper's equations without their faults; the test below holds them against 13 bodies."""
    return {name: paper.forces(OTHER, states) for name, states in PATHS.items()}


def largest(found):
    return [float(np.abs(x).max()) for x in found]


def off(exact, **assumptions):
    """N on paths 2 and 3: the witness with some equations wrong."""
    return largest(paper.forces(OTHER, PATHS[name], **assumptions) - exact[name] for name in PATHS)


def each(path):
    return zip(*(x[SOME] for x in PATHS[path]), strict=True)


# --------------------------------------------------------------------------------------------- the whole, and its rules


def test_it_is_whole(pedrammehr):
    assert_whole_and_finite(pedrammehr)
    assert papers_figures(pedrammehr) == set(range(1, 11))


def test_verdicts(pedrammehr):
    assert {c.name: c.verdict for c in pedrammehr.claims} == VERDICTS


def test_every_verdict_can_change(pedrammehr):
    assert_every_verdict_can_change(pedrammehr, OTHERS)


def test_contents(pedrammehr):
    expected = {
        "equation": " ".join(map(str, range(1, 52))) + " R S_i S_di S_ui",
        "figure": " ".join(map(str, range(1, 11))),
    }
    assert_contents(pedrammehr, expected)
    rows = {(row[0], row[1]): row for row in contents_table(pedrammehr).rows}
    assert "kinematics.py" in rows["equation", "25"][3]
    assert rows["equation", "25"][4] == rows["equation", "33"][4] == rows["equation", "50"][4] == "does not hold"


def test_the_same_fault_has_the_rule_of_both_stewart_papers(pedrammehr):
    for name in ("parallel-axes", "spin-rate", "vector-equations"):
        assert named(pedrammehr, name).rule is EQUATION


def test_what_was_compared_is_said(pedrammehr):
    assert "captions of the figures but without their curves" in pedrammehr.summary
    for k in range(5, 11):
        assert "not its curves: computed anew" in figure(pedrammehr, f"fig-{k}").caption
    words = " ".join([pedrammehr.summary, *(f.caption for f in pedrammehr.figures)])
    words += " ".join(x for c in pedrammehr.claims for x in (c.claim, c.measured, c.reason, c.rule.words))
    assert "come back" not in words
    assert "comes back" not in words


# ----------------------------------------------------------------------------------------------------------- witnesses


@pytest.mark.parametrize("path", PATHS)
def test_the_papers_equations_without_their_faults_are_those_of_13_bodies(exact, path):
    wanted = [bodies.newton_euler(OTHER, *state, np.zeros(6)).actuators for state in each(path)]
    assert error(exact[path][SOME], np.array(wanted)) < OUTSIDE


@pytest.mark.parametrize("path", PATHS)
def test_forces_of_the_models_are_those_of_the_witness(pedrammehr, exact, path):
    drawn = {"2": "fig-9", "3": "fig-10"}[path]
    for k, model in enumerate((paper.improved, paper.simplified)):
        got = np.stack([panel.lines[k].y for panel in figure(pedrammehr, drawn).panels], axis=-1)
        assert np.abs(got - model(OTHER, PATHS[path])).max() < AGREE
    panels = figure(pedrammehr, f"errors-{path}").panels
    for k, model in enumerate((paper.improved, paper.simplified, paper.closed)):
        got = np.stack([panel.lines[k].y for panel in panels], axis=-1)
        assert np.abs(got - (model(OTHER, PATHS[path]) - exact[path])).max() < AGREE


# ---------------------------------------------------------------------------------------------------- how the pods move


@pytest.mark.parametrize("path", PATHS)
def test_both_ways_to_the_rotation_are_the_derivatives_of_positions(path):
    """Eqs 8, 9, 12-14 and 18-21 of the study against JAX."""
    states = tf.motion.MotionSample(*(x[SOME] for x in PATHS[path]))
    moving = motion(*(rotations.columns(x) for x in states))
    found = [bodies.motion(OTHER, *state) for state in each(path)]
    for i, leg in enumerate(legs(OTHER, states)):
        for got, wanted in (
            (rotations.velocity_by_components(leg), [m.W[i] for m in found]),
            (rotations.acceleration_by_components(leg), [m.A[i] for m in found]),
        ):
            assert error(np.stack([*got], axis=-1), np.array(wanted)) < OUTSIDE
        rate, second = rotations.length_rates(leg, moving)
        assert error(rate, np.array([m.rate.lengths[i] for m in found])) < OUTSIDE
        assert error(second, np.array([m.second.lengths[i] for m in found])) < OUTSIDE


def test_both_ways_to_the_rotation_at_random_states():
    """Every angle and direction counts; what the study takes for the truth is that of JAX."""
    rng = np.random.default_rng(3)
    platform = bodies.random_platform(rng)
    states = tf.motion.MotionSample(*fast_states(platform, rng, 20))
    found = [bodies.motion(platform, *state) for state in zip(*states, strict=True)]
    for i, leg in enumerate(legs(platform, states)):
        for got, wanted in (
            (rotations.velocity_by_components(leg), [m.W[i] for m in found]),
            (rotations.acceleration_by_components(leg), [m.A[i] for m in found]),
        ):
            assert error(np.stack([*got], axis=-1), np.array(wanted)) < OUTSIDE
    errors = rotations.kinematic_errors(platform, states)
    turning = max(np.linalg.norm(m.A[:6], axis=-1).max() for m in found)
    assert errors.acceleration_by_parts[1] == pytest.approx(turning, rel=OUTSIDE)
    assert errors.of("acceleration_as_printed") > 1e-3


def test_the_rotation_matrix_of_appendix_1():
    x, y, z = 0.3, -0.7, 1.1
    (cx, sx), (cy, sy), (cz, sz) = ((np.cos(a), np.sin(a)) for a in (x, y, z))
    R = [
        [cz * cy, -sz * cx + cz * sy * sx, sz * sx + cz * sy * cx],
        [sz * cy, cz * cx + sz * sy * sx, -cz * sx + sz * sy * cx],
        [-sy, cy * sx, cy * cx],
    ]
    ours = rotation_of(Vector(x, y, z))
    assert np.abs(np.array([[ours[i, j] for j in range(3)] for i in range(3)]) - R).max() < 1e-15


def test_errors_of_the_kinematic_equations(pedrammehr):
    """Eq. 25 as printed and the missing spin by the witness; the study's own truth is right."""
    measured = Measured()
    right, wrong, still = (paper.motion(OTHER, PATHS["3"], **x) for x in ({}, {"eq_25": "printed"}, {"spin": False}))
    found = measured.kinematics
    lost = np.linalg.norm(right.A - wrong.A, axis=-1).max()
    assert found.acceleration_as_printed == pytest.approx((lost, np.linalg.norm(right.A, axis=-1).max()), rel=1e-9)
    rate = np.abs((right.A * right.n).sum(axis=-1)).max()
    assert found.spin_rate_as_printed == pytest.approx((lost, rate), rel=1e-9)
    missing = np.linalg.norm(right.W - still.W, axis=-1).max()
    assert found.velocity_without_spin == pytest.approx((missing, np.linalg.norm(right.W, axis=-1).max()), rel=1e-9)
    told = named(pedrammehr, "spin-rate").measured
    printed(told, lost, rate)
    told = named(pedrammehr, "spin").measured
    assert told.startswith("both forms within 1e-12")
    printed(told, missing)


def test_eq_25_costs_force(pedrammehr, exact):
    costs = off(exact, eq_25="printed")
    told = named(pedrammehr, "spin-rate")
    printed(told.measured, *costs)
    assert told.evidence["errors"] == pytest.approx(costs, rel=1e-6)


def test_the_printed_term_of_eq_25_is_right_where_the_pod_is_normal_to_the_fixed_axis():
    """c.n = -1 there, which is what the reason says."""
    right, wrong = (paper.motion(OTHER, PATHS["3"], eq_25=x) for x in ("mended", "printed"))
    apart = ((right.A - wrong.A) * right.n).sum(axis=-1)
    cn = (right.c * right.n).sum(axis=-1)
    both = (right.omega_u * right.omega_v)[..., 0]
    assert (cn < 0).all()
    assert np.abs(apart - both * (1 + 1 / cn)).max() < 1e-12
    assert np.abs(cn + np.sqrt(1 - (right.u * right.n).sum(axis=-1) ** 2)).max() < 1e-12


def test_rotations_are_the_references(pedrammehr):
    """Kinematics do not know the mass centre in which the two robots differ."""
    met = 0
    for sample in DATA["samples"]["I"]:
        row = np.flatnonzero(np.isclose(figure(pedrammehr, "fig-7").panels[0].lines[0].x, sample["t"], atol=1e-12))
        if not len(row) or "W_exact" not in sample:
            continue
        met += 1
        for drawn, key in (("fig-7", "W_exact"), ("fig-8", "A_exact")):
            got = [panel.lines[0].y[row[0]] for panel in figure(pedrammehr, drawn).panels]
            assert np.abs(got - np.linalg.norm(sample[key], axis=1)).max() < REFERENCE
        W = np.array(sample["W_exact"])
        s = ROBOT.leg_motion([*sample["X"], *sample["theta"]]).directions
        across = W - (W * s).sum(axis=1, keepdims=True) * s
        got = [panel.lines[1].y[row[0]] for panel in figure(pedrammehr, "fig-7").panels]
        assert np.abs(got - np.linalg.norm(across, axis=1)).max() < REFERENCE
    assert met >= 5


def test_pods_on_path_one(pedrammehr):
    """Curves of Figs 5 and 6, the pods that the paper calls consistent, and their parts along the pods."""
    for name, speed in (("", 0.08), ("-whole-distance", 0.5 / 6)):
        full, simple = (paper.motion(OTHER, paper.path_1(speed), spin) for spin in (True, False))
        for drawn, k in (("fig-5", "W"), ("fig-6", "A")):
            for line, vectors in ((0, getattr(full, k)), (1, getattr(simple, k))):
                got = np.stack([panel.lines[line].y for panel in figure(pedrammehr, drawn + name).panels], axis=-1)
                assert np.allclose(got, np.linalg.norm(vectors, axis=-1), rtol=0, atol=1e-14)
    full, simple = (paper.motion(OTHER, paper.path_1(0.08), spin) for spin in (True, False))
    apart, along = {}, {}
    for k in "WA":
        x, y = getattr(full, k), getattr(simple, k)
        top = np.linalg.norm(x, axis=-1).max(axis=0)
        apart[k] = np.abs(np.linalg.norm(x, axis=-1) - np.linalg.norm(y, axis=-1)).max(axis=0) / top
        along[k] = np.abs((x * full.n).sum(axis=-1)).max(axis=0) / top
    for name, shares in (("consistent-pods", apart), ("perpendicular-pods", along)):
        told = named(pedrammehr, name)
        assert told.evidence["velocities"] == pytest.approx(shares["W"][[0, 1, 5]], rel=1e-9)
        assert told.evidence["accelerations"] == pytest.approx(shares["A"][[2]], rel=1e-9)
        printed(told.measured, *(100 * shares["W"][[0, 1, 5]]), 100 * shares["A"][2])
    part = np.linalg.norm(full.A - (full.A * full.n).sum(axis=-1, keepdims=True) * full.n, axis=-1)
    seen = np.abs(np.linalg.norm(full.A, axis=-1) - part).max(axis=0) / np.linalg.norm(full.A, axis=-1).max(axis=0)
    printed(named(pedrammehr, "consistent-pods").reason, 100 * seen[2])
    others = named(pedrammehr, "other-pods")
    printed(others.measured, *(100 * apart["W"][[2, 3, 4]]), *(100 * apart["A"][[0, 1, 3, 4, 5]]))
    assert len(others.evidence["velocities"] + others.evidence["accelerations"]) == 8
    assert along["W"][3] < 1e-12
    assert max(apart["W"][3], apart["A"][3]) < 1e-12
    assert "pod 4 on path 1" in named(pedrammehr, "no-spin-no-difference").measured


def test_path_one_contradicts_itself(pedrammehr):
    told = named(pedrammehr, "path-1")
    assert told.measured.endswith(f"take {0.5 / 0.08:.2f} s")
    assert f"x = {0.1 + 6 * 0.08:.2f} m" in told.reason
    assert "contradict each other" in told.reason
    assert "contradict each other" in figure(pedrammehr, "fig-5").caption


# ------------------------------------------------------------------------------------------------ forces and accuracy


def test_moments_of_the_universal_joints(pedrammehr, exact):
    """13 bodies know the joint's moment: along c, and a large part of it along the pod."""
    shown = numbers(named(pedrammehr, "no-moment-along-the-pod").measured)
    assert shown[:2] == [0.53, 1.0]
    for path, told in (("2", shown[3]), ("3", shown[4])):
        w = paper.motion(OTHER, PATHS[path])
        cn = np.abs((w.c * w.n).sum(axis=-1))
        assert (round(cn.min(), 2), round(cn.max(), 2)) == (0.53, 1.0)
        along = []
        for k, state in zip(range(0, SAMPLES, 60), each(path), strict=True):
            moment = bodies.newton_euler(OTHER, *state, np.zeros(6)).universal[:, 3:] + OTHER.friction[0] * w.W[k]
            assert np.abs(np.cross(moment, w.c[k])).max() < 1e-9
            along.append(np.abs((moment * w.n[k]).sum(axis=-1)).max())
        assert 0.9 * told < max(along) < told + 0.051
    costs = off(exact, along="n")
    printed(named(pedrammehr, "moment-along-c").measured, *costs)


def test_parallel_axes_are_counted_twice(pedrammehr, exact):
    told = named(pedrammehr, "parallel-axes")
    printed(told.measured, *off(exact, pods="base"), *off(exact, top="base"))
    printed(told.reason, *off(exact, pods="own"), *off(exact, top="own"))
    told = named(pedrammehr, "all-effects")
    assert told.evidence["published"] == pytest.approx(off(exact, pods="base", top="base"), rel=1e-6)
    told = named(pedrammehr, "previous-models").measured
    printed(told, *off(exact, eq_16=True), *off(exact, spin=False), *off(exact, along="n"))
    printed(named(pedrammehr, "low-precision").measured, *off(exact, spin=False))


def test_both_papers_differ_in_three_things(pedrammehr, exact):
    """One set of equations with switches for these three gives the errors of both papers as printed."""
    before = off(exact, spin=False, along="n", eq_16=True)
    improved = off(exact, pods="base", top="base")
    rows = {row[0]: row[2:] for row in table(pedrammehr, "assumptions").rows}
    assert rows["Dasgupta & Mruthyunjaya 1998 as published"] == pytest.approx(before, rel=1e-6)
    assert rows["Pedrammehr et al. 2012 as published"] == pytest.approx(improved, rel=1e-6)
    told = named(pedrammehr, "completely-different")
    apart = named(pedrammehr, "similar-trends").reason
    assert set(numbers(apart)) & set(numbers(told.measured))
    assert max(told.evidence["apart"]) < 1e-9


def test_the_closed_form_is_not_the_vector_form(pedrammehr):
    """Q_i and V_i as printed, in matrices."""
    apart = largest(paper.closed(OTHER, states) - paper.improved(OTHER, states) for states in PATHS.values())
    told = named(pedrammehr, "closed-form")
    printed(told.measured, *apart)
    assert told.evidence["apart"] == pytest.approx(apart[1], rel=1e-6)
    costs = {row[1]: row[2] for row in table(pedrammehr, "closed-form").rows}
    assert costs.pop(None) < 1e-10
    assert len(costs) == 6
    assert min(costs.values()) > 0.5
    assert min(told.evidence["with_one_term"]) > 5


def test_the_misprint_of_eq_43(pedrammehr):
    """The centripetal term of the lower part with the wrong mass centre, as a wrench on the platform."""
    (row,) = [row for row in table(pedrammehr, "misprints").rows if row[0] == "eq. 43"]
    for (_, states), told in zip(PATHS.items(), row[5:7], strict=True):
        w = paper.motion(OTHER, states)
        extra = np.array(OTHER.lower_mass)[:, None] * np.cross(w.W, np.cross(w.W, w.L_u - w.L_d))
        F = np.cross(np.cross(w.L_d, extra), w.n) / w.l
        wrong = paper.solved(w, F.sum(axis=1), np.cross(w.q, F).sum(axis=1))
        assert told == pytest.approx(np.abs(wrong).max(), rel=1e-6)


def test_nothing_that_may_be_misread_is_held_against_the_paper(pedrammehr):
    maybe = {row[0] for row in table(pedrammehr, "misprints").rows if row[-1] == "maybe"}
    assert maybe == {
        "eqs 9, 30, 36, 40",
        "eqs 15, 17",
        "eq. 21",
        "eq. 42",
        "eq. 43",
        "appendix 1",
        "eq. 46",
    }
    assert {c.verdict for c in pedrammehr.claims if c.where in maybe} == {"not judged"}


@pytest.mark.parametrize(("robot", "where"), [(OTHER, "measured"), (ROBOT, "reason")], ids=["own", "dasgupta1998"])
def test_accuracy_on_both_robots(pedrammehr, robot, where):
    """Largest, root mean square and mean error, in the claims and in the table."""
    rows = {(row[0], row[1][:5], row[2]): row[3:] for row in table(pedrammehr, "accuracy").rows}
    kind = "this " if robot is OTHER else "Dasgu"
    for path, states in PATHS.items():
        right = paper.forces(robot, states)
        for name, model in (
            ("improved", paper.improved),
            ("simplified, Dasgupta 1998", paper.simplified),
            ("improved, closed form", paper.closed),
        ):
            wrong = np.abs(model(robot, states) - right)
            sizes = wrong.max(), np.sqrt((wrong**2).mean()), wrong.mean()
            assert rows[f"path {path}", kind, name] == pytest.approx(sizes, rel=1e-6)
            if name != "improved, closed form":
                printed(getattr(named(pedrammehr, f"accuracy-path-{path}"), where), *sizes)


def test_the_fast_path_is_mixed(pedrammehr):
    told = named(pedrammehr, "accuracy-path-3")
    new, old = (np.array(told.evidence[key]) for key in ("improved", "previous"))
    assert round(100 * (new[0] / old[0] - 1)) == 15
    assert round(100 * (1 - new[1] / old[1]), 1) == 1.8
    assert "mixed" in pedrammehr.summary
    printed(pedrammehr.summary, new[0], old[0], new[1], old[1])
    squares = [
        (np.abs(model(OTHER, PATHS["3"]) - paper.forces(OTHER, PATHS["3"])) ** 2).sum(axis=0)
        for model in (paper.improved, paper.simplified)
    ]
    better = ", ".join(str(pod + 1) for pod in np.flatnonzero(squares[0] < squares[1]))
    assert f"the better one in pods {better}. " in told.reason


def test_differences_of_both_models(pedrammehr):
    correlations, swings, apart = [], [], []
    for states in PATHS.values():
        new, old = paper.improved(OTHER, states), paper.simplified(OTHER, states)
        correlations.append(min(np.corrcoef(new[:, i], old[:, i])[0, 1] for i in range(6)))
        a, b = (x.max(axis=0) - x.min(axis=0) for x in (new, old))
        swings.append((np.abs(a - b) / np.maximum(a, b)).max())
        apart.append(np.abs(new - old).max())
    told = named(pedrammehr, "similar-trends")
    assert told.evidence["correlations"] == pytest.approx(correlations, rel=1e-9)
    assert told.evidence["amplitudes"] == pytest.approx(swings, rel=1e-6)
    printed(told.reason, *apart)
    told = named(pedrammehr, "significant-differences")
    assert told.evidence["apart"] == pytest.approx(apart, rel=1e-6)
    printed(told.measured, *apart)


def test_power_of_the_models(pedrammehr):
    """Kinetic and potential energies along the path, differenced: independent of the dual numbers."""
    pose, twist, acceleration = (x[1:-1:60] for x in PATHS["3"])
    rates, _ = pose_rates(pose, twist)
    step = 1e-6
    ends = [OTHER.without_friction().energy(pose + h * rates, twist + h * acceleration) for h in (step, -step)]
    gained = (sum(ends[0]) - sum(ends[1])) / (2 * step)
    for model in ("exact", "dasgupta1998", "pedrammehr2012"):
        F = OTHER.inverse_dynamics(pose, twist, acceleration, model=model)
        got = power_balance(OTHER, pose, twist, acceleration, F)
        wanted = (F * OTHER.leg_motion(pose, twist).rates).sum(axis=-1) + got.friction - gained
        assert np.abs(got.imbalance - wanted).max() < SLOPE * np.abs(gained).max()
    for row in table(pedrammehr, "power").rows:
        assert (row[2] < 1e-10) == (row[1] == "exact")


def test_the_robots_differ_in_one_sign(pedrammehr):
    states = PATHS["2"]
    told = named(pedrammehr, "same-manipulator")
    printed(told.measured, np.abs(paper.forces(ROBOT, states) - paper.forces(OTHER, states)).max())
    for field in ("base_points", "platform_points", "universal_axes", "lower_com", "lower_inertia", "upper_inertia"):
        assert np.array_equal(getattr(ROBOT, field), getattr(OTHER, field))
    assert np.array_equal(np.array(ROBOT.upper_com) * [1, 1, -1], np.array(OTHER.upper_com))
    assert np.array(OTHER.upper_com)[0, 2] == -0.08


def test_operations_and_time(pedrammehr):
    flops = {m: tf.operation_count(OTHER, m).flops for m in ("pedrammehr2012", "dasgupta1998", "exact")}
    with_spin = tf.operation_count(OTHER, "dasgupta1998", corrections=("leg_spin",))
    assert with_spin.as_written.multiplications > tf.operation_count(OTHER, "dasgupta1998").as_written.multiplications
    told = named(pedrammehr, "complexity")
    assert numbers(told.measured)[:2] == [with_spin.flops, flops["dasgupta1998"]]
    printed(told.reason, flops["exact"], flops["pedrammehr2012"])
    assert flops["exact"] < flops["dasgupta1998"] < with_spin.flops < flops["pedrammehr2012"]
    told = named(pedrammehr, "time")
    assert numbers(told.measured)[1:] == [3 * SAMPLES]
    (seconds,) = numbers(told.timed)
    assert seconds > 0
