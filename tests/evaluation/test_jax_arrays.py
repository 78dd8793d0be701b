"""JAX arrays: the methods on them, under every transformation, and through a rollout."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import in_turn
from support.in_doubles import in_doubles
from support.platforms import quarter_turned
from support.robot_functions import called, cases, largest_error, named, robots, state_of
from support.tolerances import FORMULATIONS, OUTSIDE, SINGLE, error

jax = pytest.importorskip("jax")
jnp = jax.numpy
ROWS = 3
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
# few operations, so that XLA compiles their graphs in a moment
SMALL = tf.load("planar-2r")


@pytest.fixture(autouse=True)
def doubles():
    with in_doubles():
        yield


@pytest.fixture
def through_the_graph(monkeypatch):
    """As on other devices, where kernels of the processor cannot serve."""
    from tauforge.evaluation import jax_arrays

    monkeypatch.setattr(jax_arrays, "serving", lambda: None)


@pytest.mark.parametrize(("robot", "name"), in_turn(cases()), ids=named)
def test_every_function_takes_jax_arrays(robot, name):
    given, expected, _ = state_of(robot, name, ROWS)
    count = len(expected)
    arrays = [jnp.asarray(x) for x in given]
    eager = called(robot, name, arrays)[:count]
    assert all(isinstance(out, jax.Array) and out.dtype == jnp.float64 for out in eager)
    assert largest_error(eager, expected) < FORMULATIONS
    jitted = jax.jit(lambda *x: called(robot, name, x)[:count])(*arrays)
    assert largest_error(jitted, expected) < FORMULATIONS
    mapped = jax.vmap(lambda *x: called(robot, name, x)[:count])(*arrays)
    assert largest_error(mapped, expected) < FORMULATIONS


@pytest.mark.parametrize("name", DYNAMICS)
def test_derivatives_by_all_entries_of_a_position_with_loops(name, as_installed):
    """Along changes that keep the loops closed they are our kernels', which are by the independent coordinates."""
    robot = tf.load("five-bar")
    x, qd, given = (values[0] for values in robot.random_states(1, seed=3))
    expected = getattr(robot, f"{name}_derivatives")(x, qd, given)
    by_x, *others = jax.jacfwd(getattr(robot, name), argnums=(0, 1, 2))(*map(jnp.asarray, (x, qd, given)))
    assert by_x.shape == (robot.n, robot.positions.size)
    assert largest_error([by_x @ robot.positions.slopes(x), *others], expected) < FORMULATIONS


@pytest.mark.parametrize("name", DYNAMICS)
@pytest.mark.parametrize("robot", ["puma560", "panda", "stanford", "dasgupta1998", "box"])
def test_derivatives_equal_our_kernels(robot, name, as_installed):
    robot = robots()[robot]
    given, _, _ = state_of(robot, name, ROWS)
    arrays, expected = [jnp.asarray(x) for x in given], getattr(robot, f"{name}_derivatives")(*given)
    method = getattr(robot, name)
    for transformed in (
        jax.vmap(jax.jacfwd(method, argnums=(0, 1, 2))),
        jax.jit(jax.vmap(jax.jacrev(method, argnums=(0, 1, 2)))),
        lambda *x: jax.vmap(jax.vmap(jax.jacrev(method, argnums=(0, 1, 2))))(*(a[None] for a in x)),
    ):
        for got, wanted in zip(transformed(*arrays), expected, strict=True):
            assert error(got, wanted, core=2) < OUTSIDE


@pytest.mark.parametrize("name", ["mass_matrix", "energy", "jacobian", "forward_kinematics", "coriolis_matrix"])
@pytest.mark.parametrize("kernels", [True, False], ids=["kernels", "graph"])
def test_derivatives_of_other_functions(name, kernels, request):
    request.getfixturevalue("as_installed" if kernels else "through_the_graph")
    given, _, _ = state_of(SMALL, name)

    def total(first, *rest):
        return sum((out * out).sum() for out in called(SMALL, name, (first, *rest)))

    gradient = jax.jit(jax.grad(total))(*(jnp.asarray(x) for x in given))
    h = 1e-6
    for k in range(2):
        step = h * np.eye(2)[k]
        slope = (total(given[0] + step, *given[1:]) - total(given[0] - step, *given[1:])) / (2 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-7, abs=1e-7)


def loads(x):
    """A payload, a wrench and a base motion from 18 numbers."""
    return {
        "payload": tf.Payload(x[0], x[1:4]),
        "tip_wrench": x[4:10],
        "base_motion": tf.BaseMotion(x[10:13], x[13:16], x[15:18]),
    }


@pytest.mark.parametrize("name", DYNAMICS)
@pytest.mark.parametrize("way", ["kernels", "no kernels", "graph"])
def test_loads_of_jax(name, way, request):
    """Equal to NumPy's, and their derivatives to differences."""
    if way != "no kernels":
        request.getfixturevalue("as_installed" if way == "kernels" else "through_the_graph")
    rng = np.random.default_rng(7)
    state, x = rng.normal(size=(3, ROWS, 2)), np.abs(rng.normal(size=18))
    method = getattr(SMALL, name)
    expected = method(*state, **loads(x))
    assert error(method(*state, **loads(jnp.asarray(x))), expected) < FORMULATIONS
    assert error(jax.jit(lambda x: method(*state, **loads(x)))(x), expected) < FORMULATIONS
    slopes = jax.jit(jax.jacfwd(lambda x: method(*state, **loads(x))))(jnp.asarray(x))
    h = 1e-6
    for k in range(18):
        step = h * np.eye(18)[k]
        difference = (method(*state, **loads(x + step)) - method(*state, **loads(x - step))) / (2 * h)
        assert np.abs(slopes[..., k] - difference).max() < 1e-7 * np.abs(slopes).max()
    both = jax.jacrev(lambda q, x: method(q, *state[1:], **loads(x)).sum(), argnums=(0, 1))(
        *map(jnp.asarray, (state[0], x))
    )
    assert error(both[1], np.asarray(slopes).sum(axis=(0, 1))) < OUTSIDE


def test_a_payload_for_each_row_under_vmap(as_installed):
    rng = np.random.default_rng(8)
    state, masses = rng.normal(size=(3, ROWS, 2)), np.array([0.5, 1.0, 2.0])
    got = jax.vmap(lambda q, qd, qdd, m: SMALL.inverse_dynamics(q, qd, qdd, payload=tf.Payload(m)))(*state, masses)
    assert error(got, SMALL.inverse_dynamics(*state, payload=tf.Payload(masses))) < FORMULATIONS
    shared = jax.vmap(lambda m: SMALL.inverse_dynamics(*state, payload=tf.Payload(m)))(masses)
    assert shared.shape == (3, ROWS, 2)
    assert error(shared[1], SMALL.inverse_dynamics(*state, payload=tf.Payload(1.0))) < FORMULATIONS


def test_derivatives_of_derivatives(as_installed):
    rng = np.random.default_rng(9)
    q, qd, qdd = rng.normal(size=(3, 2))
    hessian = jax.jit(jax.hessian(lambda q: SMALL.inverse_dynamics(q, qd, qdd)))(q)
    h = 1e-6
    for k in range(2):
        step = h * np.eye(2)[k]
        ahead, behind = (SMALL.inverse_dynamics_derivatives(q + s, qd, qdd)[0] for s in (step, -step))
        assert hessian[..., k] == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)
    assert error(hessian, np.swapaxes(hessian, -1, -2), core=3) < FORMULATIONS


def rollout(arm, start, gains, steps):
    """The last position under a law that a user writes in JAX, by Euler's semi-implicit steps."""
    h = 2e-3

    def step(state, _):
        q, qd = state
        tau = arm.gravity_forces(q) - gains[0] * q - gains[1] * qd
        qd = qd + h * arm.forward_dynamics(q, qd, tau)
        return (q + h * qd, qd), None

    return jax.lax.scan(step, (start, jnp.zeros_like(start)), None, length=steps)[0][0]


def propagated(arm, start, gains, steps):
    """The same with NumPy, and its derivatives by start and gains from our kernels, step by step."""
    h, n = 2e-3, arm.n
    q, qd = start, np.zeros(n)
    by = np.zeros((2 * n, n + 2))
    by[:n, :n] = np.eye(n)
    for _ in range(steps):
        tau = arm.gravity_forces(q) - gains[0] * q - gains[1] * qd
        # the slope of gravity is that of inverse dynamics at rest, without friction's, which is 0 there for this arm
        stiffness = arm.inverse_dynamics_derivatives(q, np.zeros(n), np.zeros(n))[0]
        dq, dqd, dtau = arm.forward_dynamics_derivatives(q, qd, tau)
        by_tau = stiffness @ by[:n] - gains[0] * by[:n] - gains[1] * by[n:]
        by_tau[:, n] -= q
        by_tau[:, n + 1] -= qd
        change = dq @ by[:n] + dqd @ by[n:] + dtau @ by_tau
        qd = qd + h * arm.forward_dynamics(q, qd, tau)
        by[n:] += h * change
        by[:n] += h * by[n:]
        q = q + h * qd
    return q, by[:n]


@pytest.mark.parametrize("arm", ["puma560", "planar-2r"])
def test_a_gradient_through_a_rollout(arm, as_installed):
    arm = robots()[arm]
    start, gains, steps = 0.3 * np.ones(arm.n), np.array([30.0, 5.0]), 20
    final = jax.jit(lambda *x: rollout(arm, *x, steps))(start, gains)
    expected, slopes = propagated(arm, start, gains, steps)
    assert error(final, expected) < FORMULATIONS
    for transformed in (jax.jacrev, jax.jacfwd):
        by_start, by_gains = jax.jit(transformed(lambda *x: rollout(arm, *x, steps), argnums=(0, 1)))(start, gains)
        assert error(by_start, slopes[:, : arm.n], core=2) < OUTSIDE
        assert error(by_gains, slopes[:, arm.n :], core=2) < OUTSIDE
    many = jax.vmap(jax.grad(lambda x: rollout(arm, x, gains, steps).sum()))(jnp.stack([start, 0.5 * start]))
    assert error(many[0], slopes[:, : arm.n].sum(axis=0)) < OUTSIDE


@pytest.mark.parametrize("mode", ["one type", "no doubles"])
def test_single_precision(mode, as_installed):
    rng = np.random.default_rng(10)
    state = rng.normal(size=(3, ROWS, 2)).astype(np.float32)
    expected = SMALL.inverse_dynamics(*state.astype(float))
    with jax.enable_x64(mode == "one type") if hasattr(jax, "enable_x64") else in_doubles():
        arrays = [jnp.asarray(x) for x in state]
        got, jitted = SMALL.inverse_dynamics(*arrays), jax.jit(SMALL.inverse_dynamics)(*arrays)
        slope = jax.jit(jax.jacrev(SMALL.inverse_dynamics))(*(x[0] for x in arrays))
    for out in (got, jitted):
        assert out.dtype == jnp.float32
        assert error(out, expected) < SINGLE
    assert slope.dtype == jnp.float32
    assert error(slope, SMALL.inverse_dynamics_derivatives(*state[:, 0].astype(float))[0], core=2) < SINGLE


def test_whole_numbers_and_lists_beside_jax_arrays():
    q = jnp.asarray([1, 2])
    got = SMALL.inverse_dynamics(q, [0.5, 0.25], np.array([1.0, 2.0]))
    assert got.dtype == jnp.float64
    assert error(got, SMALL.inverse_dynamics([1, 2], [0.5, 0.25], [1.0, 2.0])) < FORMULATIONS


def test_empty_batches_and_rows_that_are_not_finite(as_installed):
    empty = jnp.zeros((0, 2))
    assert jax.jit(SMALL.inverse_dynamics)(empty, empty, empty).shape == (0, 2)
    q = jnp.asarray([[0.1, 0.2], [np.nan, 0.2], [0.1, np.inf]])
    got = jax.jit(SMALL.inverse_dynamics)(q, q * 0 + 0.1, jnp.ones(2))
    assert np.isfinite(got[0]).all()
    assert np.isnan(got[1:]).all()


def test_shapes_are_checked_also_under_transformations():
    two, three = jnp.ones(2), jnp.ones(3)
    for method in (SMALL.inverse_dynamics, jax.jit(SMALL.inverse_dynamics)):
        with pytest.raises(tf.ShapeError, match=r"q: expected \(\.\.\., 2\): planar-2r has 2 joints, got \(3,\)"):
            method(three, two, two)
        with pytest.raises(tf.ShapeError, match="leading shapes that broadcast together"):
            method(jnp.ones((3, 2)), jnp.ones((4, 2)), two)
    with pytest.raises(tf.ShapeError, match="real numbers"):
        SMALL.inverse_dynamics(two * 1j, two, two)
    with pytest.raises(tf.ShapeError, match="payload com"):
        tf.Payload(1.0, jnp.ones(2))
    with pytest.raises(tf.ShapeError, match="payload inertia"):
        tf.Payload(jnp.ones(()), (0, 0, 0), np.eye(2))
    with pytest.raises(tf.ShapeError, match=r"base_motion\.angular_velocity"):
        SMALL.inverse_dynamics(two, two, two, base_motion=tf.BaseMotion(two))


def test_singular_rows(as_installed):
    """They raise where values are known, and are NaN in a program."""
    platform, rest = robots()["motion-rig"], np.zeros(6)
    pose = np.stack([np.eye(6)[2], quarter_turned()])
    arrays = [jnp.asarray(x) for x in (pose, np.zeros((2, 6)), np.zeros((2, 6)))]
    with pytest.raises(tf.SingularityError) as told:
        platform.inverse_dynamics(*arrays)
    assert told.value.row == 1
    expected = platform.inverse_dynamics(pose, rest, rest, on_singular="nan")
    assert np.isnan(expected[1]).all()
    for got in (
        platform.inverse_dynamics(*arrays, on_singular="nan"),
        jax.jit(platform.inverse_dynamics)(*arrays),
        jax.vmap(platform.inverse_dynamics)(*arrays),
    ):
        assert np.array_equal(got, expected, equal_nan=True)


def test_searches_hand_back_jax_arrays_and_refuse_tracers():
    platform, arm = robots()["dasgupta1998"], robots()["puma560"]
    pose = jnp.asarray(state_of(platform, "inverse_kinematics")[0][0])
    lengths = platform.inverse_kinematics(pose)
    found = platform.forward_kinematics(lengths, guess=pose)
    assert isinstance(found, jax.Array)
    assert error(platform.inverse_kinematics(found), lengths) < OUTSIDE
    assert isinstance(platform.within_limits(pose).hold, jax.Array)
    q = jnp.asarray(0.3 * np.ones(6))
    assert isinstance(arm.inverse_kinematics(arm.forward_kinematics(q), guess=q), jax.Array)
    with pytest.raises(tf.UnsupportedFeatureError, match="outside jit"):
        jax.jit(platform.forward_kinematics)(lengths)


def test_leg_motion_and_condition_number_are_differentiable(as_installed):
    platform = robots()["dasgupta1998"]
    pose, twist, acceleration = (jnp.asarray(x) for x in state_of(platform, "inverse_dynamics")[0])
    # XLA compiles the graph of the legs for 20 s
    by_pose = jax.jacrev(lambda x: platform.leg_motion(x, twist, acceleration))(pose)
    h = 1e-6
    step = h * np.eye(6)[4]
    ahead, behind = (platform.leg_motion(np.asarray(pose) + s, np.asarray(twist), acceleration) for s in (step, -step))
    for slope, after, before in zip(by_pose, ahead, behind, strict=True):
        assert slope[..., 4] == pytest.approx((np.asarray(after) - np.asarray(before)) / (2 * h), rel=1e-5, abs=1e-5)
    assert error(platform.condition_number(pose, 0.5), platform.condition_number(np.asarray(pose), 0.5), core=0) < 1e-9
    assert np.isfinite(jax.jit(jax.grad(platform.condition_number))(pose)).all()


def test_an_error_inside_a_program_is_reported(as_installed, monkeypatch):
    from tauforge.evaluation import differentiable

    def broken(self, *arrays):
        raise RuntimeError("no such luck")

    monkeypatch.setattr(differentiable.BoundFunction, "on_processor", broken)
    with pytest.raises(Exception, match="RuntimeError: no such luck"):
        jax.block_until_ready(jax.jit(SMALL.inverse_dynamics)(*jnp.ones((3, 2))))


@pytest.mark.parametrize("first", [{}, {"payload": tf.Payload(1.0)}], ids=["plain", "payload"])
def test_a_method_that_found_its_short_way_still_takes_jax_arrays(kernels_on, first):
    arm, state = tf.load("planar-2r"), np.ones((3, 2))
    for _ in range(3):
        arm.inverse_dynamics(*state, **first)
    assert error(jax.jit(arm.inverse_dynamics)(*state), arm.inverse_dynamics(*state)) < FORMULATIONS
    payload = tf.Payload(1.0)
    arm.inverse_dynamics(*state, payload=payload)
    assert isinstance(arm.inverse_dynamics(*jnp.asarray(state), payload=payload), jax.Array)
    assert isinstance(arm.inverse_dynamics(*state, payload=tf.Payload(jnp.asarray(1.0))), jax.Array)
