"""StewartPlatform: shapes, types and broadcasting of every method, options of the dynamics, changes and copies."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import tauforge as tf
from support.mechanisms import six_rus
from support.platforms import HOME, calls, parts, random_motion, random_platform, rotation
from support.strategies import random_rotation, seeds
from support.tolerances import EPSILON, FORMULATIONS, ROUNDING, SHORT_DIFFERENCES, SINGLE, error, solve_tolerance
from tauforge.formulations.stewart import MODELS
from tauforge.robots.records import Source

CORES = {
    "inverse_kinematics": [(6,)],
    "leg_motion": [(6,)] * 5 + [(6, 3)] * 3 + [(6, 2), (6,), (6, 2), (6, 2), (6, 3)],
    "leg_bodies": [(6, 3, 3)] + [(6, 3)] * 4 + [(6, 3, 3)] * 2,
    "force_matrix": [(6, 6)],
    "condition_number": [()],
    "within_limits": [(6,), (6,), (6,), (), (2,), ()],
    "forward_kinematics": [(6,)],
    "forward_rates": [(6,), (6,)],
    "inverse_dynamics": [(6,)],
    "forward_dynamics": [(6,)],
    "joint_reactions": [(6, 6)] * 3,
    "mass_matrix": [(6, 6)],
    "bias_wrench": [(6,)],
    "energy": [(), ()],
}
PLATFORM = random_platform(np.random.default_rng(1))
PUBLISHED = ("dasgupta1998", "pedrammehr2012", "pedrammehr2012-closed")
SEVERAL = [name for name, arguments in calls(PLATFORM, np.random.default_rng(0)).items() if len(arguments) > 1]
Z = np.eye(6)[2]
every = pytest.mark.parametrize("method", CORES)


# --------------------------------------------------------------------------------------------------------- arrays


@every
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0)], ids=str)
def test_shapes(method, shape):
    arguments = calls(PLATFORM, np.random.default_rng(2), shape)[method]
    got = parts(getattr(PLATFORM, method)(*arguments))
    assert [part.shape for part in got] == [shape + core for core in CORES[method]]
    if method == "within_limits":
        assert PLATFORM.within_limits(*arguments).hold.shape == shape


@every
def test_rows_of_a_batch_are_single_states(method):
    arguments = calls(PLATFORM, np.random.default_rng(3), (2, 3))[method]
    whole = parts(getattr(PLATFORM, method)(*arguments))
    for index in np.ndindex(2, 3):
        alone = parts(getattr(PLATFORM, method)(*(a[index] for a in arguments)))
        assert all(np.array_equal(a, b[index]) for a, b in zip(alone, whole, strict=True))


@pytest.mark.parametrize("method", SEVERAL)
def test_broadcasting(method):
    """One argument a column of poses, the next a row, the third a single one: as if all were given in full."""
    arguments = list(calls(PLATFORM, np.random.default_rng(4), (4, 3))[method])
    arguments[1] = arguments[1][:1, :1] if method == "forward_kinematics" else arguments[1][0]
    if len(arguments) == 3:
        arguments[2] = arguments[2][0, 0]
    full = [a.copy() for a in np.broadcast_arrays(*arguments)]
    got, expected = (parts(getattr(PLATFORM, method)(*x)) for x in (arguments, full))
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))


@pytest.mark.parametrize(
    "robot", [tf.load("motion-rig"), six_rus("platform"), six_rus(), tf.load("planar-2r")], ids=str
)
def test_rate_derivatives_of_a_batch(robot):
    """Each row is that of its state alone, and the slopes are those of the rates, by differences."""
    states, shapes = [x.reshape(2, 3, -1) for x in robot.random_states(6)[:2]], [(2, 3, robot.n, robot.n)] * 2
    found = robot.positions.rate_derivatives(*states)
    assert [part.shape for part in found] == shapes
    for index in np.ndindex(2, 3):
        x, v = (state[index] for state in states)
        for part, alone in zip(found, robot.positions.rate_derivatives(x, v), strict=True):
            assert alone.shape == (robot.n, robot.n)
            assert np.abs(part[index] - alone).max() <= ROUNDING * np.abs(alone).max()
        for part, slopes in zip(found, _slopes_of_rates(robot, x, v), strict=True):
            assert np.abs(part[index] - slopes).max() < SHORT_DIFFERENCES * max(1.0, np.abs(slopes).max())
    assert [part.shape for part in robot.positions.rate_derivatives(states[0], states[1][0, 0])] == shapes
    none = robot.positions.rate_derivatives(*(state[:0] for state in states))
    assert [part.shape for part in none] == [(0, 3, robot.n, robot.n)] * 2


def _slopes_of_rates(robot, x, v):
    """By central differences of the rates over the coordinates, loops closed, and over the velocities."""
    h, steps = 1e-6, np.eye(robot.n)
    q = robot.positions.coordinates(x)

    def rates(dq, dv):
        return robot.positions.rates(robot.positions.at(q + dq, x), v + dv)[0]

    return (
        np.transpose([(rates(h * step, 0.0) - rates(-h * step, 0.0)) / (2 * h) for step in steps]),
        np.transpose([(rates(0.0, h * step) - rates(0.0, -h * step)) / (2 * h) for step in steps]),
    )


@every
def test_lists_and_whole_numbers(method):
    arguments = calls(PLATFORM, np.random.default_rng(5), (2,))[method]
    expected = parts(getattr(PLATFORM, method)(*arguments))
    got = parts(getattr(PLATFORM, method)(*(a.tolist() for a in arguments)))
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))
    if method == "inverse_kinematics":
        assert np.array_equal(PLATFORM.inverse_kinematics([0, 0, 1, 0, 0, 0]), PLATFORM.inverse_kinematics(Z))


@every
@pytest.mark.parametrize("shape", [(), (5,)], ids=str)
def test_float32_stays(method, shape):
    """And is as near to float64 on the same numbers as it can be; mixed types are computed in float64."""
    arguments = [a.astype(np.float32) for a in calls(PLATFORM, np.random.default_rng(6), shape)[method]]
    got = parts(getattr(PLATFORM, method)(*arguments))
    wide = parts(getattr(PLATFORM, method)(*(a.astype(float) for a in arguments)))
    mixed = parts(getattr(PLATFORM, method)(arguments[0].astype(float), *arguments[1:]))
    for single, double, both, core in zip(got, wide, mixed, CORES[method], strict=True):
        if single.dtype.kind == "f":
            assert single.dtype == np.float32
            assert double.dtype == both.dtype == np.float64
        columns = [x if core else x[..., None] for x in (single, double)]
        assert error(*columns, core=max(1, len(core))) < 30 * SINGLE  # solves and cancellation among them


def test_inputs_are_left_alone():
    for method, arguments in calls(PLATFORM, np.random.default_rng(7), (3,)).items():
        frozen = [a.copy() for a in arguments]
        for a in frozen:
            a.flags.writeable = False
        getattr(PLATFORM, method)(*frozen)
        assert all(np.array_equal(a, b) for a, b in zip(frozen, arguments, strict=True))


# ------------------------------------------------------------------------------------------------------- dynamics


@given(rng=seeds)
def test_forward_dynamics_undoes_inverse_dynamics(rng):
    platform = random_platform(rng)
    pose, twist, acceleration = random_motion(rng, (8,))
    wrench = 100 * rng.normal(size=6)
    forces = platform.inverse_dynamics(pose, twist, acceleration, external_wrench=wrench)
    M, H = platform.mass_matrix(pose), platform.force_matrix(pose)
    # what is solved with M: forces and bias much larger than M a
    size = np.abs(platform.bias_wrench(pose, twist)).max() / np.abs(np.einsum("kij,kj->ki", M, acceleration)).max()
    tolerance = (solve_tolerance(M) + solve_tolerance(H)) * max(1, size)
    assert error(platform.forward_dynamics(pose, twist, forces, external_wrench=wrench), acceleration) < tolerance
    balance = np.einsum("kij,kj->ki", H, forces) + wrench
    other_side = np.einsum("kij,kj->ki", M, acceleration) + platform.bias_wrench(pose, twist)
    assert error(balance, other_side) < solve_tolerance(H)


@pytest.mark.parametrize("model", tf.STEWART_MODELS)
def test_wrench_frame(model):
    """A wrench in platform axes is the turned one in base axes, for every model and method that takes one."""
    rng = np.random.default_rng(8)
    pose, twist, acceleration = random_motion(rng, (5,))
    wrench = 50 * rng.normal(size=(5, 6))
    cx, cy, cz, sx, sy, sz = *np.cos(pose[:, 3:]).T, *np.sin(pose[:, 3:]).T
    one, zero = np.ones(5), np.zeros(5)
    Rz, Ry, Rx = (
        np.moveaxis(np.array(rows), -1, 0)
        for rows in (
            [[cz, -sz, zero], [sz, cz, zero], [zero, zero, one]],
            [[cy, zero, sy], [zero, one, zero], [-sy, zero, cy]],
            [[one, zero, zero], [zero, cx, -sx], [zero, sx, cx]],
        )
    )
    turned = (Rz @ Ry @ Rx)[:, None] @ wrench.reshape(5, 2, 3, 1)
    inside, outside = (
        {"external_wrench": wrench, "wrench_frame": "platform"},
        {"external_wrench": turned.reshape(5, 6), "wrench_frame": "base"},
    )
    state = pose, twist, acceleration
    got, expected = (PLATFORM.inverse_dynamics(*state, model=model, **w) for w in (inside, outside))
    assert error(got, expected) < FORMULATIONS
    assert error(got, PLATFORM.inverse_dynamics(*state, model=model, external_wrench=wrench)) > 1e-3  # it matters
    if model == "exact":
        for method in ("forward_dynamics", "joint_reactions"):
            pairs = zip(*(parts(getattr(PLATFORM, method)(*state, **w)) for w in (inside, outside)), strict=True)
            assert all(error(a, b) < FORMULATIONS for a, b in pairs)


def test_models_and_corrections():
    assert tf.STEWART_MODELS[0] == "exact"
    state = random_motion(np.random.default_rng(9))
    exact = PLATFORM.inverse_dynamics(*state)
    assert error(PLATFORM.inverse_dynamics(*state, model="exact-vectors"), exact) < FORMULATIONS
    for model in MODELS:
        names = MODELS[model].corrections
        plain = PLATFORM.inverse_dynamics(*state, model=model)
        answers = [PLATFORM.inverse_dynamics(*state, model=model, corrections=[name]) for name in names]
        if names:
            assert max(error(answer, plain) for answer in answers) > 1e-6  # some switch does something here
        for one, other in combinations(names, 2):
            both = (PLATFORM.inverse_dynamics(*state, model=model, corrections=c) for c in ((one, other), [other, one]))
            assert np.array_equal(*both)
    for model in PUBLISHED:
        all_of_them = [name for name in MODELS[model].corrections if name != "own_axes"]
        assert error(PLATFORM.inverse_dynamics(*state, model=model), exact) > 1e-3
        assert error(PLATFORM.inverse_dynamics(*state, model=model, corrections=all_of_them), exact) < FORMULATIONS


def test_unknown_options():
    state = random_motion(np.random.default_rng(10))
    ask = PLATFORM.inverse_dynamics
    with pytest.raises(tf.UnsupportedFeatureError, match=r"model: unknown model 'newton'\. Use one of exact, dasgupta"):
        ask(*state, model="newton")
    with pytest.raises(
        tf.UnsupportedFeatureError, match=r"^corrections: the model exact takes no corrections, got 'leg_spin'$"
    ):
        ask(*state, corrections=("leg_spin",))
    with pytest.raises(
        tf.UnsupportedFeatureError,
        match=r"dasgupta1998 has no correction 'spin'\. Give .* among leg_spin, moment_along_c",
    ):
        ask(*state, model="dasgupta1998", corrections=["leg_spin", "spin"])
    with pytest.raises(
        tf.UnsupportedFeatureError, match=r"has no correction 'leg_spin'\. Give a sequence of names among leg_spin"
    ):
        ask(*state, model="dasgupta1998", corrections="leg_spin")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"dasgupta1998 has no correction \[\]"):
        ask(*state, model="dasgupta1998", corrections=([],))
    with pytest.raises(tf.ShapeError, match=r"on_singular: expected 'raise' or 'nan', got 'ignore'"):
        ask(*state, on_singular="ignore")
    for method in ("inverse_dynamics", "forward_dynamics", "joint_reactions"):
        with pytest.raises(tf.ShapeError, match=r"wrench_frame: expected 'base' or 'platform', got 'world'"):
            getattr(PLATFORM, method)(*state, external_wrench=np.ones(6), wrench_frame="world")


# --------------------------------------------------------------------------------------------------- changes, copies


def test_every_leg_its_own_data_equals_six_shared():
    one = {"lower_mass": 2.0, "upper_mass": 1.0, "reflected_mass": 3.0, "force_limit": 900.0, "stroke": [0.5, 2.0]}
    one |= {"lower_com": [0.3, 0.1, -0.1], "upper_com": [-0.3, 0.05, 0.1]}
    one |= {"lower_inertia": np.diag([0.02, 0.03, 0.04]), "upper_inertia": np.diag([0.01, 0.02, 0.02])}
    six = {key: [value] * 6 for key, value in one.items()}
    moments = {"lower_inertia": [[0.02, 0.03, 0.04]] * 6, "upper_inertia": [0.01, 0.02, 0.02]}
    shared, same, principal = (random_platform(np.random.default_rng(11), **x) for x in (one, six, six | moments))
    assert shared == same == principal
    state = random_motion(np.random.default_rng(11))
    assert np.array_equal(shared.inverse_dynamics(*state), same.inverse_dynamics(*state))


def test_a_leg_counts_by_its_own_data():
    """1 kg more in leg 4 rests on the joints of leg 4 and of no other."""
    platform = random_platform(np.random.default_rng(12))
    heavier = platform.replace(lower_mass=np.array(platform.lower_mass) + np.eye(6)[3])
    carried = []
    for p in (platform, heavier):
        reactions = p.joint_reactions(HOME, np.zeros(6), np.zeros(6))
        carried.append((reactions.universal + reactions.spherical)[:, :3])
    expected = -np.outer(np.eye(6)[3], platform.gravity)
    np.testing.assert_allclose(carried[1] - carried[0], expected, atol=1e-10)


@pytest.mark.usefixtures("kernels_on")
@pytest.mark.parametrize("gravity", [np.zeros(3), np.array([0.0, 0.0, -1e-300])], ids=["none", "tiny"])
def test_gravity_that_varies_may_vanish(gravity):
    pose, twist, acceleration = random_motion(np.random.default_rng(4), (3,))
    weightless = PLATFORM.replace(gravity=tuple(gravity))
    for name, last in (("forward_dynamics", 100 * acceleration), ("inverse_dynamics", acceleration)):
        found = PLATFORM.kernel(name, varying=["gravity"])(pose, twist, last, gravity)
        assert error(found, getattr(weightless, name)(pose, twist, last)) < FORMULATIONS


def test_replace_and_without_friction():
    state = random_motion(np.random.default_rng(13))
    smooth = PLATFORM.without_friction()
    assert smooth.friction == (0.0, 0.0, 0.0)
    assert PLATFORM.friction != smooth.friction
    assert error(smooth.inverse_dynamics(*state), PLATFORM.inverse_dynamics(*state)) > 1e-6
    still = state[0], np.zeros(6), state[2]
    assert error(smooth.inverse_dynamics(*still), PLATFORM.inverse_dynamics(*still)) < ROUNDING
    weightless = PLATFORM.replace(gravity=(0, 0, 0))
    assert np.abs(weightless.bias_wrench(HOME, np.zeros(6))).max() == 0
    assert isinstance(weightless, tf.StewartPlatform)
    with pytest.raises(tf.ModelError, match=r"replace: unknown field 'mass'\. Known: .*lower_mass"):
        PLATFORM.replace(mass=3)


def test_equality_and_frozen():
    twin = random_platform(np.random.default_rng(1))
    assert twin == PLATFORM
    assert hash(twin) == hash(PLATFORM)
    assert twin.replace(leg_radius=0.03) != PLATFORM
    noted = random_platform(np.random.default_rng(1), sources=(Source(("stroke",), "a tape"),))
    assert noted == PLATFORM  # where numbers come from does not change the platform
    with pytest.raises(dataclasses.FrozenInstanceError):
        PLATFORM.platform_mass = 3.0
    assert isinstance(PLATFORM.base_points[0][0], float)  # tuples of plain numbers, which nobody can write into


@pytest.mark.parametrize("duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("used", [False, True])
def test_pickle_and_copies(duplicate, used):
    """Before and after its first use, when it has formulas and kernels at hand."""
    platform = random_platform(np.random.default_rng(14))
    state = random_motion(np.random.default_rng(14))
    expected = random_platform(np.random.default_rng(14)).inverse_dynamics(*state)
    if used:
        platform.inverse_dynamics(*state)
    again = duplicate(platform)
    assert again == platform
    assert np.array_equal(again.inverse_dynamics(*state), expected)


def test_the_frame_does_not_matter():
    """The same platform seen from a turned base frame needs the same leg forces."""
    rng = np.random.default_rng(15)
    platform = random_platform(rng)
    Q = random_rotation(rng)
    turned = platform.replace(
        **{
            key: np.array(getattr(platform, key)) @ Q.T
            for key in ("base_points", "universal_axes", "base_joint_axes", "gravity")
        }
    )
    pose, twist, acceleration = random_motion(rng)
    R = rotation(pose)
    again = np.concatenate([Q @ pose[:3], angles(Q @ R)])
    both = (Q @ x.reshape(2, 3, 1) for x in (twist, acceleration))
    state = (again, *(x.reshape(6) for x in both))
    assert error(turned.inverse_dynamics(*state), platform.inverse_dynamics(pose, twist, acceleration)) < FORMULATIONS
    a, b = (p.within_limits(x) for p, x in ((turned, again), (platform, pose)))
    np.testing.assert_allclose(np.hstack(a[:4]), np.hstack(b[:4]), atol=100 * EPSILON)


def angles(R):
    """theta_x, theta_y, theta_z of R = Rz Ry Rx."""
    return np.array([np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])])
