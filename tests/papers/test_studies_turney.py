"""The study of Turney, Mudge & Lee 1980: its numbers found here another way, and verdicts that follow the numbers."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest
import sympy

import tauforge as tf
from support.engines import pinocchio_model
from support.strategies import random_arm
from support.study_checks import (
    assert_contents,
    assert_every_verdict_can_change,
    assert_steps_have_their_verdicts,
    assert_whole_and_finite,
    figure,
    numbers,
    table,
)
from support.turney_verdicts import EQUATIONS, HOLDS, MIXED, NOT, OTHERS, VERDICTS, ZEROS
from support.turney_witness import Chain, lagrange, torques
from tauforge.analysis.comparison import random_states, row_errors
from tauforge.analysis.complexity import general_cost_of, general_operation_count
from tauforge.control import ComputedTorque
from tauforge.formulations.serial import INVERSE_DYNAMICS, lagrange_euler, strobing
from tauforge.motion import JointMove
from tauforge_papers.derivation import derivation_steps
from tauforge_papers.lee1982 import control as lee_control
from tauforge_papers.random_arms import reference
from tauforge_papers.turney1980 import (
    appendix,
    counts,
    derivation,
    errata,
    explicit,
    hand,
    significance,
    simulated,
    terms,
)
from tauforge_papers.turney1980 import study as turney1980
from tauforge_papers.turney1980.simulation import StrobedArm

FULL = tf.load("puma560").without_friction().replace(limits=[None] * 6, gravity=(0, 0, -9.8))
PUMA = FULL.without_rotors()
START, END = np.deg2rad([[-90, 180, 270, 180, 0, 0], [-135, 210, 180, 225, -60, 90]])
ROUNDING = 1e-12


@pytest.fixture(scope="module", autouse=True)
def as_a_reader(user_environment):
    """The simulations take minutes without kernels; an arm that was used without them would go on without."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in user_environment.items():
            patch.setenv(name, value)
        lee_control.puma.cache_clear()
        yield
        lee_control.puma.cache_clear()


@pytest.fixture(scope="module")
def study(as_a_reader):
    told = []
    found = turney1980.study(told.append)
    assert len(told) >= 4
    return found


@pytest.fixture(scope="module")
def claims(study):
    return {c.name: c for c in study.claims}


def column(made, name):
    return [row[made.columns.index(name)] for row in made.rows]


# ------------------------------------------------------------------------------------------------- whole, and verdicts


def test_the_study_is_whole(study):
    assert study.name == "turney1980"
    assert_whole_and_finite(study)
    assert all(not c.claim[0].islower() or c.claim.startswith(("alpha_i", "f_{n+1}")) for c in study.claims)


def test_verdicts(claims):
    assert {name: c.verdict for name, c in claims.items()} == VERDICTS


def test_every_verdict_can_change(study):
    assert_every_verdict_can_change(study, OTHERS)


@pytest.mark.parametrize(
    ("name", "evidence", "verdict"),
    [
        ("effort-explicit", {"multiplications": [1.0], "operations": [0.9]}, NOT),  # as many multiplications
        ("effort-explicit", {"multiplications": [0.9], "operations": [1.0]}, NOT),  # as many operations
        ("strobed-simulation", {"accelerations": 1e-9}, NOT),
        ("no-pivoting", {"plain": 1.0}, NOT),
        ("wrist-forces", {"balance": 1.0}, MIXED),
        ("parallelism", {"modified": [402.0, 27.0, 27.0]}, MIXED),  # as many steps by rows as Newton-Euler
        ("appendix-total", {"multiplications": ZEROS, "additions": ZEROS}, HOLDS),
        ("appendix-total", {"additions": ZEROS, "additions_table_2": ZEROS}, NOT),
    ],
)
def test_rules_look_at_all_their_evidence(claims, name, evidence, verdict):
    c = claims[name]
    assert c.rule.decide(**{**c.evidence, **evidence}) == verdict


def test_contents(study):
    """Two numbers, 2.1 and 2.3, are not in the text at hand; the equations between their neighbours are."""
    assert_contents(study, {"equation": EQUATIONS, "figure": "1 2 3 4", "table": "1 2 3 4 5"})
    for item in study.contents:
        if item.number in ("2.1", "2.3"):
            assert "number is not in our text" in item.remark


def test_steps_that_are_false_as_printed_are_not_said_to_hold(study):
    assert_steps_have_their_verdicts(study)


# --------------------------------------------------------------------- holds: equivalence, derivation, simulation, hand


def test_formulations_are_a_recursion_in_world_axes_and_pinocchios():
    arm = random_arm(np.random.default_rng(8), "RRRRRR").replace(base=np.eye(4))
    states = random_states(arm, 20)
    model = pinocchio_model(arm)
    by_pinocchio = np.array([pin.rnea(model, model.createData(), *row) for row in zip(*states, strict=True)])
    in_world_axes = np.array([torques(arm, *row) for row in zip(*states, strict=True)])
    assert row_errors(in_world_axes, by_pinocchio).max() < ROUNDING
    for name in counts.SETS:
        found = reference(INVERSE_DYNAMICS[name], arm.model.parameters, *states)
        assert row_errors(found, by_pinocchio).max() < ROUNDING


def test_the_derivation_ends_with_lagranges_torques():
    """The torques come from energies alone, differentiated by JAX."""
    arm, state = derivation.arm_and_state()
    expected = lagrange(Chain(arm, state[0]), *state[1:], derivation.G)
    steps = derivation_steps(arm, *state)
    assert row_errors(steps["2.11"].left[None], expected[None]).max() < ROUNDING
    assert row_errors(steps["2.11"].corrected, expected[None]).max() < ROUNDING


def test_the_mass_matrix_is_pinocchios(claims):
    """Without rotors and with them: joint 6 alone makes the smallest eigenvalue."""
    q = random_states(PUMA, simulated.POSES)[0]
    least = {}
    for arm in (PUMA, FULL):
        model = pinocchio_model(arm)
        M = np.array([pin.crba(model, model.createData(), row) for row in q])
        M = np.triu(M) + np.triu(M, 1).transpose(0, 2, 1)
        least[arm] = np.linalg.eigvalsh(M).min()
        strobed = StrobedArm(arm)
        assert np.allclose(np.array([strobed.mass_matrix(row) for row in q]), M, rtol=1e-9, atol=1e-12)
    assert least[PUMA] == pytest.approx(3.9e-5, rel=0.01)
    assert numbers(claims["no-pivoting"].measured)[0] == pytest.approx(least[PUMA], rel=0.02)
    assert claims["no-pivoting"].evidence["least"] == pytest.approx(least[PUMA], rel=1e-6)


def test_elimination_without_pivoting():
    M = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
    assert np.allclose(simulated.eliminated(M, M @ [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0], rtol=ROUNDING)


def test_free_fall_is_the_simulated_one(study, claims):
    fall = tf.simulate(PUMA, None, initial=(START, np.zeros(6)), duration=1.0, step=0.002)
    drawn = np.array([line.y for line in figure(study, "simulation").panels[0].lines]).T
    assert np.abs(drawn - np.rad2deg(fall.position - START)).max() < 1e-9  # degrees, after rounding
    assert abs(numbers(claims["runge-kutta"].measured)[0] - 4) < 0.2


def test_strobed_accelerations_of_a_general_arm():
    arm = random_arm(np.random.default_rng(3), "RPRR", drives=True).without_friction()
    q, qd, tau = np.random.default_rng(4).normal(size=(3, 4))
    strobed = StrobedArm(arm)
    assert np.allclose(strobed.acceleration(q, qd, tau), arm.forward_dynamics(q, qd, tau), rtol=1e-10)
    assert np.allclose(strobed.mass_matrix(q), arm.mass_matrix(q), rtol=1e-10)


def test_a_force_at_the_hand_is_pinocchios(study):
    model = pinocchio_model(PUMA)
    data, tool = model.createData(), model.getFrameId("tool")
    q, qd, qdd = (row[0] for row in random_states(PUMA, 1))
    pin.forwardKinematics(model, data, q)
    pin.updateFramePlacements(model, data)
    rotation, last = data.oMf[tool].rotation, model.njoints - 1
    at_tool = pin.Force(rotation.T @ hand.WRENCH[:3], rotation.T @ hand.WRENCH[3:])
    placed = data.oMi[last].actInv(data.oMf[tool])
    felt = [pin.Force.Zero() for _ in range(last)] + [placed.act(at_tool)]
    expected = pin.rnea(model, model.createData(), q, qd, qdd, felt)
    found = PUMA.inverse_dynamics(q, qd, qdd, tip_wrench=hand.WRENCH, formulation="modified-newton-euler")
    assert np.abs(found - expected).max() < ROUNDING * np.abs(expected).max()
    unfelt = column(table(study, "hand"), "force not sensed (rad)")
    assert min(unfelt) > 10 * max(column(table(study, "hand"), "no force (rad)"))


# --------------------------------------------------------------------------------------- terms, with and without rotors


def test_groups_of_terms_are_pinocchios(study):
    """The Coriolis torque of joint 6 is 37 % of its largest without rotors; 14 %, of joint 1, with them."""
    model = pinocchio_model(PUMA)
    data = model.createData()
    coriolis, rigid, accelerations = [], [], []
    for q, qd, qdd in zip(*JointMove(START, END, 3.0).sample(np.linspace(0, 3.0, 401)), strict=True):
        gravity = pin.rnea(model, data, q, 0 * q, 0 * q).copy()
        velocity = pin.rnea(model, data, q, qd, 0 * q) - gravity
        coriolis.append(velocity - sum(pin.rnea(model, data, q, row, 0 * q) - gravity for row in np.diag(qd)))
        rigid.append(pin.rnea(model, data, q, qd, qdd).copy())
        accelerations.append(qdd)
    rotors = np.array([joint.motor_inertia * joint.gear_ratio**2 for joint in FULL.joints])
    made = table(study, "terms")
    share = made.columns.index("of the joint's largest torque in 3 s (-)")
    for name, reflected, expected, joint in (("without rotors", 0 * rotors, 0.37, 5), ("with rotors", rotors, 0.14, 0)):
        peak = np.abs(np.array(rigid) + reflected * accelerations).max(axis=0)
        found = np.abs(coriolis).max(axis=0) / peak
        row = next(row for row in made.rows if row[:2] == ("Coriolis", name))
        assert row[share] == pytest.approx(found.max(), rel=1e-6)
        assert found.max() == pytest.approx(expected, abs=0.005)
        assert found.argmax() == joint
        assert row[share + 1] == f"joint {joint + 1}"


@pytest.mark.parametrize("link", [2, 4, 6])
def test_a_deleted_term_is_missing_from_the_recursion_in_world_axes(link):
    found = significance.contributions(False, 3.0)
    t = np.linspace(0, 3.0, significance.SAMPLES)
    states = list(zip(*JointMove(START, END, 3.0).sample(t), strict=True))
    whole = np.array([torques(PUMA, *row) for row in states])
    peak = np.abs(whole).max(axis=0)
    for name in significance.TERMS:
        rest = np.array([torques(PUMA, *row, deleted=(name.partition(",")[0], link)) for row in states])
        expected = np.abs(rest - whole).max(axis=0) / peak
        assert np.allclose(found[name, link], expected, rtol=1e-6, atol=1e-9), name


def test_centrifugal_terms_are_those_with_christoffels_squares():
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, 6))
    groups = terms.terms(PUMA, q, qd, qdd)
    assert np.allclose(sum(groups.values()), torques(PUMA, q, qd, qdd), rtol=ROUNDING, atol=ROUNDING)
    centrifugal = sum(PUMA.coriolis_matrix(q, row) @ row for row in np.diag(qd))
    assert np.allclose(groups[terms.CENTRIFUGAL], centrifugal, atol=1e-12)
    velocity = groups[terms.CENTRIFUGAL] + groups[terms.CORIOLIS]
    assert np.allclose(velocity, PUMA.coriolis_matrix(q, qd) @ qd, atol=1e-12)


@pytest.mark.parametrize(("name", "arm"), [("without rotors", PUMA), ("with rotors", FULL)])
def test_leaving_gravity_out_is_a_model_without_gravity(study, name, arm):
    """The controller's model, not the plant's; beside computed torque on the model itself."""
    made = table(study, "terms")
    weightless = ComputedTorque(arm.replace(gravity=(0, 0, 0)), 100.0, 20.0)
    run = tf.simulate(arm, weightless, JointMove(START, END, 3.0), step=0.002, control_period=0.01)
    row = next(row for row in made.rows if row[:2] == ("gravity", name))
    found = row[made.columns.index("tracking error without it in 3 s (rad)")]
    assert found == pytest.approx(np.abs(run.error).max(), rel=1e-9)


# ---------------------------------------------------------------------------------------- counts: mixed, does not hold


def test_counts_are_the_librarys(study, claims):
    for made in study.tables:
        for row in made.rows:
            found = re.fullmatch(r"tauforge, (.+), (traced|as written)", str(row[0]))
            if found and found[1] in INVERSE_DYNAMICS:
                cost = general_operation_count(6, found[1])
                expected = cost.as_written if found[2] == "as written" else cost
                assert row[-2:] == (expected.multiplications, expected.additions)
    assert numbers(claims["modified-cheaper"].reason)[:4] == [552, 465, 641, 489]


def test_the_appendix_summed_by_sympy(study, claims):
    n, q = sympy.symbols("n q", positive=True, integer=True)
    one = 16 * q + q * (q - 1) / 2 + 16 * q * (q - 1) / 2 + 64, 16 * (q - 1) + 16 * (q + 1) * (q - 1) + 16 + 48
    seconds = [sympy.summation(cost * q * (q - 1) / 2, (q, 1, n)) for cost in (64, 48)]
    others = 64 * n * (n - 1) + 10 * n * (n + 1), 48 * n * (n - 1) + 10 * n**2 + 8 * n
    kinetic = [sympy.summation(part, (q, 1, n)) for part in one]
    whole = [sympy.expand(a + b + c) for a, b, c in zip(seconds, kinetic, others, strict=True)]
    with_16 = sympy.expand(whole[1] + 8 * n * (n**2 - 1))

    own, printed = (
        appendix.totals(second) for second in (appendix.second_derivatives().printed[1], appendix.poly(0, -8, 0, 8))
    )
    measured = claims["appendix-total"].measured
    for polynomial, expression in zip((*own, printed[1]), (whole[0], with_16, whole[1]), strict=True):
        assert all(polynomial(k) == expression.subs(n, k) for k in range(1, 9))
        assert str(polynomial) in measured
    assert sympy.expand(with_16 - (sympy.Rational(64, 3) * n**3 + 74 * n**2 - sympy.Rational(40, 3) * n)) == 0
    rows = {row[0]: row[-2:] for row in table(study, "appendix").rows}
    assert rows["total, from its parts"] == (whole[0].subs(n, 6), with_16.subs(n, 6))
    assert rows["total, from its parts and Table 2's second derivatives"] == tuple(e.subs(n, 6) for e in whole)


def test_rows_of_tables_3_and_4_by_hand(study):
    """Multiplications and additions: 9 and 6 of a matrix and a vector, 6 and 3 of a vector product, 3 of a sum."""
    product, vector, total = np.array([9, 6]), np.array([6, 3]), np.array([0, 3])
    by_hand = {
        "omega_i": product + [0, 1],
        "alpha_i": product + [2, 3],
        "A_i": np.array([6, 9]),
        "a_i": 2 * product + total,
        "a_bar_i": product + total,
        "m_i a_bar_i": product + total + [3, 0],
        "I_i alpha_i": product,
        "omega_i x (I_i omega_i)": product + vector,
        "Tr{A_i K_i sigma'}": np.array([6, 3]),
        "m (r_i + r_bar_i) x a_bar_i": vector,
        "r_i x R f_{i+1}": vector,
        "R n_{i+1}": product,
    }
    ends = {
        "Table 3": {"f_i": product + total + [3, 0], "add n": 4 * total},
        "Table 4": {"f_i": product + total, "add n": 3 * total},
    }
    rows = table(study, "terms-counted").rows
    assert len(rows) == 23
    for name, term, *_, multiplications, additions in rows:
        assert (multiplications, additions) == tuple((by_hand | ends[name])[term]), (name, term)


def test_effort_of_strobing_by_counting_each_arm(claims):
    """Six joints and four, traced afresh: a simulation from Lagrange's equations needs no single coefficient of C."""
    rest = {
        "effort-explicit": (
            lambda arm, q, qd, qdd: strobing.explicit_model(INVERSE_DYNAMICS["modified-newton-euler"], arm, q),
            lambda arm, q, qd, qdd: [
                lagrange_euler.mass_matrix(arm, q),
                lagrange_euler.coriolis_coefficients(arm, q),
                lagrange_euler.gravity_forces(arm, q),
            ],
        ),
        "effort-simulation": (
            lambda arm, q, qd, qdd: [
                strobing.mass_matrix(INVERSE_DYNAMICS["modified-newton-euler"], arm, q),
                INVERSE_DYNAMICS["modified-newton-euler"](arm, q, qd, [0.0] * arm.n),
            ],
            lambda arm, q, qd, qdd: [
                lagrange_euler.mass_matrix(arm, q),
                INVERSE_DYNAMICS["lagrange-euler"](arm, q, qd, [0.0] * arm.n),
            ],
        ),
    }
    for name, functions in rest.items():
        for n in (4, 6):
            ours, theirs = (general_cost_of(function, n) for function in functions)
            k = explicit.SIZES.index(n)
            found = claims[name].evidence
            assert found["multiplications"][k] == pytest.approx(ours.multiplications / theirs.multiplications)
            assert found["operations"][k] == pytest.approx(ours.flops / theirs.flops)
    assert "For n = 4 and 5 strobing takes more" in claims["effort-explicit"].reason


def test_every_pair_of_velocities_loads_every_joint():
    """Strobed C of arms with 2 to 6 joints: the torques that are not zero are of order n^3, not n^2."""
    found = []
    for n in range(2, 7):
        arm = random_arm(np.random.default_rng(n), "R" * n).replace(gravity=(0, 0, 0))
        q = np.random.default_rng(n + 10).normal(size=n)
        pairs = [strobing.unit(n, j, k) for j in range(n) for k in range(j + 1)]
        forces = np.array([torques(arm.replace(base=np.eye(4)), q, np.array(pair), np.zeros(n)) for pair in pairs])
        found.append(int((np.abs(forces) > 1e-9).sum()))
    assert np.all(np.diff(found, 3) > 0)
    assert all(count > 2 * n * (n + 1) / 2 for n, count in zip(range(4, 7), found[2:], strict=True))


# --------------------------------------------------------------------------------------- misprints: with a correction


def test_every_misprint_that_can_be_run_costs(study):
    made = table(study, "misprints")
    errors = dict(zip(column(made, "quantity"), column(made, "error of the forces (-)"), strict=True))
    assert {what for what, error in errors.items() if error is not None} == {
        m.what for m in errata.MISPRINTS if m.trial is not None
    }
    assert min(error for error in errors.values() if error is not None) > 0.01
    maybe = {m.where for m in errata.MISPRINTS if m.reading}
    assert {"eq. 3.18", "section 5, A_i", "eqs 2.9, 2.11, 4.4-4.34"} <= maybe
    assert (
        dict(zip(column(made, "where"), column(made, "error of the reading machine"), strict=True))["eq. 3.18"]
        == "maybe"
    )


def test_assumptions_are_no_misprints():
    """Principal axes are assumed; a vector equation is right in any frame."""
    assert not {"eq. 1.26", "eq. 3.16", "section 3, a_0"} & {m.where for m in errata.MISPRINTS}
    assert not any("principal" in m.what for m in errata.MISPRINTS)


def test_literal_strobing_another_way():
    """Pairs of unit velocities, by the recursion in world axes, taken for the coefficients."""
    arm = random_arm(np.random.default_rng(8), "RRRR").replace(base=np.eye(4))
    q, qd, qdd = random_states(arm, 6)
    found = reference(errata.strobed(True), arm.model.parameters, q, qd, qdd)
    weightless = arm.replace(gravity=(0, 0, 0))
    for row in range(len(q)):
        still = np.zeros(4)
        expected = torques(arm, q[row], still, qdd[row])
        for j in range(4):
            for k in range(4):
                both = np.zeros(4)
                both[[j, k]] = 1.0
                expected = expected + torques(weightless, q[row], both, still) * qd[row, j] * qd[row, k]
        assert np.abs(found[row] - expected).max() < 1e-10 * np.abs(expected).max()
