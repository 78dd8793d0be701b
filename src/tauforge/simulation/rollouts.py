"""`tf.rollout`: thousands of simulations at once, so that a Monte Carlo study is one call.

A law that is arithmetic on the robot's dynamics (computed torque and the proportional ones), the dynamics and the
integrator's step are traced together into one kernel (`compiled_steps`) where the state is position and velocity.
Otherwise the law, and then the kernel of the dynamics, are called for all rows at once between steps of the same
Runge-Kutta. A robot with a method accelerations or forward_dynamics of its own is called row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.field_docs import with_field_docs
from tauforge.kernels.backends import NoKernelError
from tauforge.motion.motion import Motion, MotionSample, positive
from tauforge.robots.evaluate import kernels_allowed
from tauforge.robots.own_classes import has_own_methods
from tauforge.robots.payload import Payload
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import StateSpace
from tauforge.robots.varying import check_values, in_rows, leading_shapes
from tauforge.simulation.checks import check_law, check_plant, numbers, pair_of, whole_number, whole_steps
from tauforge.simulation.compiled_steps import ACCELERATING, CompiledSteps, can_compile, kernel_stands_for
from tauforge.simulation.gpu_rollouts import Schedule, gpu_rollout, is_on_gpu
from tauforge.simulation.integrators import FAR, LOST, ran_away, rk4
from tauforge.simulation.stiffness import warn_of_stiffness

Fields = Mapping[str, Array]
Report = Callable[[float], None]
Acceleration = Callable[[Array, Array, Array], Array]  # of positions, velocities and forces


@with_field_docs
class Rollout(NamedTuple):
    """N runs at the k recorded control instants. A row that ran away, beyond 1e9 rad, m or a rate, is NaN from then on.

    time:            (k,) s
    position:        (N, k, n) rad or m; of a platform poses
    velocity:        (N, k, n) rad/s or m/s; of a platform twists
    force:           (N, k, m) N m or N, of the actuators on the robot
    target_position: (k, n) of the motion to follow
    """

    time: Array
    position: Array
    velocity: Array
    force: Array
    target_position: Array

    @property
    def error(self) -> Array:
        """target_position - position, (N, k, n)."""
        return np.asarray(self.target_position - self.position)

    @property
    def finite(self) -> Array:
        """(N,) which rows did not run away."""
        return np.asarray(np.isfinite(self.position).all(axis=(1, 2)) & np.isfinite(self.velocity).all(axis=(1, 2)))


class Steps(Protocol):
    """Position and velocity (N, n) after one step, and the forces: new ones from the law, or those held."""

    def controlled(self, t: float, q: Array, qd: Array, target: MotionSample) -> tuple[Array, Array, Array]: ...

    def held(self, t: float, q: Array, qd: Array, force: Array) -> tuple[Array, Array]: ...


def rollout(
    robot: Robot,
    controller: Controller,
    motion: Motion,
    *,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    control_period: float,
    plant: Robot | None = None,
    varying: Mapping[str, ArrayLike] | None = None,
    payload: Payload | None = None,
    record_every: int = 1,
    progress: bool | Report = False,
) -> Rollout:
    """One simulation for each row of the initial states, of the varying numbers and of the payloads.

    initial:        (positions, velocities), each (N, n) or (n,); default the motion's start
    step:           s, of the integrator
    control_period: s, a whole number of steps, required: the controller is asked that often and its forces are held in
                    between. `simulate` asks it continuously unless given a control period
    plant:          the robot that really moves, default `robot`
    varying:        fields of the plant, an array with a leading N each, as in its `kernel`: {"mass": (N, n)}
    payload:        what the plant really holds, one or a batch of N; the controller does not know of it
    record_every:   keeps one control instant in so many; the last is always kept
    progress:       True for a bar on the terminal, or a callable given the share done, from 0 to 1

    Our own laws run compiled with robots whose state is position and velocity. Controllers of other classes, and robots
    with a method accelerations or forward_dynamics of their own, are asked by their own methods.
    Where `initial` are CuPy's arrays, all rows run on their GPU in their precision, and the rows of the result are
    CuPy's arrays: for our own laws only.
    StiffFrictionWarning as in `simulate`.
    Identity: every row equals `simulate` with method="rk4" and the same control period.
    """
    real = robot if plant is None else plant
    if not isinstance(controller, Controller):
        raise UnsupportedFeatureError(f"rollouts need a Controller, got {controller!r}", field="controller")
    check_plant(robot, real)
    check_law(controller, motion, initial, control_period, real)
    h = positive("step", step)
    substeps = whole_steps("control_period", positive("control_period", control_period), h)
    span = motion.duration if duration is None else positive("duration", duration)
    periods = whole_steps("duration", span, control_period)
    every = whole_number("record_every", record_every)
    fields = _fields(real, varying, payload)
    if is_on_gpu(initial):
        controller.reset()
        schedule = Schedule(h, control_period, substeps, periods, every)
        return Rollout(*gpu_rollout(controller, real, fields, initial, motion, schedule))
    start = motion.sample(0.0)
    q, qd = _batch((start.position, start.velocity) if initial is None else initial, fields, real)
    controller.reset()
    steps = _steps(controller, real, fields, h, len(q))
    kept = [*range(0, periods, every), periods]
    widths = (real.n, real.n, len(real.actuators))
    position, velocity, force = (np.empty((len(q), len(kept), width)) for width in widths)
    place = 0
    with _reporting(progress) as report, np.errstate(all="ignore"):
        for k in range(periods + 1):
            t = control_period * k
            new, rate, forces = steps.controlled(t, q, qd, motion.sample(t))
            if kept[place] == k:
                position[:, place], velocity[:, place], force[:, place] = q, qd, forces
                place += 1
            if k == periods:
                break
            q, qd = new, rate
            for i in range(1, substeps):
                q, qd = steps.held(t + i * h, q, qd, forces)
            report((k + 1) / periods)
        _without_lost(position, velocity, force)
    ends = {name: np.concatenate([value] * 2) for name, value in in_rows(real, fields, len(q)).items()}
    warn_of_stiffness(real, np.concatenate([position[:, 0], position[:, -1]]), h, fields=ends)
    times = control_period * np.array(kept)
    targets = motion.sample(times).position
    if controller.task_space:  # of the tool, not of the joints
        targets = np.full((len(kept), q.shape[1]), np.nan)
    return Rollout(times, position, velocity, force, targets)


def _without_lost(position: Array, velocity: Array, force: Array) -> None:
    """Sets rows (N, k, n) to NaN from the instant at which they have run away."""
    if all(x.min() >= -FAR and x.max() <= FAR for x in (position, velocity)):
        return  # most often, and this is quicker
    lost = np.logical_or.accumulate(ran_away(position) | ran_away(velocity), axis=1)
    for x in (position, velocity, force):
        x[lost] = np.nan


def _steps(controller: Controller, plant: Robot, fields: Fields, h: float, rows: int) -> Steps:
    """The quickest that give the right answer."""
    if kernels_allowed() and can_compile(controller, plant):
        with suppress(NoKernelError):
            return CompiledSteps(controller, plant, fields, h)
    return BatchSteps(controller, plant, accelerations(plant, fields, rows), h)


class BatchSteps:
    """The law and the dynamics one after the other, each for all rows at once."""

    def __init__(self, controller: Controller, plant: Robot, acceleration: Acceleration, h: float) -> None:
        self.controller, self.acceleration, self.h = controller, acceleration, h
        self.space: StateSpace = plant.state_space
        self.actuators = len(plant.actuators)

    def controlled(self, t: float, q: Array, qd: Array, target: MotionSample) -> tuple[Array, Array, Array]:
        force = np.broadcast_to(self.controller.force(t, q, qd, target), (len(q), self.actuators))
        return *self.held(t, q, qd, force), force

    def held(self, t: float, q: Array, qd: Array, force: Array) -> tuple[Array, Array]:
        space = self.space

        def rates(_: float, y: Array) -> Array:
            return space.rates(y, self.acceleration(space.position(y), space.velocity(y), force))

        y = space.renewed(rk4(rates, t, space.pack(q, qd), self.h))
        return space.position(y), space.velocity(y)


def accelerations(plant: Robot, fields: Fields, rows: int) -> Acceleration:
    """Forward dynamics of all rows. A row without an answer is NaN and does not stop the others."""
    if not kernel_stands_for(plant, *ACCELERATING):
        return _row_by_row(plant, fields, rows)
    try:
        kernel = plant.kernel("forward_dynamics", varying=tuple(fields))
    except UnsupportedFeatureError:  # switched off, too large, no memory for code
        return _row_by_row(plant, fields, rows) if fields else _all_at_once(plant, rows)
    values = tuple(fields.values())
    return lambda q, qd, force: np.asarray(kernel(q, qd, force, *values))


def _all_at_once(plant: Robot, rows: int) -> Acceleration:
    """By the plant's method for batches; row by row where a row without an answer stops the others."""
    one_by_one = _row_by_row(plant, {}, rows)

    def acceleration(q: Array, qd: Array, force: Array) -> Array:
        try:
            return plant.accelerations(q, qd, force)
        except LOST:
            return one_by_one(q, qd, force)

    return acceleration


def _row_by_row(plant: Robot, fields: Fields, rows: int) -> Acceleration:
    """By the plant's own method, which need not know of batches; of a changed copy for each row where fields vary."""
    plants = [plant] * rows
    if fields:
        if has_own_methods(plant):
            raise UnsupportedFeatureError(
                f"{plant.name} has methods set on the instance, which its varied copies would lose",
                field="varying",
                remedy="Define the methods in a subclass, or simulate each row",
            )
        whole = in_rows(plant, fields, rows)
        plants = [plant.replace(**{name: value[k] for name, value in whole.items()}) for k in range(rows)]

    def acceleration(q: Array, qd: Array, force: Array) -> Array:
        result = np.full(q.shape, np.nan)
        for k, robot in enumerate(plants):
            if all(np.isfinite(x[k]).all() for x in (q, qd, force)):
                with suppress(*LOST):
                    result[k] = robot.accelerations(q[k], qd[k], force[k])
        return result

    return acceleration


def _fields(real: Robot, given: Mapping[str, ArrayLike] | None, payload: Payload | None) -> Fields:
    """The varying fields as arrays, and those that payloads change."""
    fields = check_values(real, given or {})
    real.check_integrable(fields)
    return fields if payload is None else fields | real.varied_by_payload(payload, fields)


def _batch(given: tuple[ArrayLike, ArrayLike], fields: Fields, robot: Robot) -> tuple[Array, Array]:
    """Initial states (N, n)."""
    n, states = robot.n, [numbers(x) for x in pair_of(given)]
    leading = [x.shape[:-1] for x in states] + leading_shapes(robot, fields)
    if any(x.shape[-1:] != (n,) for x in states):
        raise ShapeError("initial", expected=f"(N, {n}) or ({n},)", got=str([x.shape for x in states]))
    try:
        batch = np.broadcast_shapes(*leading, (1,))
    except ValueError:
        raise ShapeError("varying", expected="arrays with the same leading N", got=str(leading)) from None
    if len(batch) != 1:
        raise ShapeError("varying", expected="one leading dimension N", got=str(batch))
    if not batch[0]:
        raise ShapeError("initial", expected="at least one row", got=str(batch))
    q, qd = (np.array(np.broadcast_to(x, (*batch, n))) for x in states)
    return q, qd


def _reporting(progress: bool | Report) -> AbstractContextManager[Report]:
    if callable(progress):
        return nullcontext(progress)
    return _Bar() if progress else nullcontext(lambda _: None)


class _Bar(AbstractContextManager[Report]):
    """A bar of rich on the terminal."""

    def __enter__(self) -> Report:
        from rich.console import Console
        from rich.progress import Progress

        self._shown = Progress(console=Console(stderr=True))
        task = self._shown.add_task("rollout", total=1.0)
        self._shown.start()
        return lambda share: self._shown.update(task, completed=share)

    def __exit__(self, *_: object) -> None:
        self._shown.stop()
