"""Mechanisms with loops under control, in recordings, rollouts and linearisation."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import simpson

import tauforge as tf
from support.catalogue import in_turn, names_of
from support.mechanisms import bar, crank_rocker, delta, five_bar, six_rus
from support.tolerances import (
    CENTRAL_DIFFERENCES,
    CLOSED,
    ENERGY_BALANCE,
    FORMULATIONS,
    INTEGRATED,
    SAME_STEPS,
    error,
    error_beside,
)
from tauforge.robots.poses import pose_of

pytestmark = pytest.mark.usefixtures("kernels_on")  # the reference takes minutes for thousands of steps
QUICK = ("andrews", "flyball-governor")  # milliseconds are long: light bodies on stiff springs
START, END = (0.1, -0.2), (-0.2, 0.2)


def worst_gap(mechanism: tf.Mechanism, positions: Any) -> float:
    return float(mechanism.loop_gap(positions).max() / mechanism._analysis.size)


def five_bar_move() -> tf.motion.JointMove:
    return tf.motion.JointMove(START, END, duration=0.4)


@pytest.mark.parametrize(
    ("law", "bound"),
    [
        (lambda robot: tf.control.ComputedTorque(robot, 900.0, 60.0), 1e-3),
        (lambda robot: tf.control.PD(robot, 900.0, 30.0), 2e-2),
        (lambda robot: tf.control.GravityPD(robot, 900.0, 30.0), 2e-2),
        (lambda robot: tf.control.FeedforwardPD(robot, 900.0, 30.0), 1e-3),
    ],
)
def test_laws_follow_motions_of_the_independent_coordinates(law: Any, bound: float) -> None:
    robot = five_bar()
    run = tf.simulate(robot, law(robot), five_bar_move(), control_period=1e-3)
    assert run.position.shape == (401, 5)
    assert run.velocity.shape == run.acceleration.shape == run.target_position.shape == (401, 2)
    assert run.names == ("left", "e1", "right", "e2", "mid")
    assert run.coordinates == ("left", "right")
    assert np.array_equal(run.error, run.target_position - run.position[:, [0, 2]])
    assert np.abs(run.error).max() < bound
    assert worst_gap(robot, run.position) < CLOSED
    # what was recorded fits the equations
    forces = robot.inverse_dynamics(run.position, run.velocity, run.acceleration)
    assert error_beside(forces, run.force, run.force) < SAME_STEPS


@pytest.mark.parametrize("method", ["rk4", "dormand-prince"])
@pytest.mark.parametrize("name", in_turn(names_of("mechanism")))
def test_loops_stay_closed_at_every_recorded_step(name: str, method: str) -> None:
    robot: Any = tf.load(name)
    rates = 0.2 * np.random.default_rng(7).uniform(-1.0, 1.0, robot.n)
    step = 1e-4 if name in QUICK else 1e-3
    run = tf.simulate(robot, initial=(robot.home, rates), duration=0.1, step=step, method=method)
    assert len(run.time) == round(0.1 / step) + 1
    assert np.abs(run.position - robot.home).max() > 1e-4
    assert worst_gap(robot, run.position) < CLOSED


def test_the_delta_and_the_six_rus_follow_by_computed_torque() -> None:
    machine = delta()
    start = machine.positions.coordinates(machine.home)
    move: tf.motion.Motion = tf.motion.JointMove(start, start + [0.2, -0.1, 0.15], duration=0.2)
    run = tf.simulate(machine, tf.control.ComputedTorque(machine, 900.0, 60.0), move, control_period=1e-3)
    assert np.abs(run.error).max() < 2e-3
    assert worst_gap(machine, run.position) < CLOSED
    turn = machine.forward_kinematics(run.position, "platform")[:, :3, :3]
    assert np.abs(turn - np.eye(3)).max() < INTEGRATED  # the platform does not turn

    hexapod = six_rus("platform")
    pose = hexapod.positions.coordinates(hexapod.home)
    move = tf.motion.PoseMotion(tf.motion.JointMove(pose, pose + [0.03, -0.02, 0.03, 0.1, -0.1, 0.2], duration=0.2))
    run = tf.simulate(hexapod, tf.control.ComputedTorque(hexapod, 900.0, 60.0), move, control_period=1e-3)
    assert np.abs(run.error).max() < 2e-3
    assert worst_gap(hexapod, run.position) < CLOSED
    with pytest.raises(tf.ModelError, match="poses with twists"):
        tf.simulate(hexapod, tf.control.ComputedTorque(hexapod), tf.motion.JointMove(pose, pose + 0.01, duration=0.2))


def test_the_tool_of_a_delta_follows_a_line_in_space() -> None:
    m = delta().replace(tool="platform")
    start = pose_of(m.moved_body.frames(m.home))
    line = tf.motion.StraightLine(start, start + [0.03, 0.02, -0.03, 0, 0, 0], 0.5, 0.15, 1.0)
    law = tf.control.ResolvedRate(m)
    run = tf.simulate(m, law, line, initial=(m.home, np.zeros(3)), step=2e-3, control_period=2e-3)
    there = pose_of(m.moved_body.frames(run.position))
    assert np.abs(there - line.sample(run.time).position).max() < 2e-3  # m, rad: the velocity loop's lag
    assert np.abs(run.error[:, :3] - (line.sample(run.time).position - there)[:, :3]).max() < INTEGRATED


def test_a_thousand_deltas_with_other_masses_are_each_a_simulation() -> None:
    machine = delta()
    start = machine.positions.coordinates(machine.home)
    law = tf.control.ComputedTorque(machine, 900.0, 60.0)
    move = tf.motion.JointMove(start, start + [0.2, -0.1, 0.15], duration=0.05)
    masses = machine.own_values(["mass"])["mass"] * np.linspace(0.9, 1.1, 1000)[:, None]
    options: dict[str, Any] = {"control_period": 2e-3, "step": 1e-3}
    runs = tf.rollout(machine, law, move, varying={"mass": masses}, **options)
    assert runs.finite.all()
    assert runs.position.shape == (1000, 26, len(machine.home))
    assert worst_gap(machine, runs.position) < CLOSED
    for row in (0, 999):
        one = tf.simulate(machine, law, move, plant=machine.replace(mass=masses[row]), **options)
        assert error(runs.position[row], one.position[::2], core=2) < SAME_STEPS
        assert error(runs.velocity[row], one.velocity[::2], core=2) < 10 * SAME_STEPS
    assert np.array_equal(runs.error, runs.target_position - runs.position[..., runs.places])


def test_a_payload_in_a_rollout_is_that_of_the_mechanism_that_carries_it() -> None:
    robot = five_bar()
    payload = tf.Payload(mass=0.4, com=(0.01, 0.02, 0.0), inertia=np.diag([1e-3, 1e-3, 2e-3]))
    law = tf.control.PD(robot, 900.0, 30.0)
    runs = tf.rollout(robot, law, five_bar_move(), payload=payload, control_period=1e-3, duration=0.05)
    one = tf.simulate(robot, law, five_bar_move(), plant=robot.carrying(payload), control_period=1e-3, duration=0.05)
    assert error(runs.position[0], one.position, core=2) < SAME_STEPS


def test_the_start_is_coordinates_or_a_position_and_nothing_else() -> None:
    robot = five_bar()
    whole = robot.configuration(START)
    by_coordinates = tf.simulate(robot, initial=(START, [0.0, 0.0]), duration=0.01)
    by_position = tf.simulate(robot, initial=(whole, [0.0, 0.0]), duration=0.01)
    assert np.array_equal(by_coordinates.position, by_position.position)
    with pytest.raises(tf.ShapeError, match="initial position: expected 2 or 5 finite numbers"):
        tf.simulate(robot, initial=([0.1, 0.2, 0.3], [0.0, 0.0]), duration=0.01)
    with pytest.raises(tf.ShapeError, match="positions may have 5"):
        tf.rollout(robot, initial=([0.1, 0.2, 0.3], [0.0, 0.0]), duration=0.01, control_period=0.01)


def test_a_recording_is_kept_in_files(tmp_path: Path) -> None:
    robot = five_bar()
    run = tf.simulate(robot, tf.control.PD(robot, 900.0, 30.0), five_bar_move(), duration=0.05)
    run.save(tmp_path / "run.npz")
    assert tf.Recording.load(tmp_path / "run.npz") == run
    run.save(tmp_path / "run.csv")
    table = tf.Recording.load(tmp_path / "run.csv")
    assert table.names == ("q1", "x2", "q2", "x4", "x5")
    assert (table.coordinates, table.force_names) == (("q1", "q2"), ("tau1", "tau2"))
    named = {name: getattr(run, name) for name in ("names", "force_names", "coordinates", "robot")}
    assert dataclasses.replace(table, **named) == run
    table.save(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "run.csv").read_bytes()
    assert np.array_equal(table.error, run.error)
    tf.animate(robot, table, tmp_path / "run.html")
    (positions, _) = run.summary().parts[:2]
    assert [row[0] for row in positions.rows] == list(run.names)  # type: ignore[union-attr]
    run.plot(("position", "error", "velocity"))


def test_columns_of_a_recording_may_stand_in_any_order(tmp_path: Path) -> None:
    """Further entries have their place in their name; coordinates take those that are left, in the file's order."""
    robot = five_bar().replace(independent=("right", "left"))
    run = tf.simulate(robot, initial=(robot.home, [0.1, 0.2]), duration=0.01, step=1e-3)
    run.save(tmp_path / "run.csv")
    rows = [line.split(",") for line in (tmp_path / "run.csv").read_text().splitlines()]
    assert [name.split()[0] for name in rows[0][1:6]] == ["q2", "x2", "q1", "x4", "x5"]
    order = [0, 4, 6, 5, 1, 9, 3, 2, 7, 8, *range(10, len(rows[0]))]
    (tmp_path / "other.csv").write_text("".join(",".join(row[k] for k in order) + "\n" for row in rows))
    one, other = (tf.Recording.load(tmp_path / name) for name in ("run.csv", "other.csv"))
    assert one.names == ("q2", "x2", "q1", "x4", "x5")
    assert other == one
    assert np.array_equal(one.position, run.position)
    assert np.isnan(one.target_position).all()
    assert one.target_position.shape == (len(one.time), 2)


@pytest.mark.parametrize("name", ["bricard", "hexapod-6rus", "gripper", "slider-crank"])
def test_recordings_of_any_mechanism_are_read_whole(name: str, tmp_path: Path) -> None:
    """Without actuators, with balls, with joints that follow others, with sliders."""
    robot = tf.load(name)
    run = tf.simulate(robot, initial=(robot.positions.default, np.zeros(robot.n)), duration=1e-4, step=1e-5)
    run.save(tmp_path / "run.csv")
    table = tf.Recording.load(tmp_path / "run.csv")
    for array in ("position", "velocity", "acceleration", "force"):
        assert np.array_equal(getattr(table, array), getattr(run, array)), array
    tf.animate(robot, table, tmp_path / "run.html")


def test_a_run_in_another_assembly_is_read_as_it_was(tmp_path: Path) -> None:
    robot = tf.load("four-bar")
    q = robot.positions.coordinates(robot.home)
    start = robot.configuration(q, near=robot.home + [0.0, -1.7, 2.3, -2.3])
    assert np.abs(np.sin((start - robot.home) / 2)).max() > 0.5  # not the way it is assembled at home
    law, move = tf.control.ComputedTorque(robot, 400.0, 40.0), tf.motion.JointMove(q, q + 0.3, duration=0.2)
    run = tf.simulate(robot, law, move, initial=(start, [0.0]))
    run.save(tmp_path / "run.csv")
    motion = tf.motion.CsvMotion(tmp_path / "run.csv", robot)
    assert motion.unused == ()
    assert np.abs(motion.positions - run.position).max() < CLOSED
    forces = robot.inverse_dynamics(motion.positions, *motion.samples[1:])
    assert error(forces, run.force) < FORMULATIONS
    far = np.abs(robot.inverse_dynamics(robot.configuration(motion.samples.position), *motion.samples[1:]) - run.force)
    assert far.max() > 0.1 * np.abs(run.force).max()
    again = tf.simulate(robot, law, motion, duration=0.01)
    assert np.abs(again.position[0] - run.position[0]).max() < CLOSED
    rolled = tf.rollout(robot, law, motion, control_period=1e-3)
    assert np.abs(rolled.position[0, 0] - run.position[0]).max() < CLOSED
    between = motion.near([0.0001, 0.0009, -1.0, 9.0])
    assert between is not None
    assert np.array_equal(between, motion.near([0.0, 0.001, 0.0, 0.2]))  # rows that are nearest in time
    assert move.near(0.0) is None


def test_a_rocker_as_coordinate_is_carried_over_its_dead_centres() -> None:
    """The crank turns fully; run by the rocker, which rests at both ends of its swing, it is the same motion."""
    by_crank, by_rocker = crank_rocker(), crank_rocker(("rocker",))
    speed = by_crank._evaluator("coordinate_rates", {"x": by_crank.home, "qd": np.array([8.0])})[0]
    options: dict[str, Any] = {"duration": 1.0, "step": 1e-2, "method": "dormand-prince"}
    one = tf.simulate(by_crank, initial=(by_crank.home, [8.0]), **options)
    other = tf.simulate(by_rocker, initial=(by_rocker.home, [speed[2]]), **options)
    assert np.abs(one.position - other.position).max() < INTEGRATED * np.abs(one.position).max()
    assert np.abs(other.position[:, 0]).max() > 2 * np.pi
    assert worst_gap(by_rocker, other.position) < CLOSED
    assert not one.events
    changes = [event for event in other.events if event.what == "coordinates changed"]
    assert len(changes) >= 4
    assert {event.which for event in changes} >= {"rocker"}
    kinetic = by_crank.energy(one.position, one.velocity)[0]
    total = np.add(*by_rocker.energy(other.position, other.velocity))
    assert np.ptp(total) < INTEGRATED * kinetic.max()


def test_actuators_may_lose_control_on_the_way() -> None:
    """The five-bar falls through positions where its cranks do not determine the motion."""
    robot = five_bar()
    run = tf.simulate(robot, initial=(START, [0.0, 0.0]), duration=0.5, step=1e-3, method="dormand-prince")
    assert any(event.what == "coordinates changed" for event in run.events)
    assert np.ptp(np.add(*robot.energy(run.position, run.velocity))) < INTEGRATED
    assert worst_gap(robot, run.position) < CLOSED


def test_friction_springs_and_drives_balance_the_energy() -> None:
    """Work of the actuators less what friction and dampers take is the gain of energy, rotors and springs included."""
    plain = five_bar()
    joints = [
        tf.Hinge("left", "ground", "c1", at=(0, 0, 0), actuated=True, viscous=0.02, gear_ratio=5.0, motor_inertia=1e-3),
        tf.Hinge("e1", "c1", "r1", at=(-0.1, 0.28, 0), viscous=0.1, coulomb=0.05),
        *plain.joints[2:4],
        tf.Hinge("mid", "r1", "r2", at=(0.12, 0.55, 0), viscous=0.05),
    ]
    spring = tf.Spring("ground", (0.1, 0.0, 0.0), "r2", (0.3, 0.35, 0.0), stiffness=300.0, length=0.2, damping=2.0)
    robot = five_bar(joints=joints, springs=[spring], coulomb_speed=0.5)
    assert robot.dissipation.takes_energy
    push = np.array([1.0, -0.5])
    run = tf.simulate(
        robot,
        lambda t, x, qd: push,
        initial=(START, [0.0, 0.0]),
        duration=0.15,
        step=1e-4,
        control_period=0.15,
    )
    rates = robot._evaluator("coordinate_rates", {"x": run.position, "qd": run.velocity})[0]
    left, elbow, _, _, middle = rates.T
    lost = 0.02 * 25.0 * left**2 + 0.1 * elbow**2 + 0.05 * middle**2 + 0.05 * elbow * np.tanh(elbow / 0.5)
    end = robot.forward_kinematics(run.position, "r2")
    at = end[:, :3, :3] @ (np.array([0.3, 0.35, 0.0]) - robot.bodies[3].origin) + end[:, :3, 3]
    arm = at - [0.1, 0.0, 0.0]
    J = robot.jacobian(run.position, "r2", point=(0.3, 0.35, 0.0))[:, :3]
    stretching = np.einsum("ki,kij,kj->k", arm, J, run.velocity) / np.linalg.norm(arm, axis=1)
    lost = lost + 2.0 * stretching**2
    power = run.velocity @ push - lost
    energy = np.add(*robot.energy(run.position, run.velocity))
    gained = simpson(power, x=run.time)
    assert abs(energy[-1] - energy[0] - gained) < ENERGY_BALANCE * np.abs(power).max()


def test_linearisation_is_the_slope_of_the_motion() -> None:
    """A and B against differences of the motion of coordinates, loops closed; of a pose too."""
    for robot in (five_bar(), six_rus("platform")):
        x, qd, _ = (values[0] for values in robot.random_states(1, seed=3))
        assert_slopes(robot, x, qd)


def assert_slopes(robot: tf.Mechanism, x: Any, qd: Any) -> None:
    force = robot.holding_forces(x)
    found = tf.linearise(robot, x, qd, force)
    q, h = robot.positions.coordinates(x), 1e-5

    def motion(q: Any, qd: Any, force: Any) -> Any:
        there = robot.configuration(q, near=x)
        return np.concatenate([robot.positions.rates(there, qd)[0], robot.forward_dynamics(there, qd, force)])

    given = [q, qd, force]
    slopes = []
    for k in range(3):
        for i in range(len(given[k])):
            step = h * np.eye(len(given[k]))[i]
            ahead, behind = ([*given[:k], given[k] + s * step, *given[k + 1 :]] for s in (1.0, -1.0))
            slopes.append((motion(*ahead) - motion(*behind)) / (2 * h))
    whole = np.column_stack(slopes)
    assert np.abs(np.hstack([found.A, found.B]) - whole).max() < CENTRAL_DIFFERENCES * np.abs(whole).max()


def test_limits_of_dependent_joints_are_watched() -> None:
    plain = five_bar()
    joints = [
        *plain.joints[:3],
        tf.Hinge("e2", "c2", "r2", at=(0.35, 0.28, 0), limits=(-0.3, 0.3), max_speed=2.0),
        plain.joints[4],
    ]
    robot = five_bar(joints=joints)
    run = tf.simulate(robot, tf.control.ComputedTorque(robot, 900.0, 60.0), five_bar_move(), control_period=1e-3)
    events = {event.which for event in run.events if event.what == "limit"}
    assert events == {"limit of e2", "speed of e2"}
    assert (robot.bounds.margins(run.position) < 0).any()
    assert [limit.quantity for limit in robot.bounds.limits] == ["e2", "e2"]
    assert robot.bounds.margins(robot.home).tolist() == [0.3, 0.3]


def test_sensors_measure_coordinates_and_the_law_sees_closed_loops() -> None:
    robot, seen = five_bar(), []

    def law(t: float, position: Any, velocity: Any) -> Any:
        seen.append(position)
        return np.zeros(2)

    tf.simulate(
        robot,
        law,
        initial=(START, [0.0, 0.0]),
        duration=0.01,
        control_period=1e-3,
        sensors=tf.Sensors(bits=12),
    )
    step = 2 * np.pi / 2**12
    measured = robot.positions.coordinates(np.array(seen)) / step
    assert np.abs(measured - np.round(measured)).max() < INTEGRATED
    assert worst_gap(robot, np.array(seen)) < CLOSED


PARTS_OF_POSES = [
    ("platform.z", "platform.theta_x", "platform.theta_y"),
    ("platform.theta_x", "leg 1", "platform.theta_y"),
]


@pytest.mark.parametrize("independent", PARTS_OF_POSES)
def test_angles_that_are_partly_independent(independent: tuple[str, ...]) -> None:
    """A 3-RPS by two of its platform's angles: their rates are angular velocities, those of targets are not."""
    by_legs = tf.load("3-rps")
    assert isinstance(by_legs, tf.Mechanism)
    robot = by_legs.replace(independent=independent)
    start = robot.positions.coordinates(robot.home)
    tilt = np.array([0.25 if c.turns else 0.02 for c in robot.coordinates])
    x, force = robot.configuration(start + tilt), by_legs.holding_forces(by_legs.home)
    velocity = np.array([0.3, -0.2, 0.4])
    rates = robot._evaluator("coordinate_rates", {"x": x, "qd": velocity})[0]
    legs = rates[by_legs.independent_places]
    options: dict[str, Any] = {"duration": 0.1, "step": 1e-3, "control_period": 0.1, "method": "dormand-prince"}
    one, other = (
        tf.simulate(m, lambda t, x, qd: force, initial=(x, v), **options)
        for m, v in ((robot, velocity), (by_legs, legs))
    )
    assert error_beside(one.position, other.position, other.position) < INTEGRATED
    # the coordinates' own rates, against differences of fourth order
    first, second = robot.positions.rates(one.position, one.velocity, one.acceleration)
    h = one.time[1]
    for values, slopes in ((robot.positions.coordinates(one.position), first), (first, second)):
        differences = (values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * h)
        assert error_beside(slopes[2:-2], differences, slopes) < 1e-9
    assert np.abs(first - one.velocity).max() > 1e-2  # angular velocities are not the rates of angles
    undone = robot.positions.from_rates(one.position, first, second)
    assert error_beside(undone[0], one.velocity, one.velocity) < FORMULATIONS
    assert error_beside(undone[1], one.acceleration, one.acceleration) < FORMULATIONS


@pytest.mark.parametrize("independent", PARTS_OF_POSES)
def test_laws_follow_partly_independent_angles(independent: tuple[str, ...]) -> None:
    """Computed torque knows the equations: what is left is that its forces are held, and shrinks with the period."""
    robot = tf.load("3-rps").replace(independent=independent)
    start = robot.positions.coordinates(robot.home)
    tilt = np.array([0.25 if c.turns else 0.02 for c in robot.coordinates])
    move = tf.motion.JointMove(start, start + tilt, duration=0.3)
    law = tf.control.ComputedTorque(robot, 900.0, 60.0)
    worst = []
    for period in (2e-3, 1e-3):
        run = tf.simulate(robot, law, move, control_period=period, step=1e-3)
        worst.append(np.abs(run.error).max())
        assert worst_gap(robot, run.position) < CLOSED
    assert worst[1] < 1e-2 * tilt.max()
    assert 1.8 < worst[0] / worst[1] < 2.2
    runs = tf.rollout(robot, law, move, control_period=1e-3, step=1e-3)
    assert error(runs.position[0], run.position, core=2) < SAME_STEPS


def test_linearisation_by_partly_independent_angles() -> None:
    robot = tf.load("3-rps").replace(independent=PARTS_OF_POSES[0])
    x = robot.configuration(robot.positions.coordinates(robot.home) + [0.02, 0.25, -0.2])
    assert_slopes(robot, x, np.array([0.3, -0.2, 0.4]))


@pytest.mark.parametrize("seed", [3, 6, 7, 8])
def test_a_stiff_spring_under_long_steps_runs_away_and_is_not_called_singular(seed: int) -> None:
    """Stages of a step go far before its end does."""
    governor = tf.load("flyball-governor")
    start = np.random.default_rng(seed).normal(size=4)
    with pytest.raises(tf.DivergenceError, match=r"the motion ran away after t = 0\.00") as caught:
        tf.simulate(governor, initial=(governor.home, start), duration=0.5, step=1e-3)
    assert caught.value.recording.events[-1].what == "stopped"


def test_a_mechanism_at_rest_in_balance_has_no_drift() -> None:
    """Rounding changes its energy by more than its kinetic energy, which is that of rounding, too."""
    A, B, C, D = (0.0, 0.0, 0.0), (0.0, 0.0, 0.2), (0.4, 0.0, 0.35), (0.4, 0.0, 0.0)
    upright = tf.Mechanism(
        bodies=[bar("crank", A, B, 1.0), bar("coupler", B, C, 1.0), bar("follower", D, C, 1.0)],
        joints=[
            tf.Hinge("motor", "ground", "crank", at=A, axis=(0, -1, 0), actuated=True),
            tf.Hinge("pin 1", "crank", "coupler", at=B, axis=(0, -1, 0)),
            tf.Hinge("pin 2", "coupler", "follower", at=C, axis=(0, -1, 0)),
            tf.Hinge("foot", "ground", "follower", at=D, axis=(0, -1, 0)),
        ],
    )
    run = tf.simulate(upright, initial=([0.0], [0.0]), duration=0.01)  # a warning would be an error
    assert np.abs(run.velocity).max() < SAME_STEPS
