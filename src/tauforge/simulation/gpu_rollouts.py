"""Rollouts on a GPU: law, dynamics and Runge-Kutta steps in one CUDA kernel, one thread a row, arrays by CuPy."""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels import LOCK
from tauforge.kernels.backends import backend_of
from tauforge.kernels.cuda import arrays, kernel
from tauforge.kernels.cuda.loop_source import BLOCK, Loop, loop_source
from tauforge.kernels.specification import Shape
from tauforge.simulation.compiled_steps import WHOLE
from tauforge.simulation.integrators import FAR
from tauforge.simulation.rollout_task import RolloutTask, as_rows
from tauforge.simulation.step_formulas import StepFormulas, field_shape

RECENT = 32  # kernels that are kept
_recent: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def gpu_formulas(task: RolloutTask) -> StepFormulas:
    if not task.compiles:
        raise UnsupportedFeatureError(
            "on a GPU the law must be one of ours, and the robot one whose steps are compiled", field="rollout"
        )
    formulas = task.formulas(alone=True)
    if task.may_refuse:
        if task.position.dtype != np.float64:
            raise UnsupportedFeatureError(f"{task.plant.name} needs float64: its loops stay closed", field="rollout")
        if formulas.operations > WHOLE:
            raise UnsupportedFeatureError(
                f"a step of {task.plant.name} has {formulas.operations} operations; at most {WHOLE} are one kernel of "
                "a GPU",
                field="rollout",
                remedy="Give the initial states as arrays of NumPy",
            )
    return formulas


def loop_of(formulas: StepFormulas) -> Loop:
    """What the kernel repeats; its source (`loop_source`) needs no GPU."""
    return Loop(
        formulas.controlled_step(),
        formulas.held_step(),
        len(formulas.state),
        len(formulas.targets),
        bool(formulas.added),
    )


class Operands:
    """What the kernels of a rollout read: the same for the steps and for the way back.

    prescribed: (periods + 1, numbers), the targets
    constants:  (numbers, N), gains, fields and payload
    added:      the forces with the strides of rows, periods and numbers
    """

    def __init__(self, task: RolloutTask, *, keep: bool = False) -> None:
        """keep: copies what the user may change before it is read again"""
        cupy, dtype, rows = arrays.cupy(), task.position.dtype, task.rows
        self.prescribed = cupy.empty(0, dtype)
        if task.controller is not None and task.motion is not None:
            times = task.schedule.period * np.arange(task.schedule.periods + 1)
            self.prescribed = cupy.asarray(np.concatenate(task.motion.sample(times), axis=1), dtype)
        gains = [(value, vars(task.controller)[name].shape) for name, value in task.gains.items()]
        fields = [(value, field_shape(task.plant, name)) for name, value in task.plant_numbers.items()]
        parts = [as_rows(cupy.asarray(value, dtype), core, rows).T for value, core in (*gains, *fields)]
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
    """Positions, velocities and forces (N, k, ...), every so many periods and at the end."""
    formulas = gpu_formulas(task)
    with task.device:
        state = (task.position, task.velocity)
        if task.may_refuse:
            state = backend_of("cuda").compile(formulas.packed(), "float64")(*state)
        records = filled_records(task, loop_of(formulas), Operands(task), every, state)
        if not task.may_refuse:
            return parts_of(task, records)
        *parts, force = columns_of(records, [*formulas.state.values(), formulas.forces_shape])
        position, velocity = backend_of("cuda").compile(formulas.unpacked(), "float64")(*parts)
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
    for array in (task.position, task.velocity) if state is None else state:
        way = arrays.walk(array, (rows,), array.shape[1:])
        first += [way.array, np.int64(way.row), np.int64(way.step)]
    kept = schedule.periods * schedule.substeps + 1 if every_step else len(schedule._replace(every=every).kept)
    records = cupy.empty((kept, len(loop.states) + loop.recorded, rows), task.position.dtype)
    bits = 8 * task.position.itemsize
    function = kept_function(
        (loop.identity, bits, every_step), lambda: loop_source(loop, bits, FAR, every_step=every_step), "loop"
    )
    integers = (np.int32(schedule.periods), np.int32(every), np.int32(schedule.substeps))
    numbers = (np.int64(rows), *integers, operands.prescribed, operands.constants, records, *operands.added, *first)
    function((-(-rows // BLOCK),), (BLOCK,), numbers)
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
