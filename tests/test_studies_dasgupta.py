"""Dasgupta & Mruthyunjaya 1998 as a study: its curves, numbers and verdicts."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from study_checks import (
    DATA,
    NEAR_SINGULARITY,
    OTHER,
    REFERENCE,
    ROBOT,
    assert_whole_and_finite,
    claim,
    figure,
    forces,
    has_verdicts,
    judged_with,
    numbers,
    papers_figures,
    printed,
    scaled_costs,
    states,
    table,
)
from tauforge.studies.dasgupta1998 import claims as dasgupta1998_claims
from tauforge.studies.dasgupta1998 import measured as dasgupta1998_measured
from tauforge.studies.dasgupta1998 import study as dasgupta1998
from tauforge.studies.dasgupta1998.measured import POSES, REGION


@pytest.fixture(scope="module")
def dasgupta():
    told = []
    made = dasgupta1998.study(told.append)
    assert told
    return made


def test_it_is_whole(dasgupta):
    assert_whole_and_finite(dasgupta)
    assert papers_figures(dasgupta) == set(range(3, 11))


@pytest.mark.parametrize(("path", "drawn"), [("I", "fig-4"), ("III", "fig-9")])
def test_leg_forces_are_the_references(dasgupta, path, drawn):
    panels, met = figure(dasgupta, drawn).panels, 0
    for sample in DATA["samples"][path]:
        row = np.flatnonzero(np.isclose(panels[0].lines[0].x, sample["t"], rtol=0, atol=1e-12))
        if not len(row):
            continue
        met += 1
        near = path == "III" and abs(sample["t"] - DATA["path_III_singularity_time"]) < 0.2
        tolerance = NEAR_SINGULARITY if near else REFERENCE
        total, massless, difference = (np.array([panel.lines[k].y[row[0]] for panel in panels]) for k in range(3))
        for got, key in ((total, "F_a"), (massless, "F0")):
            assert np.abs(got - sample[key]).max() < tolerance * np.abs(sample[key]).max()
        apart = np.array(sample["F_a"]) - sample["F0"]
        assert np.abs(difference - apart).max() < tolerance * np.abs(sample["F_a"]).max()
        (condition,) = figure(dasgupta, "fig-5" if path == "I" else "fig-10").panels[0].lines
        assert abs(condition.y[row[0]] / sample["condH"] - 1) < tolerance
        if path == "I":
            fraction = [panel.lines[0].y[row[0]] for panel in figure(dasgupta, "fig-6").panels]
            assert np.allclose(fraction, apart / sample["F_a"], rtol=1e-6, atol=0)
    assert met >= 5


DASGUPTA_VERDICTS = {
    "models all the dynamic": "holds with a correction",
    "s.W = 0": "does not hold",
    "constraint moment": "does not hold",
    "m_u L² diag": "does not hold",
    "realistic": "does not hold",
    "694": "holds with a correction",
    "3.36": "holds",
    "In parallel": "holds with a correction",
    "moderate": "holds",
    "well conditioned": "holds",
    "around 20 %": "holds with a correction",
    "jumps in legs 5 and 6": "holds",
    "above 60 %": "holds",
    "Ten times": "holds with a correction",
    "20 to 50 %": "holds with a correction",
    "less payload": "holds",
    "10^5 N": "holds with a correction",
    "precisely that place": "holds",
    "10^4 N": "holds with a correction",
    "Directly related": "does not hold",
    "mixes forces and moments": "holds",
}


def test_verdicts_of_dasgupta(dasgupta):
    has_verdicts(dasgupta, DASGUPTA_VERDICTS)


@pytest.fixture(scope="module")
def measured_dasgupta():
    return dasgupta1998_measured.Measured()


def on_path(found, name, **parts):
    return {**found, name: found[name]._replace(**parts)}


def slow_is(m, other):
    return {"forces": {**m.forces, "I": m.forces[other]}}


def exact_is_theirs(m):
    return {"forces": {name: f._replace(exact=f.T) for name, f in m.forces.items()}}


def counts(m, theirs):
    return {"operations": {**m.operations, "dasgupta1998": theirs}}


def at_rest(m):
    """The platform where it is on the paths, and not moving."""
    return {
        "paths": {
            name: path._replace(states=path.states._replace(velocity=0 * path.states.velocity))
            for name, path in m.paths.items()
        }
    }


def taking(m, flops):
    """Had the paper's model taken so many operations."""
    ours = m.operations["dasgupta1998"]
    return counts(m, ours._replace(multiplications=ours.multiplications + flops - ours.flops))


def forces_follow_the_condition(m):
    along = np.repeat(m.conditions["I"][:, None], 6, axis=1)
    poses = m.random_poses._replace(force=m.random_poses.condition)
    return {"random_poses": poses, "forces": on_path(m.forces, "I", T=along)}


@pytest.mark.parametrize(
    ("text", "numbers", "verdict"),
    [
        ("allows no rotation", at_rest, "holds"),
        ("694", lambda m: taking(m, 4889), "holds"),
        ("694", lambda m: taking(m, 4888), "holds with a correction"),
        ("Directly related", forces_follow_the_condition, "holds"),
        (
            "Directly related",
            lambda m: slow_is(m, "II") | {"random_poses": forces_follow_the_condition(m)["random_poses"]},
            "does not hold",
        ),
        ("models all", lambda m: {"costs": scaled_costs(m.costs, 0.0)}, "holds"),
        ("models all", lambda m: {"forces": on_path(m.forces, "II", exact=m.forces["I"].exact)}, "does not hold"),
        ("constraint moment", lambda m: {"costs": scaled_costs(m.costs, 0.0)}, "holds"),
        ("m_u L² diag", lambda m: {"costs": scaled_costs(m.costs, 0.0)}, "holds"),
        ("kept realistic", lambda m: {"inertias": dict.fromkeys(m.inertias, np.eye(3).tolist())}, "holds"),
        (
            "kept realistic",
            lambda m: {"inertias": {**m.inertias, "I_p": np.eye(3).tolist()}},
            "holds with a correction",
        ),
        ("3.36", lambda m: counts(m, tf.operation_count(OTHER, "pedrammehr2012")), "holds with a correction"),
        ("In parallel", lambda m: counts(m, m.operations["newton-euler"]), "holds"),
        ("moderate", lambda m: {"forces": on_path(m.forces, "I", T=10 * m.forces["I"].T)}, "does not hold"),
        ("well conditioned", lambda m: {"conditions": {**m.conditions, "I": m.conditions["III"]}}, "does not hold"),
        ("around 20 %", lambda m: exact_is_theirs(m), "holds"),
        ("around 20 %", lambda m: slow_is(m, "II"), "does not hold"),
        ("jumps in legs", lambda m: slow_is(m, "II"), "does not hold"),
        ("Ten times", lambda m: slow_is(m, "II"), "does not hold"),
        ("20 to 50 %", lambda m: slow_is(m, "II"), "holds"),
        ("less payload", lambda m: slow_is(m, "II"), "does not hold"),
        ("10^5 N", lambda m: {"at_the_papers_steps": (3.7, 1.2e5)}, "holds"),
        ("10^5 N", lambda m: {"at_the_papers_steps": (3.7, 1.2e4)}, "does not hold"),
        ("precisely", lambda m: {"singular_time": 3.0}, "does not hold"),
        ("10^4 N", lambda m: {"random_poses": m.random_poses._replace(force=1e2 * m.random_poses.force)}, "holds"),
        ("mixes", lambda m: {"random_poses": m.random_poses._replace(scaled=m.random_poses.force)}, "does not hold"),
    ],
)
def test_verdicts_on_dasgupta_follow_from_the_numbers(measured_dasgupta, text, numbers, verdict):
    assert judged_with(dasgupta1998_claims.claims, measured_dasgupta, text, **numbers(measured_dasgupta)) == verdict


def test_a_heavy_platform_is_not_a_light_one():
    (told,) = [c for c in dasgupta1998_claims.claims(dasgupta1998_measured.Measured(400.0)) if "above 60 %" in c.claim]
    assert told.verdict == "does not hold"
    assert "400 kg" in told.reason


def test_the_number_without_dimensions(dasgupta, measured_dasgupta):
    """Moments over the mean distance of the platform's points from its origin, by NumPy."""
    told = claim(dasgupta, "mixes")
    points = np.array(DATA["manipulator"]["p"])
    radius = np.linalg.norm(points, axis=int(points.shape[0] == 6)).mean()
    rows = np.array([1, 1, 1, radius, radius, radius])[:, None]
    slow = np.linalg.cond(ROBOT.force_matrix(states("I").position) / rows)
    printed(told.reason, radius, slow.min(), slow.max())
    poses = measured_dasgupta.random_poses
    ranks = [x.argsort().argsort() for x in (poses.condition, poses.scaled)]
    printed(told.measured, np.corrcoef(*ranks)[0, 1])


def test_fractions_break_at_their_poles(dasgupta):
    """Of path II: one leg of the paper's model goes through zero, two leap over it and one comes near it."""
    drawn = figure(dasgupta, "fig-8")
    gaps = [[leg + 1 for leg, panel in enumerate(drawn.panels) if np.isnan(panel.lines[k].y).any()] for k in (0, 1)]
    assert gaps == [[5], [4, 5]]
    for leg, panel in enumerate(drawn.panels):
        for line in panel.lines:
            near = np.flatnonzero(np.isnan(line.y))
            assert all(line.y[k - 1] * line.y[k + 1] < 0 for k in near), leg
    T = forces(ROBOT, "II", "dasgupta1998")
    least = ((T - forces(ROBOT, "II", "massless-legs")) / T)[:, 2].min()
    printed(drawn.caption, least)
    for text in ("cut at -1.5 and 1.5", "in leg 5;", "force of legs 4, 6 leaps over zero", "leg 3 leaves the figure"):
        assert text in drawn.caption


def test_the_model_against_the_exact_one(dasgupta):
    worst = [np.abs(np.subtract(*(forces(ROBOT, p, m) for m in ("dasgupta1998", "exact")))).max() for p in ("I", "II")]
    assert [round(x, 1) for x in worst] == [27.7, 103.9]
    printed(claim(dasgupta, "models all").measured, *worst)
    printed(dasgupta.summary, *worst)
    mended = ("leg_spin", "moment_along_c", "parallel_axis_once")
    exact = forces(ROBOT, "II", "exact")
    apart = ROBOT.inverse_dynamics(*states("II"), model="dasgupta1998", corrections=mended) - exact
    assert np.abs(apart).max() < 1e-12 * np.abs(exact).max()
    spins = [np.abs(ROBOT.leg_motion(*states(p)).spins).max() for p in ("I", "II")]
    printed(claim(dasgupta, "s.W = 0").measured, *spins)
    for text, left_out in (("constraint moment", "moment_along_c"), ("m_u L²", "parallel_axis_once")):
        rest = [name for name in mended if name != left_out]
        cost = [
            np.abs(
                ROBOT.inverse_dynamics(*states(p), model="dasgupta1998", corrections=rest) - forces(ROBOT, p, "exact")
            ).max()
            for p in ("I", "II")
        ]
        printed(claim(dasgupta, text).measured, *cost)


def test_the_printed_inertias(dasgupta):
    moments = np.linalg.eigvalsh(DATA["manipulator"]["Id0"])
    assert moments[0] < 0 < moments[2]
    printed(claim(dasgupta, "realistic").measured, *moments)
    rows = table(dasgupta, "inertias").rows
    for row, key in zip(rows, ("Id0", "Iu0", "Ip"), strict=True):
        assert np.allclose(row[1:4], np.linalg.eigvalsh(DATA["manipulator"][key]))
        assert row[4] != "none"


def test_operations(dasgupta):
    count = tf.operation_count(ROBOT.without_friction(), "dasgupta1998")
    told = claim(dasgupta, "694")
    printed(told.measured, count.flops)
    assert told.printed == f"{6 * 694 + 273 + 452} flops"
    assert count.flops < 4889
    rows = {row[0]: row[5] for row in table(dasgupta, "operations").rows}
    assert rows["dasgupta1998"] == count.flops
    assert rows["exact"] == tf.operation_count(ROBOT.without_friction()).flops
    ratio = claim(dasgupta, "3.36")
    printed(ratio.measured, 4889 / (132 * 6 + 111 * 6 - 4))
    assert 1 < numbers(ratio.measured)[1] <= 3.36
    chain, serial = numbers(claim(dasgupta, "In parallel").measured)
    assert serial < chain < 2 * serial
    assert chain == sum(count.critical_path)


def test_the_legs_share(dasgupta):
    share = {}
    for p in ("I", "II"):
        T, S = forces(ROBOT, p, "dasgupta1998"), forces(ROBOT, p, "massless-legs")
        share[p] = np.abs((T - S) / T)
    T = forces(ROBOT, "I", "dasgupta1998")
    crossing = np.array([T[:, k].min() < 0 < T[:, k].max() for k in range(6)])
    assert claim(dasgupta, "jumps").measured == "legs " + " and ".join(str(k + 1) for k in np.flatnonzero(crossing))
    medians = {p: 100 * np.median(x) for p, x in share.items()}
    most = 100 * share["I"][:, ~crossing].max()
    printed(claim(dasgupta, "around 20 %").measured, medians["I"], most)
    assert 15 < medians["I"] < 25
    assert 35 < most < 45
    printed(claim(dasgupta, "20 to 50 %").measured, *np.percentile(100 * share["I"], (25, 75)))
    printed(claim(dasgupta, "20 to 50 %").measured, *np.percentile(100 * share["II"], (25, 75)))
    inside = [100 * ((x >= 0.2) & (x <= 0.5)).mean() for x in share.values()]
    printed(claim(dasgupta, "20 to 50 %").reason, *inside)
    assert inside[0] < 50 < inside[1]
    light = ROBOT.replace(platform_mass=4.0)
    T, S = forces(light, "I", "dasgupta1998"), forces(light, "I", "massless-legs")
    lighter = np.abs((T - S) / T)
    printed(claim(dasgupta, "above 60 %").measured, 100 * (lighter > 0.6).mean(), 100 * np.median(lighter))
    assert (lighter > 0.6).mean() > 0.5
    printed(claim(dasgupta, "less payload").measured, medians["I"], medians["II"], 100 * np.median(lighter))
    assert medians["I"] < medians["II"] < 100 * np.median(lighter)
    peaks = [np.abs(forces(ROBOT, p, "dasgupta1998")).max() for p in ("I", "II")]
    printed(claim(dasgupta, "Ten times").measured, *peaks)
    printed(claim(dasgupta, "moderate").measured, peaks[0], np.sqrt((forces(ROBOT, "I", "dasgupta1998") ** 2).mean()))


def test_shares_at_other_masses(dasgupta):
    """Drawn from two masses by linearity; here from a third one itself."""
    (panel,) = figure(dasgupta, "payload").panels
    for line, p in zip(panel.lines, ("I", "II"), strict=True):
        k = 20
        other = ROBOT.replace(platform_mass=float(line.x[k]))
        T, S = forces(other, p, "dasgupta1998"), forces(other, p, "massless-legs")
        assert abs(np.median(np.abs((T - S) / T)) - line.y[k]) < REFERENCE
        assert (np.diff(line.y) < 0).all()


def test_the_singular_path(dasgupta):
    told = claim(dasgupta, "10^5 N")
    assert f"{DATA['path_III_singularity_time']:.7f}" in told.measured
    path = DATA["paths"]["III"]
    ends = [*path["t0"], *path["th0"]], [*path["t1"], *path["th1"]]
    motion = tf.motion.StraightLine(*ends, path["tf"], path["V"], path["Om"], orientation="angles")
    F = np.abs(ROBOT.inverse_dynamics(*motion.sample(np.arange(61) / 10), model="dasgupta1998")).max(axis=1)
    printed(told.measured, F.max(), F.argmax() / 10)
    assert 1e5 < F.max() < 1e6
    printed(claim(dasgupta, "precisely").measured, DATA["path_III_singularity_time"])
    (line,) = figure(dasgupta, "fig-10").panels[0].lines
    total = np.abs([panel.lines[0].y for panel in figure(dasgupta, "fig-9").panels]).max(axis=0)
    high = total[(line.y >= 1e2) & (line.y <= 1e3)]
    ill = claim(dasgupta, "10^4 N")
    printed(ill.measured, high.min(), high.max())
    assert high.min() > 1e4
    bands = table(dasgupta, "condition-bands").rows
    assert all(row[4] < 1e4 for row in bands if row[1] <= 1e3)
    assert (np.diff([row[4] for row in bands]) > 0).all()
    over, dimensionless, along = numbers(claim(dasgupta, "Directly").measured)
    assert 0.3 < over < dimensionless < 0.9
    assert along < 0


def test_forces_break_at_the_singularity_alone(dasgupta):
    for panel in figure(dasgupta, "fig-9").panels:
        for line in panel.lines:
            (gap,) = np.flatnonzero(np.isnan(line.y))
            assert abs(line.x[gap] - DATA["path_III_singularity_time"]) < 0.005
            assert line.y[gap - 1] * line.y[gap + 1] < 0
        assert abs(panel.marks[0][0] - DATA["path_III_singularity_time"]) < 1e-6


def test_random_poses_at_rest(dasgupta):
    """Condition numbers by NumPy, ranks by sorting."""
    (panel,) = figure(dasgupta, "condition-and-force").panels
    points, slow = panel.lines[:2]
    pose, rest = np.random.default_rng(0).uniform(*REGION, (POSES, 6)), np.zeros(6)
    condition = np.linalg.cond(ROBOT.force_matrix(pose))
    force = np.abs(ROBOT.inverse_dynamics(pose, rest, rest, model="dasgupta1998")).max(axis=1)
    assert np.allclose(points.x, condition[: len(points.x)], rtol=NEAR_SINGULARITY)
    assert np.allclose(points.y, force[: len(points.y)], rtol=NEAR_SINGULARITY)
    assert np.allclose(slow.x, np.linalg.cond(ROBOT.force_matrix(states("I").position)))
    assert np.allclose(slow.y, np.abs(forces(ROBOT, "I", "dasgupta1998")).max(axis=1))
    inside = force[(condition >= 1e2) & (condition <= 1e3)]
    printed(claim(dasgupta, "10^4 N").measured, np.median(inside))
    printed(claim(dasgupta, "10^4 N").reason, 100 * (inside >= 1e4).mean())
    ranks = [x.argsort().argsort() for x in (condition, force)]
    printed(claim(dasgupta, "Directly").measured, np.corrcoef(*ranks)[0, 1])
    ranks = [x.argsort().argsort() for x in (slow.x, slow.y)]
    printed(claim(dasgupta, "Directly").measured, np.corrcoef(*ranks)[0, 1])
