"""`tf.rollout`: thousands of simulations at once, so that a Monte Carlo study is one call.

Of an arm under a law that is arithmetic on its dynamics (computed torque and the proportional ones) the controller, the
dynamics and the integrator's step are traced together into one kernel (`compiled_steps`). Every other law, and every
platform, is asked for all rows at once between steps of the same Runge-Kutta. A robot with dynamics of its own is asked
row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller, Robot, coordinate_count
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.field_docs import with_field_docs
from tauforge.kernels.cpu.code_memory import NoKernelError
from tauforge.motion.motion import Motion, MotionSample, positive
from tauforge.robots.evaluate import kernels_allowed
from tauforge.robots.own_classes import has_own_methods, is_as_written
from tauforge.robots.payload import Payload
from tauforge.robots.serial import varying
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.stewart import varying as platform_varying
from tauforge.simulation.checks import (
    check_friction,
    check_law,
    check_plant,
    numbers,
    pair_of,
    whole_number,
    whole_steps,
)
from tauforge.simulation.compiled_steps import CompiledSteps, can_compile
from tauforge.simulation.integrators import LOST, rk4
from tauforge.simulation.state import FAR, StateSpace, ran_away, state_space
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
    force:           (N, k, n) N m or N, of the actuators on the robot
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
    payload:        what the tool of an arm really holds, one or a batch of N; the controller does not know of it
    record_every:   keeps one control instant in so many; the last is always kept
    progress:       True for a bar on the terminal, or a callable given the share done, from 0 to 1

    Our own laws run compiled with our own arms. Controllers and robots of other classes are asked by their own methods.
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
    start = motion.sample(0.0)
    q, qd = _batch((start.position, start.velocity) if initial is None else initial, fields, real)
    controller.reset()
    steps = _steps(controller, real, fields, h, len(q))
    kept = [*range(0, periods, every), periods]
    position, velocity, force = (np.empty((len(q), len(kept), q.shape[1])) for _ in range(3))
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
    ends = {name: np.concatenate([value] * 2) for name, value in _rows_of(fields, real, len(q)).items()}
    warn_of_stiffness(real, np.concatenate([position[:, 0], position[:, -1]]), h, fields=ends)
    times = control_period * np.array(kept)
    targets = motion.sample(times).position
    if controller.task_space:  # of the tool, not of the joints
        targets = np.full((len(kept), q.shape[1]), np.nan)
    return Rollout(times, position, velocity, force, targets)


def _without_lost(position: Array, velocity: Array, force: Array) -> None:
    """Rows (N, k, n) are no numbers from the instant on at which they have run away."""
    if all(x.min() >= -FAR and x.max() <= FAR for x in (position, velocity)):
        return  # most often, and this is quicker
    lost = np.logical_or.accumulate(ran_away(position) | ran_away(velocity), axis=1)
    for x in (position, velocity, force):
        x[lost] = np.nan


def _steps(controller: Controller, plant: Robot, fields: Fields, h: float, rows: int) -> Steps:
    """The quickest that give the right answer."""
    if isinstance(plant, SerialArm) and can_compile(controller, plant) and kernels_allowed():
        with suppress(NoKernelError):
            return CompiledSteps(controller, plant, fields, h)
    return BatchSteps(controller, state_space(plant), accelerations(plant, fields, rows), h)


class BatchSteps:
    """The law and the dynamics one after the other, each for all rows at once."""

    def __init__(self, controller: Controller, space: StateSpace, acceleration: Acceleration, h: float) -> None:
        self.controller, self.space, self.acceleration, self.h = controller, space, acceleration, h

    def controlled(self, t: float, q: Array, qd: Array, target: MotionSample) -> tuple[Array, Array, Array]:
        force = np.broadcast_to(self.controller.force(t, q, qd, target), q.shape)
        return *self.held(t, q, qd, force), force

    def held(self, t: float, q: Array, qd: Array, force: Array) -> tuple[Array, Array]:
        space = self.space

        def rates(_: float, y: Array) -> Array:
            return space.rates(y, self.acceleration(space.position(y), space.velocity(y), force))

        y = space.renewed(rk4(rates, t, space.pack(q, qd), self.h))
        return space.position(y), space.velocity(y)


def accelerations(plant: Robot, fields: Fields, rows: int) -> Acceleration:
    """Forward dynamics of all rows. A row without an answer is no number and does not stop the others."""
    if not is_as_written(plant):
        return _row_by_row(plant, fields, rows)
    try:
        kernel = plant.kernel("forward_dynamics", varying=tuple(fields))
    except UnsupportedFeatureError:  # switched off, too large, no memory for code
        return _row_by_row(plant, fields, rows) if fields else plant.forward_dynamics
    values = tuple(fields.values())
    return lambda q, qd, force: np.asarray(kernel(q, qd, force, *values))


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
        whole = _rows_of(fields, plant, rows)
        plants = [plant.replace(**{name: value[k] for name, value in whole.items()}) for k in range(rows)]

    def acceleration(q: Array, qd: Array, force: Array) -> Array:
        result = np.full(q.shape, np.nan)
        for k, robot in enumerate(plants):
            if np.isfinite([q[k], qd[k], force[k]]).all():
                with suppress(*LOST):
                    result[k] = robot.forward_dynamics(q[k], qd[k], force[k])
        return result

    return acceleration


def _rows_of(fields: Fields, robot: Robot, rows: int) -> Fields:
    """A share for every row, (rows, ...)."""
    cores = core_shapes(robot, fields)
    return {name: np.broadcast_to(value, (rows, *cores[name])) for name, value in fields.items()}


def core_shapes(robot: Robot, fields: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Of one robot's share of each varying field."""
    if isinstance(robot, SerialArm):
        return {name: varying.core_shape(name, robot.n) for name in fields}
    return {name: platform_varying.SHAPES[name] for name in fields}


def _fields(real: Robot, given: Mapping[str, ArrayLike] | None, payload: Payload | None) -> Fields:
    """The varying numbers as arrays; payloads become masses, centres and inertias of the last link."""
    fields = {name: numbers(value) for name, value in (given or {}).items()}
    if isinstance(real, SerialArm):
        varying.check(real, tuple(fields))
    else:
        platform_varying.check(real, tuple(fields))
    shapes = core_shapes(real, fields)
    for name, value in fields.items():
        if value.shape[value.ndim - len(shapes[name]) :] != shapes[name]:
            raise ShapeError(name, expected=f"(N, {', '.join(map(str, shapes[name]))})", got=str(value.shape))
        varying.check_numbers(name, value)
    check_friction(real, "coulomb" in fields)
    if payload is None:
        return fields
    if not isinstance(real, SerialArm):
        raise UnsupportedFeatureError(
            "payloads are held by arms", field="payload", remedy="Vary platform_mass, platform_com, platform_inertia"
        )
    return fields | varying.carrying(real, payload, fields)


def _batch(given: tuple[ArrayLike, ArrayLike], fields: Fields, robot: Robot) -> tuple[Array, Array]:
    """Initial states (N, n)."""
    n = coordinate_count(robot)
    states = [numbers(x) for x in pair_of(given)]
    cores = core_shapes(robot, fields)
    leading = [x.shape[:-1] for x in states] + [x.shape[: x.ndim - len(cores[name])] for name, x in fields.items()]
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
