"""The time loop over compiled steps, each of three kernels: the law, a stage of Runge-Kutta, and the end of a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from tauforge.arrays import Array
from tauforge.kernels.cpu.kernel import CpuKernel, backend
from tauforge.kernels.cpu.time_loop import NUMBER, Call, Place, Record, TimeLoop, padded, rows_at_once
from tauforge.kernels.specification import Shape
from tauforge.motion.motion import MotionSample
from tauforge.robots.state_space import PlainState
from tauforge.simulation.integrators import AHEAD as STAGES
from tauforge.simulation.method_loop import MethodLoop
from tauforge.simulation.rollout_task import RolloutTask
from tauforge.simulation.step_formulas import ADDED, AHEAD, FORCE, StepFormulas

STEPS_AT_ONCE = 2**18  # of single rows, between two looks at the keyboard: some hundredths of a second
PERIODS_AT_ONCE = 4096  # for whose targets there is room
FINITE = float(np.finfo(float).max)
Places = Mapping[str, Place]  # of operands, by the names of the formulas


class CompiledLoop:
    """All rows of a task, from period to period.

    state, force: (rows in whole blocks, ...), stepped in place
    own:          makes the steps for rows that the kernels refuse, which become NaN; None leaves them so
    NoKernelError where there is no machine code to be had: too many operations, no memory for it, or a method of the
    user's own.
    """

    def __init__(self, task: RolloutTask, formulas: StepFormulas, own: Callable[[], MethodLoop] | None) -> None:
        self.task, self.formulas, self.space, self.own = task, formulas, task.plant.state_space, own
        self.reasons: dict[int, str] = {}
        self._steps: MethodLoop | None = None
        schedule, m = task.schedule, len(task.plant.actuators)
        asked = m and (formulas.targets or formulas.added)
        self._law = backend.compile(formulas.law()) if asked else None
        self._stage, self._end = backend.compile(formulas.stage()), backend.compile(formulas.end())
        self.widths = [numbers for (numbers,) in formulas.state.values()]
        whole = task.rows + -task.rows % rows_at_once()
        self.state, self.force = (np.zeros((whole, numbers)) for numbers in (sum(self.widths), m))
        self.most = max(1, min(schedule.periods, PERIODS_AT_ONCE, STEPS_AT_ONCE // (task.rows * schedule.substeps)))
        self.targets = [np.zeros((self.most, math.prod(core))) for core in formulas.targets.values()]
        self.memory = [np.zeros((whole, self.most + 1, math.prod(core))) for core in formulas.memory.values()]
        self._added = np.reshape(task.forces, (-1, schedule.periods, m)) if formulas.added else None
        many = self._added is not None and len(self._added) > 1
        self.added = np.zeros((whole if many else 1, self.most if formulas.added else 0, m))
        self._still, self._ahead = np.zeros(max(self.widths)), formulas.h * np.array((0.0, *STAGES))
        cores = formulas.gains | formulas.fields
        self._given = [*task.gains.values(), *task.plant_numbers.values()]
        self._shared = {
            name: _of_rows(value, core, task.rows)
            for (name, core), value in zip(cores.items(), self._given, strict=True)
        }

    def records(self, kept: Sequence[int], report: Callable[[float], None]) -> tuple[Array, Array, Array]:
        """Positions, velocities and forces (N, k, ...) at these instants, which are counted in periods."""
        task, schedule = self.task, self.task.schedule
        self.fill(self.start(task.position, task.velocity))
        for memory, start in zip(self.memory, task.memory, strict=True):
            memory[:, 0] = start.ravel()
        found = self.room(len(kept))
        places = np.full(schedule.periods * schedule.substeps + 1, -1)
        places[np.array(kept) * schedule.substeps] = np.arange(len(kept))
        for k in self.walk(found, places[:-1], 0, schedule.periods):
            report(k / schedule.periods)
        if places[-1] >= 0:
            now = self.state[: task.rows]
            for kept_part, part in zip(found, (*self.parted(now), self.forces(schedule.periods)), strict=True):
                kept_part[:, -1] = part
        return (*self.read(found[:-1]), found[-1])

    def segment(self, y: Array, first: int, last: int) -> list[Array]:
        """The parts of the state, and the forces, (N, k, ...) before every step between these periods."""
        self.fill([y])
        places = np.arange((last - first) * self.task.schedule.substeps)
        found = self.room(len(places))
        for _ in self.walk(found, places, first, last):
            pass
        return found

    def walk(self, kept: Sequence[Array], places: Array, first: int, last: int) -> Iterator[int]:
        """From one period to another, a part at a time: gives the period that is reached.

        places: of the record of each step, -1 for none
        """
        loop, substeps = self.loop(kept), self.task.schedule.substeps
        for begin in range(first, last, self.most):
            end = min(begin + self.most, last)
            self._prescribe(begin, end)
            now = np.ascontiguousarray(places[(begin - first) * substeps : (end - first) * substeps])
            loop.restart()
            while not loop.run(now):
                self._mend(loop)
            for memory in self.memory:
                memory[:, 0] = memory[:, end - begin]
            yield end

    def room(self, places: int) -> list[Array]:
        """Memory for the parts of the state, and for the forces, of so many records."""
        return [np.empty((self.task.rows, places, numbers)) for numbers in (*self.widths, self.force.shape[1])]

    def loop(self, kept: Sequence[Array]) -> TimeLoop:
        """kept: from `room`"""
        formulas, lanes, numbers = self.formulas, rows_at_once(), self.state.shape[1]
        row = numbers * NUMBER
        at = [sum(self.widths[:k]) for k in range(len(self.widths))]

        def parts(names: Sequence[str], array: Array | None, block: int = 0) -> dict[str, Place]:
            start = block * lanes * row
            return {name: Place(array, start + NUMBER * k, row) for name, k in zip(names, at, strict=True)}

        state = parts(list(formulas.state), self.state)
        force = Place(self.force, 0, self.force.strides[0])
        fixed = {**state, **self._shared, FORCE: force}
        for name, target in zip(formulas.targets, self.targets, strict=True):
            fixed[name] = Place(target, instant=target.strides[0])
        renewed = []  # the memory of the next instant has another place: results must not overwrite arguments
        for name, memory in zip(formulas.memory, self.memory, strict=True):
            rows, instant, _ = memory.strides
            fixed[name] = Place(memory, 0, rows, instant)
            renewed.append(Place(memory, instant, rows, instant))
        if formulas.added:
            rows, instant, _ = self.added.strides
            fixed[ADDED] = Place(self.added, 0, rows if len(self.added) > 1 else 0, instant)
        calls, slopes = [], dict.fromkeys(formulas.slopes(), Place(self._still))
        first, ends = [], dict(state)
        for stage in range(len(self._ahead)):
            before = {**fixed, **slopes, AHEAD: Place(self._ahead, stage * NUMBER)}
            if self._law is not None and stage == 0:
                first.append(_call(self._law, before, [force, *renewed]))
            slopes = parts(list(formulas.slopes()), None, stage)
            calls.append(_call(self._stage, before, list(slopes.values())))
            ends |= parts(list(formulas.slopes(stage)), None, stage)
        reached = len(self._ahead)
        calls.append(_call(self._end, ends, list(parts(list(formulas.state), None, reached).values())))
        sources = [(self.state, k) for k in at] + [(self.force, 0)]
        return TimeLoop(
            first,
            calls,
            [Record(source, column, array) for (source, column), array in zip(sources, kept, strict=True)],
            self.state,
            self.task.rows,
            private=(reached + 1) * lanes * row,
            reached=reached * lanes * row,
            hold=self.task.schedule.substeps,
            checked=0 if self.own is None else 1,
            limit=FINITE,
        )

    def start(self, position: Array, velocity: Array) -> list[Array]:
        """The parts of the state."""
        if type(self.space) is PlainState:
            return [position, velocity]
        return self.parted(self.space.pack(position, velocity))

    def parted(self, y: Array) -> list[Array]:
        return np.split(y, np.cumsum(self.widths)[:-1], axis=-1)

    def read(self, parts: Sequence[Array]) -> tuple[Array, Array]:
        """Positions and velocities."""
        if type(self.space) is PlainState:
            return parts[0], parts[1]
        y = np.concatenate(parts, axis=-1)
        return self.space.position(y), self.space.velocity(y)

    def fill(self, parts: Sequence[Array]) -> None:
        self.state[:] = padded(np.concatenate(parts, axis=-1), self.task.rows)

    def forces(self, k: int) -> Array:
        """(N, m) at an instant, from the state."""
        state = self.parted(self.state[: self.task.rows])
        if self._law is None:
            return np.zeros((self.task.rows, self.force.shape[1]))
        still = [np.zeros(numbers) for numbers in self.widths]
        target, added = self.task.target(k), self.task.added(k)
        wanted = [*self.prescribed(k, target), *([] if added is None else [added])]
        cores = self.formulas.memory.values()
        memory = [x[: self.task.rows, 0].reshape(-1, *c) for x, c in zip(self.memory, cores, strict=True)]
        found = self._law(*state, *still, 0.0, *memory, *wanted, *self._given[: len(self.task.gains)])
        force: Array = found[0] if memory else found
        return force

    def prescribed(self, k: int, target: MotionSample | None) -> list[Array]:
        """The target at an instant, and the time if the law looks at it."""
        found = [] if target is None else [*map(np.ascontiguousarray, target), np.array(self.task.schedule.period * k)]
        return found[: len(self.targets)]

    def _prescribe(self, begin: int, end: int) -> None:
        """Targets and added forces of these periods."""
        task, count = self.task, end - begin
        if task.controller is not None and task.motion is not None:
            times = task.schedule.period * np.arange(begin, end)
            for target, sampled in zip(self.targets, (*task.motion.sample(times), times[:, None]), strict=False):
                target[:count] = sampled
        if self._added is not None:
            forces = self._added[:, begin:end]
            self.added[:, :count] = padded(forces, task.rows) if len(forces) > 1 else forces

    def _mend(self, loop: TimeLoop) -> None:
        """The last step of rows that the kernels have refused, by other steps."""
        assert self.own is not None  # nothing stops the loop without
        lanes = rows_at_once()
        rows = (np.flatnonzero(loop.stopped)[:, None] * lanes + np.arange(lanes)).ravel()
        rows = rows[rows < self.task.rows]
        refused = np.isnan(self.state[rows, 0]) & np.isfinite(loop.before[rows]).all(axis=-1)
        rows = rows[refused]
        if self._steps is None:
            self._steps = self.own()
            self._steps.reasons = self.reasons
        self.state[rows] = self._steps.some_held(rows, loop.before[rows], self.force[rows])
        self.state[self.task.rows :] = self.state[self.task.rows - 1]


def _call(kernel: CpuKernel, places: Places, results: Sequence[Place]) -> Call:
    return Call(kernel, [*(places[name] for name, _ in kernel.arguments), *results])


def _of_rows(value: Array, core: Shape, rows: int) -> Place:
    """Of a value (core), (1, *core) or (rows, *core)."""
    value = np.ascontiguousarray(value, float)
    if value.ndim == len(core) or len(value) == 1:
        return Place(value)
    whole = padded(value, rows)
    return Place(whole, 0, whole.strides[0])
