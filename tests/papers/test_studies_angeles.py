"""Angeles, chapter 7, as a study: its counts, forces and wrenches found another way, and its verdicts."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import angeles_witness as witness
from support.angeles_verdicts import OTHERS, VERDICTS
from support.engines import pinocchio_model, se3
from support.strategies import random_arm, random_base_motion, random_state, seeds
from support.study_checks import (
    assert_contents,
    assert_every_verdict_can_change,
    assert_whole_and_finite,
    named,
    numbers,
    table,
)
from support.tolerances import OUTSIDE, error
from tauforge.algebra.vectors import ZERO, Vector
from tauforge.analysis.comparison import random_states, row_errors
from tauforge.analysis.complexity import general_operation_count
from tauforge.formulations.serial import INVERSE_DYNAMICS, modified_newton_euler, orthogonal_complement, outward_inward
from tauforge.formulations.serial.parameters import moving_base
from tauforge.formulations.trees.recursion import BaseState
from tauforge_papers import misprints as trials
from tauforge_papers import published_counts as published
from tauforge_papers import random_arms
from tauforge_papers.angeles import algorithm_counts, complement, prismatic
from tauforge_papers.angeles import misprints as chapter
from tauforge_papers.angeles import study as angeles
from tauforge_papers.misprints import as_printed
from tauforge_papers.random_arms import reference

ROUNDING = 1e-12
SLOPE = 1e-6  # of central differences with a step of 1e-6
OFF = 0.01
mixed_kinds = st.text("RP", min_size=1, max_size=7)


@pytest.fixture(scope="module")
def study(user_environment):
    """As a reader runs it: one of its claims times a kernel."""
    told = []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in user_environment.items():
            patch.setenv(name, value)
        found = angeles.study(told.append)
    assert len(told) == 4
    return found


def column(made, name):
    return [row[made.columns.index(name)] for row in made.rows]


# ----------------------------------------------------------------------------------------------------------- verdicts


EXPECTED = {
    "equation": "7.23b 7.24a 7.24b 7.25a 7.25b 7.26a 7.26b 7.27 7.28 7.29 7.30 7.31 7.32a 7.32b 7.32c 7.32d 7.33a "
    "7.33b 7.34a 7.34b 7.34c 7.34d 7.34e 7.34f 7.35 7.36 7.37 7.38a 7.38b 7.38c 7.38d 7.39 7.40 7.41 7.42 7.43 7.44 "
    "7.45 7.46 7.47 7.48 7.49 7.50 7.51 7.52 7.53 7.54 7.55a 7.55b 7.56 7.57 7.58",
    "algorithm": "7.4.1 7.4.2",
    "figure": "7.2 7.3 7.4 7.5",
    "table": "7.1 7.2 7.3 7.4",
}


def test_it_is_whole(study):
    assert_whole_and_finite(study)
    assert_contents(study, EXPECTED)


def test_verdicts(study):
    assert {c.name: c.verdict for c in study.claims} == VERDICTS


def test_every_verdict_can_change(study):
    assert_every_verdict_can_change(study, OTHERS)


def test_what_may_be_an_error_of_reading_is_not_held_against_the_chapter(study):
    told = named(study, "backward-transformation")
    assert "read v as v_2" in told.rule.words
    assert numbers(told.measured)[0] > OFF
    assert "few microseconds" in named(study, "microseconds").claim
    assert not any("least count" in c.claim for c in study.claims)


# ------------------------------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize("n", [1, 3, 6])
def test_counts_of_algorithms_written_out_by_hand(n):
    """Every multiplication and addition of another code of both algorithms, component by component."""
    mended, printed = witness.counts("R" * n), witness.counts("R" * n, ("turn",))
    inward, as_the_chapter_has_it = mended.pop("inward"), printed["inward"]
    assert tuple(np.sum(list(mended.values()), axis=0)) == (82 * n, 66 * n)
    assert algorithm_counts.outward_cost(n)[:2] == (82 * n, 66 * n)
    assert {name: cost[:2] for name, cost in algorithm_counts.outward_rows("R" * n).items()} == mended
    assert as_the_chapter_has_it == (55 * n - 22, 44 * n - 14)
    assert algorithm_counts.inward_cost(n, True)[:2] == as_the_chapter_has_it
    assert inward == (55 * n - 6, 44 * n - 6)
    assert algorithm_counts.inward_cost(n)[:2] == inward


def test_counts_of_a_prismatic_joint_by_hand(study):
    """As printed the algorithm takes what the list says; mended, c'' takes more."""
    listed = {row.item: (int(row.multiplications(1)), int(row.additions(1))) for row in published.ANGELES_PRISMATIC}
    printed, mended = witness.counts("P", ("branch",)), witness.counts("P")
    del printed["inward"], mended["inward"]
    assert printed == listed
    assert mended == {**listed, "c''_i": (22, 20)}
    ours = {name: cost[:2] for name, cost in algorithm_counts.outward_rows("P").items()}
    constant = {"Q_i", "c_i"}  # ours computes beforehand what does not change
    assert {name: ours[name] for name in ours if name not in constant} == {
        name: mended[name] for name in mended if name not in constant
    }
    assert ours["Q_i"] == (0, 0)
    assert ours["c_i"] == (2 + 8, 2 + 3 + 4 + 3)  # b times the turned axis, rho, and Q' c + u
    assert numbers(named(study, "prismatic-count").printed)[:2] == [70, 53]


def test_tables_as_printed(study):
    """Typed in from the chapter once more."""
    rows = np.array([(4, 0), (8, 5), (20, 16), (10, 7), (32, 28)])
    assert tuple(rows.sum(axis=0)) == (74, 56)
    assert "74 n" in named(study, "table-7-1-sum").measured
    formulas = [(412, -277, 320, -201), (150, -48, 131, -48), (137, -22, 101, -11), (105, -92, 94, -86)]
    formulas += [(105, -109, 90, -105), (93, -69, 81, -65), (88, -69, 76, -66)]
    at_six = [(2195, 1719), (852, 738), (800, 595), (538, 478), (521, 435), (489, 420), (459, 390)]
    wrong = [k for k, (a, b, c, d) in enumerate(formulas) if (6 * a + b, 6 * c + d) != at_six[k]]
    assert wrong == [5]
    assert named(study, "table-7-4-from-7-3").evidence["differences"] == [0] * 7  # one digit
    assert "489 multiplications, 421 additions" in named(study, "table-7-4-from-7-3").measured
    made = table(study, "table-7-4")
    assert [row[1:3] for row in made.rows if row[3] is not None and row[1] is not None] == at_six


def test_counts_are_the_librarys(study):
    for name in INVERSE_DYNAMICS:
        cost = general_operation_count(6, name)
        for made in ("table-7-3", "table-7-4"):
            (row,) = [row for row in table(study, made).rows if row[0] == f"tauforge, {name}, traced"]
            assert row[-2:] == (cost.multiplications, cost.additions)


# ---------------------------------------------------------------------------------------------- forces and misprints


@given(seeds, mixed_kinds)
def test_the_mended_algorithms_by_hand_are_pinocchios(rng, letters):
    arm = random_arms.random_arm(rng, letters)
    state = random_states(arm, 3)
    model = pinocchio_model(arm)
    data = model.createData()
    exact = np.array([pin.rnea(model, data, *row) for row in zip(*state, strict=True)])
    assert row_errors(witness.forces(arm, state), exact).max() < OUTSIDE
    assert (
        row_errors(reference(INVERSE_DYNAMICS["outward-inward"], arm.model.parameters, *state), exact).max() < OUTSIDE
    )


@pytest.mark.parametrize(
    ("name", "changes", "kinds", "printed"),
    [
        ("backward-transformation", chapter.BACKWARD, "RRRRRR", ("backward",)),
        ("inward-turn", chapter.TURNED_BEFORE_ADDING, "RRRRRR", ("turn",)),
        ("prismatic-branch", chapter.SLIDE_NOT_TURNED, chapter.MIXED, ("branch",)),
        ("prismatic-moment", chapter.NO_MOMENT_OF_TRAVEL, chapter.MIXED, ("moment",)),
    ],
)
def test_misprints_by_hand(study, name, changes, kinds, printed):
    """The algorithms written out with the chapter's own lines give the same wrong forces."""
    formula = trials.misprinted(outward_inward, *changes)()
    random, errors = np.random.default_rng(0), []
    for seed in range(trials.ARMS):
        arm = random_arms.random_arm(random, kinds)
        state = random_states(arm, trials.STATES, seed)
        wrong = witness.forces(arm, state, printed)
        assert row_errors(reference(formula, arm.model.parameters, *state), wrong).max() < ROUNDING
        errors.append(row_errors(wrong, witness.forces(arm, state)))
    told = named(study, name)
    assert numbers(told.measured)[0] == pytest.approx(np.median(errors), rel=0.06)
    assert np.median(errors) > OFF
    if told.evidence:
        assert told.evidence["mended"] < ROUNDING


def test_prismatic_joints_as_printed(study):
    """Slides along the last axis alone need no moment of theirs; a Stanford arm does."""
    made = table(study, "prismatic")
    assert max(column(made, "mended (-)")) < ROUNDING
    printed = dict(zip(column(made, "arm"), column(made, "eq. 7.38d as printed (-)"), strict=True))
    assert printed["stanford"] > 0.1
    assert printed["scara"] < ROUNDING


def test_a_point_of_a_revolute_joint_is_not_free():
    for kinds, free in (("RPR", True), ("RRR", False)):
        arm = random_arms.random_arm(np.random.default_rng(3), kinds)
        state = random_states(arm, 20)
        moved = prismatic.moved(arm.model.parameters, 1, Vector(0.3, -0.2, 0.5))
        apart = row_errors(
            *(reference(INVERSE_DYNAMICS["newton-euler"], one, *state) for one in (arm.model.parameters, moved))
        )
        assert apart.max() < ROUNDING if free else np.median(apart) > OFF


def test_a_text_put_back_must_have_been_there():
    with pytest.raises(LookupError, match=r"outward_inward: expected 'no such line' once, got it 0 times"):
        as_printed(outward_inward, ("no such line", ""))
    arm = random_arm(np.random.default_rng(9), "RPR")
    states = random_states(arm, 5)
    same = as_printed(modified_newton_euler)["inverse_dynamics"]
    exact = INVERSE_DYNAMICS["modified-newton-euler"]
    assert np.array_equal(*(reference(f, arm.model.parameters, *states) for f in (same, exact)))


# ----------------------------------------------------------------------------------- motions, wrenches, moving bases


def base_state(arm, motion):
    return moving_base(arm.model.parameters, *(Vector(*np.asarray(part).tolist()) for part in motion))


def in_world(frame, v):
    return frame[:3, :3] @ np.array(list(v), float)


@given(seeds, mixed_kinds)
def test_outward_recursions_in_world_axes(rng, letters):
    """Angular velocities and accelerations, mass centres, their velocities and accelerations; the base moves."""
    arm = random_arm(rng, letters, drives=False)
    q, qd, qdd = random_state(rng, arm.n)
    motion = random_base_motion(rng)
    exact = witness.world(arm, q, qd, qdd, np.array(motion))
    frames = arm.link_frames(q)
    start = outward_inward.MassCentre(ZERO, ZERO)
    found = outward_inward.outward(
        arm.model.parameters, q.tolist(), qd.tolist(), qdd.tolist(), base_state(arm, motion), start
    )
    origin = frames[0][:3, 3]
    arm_of_base = np.cross(motion[0], origin - np.array(arm.base)[:3, 3])  # velocity of the origin of frame 0
    for i, link in enumerate(found):
        pairs = (
            (link.omega, exact.omega[i]),
            (link.omega_dot, exact.alpha[i]),
            (link.centre.c, exact.c[i] - origin),
            (link.centre.c_dot, exact.c_dot[i] - arm_of_base),
            (link.c_ddot, exact.c_ddot[i]),
        )
        for ours, other in pairs:
            assert np.abs(in_world(frames[i + 1], ours) - other).max() < OUTSIDE * (1 + np.abs(other).max())


def test_the_point_that_the_base_is_known_by_is_free():
    """C_0 elsewhere on the base, delta_0 from it to the first joint: the links move the same way."""
    random = np.random.default_rng(12)
    arm = random_arm(random, "RPR").model.parameters
    state = [row.tolist() for row in random_state(random, 3)]
    omega, alpha, a, v, d = random.normal(size=(5, 3))
    r = -d  # from the origin of frame 0 to C_0
    moved = a + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
    here, there = (
        outward_inward.outward(
            arm,
            *state,
            BaseState(*(Vector(*part.tolist()) for part in (omega, alpha, acceleration))),
            outward_inward.MassCentre(Vector(*c.tolist()), Vector(*c_dot.tolist())),
            Vector(*delta.tolist()),
        )
        for acceleration, c, c_dot, delta in (
            (a, np.zeros(3), v, np.zeros(3)),
            (moved, r, v + np.cross(omega, r), d),
        )
    )
    for one, other in zip(here, there, strict=True):
        for x, y in zip((*one[1:4], *one.centre), (*other[1:4], *other.centre), strict=True):
            assert np.allclose([*x], [*y], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("formulation", ["outward-inward", "orthogonal-complement"])
@given(rng=seeds, letters=mixed_kinds)
def test_a_moving_base_in_pinocchio(formulation, rng, letters):
    """A free flyer under the arm, moved as the base moves."""
    arm = random_arm(rng, letters)
    model = pinocchio_model(arm, moving_base=True)
    q, qd, qdd = random_state(rng, arm.n)
    motion = random_base_motion(rng)
    base = se3(arm.base)
    omega, alpha, a = (base.rotation.T @ np.asarray(x) for x in motion)
    position = np.concatenate([pin.SE3ToXYZQUAT(base), q])
    rates = np.concatenate([np.zeros(3), omega, qd]), np.concatenate([a, alpha, qdd])
    tau = pin.rnea(model, model.createData(), position, *rates)[6:]
    state = (q.tolist(), qd.tolist(), qdd.tolist())
    ours = INVERSE_DYNAMICS[formulation](arm.model.parameters, *state, base=base_state(arm, motion))
    assert error(np.array(ours, float), tau) < OUTSIDE


@given(seeds, mixed_kinds)
def test_constraint_wrenches_in_world_axes(rng, letters):
    """w^C of a link: its own joint's wrench without the actuator's part, less that of the next joint."""
    arm = random_arm(rng, letters).replace(base=np.eye(4))
    state = random_state(rng, arm.n)
    exact = witness.world(arm, *state)
    expected = np.zeros((arm.n, 6))
    for i, joint in enumerate(arm.joints):
        force, moment, axis = exact.wrenches[i, :3].copy(), exact.wrenches[i, 3:].copy(), exact.axes[i]
        if joint.kind == "R":
            moment -= axis * (axis @ moment)
        else:
            force -= axis * (axis @ force)
        for link, sign in ((i, 1), (i - 1, -1)):
            if link >= 0:
                at_centre = moment + np.cross(exact.origins[i] - exact.c[link], force)
                expected[link] += sign * np.concatenate([at_centre, force])
    ours = complement.stacked(orthogonal_complement.constraint_wrenches(arm.model.parameters, *map(list, state)))
    size = np.abs(exact.wrenches).max()
    assert np.abs(ours - expected.reshape(-1)).max() < OUTSIDE * size
    twists = np.concatenate([exact.omega, exact.c_dot], axis=1).reshape(-1)
    assert abs(twists @ ours) < OUTSIDE * (np.abs(twists) @ np.abs(ours) + 1e-30)
    K = np.array(orthogonal_complement.constraint_matrix(arm.model.parameters, list(state[0])), float)
    assert np.abs(K @ twists).max() < OUTSIDE * np.abs(twists).max()


@given(seeds, mixed_kinds)
def test_joint_wrenches_are_pinocchios(rng, letters):
    """f_i and n_i of the inward recursions, in the axes of the joint; Pinocchio's are about its own moved origin."""
    arm = random_arm(rng, letters)
    model = pinocchio_model(arm)
    data = model.createData()
    q, qd, qdd = random_state(rng, arm.n)
    pin.forwardKinematics(model, data, q)
    pin.rnea(model, data, q, qd, qdd)
    parameters = arm.model.parameters
    state = q.tolist(), qd.tolist(), qdd.tolist()
    motions = outward_inward.outward(parameters, *state, outward_inward.base_at_rest(parameters))
    wrenches = outward_inward.inward(parameters, q.tolist(), motions, outward_inward.NO_WRENCH)
    frames = arm.link_frames(q)
    for i, wrench in enumerate(wrenches):
        at = data.oMi[i + 1]
        force, moment = at.rotation @ data.f[i + 1].linear, at.rotation @ data.f[i + 1].angular
        moment = moment + np.cross(at.translation - frames[i][:3, 3], force)
        size = np.abs([*force, *moment]).max()
        assert np.abs(in_world(frames[i], wrench.force) - force).max() < OUTSIDE * size
        assert np.abs(in_world(frames[i], wrench.moment) - moment).max() < OUTSIDE * size


# ------------------------------------------------------------------------------------ natural orthogonal complement


def test_the_shaping_matrix_is_the_derivative_of_the_mass_centres():
    arm = random_arm(np.random.default_rng(6), "RPRPR").replace(base=np.eye(4))
    q = np.random.default_rng(7).normal(size=5)
    coms = [np.append(joint.com, 1.0) for joint in arm.joints]

    def centres(q):
        return np.concatenate([(frame @ com)[:3] for frame, com in zip(arm.link_frames(q)[1:], coms, strict=True)])

    h = 1e-6
    slopes = np.array([(centres(q + h * e) - centres(q - h * e)) / (2 * h) for e in np.eye(5)]).T
    T = np.array(orthogonal_complement.twist_shaping_matrix(arm.model.parameters, q.tolist()))
    linear = T.reshape(5, 6, 5)[:, 3:].reshape(15, 5)
    assert np.abs(linear - slopes).max() < SLOPE


@given(seeds, mixed_kinds)
def test_the_generalized_inertia_and_the_accelerations_are_pinocchios(rng, letters):
    arm = random_arm(rng, letters)
    model = pinocchio_model(arm)
    data = model.createData()
    q, qd, _ = random_state(rng, arm.n)
    I = np.array(orthogonal_complement.generalized_inertia(arm.model.parameters, q.tolist()), float)
    crba = np.array(pin.crba(model, data, q))
    crba = np.triu(crba) + np.triu(crba, 1).T
    assert np.abs(I - crba).max() < OUTSIDE * np.abs(crba).max()
    tau = rng.normal(size=arm.n) * np.abs(I).max()
    rest = INVERSE_DYNAMICS["orthogonal-complement"](arm.model.parameters, q.tolist(), qd.tolist(), [0.0] * arm.n)
    accelerations = np.linalg.solve(I, tau - np.array(rest, float))
    exact = pin.aba(model, data, q, qd, tau)
    assert np.abs(accelerations - exact).max() < OUTSIDE * np.linalg.cond(I) * (1 + np.abs(exact).max())
    gravity = INVERSE_DYNAMICS["outward-inward"](arm.model.parameters, q.tolist(), [0.0] * arm.n, [0.0] * arm.n)
    assert error(np.array(gravity, float), pin.computeGeneralizedGravity(model, data, q)) < OUTSIDE
