"""`tf.simulate`: a robot under control, step by step."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.control.controller import Controller, Robot, coordinate_count
from tauforge.errors import (
    DivergenceError,
    EnergyDriftWarning,
    ModelError,
    ShapeError,
    SingularityError,
    SingularityWarning,
)
from tauforge.motion.motion import Motion, positive
from tauforge.robots.serial_arm import SerialArm
from tauforge.simulation.book import Book
from tauforge.simulation.closed_loop import ClosedLoop, Disturbance, Law
from tauforge.simulation.events import SINGULAR, Event, conservative, energy_drift, singular_crossing
from tauforge.simulation.integrators import METHODS, Stop, integrator
from tauforge.simulation.recording import Recording
from tauforge.simulation.sensors import Sensors
from tauforge.simulation.state import state_space

Array = NDArray[Any]
WHOLE = 1e-9  # how far from a whole number of steps a period or a duration may be
BLOCK, ASKED_BLOCK = 512, 16  # steps at a time without a controller, and where it is asked in between and remembers
DRIFT = 1e-6  # of the energy of a free motion: above, a warning


def simulate(
    robot: Robot,
    controller: Law = None,
    motion: Motion | None = None,
    *,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    method: str = "rk4",
    control_period: float | None = None,
    plant: Robot | None = None,
    disturbance: Disturbance = None,
    sensors: Sensors | None = None,
    force_limits: ArrayLike | str | None = None,
    record_every: int = 1,
) -> Recording:
    """The motion of a robot under a controller, from `initial` or from where the motion starts.

    controller:     a Controller, a callable (t, position, velocity) -> forces, or None for no forces
    motion:         what the controller is to follow; the duration is the motion's unless given
    initial:        (position, velocity), joint coordinates or pose and twist
    step:           s, between two rows of the recording, and of the fixed-step methods
    method:         "rk4", "dormand-prince" (SciPy's DOP853, rows by its dense output) or "symplectic" (arms, whose
                    forces are those of the start of a step)
    control_period: s, a whole number of steps: the controller is asked that often and its forces are held in between;
                    None asks it whenever the integrator does
    plant:          the robot that really moves, where it differs from `robot`
    disturbance:    t -> (6,) wrench on the tool (world axes) or on the platform (base axes)
    sensors:        what the controller sees
    force_limits:   (n,) largest sizes of the actuator forces, or "robot" for the robot's own; None for no limit
    record_every:   keeps one row in so many steps, which bounds the memory of long runs

    Coulomb friction must be smoothed: replace(coulomb_speed=0.01), say; a joint at rest then creeps by less than that
    speed. Limits of the coordinates never alter the motion; leaving one is an event of the recording. A platform under
    control that crosses a singular pose ends there, with an event and a SingularityWarning. A motion that runs away
    raises DivergenceError, which holds the recording so far. Energy that drifts by more than 1e-6 in a motion without
    forces and friction gives an EnergyDriftWarning.
    """
    real = robot if plant is None else plant
    check_friction(real)
    n = coordinate_count(real)
    if coordinate_count(robot) != n or isinstance(robot, SerialArm) != isinstance(real, SerialArm):
        raise ModelError(f"{real.name} is no robot of the kind of {robot.name}", field="plant")
    space = state_space(real)
    check_law(controller, motion, initial, control_period, real)
    position, velocity = _initial(initial, motion, n)
    span = _duration(duration, motion)
    h = positive("step", step)
    steps = whole_steps("duration", span, h)
    hold = 0 if control_period is None else whole_steps("control_period", positive("control_period", control_period), h)
    if isinstance(record_every, bool) or not isinstance(record_every, int) or record_every < 1:
        raise ShapeError("record_every", expected="a whole number >= 1", got=repr(record_every))
    if method not in METHODS:
        raise ShapeError("method", expected=f"one of {', '.join(METHODS)}", got=repr(method))
    limits = _force_limits(real, force_limits, n)
    loop = ClosedLoop(space, controller, motion, sensors, disturbance, limits)
    advance = integrator(method, space).advance
    book = Book(loop, real, record_every, steps)
    length = hold or (BLOCK if controller is None else ASKED_BLOCK)
    y, k, stop, held = space.pack(position, velocity), 0, None, None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        while k < steps and stop is None:
            times = h * np.arange(k, min(k + length, steps) + 1)
            held = loop.force(times[0], y) if hold else None
            forces = loop.force if held is None else (lambda t, y, held=held: held)
            rows, stop = advance(loop.rates(forces), forces, times, y)
            crossing = singular_crossing(real, times[: len(rows)], space.position(rows))
            if crossing is not None:
                if controller is not None:
                    rows, stop = rows[: crossing[0] + 1], Stop(SINGULAR)
                book.watch.events.append(crossing[1])
            book.write(times, rows[:-1], held)
            y, k = rows[-1], k + len(rows) - 1
        asked = stop is None and hold and k % hold == 0
        book.write(np.array([h * k]), y[None], None if not hold or asked else held)
    recording = book.recording(motion)
    if stop is not None:
        return _ended(stop, recording)
    # the symplectic method's energy swings about the true one by design
    free = controller is None and disturbance is None and method != "symplectic" and conservative(real)
    if free and (drift := energy_drift(real, recording.position, recording.velocity)) > DRIFT:
        warnings.warn(
            f"the energy of {real.name} drifts by {drift:.1e} of its kinetic energy: take a shorter step, or "
            "method='dormand-prince'",
            EnergyDriftWarning,
            stacklevel=2,
        )
    return recording


def _ended(stop: Stop, recording: Recording) -> Recording:
    """At a singular pose the recording so far; else an error that holds it."""
    time = float(recording.time[-1])
    if stop.reason == SINGULAR or (isinstance(stop.error, SingularityError) and len(recording.time) > 1):
        if stop.error is not None:
            recording = recording.with_event(Event(time, SINGULAR, str(stop.error)))
        warnings.warn(
            f"the run ends at a singular pose, t = {recording.events[-1].time:.6g} s", SingularityWarning, stacklevel=3
        )
        return recording
    if isinstance(stop.error, SingularityError):  # the very start
        raise stop.error
    raise DivergenceError(
        stop.reason,
        time=time,
        position=recording.position[-1],
        velocity=recording.velocity[-1],
        recording=recording,
    ) from stop.error


def check_law(
    controller: Law,
    motion: Motion | None,
    initial: tuple[ArrayLike, ArrayLike] | None,
    control_period: float | None,
    real: Robot,
) -> None:
    in_space = isinstance(controller, Controller) and controller.task_space
    if isinstance(controller, Controller) and controller.period not in (None, control_period):
        raise ModelError(
            f"the controller learns every {controller.period} s and is asked every {control_period} s",
            field="control_period",
            remedy="Make both the same",
        )
    if motion is not None and motion.of_poses == (isinstance(real, SerialArm) and not in_space):
        kind = "joint coordinates, not poses" if motion.of_poses else "poses with twists: wrap it in motion.PoseMotion"
        raise ModelError(f"{real.name} needs a motion of {kind}", field="motion")
    if in_space and initial is None:
        raise ModelError("a motion of the tool does not say where the joints start", field="initial")


def check_friction(robot: Robot) -> None:
    if isinstance(robot, SerialArm) and not robot.coulomb_speed and any(any(j.coulomb) for j in robot.joints):
        raise ModelError(
            f"{robot.name} has Coulomb friction, which jumps at rest: no integrator gets past it",
            field="coulomb_speed",
            remedy="Smooth it to tanh(qd / v), for example by replace(coulomb_speed=0.01)",
        )


def _initial(initial: tuple[ArrayLike, ArrayLike] | None, motion: Motion | None, n: int) -> tuple[Array, Array]:
    if initial is None:
        if motion is None:
            raise ModelError(
                "where does it start?", field="initial", remedy="Give initial=(position, velocity) or motion="
            )
        start = motion.sample(0.0)
        given: tuple[ArrayLike, ArrayLike] = (start.position, start.velocity)
    else:
        given = initial
    values = []
    for name, value in zip(("initial position", "initial velocity"), given, strict=True):
        array = np.array(value, float)
        if array.shape != (n,) or not np.isfinite(array).all():
            raise ShapeError(name, expected=f"{n} finite numbers", got=f"{value!r}")
        values.append(array)
    return values[0], values[1]


def _duration(duration: float | None, motion: Motion | None) -> float:
    if duration is not None:
        return positive("duration", duration)
    if motion is None:
        raise ModelError("how long?", field="duration", remedy="Give duration= or motion=")
    return motion.duration


def whole_steps(name: str, length: float, step: float) -> int:
    count = round(length / step)
    if count < 1 or abs(length / step - count) > WHOLE * count:
        raise ShapeError(name, expected=f"a whole number of steps of {step:g} s", got=f"{length:g} s")
    return count


def _force_limits(robot: Robot, given: ArrayLike | str | None, n: int) -> Array | None:
    if given is None:
        return None
    if isinstance(given, str):
        if given != "robot":
            raise ShapeError("force_limits", expected=f"{n} numbers, 'robot' or None", got=repr(given))
        own = [j.max_force for j in robot.joints] if isinstance(robot, SerialArm) else robot.force_limit or [None] * n
        return np.array([np.inf if x is None else x for x in own])
    limits = np.broadcast_to(np.asarray(given, float), (n,))
    if not (limits > 0).all():
        raise ShapeError("force_limits", expected="numbers > 0", got=f"{given!r}")
    return limits
