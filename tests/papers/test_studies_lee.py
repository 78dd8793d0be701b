"""Lee, Chung, Mudge & Turney 1982: its verdicts, and the numbers they rest on found by Pinocchio, numpy and scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import expm

import tauforge as tf
from support import lee_witness as witness
from support.lee_verdicts import OTHERS, VERDICTS
from support.study_checks import (
    assert_contents,
    assert_every_verdict_can_change,
    assert_steps_have_their_verdicts,
    assert_whole_and_finite,
    figure,
    half_a_digit,
    named,
    numbers,
    papers_figures,
    printed,
    table,
)
from tauforge.analysis.comparison import random_states
from tauforge.analysis.complexity import operation_count
from tauforge.charts.figure import colours
from tauforge_papers import published_counts as published
from tauforge_papers.lee1982 import (
    adaptation,
    gains,
    near_minimum_time,
    resolved_rate,
    side_by_side,
    tracking,
)
from tauforge_papers.lee1982 import control as lee
from tauforge_papers.lee1982.study import study as make
from tauforge_papers.random_arms import random_arm

ONE_BIT = 4.26e-4  # rad, in the paper's words
SAME = 1e-9  # relative: the same steps by two codes
STEPS = 1e-5  # relative: two and five steps of the integrator a period


@pytest.fixture(scope="module", autouse=True)
def as_a_reader(user_environment):
    """The simulations take minutes without kernels; an arm that was used without them would go on without."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in user_environment.items():
            patch.setenv(name, value)
        lee.puma.cache_clear()
        near_minimum_time.approach.cache_clear()
        yield
        lee.puma.cache_clear()
        near_minimum_time.approach.cache_clear()


@pytest.fixture(scope="module")
def study(as_a_reader):
    told = []
    found = make(told.append)
    assert len(told) >= 4
    return found


def test_the_study_is_whole(study):
    assert study.name == "lee1982"
    assert_whole_and_finite(study)
    assert papers_figures(study) == set(range(1, 9))
    for claim in study.claims:
        assert not claim.claim[0].islower()


def test_verdicts(study):
    assert {claim.name: claim.verdict for claim in study.claims} == VERDICTS


def test_every_verdict_can_change(study):
    assert_every_verdict_can_change(study, OTHERS)


def test_contents(study):
    sections = {2: 22, 3: 27, 4: 41}
    assert_contents(
        study,
        {
            "equation": " ".join(f"{s}.{k}" for s, count in sections.items() for k in range(1, count + 1)),
            "figure": "1 2 3 4 5 6 7 8",
            "table": "1 2",
        },
    )


# The move: a computed-torque loop and Runge-Kutta in numpy on Pinocchio's dynamics.


def test_figures_3_to_8_are_the_errors_of_the_joints(study):
    measured = numbers(named(study, "within-a-bit").measured)
    for k, duration in enumerate((3.0, 1.0)):
        for row, rotors in enumerate((False, True)):
            errors = witness.move_errors(duration, rotors)
            for joint in range(6):
                drawn = figure(study, f"fig-{3 + joint}").panels[k].lines[row]
                assert drawn.label == ("with rotors" if rotors else "the paper's arm")
                assert np.abs(drawn.y[::5] - errors[:, joint]).max() < SAME
            assert measured[[0, 2, 6, 8][2 * row + k]] == pytest.approx(np.abs(errors).max(), rel=0.01)


def test_the_paper_s_arm_has_no_rotors():
    q = np.random.default_rng(0).normal(size=(5, 6))
    for rotors in (False, True):
        arm = witness.Arm(rotors)
        assert np.allclose(lee.puma(rotors).mass_matrix(q), [arm.inertia(one) for one in q], rtol=1e-10, atol=1e-12)
    assert lee.puma() == lee.puma(False)


@pytest.mark.parametrize(("rotors", "where"), [(False, 0), (True, 1)])
def test_where_the_curve_crosses_the_bound(study, rotors, where):
    """At the tenth of a second that the page gives, and not a tenth before; and the issue's numbers at 6 and 8 s."""
    crossing = numbers(named(study, "within-a-bit").reason)[where]
    drawn = figure(study, "error-against-duration").panels[0]
    assert drawn.marks[where][0] == crossing
    later, before = (np.abs(witness.move_errors(t, rotors)).max() for t in (crossing, crossing - 0.1))
    assert later < ONE_BIT < before
    if not rotors:
        for duration, expected in ((3.0, 1.04e-3), (6.0, 4.9e-4), (8.0, 3.6e-4)):
            assert np.abs(witness.move_errors(duration)).max() == pytest.approx(expected, rel=0.02)


def test_the_curve_at_some_durations(study):
    lines = {line.label: line for line in figure(study, "error-against-duration").panels[0].lines}
    assert list(lines["the paper's arm"].y) == named(study, "within-a-bit").evidence["errors"]  # what is judged
    for name, rotors in (("the paper's arm", False), ("with rotors", True)):
        line = lines[name]
        for k in (0, 20, 40):
            error = np.abs(witness.move_errors(line.x[k], rotors)).max()
            assert line.y[k] == pytest.approx(error, rel=STEPS)
        estimate = lines[f"estimate, {name}"].y
        slow = line.x >= 3.0
        assert np.abs(estimate[slow] / line.y[slow] - 1).max() < 0.08


def test_errors_grow_with_the_sampling_period(study):
    made = table(study, "errors")
    for row in made.rows:
        rotors, duration = row[0] == "with rotors", row[1]
        found = dict(zip(made.columns[2:], row[2:], strict=True))
        for period in ("0.02", "0.005"):
            error = np.abs(witness.move_errors(duration, rotors, period=float(period))).max()
            assert found[f"error, every {period} s (rad)"] == pytest.approx(error, rel=10 * STEPS)
        assert found["error, every 0.02 s (rad)"] == pytest.approx(2 * found["error, every 0.01 s (rad)"], rel=0.08)


def test_changes_of_sign(study):
    measured = [int(x) for x in numbers(named(study, "oscillation").measured)]
    for rotors, found in ((False, measured[:6]), (True, measured[9:])):
        for joint, error in enumerate(witness.move_errors(3.0, rotors).T):
            seen = error[np.abs(error) > 0.01 * np.abs(error).max()]
            assert found[joint] == (seen[1:] * seen[:-1] < 0).sum()
    waves = np.sin(20 * np.linspace(0.1, 3.0, 300))[:, None] * np.ones(6)
    assert min(tracking.sign_changes(waves)) > 10
    assert max(tracking.sign_changes(np.ones((9, 6)))) == 0


def test_torques_that_come_late(study):
    """3 ms in the witness, the whole 3.18 ms on the page."""
    found = named(study, "time-delay")
    assert found.evidence["without"] == pytest.approx(np.abs(witness.move_errors(3.0)).max(), rel=STEPS)
    for delay in (3, 4):
        late = np.abs(witness.move_errors(3.0, steps=10, delay=delay)).max()
        assert tracking.errors_with_delay(delay * 1e-3)[1] == pytest.approx(late, rel=10 * STEPS)
    assert found.evidence["delayed"] == pytest.approx(found.evidence["without"] * (5 + 3.18) / 5, rel=0.05)


def test_rows_side_by_side_are_simulations():
    arm = lee.puma()
    rows = side_by_side.held(arm, side_by_side.computed_torque(arm, 100.0, 20.0), side_by_side.moves([1.0, 2.0]), 2.0)
    law = tf.control.ComputedTorque(arm, 100.0, 20.0)
    for k, duration in enumerate((1.0, 2.0)):
        run = tf.simulate(arm, law, tf.motion.JointMove(lee.START, lee.END, duration), step=0.005, control_period=0.01)
        assert np.abs(run.error[::2] - rows.error[: len(run.time[::2]), k]).max() < SAME


# The law: torques, and the equation of the error.


def test_torques_in_the_base_frame():
    """Lee's 3.11-3.19 in numpy, and the law by both formulations that the paper compares."""
    for q, qd, qdd in np.random.default_rng(1).normal(size=(5, 3, 6)):
        expected = witness.base_frame_torques(q, qd, qdd)
        assert np.allclose(witness.Arm().torque(q, qd, qdd), expected, rtol=1e-12, atol=1e-12)
        for name in ("lagrange-euler", "newton-euler"):
            found = lee.puma().inverse_dynamics(q, qd, qdd, formulation=name)
            assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_terms_that_the_law_leaves_out(study):
    arm, none = witness.Arm(), np.zeros(6)
    hold = 100.0, 20.0

    def without(group):
        def law(q, qd, wanted):
            p, v, a = wanted
            asked = a + hold[1] * (v - qd) + hold[0] * (p - q)
            M, G = arm.inertia(q), arm.torque(q, none, none)
            velocity = arm.torque(q, qd, none) - G
            coupling = M @ asked - np.diag(M) * asked
            return arm.torque(q, qd, asked) - {"coupling": coupling, "velocity": velocity, "gravity": G}[group]

        return np.abs(witness.tracked(lambda t: witness.quintic(t, 3.0), 3.0, arm, law=law)[0]).max()

    expected = [without(group) for group in ("coupling", "velocity", "gravity")]
    assert named(study, "compensation").evidence["without"] == pytest.approx(expected, rel=10 * STEPS)


def test_gains_that_break_a_condition(study):
    """What is left of the error, by the exponential of the linear equation."""
    made = {row[0]: row[1:] for row in table(study, "conditions").rows}
    t = np.linspace(2.0, 3.0, 201)
    for name, kp, kv in gains.examples():
        A = np.block([[np.zeros((6, 6)), np.eye(6)], [-kp, -kv]])
        start = np.concatenate([np.full(6, 0.1), np.zeros(6)])
        expected = max(np.abs((expm(A * x) @ start)[:6]).max() for x in t)
        kept, _, error = made[name]
        assert (kept == "yes") == (name == "as printed")
        if kept == "yes":
            assert expected < 1e-6
            assert error == "less than 1e-06"
        else:
            assert float(error) == pytest.approx(expected, rel=0.05)
            assert expected > 0.09


def test_gains_that_keep_the_conditions():
    """Sylvester's and the rank's own definitions, and roots of the characteristic polynomial by another route."""
    pairs = gains.random_gains()
    assert {np.linalg.matrix_rank(kv) for _, kv in pairs} == set(range(1, 7))
    for kp, kv in pairs[::10]:
        assert np.allclose(kp, kp.T)
        assert np.allclose(kv, kv.T)
        assert np.linalg.eigvalsh(kp).min() > 1
        assert np.linalg.eigvalsh(kv).min() > -1e-9
        # an error that Kv does not see is no eigenvector of Kp: no undamped mode
        _, modes = np.linalg.eigh(kp)
        assert np.linalg.norm(kv @ modes, axis=0).min() > 1e-3
        decay = np.linalg.norm(expm(np.block([[np.zeros((6, 6)), np.eye(6)], [-kp, -kv]]) * 1e4))
        assert decay < 1e-3


def test_error_against_gains(study):
    """Critically damped loops sampled every 0.01 s, ten hertz among them, and what sampling bears."""
    line = figure(study, "error-against-gains").panels[0].lines[0]
    for k in (0, 30, 55):
        expected = np.abs(witness.move_errors(3.0, kp=line.x[k], kv=2 * np.sqrt(line.x[k]))).max()
        assert line.y[k] == pytest.approx(expected, rel=10 * STEPS)
    told = named(study, "ten-hertz")
    ten = (2 * np.pi * 10) ** 2
    expected = np.abs(witness.move_errors(3.0, kp=ten, kv=2 * np.sqrt(ten))).max()
    assert expected < ONE_BIT
    printed(told.reason, expected, ten)
    h = 0.01
    radius = []
    for kp in (0.99 / h**2, 1.01 / h**2):
        held = np.array([[1, h], [0, 1]]) - np.outer([h**2 / 2, h], [kp, 2 * np.sqrt(kp)])
        radius.append(np.abs(np.linalg.eigvals(held)).max())
    assert radius[0] < 1 < radius[1]


# Loads that vary, and laws that adapt.


def test_a_load_that_comes_and_goes(study):
    """Fixed and adaptive gains on Pinocchio's arm, with and without the load."""
    made = {row[:3:2]: row[3:] for row in table(study, "varying-load").rows}
    for name, rotors, load in (("the paper's arm", False, 0.1), ("with rotors", True, 2.0)):
        empty, carrying = witness.Arm(rotors), witness.Arm(rotors, load=load)
        for law, bounds in (("fixed gains", (10.0, 10.0)), ("gains that adapt", (10.0, 50.0))):
            rate = np.full(6, 10.0)

            def force(q, qd, wanted, empty=empty, bounds=bounds):
                nonlocal rate
                p, v, a = wanted
                asked = a + 2 * rate * (v - qd) + rate**2 * (p - q)
                s = v - qd + rate * (p - q)
                rate = np.clip(rate + 0.01 * (1e5 * s**2 - 0.5 * (rate - 10)), *bounds)
                return empty.torque(q, qd, asked)

            state, largest = None, []
            for k in range(4):
                ends = (witness.START, witness.END)[:: 1 if k % 2 == 0 else -1]
                errors, state = witness.tracked(
                    lambda t, ends=ends: witness.quintic(t, 3.0, *ends),
                    3.0,
                    empty,
                    carrying if k % 2 else empty,
                    law=force,
                    state=state,
                    steps=2,
                )
                largest.append(np.abs(errors).max())
            assert made[name, law] == pytest.approx(largest, rel=1e-6)


def test_higher_gains_are_what_improves(study):
    made = {row[:3:2]: row[3:] for row in table(study, "varying-load").rows}
    for arm in ("the paper's arm", "with rotors"):
        fixed, stiff, adaptive, learnt = (made[arm, law] for law in adaptation.LAWS)
        assert max(adaptive) == pytest.approx(max(stiff), rel=0.05)
        assert max(adaptive) < max(learnt) < max(fixed)
        assert learnt[3] < learnt[1]  # it has learnt


# The other methods of section 4.


def test_near_minimum_time_is_near_the_fastest_move_by_integration(study):
    """That along the same straight line."""
    for rotors in (False, True):
        run = near_minimum_time.approach(rotors)
        found = near_minimum_time.arrival(run)
        assert 1.0 < found / witness.fastest_duration(rotors) < 1.25
        assert (np.abs(run.force) / witness.LIMITS).max() < 1 + 1e-6
        assert f"{found:.2f} s" in named(study, "near-minimum-time-complexity").measured


def test_an_unknown_load_on_the_fastest_move(study):
    """In the end the torques that the error asks for carry the load, by Pinocchio."""
    for rotors, load in ((False, 0.1), (True, 2.0)):
        q = near_minimum_time.approach(rotors, True).position[-1]
        asked = witness.Arm(rotors).torque(q, np.zeros(6), 50.0**2 * (witness.END - q))
        carried = witness.Arm(rotors, load=load).torque(q, np.zeros(6), np.zeros(6))
        assert np.abs(asked - carried).max() < 1e-6 * np.abs(carried).max()
        printed(named(study, "near-minimum-time-loads").measured, np.abs(witness.END - q).max())


def test_joint_rates_by_the_inverse_jacobian(study):
    values = np.linalg.svd(witness.jacobian(witness.START), compute_uv=False)
    assert values[-1] < 1e-8 * values[0]
    shares = np.array([0.01, 0.5, 1.0])
    expected = []
    for share in shares:
        jacobian = witness.jacobian(witness.START + share * (witness.END - witness.START))
        # Row i of the inverse is the gradient of joint rate i, so the worst direction lies along its first three.
        rates = [np.linalg.solve(jacobian.T, joint)[:3] for joint in np.eye(6)]
        expected.append(0.1 * max(np.sqrt(rate @ rate) for rate in rates))
    assert resolved_rate.joint_speeds(shares) == pytest.approx(expected, rel=SAME)
    printed(named(study, "resolved-rate").measured, expected[0], expected[-1])


# What the controllers cost.


def test_the_pdp_11(study):
    multiplications, additions = 119 * 6 - 24, 107 * 6 - 21
    expected = (multiplications * 3.75 + additions * 0.95) / 1000
    row = next(row for row in table(study, "pdp-11").rows if row[0].startswith("Table 2"))
    assert row[1:3] == (multiplications, additions)
    assert row[4] == pytest.approx(expected, rel=1e-12)
    assert numbers(named(study, "three-milliseconds").measured) == [round(expected, 2)]


def test_the_factor_between_the_controllers(study):
    """The paper's polynomials, typed again."""
    n = 6
    lagrange = (
        (128 * n**4 + 515 * n**3 + 850 * n**2 + 82 * n) / 3,
        (196 * n**4 + 787 * n**3 + 1280 * n**2 + 131 * n) / 6,
    )
    factors = lagrange[0] / (119 * n - 24), lagrange[1] / (107 * n - 21)
    assert named(study, "about-100").evidence["factors"] == pytest.approx(factors, rel=1e-12)
    assert numbers(named(study, "about-100").measured) == [149, 126]
    made = table(study, "factor")
    row = next(row for row in made.rows if row[0] == "ours, PUMA 560")
    slow, fast = (operation_count(tf.load("puma560"), name) for name in ("lagrange-euler", "newton-euler"))
    assert row[1] == slow.multiplications + 12  # two gains a joint
    assert row[6] == (slow.additions + 24) / (fast.additions + 24)
    times = made.rows[-1]
    assert times[1] > times[3] > 0


def test_the_tables_beside_the_report_that_is_cited(study):
    """Turney, Mudge & Lee 1980, Table 1, typed again; the control law taken off Lee's totals."""
    n = 6
    lagrange = 13.5 * n**3 + 82.5 * n**2 + 5 * n, 40 / 3 * n**3 + 58 * n**2 - 64 / 3 * n
    newton = 108 * n - 12, 100 * n - 9
    lee_1, lee_2 = published.LEE_1.total, published.LEE_2.total
    law = 2 * n, 4 * n
    expected = [
        (float(kind(n)) - extra) / other
        for totals, others in ((lee_1, lagrange), (lee_2, newton))
        for kind, extra, other in zip(totals[1:], law, others, strict=True)
    ]
    assert named(study, "other-papers").evidence["ratios"] == pytest.approx(expected, rel=1e-12)


# Misprints.


def test_misprints_that_can_be_had_another_way(study):
    """Gravity upside down: 2 G too little. A mass of 1 kg: another inertia. No products of inertia: another arm."""
    random = np.random.default_rng(0)
    errors = {"gravity": [], "mass": [], "products": []}
    for seed in range(6):
        arm = random_arm(random, "RRRRRR")
        states = random_states(arm, 60, seed)
        exact = arm.inverse_dynamics(*states)
        bodies = [(np.array(j.inertia), np.array(j.com), j.mass) for j in arm.joints]
        unit = [I + (m - 1) * (c @ c * np.eye(3) - np.outer(c, c)) for I, c, m in bodies]
        changed = {
            "gravity": exact - 2 * arm.gravity_forces(states[0]),
            "mass": with_inertias(arm, unit).inverse_dynamics(*states),
            "products": with_inertias(arm, [np.diag(np.diag(I)) for I, _, _ in bodies]).inverse_dynamics(*states),
        }
        for name, forces in changed.items():
            largest = np.maximum(np.abs(exact), np.abs(forces)).max(axis=1)
            errors[name].append(np.abs(forces - exact).max(axis=1) / largest)
    made = {row[0]: row[4] for row in table(study, "misprints").rows}
    assert made["eq. 3.10"] == pytest.approx(np.median(errors["gravity"]), rel=1e-9)
    assert made["eqs 2.21, 4.15"] == pytest.approx(np.median(errors["mass"]), rel=1e-9)
    found = named(study, "second-moments").evidence
    assert found["any_axes"] == pytest.approx(np.median(errors["products"]), rel=1e-9)
    assert [name for name, error in made.items() if error is not None] == ["eq. 3.10", "eqs 2.21, 4.15"]
    assert {"eq. 4.4", "Fig. 8"} <= {row[0] for row in table(study, "misprints").rows if row[5] == "maybe"}


def with_inertias(arm, inertias):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no real bodies
        return arm.replace(inertia=inertias)


def test_steps_that_are_false_as_printed_are_not_said_to_hold(study):
    assert_steps_have_their_verdicts(study)


def test_estimates_have_the_colour_of_what_they_estimate(study):
    (colour,) = colours(figure(study, "error-against-duration"))
    for name in ("the paper's arm", "with rotors"):
        assert colour[name, "line"] == colour[f"estimate, {name}", "dashed"]
    assert len(set(colour.values())) == 3
    for k in range(3, 9):
        for colour in colours(figure(study, f"fig-{k}")):
            assert colour["one bit, as printed", "dotted"] == colour["minus one bit", "dotted"]


def test_digits_of_the_bit(study):
    """What a bit is over the joints' ranges, by the degrees of the catalogue's file."""
    ranges = np.deg2rad([320, 220, 270, 280, 200, 532])
    found = numbers(named(study, "one-bit").measured)
    for value, text in ((ranges.min() / 4096, "8.52e-04"), (ranges.max() / 4096, "2.27e-03")):
        assert abs(value - float(text)) < half_a_digit(text)
        assert float(text) in found
