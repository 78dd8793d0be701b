"""Robots with more or fewer actuators than coordinates: carts with a motor alone, and with two motors and a hinge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tauforge as tf
from support import cart_pendulum
from support.cart_pendulum import CartPendulum, pairs
from support.command_line import error_of, parsed, run
from support.tolerances import FORMULATIONS, INTEGRATED, SAME_STEPS, error
from tauforge.analysis.linearisation import linearise
from tauforge.class_tools import computed_once
from tauforge.control import PD, AdaptiveComputedTorque, ComputedTorque, Controller, FeedforwardPD, GravityPD
from tauforge.evaluation.derivatives import with_derivatives
from tauforge.evaluation.functions import Argument, Function
from tauforge.formats import loading
from tauforge.robots.capabilities import Sensors
from tauforge.robots.records import Actuator, Sensor
from tauforge.simulation import Recording

WHOLE = CartPendulum()  # with a motor and a hinge
MOVE = tf.motion.JointMove([0.0, 0.0], [0.3, 0.0], 0.4)
START = (np.array([0.1, 0.5]), np.array([0.2, -0.3]))
STEPS = {"step": 5e-3, "control_period": 0.01}


def table(inverse, forward, m):
    forces = Argument("forces", (m,), f"{m} forces")
    return with_derivatives(
        {
            "inverse_dynamics": Function(inverse, pairs("q", "qd", "qdd"), ((m,),)),
            "forward_dynamics": Function(forward, (*pairs("q", "qd"), forces), ((2,),)),
            "energy": CartPendulum.functions["energy"],
        }
    )


def motor_force(p, q, qd, qdd):
    return cart_pendulum.inverse_dynamics(p, q, qd, qdd)[:1]


def under_motor(p, q, qd, forces):
    return cart_pendulum.forward_dynamics(p, q, qd, [forces[0], 0.0])


class MotorCart(CartPendulum):
    """The rod swings freely."""

    actuators = CartPendulum.actuators[:1]
    functions = table(motor_force, under_motor, 1)


class MotorSensor(Sensors):
    quantities = (Sensor("x", "m"),)

    def motion(self, position, velocity):
        return position[..., :1], velocity[..., :1]


class MeasuredMotorCart(MotorCart):
    """It tells what its motor does, too."""

    sensors = computed_once(MotorSensor)


def shared_forces(p, q, qd, qdd):
    force, torque = cart_pendulum.inverse_dynamics(p, q, qd, qdd)
    return [0.25 * force, 0.75 * force, torque]


def under_both(p, q, qd, forces):
    return cart_pendulum.forward_dynamics(p, q, qd, [forces[0] + forces[1], forces[2]])


class TwoMotorCart(CartPendulum):
    """Two motors share the force on the cart."""

    actuators = (Actuator("left", "N", "F1"), Actuator("right", "N", "F2"), CartPendulum.actuators[1])
    functions = table(shared_forces, under_both, 3)


class Spring(Controller):
    """A law of the user's own: a spring and a damper between the cart and a wall."""

    def __init__(self, robot):
        self.robot = robot

    def force(self, t, position, velocity, target):
        return 30.0 * (target.position - position)[..., :1] - 4.0 * velocity[..., :1]


CART = MotorCart()


def solved(law, duration, step):
    """The cart with a hinge without torque, by SciPy."""

    def rates(t, y):
        return np.r_[y[2:], WHOLE.forward_dynamics(y[:2], y[2:], np.array([law(t, y[:2], y[2:]), 0.0]))]

    times = step * np.arange(round(duration / step) + 1)
    found = solve_ivp(rates, (0, times[-1]), np.r_[START], method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13)
    return found.y.T[:, :2]


def test_dynamics():
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 2))
    force = CART.inverse_dynamics(q, qd, qdd)
    assert error(force, WHOLE.inverse_dynamics(q, qd, qdd)[:, :1]) < FORMULATIONS
    expected = WHOLE.forward_dynamics(q, qd, force * [1.0, 0.0])
    assert error(CART.forward_dynamics(q, qd, force), expected) < FORMULATIONS


def test_simulations_without_a_law_and_with_laws_of_the_users_own(tmp_path):
    options = {"step": 0.01, "method": "dormand-prince"}
    free = tf.simulate(CART, initial=START, duration=0.4, **options)
    assert np.abs(free.position - solved(lambda *_: 0.0, 0.4, 0.01)).max() < INTEGRATED
    pushed = tf.simulate(CART, lambda t, q, qd: [np.sin(9 * t)], initial=START, duration=0.4, **options)
    assert np.abs(pushed.position - solved(lambda t, *_: np.sin(9 * t), 0.4, 0.01)).max() < INTEGRATED
    held = tf.simulate(CART, Spring(CART), MOVE, initial=START, **options)
    spring = Spring(CART)
    expected = solved(lambda t, q, qd: spring.force(t, q, qd, MOVE.sample(t))[0], 0.4, 0.01)
    assert np.abs(held.position - expected).max() < INTEGRATED
    assert (held.force.shape, held.force_names) == ((41, 1), ("motor",))
    for name in ("run.npz", "run.csv"):
        held.save(tmp_path / name)
        assert np.array_equal(Recording.load(tmp_path / name).force, held.force)


def test_rollouts():
    starts = (START[0] + [[0.0, 0.0], [0.05, -0.2]], START[1])
    got = tf.rollout(CART, Spring(CART), MOVE, initial=starts, varying={"length": np.array([0.6, 0.7])}, **STEPS)
    for k, length in enumerate((0.6, 0.7)):
        plant = CART.replace(length=length)
        one = tf.simulate(CART, Spring(CART), MOVE, plant=plant, initial=(starts[0][k], START[1]), **STEPS)
        assert np.abs(got.position[k] - one.position[::2]).max() < SAME_STEPS
        assert np.abs(got.force[k] - one.force[::2]).max() < SAME_STEPS * np.abs(one.force).max()


def test_linearisation():
    at = (*START, [2.0])
    A, B = linearise(CART, *at)
    whole = linearise(WHOLE, *START, [2.0, 0.0])
    assert error(A, whole.A, core=2) < FORMULATIONS
    assert B.shape == (4, 1)
    assert error(B, whole.B[:, :1], core=2) < FORMULATIONS


@pytest.mark.parametrize("law", [PD, GravityPD, FeedforwardPD])
def test_proportional_laws_need_the_motion_of_the_actuators(law):
    for robot, count in ((CART, "1 actuator"), (TwoMotorCart(), "3 actuators")):
        with pytest.raises(tf.ModelError, match=f"{law.__name__} needs position and velocity of every actuator") as e:
            law(robot, 30.0, 4.0)
        assert f"sensors.motion of cart gives shapes (2,) and (2,) for {count}." in str(e.value)
    with pytest.raises(
        tf.ModelError, match=f"{law.__name__} needs a robot with an actuator; mechanism bricard has none"
    ):
        law(tf.load("bricard"), 30.0, 4.0)


def test_a_proportional_law_of_the_motor():
    """PD on the motor's own coordinate is the spring above, but for the target's rate."""
    cart, rest = MeasuredMotorCart(), tf.motion.JointMove([0.2, 0.0], [0.2, 0.0], 0.4)
    runs = [tf.simulate(cart, law, rest, initial=START, **STEPS) for law in (PD(cart, 30.0, 4.0), Spring(cart))]
    assert np.abs(runs[0].position - runs[1].position).max() < SAME_STEPS
    many = tf.rollout(cart, PD(cart, 30.0, 4.0), rest, initial=START, **STEPS)
    assert np.abs(many.position[0] - runs[0].position[::2]).max() < SAME_STEPS


def test_computed_torque_needs_an_actuator_for_every_coordinate():
    for robot in (CART, MeasuredMotorCart()):
        with pytest.raises(
            tf.ModelError, match="ComputedTorque needs an actuator for every coordinate; cart has 1 for 2"
        ):
            ComputedTorque(robot)
    learnable = type("Learnable", (MotorCart,), {"functions": MotorCart.functions | {"regressor": None}})
    with pytest.raises(tf.ModelError, match="AdaptiveComputedTorque needs an actuator for every coordinate"):
        AdaptiveComputedTorque(learnable(), period=0.01)


def test_computed_torque_with_more_actuators_than_coordinates():
    """Inverse dynamics shares the force between the motors; the motion is that of the cart with one."""
    cart = TwoMotorCart()
    runs = [tf.simulate(robot, ComputedTorque(robot), MOVE, initial=START, **STEPS) for robot in (cart, WHOLE)]
    assert np.abs(runs[0].position - runs[1].position).max() < SAME_STEPS
    assert error(runs[0].force[:, :2], runs[1].force[:, :1] * [0.25, 0.75]) < INTEGRATED
    many = tf.rollout(cart, ComputedTorque(cart), MOVE, initial=START, **STEPS)
    assert np.abs(many.position[0] - runs[0].position[::2]).max() < SAME_STEPS


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "FORMATS", dict(loading.FORMATS))
    loading.register_format("motor-cart-1", lambda values: MeasuredMotorCart())
    path = tmp_path / "cart.toml"
    path.write_text('format = "motor-cart-1"\n')
    simulated = ("simulate", path, "--motion", "joint-move:0,0:0.2,0:0.4", "--step", "0.01")
    found = parsed(*simulated, "--controller", "pd", "--kp", "30", "--kv", "4")
    assert [row["name"] for row in found["coordinates"]] == ["cart", "rod"]
    assert [row["actuator"] for row in found["actuators"]] == ["motor"]
    assert "motor" in run(*simulated, "--controller", "pd", "--kp", "30", "--kv", "4").stdout
    assert "rod" in run(*simulated, "--controller", "none").stdout
    assert "ComputedTorque needs an actuator for every coordinate" in error_of(*simulated)
