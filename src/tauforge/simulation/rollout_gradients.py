"""`tf.differentiable_rollout`: gradients through thousands of simulations, by sweeping back over their steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import with_arguments_of, with_field_docs
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.evaluator import kernels_allowed
from tauforge.kernels.backends import NoKernelError, backend_of
from tauforge.kernels.cuda import arrays
from tauforge.kernels.specification import Shape
from tauforge.robots.loads import PAYLOAD
from tauforge.robots.summary import summarised
from tauforge.simulation import rollouts
from tauforge.simulation.checks import numbers
from tauforge.simulation.compiled_loop import CompiledLoop
from tauforge.simulation.gpu_rollouts import GpuReversePass
from tauforge.simulation.integrators import rk4, rk4_pulled_back
from tauforge.simulation.rollout_result import Rollout
from tauforge.simulation.rollout_task import rollout_task
from tauforge.simulation.stability import warn_of_stiffness
from tauforge.simulation.task import RolloutTask, RowGradients


@summarised
@with_field_docs
class RolloutGradient(NamedTuple):
    """The gradient of a number by everything that a rollout was given, each of the shape it was given in.

    position: (N, n) or (n,), by the initial positions
    velocity: likewise
    gains:    by the arrays of `gains`
    varying:  by the arrays of `varying`
    payload:  (N, 10) or (10,), by `Payload.numbers()`; None without a payload
    forces:   (N, periods, m) or (periods, m); None without forces
    """

    position: Array
    velocity: Array
    gains: dict[str, Array]
    varying: dict[str, Array]
    payload: Array | None
    forces: Array | None


PullBack = Callable[..., RolloutGradient]
DIFFERENCES = "Take differences between results of tf.rollout"
LEFT = "the motion ran away, or came near a singular position, beyond which it has no gradients"
Kernel = Callable[..., tuple[Array, ...]]
Memory = list[Array]  # of the law, (N, numbers) each
Period = tuple[list[Array], Memory]  # states (N, numbers) before its steps, followed by the forces that are held
STORED = 2**27  # numbers of states that are kept for the reverse pass, 1 GiB; beyond, some are computed again


@with_arguments_of(rollout_task, "alone")
def differentiable_rollout(*given: Any, **options: Any) -> tuple[Rollout, PullBack]:
    """A rollout, and the function that pulls gradients back through it.

    The arguments are those of `rollout`. The law must be one that can be traced, or None, and the robot one whose steps
    are compiled. The second result is called with the gradients of some number, such as a cost,
    by the rollout's arrays: pull_back(position=..., velocity=..., force=...), each of the shape of that array, 0 if
    left out. It returns a RolloutGradient by the initial states and by every array among varying, payload, gains and
    forces that was given.

    What rows share, such as gains (n, n), gets the sum over the rows. Rows that ran away have NaN gradients, and no
    part in such sums. A force at its limit has no gradient by what the law wants. States are kept at intervals and
    computed again in between where they would take too much memory.
    With initial states on a GPU everything stays there.
    Identity: the gradients equal differences of rollouts, and those of the same steps in JAX.
    """
    task = rollout_task(*given, **options)
    plant, controller, initial = task.plant, task.controller, options.get("initial")
    why = task.why_not_compiled or (None if task.on_gpu or kernels_allowed() else "kernels are switched off")
    if why is None and (task.sensing is not None or task.disturbance is not None):
        why = "there are no gradients through sensors and disturbances"
    if why is not None:
        raise UnsupportedFeatureError(f"gradients need compiled steps: {why}", field="rollout", remedy=DIFFERENCES)
    if task.may_refuse and task.on_gpu:
        problem = f"gradients through rollouts of {plant.name} run on the processor only"
        remedy = "Give the initial states as NumPy arrays"
        raise UnsupportedFeatureError(problem, field="rollout", remedy=remedy)
    through = {
        "force_limits": "force limits" if task.limits is not None else "",
        "delay": "delays" if task.delay else "",
        "controller": "the memory of a law" if task.memory else "",
    }
    for field, what in through.items():
        if task.on_gpu and what:
            problem = f"gradients through {what} are computed on the processor only"
            raise UnsupportedFeatureError(problem, field=field, remedy="Give the initial states as NumPy arrays")
    if initial is not None and (entries := np.shape(initial[0])[-1]) != plant.n:
        problem = f"gradients are by the {plant.n} coordinates of {plant.name}, and the initial positions have"
        remedy = "Give the coordinates alone"
        raise UnsupportedFeatureError(f"{problem} {entries} entries", field="initial", remedy=remedy)
    if controller is not None:
        controller.reset()
    way_back = GpuReversePass(task) if task.on_gpu else ProcessorReversePass(task)
    runs = rollouts.rollout_of(task, *way_back.records)
    finite, shape = runs.finite, runs.position.shape[:2]  # asked now: the user may change the arrays
    if not task.on_gpu:
        runs = rollouts.with_reasons(runs, dict.fromkeys(range(task.rows), LEFT) if task.may_refuse else {})
        positions, fields = rollouts.at_the_ends(task, runs.position)
        warn_of_stiffness(plant, positions, task.schedule.step, fields=fields)
    shapes: list[Shape] = [(plant.n,)] * 2 if initial is None else [tuple(np.shape(x)) for x in initial]

    def pull_back(
        position: ArrayLike | None = None, velocity: ArrayLike | None = None, force: ArrayLike | None = None
    ) -> RolloutGradient:
        widths = (plant.positions.size, plant.n, len(plant.actuators))
        given = zip(("position", "velocity", "force"), (position, velocity, force), widths, strict=True)
        with task.device:
            bars = way_back.swept([_bar(task, name, x, (*shape, width)) for name, x, width in given])
            return _gradient(task, bars, shapes, finite)

    return runs, pull_back


def _bar(task: RolloutTask, name: str, given: Any, shape: Shape) -> Any | None:
    """The gradient by an array of the rollout, of its shape and type."""
    if given is None:
        return None
    array = arrays.on_device(name, given) if task.on_gpu else numbers(given)
    if array.shape != shape:
        raise ShapeError(name, expected=f"{shape}, as of the rollout", got=str(array.shape))
    if array.dtype.kind not in "biuf":
        raise ShapeError(name, expected="real numbers", got=f"{array.dtype} values")
    return array.astype(task.position.dtype, copy=False)


def _gradient(task: RolloutTask, bars: RowGradients, initial: list[Shape], finite: Any) -> RolloutGradient:
    """Each of the shape that was given: what rows share gets the sum over the rows that did not run away."""

    def of_shape(rows: Any, shape: Shape) -> Any:
        if math.prod(shape) == math.prod(rows.shape):
            return rows.reshape(shape)
        return rows[finite].sum(axis=0).reshape(shape)

    plant = {name: of_shape(bars.plant[name], x.shape) for name, x in task.plant_numbers.items()}
    held = plant.pop(PAYLOAD.name, None)
    return RolloutGradient(
        of_shape(bars.position, initial[0]),
        of_shape(bars.velocity, initial[1]),
        {name: of_shape(bars.gains[name], x.shape) for name, x in task.gains.items()},
        plant,
        held,
        None if task.forces is None else of_shape(bars.forces, task.forces.shape),
    )


def add_to(totals: Sequence[Array], shares: Sequence[Array]) -> None:
    """Add the shares to the totals in place."""
    for total, share in zip(totals, shares, strict=True):
        total += share


class ProcessorReversePass:
    """The steps, and the reverse pass through them, by kernels of the processor for all rows at once.

    Rows that these kernels leave to the plant's own methods are NaN.

    records: positions, velocities and forces (N, k, ...) at the instants to record; nothing else reads these arrays
    """

    def __init__(self, task: RolloutTask) -> None:
        self.task = task
        self.gains, self.numbers = tuple(task.gains.values()), tuple(task.plant_numbers.values())
        try:
            compile_ = partial(backend_of("cpu").compile, dtype="float64")
            formulas = task.formulas(alone=True)
            self.loop, self._one = CompiledLoop(task, formulas, None), Lock()
            self._rates: Kernel = compile_(formulas.stage())
            self._rates_back: Kernel = compile_(formulas.rates_pulled_back())
            self._renewal_back: Kernel = compile_(formulas.renewal_pulled_back())
            self._record_back: Kernel = compile_(formulas.unpacked_pulled_back())
            self._start_back: Kernel = compile_(formulas.packed_pulled_back())
            self._law_back: Kernel | None = None
            self._bent = formulas.bent
            if formulas.targets or self._bent:
                wanted = formulas.state | formulas.memory | formulas.gains | self._bent
                self._law_back = compile_(formulas.law_pulled_back(wanted))
        except NoKernelError as error:
            problem = f"gradients need compiled kernels: {error}"
            raise UnsupportedFeatureError(problem, field="rollout", remedy=DIFFERENCES) from None
        self.h, self.parted = formulas.h, self.loop.parted
        self.steering, self.moving = tuple(formulas.gains.values()), tuple(formulas.fields.values())
        periods = task.schedule.periods
        self.spacing = spacing(task, STORED)
        kept = sorted({*range(0, periods, self.spacing), *task.schedule.kept})
        self.places = {k: place for place, k in enumerate(kept)}
        rollouts.without_start(task, self.loop.reasons)
        self.memories = self.loop.memory_room(len(kept))
        with np.errstate(all="ignore"):
            self.checkpoints = self.loop.records(kept, lambda _: None, self.memories)
            rollouts.without_lost(*self.checkpoints)
        recorded = [self.places[k] for k in task.schedule.kept]
        self.records = tuple(x[:, recorded] for x in self.checkpoints)  # copies: the user may change them

    def swept(self, bars: Sequence[Any | None]) -> RowGradients:
        """From the gradients by the three records, of the same shapes; None for 0. Several threads may call it.

        Gradients by forces and by numbers of the plant accumulate.
        """
        task, schedule = self.task, self.task.schedule
        rows, m = task.rows, len(task.plant.actuators)
        by_position, by_velocity, by_force = (
            np.zeros_like(record) if bar is None else bar for bar, record in zip(bars, self.records, strict=True)
        )
        recorded_at = {k: place for place, k in enumerate(schedule.kept)}
        bar = np.zeros((1, 1))
        steered, moved = ([np.zeros((rows, *core)) for core in cores] for cores in (self.steering, self.moving))
        by_added = None if task.forces is None else np.zeros((rows, schedule.periods, m))
        later: list[Period] = []
        memory_bars = [np.zeros((rows, known.shape[2])) for known in self.memories]
        with np.errstate(all="ignore"):
            for k in range(schedule.periods, -1, -1):
                force_bar = np.zeros((rows, m))
                if k == schedule.periods:
                    (y, _), memory = self._checkpoint(k)
                else:
                    later = later or self._periods(k)
                    (*states, force), memory = later.pop()
                    y = states[0]
                    for before in reversed(states):
                        bar = self.step(before, force[:, :m], bar, [force_bar, *moved])
                place = recorded_at.get(k)
                if place is not None:
                    force_bar = force_bar + by_force[:, place, :m]
                if self._law_back is not None:
                    found = list(self._law_back(*self._asked(k, y, memory), force_bar, *memory_bars))
                    bar = bar + np.concatenate([found.pop(0) for _ in self.loop.widths], axis=1)
                    memory_bars = [found.pop(0) for _ in memory_bars]
                    add_to(steered, [found.pop(0) for _ in steered])
                    force_bar = found.pop() if found else force_bar
                if by_added is not None and k < schedule.periods:
                    by_added[:, k] = force_bar
                if place is not None:
                    back = self._record_back(*self.parted(y), by_position[:, place], by_velocity[:, place])
                    bar = bar + np.concatenate(back, axis=1)
            by_entries, first_velocity = self._start_back(task.position, task.velocity, *self.parted(bar))
            first = np.einsum("ki,kij->kj", by_entries, task.plant.positions.slopes(task.position)), first_velocity
        gains, plant = (dict(zip(task.gains, steered, strict=True)), dict(zip(task.plant_numbers, moved, strict=True)))
        return RowGradients(*first, gains, plant, by_added)

    def step(self, y: Array, force: Array, bar: Array, totals: Sequence[Array]) -> Array:
        """The gradient by y before a step from that by the state after it, under forces that are held."""
        forces = [force] if force.shape[-1] else []
        still = [np.zeros(part.shape[-1]) for part in self.parted(y)]
        shared = totals if forces else totals[1:]

        def rates(y: Array) -> Array:
            return np.concatenate(self._rates(*self.parted(y), *still, 0.0, *forces, *self.numbers), axis=1)

        def pull_back(y: Array, slope: Array, rate_bar: Array) -> Array:
            parts = self.parted(y)
            bars = (*self.parted(slope), *self.parted(rate_bar))
            found = self._rates_back(*parts, *forces, *self.numbers, *bars)
            add_to(shared, found[len(parts) :])
            return np.concatenate(found[: len(parts)], axis=1)

        reached = rk4(lambda _, y: rates(y), 0.0, y, self.h)
        bar = np.concatenate(self._renewal_back(*self.parted(reached), *self.parted(bar)), axis=1)
        return rk4_pulled_back(rates, pull_back, y, self.h, bar)

    def _asked(self, k: int, y: Array, memory: Memory) -> list[Array]:
        """The arguments of the law's formula that is pulled back."""
        task, target = self.task, self.task.target(k)
        seen = [] if target is None else [*map(np.ascontiguousarray, target), np.array(task.schedule.period * k)]
        given = [*self.parted(y), *memory, *seen[: len(self.loop.targets)], *self.gains]
        if self._bent:
            given.append(np.ascontiguousarray(task.added(k)))
        return given if task.limits is None else [*given, task.limits]

    def _checkpoint(self, k: int) -> Period:
        q, qd, force, *memory = (
            np.ascontiguousarray(x[:, self.places[k]]) for x in (*self.checkpoints, *self.memories)
        )
        return [self.loop.space.pack(q, qd), force], memory

    def _periods(self, last: int) -> list[Period]:
        """From the checkpoint before a period to that period."""
        substeps, first = self.task.schedule.substeps, last // self.spacing * self.spacing
        (y, force), memory = self._checkpoint(first)
        if first == last and substeps == 1:
            return [([y, force], memory)]
        with self._one:
            parts, forces, memories = self.loop.segment(y, memory, first, last + 1)
        states = np.concatenate(parts, axis=-1)
        starts = range(0, states.shape[1], substeps)
        return [
            ([*(states[:, i] for i in range(k, k + substeps)), forces[:, k]], [x[:, k] for x in memories])
            for k in starts
        ]


def spacing(task: RolloutTask, numbers: int) -> int:
    """Periods between checkpoints: 1 if the states of all instants are no more numbers than these, or kept anyway."""
    plant = task.plant
    remembered = sum(memory.shape[-1] for memory in task.memory)
    schedule, width = task.schedule, plant.positions.size + plant.n + len(plant.actuators) + remembered
    if schedule.every == 1 or task.rows * schedule.periods * width <= numbers:
        return 1
    return math.isqrt(schedule.periods)
