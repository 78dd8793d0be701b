"""Gradients through rollouts: against differences of rollouts and against JAX."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.strategies import random_arm
from support.tolerances import error
from tauforge.control import PD, ComputedTorque, FeedforwardPD, GravityPD, LegSpaceComputedTorque
from tauforge.simulation import rollout_gradients
from tauforge.simulation.compiled_loop import CompiledLoop

pytestmark = pytest.mark.usefixtures("kernels_on")

STEP = 1e-5  # of central differences, relative
DIFFERENCES = 1e-7  # what they leave: STEP^2 of truncation, rounding / STEP, and the curvature of the rollout
SAME = 1e-11  # the same sums in another order, through some dozens of steps
ROWS, PERIODS = 3, 6
ARM = random_arm(np.random.default_rng(5), "RPR", drives=True).replace(coulomb_speed=0.5)
MOVE = tf.motion.JointMove([0, 0, 0], [0.5, 0.2, -0.4], 0.06)
SCHEDULE = {"control_period": 0.01, "step": 5e-3, "record_every": 2}


class Integral(PD):
    """PD, and an integral of the error that knows what the actuators gave."""

    traceable = True
    memory = ("integral",)

    def __init__(self, robot, kp, kv):
        super().__init__(robot, kp, kv)
        self.ki, self.integral = np.array([90.0, 50.0, 70.0]), np.zeros(robot.n)

    def force(self, t, position, velocity, target):
        return super().force(t, position, velocity, target) + self.integral

    def update(self, t, position, velocity, target, force):
        left = force - self.force(t, position, velocity, target)
        return {"integral": self.integral + 0.1 * (self.ki * (target.position - position) + 5.0 * left)}


LAWS = {
    "computed torque": ComputedTorque(ARM, [60, 50, 40], 12.0),
    "pd": PD(ARM, [300, 400, 200], [30, 40, 20]),
    "gravity": GravityPD(ARM, 300.0, 30.0),
    "feedforward": FeedforwardPD(ARM, np.diag([300.0, 400, 200]) + 5.0, 30.0),
    "memory": Integral(ARM, [300, 400, 200], [30, 40, 20]),
    "none": None,
}


def arguments(law, rng):
    """Everything that a rollout can be differentiated by; some of it is shared by the rows."""
    n = ARM.n
    given = {
        "initial": tuple(0.1 * rng.normal(size=(2, ROWS, n))),
        "forces": 5 * rng.normal(size=(ROWS, PERIODS, n)),
        "payload": tf.Payload(rng.uniform(1, 2, ROWS), 0.1 * rng.normal(size=(ROWS, 3)), np.eye(3) * 0.01),
        "varying": {
            "mass": np.array([j.mass for j in ARM.joints]) * rng.uniform(0.8, 1.2, (ROWS, n)),
            "gravity": rng.normal(size=3) * 5,
        },
    }
    if law is not None:
        given["gains"] = {"kp": law.kp + rng.normal(size=(ROWS, n, n)), "kv": law.kv + rng.normal(size=(n, n))}
        if law.memory:
            given["gains"]["ki"] = law.ki + rng.normal(size=(ROWS, n))
    return given


def moved(given, place, change):
    """The arguments with one of the arrays changed."""
    new = dict(given)
    match place:
        case ("initial", k):
            new["initial"] = tuple(x + change if i == k else x for i, x in enumerate(given["initial"]))
        case ("payload",):
            mass, com, inertia = np.split(given["payload"].numbers() + change, [1, 4], axis=-1)
            tensor = inertia[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
            new["payload"] = tf.Payload(mass[..., 0], com, tensor)
        case ("forces",):
            new["forces"] = given["forces"] + change
        case (group, name):
            new[group] = {**given[group], name: given[group][name] + change}
    return new


def places(given):
    return [("initial", 0), ("initial", 1), ("payload",), ("forces",)] + [
        (group, name) for group in ("varying", "gains") for name in given.get(group, {})
    ]


def part(gradient, place):
    match place:
        case ("initial", k):
            return (gradient.position, gradient.velocity)[k]
        case (group,):
            return getattr(gradient, group)
        case (group, name):
            return getattr(gradient, group)[name]


WAYS = [*((law, None, 0) for law in LAWS), *((law, 0.4, 0) for law in ("computed torque", "memory", "none"))]


@pytest.mark.parametrize(("law", "share", "delay"), [*WAYS, ("computed torque", None, 2), ("memory", 0.4, 1)])
def test_gradients_are_differences_of_rollouts(law, share, delay):
    """By every argument, through a law asked every second step and records of every second period.

    share: of the largest forces, at which forces have their limits; delay: in periods
    """
    rng = np.random.default_rng(6)
    controller = LAWS[law]
    motion = None if controller is None else MOVE
    given, options = arguments(controller, rng), SCHEDULE | {"delay": delay * SCHEDULE["control_period"]}
    if share is not None:
        free = tf.rollout(ARM, controller, motion, **given, **options)
        options["force_limits"] = share * np.abs(free.force).max(axis=1)
    runs, pull_back = tf.differentiable_rollout(ARM, controller, motion, **given, **options)
    assert share is None or 0 < runs.clipped.sum() < runs.clipped.size
    bars = [rng.normal(size=x.shape) / np.abs(x).max() for x in (runs.position, runs.velocity, runs.force)]
    gradient = pull_back(position=bars[0], velocity=bars[1], force=bars[2])

    def cost(more):
        found = tf.rollout(ARM, controller, motion, **more, **options)
        return sum((bar * x).sum() for bar, x in zip(bars, (found.position, found.velocity, found.force), strict=True))

    for place in places(given):
        got = part(gradient, place)
        change = rng.normal(size=got.shape)
        change *= STEP / np.abs(change).max()
        expected = (cost(moved(given, place, change)) - cost(moved(given, place, -change))) / 2
        scale = np.abs(got * change).sum()
        assert abs((got * change).sum() - expected) < DIFFERENCES * scale + 1e-16 / STEP, place


def test_several_threads_may_pull_back():
    rng = np.random.default_rng(13)
    mass = np.array([j.mass for j in ARM.joints]) * rng.uniform(0.8, 1.2, (500, 3))
    start = tuple(0.1 * rng.normal(size=(2, 500, 3)))
    runs, pull_back = tf.differentiable_rollout(
        ARM, LAWS["pd"], MOVE, initial=start, varying={"mass": mass}, control_period=0.01
    )
    bars = [rng.normal(size=runs.position.shape) for _ in range(4)]
    expected = [pull_back(position=bar).varying["mass"] for bar in bars]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            found = pool.map(lambda bar: pull_back(position=bar).varying["mass"], bars)
            assert all(map(np.array_equal, found, expected))


@pytest.mark.parametrize("every", [1, 2])
def test_arrays_of_the_user_may_change(every):
    """The way back has its own: what was returned and what was given may be written to in between."""
    rng = np.random.default_rng(14)
    given = arguments(LAWS["pd"], rng)
    schedule = SCHEDULE | {"record_every": every}
    runs, pull_back = tf.differentiable_rollout(ARM, LAWS["pd"], MOVE, **given, **schedule)
    bar = rng.normal(size=runs.position.shape)
    expected = pull_back(position=bar)
    for array in (
        runs.position,
        runs.velocity,
        runs.force,
        given["forces"],
        *given["initial"],
        *given["gains"].values(),
    ):
        array -= 1.0
    got = pull_back(position=bar)
    for place in places(given):
        assert np.array_equal(part(got, place), part(expected, place)), place


def test_a_payload_by_a_method_of_the_users_own():
    """A subclass that says what payloads do to it is asked, and not its formulas."""

    class Doubling(type(ARM)):
        def _fields_carrying(self, payload, fields):
            return super()._fields_carrying(tf.Payload(2 * payload.mass, payload.com, payload.inertia), fields)

    made_of = {"joints": ARM.joints, "gravity": ARM.gravity, "coulomb_speed": ARM.coulomb_speed}
    theirs, ours = Doubling(**made_of), type(ARM)(**made_of)
    options = {"control_period": 0.01, "step": 5e-3}
    got = tf.rollout(theirs, PD(theirs, 300.0, 30.0), MOVE, payload=tf.Payload(1.0), **options)
    expected = tf.rollout(ours, PD(ours, 300.0, 30.0), MOVE, payload=tf.Payload(2.0), **options)
    assert error(got.position, expected.position) < SAME


def test_the_rollout_is_the_same():
    given = arguments(LAWS["pd"], np.random.default_rng(7))
    runs, _ = tf.differentiable_rollout(ARM, LAWS["pd"], MOVE, **given, **SCHEDULE)
    expected = tf.rollout(ARM, LAWS["pd"], MOVE, **given, **SCHEDULE)
    assert vars(runs).keys() == vars(expected).keys()
    for name, right in vars(expected).items():
        assert name == "task" or np.array_equal(getattr(runs, name), right), name


@pytest.mark.parametrize("law", ["gravity", "memory"])
def test_states_that_are_computed_again(law, monkeypatch):
    """Where memory is short, only some states are kept, and those between two of them are computed at once."""
    rng = np.random.default_rng(8)
    given = arguments(LAWS[law], rng)
    results, asked = [], []
    segment = CompiledLoop.segment
    monkeypatch.setattr(CompiledLoop, "segment", lambda self, *x: [asked.append(x[1:]), segment(self, *x)][1])
    for stored in (rollout_gradients.STORED, 1):
        monkeypatch.setattr(rollout_gradients, "STORED", stored)
        runs, pull_back = tf.differentiable_rollout(ARM, LAWS[law], MOVE, **given, **SCHEDULE)
        asked.clear()
        results.append(pull_back(position=runs.position, force=runs.force))
        assert len(asked) == (PERIODS if stored > 1 else PERIODS // math.isqrt(PERIODS))
    for place in places(given):
        assert error(part(results[1], place), part(results[0], place)) < SAME


def test_against_jax():
    """The same steps in JAX, differentiated by JAX through our derivative kernels."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    h = 0.01
    start = 0.3 * np.random.default_rng(9).normal(size=(2, ROWS, ARM.n))
    forces = np.random.default_rng(10).normal(size=(ROWS, PERIODS, ARM.n))

    def final(q, qd, u):
        def rates(q, qd, tau):
            return qd, ARM.forward_dynamics(q, qd, tau)

        def step(state, tau):
            q, qd = state
            k1 = rates(q, qd, tau)
            k2 = rates(q + h / 2 * k1[0], qd + h / 2 * k1[1], tau)
            k3 = rates(q + h / 2 * k2[0], qd + h / 2 * k2[1], tau)
            k4 = rates(q + h * k3[0], qd + h * k3[1], tau)
            sums = [a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
            return (q + h / 6 * sums[0], qd + h / 6 * sums[1]), None

        (q, qd), _ = jax.lax.scan(step, (q, qd), jnp.moveaxis(u, 1, 0))
        return (q**2).sum() + (qd**2).sum()

    expected = jax.grad(final, argnums=(0, 1, 2))(*map(jnp.asarray, (*start, forces)))
    runs, pull_back = tf.differentiable_rollout(ARM, initial=tuple(start), forces=forces, control_period=h, step=h)
    bars = [np.zeros_like(x) for x in (runs.position, runs.velocity)]
    bars[0][:, -1], bars[1][:, -1] = 2 * runs.position[:, -1], 2 * runs.velocity[:, -1]
    got = pull_back(position=bars[0], velocity=bars[1])
    for mine, theirs in zip((got.position, got.velocity, got.forces), expected, strict=True):
        assert error(mine, np.asarray(theirs)) < SAME


def test_a_row_that_runs_away_has_no_gradient():
    initial = (np.zeros((2, 3)), np.array([[0.0] * 3, [1e7] * 3]))
    runs, pull_back = tf.differentiable_rollout(ARM, initial=initial, duration=0.5, control_period=0.02, step=0.02)
    assert runs.finite.tolist() == [True, False]
    got = pull_back(position=np.nan_to_num(runs.position))
    assert np.isfinite(got.position[0]).all()
    assert np.isnan(got.position[1]).all()


def test_a_row_that_runs_away_has_no_part_in_sums():
    mass = np.array([joint.mass for joint in ARM.joints])
    options = {"duration": 0.5, "control_period": 0.02, "step": 0.02, "varying": {"mass": mass}}
    initial = (np.zeros((2, 3)), np.array([[0.0] * 3, [1e7] * 3]))
    runs, pull_back = tf.differentiable_rollout(ARM, initial=initial, **options)
    one, alone = tf.differentiable_rollout(ARM, initial=(np.zeros(3), np.zeros(3)), **options)
    got = pull_back(position=np.nan_to_num(runs.position)).varying["mass"]
    assert error(got, alone(position=one.position).varying["mass"]) < SAME


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"forces": np.zeros((3, 5, 3))}, "forces: expected forces for 6 control periods, got 5"),
        ({"forces": np.zeros((3, 6, 2))}, r"forces: expected \(N, periods, 3\)"),
        ({"forces": np.full((6, 3), np.nan)}, "forces: expected finite numbers"),
        ({"forces": np.zeros((6, 3), complex)}, r"forces: expected \(N, periods, 3\)"),
        ({"forces": [["1", "2", "3"]] * 6}, r"forces: expected \(N, periods, 3\)"),
        ({"forces": np.zeros((0, 3))}, r"forces: expected \(N, periods, 3\)"),
        ({"gains": [1.0, 2.0]}, "gains: expected arrays by name"),
        ({"varying": "mass"}, "varying: expected arrays by name"),
        ({"payload": 3.0}, "payload: expected a Payload, got 3.0"),
        ({"gains": {"kp": np.ones((2, 3, 3, 3))}}, r"kp: expected one leading dimension N, got 2"),
        ({"gains": {"ki": np.eye(3)}}, "ComputedTorque has no gain 'ki'. Use one of kp, kv"),
        ({"gains": {"kp": np.eye(2)}}, r"kp: expected \(N, 3, 3\), got \(2, 2\)"),
        ({"gains": {"kp": np.full((3, 3), np.inf)}}, "kp: expected finite numbers"),
        ({"gains": {"kp": np.ones((4, 3, 3))}, "forces": np.zeros((5, 6, 3))}, "arrays with the same leading N"),
    ],
)
def test_what_does_not_fit_is_said(options, match):
    for run in (tf.rollout, tf.differentiable_rollout):
        with pytest.raises(tf.TauforgeError, match=match):
            run(ARM, LAWS["computed torque"], MOVE, **{"control_period": 0.01} | options)


def test_gradients_of_another_shape_are_refused():
    _, pull_back = tf.differentiable_rollout(ARM, LAWS["pd"], MOVE, control_period=0.01)
    with pytest.raises(tf.ShapeError, match=r"velocity: expected \(1, 7, 3\), as of the rollout, got \(7, 3\)"):
        pull_back(velocity=np.zeros((7, 3)))
    for bad in (np.zeros((1, 7, 3), complex), np.full((1, 7, 3), "1"), "abc"):
        with pytest.raises(tf.ShapeError, match="position: expected"):
            pull_back(position=bad)


def test_what_has_no_gradient():
    platform = tf.load("dasgupta1998")
    stay = tf.motion.PoseMotion(tf.motion.JointMove([0, 0, 1, 0, 0, 0], [0.1, 0, 1, 0, 0, 0], 0.1))
    legs = LegSpaceComputedTorque(platform)
    with pytest.raises(tf.UnsupportedFeatureError, match=r"gradients need .*: LegSpaceComputedTorque does not say"):
        tf.differentiable_rollout(platform, legs, stay, duration=0.01, control_period=1e-3)
    with pytest.raises(tf.UnsupportedFeatureError, match="cannot carry a payload"):
        tf.differentiable_rollout(
            CartPendulum(), initial=np.zeros((2, 2)), payload=tf.Payload(1.0), duration=0.1, control_period=0.01
        )
    with pytest.raises(tf.UnsupportedFeatureError, match="without a controller there is no gain 'kp'"):
        tf.rollout(ARM, initial=np.zeros((2, 3)), gains={"kp": np.eye(3)}, duration=0.1, control_period=0.01)
    with pytest.raises(tf.ModelError, match="initial state is missing"):
        tf.rollout(ARM, forces=np.zeros((4, 3)), control_period=0.01)
    with pytest.raises(tf.UnsupportedFeatureError, match=r"gains need .*: LegSpaceComputedTorque does not say"):
        tf.rollout(platform, legs, stay, gains={"kp": np.eye(6)}, control_period=1e-3)


def test_forces_alone():
    """Without a law: each row is a simulation under its own forces."""
    rng = np.random.default_rng(12)
    forces = 5 * rng.normal(size=(2, 4, 3))
    got = tf.rollout(ARM, initial=(np.zeros(3), np.zeros(3)), forces=forces, control_period=0.01, step=2e-3)
    assert np.isnan(got.target_position).all()
    for row in range(2):

        def law(t, position, velocity, row=row):
            period = round(t / 0.01)
            return forces[row, period] if period < 4 else np.zeros(3)

        one = tf.simulate(ARM, law, initial=(np.zeros(3), np.zeros(3)), duration=0.04, control_period=0.01, step=2e-3)
        assert error(got.position[row], one.position[::5]) < SAME
        assert np.array_equal(got.force[row, :-1], forces[row])


def test_forces_of_platforms_are_added():
    """Through the steps that are not compiled: a law that holds the platform, and a push along the legs."""
    platform = tf.load("dasgupta1998")
    start, still = np.array([0.0, 0, 1, 0, 0, 0]), np.zeros(6)
    hold = platform.inverse_dynamics(start, still, still)
    push = np.linspace(-50.0, 50.0, 6)
    law = LegSpaceComputedTorque(platform)
    stay = tf.motion.PoseMotion(tf.motion.JointMove(start, start, 0.01))
    got = tf.rollout(platform, law, stay, forces=np.tile(push, (3, 10, 1)), control_period=1e-3)
    assert error(got.force[:, 0], np.tile(hold + push, (3, 1))) < SAME
    alone = tf.rollout(platform, initial=(start, still), forces=np.tile(hold + push, (1, 1, 1)), control_period=1e-3)
    assert error(got.position[0, 1], alone.position[0, 1]) < SAME
