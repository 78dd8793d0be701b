"""`tf.simulate`: a robot under control, step by step."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from tauforge.control.controller import Controller
from tauforge.errors import (
    DivergenceError,
    EnergyDriftWarning,
    ShapeError,
    SingularityError,
    SingularityWarning,
    UnsupportedFeatureError,
)
from tauforge.motion.motion import Motion
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.simulation import checks
from tauforge.simulation.closed_loop import ClosedLoop, RecordingBuilder
from tauforge.simulation.compiled_loop import CompiledLoop, compiled_loop
from tauforge.simulation.disturbances import WrenchFunction
from tauforge.simulation.events import SINGULAR_POSE, STOPPED, Event, energy_drift, singular_crossing
from tauforge.simulation.integrators import INTEGRATORS, RAN_AWAY, Stop
from tauforge.simulation.recording import Recording
from tauforge.simulation.rollout_task import rollout_task
from tauforge.simulation.sensors import Sensors
from tauforge.simulation.stability import warn_of_stiffness
from tauforge.simulation.task import PayloadFunction

FREE_STEPS_AT_ONCE = 512  # steps of a free motion at a time
DRIFT = 1e-6  # of the energy of a free motion: above, a warning


def simulate(
    robot: Robot,
    controller: checks.Law = None,
    motion: Motion | None = None,
    *,
    initial: checks.State | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    method: str = "rk4",
    control_period: float | None = None,
    plant: Robot | None = None,
    disturbance: WrenchFunction | None = None,
    sensors: Sensors | None = None,
    force_limits: ArrayLike | str | None = None,
    delay: float = 0.0,
    payload: Payload | PayloadFunction | None = None,
    forces: ArrayLike | None = None,
    record_every: int | None = None,
) -> Recording:
    """The motion of a robot under a controller, from `initial` or from where the motion starts.

    controller:     a Controller, a callable (t, position, velocity) -> forces, or None for no forces
    motion:         what the controller is to follow. Where velocities of the robot are angular velocities, rates of
                    angles are turned into them
    initial:        (position, velocity), joint coordinates or pose and twist; of a mechanism with loops the independent
                    coordinates, or all entries of a position
    duration:       s; default the motion's, or that of `forces`. The run ends with the first control period, or step
                    without one, that ends then or later. A motion that is over rests at its end
    step:           s, between two rows of the recording, and of the fixed-step methods
    method:         "rk4", "dormand-prince" (SciPy's DOP853; rows of a free motion by its dense output) or "symplectic"
                    (the free motion of an arm, or of another robot with a coriolis_matrix)
    control_period: s, a whole number of steps: the controller is asked that often and its forces are held in between.
                    None asks it whenever the integrator does, as if it were continuous; `rollout` requires a period
    plant:          the robot that really moves, where it differs from `robot`
    disturbance:    (6,) wrench on the tool (world axes) or on the platform (base axes): a function of t, which is asked
                    in advance, or of (t, position, velocity)
    sensors:        what the controller sees
    force_limits:   (m,) largest sizes of the actuator forces, 0 for an actuator that gives none, or "robot" for the
                    robot's own; None for no limit
    delay:          s, a whole number of control periods, after which the forces that the controller asks for act; no
                    forces act before. `forces` are not delayed
    payload:        what the plant really holds; the controller does not know of it. A function of t says what it holds
                    in each control period, or step without one, that begins at t; it is asked in advance. What is
                    taken up moves as the plant does at that moment
    forces:         (periods, m) N m or N: in every control period added to those of the controller
    record_every:   keeps one control instant in so many, which bounds the memory of long runs; the last is always kept.
                    Without a control period every step is such an instant. None keeps every step

    Coulomb friction must be smoothed: replace(coulomb_speed=v), with v = 0.01, say. A joint that friction F holds
    against a load then creeps at v atanh(load / F), below v for loads below 0.76 F. Where the steps of rk4 are too long
    for that, a StiffFrictionWarning says which speed can be promised, and which step or coulomb_speed would do. An
    UnstableLoopWarning tells of gains that are too large for the control period.

    Limits of the coordinates never alter the motion; leaving one is an event of the recording. A platform under control
    that crosses a singular pose ends there, with an event and a SingularityWarning. A mechanism passes positions where
    its independent coordinates do not determine the motion: others take their place on the way, which is an event. It
    passes positions where it has another freedom for an instant, too. Its loops are closed again after every step. A
    step that cannot be made, and a motion that runs away, beyond 1e9 rad or m or their rates, raise DivergenceError,
    which holds the recording so far; its last event says why. Energy that drifts by more than 1e-6 in a motion without
    forces and friction gives an EnergyDriftWarning.
    """
    given = dict(locals())
    if given.pop("method") not in INTEGRATORS:
        raise ShapeError("method", expected=f"one of {', '.join(INTEGRATORS)}", got=repr(method))
    free = controller is None and forces is None and disturbance is None and not callable(payload)
    if method == "symplectic" and not free:
        problem = "the symplectic method takes no controller, no disturbance and no payload that varies"
        raise UnsupportedFeatureError(problem, field="method", remedy="Use rk4 or dormand-prince")
    task = rollout_task(**given | {"record_every": 1 if record_every is None else record_every}, alone=True)
    real, schedule, space, h = task.plant, task.schedule, task.plant.state_space, task.schedule.step
    hold, steps = 0 if control_period is None else schedule.substeps, schedule.substeps * schedule.periods
    loop = ClosedLoop(controller, task)
    compiled = steps_of(loop, method, continuous=not hold)
    builder = RecordingBuilder(loop, 1 if record_every is None else schedule.substeps * schedule.every, steps, compiled)
    advance = INTEGRATORS[method](real).advance
    # a law is asked in the order of time and a push is looked for in every step; a free motion needs neither
    length = hold or (FREE_STEPS_AT_ONCE if free else 1)
    y, k, stop = space.pack(task.position[0], task.velocity[0]), 0, None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"), keeping(builder):
        while True:
            force, rates = None, None
            if isinstance(compiled, CompiledLoop):
                rows, rates, force = compiled.advance(y, k // schedule.substeps)
            if force is None:
                if isinstance(compiled, CompiledLoop):
                    loop.recall(compiled.memory_now)
                rows, rates, (force, stop) = y[None], None, loop.asked(h * k, y)
                if isinstance(compiled, CompiledLoop):
                    compiled.recall(loop.memory)
                if k < steps and stop is None:
                    times = h * np.arange(k, min(k + length, steps) + 1)
                    rows, stop = advance(loop.rates(force if hold else None, k // schedule.substeps), times, y)
                    if isinstance(compiled, CompiledLoop):
                        compiled.by_methods += len(rows) - 1
            times = h * np.arange(k, k + len(rows))
            crossing = singular_crossing(real, times, space.position(rows)) if len(rows) > 1 else None
            if crossing is not None:
                builder.watch.add(crossing[1])
                if controller is not None:
                    rows, stop = rows[: crossing[0] + 1], Stop(SINGULAR_POSE)
            ended = k == steps or (rates is not None and len(rates) == len(rows))
            if ended or stop is not None:
                builder.write(times, rows, force, rates)
                break
            builder.write(times, rows[:-1], force, rates)
            y, k = rows[-1], k + len(rows) - 1
    recording = builder.recording()
    if stop is not None:
        return _ended(stop, recording, checks.advice_on_degrees(real, task.motion))
    # the symplectic method's energy swings about the true one by design
    free = free and method != "symplectic" and (real.dissipation is None or not real.dissipation.takes_energy)
    if free and (drift := energy_drift(real, recording.position, recording.velocity)) > DRIFT:
        drifting = f"the energy of {real.name} drifts by {drift:.1e} of its kinetic energy"
        remedy = "Take a shorter step, or method='dormand-prince'"
        warnings.warn(EnergyDriftWarning(drifting, remedy=remedy), stacklevel=2)
    if method == "rk4":
        warn_of_stiffness(real, recording.position, h, law=None if hold else controller)
    return recording


def steps_of(loop: ClosedLoop, method: str, *, continuous: bool) -> CompiledLoop | str:
    """The time loop by kernels, or the reason why methods make the steps."""
    reasons = {
        f"the method {method} calls Python": method != "rk4",
        "the controller is a callable": not isinstance(loop.controller, Controller | None),
    }
    if any(reasons.values()):
        return next(reason for reason, holds in reasons.items() if holds)
    return compiled_loop(loop.task, continuous=continuous, watched=True)


@contextmanager
def keeping(builder: RecordingBuilder) -> Iterator[None]:
    """Adds the recording so far to whatever a law of the user raises."""
    try:
        yield
    except Exception as error:
        if builder.begun and not hasattr(error, "recording"):
            error.recording = builder.recording()  # type: ignore[attr-defined]
            error.add_note("The simulation up to here is in this exception's `recording`.")
        raise


def _ended(stop: Stop, recording: Recording, advice: str | None) -> Recording:
    """The recording so far if the run ended at a singular pose; otherwise raises an error that holds it.

    advice: about the motion, or None
    """
    time = float(recording.time[-1])
    if stop.reason == SINGULAR_POSE or (isinstance(stop.error, SingularityError) and len(recording.time) > 1):
        if stop.error is not None:
            recording = recording.with_event(Event(time, SINGULAR_POSE, str(stop.error)))
        ends = f"the run ends at a singular pose, t = {recording.events[-1].time:.6g} s"
        warnings.warn(ends, SingularityWarning, stacklevel=3)
        return recording
    if isinstance(stop.error, SingularityError):  # the very start
        raise stop.error
    recording = recording.with_event(Event(time, STOPPED, stop.reason))
    state = {"position": recording.position[-1], "velocity": recording.velocity[-1]}
    remedy = advice or ("Try a shorter step, or method='dormand-prince'" if stop.reason == RAN_AWAY else None)
    raise DivergenceError(stop.reason, time=time, **state, recording=recording, remedy=remedy) from stop.error
