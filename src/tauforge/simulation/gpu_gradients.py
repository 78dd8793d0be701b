"""Gradients through rollouts on a GPU: a kernel walks back over all steps, another adds up those by gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tauforge.kernels.cuda import arrays
from tauforge.kernels.cuda.adjoint_source import Adjoint, adjoint_source, gains_source
from tauforge.kernels.cuda.dialect import BLOCK_THREADS
from tauforge.kernels.specification import inputs_of
from tauforge.simulation.gpu_rollouts import Operands, filled_records, gpu_formulas, kept_function, loop_of, parts_of
from tauforge.simulation.integrators import AHEAD, WEIGHTS
from tauforge.simulation.processor_gradients import Bars
from tauforge.simulation.rollout_task import RolloutTask
from tauforge.simulation.step_formulas import StepFormulas

SHARE = 0.5  # of the free memory, for states
PART = 50  # periods whose gradients by the forces are kept at a time, for those by gains


def adjoint_of(formulas: StepFormulas) -> Adjoint:
    """What the way back is made of; its sources need no GPU."""
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


class GpuWayBack:
    """The steps, and the way back through them, by CUDA kernels.

    Where there is memory for it, the states of all steps are kept. Otherwise they are kept at intervals; on the way
    back each interval runs once more from its first state.
    """

    def __init__(self, task: RolloutTask) -> None:
        self.task, self.formulas = task, gpu_formulas(task)
        self.adjoint = adjoint_of(self.formulas)
        self.dtype, self.width = task.position.dtype, 2 * task.plant.n + len(task.plant.actuators)
        with task.device:
            self.operands = Operands(task, keep=True)
            self.spacing = self._spacing()
            self.checkpoints = filled_records(task, self.adjoint.loop, self.operands, self.spacing)
            self.records = parts_of(task, self._recorded())

    def _recorded(self) -> Any:
        """The records, apart from the checkpoints: the user may change them."""
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
        forces = (0 if task.forces is None else schedule.periods * m * number) + (
            PART * m * number if task.gains else 0
        )
        states = schedule.periods * self.width * number
        if schedule.substeps == 1 and states < SHARE * (free - records - forces):
            return 1
        return max(1, math.isqrt(schedule.periods // schedule.substeps))

    def swept(self, bars: Sequence[Any | None]) -> Bars:
        """By `WayBack`."""
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
            force_bars = cupy.empty((self._longest_part + 1, m, rows) if task.gains else 0, self.dtype)
            for begin, end, states in self._parts():
                walk = (begin, end, schedule.periods)
                read = (self.operands.prescribed, self.operands.constants, states)
                written = (state_bars, fixed_bars, added_bars, force_bars)
                self._launch(
                    "way_back", adjoint_source, (*walk, schedule.every, schedule.substeps), *read, record_bars, *written
                )
                if task.gains:
                    self._launch("by_gains", gains_source, (*walk, schedule.substeps), *read, force_bars, fixed_bars)
        cores = (*self.formulas.gains.values(), *self.formulas.fields.values())
        places = [0, *accumulate(math.prod(core) for core in cores)]
        parts = [fixed_bars[a:b].T for a, b in pairwise(places)]
        gains = dict(zip(task.gains, parts, strict=False))
        plant = dict(zip(task.plant_numbers, parts[len(gains) :], strict=True))
        forces = added_bars.transpose(2, 0, 1) if added else None
        return Bars(state_bars[:n].T, state_bars[n:].T, gains, plant, forces)

    def _launch(
        self, name: str, source: Callable[[Adjoint, int], str], integers: Sequence[int], *operands: Any
    ) -> None:
        rows, bits = self.task.rows, 8 * self.dtype.itemsize
        function = kept_function((self.adjoint.identity, bits), lambda: source(self.adjoint, bits), name)
        function((-(-rows // BLOCK_THREADS),), (BLOCK_THREADS,), (np.int64(rows), *map(np.int32, integers), *operands))

    @property
    def _all_states_are_kept(self) -> bool:
        return self.spacing * self.task.schedule.substeps == 1

    @property
    def _longest_part(self) -> int:
        """In periods."""
        periods = self.task.schedule.periods
        if not self._all_states_are_kept:
            return min(self.spacing, periods)
        return min(PART, periods) if self.task.gains else periods

    def _parts(self) -> Iterator[tuple[int, int, Any]]:
        """From the last to the first: where a part of the way begins and ends, and its states before every step."""
        schedule, n = self.task.schedule, self.task.plant.n
        for begin in reversed(range(0, schedule.periods, self._longest_part)):
            end = min(begin + self._longest_part, schedule.periods)
            if self._all_states_are_kept:
                yield begin, end, self.checkpoints[begin:]
                continue
            state = self.checkpoints[begin // self.spacing]
            task = self.task._replace(
                position=state[:n].T, velocity=state[n : 2 * n].T, schedule=schedule._replace(periods=end - begin)
            )
            operands = self.operands.between(begin, end)
            yield begin, end, filled_records(task, self.adjoint.loop, operands, 1, every_step=True)
