"""Every number of the reference data: the papers' models and the exact one, on Dasgupta's robot and paths."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from support.platforms import HOME, random_platform
from support.tolerances import ROUNDING
from tauforge.analysis.comparison import assess
from tauforge.analysis.stewart_forces import best_characteristic_length, crossings, worst_leg_forces
from tauforge.formulations.stewart import MODELS
from tauforge.motion import StraightLine, twists
from tauforge.robots.stewart.capabilities import SIMPLIFICATIONS

DATA = json.loads((Path(__file__).parents[2] / "data" / "stewart_dasgupta.json").read_text())
PLATFORM = tf.load("dasgupta1998")
REFERENCE = 1e-9  # the data's own digits
NEAR_SINGULARITY = 1e-6  # path III within 0.2 s of it: condition numbers up to 1e5
FORCES = {
    "F0": {"model": "massless-legs"},
    "F_a": {"model": "dasgupta1998"},
    "F_b_vector": {"model": "pedrammehr2012"},
    "F_b_local": {"model": "pedrammehr2012", "corrections": ("own_axes",)},
    "F_b_closed": {"model": "pedrammehr2012-closed"},
    "F_c": {"model": "exact"},
    "F_c_lagrange": {"model": "exact-vectors"},
}


def line(name):
    path = DATA["paths"][name]
    ends = [[*path[t], *path[theta]] for t, theta in (("t0", "th0"), ("t1", "th1"))]
    return StraightLine(*ends, path["tf"], path["V"], path["Om"], orientation="angles")


def cases():
    for name in ("I", "III"):
        for sample in DATA["samples"][name]:
            yield pytest.param(name, sample, id=f"{name} {sample['t']}")
    for k, sample in enumerate(DATA["random_states"]):
        yield pytest.param("random", sample, id=f"random {k}")


def state_of(sample):
    pose = np.array([*sample["X"], *sample["theta"]])
    rates, accelerations = ([*sample[x], *sample[t]] for x, t in (("Xd", "thetad"), ("Xdd", "thetadd")))
    return (pose, *twists(pose, rates, accelerations))


def relative(got, want):
    return np.abs(np.asarray(got) - want).max() / np.abs(want).max()


@pytest.mark.parametrize(("path", "sample"), list(cases()))
def test_every_number(path, sample):
    pose, twist, acceleration = state_of(sample)
    near = path == "III" and abs(sample["t"] - DATA["path_III_singularity_time"]) < 0.2
    tolerance = NEAR_SINGULARITY if near else REFERENCE
    for key, options in FORCES.items():
        if key in sample:
            assert relative(PLATFORM.inverse_dynamics(pose, twist, acceleration, **options), sample[key]) < tolerance, (
                key
            )
    assert abs(PLATFORM.condition_number(pose) / sample["condH"] - 1) < tolerance
    if "L" not in sample:
        return
    legs = PLATFORM.leg_motion(pose, twist, acceleration)
    for got, key in (
        (legs.lengths, "L"),
        (legs.rates, "Ldot"),
        (legs.accelerations, "Lddot"),
        (legs.angular_velocities, "W_exact"),
        (legs.angular_accelerations, "A_exact"),
    ):
        assert np.abs(got - np.array(sample[key])).max() < REFERENCE
    assert relative(np.linalg.det(PLATFORM.force_matrix(pose)), np.array([sample["detH"]])) < tolerance
    assert relative(np.r_[twist[3:], acceleration[3:]], np.r_[sample["omega"], sample["alpha"]]) < REFERENCE


@pytest.mark.parametrize("name", ["I", "III"])
def test_the_planned_paths(name):
    """Dasgupta's trajectory, switching instants included: from the right, at the end from the left."""
    motion = line(name)
    for sample in DATA["samples"][name]:
        pose, twist, acceleration = motion.sample(sample["t"])
        assert np.abs(pose - np.r_[sample["X"], sample["theta"]]).max() < ROUNDING
        assert np.abs(twist - np.r_[sample["Xd"], sample["omega"]]).max() < ROUNDING
        assert np.abs(acceleration - np.r_[sample["Xdd"], sample["alpha"]]).max() < ROUNDING


def test_the_singularity_of_path_three():
    motion = line("III")
    (crossing,) = crossings(PLATFORM, lambda t: motion.sample(t).position, 0.0, motion.duration)
    assert abs(crossing.time - DATA["path_III_singularity_time"]) < REFERENCE
    assert abs(crossing.time - 3.6705041) < 5e-8
    assert crossings(PLATFORM, lambda t: line("I").sample(t).position, 0.0, 6.0) == []
    with pytest.raises(tf.ShapeError, match="at least one state"):
        assess(PLATFORM, *np.zeros((3, 0, 6)))
    with pytest.raises(tf.ShapeError, match="samples"):
        crossings(PLATFORM, lambda t: motion.sample(t).position, 1.0, 1.0)


# largest |F - F_exact| (N) on paths I and II: what each model as published costs
PUBLISHED = {
    "Dasgupta & Mruthyunjaya 1998 as published": (27.7, 103.9),
    "Pedrammehr et al. 2012 as published": (1.19, 118.5),
    "Pedrammehr et al. 2012, closed form as published": (1.31, 131.0),
    "moment along the leg": (28.3, 43.1),
    "no leg spin": (0.16, 16.1),
}


@pytest.mark.parametrize(("path", "column"), [("I", 0), ("II", 1)])
def test_what_each_assumption_costs(path, column):
    motion = line(path)
    states = motion.sample(np.linspace(0, motion.duration, 601))
    verdicts = {v.simplification.name: v for v in assess(PLATFORM, *states)}
    assert set(verdicts) == {s.name for s in SIMPLIFICATIONS}
    exact = PLATFORM.inverse_dynamics(*states)
    assert abs(np.abs(exact).max() - (1434, 2133)[column]) < 1
    for name, worst in PUBLISHED.items():
        printed_digits = 0.06 if worst[column] > 2 else 0.006
        assert abs(verdicts[name].worst - worst[column]) < printed_digits, name
    for verdict in verdicts.values():
        chosen = {"model": verdict.simplification.model, "corrections": verdict.simplification.corrections}
        apart = PLATFORM.inverse_dynamics(*states, **chosen) - exact
        assert np.allclose(verdict.rms, np.sqrt((apart**2).mean(axis=0)))
        assert np.allclose(verdict.largest, np.abs(apart).max(axis=0))
        assert np.allclose(verdict.percent, 100 * verdict.largest / np.abs(exact).max(axis=0))
    assert verdicts["massless legs, joints and drives without friction and rotors"].worst > 200


def test_corrected_papers_are_exact():
    """Every mixture of switches runs; with all of them both papers give the exact forces."""
    states = line("II").sample(np.linspace(0, 0.6, 61))
    exact = PLATFORM.inverse_dynamics(*states)
    closed = ("spin_rate_sign", "spin_in_forces", "spin_in_moments", "extension", "offset_axial", "velocity_in_moment")
    for model, corrections in (
        ("dasgupta1998", ("leg_spin", "moment_along_c", "parallel_axis_once")),
        ("pedrammehr2012", ("legs_once", "platform_once")),
        ("pedrammehr2012-closed", (*closed, "legs_once", "platform_once")),
    ):
        got = PLATFORM.inverse_dynamics(*states, model=model, corrections=corrections)
        assert relative(got, exact) < 1e-12
        for left_out in corrections:
            rest = [name for name in corrections if name != left_out]
            part = PLATFORM.inverse_dynamics(*states, model=model, corrections=rest)
            assert relative(part, exact) > 1e-6, f"{model}: {left_out} makes no difference"
    as_vectors = PLATFORM.inverse_dynamics(*states, model="pedrammehr2012")
    restored = PLATFORM.inverse_dynamics(*states, model="pedrammehr2012-closed", corrections=closed)
    assert relative(restored, as_vectors) < 1e-12


def test_corrected_papers_are_exact_with_rotors_too():
    platform = PLATFORM.replace(reflected_mass=[1.0, 2, 3, 4, 5, 6])
    states = line("II").sample(np.linspace(0, 0.6, 11))
    exact = platform.inverse_dynamics(*states)
    for model in ("dasgupta1998", "pedrammehr2012", "pedrammehr2012-closed"):
        all_of_them = [name for name in MODELS[model].corrections if name != "own_axes"]
        assert relative(platform.inverse_dynamics(*states, model=model, corrections=all_of_them), exact) < 1e-12


def test_a_crossing_at_a_sample():
    """det H is 0 to the last bit there: found once, without a change of sign to look for."""
    rig = tf.load("motion-rig")

    def poses(t):
        return np.array([[0, 0, 1.0, 0, 0, np.pi / 2 + x] for x in t])

    found = crossings(rig, poses, -0.5, 0.5, samples=10)
    assert len(found) == 1
    assert abs(found[0].time) < 1e-9


def test_pedrammehrs_own_robot():
    """With -0.08 for +0.08 the largest errors are 1.21 and 120.7 N (vector form), 1.31 and 131.5 N (closed form)."""
    platform = tf.load("pedrammehr2012")
    for path, vector, closed in (("I", 1.21, 1.31), ("II", 120.7, 131.5)):
        motion = line(path)
        states = motion.sample(np.linspace(0, motion.duration, 601))
        exact = platform.inverse_dynamics(*states)
        for model, worst in (("pedrammehr2012", vector), ("pedrammehr2012-closed", closed)):
            error = np.abs(platform.inverse_dynamics(*states, model=model) - exact).max()
            assert abs(error - worst) < (0.06 if worst > 2 else 0.006)


def test_characteristic_lengths():
    """The best one beats every other, and does not depend on the unit of length."""
    pose = np.array([0.2, 0.0, 0.5, 0.1, 0.0, 0.2])
    length, condition = best_characteristic_length(PLATFORM, pose)
    assert abs(PLATFORM.condition_number(pose, length) / condition - 1) < 1e-12
    for factor in (0.9, 1.1):
        assert PLATFORM.condition_number(pose, factor * length) > condition
    feet = 1 / 0.3048
    scaled = tf.StewartPlatform(
        base_points=np.array(PLATFORM.base_points) * feet,
        platform_points=np.array(PLATFORM.platform_points) * feet,
        universal_axes=PLATFORM.universal_axes,
    )
    there = best_characteristic_length(scaled, pose * [feet, feet, feet, 1, 1, 1])
    assert abs(there[1] / condition - 1) < 1e-6  # of a flat minimum
    assert abs(there[0] / feet / length - 1) < 1e-3


@pytest.mark.parametrize("seed", range(40))
def test_characteristic_lengths_wherever_the_platform_is_held(seed):
    """The best of all lengths, of small platforms and large ones whose points may be many widths from their origin."""
    rng = np.random.default_rng(seed)
    platform = random_platform(rng, masses=False)
    points = np.array(platform.platform_points) * 10 ** rng.uniform(-2, 0.5) + rng.normal(size=3) * 10 ** (
        seed / 10 - 1.5
    )
    platform = platform.replace(platform_points=points)
    length, condition = best_characteristic_length(platform, HOME)
    H = np.array(platform.force_matrix(HOME))
    others = [np.linalg.cond(np.concatenate([H[:3], H[3:] / other])) for other in length * np.geomspace(1e-4, 1e4, 801)]
    assert condition < min(others) * (1 + 1e-6)  # of a flat minimum, at conditions of up to 1e8
    assert others[400] == pytest.approx(condition, rel=1e-6)


def test_worst_forces_are_reached():
    pose = np.array([0.2, 0.0, 0.5, 0.1, 0.0, 0.2])
    worst = worst_leg_forces(PLATFORM, pose)
    inverse = np.linalg.inv(PLATFORM.force_matrix(pose))
    rng = np.random.default_rng(0)
    loads = rng.normal(size=(2000, 3))
    loads /= np.linalg.norm(loads, axis=1, keepdims=True)
    for columns, bound in ((slice(0, 3), worst.per_force), (slice(3, 6), worst.per_moment)):
        forces = np.abs(loads @ inverse[:, columns].T)
        assert (forces <= bound * (1 + ROUNDING)).all()
        assert (forces.max(axis=0) > 0.99 * bound).all()
