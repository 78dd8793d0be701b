"""A kind of robot that the package does not know, a cart with a pendulum, against textbook equations by hand."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tauforge as tf
from support import cart_pendulum
from support.cart_pendulum import CartPendulum
from support.tolerances import FORMULATIONS, INTEGRATED, ROUNDING, SAME_STEPS, error
from tauforge.algebra import scalars
from tauforge.analysis.linearisation import linearise
from tauforge.control import (
    PD,
    AdaptiveComputedTorque,
    ComputedTorque,
    FeedforwardPD,
    GravityPD,
    LegSpaceComputedTorque,
    ResolvedRate,
    traceable_robot,
)
from tauforge.errors import TauforgeWarning
from tauforge.evaluation import unmodified
from tauforge.evaluation.derivatives import with_derivatives
from tauforge.evaluation.fast_path import is_installed
from tauforge.evaluation.functions import Function
from tauforge.robots.robot import noun_of
from tauforge.simulation import Recording, method_loop, rollouts

pytestmark = pytest.mark.usefixtures("kernels_on")

G = 9.81
CART = CartPendulum()
HEAVY = CART.replace(mass=1.1, length=0.5)
MOVE = tf.motion.JointMove([0.0, 0.0], [0.3, 0.8], 0.4)
COMPLEX = 1e-30  # the step of derivatives by complex numbers, which lose no digits


def masses(p, q):
    b = p["mass"] * p["length"] * np.cos(q[..., 1])
    a, d = p["cart_mass"] + p["mass"], p["mass"] * p["length"] ** 2
    return np.stack([np.stack([a + 0 * b, b], -1), np.stack([b, d + 0 * b], -1)], -2)


def bias(p, q, qd):
    """What is left of the textbook's two equations without accelerations:

    (M + m) x'' + m l phi'' cos phi - m l phi'^2 sin phi + c x' = F
    m l x'' cos phi + m l^2 phi'' + m g l sin phi = T
    """
    moment = p["mass"] * p["length"]
    force = p["friction"] * qd[..., 0] - moment * np.sin(q[..., 1]) * qd[..., 1] ** 2
    return np.stack([force, moment * G * np.sin(q[..., 1])], -1)


def textbook_forces(p, q, qd, qdd):
    return (masses(p, q) @ qdd[..., None])[..., 0] + bias(p, q, qd)


def textbook_accelerations(p, q, qd, force):
    return np.linalg.solve(masses(p, q), (force - bias(p, q, qd))[..., None])[..., 0]


def by_complex_numbers(f, x):
    return np.array([f(x + 1j * COMPLEX * e).imag / COMPLEX for e in np.eye(len(x))]).T


def states(rows, seed=0, count=3):
    return np.random.default_rng(seed).normal(size=(count, rows, 2))


def test_it_is_defined_in_few_lines():
    lines = inspect.getsource(cart_pendulum).splitlines()
    assert len(lines) - lines.index("def inverse_dynamics(p, q, qd, qdd):") < 60
    assert len(inspect.getsource(CartPendulum).splitlines()) < 60


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3)])
def test_dynamics_are_the_textbooks_and_compiled(shape):
    cart = CartPendulum()
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, *shape, 2))
    kept = cart.inverse_dynamics
    for _ in range(2):  # the method, and then its shortcut
        force = cart.inverse_dynamics(q, qd, qdd)
        assert error(force, textbook_forces(CART.parameters, q, qd, qdd)) < ROUNDING
        assert error(cart.forward_dynamics(q, qd, force), qdd) < FORMULATIONS
    for name in ("inverse_dynamics", "forward_dynamics"):
        assert is_installed(cart, name, ())
    assert type(cart.forward_dynamics).__name__ == "builtin_function_or_method"
    assert np.array_equal(kept(q, qd, qdd), force)
    kernel = cart.kernel("inverse_dynamics")
    assert [name for name, _ in kernel.arguments] == ["q", "qd", "qdd"]
    assert np.array_equal(kernel(q, qd, qdd), force)


def test_the_reference_answers_alike(monkeypatch):
    q, qd, qdd = states(5)
    compiled = CART.inverse_dynamics(q, qd, qdd)
    monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    assert error(CartPendulum().inverse_dynamics(q, qd, qdd), compiled) < ROUNDING
    with pytest.raises(tf.UnsupportedFeatureError, match="switches kernels off"):
        CartPendulum().kernel("energy")


def test_derivatives():
    p = CART.parameters
    q, qd, qdd = states(4)
    for method, textbook in (
        (CART.inverse_dynamics_derivatives, textbook_forces),
        (CART.forward_dynamics_derivatives, textbook_accelerations),
    ):
        got = np.concatenate(method(q, qd, qdd), axis=-1)
        for k in range(4):
            x = np.concatenate([q[k], qd[k], qdd[k]])
            expected = by_complex_numbers(lambda x, f=textbook: f(p, x[:2], x[2:4], x[4:]), x)
            assert error(got[k], expected, core=2) < FORMULATIONS


def test_energy_changes_by_the_power():
    q, qd, force = states(6)
    qdd = CART.forward_dynamics(q, qd, force)
    power = (force * qd).sum(-1) - CART.parameters["friction"] * qd[:, 0] ** 2

    def energy(h):
        return sum(CART.energy(q + h * qd + h * h / 2 * qdd, qd + h * qdd))

    h = 1e-4
    slope = (8 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / (12 * h)  # error h^4
    assert np.abs(slope - power).max() < 1e-9 * np.abs(power).max()


@pytest.mark.parametrize("fields", [("mass",), ("length", "cart_mass"), ("cart_mass", "mass", "length")])
def test_parameters_vary(fields):
    q, qd, x = states(3)
    rows = np.random.default_rng(2).uniform(0.5, 2.0, (len(fields), 3))
    for name in ("inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives"):
        kernel = CART.kernel(name, varying=fields)
        got = kernel(q, qd, x, *rows)
        for k in range(3):
            changed = CART.replace(**dict(zip(fields, rows[:, k], strict=True)))
            expected = getattr(changed, name)(q[k], qd[k], x[k])
            for mine, theirs in pairs(got, expected, k):
                assert np.abs(mine - theirs).max() < FORMULATIONS * np.abs(theirs).max()
    with pytest.raises(tf.UnsupportedFeatureError, match="'friction' cannot vary"):
        CART.kernel("energy", varying=("friction",))


def pairs(got, expected, k):
    if isinstance(expected, tuple):
        return [(mine[k], theirs) for mine, theirs in zip(got, expected, strict=True)]
    return [(got[k], expected)]


def solved(law, plant, start, duration, step):
    """The textbook's closed loop: law(t, q, qd) -> forces."""

    def rates(t, y):
        return np.r_[y[2:], textbook_accelerations(plant.parameters, y[:2], y[2:], law(t, y[:2], y[2:]))]

    times = step * np.arange(round(duration / step) + 1)
    found = solve_ivp(rates, (0, times[-1]), np.r_[start], method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13)
    return times, found.y.T[:, :2], found.y.T[:, 2:]


def computed_torque(t, q, qd, kp=100.0, kv=20.0):
    """Computed torque for the cart, by hand."""
    wanted = MOVE.sample(t)
    asked = wanted.acceleration + kv * (wanted.velocity - qd) + kp * (wanted.position - q)
    return textbook_forces(CART.parameters, q, qd, asked)


def test_free_motion():
    free = CART.replace(friction=0.0)
    start = (np.array([0.1, 2.0]), np.array([0.3, -1.0]))
    run = tf.simulate(free, initial=start, duration=0.8, step=0.01, method="dormand-prince")
    _, q, qd = solved(lambda *_: np.zeros(2), free, np.r_[start], 0.8, 0.01)
    assert np.abs(run.position - q).max() < INTEGRATED
    assert np.abs(run.velocity - qd).max() < INTEGRATED * np.abs(qd).max()
    with pytest.warns(tf.EnergyDriftWarning, match="the energy of cart drifts"):  # rk4 with steps too long
        tf.simulate(free, initial=start, duration=0.8, step=0.05)


def test_computed_torque_of_another_cart():
    """The plant is heavier than the law's model, so that errors stay; the run's forces are the law's."""
    start = np.array([0.05, -0.1, 0.0, 0.2])
    options = {"step": 0.01, "method": "dormand-prince"}
    run = tf.simulate(CART, ComputedTorque(CART), MOVE, plant=HEAVY, initial=(start[:2], start[2:]), **options)
    times, q, qd = solved(computed_torque, HEAVY, start, 0.4, 0.01)
    assert np.abs(run.position - q).max() < INTEGRATED
    assert np.abs(run.velocity - qd).max() < INTEGRATED * np.abs(qd).max()
    forces = np.array([computed_torque(*state) for state in zip(times, q, qd, strict=True)])
    assert np.abs(run.force - forces).max() < 1e2 * INTEGRATED * np.abs(forces).max()  # kp times the positions' errors
    assert np.abs(run.error).max() > 0.05
    own = tf.simulate(CART, ComputedTorque(CART), MOVE, **options)
    assert np.abs(own.error).max() < INTEGRATED


def held_steps(law, p, start, h, substeps, periods):
    """Runge-Kutta with held forces, by hand: position, velocity and force at every control instant."""

    def rates(y, force):
        return np.concatenate([y[..., 2:], textbook_accelerations(p, y[..., :2], y[..., 2:], force)], -1)

    y, rows = start, []
    for k in range(periods + 1):
        force = law(k * substeps * h, y[..., :2], y[..., 2:])
        rows.append((y[..., :2], y[..., 2:], force))
        for _ in range(substeps):
            k1 = rates(y, force)
            k2 = rates(y + h / 2 * k1, force)
            k3 = rates(y + h / 2 * k2, force)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(y + h * k3, force))
    return [np.stack(x, axis=-2) for x in zip(*rows, strict=True)]


class OwnLaw(ComputedTorque):
    """A law that is never compiled."""

    def force(self, t, position, velocity, target):
        return super().force(t, position, velocity, target)


@pytest.mark.parametrize(("law", "missing"), [(ComputedTorque, "MethodLoop"), (OwnLaw, "_row_by_row")])
def test_rollouts_run_on_kernels(monkeypatch, law, missing):
    """The whole step is compiled; the dynamics alone under a law of the user's. Initial states and lengths vary."""
    monkeypatch.delattr(method_loop if missing == "_row_by_row" else rollouts, missing)
    rng = np.random.default_rng(3)
    start, lengths = rng.normal(size=(5, 4)) * 0.1, rng.uniform(0.5, 0.8, 5)
    got = tf.rollout(
        CART,
        law(CART),
        MOVE,
        initial=(start[:, :2], start[:, 2:]),
        step=5e-3,
        control_period=0.01,
        varying={"length": lengths},
    )
    expected = held_steps(computed_torque, CART.parameters | {"length": lengths}, start, 5e-3, 2, 40)
    for mine, theirs in zip((got.position, got.velocity, got.force), expected, strict=True):
        assert np.abs(mine - theirs).max() < SAME_STEPS * (1 + np.abs(theirs).max())


@pytest.mark.parametrize("law", [PD(CART, 40.0, 5.0), GravityPD(CART, 40.0, 5.0), FeedforwardPD(CART, 40.0, 5.0)])
def test_every_law_of_ours(monkeypatch, law):
    def by_hand(t, q, qd):
        wanted, rest = MOVE.sample(t), np.zeros_like(q)
        force = 40.0 * (wanted.position - q) + 5.0 * (wanted.velocity - qd)
        if type(law) is GravityPD:
            force = force + textbook_forces(CART.parameters, q, rest, rest)
        if type(law) is FeedforwardPD:
            force = force + textbook_forces(CART.parameters, *wanted)
        return force

    monkeypatch.delattr(rollouts, "MethodLoop")
    got = tf.rollout(CART, law, MOVE, plant=HEAVY, step=5e-3, control_period=0.01)
    expected = held_steps(by_hand, HEAVY.parameters, np.zeros((1, 4)), 5e-3, 2, 40)
    for mine, theirs in zip((got.position, got.velocity, got.force), expected, strict=True):
        assert np.abs(mine - theirs).max() < SAME_STEPS * (1 + np.abs(theirs).max())


def test_linearisation():
    p = CART.parameters
    state = np.array([0.1, 0.4, -0.3, 1.2, 3.0, -0.5])

    def rates(x):
        return np.r_[x[2:4], textbook_accelerations(p, x[:2], x[2:4], x[4:])]

    A, B = linearise(CART, state[:2], state[2:4], state[4:])
    assert error(np.hstack([A, B]), by_complex_numbers(rates, state), core=2) < FORMULATIONS
    free = CART.replace(friction=0.0)
    poles = np.linalg.eigvals(linearise(free, [0, 0], [0, 0], [0, 0]).A)
    expected = np.sqrt(G / p["length"] * (1 + p["mass"] / p["cart_mass"]))  # hanging from a cart that is free to roll
    assert abs(poles.imag.max() / expected - 1) < 1e-9


def test_recordings(tmp_path):
    run = tf.simulate(CART, lambda *_: [99.0, 0.1], initial=([0.4, 0], [0, 0]), duration=0.2, force_limits="robot")
    assert (run.names, run.units) == (("cart", "rod"), ("m", "rad"))
    assert (run.force_names, run.force_units) == (("motor", "hinge"), ("N", "N m"))
    assert (run.force[:, 0] == 50.0).all()
    assert {event.which for event in run.events} == {"motor", "limit of cart"}
    run.save(tmp_path / "run.npz")
    assert Recording.load(tmp_path / "run.npz") == run
    with pytest.warns(TauforgeWarning, match="a CSV file does not hold the 2 events"):
        run.save(tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().partition("\n")[0]
    assert header.startswith("time [s],x [m],phi [rad],v [m/s],omega [rad/s],a [m/s^2],alpha [rad/s^2],F [N],T [N m]")
    read = Recording.load(tmp_path / "run.csv")
    named = replace(read, names=run.names, force_names=run.force_names, robot=run.robot, events=run.events)
    assert named == run
    figure = run.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == [
        *("position, m", "position, rad", "error, m", "error, rad"),
        *("force, N", "force, N m"),
    ]
    motion = tf.motion.CsvMotion(tmp_path / "run.csv", CART)
    assert np.array_equal(motion.samples.position, run.position)
    again = tf.simulate(CART, ComputedTorque(CART), motion, method="dormand-prince")
    assert np.abs(again.error).max() < 1e-6  # a spline through rows 1 ms apart


def test_random_states_within_one_limit():
    """The missing end is a turn or 1 m beyond the given one."""
    cart, rod = CartPendulum.coordinates
    ends = {
        (5.0, np.inf): ((5.0, 6.0), (5.0, 5.0 + 2 * np.pi)),
        (-np.inf, -4.0): ((-5.0, -4.0), (-4.0 - 2 * np.pi, -4.0)),
        (-np.inf, np.inf): ((-np.pi, np.pi), (-np.pi, np.pi)),
        (2.0, 2.5): ((2.0, 2.5), (2.0, 2.5)),
    }
    for (lower, upper), expected in ends.items():

        class Limited(CartPendulum):
            coordinates = (cart._replace(lower=lower, upper=upper), rod._replace(lower=lower, upper=upper))

        position = Limited().random_states(4000)[0]
        low, high = np.transpose(expected)
        assert ((low <= position) & (position <= high)).all()
        assert (np.ptp(position, axis=0) > 0.99 * (high - low)).all()


def test_words_for_it():
    class Trolley(CartPendulum):
        kind = "trolley"

    class Arm(type(tf.load("planar-2r"))):
        kind = "my arm"

    assert (noun_of(CART), noun_of(Trolley())) == ("cart", "trolley")
    assert noun_of(Arm(**tf.load("planar-2r").__getstate__())) == "arm"


def test_it_is_drawn():
    drawing = CART.drawing([[0.2, 0.0], [0.2, np.pi / 2]])
    (rod,) = drawing.segments
    assert np.allclose(rod.end, [[0.2, 0, -0.6], [0.8, 0, 0]])
    assert np.allclose(drawing.extent, [[0.2, 0, -0.6], [0.8, 0, 0]])
    assert repr(CART) == "CartPendulum('cart', 2 coordinates)"
    assert "cart with 2 coordinates" in CART.summary().headline


def test_what_it_does_not_have():
    for law, what in ((ResolvedRate, "a Jacobian"), (LegSpaceComputedTorque, "legs")):
        with pytest.raises(tf.ModelError, match=f"{law.__name__} needs a robot with {what}; cart cart has none"):
            law(CART)
    with pytest.raises(tf.ModelError, match="AdaptiveComputedTorque needs a robot with a regressor; cart cart has"):
        AdaptiveComputedTorque(CART, period=0.01)
    start = {"initial": ([0, 0], [0, 0]), "duration": 0.1}
    with pytest.raises(tf.UnsupportedFeatureError, match="the symplectic method needs mass_matrix, coriolis_matrix"):
        tf.simulate(CART, method="symplectic", **start)
    with pytest.raises(tf.UnsupportedFeatureError, match="cart takes no external wrench"):
        tf.simulate(CART, disturbance=lambda t: np.zeros(6), **start)
    with pytest.raises(tf.UnsupportedFeatureError, match="cart cannot carry a payload"):
        tf.rollout(CART, ComputedTorque(CART), MOVE, control_period=0.01, payload=tf.Payload(1.0))
    with pytest.raises(
        tf.ModelError,
        match=r"planar-2r cannot move in place of cart: coordinate 1 of planar-2r is q1 \[rad\], that of cart is x",
    ):
        tf.simulate(CART, ComputedTorque(CART), MOVE, plant=tf.load("planar-2r"))
    with pytest.raises(tf.ModelError, match="cart needs a motion of joint coordinates, not poses"):
        tf.simulate(CART, motion=tf.motion.PoseMotion(tf.motion.JointMove(np.zeros(6), np.ones(6), 1.0)), **start)


def stronger(factor):
    """Carts with one name and one set of parameters, and a formula each."""

    def forward_dynamics(p, q, qd, forces):
        return cart_pendulum.forward_dynamics(p, q, qd, [factor * force for force in forces])

    class Cart(CartPendulum):
        functions = with_derivatives(
            {
                **CartPendulum.functions,
                "forward_dynamics": Function(forward_dynamics, cart_pendulum.pairs("q", "qd", "forces"), ((2,),)),
            }
        )

        @property
        def identity(self):
            return "the same for all"

    return Cart


def test_carts_with_other_formulas_do_not_share_kernels(own_cache):
    """Also where they claim an identity, and where their classes claim to be ours: our sources do not tell them."""
    q, qd, force = states(1)[:, 0]
    for ours in (False, True):
        if ours:
            unmodified.ours(CartPendulum)
        for factor in (1.0, 2.0, 3.0):
            kind = stronger(factor)
            cart = unmodified.ours(kind)() if ours else kind()
            assert not unmodified.is_unmodified(cart)
            expected = textbook_accelerations(CART.parameters, q, qd, factor * force)
            for _ in range(2):
                assert error(cart.forward_dynamics(q, qd, force), expected) < FORMULATIONS
                slope = cart.forward_dynamics_derivatives(q, qd, force)[2]
                assert error(slope, factor * np.linalg.inv(masses(CART.parameters, q)), core=2) < FORMULATIONS
            got = tf.rollout(cart, PD(cart, 40.0, 5.0), MOVE, initial=(q, qd), step=5e-3, control_period=5e-3)
            one = tf.simulate(cart, PD(cart, 40.0, 5.0), MOVE, initial=(q, qd), step=5e-3, control_period=5e-3)
            assert np.abs(got.position[0] - one.position).max() < SAME_STEPS * (1 + np.abs(one.position).max())


def test_formulas_that_were_replaced_in_a_module(own_cache, monkeypatch):
    """In the user's module: the kernels in the cache belong to what was traced."""
    q, qd, qdd = states(1)[:, 0]
    before = CartPendulum().inverse_dynamics(q, qd, qdd)
    monkeypatch.setattr(cart_pendulum, "sin", lambda x: 2 * scalars.sin(x))
    after = CartPendulum().inverse_dynamics(q, qd, qdd)
    assert np.abs(after - before).max() > 0.1


def test_methods_of_its_own_are_called():
    """A cart whose methods do not follow its formulas is asked by them, in the law's model and in the plant."""

    class Weaker(CartPendulum):
        def holding_forces(self, position):
            return 0.5 * super().holding_forces(position)

    class Slower(CartPendulum):
        def forward_dynamics(self, *state, **loads):
            return 0.5 * super().forward_dynamics(*state, **loads)

    starts = (np.array([[0.1, 0.5], [0.0, -0.4]]), np.zeros(2))
    options = {"step": 5e-3, "control_period": 0.01}
    plain = tf.rollout(CART, GravityPD(CART, 40.0, 5.0), MOVE, initial=starts, **options)
    for law, plant in ((GravityPD(Weaker(), 40.0, 5.0), CART), (GravityPD(CART, 40.0, 5.0), Slower())):
        got = tf.rollout(CART, law, MOVE, plant=plant, initial=starts, **options)
        assert np.abs(got.position - plain.position).max() > 1e-3
        for k in range(2):
            one = tf.simulate(CART, law, MOVE, plant=plant, initial=(starts[0][k], starts[1]), **options)
            assert np.abs(got.position[k] - one.position[::2]).max() < SAME_STEPS
    assert traceable_robot.why_not_compiled(GravityPD(CART, 40.0, 5.0), Slower()) == "cart has methods of its own"


def test_angles_may_wrap():
    """A rod whose angle is measured from -pi to pi is led the short way round."""

    class Round(CartPendulum):
        coordinates = (CartPendulum.coordinates[0], CartPendulum.coordinates[1]._replace(wraps=True))

    cart = Round()
    start = np.array([0.0, 3.0 - 2 * np.pi])
    move = tf.motion.JointMove([0.0, 3.0], [0.1, 3.3], 0.4)
    runs = [
        tf.simulate(cart, ComputedTorque(cart), move, initial=(start, np.zeros(2)), step=5e-3, control_period=0.01),
        tf.simulate(
            CART,
            ComputedTorque(CART),
            move,
            initial=(start + [0, 2 * np.pi], np.zeros(2)),
            step=5e-3,
            control_period=0.01,
        ),
    ]
    assert np.abs(runs[0].error - runs[1].error).max() < 1e-9
    many = tf.rollout(cart, ComputedTorque(cart), move, initial=(start, np.zeros(2)), step=5e-3, control_period=0.01)
    assert np.abs(many.position[0] - runs[0].position[::2]).max() < SAME_STEPS
