"""Rollouts of platforms by compiled steps: every row is a simulation, also where a kernel leaves the law to itself."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import tauforge as tf
from support.as_mechanisms import platform_as_mechanism
from support.platforms import HOME, quarter_turned, random_platform, with_spherical_legs, without_legs
from support.tolerances import ENERGY_BALANCE, EPSILON, SAME_STEPS, error
from tauforge.simulation import rollouts
from tauforge.simulation.method_loop import NO_FORCES, MethodLoop
from tauforge.simulation.recording import MACHINE_CODE, METHODS
from tauforge.simulation.rollout_gradients import LEFT

pytestmark = pytest.mark.usefixtures("kernels_on")
UNIVERSAL = random_platform(np.random.default_rng(1))
SPHERICAL = with_spherical_legs(random_platform(np.random.default_rng(3)), np.random.default_rng(4))
MACHINES = {"universal": UNIVERSAL, "spherical": SPHERICAL}
END = HOME + np.array([0.06, -0.03, 0.06, 0.09, -0.06, 0.12])
LAWS: dict[str, Any] = {
    "computed torque": lambda robot, k: tf.control.ComputedTorque(robot, 400.0 * k, 40.0),
    "pd": lambda robot, k: tf.control.PD(robot, 1e5 * k, 1e4),
    "gravity": lambda robot, k: tf.control.GravityPD(robot, 1e5 * k, 1e4),
    "feedforward": lambda robot, k: tf.control.FeedforwardPD(robot, 1e5 * k, 1e4),
}
LONG = 1e-11  # over 1,000 steps: rounding of each, which stiff legs (300 / s) give back as velocity; seen: 1.2e-12
CLOSED_LOOPS = 1e-9  # a mechanism takes the nearest rates that fit its loops where stages leave them; seen: 3e-11
ROUNDED = 1e-7  # error of a central difference with a step of 1e-6: rounding over the step, and its square


def move(duration: float = 1.0, start: Any = HOME, end: Any = END) -> tf.motion.PoseMotion:
    return tf.motion.PoseMotion(tf.motion.JointMove(start, end, duration))


def starts(rows: int, seed: int = 5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return HOME + 5e-3 * rng.normal(size=(rows, 6)), 0.1 * rng.normal(size=(rows, 6))


@pytest.fixture
def _kernels_alone(monkeypatch: Any) -> None:
    """No row may be left to the methods of law and platform."""
    for method in ("held", "some_held", "forces"):
        monkeypatch.delattr(MethodLoop, method)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("machine", MACHINES)
def test_steps_are_those_of_law_and_platform(machine: str, law: str) -> None:
    """Over 1,000 steps, with friction and reflected masses, beside steps by their own methods."""
    robot = MACHINES[machine]
    options: dict[str, Any] = {"control_period": 1e-3, "step": 1e-3, "record_every": 20, "initial": starts(3)}
    with patch.object(MethodLoop, "some_held"), patch.object(MethodLoop, "forces"):  # nothing is left to them
        runs = tf.rollout(robot, LAWS[law](robot, 1.0), move(), **options)
    with patch.object(rollouts, "compiled_loop", return_value="not wanted"):
        own = tf.rollout(robot, LAWS[law](robot, 1.0), move(), **options)
    assert own.finite.all()
    assert (runs.stepped_by, own.stepped_by) == (MACHINE_CODE, f"{METHODS}: not wanted")
    for name in ("position", "velocity", "force"):
        assert error(getattr(runs, name), getattr(own, name), core=2) < LONG, name


@pytest.mark.parametrize(("machine", "law"), [*(("universal", law) for law in LAWS), ("spherical", "computed torque")])
@pytest.mark.usefixtures("_kernels_alone")
def test_rows_with_own_gains_payloads_and_masses_are_simulations(machine: str, law: str) -> None:
    robot, rng, rows = MACHINES[machine], np.random.default_rng(2), 2
    factors = rng.uniform(0.8, 1.2, rows)
    kinds = [LAWS[law](robot, factor) for factor in factors]
    varying = {
        "platform_mass": robot.platform_mass * rng.uniform(0.8, 1.2, rows),
        "lower_mass": np.array(robot.lower_mass) * rng.uniform(0.8, 1.2, (rows, 6)),
        "reflected_mass": np.array(robot.reflected_mass) * rng.uniform(0.8, 1.2, (rows, 6)),
        "gravity": rng.normal(size=(rows, 3)) * 3,
    }
    payload = tf.Payload(mass=rng.uniform(1.0, 4.0, rows), com=(0.01, 0.02, 0.1))
    q, qd = starts(rows)
    forces = 10.0 * rng.normal(size=(10, 6))
    options: dict[str, Any] = {"step": 1e-3, "control_period": 2e-3, "duration": 0.02}
    runs = tf.rollout(
        robot,
        LAWS[law](robot, 1.0),
        move(),
        initial=(q, qd),
        gains={"kp": np.stack([kind.kp for kind in kinds])},
        varying=varying,
        payload=payload,
        forces=forces,
        **options,
    )
    assert runs.reasons == {}
    for k in range(rows):
        held = tf.Payload(mass=float(payload.mass[k]), com=(0.01, 0.02, 0.1))
        plant = robot.replace(**{name: value[k] for name, value in varying.items()}).carrying(held)

        def pushed(t: float, x: Any, v: Any, one: Any = kinds[k]) -> Any:
            return one.force(t, x, v, move().sample(t)) + forces[min(round(t / 2e-3), 9)]

        expected = tf.simulate(robot, pushed, initial=(q[k], qd[k]), plant=plant, **options)
        assert error(runs.position[k], expected.position[::2], core=2) < SAME_STEPS
        assert error(runs.velocity[k], expected.velocity[::2], core=2) < 10 * SAME_STEPS
        assert error(runs.force[k][:-1], expected.force[:-1:2], core=2) < 100 * SAME_STEPS


def test_the_same_machine_as_a_mechanism() -> None:
    """By its six legs with all their joints, whose loops are closed after every step."""
    robot = UNIVERSAL.replace(friction=(0, 0, 0))
    mechanism = platform_as_mechanism(robot, np.array([0.02, -0.03, 1.1]))
    q, qd = starts(2)
    options: dict[str, Any] = {"control_period": 1e-3, "step": 1e-3, "duration": 0.05}
    runs = tf.rollout(robot, LAWS["computed torque"](robot, 1.0), move(), initial=(q, qd), **options)
    law = LAWS["computed torque"](mechanism, 1.0)
    theirs = tf.rollout(mechanism, law, move(), initial=(q, qd), **options)
    assert error(runs.position, mechanism.positions.coordinates(theirs.position), core=2) < CLOSED_LOOPS
    assert error(runs.velocity, theirs.velocity, core=2) < CLOSED_LOOPS
    assert error(runs.force, theirs.force, core=2) < CLOSED_LOOPS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.usefixtures("_kernels_alone")
def test_energy_stays_to_the_order_of_the_method(machine: str) -> None:
    """Free fall without friction. Half the step has a sixteenth of the error or less, until rounding."""
    robot = MACHINES[machine].replace(friction=(0, 0, 0))
    drifts = []
    for step in (4e-3, 2e-3):
        runs = tf.rollout(robot, initial=starts(2), duration=0.1, step=step, control_period=4e-3)
        total = np.add(*robot.energy(runs.position, runs.velocity))
        drifts.append(np.ptp(total, axis=1).max() / np.abs(total).max())
    assert drifts[0] < 100 * ENERGY_BALANCE
    assert drifts[1] < drifts[0] / 12


@pytest.mark.usefixtures("_kernels_alone")
def test_a_platform_may_turn_past_half_a_turn_and_stand_on_edge() -> None:
    """Legs and gravity let go: turns at a constant speed about an axis, through angles that jump, and gradients too."""
    ball = {"platform_com": (0, 0, 0), "platform_inertia": (0.3, 0.3, 0.3)}
    loose = without_legs(UNIVERSAL, gravity=(0, 0, 0), **ball)
    start, spin = np.array([[0, 0, 1.3, 0, 0, 3.1], [0, 0, 1.3, 0, 1.5, 0]]), np.zeros((2, 6))
    spin[0, 5], spin[1, 4] = 1.0, 1.0
    options: dict[str, Any] = {"control_period": 0.02, "step": 0.01}
    forces = np.zeros((2, 8, 6))
    runs, pull_back = tf.differentiable_rollout(loose, initial=(start, spin), forces=forces, **options)
    turned = np.linspace(0.0, 0.16, 9)
    wanted = np.array([[0, 0, np.remainder(3.1 + t + np.pi, 2 * np.pi) - np.pi] for t in turned])
    assert np.abs(runs.position[0, :, 3:] - wanted).max() < 1e-9
    assert np.abs(np.abs(runs.position[1, :, 4]) - np.abs(np.pi / 2 - np.abs(1.5 + turned - np.pi / 2))).max() < 1e-9
    weights = np.random.default_rng(8).normal(size=runs.velocity.shape)
    found = pull_back(velocity=weights, position=np.ones(runs.position.shape) * [1, 1, 1, 0, 0, 0])
    change = np.random.default_rng(9).normal(size=forces.shape)

    def cost(more: Any) -> float:
        runs = tf.rollout(loose, initial=(start, spin), forces=more, **options)
        return float((weights * runs.velocity).sum() + runs.position[..., :3].sum())

    slope = (cost(1e-4 * change) - cost(-1e-4 * change)) / 2e-4
    assert abs(slope - (found.forces * change).sum()) < ROUNDED * np.abs(found.forces * change).sum()


@pytest.mark.parametrize("law", ["computed torque", "gravity", "none"])
@pytest.mark.usefixtures("_kernels_alone")
def test_gradients_are_differences(law: str) -> None:
    """By initial poses and twists, gains, masses, payloads and forces."""
    robot, rng, rows = UNIVERSAL, np.random.default_rng(4), 2
    controller = None if law == "none" else LAWS[law](robot, 1.0)
    motion = None if law == "none" else move(0.03, HOME, HOME + 0.01)
    q, qd = starts(rows)
    given: dict[str, Any] = {
        "q": q,
        "qd": qd,
        "platform_mass": robot.platform_mass * rng.uniform(0.9, 1.1, rows),
        "base_points": np.array(robot.base_points) + 1e-3 * rng.normal(size=(6, 3)),
        "held": rng.uniform(2.0, 3.0, rows),
        "forces": rng.normal(size=(rows, 3, 6)),
    }
    if controller is not None:
        given["kp"] = controller.kp * rng.uniform(0.9, 1.1, (rows, 1, 1))

    def arguments(given: dict[str, Any]) -> dict[str, Any]:
        return {
            "initial": (given["q"], given["qd"]),
            "varying": {name: given[name] for name in ("platform_mass", "base_points")},
            "payload": tf.Payload(mass=given["held"]),
            "gains": {"kp": given["kp"]} if "kp" in given else None,
            "forces": given["forces"],
            "control_period": 0.01,
            "step": 5e-3,
        }

    runs, pull_back = tf.differentiable_rollout(robot, controller, motion, **arguments(given))
    assert runs.reasons == {}
    weights = {
        name: rng.normal(size=getattr(runs, name).shape) / np.abs(getattr(runs, name)).max()
        for name in ("position", "velocity", "force")
    }
    found = pull_back(**weights)
    gradients = {"q": found.position, "qd": found.velocity, "forces": found.forces, "held": found.payload[:, 0]}
    gradients |= found.varying | found.gains

    def cost(given: dict[str, Any]) -> float:
        runs = tf.rollout(robot, controller, motion, **arguments(given))
        return float(sum((weights[name] * getattr(runs, name)).sum() for name in weights))

    for name, value in given.items():
        change = rng.normal(size=value.shape) * np.abs(value).max() * 1e-6
        slope = (cost(given | {name: value + change}) - cost(given | {name: value - change})) / 2
        assert gradients[name].shape == value.shape
        allowed = ROUNDED * np.abs(gradients[name] * change).sum() + 100 * EPSILON * abs(cost(given))
        assert abs(slope - (gradients[name] * change).sum()) < allowed, name


def test_a_row_that_the_legs_cannot_hold_says_so_and_leaves_the_others_alone() -> None:
    """The formulas doubt the law's forces there. The law's own methods answer, and have none; beside it they have."""
    robot = tf.load("motion-rig")
    law = tf.control.ComputedTorque(robot)
    poses = np.array([quarter_turned(), quarter_turned(1e-6), quarter_turned(-0.5), [0, 0, 1.0, 0, np.pi / 2, 0]])
    still = move(0.005, quarter_turned(-0.5), quarter_turned(-0.49))
    options: dict[str, Any] = {"control_period": 1e-3, "initial": (poses, np.zeros(6)), "forces": np.ones((5, 6))}
    runs = tf.rollout(robot, law, still, **options)
    assert runs.finite.tolist() == [False, True, True, False]
    assert runs.reasons == {0: NO_FORCES, 3: NO_FORCES}
    with patch.object(rollouts, "compiled_loop", return_value="not wanted"):
        own = tf.rollout(robot, law, still, **options)
    assert np.array_equal(own.finite, runs.finite)
    # cond(H) = 1e7 there: rounding of the pose, 1e-16, is 1e-9 of the forces
    assert error(runs.position[1:3], own.position[1:3], core=2) < 1e-8
    assert error(runs.force[1:3], own.force[1:3], core=2) < 1e-8
    gains = tf.rollout(robot, law, still, gains={"kp": law.kp}, **options)
    assert gains.reasons == runs.reasons
    assert error(gains.force[1:3], runs.force[1:3], core=2) < 1e-8  # the methods have the gains of the row
    assert tf.differentiable_rollout(robot, law, still, **options)[0].reasons == {0: LEFT, 3: LEFT}
