"""Gradients through rollouts on a GPU: one kernel walks back over all steps, one thread a row."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tauforge.kernels.cuda import arrays
from tauforge.kernels.cuda.adjoint_source import Adjoint, adjoint_source
from tauforge.kernels.cuda.loop_source import BLOCK
from tauforge.simulation.gpu_rollouts import Operands, filled_records, gpu_formulas, kept_function, loop_of, parts_of
from tauforge.simulation.rollout_task import RolloutTask
from tauforge.simulation.step_formulas import StepFormulas, elements
from tauforge.simulation.way_back import Bars

SHARE = 0.25  # of the free memory, for checkpoints; and for the states between them


def adjoint_of(formulas: StepFormulas) -> Adjoint:
    """What the way back is made of; its source needs no GPU."""
    return Adjoint(
        loop_of(formulas),
        formulas.law(),
        formulas.law_pulled_back(),
        formulas.acceleration(),
        formulas.acceleration_pulled_back(),
        tuple(elements(formulas.gains)),
        tuple(elements(formulas.fields)),
    )


class GpuWayBack:
    """The steps, and the way back through them, by two CUDA kernels."""

    def __init__(self, task: RolloutTask) -> None:
        self.task, self.formulas = task, gpu_formulas(task)
        self.adjoint = adjoint_of(self.formulas)
        self.dtype, self.width = task.position.dtype, 2 * task.plant.n + len(task.plant.actuators)
        with task.position.device:
            self.operands = Operands(task)

    def records(self) -> tuple[Any, Any, Any]:
        """Positions, velocities and forces at the instants to record; the checkpoints are kept."""
        task, every = self.task, self.task.schedule.every
        with task.position.device:
            self.spacing = self._spacing()
            self.checkpoints = filled_records(task, self.adjoint.loop, self.operands, self.spacing)
            if self.spacing == every:
                return parts_of(task, self.checkpoints)
            wanted = [k // self.spacing for k in task.schedule.kept[:-1]]
            return parts_of(task, self.checkpoints[[*wanted, len(self.checkpoints) - 1]])

    def _spacing(self) -> int:
        """The shortest between checkpoints, in periods, for which there is memory; it divides that of the records."""
        task, every = self.task, self.task.schedule.every
        room = self._room
        for k in range(1, every):
            if every % k == 0 and task.rows * (task.schedule.periods // k + 2) * self.width <= room:
                return k
        return every

    @property
    def _room(self) -> int:
        """Numbers."""
        cupy = arrays.cupy()
        free = cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
        room: int = int(SHARE * free) // self.dtype.itemsize
        return room

    def swept(self, bars: list[Any]) -> Bars:
        """bars: gradients by positions, velocities and forces, (N, k, ...) each."""
        task, schedule, cupy = self.task, self.task.schedule, arrays.cupy()
        rows, n, m = task.rows, task.plant.n, len(task.plant.actuators)
        bits = 8 * self.dtype.itemsize
        stored = self.spacing * schedule.substeps
        with task.position.device:
            record_bars = cupy.ascontiguousarray(cupy.concatenate(bars, axis=2).transpose(1, 2, 0))
            fixed = len(self.adjoint.loop.fixed)
            state_bars, fixed_bars = (cupy.empty((count, rows), self.dtype) for count in (2 * n, fixed))
            added = task.forces is not None
            added_bars = cupy.empty((schedule.periods, m, rows) if added else 0, self.dtype)
            width = rows if stored == 1 else self._rows_at_a_time(stored * self.width)
            scratch = [] if stored == 1 else [cupy.empty((stored, self.width, width), self.dtype)]
            function = kept_function(
                (self.adjoint.identity, bits, stored == 1),
                lambda: adjoint_source(self.adjoint, bits, schedule.step, again=stored > 1),
                "way_back",
            )
            counts = (schedule.periods, self.spacing, schedule.every, schedule.substeps)
            read = (self.operands.prescribed, self.operands.constants, self.checkpoints, record_bars)
            for first in range(0, rows, width):
                own = min(width, rows - first)
                integers = (np.int64(rows), np.int64(first), *(np.int32(x) for x in (own, *counts)))
                written = (state_bars, fixed_bars, added_bars, *scratch, *self.operands.added)
                function((-(-own // BLOCK),), (BLOCK,), (*integers, *read, *written))
        places = [0, *accumulate(math.prod(core) for core in self._cores)]
        parts = [fixed_bars[a:b].T for a, b in pairwise(places)]
        gains = dict(zip(task.gains, parts, strict=False))
        plant = dict(zip(task.plant_numbers, parts[len(gains) :], strict=True))
        forces = added_bars.transpose(2, 0, 1) if added else None
        return Bars(state_bars[:n].T, state_bars[n:].T, gains, plant, forces)

    @property
    def _cores(self) -> list[tuple[int, ...]]:
        return [*self.formulas.gains.values(), *self.formulas.fields.values()]

    def _rows_at_a_time(self, numbers: int) -> int:
        """So many that the states between checkpoints, of which a row has so many numbers, fit into memory."""
        most = max(1, self._room // numbers)
        return min(self.task.rows, max(BLOCK, most // BLOCK * BLOCK))
