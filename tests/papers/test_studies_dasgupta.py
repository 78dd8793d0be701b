"""Dasgupta & Mruthyunjaya 1998 as a study: its curves, numbers, verdicts and contents.

Numbers of the study are computed again by `dasgupta_witness` (the paper's equations in plain NumPy) and by
`stewart_witness` (13 bodies, derivatives by JAX).
"""

from __future__ import annotations

import numpy as np
import pytest

from support import dasgupta_witness as paper
from support import stewart_witness as bodies
from support.dasgupta_verdicts import OTHERS, VERDICTS
from support.study_checks import (
    DATA,
    NEAR_SINGULARITY,
    REFERENCE,
    ROBOT,
    SAMPLES,
    assert_contents,
    assert_every_verdict_can_change,
    assert_whole_and_finite,
    figure,
    forces,
    named,
    numbers,
    papers_figures,
    printed,
    states,
    table,
)
from support.tolerances import OUTSIDE
from tauforge_papers.contents_table import contents_table
from tauforge_papers.dasgupta1998 import study as dasgupta1998
from tauforge_papers.dasgupta1998.measured import POSES, REGIONS
from tauforge_papers.stewart_rules import EQUATION

MODEL, MASSLESS = "dasgupta1998", "massless-legs"
DURATIONS = {"I": 6.0, "II": 0.6, "III": 6.0}
WEIGHT = 40 * 9.81
SINGULAR_TIME = DATA["path_III_singularity_time"]

EQUATIONS = " ".join(map(str, range(1, 43)))
FIGURES = " ".join(map(str, range(1, 11)))


@pytest.fixture(scope="module")
def dasgupta():
    told = []
    made = dasgupta1998.study(told.append)
    assert told
    return made


@pytest.fixture(scope="module")
def path_forces():
    """T and S of every path at the study's times, and the condition numbers, by plain NumPy."""
    found = {}
    for name, duration in DURATIONS.items():
        times = np.linspace(0, duration, SAMPLES)
        T, condition = paper.forces(name, times)
        found[name] = T, paper.forces(name, times, legs=False)[0], condition
    return found


def crossing(T):
    return np.array([x.min() < 0 < x.max() for x in T.T])


def rank(x, y):
    return np.corrcoef(*(values.argsort().argsort() for values in (x, y)))[0, 1]


def test_it_is_whole(dasgupta):
    assert_whole_and_finite(dasgupta)
    assert papers_figures(dasgupta) == set(range(1, 11))
    assert "not its curves" in dasgupta.summary


def test_verdicts(dasgupta):
    assert {c.name: c.verdict for c in dasgupta.claims} == VERDICTS


def test_every_verdict_can_change(dasgupta):
    assert_every_verdict_can_change(dasgupta, OTHERS)


def test_contents(dasgupta):
    assert_contents(dasgupta, {"equation": EQUATIONS, "figure": FIGURES})
    rows = {row[:2]: row for row in contents_table(dasgupta).rows}
    places = {number: rows["equation", number][3] for number in EQUATIONS.split()}
    assert [number for number, where in places.items() if not where] == ["42"]
    assert "exact.py" in places["26"]
    assert "straight_line.py" in places["39"]
    assert rows["equation", "16"][4] == "does not hold"


def test_the_fault_of_counting_twice_has_the_rule_of_both_papers(dasgupta):
    assert named(dasgupta, "parallel-axis").rule is EQUATION
    assert named(dasgupta, "moment-along-leg").rule is EQUATION


# ------------------------------------------------------------------------------------- the paper's equations as printed


@pytest.mark.parametrize(("path", "drawn"), [("I", "fig-4"), ("II", "fig-7"), ("III", "fig-9")])
def test_leg_forces_are_the_papers_equations(dasgupta, path_forces, path, drawn):
    T, S, _ = path_forces[path]
    near = np.abs(np.linspace(0, DURATIONS[path], SAMPLES) - SINGULAR_TIME) < 0.2 if path == "III" else False
    for k, wanted in enumerate((T, S, T - S)):
        got = np.stack([panel.lines[k].y for panel in figure(dasgupta, drawn).panels], axis=1)
        gaps = np.isnan(got).any(axis=1)
        assert gaps.sum() == (path == "III")
        tolerance = np.where(near, NEAR_SINGULARITY, REFERENCE)[..., None] * np.abs(T).max(axis=1, keepdims=True)
        assert (np.abs(got - wanted)[~gaps] < np.broadcast_to(tolerance, T.shape)[~gaps]).all()


@pytest.mark.parametrize(("path", "drawn"), [("I", "fig-4"), ("III", "fig-9")])
def test_leg_forces_are_the_references(dasgupta, path, drawn):
    panels, met = figure(dasgupta, drawn).panels, 0
    for sample in DATA["samples"][path]:
        row = np.flatnonzero(np.isclose(panels[0].lines[0].x, sample["t"], rtol=0, atol=1e-12))
        if not len(row):
            continue
        met += 1
        near = path == "III" and abs(sample["t"] - SINGULAR_TIME) < 0.2
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


def test_forces_on_path_one(dasgupta, path_forces):
    T, S, condition = path_forces["I"]
    peaks = np.abs(T).max(axis=0)
    claim = named(dasgupta, "moderate")
    printed(claim.measured, *peaks, peaks.max() / WEIGHT)
    assert [x / WEIGHT < np.sqrt(10) for x in peaks] == [True, True, False, True, True, True]
    printed(claim.reason, np.sqrt((T**2).mean()))
    printed(named(dasgupta, "well-conditioned").measured, condition.min(), condition.max())
    share, crosses = np.abs((T - S) / T), crossing(T)
    assert named(dasgupta, "crossing").measured == "legs " + " and ".join(str(k + 1) for k in np.flatnonzero(crosses))
    exact = forces(ROBOT, "I", "exact")
    true = np.abs((exact - S) / exact)
    legs_share = named(dasgupta, "legs-share")
    for text, x in ((legs_share.measured, share), (legs_share.exact, true)):
        printed(text, 100 * np.median(x), 100 * x[:, ~crosses].max())
    assert 0.175 < np.median(share) < 0.225 < share[:, ~crosses].max() < 0.425 < true[:, ~crosses].max()


def test_what_the_difference_consists_of(dasgupta, path_forces):
    """Weight at rest, friction by leaving it out, inertia what is left: by plain NumPy at every tenth sample."""
    claim = named(dasgupta, "inertia-or-weight")
    rows = {row[:2]: row[2:] for row in table(dasgupta, "parts-of-difference").rows}
    for name in ("I", "II"):
        times = np.linspace(0, DURATIONS[name], SAMPLES)[::10]
        T, S = (x[::10] for x in path_forces[name][:2])
        weight = paper.forces(name, times, still=True)[0] - paper.forces(name, times, still=True, legs=False)[0]
        friction = T - paper.forces(name, times, friction=False)[0]
        inertia = T - S - weight - friction
        drawn = {key: np.abs(x).max() for key, x in (("w", weight), ("i", inertia), ("f", friction))}
        if name == "I":
            assert drawn["w"] > 50 * drawn["i"] > 1e4 * drawn["f"]
        else:
            assert drawn["i"] > drawn["w"] > 1e3 * drawn["f"]
            for panel, *parts in zip(
                figure(dasgupta, "parts-of-difference").panels, weight.T, inertia.T, friction.T, strict=True
            ):
                for line, part in zip(panel.lines, parts, strict=True):
                    assert np.abs(line.y[::10] - part).max() < REFERENCE * np.abs(T).max()
        row = rows[f"path {name}", "the paper's"]
        assert np.allclose(row[2:8:2], list(drawn.values()), rtol=0.02)  # every tenth sample may miss the largest
        printed(claim.measured, *(float(f"{x:.3g}") for x in row[2:8:2]), row[0])
    numbers_of = named(dasgupta, "friction").measured
    printed(numbers_of, rows["path I", "the paper's"][6], rows["path II", "the paper's"][6])
    assert rows["path I", "the paper's"][2] / rows["path I", "the paper's"][4] > 75


def test_forces_on_path_two(dasgupta, path_forces):
    slow, fast = ((T, np.abs((T - S) / T)) for T, S, _ in (path_forces["I"], path_forces["II"]))
    peaks, medians = [np.abs(T).max() for T, _ in (slow, fast)], [100 * np.median(x) for _, x in (slow, fast)]
    stays = ~np.any([(np.sign(T) != np.sign(T[0])).any(axis=0) for T, _ in (slow, fast)], axis=0)
    assert stays.nonzero()[0].tolist() == [0, 1, 2]
    bounds = [100 * x[:, stays].max() for _, x in (slow, fast)]
    quotient = fast[1] / slow[1]  # both paths have the same poses
    altered = 100 * np.mean((quotient >= 1.2) | (quotient <= 1 / 1.2))
    printed(named(dasgupta, "speed-raises").measured, *peaks, *bounds, altered)
    printed(named(dasgupta, "speed-raises").reason, *medians)
    usual = [100 * ((x >= 0.2) & (x <= 0.5)).mean() for _, x in (slow, fast)]
    printed(named(dasgupta, "usual-share").measured, *usual)
    assert usual[0] < 50 < usual[1]
    printed(
        named(dasgupta, "usual-share").reason, *(y for _, x in (slow, fast) for y in np.percentile(100 * x, (25, 75)))
    )
    light = ROBOT.replace(platform_mass=4.0)
    T, S = forces(light, "I", MODEL), forces(light, "I", MASSLESS)
    lighter = np.abs((T - S) / T)
    printed(named(dasgupta, "light-platform").measured, 100 * (lighter > 0.6).mean(), 100 * np.median(lighter))
    printed(named(dasgupta, "share-increases").measured, *medians, 100 * np.median(lighter))


def test_forces_step_where_the_blends_end(dasgupta, path_forces):
    """Blends by hand from the printed numbers: 0.2 sqrt(2) m at V, 0.4 rad at Omega."""
    blends = 0.6 - 0.2 * np.sqrt(2) / 0.8, 0.6 - 0.4 / 0.8
    times = sorted([*blends, *(0.6 - x for x in blends)])
    claim = named(dasgupta, "steep-changes")
    steps, massless, lengths = [], [], []
    for t in times:
        sides = t - 1e-9, t + 1e-9
        T, S = (np.abs(np.diff(paper.forces("II", sides, legs=legs)[0], axis=0))[0] for legs in (True, False))
        steps.append(T.max())
        massless.append(S[T.argmax()])
        lengths.append(np.abs(np.diff([ddl(paper.motion(*paper.along("II", x))) for x in sides], axis=0)).max())
    printed(claim.measured, *steps, *times)
    printed(claim.reason, *lengths, massless[int(np.argmax(steps))])
    assert np.allclose(named(dasgupta, "steep-changes").evidence["forces"], steps, rtol=1e-5)
    printed(named(dasgupta, "smooth").measured, max(steps) / 100)  # a hundredth of the accelerations
    rows = [row for row in table(dasgupta, "steps").rows if row[0] == "path II"]
    assert np.allclose([row[1:] for row in rows], np.stack([times, lengths, steps, massless], axis=1), rtol=1e-5)


def ddl(state):
    """Accelerations of the six lengths: s.S'' + |S' across|^2 / L."""
    t, R, v, w, a, al = state
    found = []
    for b, p in zip(paper.ROBOT["b"], paper.ROBOT["p"], strict=True):
        q = R @ np.array(p)
        S = q + t - np.array(b)
        L = np.linalg.norm(S)
        S_dot, S_ddot = v + np.cross(w, q), a + np.cross(al, q) + np.cross(w, np.cross(w, q))
        found.append(S / L @ S_ddot + (S_dot @ S_dot - (S / L @ S_dot) ** 2) / L)
    return found


def test_the_singular_path(dasgupta, path_forces):
    times = np.arange(61) / 10
    F, condition = paper.forces("III", times)
    along = np.abs(F).max(axis=1)
    claim = named(dasgupta, "singular-force")
    printed(claim.measured, along.max(), times[along.argmax()])
    assert (along[1:-1] > np.maximum(along[:-2], along[2:])).sum() == 1
    assert f"{SINGULAR_TIME:.7f}" in claim.reason
    predicted = named(dasgupta, "condition-predicts")
    assert along.argmax() == condition.argmax()
    printed(predicted.measured, condition.max(), times[condition.argmax()], condition.min())
    for panel, y in zip(figure(dasgupta, "fig-9").panels, F.T, strict=True):
        points = panel.lines[3]
        assert points.style == "points"
        assert np.allclose(points.x, times)
        assert np.abs(points.y - y).max() < NEAR_SINGULARITY * np.abs(y).max()


def test_nothing_supports_the_platform_in_a_singular_pose(dasgupta):
    """By plain NumPy: least squares for the forces, and leg lengths that do not change along the free twist."""
    claim = named(dasgupta, "no-support")
    coordinates, *_ = paper.along("III", SINGULAR_TIME)
    R, t = paper.rotation(coordinates[3:]), coordinates[:3]
    q = [R @ np.array(p) for p in paper.ROBOT["p"]]
    S = [x + t - np.array(b) for x, b in zip(q, paper.ROBOT["b"], strict=True)]
    H = np.array([[*(x / np.linalg.norm(x)), *np.cross(y, x / np.linalg.norm(x))] for x, y in zip(S, q, strict=True)]).T
    weight = 40.0 * paper.G
    wrench = np.array([*weight, *np.cross(R @ np.array([0.04, 0.03, -0.06]), weight)])
    F = np.linalg.lstsq(H, wrench, rcond=1e-6)[0]
    left_over = np.linalg.norm(H @ F - wrench) / np.linalg.norm(wrench)
    assert claim.evidence["left_over"] == pytest.approx(left_over, rel=1e-5)
    printed(claim.measured, 1, 100 * left_over)
    twist = numbers(claim.reason.split("move by")[1])
    assert np.abs(H.T @ twist).max() < 0.02  # the page has two digits
    assert np.linalg.norm(twist) == pytest.approx(1.0, abs=0.02)


def test_condition_number_and_forces(dasgupta, path_forces):
    claim = named(dasgupta, "direct-relation")
    ranks = [rank(condition, np.abs(T).max(axis=1)) for T, _, condition in path_forces.values()]
    printed(claim.measured, *ranks)
    assert ranks[2] > 0.999 > 0 > max(ranks[:2])
    shares = named(dasgupta, "near-singular")
    T, _, condition = path_forces["III"]
    high = np.abs(T).max(axis=1)[(condition >= 1e2) & (condition <= 1e3)]
    printed(shares.measured, np.median(high))
    assert high.min() > 1e4
    for name, region in REGIONS.items():
        pose, rest = np.random.default_rng(0).uniform(*region, (POSES, 6)), np.zeros(6)
        condition = np.linalg.cond(ROBOT.force_matrix(pose))
        force = np.abs(ROBOT.inverse_dynamics(pose, rest, rest, model=MODEL)).max(axis=1)
        printed(claim.reason, rank(condition, force))
        inside = force[(condition >= 1e2) & (condition <= 1e3)]
        part = next(text for text in shares.measured.split("; ") if text.startswith(name))
        printed(part, np.median(inside), 100 * (inside >= 10**3.5).mean())


def test_a_pose_at_rest_of_the_random_ones(dasgupta):
    """By plain NumPy, since the regions are our choice."""
    points = figure(dasgupta, "condition-and-force").panels[0].lines[0]
    poses = np.random.default_rng(0).uniform(*REGIONS["around the three paths"], (POSES, 6))
    for k in range(5):
        state = paper.motion(poses[k], np.zeros(6), np.zeros(6))
        o = paper.Matlab()
        H, F = paper.final(o, paper.platform(o, state), [paper.leg(o, i, state) for i in range(6)])
        assert points.x[k] == pytest.approx(np.linalg.cond(H), rel=NEAR_SINGULARITY)
        assert points.y[k] == pytest.approx(np.abs(F).max(), rel=NEAR_SINGULARITY)


def test_the_number_without_dimensions(dasgupta, path_forces):
    """Moments over the mean distance of the platform's points from its origin, by NumPy."""
    claim = named(dasgupta, "qualitative-measure")
    radius = np.linalg.norm(DATA["manipulator"]["p"], axis=1).mean()
    printed(claim.reason, radius)
    rows = np.array([1, 1, 1, radius, radius, radius])[:, None]
    quotients = []
    for region in REGIONS.values():
        H = ROBOT.force_matrix(np.random.default_rng(0).uniform(*region, (POSES, 6)))
        plain, scaled = np.linalg.cond(H), np.linalg.cond(H / rows)
        quotients.append(plain / scaled)
        printed(claim.measured, rank(plain, scaled))
    printed(claim.reason, min(x.min() for x in quotients), max(x.max() for x in quotients))


def test_readings_of_the_first_axis(dasgupta):
    """k_1 with a third component of 0.513 or -0.513: the paper's model by plain NumPy, at every tenth sample."""
    rows = {row[0]: row[1:] for row in table(dasgupta, "axis-readings").rows}
    k = np.array([-0.8141, 0.2714, np.sqrt(1 - 0.8141**2 - 0.2714**2)])
    for text, axis in (("+0.513", k), ("-0.513", k * [1, 1, -1])):
        for column, name in enumerate(("I", "II")):
            times = np.linspace(0, DURATIONS[name], SAMPLES)[::10]
            change = np.abs(paper.forces(name, times, k=axis)[0] - paper.forces(name, times)[0]).max()
            assert rows[text][column] == pytest.approx(change, rel=0.02)
    claim = named(dasgupta, "unit-axes")
    printed(claim.measured, 12.9, max(rows[x][3] for x in ("+0.513", "-0.513")))
    printed(claim.reason, *(row[4] for row in rows.values()))
    assert rows["0 (ours)"][4] < 2 < min(rows[x][4] for x in ("+0.513", "-0.513"))


# ----------------------------------------------------------------------------------------- against 13 bodies and JAX


def test_spins_and_kinematics_against_derivatives_of_positions(dasgupta):
    spins = []
    for name in ("I", "II"):
        found = [bodies.motion(ROBOT, *state) for state in zip(*states(name), strict=True)][::10]
        spins.append(max(np.abs(np.einsum("ni,ni->n", m.W[:6], m.now.axes[:6, :, 0])).max() for m in found))
    printed(named(dasgupta, "no-spin").measured, *spins)
    for name in ("leg-lengths", "leg-centres"):
        assert "within" in named(dasgupta, name).measured
    pose, twist, acceleration = (x[::60] for x in states("II"))
    got = ROBOT.leg_motion(pose, twist, acceleration)
    for row, state in enumerate(zip(pose, twist, acceleration, strict=True)):
        m = bodies.motion(ROBOT, *state)
        assert np.abs(got.rates[row] - m.rate.lengths).max() < OUTSIDE
        assert np.abs(got.accelerations[row] - m.second.lengths).max() < OUTSIDE * 10


def test_the_model_against_newton_and_euler_of_13_bodies(dasgupta, path_forces):
    """Errors of the paper's model, and with the three corrections none."""
    worst = []
    for name in ("I", "II"):
        rows = slice(None, None, 20)
        state = [x[rows] for x in states(name)]
        exact = np.array([bodies.newton_euler(ROBOT, *x, np.zeros(6)).actuators for x in zip(*state, strict=True)])
        worst.append(np.abs(path_forces[name][0][rows] - exact).max())
        mended = ROBOT.inverse_dynamics(
            *state, model=MODEL, corrections=("leg_spin", "moment_along_c", "parallel_axis_once")
        )
        assert np.abs(mended - exact).max() < OUTSIDE * np.abs(exact).max()
    largest = numbers(named(dasgupta, "all-effects").measured)
    assert np.allclose(largest, worst, rtol=0.02)  # every twentieth sample may miss the largest
    printed(dasgupta.summary, *largest)
    assert [round(x, 1) for x in largest] == [27.7, 103.9]
    for claim, left_out in (("moment-along-leg", "moment_along_c"), ("parallel-axis", "parallel_axis_once")):
        rest = [x for x in ("leg_spin", "moment_along_c", "parallel_axis_once") if x != left_out]
        cost = [
            np.abs(ROBOT.inverse_dynamics(*states(p), model=MODEL, corrections=rest) - forces(ROBOT, p, "exact")).max()
            for p in ("I", "II")
        ]
        printed(named(dasgupta, claim).measured, *cost)


def test_reactions_against_13_bodies(dasgupta):
    """The universal joint's moment along s, M_u = s.C, beside the true one; forces as eqs 25-28 have them."""
    smooth = ROBOT.without_friction()
    worst = largest = 0.0
    for state in [*zip(*states("II"), strict=True)][5::30]:
        found = bodies.newton_euler(smooth, *state, np.zeros(6))
        moments, s = found.universal[:, 3:], bodies.motion(smooth, *state).now.axes[:6, :, 0]
        off = moments - s * (moments * s).sum(axis=1, keepdims=True)
        worst = max(worst, np.linalg.norm(off, axis=1).max())
        largest = max(largest, np.linalg.norm(moments, axis=1).max())
        got = smooth.joint_reactions(*state)
        assert np.abs(got.universal - found.universal).max() < OUTSIDE * np.abs(found.universal).max()
        assert np.abs(got.prismatic - found.prismatic).max() < OUTSIDE * np.abs(found.prismatic).max()
    (percent,) = numbers(named(dasgupta, "reaction-moment").measured)
    assert percent == pytest.approx(100 * worst / largest, rel=0.02)


def test_the_sign_of_equation_33(dasgupta):
    """+ sum of K instead of -: the forces change by the solution of H x = 2 sum K, with K of 13 bodies."""
    row = next(row for row in table(dasgupta, "misprints").rows if row[0] == "eq. 33")
    for column, name in ((5, "I"), (6, "II")):
        change = 0.0
        for state in [*zip(*states(name), strict=True)][::20]:
            found, m = bodies.newton_euler(ROBOT, *state, np.zeros(6)), bodies.motion(ROBOT, *state)
            s = m.now.axes[:6, :, 0]
            F = found.spherical[:, :3]
            K = F - s * (F * s).sum(axis=1, keepdims=True)
            H = np.concatenate([s, np.cross(m.now.tips - state[0][:3], s)], axis=1).T
            change = max(change, np.abs(np.linalg.solve(H, [*(2 * K.sum(axis=0)), 0, 0, 0])).max())
        assert row[column] == pytest.approx(change, rel=0.02)
    assert [row[-1] for row in table(dasgupta, "misprints").rows].count("no") == 0


def test_closed_form(dasgupta):
    """M by columns: what unit accelerations add to the forces of 13 bodies."""
    pose, twist, acceleration = (x[200] for x in states("II"))
    smooth = ROBOT.without_friction()
    H, M = ROBOT.force_matrix(pose), ROBOT.mass_matrix(pose)
    rest, *unit = (
        bodies.newton_euler(smooth, pose, np.zeros(6), x, np.zeros(6)).actuators for x in (np.zeros(6), *np.eye(6))
    )
    columns = np.stack([H @ (F - rest) for F in unit], axis=1)
    assert np.abs(M - columns).max() < OUTSIDE * np.abs(H @ rest).max()
    F = bodies.newton_euler(ROBOT, pose, twist, acceleration, np.zeros(6)).actuators
    assert np.abs(H @ F - M @ acceleration - ROBOT.bias_wrench(pose, twist)).max() < OUTSIDE * np.abs(H @ F).max()
    assert named(dasgupta, "closed-form").measured.count("within 1e-12") == 2


# ------------------------------------------------------------------------------------------------------- parameters


def shortest_leg():
    """m, the shortest leg on path I."""
    b, p = (np.array(DATA["manipulator"][x]) for x in ("b", "p"))
    poses = [paper.along("I", t)[0] for t in np.linspace(0, 6, SAMPLES)]
    return min(np.linalg.norm(p @ paper.rotation(x[3:]).T + x[:3] - b, axis=1).min() for x in poses)


def test_the_printed_inertias(dasgupta):
    moments = np.linalg.eigvalsh(DATA["manipulator"]["Id0"])
    assert moments[0] < 0 < moments[2]
    claim = named(dasgupta, "realistic")
    printed(claim.measured, *moments)
    printed(claim.reason, shortest_leg())
    rows = table(dasgupta, "inertias").rows
    for row, key in zip(rows, ("Id0", "Iu0", "Ip"), strict=True):
        assert np.allclose(row[1:4], np.linalg.eigvalsh(DATA["manipulator"][key]))
        assert row[4] != "none"


# -------------------------------------------------------------------------------------------------------------- figures


def test_fractions_break_at_their_poles(dasgupta):
    """On path II one leg of the paper's model goes through zero, two leap over it and one comes near it."""
    drawn = figure(dasgupta, "fig-8")
    gaps = [[leg + 1 for leg, panel in enumerate(drawn.panels) if np.isnan(panel.lines[k].y).any()] for k in (0, 1)]
    assert gaps == [[5], [4, 5]]
    for leg, panel in enumerate(drawn.panels):
        for line in panel.lines:
            near = np.flatnonzero(np.isnan(line.y))
            assert all(line.y[k - 1] * line.y[k + 1] < 0 for k in near), leg
    T = forces(ROBOT, "II", MODEL)
    least = ((T - forces(ROBOT, "II", MASSLESS)) / T)[:, 2].min()
    printed(drawn.caption, least)
    for text in ("cut at -1.5 and 1.5", "in leg 5;", "force of legs 4, 6 leaps over zero", "leg 3 leaves the figure"):
        assert text in drawn.caption


def test_shares_at_other_masses(dasgupta):
    """Drawn from two masses by linearity; here from a third one itself."""
    (panel,) = figure(dasgupta, "payload").panels
    for line, p in zip(panel.lines, ("I", "II"), strict=True):
        k = 20
        other = ROBOT.replace(platform_mass=float(line.x[k]))
        T, S = forces(other, p, MODEL), forces(other, p, MASSLESS)
        assert abs(np.median(np.abs((T - S) / T)) - line.y[k]) < REFERENCE
        assert (np.diff(line.y) < 0).all()


def test_forces_break_at_the_singularity_alone(dasgupta):
    for panel in figure(dasgupta, "fig-9").panels:
        for line in panel.lines[:3]:
            (gap,) = np.flatnonzero(np.isnan(line.y))
            assert abs(line.x[gap] - SINGULAR_TIME) < 0.005
            assert line.y[gap - 1] * line.y[gap + 1] < 0
        assert abs(panel.marks[0][0] - SINGULAR_TIME) < 1e-6
