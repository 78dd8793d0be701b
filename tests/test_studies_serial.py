"""The studies of the papers on arms: their numbers are the library's, found here another way, and their verdicts."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tauforge as tf
from strategies import random_arm
from tauforge.analysis.comparison import random_states, row_errors
from tauforge.analysis.complexity import general_operation_count
from tauforge.control import ComputedTorque
from tauforge.formulations.serial import FORMULATIONS, modified_newton_euler, outward_inward
from tauforge.motion import JointMove
from tauforge.studies.angeles import prismatic as angeles_prismatic
from tauforge.studies.angeles import study as angeles
from tauforge.studies.lee1982 import control as lee_control
from tauforge.studies.misprints import as_printed
from tauforge.studies.random_arms import reference
from tauforge.studies.turney1980 import counts as turney_counts
from tauforge.studies.turney1980 import errata as turney_errata
from tauforge.studies.turney1980 import significance as turney_significance
from tauforge.studies.turney1980 import study as turney1980
from tauforge.studies.turney1980 import terms as turney_terms
from tauforge.studies.turney1980.simulation import StrobedArm
from tauforge.tracing.counting import Operations

MODULES = {"turney1980": turney1980, "angeles": angeles}
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
    "angeles": {
        ("Table 7.1", ""): CORRECTED,
        ("Table 7.2", ""): HOLDS,
        ("eq. 7.43", ""): HOLDS,
        ("Table 7.4", "follow"): CORRECTED,
        ("Table 7.4", "least"): HOLDS,
        ("section 7.4", "handle prismatic"): CORRECTED,
        ("section 7.4", "reduces"): HOLDS,
        ("eq. 7.55b", ""): HOLDS,
        ("section 7.5", "nullity"): HOLDS,
        ("algorithm 7.4.2", ""): CORRECTED,
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


def test_the_tables_least_beside_ours(studies):
    told = claim(studies["angeles"], "Table 7.4", "least")
    assert numbers(told.printed) == numbers(told.measured)[:2] == [459, 390]
    ours = general_operation_count(6)
    assert numbers(told.measured)[2:] == [ours.multiplications, ours.additions]


def test_counts_are_the_librarys(studies):
    turney, book = studies.values()
    for table in (*turney.tables, *book.tables):
        for row in table.rows:
            found = re.fullmatch(r"tauforge, (.+), (traced|as written)", str(row[0]))
            if found and found[1] in FORMULATIONS:
                cost = general_operation_count(6, found[1])
                expected = cost.as_written if found[2] == "as written" else cost
                assert row[-2:] == (expected.multiplications, expected.additions)
    assert numbers(claim(turney, "Table 1", "cheaper").measured) == [552, 465, 641, 489]
    halves = [item(book.tables, f"table-7-{k}").rows[-1][-2:] for k in (1, 2)]
    whole = general_operation_count(6, "outward-inward").as_written
    assert tuple(np.sum(halves, axis=0)) == (whole.multiplications, whole.additions)


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


def test_the_shaping_matrix_is_the_derivative_of_the_mass_centres():
    arm = random_arm(np.random.default_rng(6), "RPRPR").replace(base=np.eye(4))
    q = np.random.default_rng(7).normal(size=5)
    coms = [np.append(joint.com, 1.0) for joint in arm.joints]

    def centres(q):
        return np.concatenate([(frame @ com)[:3] for frame, com in zip(arm.link_frames(q)[1:], coms, strict=True)])

    h = 1e-6
    slopes = np.array([(centres(q + h * e) - centres(q - h * e)) / (2 * h) for e in np.eye(5)]).T
    T = angeles.shaping_matrix(arm.model.parameters, q.tolist())
    linear = T.reshape(5, 6, 5)[:, 3:].reshape(15, 5)
    assert np.abs(linear - slopes).max() < SLOPE


def test_prismatic_joints_as_printed(studies):
    """Slides along the last axis alone need no moment of theirs; a Stanford arm does."""
    table = item(studies["angeles"].tables, "prismatic")
    assert max(column(table, "corrected (-)")) < ROUNDING
    printed = dict(zip(column(table, "arm"), column(table, "eq. 7.38d as printed (-)"), strict=True))
    assert printed["stanford"] > 0.1
    assert printed["scara"] < ROUNDING


ALL_MISPRINTS = [*turney_errata.MISPRINTS, *angeles_prismatic.MISPRINTS]


def test_every_misprint_that_can_be_run_costs(studies):
    for study in studies.values():
        table = next(table for table in study.tables if table.name.endswith("misprints"))
        errors = {row[:2]: row[-1] for row in table.rows}
        run = {(m.where, m.what) for m in ALL_MISPRINTS if m.formula is not None}
        assert {key for key, error in errors.items() if error is not None} == run & set(errors)
        assert min(error for error in errors.values() if error is not None) > 0.01


def test_misprints_that_can_be_had_another_way():
    """No products of inertia: an arm that has none."""
    arm = random_arm(np.random.default_rng(8), "RRRRRR")
    states = random_states(arm, 20)
    straight = arm.replace(inertia=[np.diag(np.diag(np.array(joint.inertia))) for joint in arm.joints])

    def forces(formula):
        return reference(formula, arm.model.parameters, *states)

    expected = straight.inverse_dynamics(*states)
    by_name = {(m.where, m.what): m for m in ALL_MISPRINTS}
    for key in (("eq. 1.26", "off-diagonal entries of J_q"), ("section 5, K_i", "K_i in axes that are not principal")):
        assert row_errors(forces(by_name[key].formula()), expected).max() < ROUNDING
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


def test_a_text_put_back_must_have_been_there():
    with pytest.raises(LookupError, match=r"outward_inward: expected 'no such line' once, got it 0 times"):
        as_printed(outward_inward, ("no such line", ""))
    arm = random_arm(np.random.default_rng(9), "RPR")
    states = random_states(arm, 5)
    same = as_printed(modified_newton_euler)["inverse_dynamics"]
    exact = FORMULATIONS["modified-newton-euler"]
    assert np.array_equal(*(reference(f, arm.model.parameters, *states) for f in (same, exact)))
