"""Rollouts on a GPU: law, dynamics and Runge-Kutta steps in one CUDA kernel, one thread a row, arrays by CuPy.

For gradients, a second kernel runs backwards over all steps, and a third adds up the gradients by gains.
"""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels import LOCK
from tauforge.kernels.backends import NoKernelError, backend_of
from tauforge.kernels.cuda import arrays, kernel
from tauforge.kernels.cuda.adjoint_source import Adjoint, adjoint_source, gains_source
from tauforge.kernels.cuda.dialect import BLOCK_THREADS
from tauforge.kernels.cuda.loop_source import Loop, loop_source
from tauforge.kernels.specification import Shape, inputs_of
from tauforge.simulation.integrators import AHEAD, FAR, WEIGHTS
from tauforge.simulation.step_adjoint import StepAdjoint
from tauforge.simulation.step_formulas import StepFormulas
from tauforge.simulation.task import RolloutTask, RowGradients

ONE_KERNEL_OPERATIONS = 16_000  # of a step of states that have doubts: larger ones take long to compile
RECENT = 32  # kernels that are kept
ON_PROCESSOR = "Give the initial states as arrays of NumPy"
_recent: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def gpu_formulas(task: RolloutTask) -> StepAdjoint:
    try:
        formulas = task.formulas(alone=True)
    except NoKernelError as error:
        problem = f"rollouts on a GPU need compiled steps: {error}"
        raise UnsupportedFeatureError(problem, field="rollout", remedy=ON_PROCESSOR) from None
    if task.may_refuse:
        space = task.plant.state_space.formulas
        if space is not None and space.float64_for and task.position.dtype != np.float64:
            problem = f"{task.plant.name} needs float64: {space.float64_for}"
            raise UnsupportedFeatureError(problem, field="rollout", remedy="Give the initial states in float64")
        if formulas.operations > ONE_KERNEL_OPERATIONS:
            step = f"a step of {task.plant.name} has {formulas.operations} operations"
            problem = f"{step}; at most {ONE_KERNEL_OPERATIONS} are one kernel of a GPU"
            raise UnsupportedFeatureError(problem, field="rollout", remedy=ON_PROCESSOR)
    return formulas


def loop_of(formulas: StepFormulas) -> Loop:
    """The loop that the kernel repeats; its source (`loop_source`) needs no GPU."""
    counts = len(formulas.state), len(formulas.memory), len(formulas.targets)
    return Loop(formulas.controlled_step(), formulas.held_step(), *counts, bool(formulas.added))


class Operands:
    """Inputs of the kernels of a rollout: the same for the steps and for the reverse pass.

    prescribed: (periods + 1, numbers), the targets
    constants:  (numbers, N), by `RolloutTask.constants`
    added:      the forces with the strides of rows, periods and numbers
    """

    def __init__(self, task: RolloutTask, formulas: StepFormulas, *, keep: bool = False) -> None:
        """keep: copies what the user may change before it is read again"""
        cupy, dtype, rows = arrays.cupy(), task.position.dtype, task.rows
        self.prescribed = cupy.empty(0, dtype)
        if task.controller is not None and task.motion is not None:
            times = task.schedule.period * np.arange(task.schedule.periods + 1)
            sampled = [*task.motion.sample(times), times[:, None]][: len(formulas.targets)]
            self.prescribed = cupy.asarray(np.concatenate(sampled, axis=1), dtype)
        cores = formulas.gains | formulas.fields | formulas.limits
        given = zip(task.constants, cores.values(), strict=True)
        whole = [cupy.broadcast_to(cupy.asarray(value, dtype), (rows, *core)) for value, core in given]
        parts = [value.reshape(rows, math.prod(value.shape[1:])).T for value in whole]
        self.constants = cupy.ascontiguousarray(cupy.concatenate(parts)) if parts else cupy.empty(0, dtype)
        self.added: list[Any] = []
        if task.forces is not None:
            shape = (rows, task.schedule.periods, len(task.plant.actuators))
            given = arrays.on_device("forces", task.forces)
            forces = cupy.broadcast_to(given.copy() if keep else given, shape)
            self.added = [forces, *(np.int64(stride // forces.itemsize) for stride in forces.strides)]

    def between(self, begin: int, end: int) -> Operands:
        """Those of some of the periods."""
        part = copy.copy(self)
        if len(self.prescribed):
            part.prescribed = self.prescribed[begin : end + 1]
        if self.added:
            part.added = [self.added[0][:, begin:end], *self.added[1:]]
        return part


def gpu_records(task: RolloutTask, every: int) -> tuple[Any, Any, Any]:
    """Positions, velocities and forces (N, k, ...), every so many periods and at the end.

    With limits, forces are followed by those wanted.
    """
    formulas = gpu_formulas(task)
    with task.device:
        state = (task.position, task.velocity)
        if task.may_refuse:
            state = backend_of("cuda").compile(formulas.packed(), str(task.position.dtype))(*state)
        records = filled_records(task, loop_of(formulas), Operands(task, formulas), every, state)
        *parts, force = columns_of(records, [*formulas.state.values(), formulas.answer_shape])
        if task.may_refuse:
            parts = backend_of("cuda").compile(formulas.unpacked(), str(task.position.dtype))(*parts)
        position, velocity = parts
        return position, velocity, force


def filled_records(
    task: RolloutTask,
    loop: Loop,
    operands: Operands,
    every: int,
    state: Sequence[Any] | None = None,
    *,
    every_step: bool = False,
) -> Any:
    """States and forces, (k, numbers, N).

    state:      the parts of the first, (N, ...) each; default position and velocity
    every_step: before all steps of the integrator; `every` must be 1 then
    """
    cupy, schedule, rows = arrays.cupy(), task.schedule, task.rows
    first: list[Any] = []
    memory = [cupy.broadcast_to(cupy.asarray(x, task.position.dtype), (rows, x.shape[1])) for x in task.memory]
    for array in (*((task.position, task.velocity) if state is None else state), *memory):
        way = arrays.walk(array, (rows,), array.shape[1:])
        first += [way.array, np.int64(way.row), np.int64(way.step)]
    kept = schedule.periods * schedule.substeps + 1 if every_step else len(schedule._replace(every=every).kept)
    records = cupy.empty((kept, len(loop.states) + loop.recorded, rows), task.position.dtype)
    bits = 8 * task.position.itemsize
    identity = (loop.identity, bits, every_step)
    function = kept_function(identity, lambda: loop_source(loop, bits, FAR, every_step=every_step), "loop")
    integers = (np.int32(schedule.periods), np.int32(every), np.int32(schedule.substeps))
    numbers = (np.int64(rows), *integers, operands.prescribed, operands.constants, records, *operands.added, *first)
    function((-(-rows // BLOCK_THREADS),), (BLOCK_THREADS,), numbers)
    return records


def parts_of(task: RolloutTask, records: Any) -> tuple[Any, Any, Any]:
    """Positions, velocities and forces, (N, k, ...) each, from (k, 2 n + m, N)."""
    position, velocity, force = columns_of(records, [(task.plant.n,)] * 2 + [(len(task.plant.actuators),)])
    return position, velocity, force


def columns_of(records: Any, cores: Sequence[Shape]) -> list[Any]:
    """(N, k, ...) each, from (k, numbers, N)."""
    rows, places = records.transpose(2, 0, 1), [0, *accumulate(map(math.prod, cores))]
    return [rows[..., begin:end] for begin, end in pairwise(places)]


def kept_function(identity: tuple[Any, ...], source: Callable[[], str], name: str) -> Any:
    """The kernel on the current GPU; the last ones are kept."""
    key = (*identity, name, arrays.cupy().cuda.Device().id)
    found = _recent.get(key)
    if found is None:
        found = kernel.compiled_function(source(), name)
    with LOCK:
        _recent[key] = found
        _recent.move_to_end(key)
        if len(_recent) > RECENT:
            _recent.popitem(last=False)
    return found


SHARE = 0.5  # of the free memory, for states
PART = 50  # periods whose gradients by the forces are kept at a time, for those by gains


def adjoint_of(formulas: StepAdjoint) -> Adjoint:
    """Parts of the reverse pass; its sources need no GPU."""
    return Adjoint(
        loop_of(formulas),
        formulas.law_pulled_back(formulas.state),
        formulas.law_pulled_back(formulas.gains),
        formulas.acceleration(),
        formulas.acceleration_pulled_back(),
        tuple(inputs_of(formulas.gains.items())),
        tuple(inputs_of(formulas.fields.items())),
        tuple(formulas.h * ahead for ahead in AHEAD),
        tuple(formulas.h * weight for weight in WEIGHTS),
    )


class GpuReversePass:
    """The steps, and the reverse pass through them, by CUDA kernels.

    The states of all steps are kept if there is memory for them. Otherwise they are kept at intervals, and the reverse
    pass runs each interval once more from its first state.
    """

    def __init__(self, task: RolloutTask) -> None:
        self.task, self.formulas = task, gpu_formulas(task)
        self.adjoint = adjoint_of(self.formulas)
        self.dtype, self.width = task.position.dtype, 2 * task.plant.n + len(task.plant.actuators)
        with task.device:
            self.operands = Operands(task, self.formulas, keep=True)
            self.spacing, periods = self._spacing(), task.schedule.periods
            self.keeps_all = self.spacing * task.schedule.substeps == 1
            most = (PART if task.gains else periods) if self.keeps_all else self.spacing
            self.longest_part = min(most, periods)  # in periods
            self.checkpoints = filled_records(task, self.adjoint.loop, self.operands, self.spacing)
            self.records = parts_of(task, self._recorded())

    def _recorded(self) -> Any:
        """The records in memory of their own, for the user may change them."""
        every = self.task.schedule.every
        if every % self.spacing:
            return filled_records(self.task, self.adjoint.loop, self.operands, every)
        places = [k // self.spacing for k in self.task.schedule.kept[:-1]]
        return self.checkpoints[[*places, len(self.checkpoints) - 1]]

    def _spacing(self) -> int:
        """Periods between two checkpoints: 1 if these can be all states, else what takes the least memory."""
        task, schedule, cupy = self.task, self.task.schedule, arrays.cupy()
        free = cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
        number = self.dtype.itemsize * task.rows
        records = 2 * len(schedule.kept) * self.width * number  # and the gradients by them
        m = len(task.plant.actuators)
        forces = (bool(task.gains) * PART + (task.forces is not None) * schedule.periods) * m * number
        states = schedule.periods * self.width * number
        if schedule.substeps == 1 and states < SHARE * (free - records - forces):
            return 1
        return max(1, math.isqrt(schedule.periods // schedule.substeps))

    def swept(self, bars: Sequence[Any | None]) -> RowGradients:
        """By `ProcessorReversePass.swept`."""
        task, schedule, cupy = self.task, self.task.schedule, arrays.cupy()
        rows, n, m = task.rows, task.plant.n, len(task.plant.actuators)
        with task.device:
            record_bars = cupy.zeros((len(schedule.kept), self.width, rows), self.dtype)
            for part, bar in zip(parts_of(task, record_bars), bars, strict=True):
                if bar is not None:
                    part[...] = bar
            fixed = len(self.adjoint.loop.fixed)
            state_bars, fixed_bars = (cupy.zeros((count, rows), self.dtype) for count in (2 * n, fixed))
            added = task.forces is not None
            added_bars = cupy.empty((schedule.periods, m, rows) if added else 0, self.dtype)
            force_bars = cupy.empty((self.longest_part + 1, m, rows) if task.gains else 0, self.dtype)
            for begin, end, states in self._parts():
                walk = (begin, end, schedule.periods)
                read = (self.operands.prescribed, self.operands.constants, states)
                written = (state_bars, fixed_bars, added_bars, force_bars)
                integers = (*walk, schedule.every, schedule.substeps)
                self._launch("way_back", adjoint_source, integers, *read, record_bars, *written)
                if task.gains:
                    self._launch("by_gains", gains_source, (*walk, schedule.substeps), *read, force_bars, fixed_bars)
        cores = (*self.formulas.gains.values(), *self.formulas.fields.values())
        places = [0, *accumulate(math.prod(core) for core in cores)]
        parts = [fixed_bars[a:b].T for a, b in pairwise(places)]
        gains = dict(zip(task.gains, parts, strict=False))
        plant = dict(zip(task.plant_numbers, parts[len(gains) :], strict=True))
        forces = added_bars.transpose(2, 0, 1) if added else None
        return RowGradients(state_bars[:n].T, state_bars[n:].T, gains, plant, forces)

    def _launch(
        self, name: str, source: Callable[[Adjoint, int], str], integers: Sequence[int], *operands: Any
    ) -> None:
        rows, bits = self.task.rows, 8 * self.dtype.itemsize
        function = kept_function((self.adjoint.identity, bits), lambda: source(self.adjoint, bits), name)
        function((-(-rows // BLOCK_THREADS),), (BLOCK_THREADS,), (np.int64(rows), *map(np.int32, integers), *operands))

    def _parts(self) -> Iterator[tuple[int, int, Any]]:
        """Parts of the run from the last to the first: begin, end, and the states before every step."""
        schedule, n = self.task.schedule, self.task.plant.n
        for begin in reversed(range(0, schedule.periods, self.longest_part)):
            end = min(begin + self.longest_part, schedule.periods)
            if self.keeps_all:
                yield begin, end, self.checkpoints[begin:]
                continue
            state = self.checkpoints[begin // self.spacing]
            task = self.task._replace(
                position=state[:n].T, velocity=state[n : 2 * n].T, schedule=schedule._replace(periods=end - begin)
            )
            operands = self.operands.between(begin, end)
            yield begin, end, filled_records(task, self.adjoint.loop, operands, 1, every_step=True)
