"""What a law sees by sensors, and delays: in simulations and rollouts, compiled and by methods."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.mechanisms import ball_pendulum
from support.rollout_cases import SAME, Case, assert_the_same, case_of
from support.tolerances import error
from tauforge.control import ComputedTorque
from tauforge.simulation.sensors import Noise, Sensing

pytestmark = pytest.mark.usefixtures("kernels_on")

PERIOD = 4e-3  # s, of the cases
SENSORS: dict[str, dict[str, Any]] = {
    "bits": {"bits": 12},
    "noise": {"position_noise": 1e-4, "velocity_noise": 1e-2},
    "late": {"bits": 14, "velocity_noise": 1e-2, "delay": 2 * PERIOD},
    "differenced": {"position_noise": 1e-5, "velocity": "differenced"},
    "late differences": {"bits": 20, "velocity": "differenced", "delay": PERIOD},
}
EXACT = 1e-12


@pytest.fixture(scope="module", params=["arm", "platform", "five-bar"])
def case(request: Any) -> Case:
    return case_of(request.param)


@pytest.mark.parametrize("given", SENSORS)
def test_each_row_has_sensors_of_its_own(case: Case, given: str) -> None:
    """The loops of the five-bar are closed for what its sensors show."""

    def sensors(seed: int) -> dict[str, Any]:
        return {"sensors": tf.Sensors(**SENSORS[given], seed=seed)}

    runs = assert_the_same(case, lambda k: sensors(7 + k), **sensors(7))
    assert np.abs(runs.force - case.runs().force).max() > 1e-4


class Brake(tf.control.Controller):
    """Answers to every measured number."""

    traceable = True

    def force(self, t: float, position: Any, velocity: Any, target: Any) -> Any:
        return 0.02 * np.sum(position - velocity, axis=-1, keepdims=True)


@pytest.mark.parametrize("given", ["late differences", "noise"])
def test_a_ball_joint_has_sensors(given: str) -> None:
    """Its velocities are angular velocities: differences of its angles are turned into them."""
    robot = ball_pendulum()
    start = np.array([[0.3, 0.2, -0.1, 0.0]]), np.array([[0.5, -0.4, 0.3, 1.0]])
    rest = tf.motion.JointMove(np.zeros(4), np.zeros(4), 0.1)
    options: dict[str, Any] = {"initial": start, "control_period": PERIOD, "sensors": tf.Sensors(**SENSORS[given])}

    def run() -> Any:
        return tf.rollout(robot, Brake(), rest, **options)

    mine = run()
    assert mine.stepped_by.startswith("machine code")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "off")
        theirs = run()
    assert error(mine.position, theirs.position) < SAME
    assert error(mine.force, theirs.force) < 1e3 * SAME  # small differences over a control period


def test_forces_are_late(case: Case) -> None:
    runs = assert_the_same(case, delay=2 * PERIOD)
    assert not runs.force[:, :2].any()
    assert runs.force[:, 2:].all()


def seen_by(sensors: tf.Sensors | None, **options: Any) -> tuple[Any, ...]:
    """The recording, positions and velocities that a law saw, and what it asked for."""
    found: list[tuple[Any, ...]] = []

    def law(t: float, q: Any, qd: Any) -> Any:
        found.append((q.copy(), qd.copy(), [np.sin(50 * t), 1.0]))
        return found[-1][2]

    start = ([0.1, -0.2], [0.5, 0.3])
    arm = tf.load("planar-2r")
    run = tf.simulate(arm, law, initial=start, duration=0.05, control_period=5e-3, sensors=sensors, **options)
    return run, *map(np.array, zip(*found, strict=True))


def test_delays_that_outlast_the_run() -> None:
    """Nothing arrives, however late it would; many numbers that wait are passed on by methods."""
    case = case_of("arm")
    runs = case.runs(delay=1e3)
    assert runs.stepped_by == "machine code"
    assert not runs.force.any()
    blind = case.run(0, sensors=tf.Sensors(delay=1e3))
    assert error(blind.position[-1], case.run(0, sensors=tf.Sensors(delay=PERIOD * 100)).position[-1]) < SAME
    long = {"duration": 3.0, "delay": 700 * PERIOD}
    told = "methods: delays have 2100 numbers wait, more than 2000"
    assert case.runs(**long).stepped_by == case.run(0, **long).stepped_by == told


def test_late_sensors_show_the_start_at_rest_and_then_what_was() -> None:
    run, q, qd, _ = seen_by(tf.Sensors(delay=0.015))
    assert np.array_equal(q[3:], run.position[::5][:-3])
    assert np.array_equal(qd[3:], run.velocity[::5][:-3])
    assert (q[:3] == run.position[0]).all()
    assert not qd[:3].any()


def test_differences_are_of_measured_positions() -> None:
    run, q, qd, _ = seen_by(tf.Sensors(bits=10, velocity="differenced"))
    step = 2 * np.pi / 2**10
    assert np.abs(q - np.round(run.position[::5] / step) * step).max() < EXACT
    assert np.abs(qd[1:] - np.diff(q, axis=0) / 5e-3).max() < EXACT * np.abs(qd).max()
    assert not qd[0].any()


def test_what_was_asked_acts_later_beside_forces_that_act_at_once() -> None:
    more = np.arange(20.0).reshape(10, 2)
    run, _, _, asked = seen_by(None, delay=0.01, forces=more)
    late = np.concatenate([np.zeros((2, 2)), asked[:-2]])
    late[:-1] += more
    assert np.abs(run.force[::5] - late).max() < EXACT


def test_differences_of_a_platform_are_twists() -> None:
    """Rates of the angles are turned into angular velocities at what is measured."""
    case = case_of("platform")
    found = []

    def law(t: float, pose: Any, twist: Any) -> Any:
        found.append((pose, twist))
        return np.full(6, 600.0)

    state = case.alone(0)
    still = case.robot.replace(gravity=(0, 0, 0))
    run = tf.simulate(
        still, law, initial=state, duration=0.02, control_period=1e-3, sensors=tf.Sensors(velocity="differenced")
    )
    pose, twist = map(np.array, zip(*found, strict=True))
    assert np.array_equal(pose, run.position)
    middle = (run.velocity[1:] + run.velocity[:-1]) / 2
    assert np.abs(twist[1:] - middle).max() < 0.01 * np.abs(middle).max()


def test_noise_is_that_of_one_reading_after_another() -> None:
    """However the instants are asked for in blocks."""
    many = Noise(Sensing(1000, 0.0, (0.01, 0.1), 4, 0, 0.01, False), 1).between(0, 1)[0, 0]
    assert np.abs(np.std(many.reshape(2, 1000), axis=1) / [0.01, 0.1] - 1).max() < 0.1
    noise = Noise(Sensing(2, 0.0, (0.5, 2.0), 3, 0, 0.01, False), 2)
    found = np.concatenate([noise.between(0, 3), noise.between(2, 3)[:, 1:], noise.between(3, 8)], axis=1)
    assert np.array_equal(noise.between(5, 7), found[:, 5:7])
    for row in range(2):
        rng = np.random.default_rng(3 + row)
        for reading in found[row]:
            assert np.array_equal(reading, np.concatenate([rng.normal(0, 0.5, 2), rng.normal(0, 2.0, 2)]))


@pytest.mark.parametrize(
    ("sensors", "delay"), [({}, 0.03), ({"delay": 0.01}, 0.02), ({"velocity": "differenced"}, 0.0)]
)
def test_loops_that_delays_make_unstable_are_foreseen(sensors: dict[str, Any], delay: float) -> None:
    """A slide under computed torque is linear: errors grow as the warning says."""
    slide = tf.SerialArm(joints=[tf.Joint(kind="P", mass=2.0, inertia=np.eye(3))], gravity=(0, 0, 0))
    hold = tf.motion.JointMove([0.0], [0.0], 4.0)
    law = ComputedTorque(slide, 400.0, 40.0) if delay else ComputedTorque(slide, 1600.0, 195.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.simulate(slide, law, hold, initial=([0.1], [0.0]), control_period=0.01)
    with pytest.warns(tf.UnstableLoopWarning, match="errors grow by a factor of") as caught:
        run = tf.simulate(
            slide,
            law,
            hold,
            initial=([0.1], [0.0]),
            control_period=0.01,
            delay=delay,
            sensors=tf.Sensors(**sensors),
        )
    told = float(str(caught[0].message).partition("factor of ")[2].split()[0])
    sizes = np.abs(run.position[::10, 0])
    late = sizes.reshape(-1)[200:400].max() / sizes[100:300].max()
    assert late ** (1 / 100) == pytest.approx(told, rel=0.01)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"sensors": "good"}, "sensors: expected Sensors, got 'good'"),
        ({"delay": -1.0}, "delay: expected a number >= 0, got -1.0"),
        ({"delay": 0.006}, r"delay: expected a whole number of steps of 0.004 s, got 0.006 s"),
        ({"sensors": tf.Sensors(delay=0.006)}, r"sensors.delay: expected a whole number of steps of 0.004 s"),
    ],
)
def test_what_does_not_fit_is_said(options: dict[str, Any], match: str) -> None:
    arm = case_of("arm")
    for call in (lambda **more: arm.run(0, **more), arm.runs):
        with pytest.raises(tf.TauforgeError, match=match):
            call(**options)


def test_what_needs_a_control_period() -> None:
    arm = case_of("arm")
    arm.law = ComputedTorque(arm.robot)
    with pytest.raises(tf.ModelError, match=r"delay: a delay needs a control period\. Give control_period="):
        arm.run(0, delay=0.01, control_period=None)
    with pytest.raises(tf.ModelError, match=r"forces: forces are held in control periods\. Give control_period="):
        arm.run(0, forces=np.zeros((25, 3)), control_period=None, duration=0.05)
    with pytest.raises(tf.ModelError, match=r"sensors.delay: a delay needs a control period"):
        arm.run(0, sensors=tf.Sensors(delay=0.01), control_period=None)
    with pytest.raises(tf.ModelError, match="sensors: differences of positions need a sampling period"):
        arm.run(0, sensors=tf.Sensors(velocity="differenced"), control_period=None)


def test_sensors_that_cannot_be() -> None:
    with pytest.raises(tf.ModelError, match="velocity: expected one of measured, differenced, got 'guessed'"):
        tf.Sensors(velocity="guessed")
    with pytest.raises(tf.ModelError, match="velocity_noise: velocities that are differences of positions have"):
        tf.Sensors(velocity="differenced", velocity_noise=0.1)
    with pytest.raises(tf.ModelError, match=r"delay: expected a number >= 0, got -0\.1"):
        tf.Sensors(delay=-0.1)
    arm = case_of("arm")
    with pytest.raises(tf.UnsupportedFeatureError, match="there are no gradients through sensors"):
        tf.differentiable_rollout(
            arm.robot, ComputedTorque(arm.robot), arm.move, control_period=PERIOD, sensors=tf.Sensors(bits=12)
        )
