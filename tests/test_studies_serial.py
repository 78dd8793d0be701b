"""The studies of the papers on arms: their numbers are the library's, found here another way, and their verdicts."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

import tauforge as tf
from strategies import random_arm
from tauforge.analysis import published_counts as published
from tauforge.analysis.comparison import random_states, row_errors
from tauforge.analysis.complexity import general_operation_count, operation_count
from tauforge.control import ComputedTorque
from tauforge.formulations.serial import FORMULATIONS
from tauforge.motion import JointMove
from tauforge.plots.pens import colours
from tauforge.studies.lee1982 import control as lee_control
from tauforge.studies.lee1982 import study as lee1982
from tauforge.studies.random_arms import reference
from tauforge.studies.turney1980 import counts as turney_counts
from tauforge.studies.turney1980 import errata as turney_errata
from tauforge.studies.turney1980 import significance as turney_significance
from tauforge.studies.turney1980 import study as turney1980
from tauforge.studies.turney1980 import terms as turney_terms
from tauforge.studies.turney1980.simulation import StrobedArm
from tauforge.tracing.counting import Operations

MODULES = {"turney1980": turney1980, "lee1982": lee1982}
PUMA = tf.load("puma560").without_friction().replace(limits=[None] * 6)
START, END = np.deg2rad([[-90, 180, 270, 180, 0, 0], [-135, 210, 180, 225, -60, 90]])
ROUNDING = 1e-12
SLOPE = 1e-6  # of central differences with a step of 1e-6
CORRECTED, HOLDS, NOT = "holds with a correction", "holds", "does not hold"


@pytest.fixture(scope="module", autouse=True)
def as_a_reader(tmp_path_factory, switch):
    """The simulations take minutes without kernels; an arm that was used without them would go on without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", switch)
        patch.setenv("TAUFORGE_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))
        lee_control.puma.cache_clear()
        yield
        lee_control.puma.cache_clear()


@pytest.fixture(scope="module")
def studies(as_a_reader):
    told = {name: [] for name in MODULES}
    found = {name: module.study(told[name].append) for name, module in MODULES.items()}
    assert all(len(lines) >= 4 for lines in told.values())
    return found


def claim(study, where, words=""):
    found = [c for c in study.claims if c.where == where and words.lower() in c.claim.lower()]
    assert len(found) == 1, (where, words, [c.claim for c in found])
    return found[0]


def item(things, name):
    return next(thing for thing in things if thing.name == name)


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", text)]


def column(table, name):
    return [row[table.columns.index(name)] for row in table.rows]


@pytest.mark.parametrize("name", MODULES)
def test_a_study_is_whole(studies, name):
    study = studies[name]
    assert study.name == name
    named = [thing.name for thing in (*study.figures, *study.tables)]
    assert len(set(named)) == len(named)
    assert all(re.fullmatch(r"[a-z0-9-]+", one) for one in named)
    for table in study.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
    for figure in study.figures:
        for panel in figure.panels:
            labels = [line.label for line in panel.lines]
            assert len(set(labels)) == len(labels)
            for line in panel.lines:
                assert len(line.x) == len(line.y) > 1
                assert np.isfinite(line.y).all()
                assert not panel.log_y or (line.y > 0).all()
    for one in study.claims:
        assert all((one.where, one.claim, one.printed, one.measured, one.reason))
        assert "nan" not in one.measured
        assert not one.claim[0].islower()


VERDICTS = {
    "turney1980": {
        ("section 4", "equivalent"): HOLDS,
        ("Table 2", ""): HOLDS,
        ("Table 3", ""): HOLDS,
        ("Table 4", ""): HOLDS,
        ("Table 5", "add up"): HOLDS,
        ("appendix", ""): CORRECTED,
        ("Table 1", "cheaper"): HOLDS,
        ("section 5", "parallelism"): NOT,
        ("Table 5", "steps"): CORRECTED,
        ("section 6", "M, C and G"): CORRECTED,
        ("section 6", "M alone"): HOLDS,
        ("section 7", "strobed columns"): HOLDS,
        ("section 7", "Runge-Kutta"): HOLDS,
        ("sections 3, 6", ""): CORRECTED,
        ("eq. 3.16", ""): CORRECTED,
        ("section 3, strobing", ""): CORRECTED,
    },
    "lee1982": {
        ("section 5, Figs 3-8", "resolution"): CORRECTED,
        ("section 5", "one bit"): CORRECTED,
        ("section 5", "ten hertz"): CORRECTED,
        ("section 5", "3 ms"): HOLDS,
        ("section 5", "about 100"): CORRECTED,
        ("section 3.1", ""): CORRECTED,
        ("section 5, Figs 3-8", "oscillatory"): CORRECTED,
        ("section 5", "adaptation"): HOLDS,
        ("eq. 3.10", ""): CORRECTED,
    },
}


@pytest.mark.parametrize("name", MODULES)
def test_verdicts(studies, name):
    for (where, words), verdict in VERDICTS[name].items():
        assert claim(studies[name], where, words).verdict == verdict, (where, words)


@pytest.mark.parametrize(("ours", "verdict"), [((9, 9), HOLDS), ((5, 14), CORRECTED), ((9, 12), NOT), ((12, 12), NOT)])
def test_less_effort_is_less_of_both_or_of_their_sum(ours, verdict):
    """Beside ten multiplications and ten additions."""
    assert turney_counts.less_effort(Operations(*ours), Operations(10, 10)) == verdict


def test_terms_left_out_are_judged_by_the_bit_of_the_other_paper(studies):
    told = claim(studies["turney1980"], "sections 3, 6")
    strays = numbers(told.measured)[1]
    assert strays > 4.26e-4
    assert numbers(told.reason)[0] == pytest.approx(strays / 4.26e-4, rel=0.05)
    found = turney_significance.importance(3.0)
    for tracking, verdict in ((4e-4, HOLDS), (1.0, NOT)):
        groups = {name: one._replace(tracking=tracking) for name, one in found.items() if name != "gravity"}
        changed = {duration: {**found, **groups} for duration in (3.0, 1.0)}
        (other,) = turney_significance.significance_claims(changed, turney_significance.savings())
        assert other.verdict == verdict


def test_oscillation_is_more_than_the_jerks():
    """Errors with many changes of sign, and with none."""
    many = np.sin(20 * np.linspace(0.1, 3.0, 300))[:, None] * np.ones(6)
    for error, verdict in ((many, HOLDS), (np.ones_like(many), NOT)):
        assert lee1982.oscillation(SimpleNamespace(error=error)).verdict == verdict


def test_estimates_have_the_colour_of_what_they_estimate(studies):
    figure = item(studies["lee1982"].figures, "error-against-duration")
    (colour,) = colours(figure)
    for period in ("0.02", "0.01", "0.005"):
        assert colour[f"every {period} s", "line"] == colour[f"estimate, {period} s", "dashed"]
    assert len(set(colour.values())) == 4
    for k in range(3, 9):
        for colour in colours(item(studies["lee1982"].figures, f"fig-{k}")):
            assert colour["one bit, as printed", "dotted"] == colour["minus one bit", "dotted"]
    table = item(studies["lee1982"].tables, "errors")
    ratio = np.array(column(table, "estimate, every 0.01 s (rad)")) / column(table, "error, every 0.01 s (rad)")
    assert f"{ratio[0]:.1f} times the error at 1 s, {ratio[-1]:.1f} times at 5 s" in figure.caption


def test_counts_are_the_librarys(studies):
    turney, lee = studies.values()
    for table in (*turney.tables, *lee.tables):
        for row in table.rows:
            found = re.fullmatch(r"tauforge, (.+), (traced|as written)", str(row[0]))
            if found and found[1] in FORMULATIONS:
                cost = general_operation_count(6, found[1])
                expected = cost.as_written if found[2] == "as written" else cost
                assert row[-2:] == (expected.multiplications, expected.additions)
    assert numbers(claim(turney, "Table 1", "cheaper").measured) == [552, 465, 641, 489]


def test_the_appendix_sums_to_another_total(studies):
    text = claim(studies["turney1980"], "appendix").measured
    assert text == "27/2 n^3 + 82 n^2 + 9/2 n / 40/3 n^3 + 74 n^2 - 16/3 n"


def test_free_fall_is_the_simulated_one(studies):
    fall = tf.simulate(PUMA, None, initial=(START, np.zeros(6)), duration=1.0, step=0.002)
    figure = item(studies["turney1980"].figures, "simulation")
    drawn = np.array([line.y for line in figure.panels[0].lines]).T
    assert np.abs(drawn - np.rad2deg(fall.position - START)).max() < 1e-9  # degrees, after rounding
    order = numbers(claim(studies["turney1980"], "section 7", "Runge-Kutta").measured)[0]
    assert abs(order - 4) < 0.2


def test_strobed_accelerations_of_a_general_arm():
    arm = random_arm(np.random.default_rng(3), "RPRR", drives=True).without_friction()
    q, qd, tau = np.random.default_rng(4).normal(size=(3, 4))
    strobed = StrobedArm(arm)
    assert np.allclose(strobed.acceleration(q, qd, tau), arm.forward_dynamics(q, qd, tau), rtol=1e-10)
    assert np.allclose(strobed.mass_matrix(q), arm.mass_matrix(q), rtol=1e-10)


def test_groups_of_terms():
    """Centrifugal terms are those with Christoffel's C^i_jj."""
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, 6))
    groups = turney_terms.terms(q, qd, qdd)
    assert np.allclose(sum(groups.values()), PUMA.inverse_dynamics(q, qd, qdd), rtol=ROUNDING)
    centrifugal = sum(PUMA.coriolis_matrix(q, row) @ row for row in np.diag(qd))
    assert np.allclose(groups[turney_terms.CENTRIFUGAL], centrifugal, atol=1e-12)
    velocity = groups[turney_terms.CENTRIFUGAL] + groups[turney_terms.CORIOLIS]
    assert np.allclose(velocity, PUMA.coriolis_matrix(q, qd) @ qd, atol=1e-12)


def test_leaving_gravity_out_is_a_model_without_gravity(studies):
    """The controller's model, not the plant's; beside computed torque on the model itself."""
    table = item(studies["turney1980"].tables, "terms")
    weightless = ComputedTorque(PUMA.replace(gravity=(0, 0, 0)), 100.0, 20.0)
    run = tf.simulate(PUMA, weightless, JointMove(START, END, 3.0), step=0.002, control_period=0.01)
    row = next(row for row in table.rows if row[0] == "gravity")
    found = row[table.columns.index("tracking error without it in 3 s (rad)")]
    assert found == pytest.approx(np.abs(run.error).max(), rel=1e-9)


def test_figures_3_to_8_are_the_errors_of_the_joints(studies):
    study = studies["lee1982"]
    for k, duration in enumerate((3.0, 1.0)):
        law = ComputedTorque(PUMA, 100.0, 20.0)
        run = tf.simulate(PUMA, law, JointMove(START, END, duration), step=0.002, control_period=0.01)
        for joint in range(6):
            figure = item(study.figures, f"fig-{3 + joint}")
            assert figure.title.startswith(f"Fig. {3 + joint}:")
            assert np.abs(figure.panels[k].lines[0].y - run.error[:, joint]).max() < 1e-12
        printed = numbers(claim(study, "section 5, Figs 3-8", "resolution").measured)
        assert printed[2 * k] == pytest.approx(np.abs(run.error).max(), rel=0.01)


def test_the_fastest_move_within_the_bound(studies):
    """A tenth of a second less strays too far."""
    shortest = numbers(claim(studies["lee1982"], "section 5, Figs 3-8", "resolution").reason)[0]
    assert lee_control.largest_error(shortest) < 4.26e-4 < lee_control.largest_error(shortest - 0.1)


def test_error_halves_with_the_sampling_period(studies):
    table = item(studies["lee1982"].tables, "errors")
    slow, fast = (np.array(column(table, f"error, every {p} s (rad)")) for p in ("0.02", "0.01"))
    assert np.abs(slow / fast - 2).max() < 0.15
    estimates = np.array(column(table, "estimate, every 0.01 s (rad)"))
    quintic = (
        60 * np.abs(END - START).max() / np.array(column(table, "duration (s)")) ** 3
    )  # its largest jerk, at the ends
    assert np.allclose(estimates, quintic * 0.01 / 2 / 100, rtol=0.01)


def test_the_pdp_11(studies):
    table = item(studies["lee1982"].tables, "pdp-11")
    multiplications, additions = 119 * 6 - 24, 107 * 6 - 21
    expected = (multiplications * 3.75 + additions * 0.95) / 1000
    row = next(row for row in table.rows if row[0].startswith("Table 2"))
    assert row[1:3] == (multiplications, additions)
    assert row[4] == pytest.approx(expected, rel=1e-12)
    assert numbers(claim(studies["lee1982"], "section 5", "3 ms").measured) == [round(expected, 2)]


def test_the_factor_between_the_controllers(studies):
    study = studies["lee1982"]
    printed = [float(a(6) / b(6)) for a, b in zip(published.LEE_1.total[1:], published.LEE_2.total[1:], strict=True)]
    assert numbers(claim(study, "section 5", "about 100").measured) == [round(x) for x in printed] == [149, 126]
    table = item(study.tables, "factor")
    row = next(row for row in table.rows if row[0] == "ours, PUMA 560")
    slow, fast = (operation_count(tf.load("puma560"), name) for name in ("lagrange-euler", "newton-euler"))
    assert row[1] == slow.multiplications + 12  # two gains a joint
    assert row[6] == (slow.additions + 24) / (fast.additions + 24)
    times = table.rows[-1]
    assert times[1] > times[3] > 0


def test_a_heavier_arm(studies):
    heavy = PUMA.replace(mass=[1.1 * j.mass for j in PUMA.joints]).carrying(tf.Payload(2.0, (0, 0, 0.05)))
    law, move = ComputedTorque(PUMA, 100.0, 20.0), JointMove(START, END, 3.0)
    run = tf.simulate(PUMA, law, move, step=0.002, control_period=0.01, plant=heavy)
    found = numbers(claim(studies["lee1982"], "section 4", "accurately").measured)[0]
    assert found == pytest.approx(np.abs(run.error).max(), rel=0.01)


ALL_MISPRINTS = [*turney_errata.MISPRINTS, *lee1982.MISPRINTS]


def test_every_misprint_that_can_be_run_costs(studies):
    for study in studies.values():
        table = next(table for table in study.tables if table.name.endswith("misprints"))
        errors = {row[:2]: row[-1] for row in table.rows}
        run = {(m.where, m.what) for m in ALL_MISPRINTS if m.formula is not None}
        assert {key for key, error in errors.items() if error is not None} == run & set(errors)
        assert min(error for error in errors.values() if error is not None) > 0.01


def test_misprints_that_can_be_had_another_way():
    """No products of inertia: an arm that has none. Gravity upside down: 2 G too little."""
    arm = random_arm(np.random.default_rng(8), "RRRRRR")
    states = random_states(arm, 20)
    straight = arm.replace(inertia=[np.diag(np.diag(np.array(joint.inertia))) for joint in arm.joints])

    def forces(formula):
        return reference(formula, arm.model.parameters, *states)

    exact = forces(FORMULATIONS["joint-frames"])
    expected = straight.inverse_dynamics(*states)
    by_name = {(m.where, m.what): m for m in ALL_MISPRINTS}
    for key in (("eq. 1.26", "off-diagonal entries of J_q"), ("section 5, K_i", "K_i in axes that are not principal")):
        assert row_errors(forces(by_name[key].formula()), expected).max() < ROUNDING
    fallen = forces(by_name["eq. 3.10", "sign of the gravity loading"].formula())
    assert np.allclose(fallen, exact - 2 * arm.gravity_forces(states[0]), rtol=ROUNDING)
    strobed = forces(by_name["section 3, strobing", "what unit velocities of joints j and k give"].formula())
    n, (q, qd, qdd) = arm.n, states
    literal = arm.inverse_dynamics(q, 0 * q, qdd)
    weightless = arm.replace(gravity=(0, 0, 0))
    for j in range(n):
        for k in range(n):
            both = np.zeros(n)
            both[[j, k]] = 1.0
            literal = literal + weightless.bias_forces(q, both) * (qd[:, j] * qd[:, k])[:, None]
    assert row_errors(strobed, literal).max() < 1e-10
