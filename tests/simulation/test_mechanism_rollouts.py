"""Rollouts of mechanisms by compiled steps: every row is a simulation, also one that a kernel refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.mechanisms import ball_pendulum, crank_rocker, five_bar
from support.tolerances import CENTRAL_DIFFERENCES, INTEGRATED, SAME_STEPS, error, error_beside
from tauforge.robots.mechanism import state_space
from tauforge.simulation.integrators import RAN_AWAY
from tauforge.simulation.method_loop import NO_FORCES, MethodLoop
from tauforge.simulation.rollout_gradients import LEFT

pytestmark = pytest.mark.usefixtures("kernels_on")
GAP = 1e-12  # of the mechanism's size, at every recorded step
START, END = np.array([0.1, -0.2]), np.array([-0.2, 0.2])
ROUNDED = 1e-8  # error of a central difference with a step of 1e-5: its square, and rounding over the step
FALLING = 1e-10  # the same steps after half a second of free fall, which doubles rounding some ten times


def move(duration: float = 0.1) -> tf.motion.JointMove:
    return tf.motion.JointMove(START, END, duration=duration)


def worst_gap(mechanism: tf.Mechanism, positions: Any) -> float:
    return float(mechanism.loop_gap(positions).max() / mechanism._analysis.size)


@pytest.fixture
def _kernels_alone(monkeypatch: Any) -> None:
    """No row may be left to the methods of the mechanism."""
    for method in ("held", "some_held"):
        monkeypatch.delattr(MethodLoop, method)


@pytest.mark.parametrize("law", ["computed torque", "pd", "gravity"])
@pytest.mark.usefixtures("_kernels_alone")
def test_rows_with_own_gains_payloads_and_masses_are_simulations(law: str) -> None:
    robot, rng, rows = five_bar(), np.random.default_rng(2), 3
    kinds = {
        "computed torque": lambda kp: tf.control.ComputedTorque(robot, kp, 60.0),
        "pd": lambda kp: tf.control.PD(robot, kp, 30.0),
        "gravity": lambda kp: tf.control.GravityPD(robot, kp, 30.0),
    }
    gains = 900.0 * rng.uniform(0.8, 1.2, (rows, 1, 1)) * np.eye(2)
    masses = robot.own_values(["mass"])["mass"] * rng.uniform(0.8, 1.2, (rows, 1))
    payload = tf.Payload(mass=rng.uniform(0.1, 0.4, rows), com=(0.01, 0.02, 0.0))
    start = START + 0.05 * rng.normal(size=(rows, 2)), 0.1 * rng.normal(size=(rows, 2))
    forces = rng.normal(size=(20, 2))
    options: dict[str, Any] = {"step": 1e-3, "control_period": 5e-3, "duration": 0.1}
    runs = tf.rollout(
        robot,
        kinds[law](900.0),
        move(),
        initial=start,
        gains={"kp": gains},
        varying={"mass": masses},
        payload=payload,
        forces=forces,
        **options,
    )
    assert runs.reasons == {}
    assert worst_gap(robot, runs.position) < GAP
    for k in range(rows):
        one = kinds[law](gains[k])
        held = tf.Payload(mass=float(payload.mass[k]), com=(0.01, 0.02, 0.0))
        plant = robot.replace(mass=masses[k]).carrying(held)

        def pushed(t: float, x: Any, qd: Any, one: Any = one) -> Any:
            return one.force(t, x, qd, move().sample(t)) + forces[min(round(t / 5e-3), 19)]

        expected = tf.simulate(robot, pushed, initial=(start[0][k], start[1][k]), plant=plant, **options)
        assert error(runs.position[k], expected.position[::5], core=2) < SAME_STEPS
        assert error_beside(runs.velocity[k], expected.velocity[::5], expected.velocity) < 10 * SAME_STEPS
        assert error_beside(runs.force[k][:-1], expected.force[:-1:5], expected.force) < 100 * SAME_STEPS


@pytest.mark.usefixtures("_kernels_alone")
def test_energy_stays_to_the_order_of_the_method() -> None:
    """Free motion without friction. Half the step has a sixteenth of the error or less, until rounding."""
    robot = ball_pendulum()
    start = np.array([[0.1, 0.2, -0.3, 0.4], [0.0, 0.0, 0.0, 0.0]]), np.array([[1.0, -0.5, 0.4, 6.0], [0.0, 2.0, 1, 3]])
    drifts = []
    for step in (4e-3, 2e-3):
        runs = tf.rollout(robot, initial=start, duration=0.4, step=step, control_period=4e-3)
        total = np.add(*robot.energy(runs.position, runs.velocity))
        drifts.append(np.ptp(total, axis=1).max())
    assert drifts[0] < 1e-5
    assert drifts[1] < drifts[0] / 12


@pytest.mark.parametrize("name", ["flyball-governor", "bricard"])
def test_a_mechanism_without_actuators(monkeypatch: Any, name: str) -> None:
    monkeypatch.delattr(MethodLoop, "held")
    robot: Any = tf.load(name)
    assert not robot.actuators
    options: dict[str, Any] = {"duration": 0.02, "step": 1e-4, "control_period": 1e-3}
    speed = np.eye(robot.n)[0] * np.array([[1.0], [1.1]])
    runs = tf.rollout(robot, initial=(robot.home, speed), **options)
    assert runs.force.shape == (2, 21, 0)
    for k in range(2):
        one = tf.simulate(robot, initial=(robot.home, speed[k]), **options)
        assert error(runs.position[k], one.position[::10], core=2) < SAME_STEPS
        assert error(runs.velocity[k], one.velocity[::10], core=2) < 100 * SAME_STEPS


def test_rows_that_a_kernel_refuses_go_on_by_other_coordinates(monkeypatch: Any) -> None:
    """The cranks of a falling five-bar lose control on the way, each row's at its own time."""
    robot, refused = five_bar(), []
    some_held = MethodLoop.some_held

    def noted(self: Any, rows: Any, *more: Any) -> Any:
        refused.append(rows)
        return some_held(self, rows, *more)

    monkeypatch.setattr(MethodLoop, "some_held", noted)
    starts = np.array([START, [0.12, -0.18], [0.0, 0.0]])
    options: dict[str, Any] = {"duration": 0.5, "step": 1e-3, "control_period": 1e-3}
    runs = tf.rollout(robot, initial=(starts, np.zeros(2)), **options)
    assert set(np.concatenate(refused).tolist()) == {0, 1, 2}
    assert len(refused) < 250  # of 500 steps: the kernel takes most of them
    assert runs.finite.all()
    assert runs.reasons == {}
    assert worst_gap(robot, runs.position) < GAP
    for k in range(3):
        one = tf.simulate(robot, initial=(starts[k], np.zeros(2)), **options)
        assert error(runs.position[k], one.position, core=2) < FALLING


def one_falls(robot: tf.Mechanism, periods: int) -> dict[str, Any]:
    """Two rows: the cranks of the first lose control on the way, the second is held where it starts."""
    held = np.stack([np.zeros(2), robot.holding_forces(robot.configuration(START))])
    return {"initial": (START, np.zeros(2)), "forces": np.repeat(held[:, None], periods, axis=1)}


def test_a_row_that_cannot_go_on_says_why_and_leaves_the_others_alone(monkeypatch: Any) -> None:
    """Where the kernel refuses a row, and the mechanism's own methods find no way either: here they accept no gap."""
    robot = five_bar()
    options: dict[str, Any] = {"step": 1e-3, "control_period": 1e-3}
    good = tf.rollout(robot, **one_falls(robot, 250), **options)
    monkeypatch.setattr(state_space, "RECORDED_GAP", -1.0)
    runs = tf.rollout(robot, **one_falls(robot, 250), **options)
    assert good.reasons == {}
    assert runs.reasons == {0: f"{robot.name}: the loops cannot be closed after this step"}
    assert runs.finite.tolist() == [False, True]
    first = int(np.isnan(runs.position[0]).any(axis=-1).argmax())
    assert 100 < first < 250
    for name in ("position", "velocity", "force"):
        mine, right = getattr(runs, name), getattr(good, name)
        assert np.isnan(mine[0, first:]).all(), name
        assert np.array_equal(mine[0, :first], right[0, :first])
        assert np.array_equal(mine[1], right[1])
    assert np.isnan(robot.loop_condition(good.position[0, :first])).sum() == 0
    assert robot.loop_condition(good.position[0, first]) > 3 * robot.loop_condition(good.position[1, first])


def test_reasons_of_other_ends() -> None:
    robot = five_bar()

    class Silent(tf.control.PD):
        def force(self, t: float, position: Any, velocity: Any, target: Any) -> Any:
            return super().force(t, position, velocity, target) * (np.nan if t > 0.02 else 1.0)

    options: dict[str, Any] = {"control_period": 0.01, "duration": 0.05}
    runs = tf.rollout(robot, Silent(robot, 900.0, 30.0), move(), **options)
    assert runs.reasons == {0: NO_FORCES}
    arm = tf.load("planar-2r")
    away = tf.rollout(arm, initial=(np.zeros(2), [[0.0, 0.0], [2e9, 0.0]]), **options)
    assert away.reasons == {1: RAN_AWAY}


@pytest.mark.usefixtures("_kernels_alone")
def test_gradients_are_differences() -> None:
    """By initial coordinates and velocities, gains, masses, payloads and forces, under computed torque."""
    robot, rng, rows = five_bar(), np.random.default_rng(4), 2
    law = tf.control.ComputedTorque(robot, 400.0, 40.0)
    given: dict[str, Any] = {
        "q": START + 0.02 * rng.normal(size=(rows, 2)),
        "qd": 0.2 * rng.normal(size=(rows, 2)),
        "kp": law.kp + rng.normal(size=(rows, 2, 2)),
        "mass": robot.own_values(["mass"])["mass"] * 1.1,
        "held": rng.uniform(0.2, 0.3, rows),
        "forces": rng.normal(size=(rows, 3, 2)),
    }
    compared(given, robot, law, tf.motion.JointMove(START, START + 0.02, 0.03), rng)


def test_gradients_with_quaternions_and_fewer_actuators_than_coordinates() -> None:
    rng = np.random.default_rng(5)
    given = {"q": 0.3 * rng.normal(size=(2, 4)), "qd": rng.normal(size=(2, 4)), "forces": rng.normal(size=(2, 3, 1))}
    compared(given, ball_pendulum(), None, None, rng)


def test_gradients_past_half_a_turn() -> None:
    """The angles of the ball jump there, and two quaternions tell of each of its positions."""
    rng = np.random.default_rng(7)
    given = {
        "q": np.array([[0.1, 0.1, 3.1, 0]]),
        "qd": np.array([[0, 0, 2.0, 0]]),
        "forces": rng.normal(size=(1, 8, 1)),
    }
    robot, start = ball_pendulum(), (given["q"], given["qd"])
    runs, pull_back = tf.differentiable_rollout(
        robot, initial=start, forces=given["forces"], control_period=0.02, step=0.01
    )
    assert np.ptp(np.sign(runs.position[0, :, 2])) == 2
    weights, change = rng.normal(size=runs.velocity.shape), rng.normal(size=given["forces"].shape)

    def cost(forces: Any) -> float:
        again = tf.rollout(robot, initial=start, forces=forces, control_period=0.02, step=0.01)
        return float((weights * again.velocity).sum())

    slope = (cost(given["forces"] + 1e-5 * change) - cost(given["forces"] - 1e-5 * change)) / 2e-5
    found = pull_back(velocity=weights).forces
    assert abs(slope - (found * change).sum()) < CENTRAL_DIFFERENCES * abs(slope)


def test_gradients_where_other_coordinates_would_be_better() -> None:
    """A rocker near its dead centre hardly moves beside the crank. Rollouts take the crank there; gradients go on."""
    robot, rng = crank_rocker(("rocker",), viscous=0.1), np.random.default_rng(6)
    crank = robot.replace(independent=("crank",))
    x = crank.configuration(np.linspace(0.0, 6.0, 2001)[:, None])
    spread = robot._evaluator("spread", {"x": x})[0]
    row = int(np.argmax((spread > 2 * state_space.MOST_SPREAD) & (spread < 10 * state_space.MOST_SPREAD)))
    assert spread[row] > 2 * state_space.MOST_SPREAD
    near = robot.positions.coordinates(x[row : row + 1])
    given = {"q": near, "qd": np.array([[0.01]]), "forces": rng.normal(size=(1, 2, 1))}
    runs, pull_back = tf.differentiable_rollout(
        robot, initial=(given["q"], given["qd"]), forces=given["forces"], control_period=2e-3, step=1e-3
    )
    assert runs.finite.all()
    found = pull_back(velocity=np.ones(runs.velocity.shape)).forces[0, :, 0]
    wanted = []
    for k in range(2):
        costs = []
        for sign in (1.0, -1.0):
            forces = given["forces"].copy()
            forces[0, k] += sign * 1e-5
            again = tf.rollout(robot, initial=(given["q"], given["qd"]), forces=forces, control_period=2e-3, step=1e-3)
            costs.append(again.velocity.sum())
        wanted.append((costs[0] - costs[1]) / 2e-5)
    assert error(found, np.array(wanted)) < CENTRAL_DIFFERENCES


def compared(given: dict[str, Any], robot: Any, law: Any, motion: Any, rng: Any) -> None:
    """Gradients of a weighted sum of everything recorded, against central differences along random directions."""

    def arguments(given: dict[str, Any]) -> dict[str, Any]:
        more: dict[str, Any] = {"initial": (given["q"], given["qd"]), "forces": given["forces"]}
        if "kp" in given:
            more |= {"gains": {"kp": given["kp"]}, "varying": {"mass": given["mass"]}}
            more["payload"] = tf.Payload(mass=given["held"])
        return more | {"control_period": 0.01, "step": 5e-3}

    runs, pull_back = tf.differentiable_rollout(robot, law, motion, **arguments(given))
    same = tf.rollout(robot, law, motion, **arguments(given))
    names = ("position", "velocity", "force")
    for name in names:
        assert error_beside(getattr(runs, name), getattr(same, name), getattr(same, name)) < SAME_STEPS
    weights = {name: rng.normal(size=getattr(runs, name).shape) for name in names}
    found = pull_back(**weights)
    gradients = {"q": found.position, "qd": found.velocity, "forces": found.forces}
    if "kp" in given:
        gradients |= {"kp": found.gains["kp"], "mass": found.varying["mass"], "held": found.payload[:, 0]}

    def cost(given: dict[str, Any]) -> float:
        runs = tf.rollout(robot, law, motion, **arguments(given))
        return float(sum((weights[name] * getattr(runs, name)).sum() for name in names))

    for name, value in given.items():
        size = np.abs(value).max()
        direction = rng.normal(size=value.shape) * size
        slope = (cost(given | {name: value + 1e-5 * direction}) - cost(given | {name: value - 1e-5 * direction})) / 2e-5
        assert gradients[name].shape == value.shape
        # a cost of size c has a rounding error of eps c, which the difference divides by its step
        assert abs(slope - (gradients[name] * direction).sum()) < ROUNDED * (abs(slope) + abs(cost(given))), name


def test_rows_that_kernels_refuse_have_no_gradient() -> None:
    robot = five_bar()
    given = one_falls(robot, 250)
    given["initial"] = (np.broadcast_to(START, (2, 2)), np.zeros(2))
    runs, pull_back = tf.differentiable_rollout(robot, **given, step=1e-3, control_period=1e-3)
    assert runs.reasons == {0: LEFT}
    found = pull_back(position=np.ones(runs.position.shape))
    assert np.isnan(found.position[0]).all()
    assert np.isfinite(found.position[1]).all()
    assert np.isfinite(found.velocity).all()  # shared by the rows: of those that have one


def test_what_is_not_compiled_says_so() -> None:
    robot = five_bar()
    law = tf.control.FeedforwardPD(robot, 900.0, 10.0)
    runs = tf.rollout(robot, law, move(), control_period=0.01, duration=0.02)  # by methods
    one = tf.simulate(robot, law, move(), control_period=0.01, duration=0.02)
    assert error(runs.position[0], one.position[::10], core=2) < SAME_STEPS
    with pytest.raises(
        tf.UnsupportedFeatureError, match=f"gains need compiled steps.*a law closes loops of {robot.name}"
    ) as caught:
        tf.rollout(robot, law, move(), control_period=0.01, gains={"kp": law.kp})
    assert caught.value.remedy == "Call tf.rollout once for each value, with a law that has it"
    with pytest.raises(tf.UnsupportedFeatureError, match=f"by the 2 coordinates of {robot.name}.*have 5 entries"):
        tf.differentiable_rollout(robot, initial=(robot.home, np.zeros(2)), control_period=0.01, duration=0.02)
    with pytest.raises(tf.UnsupportedFeatureError, match=f"a law closes loops of {robot.name}") as caught:
        tf.differentiable_rollout(robot, law, move(), control_period=0.01)
    assert caught.value.remedy == "Take differences between results of tf.rollout"


def test_adaptive_integration_agrees() -> None:
    """Another integrator, of `simulate` alone."""
    robot = five_bar()
    start = np.array([START, END]), np.array([[0.3, -0.2], [0.0, 0.4]])
    runs = tf.rollout(robot, initial=start, duration=0.1, step=1e-4, control_period=0.01)
    for k in range(2):
        initial = (start[0][k], start[1][k])
        one = tf.simulate(robot, initial=initial, duration=0.1, step=0.01, method="dormand-prince")
        assert error(runs.position[k], one.position, core=2) < INTEGRATED


def test_rates_of_varied_rows_under_a_wrench() -> None:
    """What steps by methods take where kernels refuse a row: those of each robot alone."""
    robot = tf.load("five-bar")
    space, mass = robot.state_space, np.array([[1.0] * 4, [2.0] * 4])
    y = np.tile(space.pack(robot.positions.default, np.zeros(2)), (2, 1))
    found = space.rates_under(y, np.ones((2, 2)), np.ones((2, 6)), {"mass": mass})
    for row in range(2):
        alone = robot.replace(mass=mass[row]).state_space.rates_under(y[row], np.ones(2), np.ones(6))
        assert found[row] == pytest.approx(alone, rel=1e-9)
