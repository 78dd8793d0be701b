"""Checks of the arguments of a simulation before it starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_numbers
from tauforge.control.computed_torque import ComputedTorque
from tauforge.control.controller import Controller
from tauforge.errors import ModelError, ShapeError
from tauforge.evaluation.unmodified import remove_outdated_shortcuts
from tauforge.motion.motion import Motion, positive
from tauforge.robots.robot import Robot
from tauforge.robots.robot import check_robot as check_kind
from tauforge.simulation.integrators import FAR, ran_away
from tauforge.simulation.sensors import Sensing, Sensors
from tauforge.tables.robot_columns import state_columns
from tauforge.validation import counted, shown

Law = Controller | Callable[[float, Array, Array], ArrayLike] | None
State = tuple[ArrayLike, ArrayLike]
STEP_ROUNDING = 1e-9  # how far from a whole number of steps rounding may take a period or a duration, relative
MOST_STEPS = 10**9
NO_LIMIT = float(np.finfo(np.float32).max)  # of forces, in place of infinity
MOTION_SAMPLES = 201  # instants at which the angles of a motion are looked at
TWO_TURNS = 4 * math.pi  # rad, or rad/s: few motions go beyond, and many numbers of degrees do


def check_robot(name: str, robot: object) -> None:
    remove_outdated_shortcuts(check_kind(name, robot))


def difference(a: Robot, b: Robot) -> str | None:
    """Reason for which states and forces of one robot do not fit the other; None where they fit.

    They fit if coordinates and actuators have the same columns and units. What people call a joint does not matter: a
    model and the real robot may come from different files.
    """
    if a is b:
        return None
    mine, theirs = state_columns(a), state_columns(b)
    for what, one, other in (("coordinate", mine.position, theirs.position), ("actuator", mine.force, theirs.force)):
        if len(one) != len(other):
            return f"{a.name} has {counted(len(one), what)}, {b.name} has {counted(len(other), what)}"
        for k, (x, y) in enumerate(zip(one, other, strict=True), 1):
            if x != y:
                return f"{what} {k} of {a.name} is {x}, that of {b.name} is {y}"
    if bool(a.positions.pose) != bool(b.positions.pose):
        return f"positions of {a.name if a.positions.pose else b.name} are poses, those of the other are not"
    return None


def check_plant(robot: Robot, plant: Robot) -> None:
    """ModelError unless the plant has the coordinates of the robot, and friction that can be integrated."""
    check_robot("robot", robot)
    check_robot("plant", plant)
    differing = difference(plant, robot)
    if differing is not None:
        raise ModelError(f"{plant.name} cannot move in place of {robot.name}: {differing}", field="plant")
    if plant.dissipation is not None:
        plant.dissipation.check_integrable({})


def check_law(
    controller: Law, motion: Motion | None, initial: State | None, control_period: float | None, real: Robot
) -> None:
    """ModelError or ShapeError if controller, motion and robot do not fit together."""
    if motion is not None and not isinstance(motion, Motion):
        raise ModelError(f"expected a Motion, got {kind_of(motion)}", field="motion", remedy=order(motion))
    if isinstance(controller, Controller):
        _check_controller(controller, motion, initial, control_period, real)
    elif controller is not None and not callable(controller):
        raise ModelError(
            f"expected a Controller, a callable or None, got {kind_of(controller)}",
            field="controller",
            remedy=order(controller),
        )
    in_space = isinstance(controller, Controller) and controller.task_space
    if motion is None:
        return
    if motion.of_poses != (bool(real.positions.pose) or in_space):
        kind = "joint coordinates, not poses" if motion.of_poses else "poses with twists: wrap it in motion.PoseMotion"
        raise ModelError(f"{real.name} needs a motion of {kind}", field="motion")
    width, n = motion.sample(0.0).position.shape[-1], 6 if in_space else real.n
    if width != n:
        raise ShapeError("motion", expected=f"{n} coordinates, as {real.name} has", got=str(width))


def kind_of(given: object) -> str:
    """The object in words; our own objects by their class."""
    return f"a {type(given).__name__}" if isinstance(given, Controller | Motion | Robot) else shown(given)


def order(given: object) -> str | None:
    """Remedy if a law and a motion were exchanged."""
    return "The order is robot, controller, motion" if isinstance(given, Controller | Motion) else None


def _check_controller(
    controller: Controller, motion: Motion | None, initial: State | None, control_period: float | None, real: Robot
) -> None:
    own = getattr(controller, "robot", None)
    if own is not None:  # a law without a model fits any robot
        check_robot("controller", own)
        differing = difference(own, real)
        if differing is not None:
            problem = f"the controller is made for {own.name}, not for {real.name}: {differing}"
            raise ModelError(problem, field="controller")
    if motion is None:
        raise ModelError("a controller needs a motion to follow", field="motion")
    own_period, given = controller.period, control_period
    if own_period is not None and not (given and math.isclose(own_period, given, rel_tol=STEP_ROUNDING)):
        problem = f"expected {own_period} s, the period with which the controller learns, got {given!r}"
        raise ModelError(problem, field="control_period", remedy="Make both the same")
    if controller.memory and given is None:
        problem = f"{type(controller).__name__} remembers {', '.join(controller.memory)} from one period to the next"
        raise ModelError(problem, field="control_period", remedy="Give control_period=")
    if controller.task_space and initial is None:
        problem = "the initial state is missing, and a motion of the tool does not determine the joints"
        raise ModelError(problem, field="initial")
    if isinstance(controller, ComputedTorque) and motion.of_poses:
        tilt = motion.sample(np.linspace(0.0, motion.duration, MOTION_SAMPLES)).position[:, 4]
        if np.abs(tilt).max() >= np.pi / 2:
            most = tilt[np.abs(tilt).argmax()]
            problem = f"theta_y reaches {most:.3g} rad, and errors of angles are meaningless beyond a quarter turn"
            remedy = advice_on_degrees(real, motion) or "Use LegSpaceComputedTorque, or turn the base frame"
            raise ModelError(problem, field="motion", remedy=remedy)


def advice_on_degrees(robot: Robot, motion: Motion | None) -> str | None:
    """A remedy for a motion whose angles exceed two turns, or two turns a second; None for others."""
    if motion is None or motion.of_poses != bool(robot.positions.pose):
        return None
    position, velocity, _ = motion.sample(np.linspace(0.0, motion.duration, MOTION_SAMPLES))
    turns = np.array([coordinate.unit == "rad" for coordinate in robot.coordinates])
    reached, rates = (np.abs(x).max(axis=0) * turns for x in (position, velocity))
    worst = int(np.maximum(reached, rates).argmax())
    if max(reached[worst], rates[worst]) <= TWO_TURNS:
        return None
    return (
        f"{robot.coordinates[worst].name} of the motion goes to {reached[worst]:.3g} rad, at up to {rates[worst]:.3g} "
        "rad/s. If these are degrees, give radians: numpy.radians(...)"
    )


def given_or_start(initial: Any, motion: Motion | None) -> State:
    """The initial state, by default where the motion starts."""
    if initial is not None:
        if isinstance(initial, str) or not hasattr(initial, "__len__") or len(initial) != 2:
            raise ShapeError("initial", expected="(position, velocity)", got=f"{initial!r}")
        return initial[0], initial[1]
    if motion is None:
        remedy = "Give initial=(position, velocity) or motion="
        raise ModelError("the initial state is missing", field="initial", remedy=remedy)
    start, whole = motion.sample(0.0), motion.near(0.0)
    return start.position if whole is None else whole, start.velocity


def check_one_state(position: ArrayLike, velocity: ArrayLike, robot: Robot) -> None:
    """Position (N,) and velocity (n,). The position may be given by its coordinates (n,)."""
    given = (("position", position, position_sizes(robot)), ("velocity", velocity, (robot.n,)))
    for what, value, sizes in given:
        name, array = f"initial {what}", numbers(value)
        if array.shape not in [(size,) for size in sizes] or not np.isfinite(array).all():
            expected = " or ".join(map(str, sizes))
            raise ShapeError(name, expected=f"{expected} finite numbers", got=f"{value!r}")
        if ran_away(array):
            raise ShapeError(name, expected=f"numbers of magnitude at most {FAR:g}", got=f"{value!r}")


def position_sizes(robot: Robot) -> tuple[int, ...]:
    """Numbers of values that a position may have: its coordinates, or all of its entries."""
    return tuple(dict.fromkeys((robot.n, robot.positions.size)))


def numbers(value: ArrayLike) -> Array:
    """The value as an array of floats; NaN if it holds anything but real numbers."""
    try:
        return real_numbers(value, "biuf").astype(float)
    except ValueError:
        return np.array(np.nan)


def run_time(duration: float | None, motion: Motion | None) -> float:
    """s."""
    if duration is not None:
        return positive("duration", duration)
    if motion is None:
        raise ModelError("the duration is missing", field="duration", remedy="Give duration= or motion=")
    return motion.duration


def enough_steps(name: str, length: float, step: float) -> int:
    """The fewest whole steps that cover a length; what rounding adds to the length takes no further step."""
    steps = length / step
    if steps > MOST_STEPS:
        raise ShapeError(name, expected=f"at most {MOST_STEPS:,} steps", got=f"{steps:,.0f} of {step:g} s")
    return max(1, math.ceil(steps * (1 - STEP_ROUNDING)))


def whole_steps(name: str, length: float, step: float) -> int:
    count = enough_steps(name, length, step)
    if abs(length / step - count) > STEP_ROUNDING * count:
        raise ShapeError(name, expected=f"a whole number of steps of {step:g} s", got=f"{length:g} s")
    return count


def check_by_name(name: str, given: object) -> None:
    if not isinstance(given, Mapping | None):
        raise ShapeError(name, expected="arrays by name, such as {'mass': ...}", got=repr(given))


def whole_number(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ShapeError(name, expected="a whole number >= 1", got=repr(value))
    return int(value)


def whole_delay(name: str, delay: float, period: float | None, periods: int) -> int:
    """In control periods, no more than outlast a run of so many. period: s, None without one"""
    if not isinstance(delay, int | float | np.number) or isinstance(delay, bool) or not 0 <= delay < math.inf:
        raise ShapeError(name, expected="a number >= 0", got=repr(delay))
    if delay and period is None:
        raise ModelError("a delay needs a control period", field=name, remedy="Give control_period=")
    return min(whole_steps(name, float(delay), period), periods + 1) if delay and period is not None else 0


def sensing_of(sensors: Sensors | None, robot: Robot, period: float | None, periods: int) -> Sensing | None:
    """The sensors of a run of so many periods. period: s, None where the law is asked continuously"""
    if sensors is None:
        return None
    if not isinstance(sensors, Sensors):
        raise ModelError(f"expected Sensors, got {shown(sensors)}", field="sensors")
    if period is None and (sensors.noisy or sensors.velocity == "differenced"):
        why = "noise needs a sampling period; sampled at every instant, it would average out"
        problem = why if sensors.noisy else "differences of positions need a sampling period"
        raise ModelError(problem, field="sensors", remedy="Give control_period=")
    noise, differenced = (sensors.position_noise, sensors.velocity_noise), sensors.velocity == "differenced"
    delay = whole_delay("sensors.delay", sensors.delay, period, periods)
    own = None if type(sensors).read is Sensors.read else sensors.read
    return Sensing(robot.n, sensors.resolution, noise, int(sensors.seed), delay, period or 0.0, differenced, own)


def force_limits(robot: Robot, given: ArrayLike | str | None, *, of_rows: bool = False) -> Array | None:
    """(m,) largest sizes of the forces; "robot" for the robot's own. None without limits or actuators

    of_rows: may be (N, m)
    """
    m = len(robot.actuators)
    if given is None:
        return None
    if isinstance(given, str):
        if given != "robot":
            raise ShapeError("force_limits", expected=f"{m} numbers, 'robot' or None", got=repr(given))
        limits = robot.max_forces
    else:
        limits = numbers(given)
        fits = limits.shape in ((), (m,)) or (of_rows and limits.ndim == 2 and limits.shape[-1] == m)
        if not fits or not (limits >= 0).all():
            expected = f"one number >= 0, or {m}" + (f", or (N, {m})" if of_rows else "")
            raise ShapeError("force_limits", expected=expected, got=f"{given!r}")
    limits = np.minimum(limits, NO_LIMIT)  # kernels refuse rows with infinities
    return np.broadcast_to(limits, (*limits.shape[:-1], m)) if m else None
