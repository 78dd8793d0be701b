"""The time loop over compiled steps, each of three kernels: the law, a stage of Runge-Kutta, and the end of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.kernels.cpu.kernel import CpuKernel, backend
from tauforge.kernels.cpu.time_loop import NUMBER, Call, Place, Record, TimeLoop, padded, rows_at_once
from tauforge.kernels.specification import Shape
from tauforge.robots.state_space import PlainState
from tauforge.simulation.integrators import AHEAD as STAGES
from tauforge.simulation.method_loop import MethodLoop
from tauforge.simulation.rollout_task import RolloutTask
from tauforge.simulation.step_formulas import ADDED, AHEAD, FORCE, LIMITS, TARGET_ARGUMENTS, StepFormulas

STEPS_AT_ONCE = 2**18  # of single rows, between two looks at the keyboard: some hundredths of a second
ROWS_AT_ONCE = 512  # of a recording, which are looked at and completed at once
PERIODS_AT_ONCE = 4096  # for whose targets there is room
FINITE = float(np.finfo(float).max)
Places = Mapping[str, Place]  # of operands, by the names of the formulas


class Force(NamedTuple):
    """Forces of the actuators, and a mask of those that give less than the law asks for.

    (m,) that hold for some steps, or (k, m), those of each
    """

    given: Array
    clipped: Array


class CompiledLoop:
    """All rows of a task, from period to period.

    state, force: (rows in whole blocks, ...), stepped in place; with limits, forces are followed by those asked for
    own:          makes the steps for rows that the kernels refuse, which become NaN; None leaves them so
    limits:       (m,) largest sizes of the forces
    continuous:   whether the law is asked in every stage of a step, which is the control period
    far:          beyond, `advance` stops; 0 for no limit
    NoKernelError where there is no machine code to be had: too many operations, no memory for it, or a method of the
    user's own.
    """

    def __init__(
        self,
        task: RolloutTask,
        formulas: StepFormulas,
        own: Callable[[], MethodLoop] | None = None,
        *,
        limits: Array | None = None,
        continuous: bool = False,
        far: float = 0.0,
    ) -> None:
        self.task, self.formulas, self.space, self.own = task, formulas, task.plant.state_space, own
        self.limits, self.continuous, self.far = limits, continuous, far
        self.reasons: dict[int, str] = {}
        self._steps: MethodLoop | None = None
        self._one: tuple[TimeLoop, list[Array]] | None = None  # of `advance`
        schedule, m = task.schedule, len(task.plant.actuators)
        asked = m and (formulas.targets or formulas.added)
        self._law = backend.compile(formulas.law()) if asked else None
        self._stage, self._end = backend.compile(formulas.stage()), backend.compile(formulas.end())
        self.widths = [numbers for (numbers,) in formulas.state.values()]
        whole = task.rows + -task.rows % rows_at_once()
        widths = sum(self.widths), 2 * m if formulas.limits else m
        self.state, self.force = (np.zeros((whole, numbers)) for numbers in widths)
        self.most = max(1, min(schedule.periods, PERIODS_AT_ONCE, STEPS_AT_ONCE // (task.rows * schedule.substeps)))
        instants = 2 * self.most + 1 if continuous else self.most
        self.targets = np.zeros((len(TARGET_ARGUMENTS), instants, task.plant.n))
        self._added: Array | None = None
        if formulas.added and task.forces is not None:
            self._added = task.forces.reshape(-1, schedule.periods, m)
        many = self._added is not None and len(self._added) > 1
        self.added = np.zeros((whole if many else 1, self.most if formulas.added else 0, m))
        self._stills, self._ahead = [np.zeros(k) for k in self.widths], formulas.h * np.array((0.0, *STAGES))
        cores = formulas.gains | formulas.fields
        self._fields = list(task.plant_numbers.values())
        given = zip(cores.items(), (*task.gains.values(), *self._fields), strict=True)
        self._shared = {name: _of_rows(value, core, task.rows) for (name, core), value in given}
        if limits is not None:
            self._shared[LIMITS] = Place(np.ascontiguousarray(limits, float))

    def records(self, kept: Sequence[int], report: Callable[[float], None]) -> tuple[Array, Array, Array]:
        """Positions, velocities and forces (N, k, ...) at these instants, which are counted in periods."""
        task, schedule = self.task, self.task.schedule
        self.fill(self.start(task.position, task.velocity))
        found = self.room(len(kept))
        steps = np.array(kept) * schedule.substeps
        for k in self.walk(found, steps, 0, schedule.periods):
            report(k / schedule.periods)
        if kept[-1] == schedule.periods:
            now = self.parted(self.state[: task.rows])
            for rows, last in zip(found, (*now, self.forces(schedule.periods)), strict=True):
                rows[:, -1] = last
        return (*self.read(found[:-1]), found[-1])

    def segment(self, y: Array, first: int, last: int) -> list[Array]:
        """The parts of the state, and the forces, (N, k, ...) before every step between these periods."""
        self.fill([y])
        substeps = self.task.schedule.substeps
        found = self.room((last - first) * substeps)
        for _ in self.walk(found, np.arange(first * substeps, last * substeps), first, last):
            pass
        return found

    def walk(self, kept: Sequence[Array], steps: Array, first: int, last: int) -> Iterator[int]:
        """From one period to another, a part at a time: gives the period that is reached.

        kept:  from `room`
        steps: what is kept is before these
        """
        loop, substeps = self.loop(kept), self.task.schedule.substeps
        for begin in range(first, last, self.most):
            end = min(begin + self.most, last)
            self._prescribe(begin, end)
            places = np.full((end - begin) * substeps, -1)
            some = slice(*np.searchsorted(steps, [begin * substeps, end * substeps]))
            places[steps[some] - begin * substeps] = np.arange(len(steps))[some]
            loop.restart()
            while not loop.run(places):
                self._mend(loop, begin)
            yield end

    def advance(self, y: Array, first: int) -> tuple[Array, Force | None]:
        """A single row: states (k, m) of each step, from that at a period on, and the forces until the last of them.

        At the end of the run this is the state alone, and its force. The state alone and None where the first period
        leads beyond `far`, has forces that are not finite, or is left to the robot's own methods.
        """
        schedule, m, substeps = self.task.schedule, len(self.task.plant.actuators), 1
        self.fill([y[None]])
        if first == schedule.periods:
            states, forces = y[None], self.forces(first)
        else:
            (states, forces), substeps = self._advanced(first), schedule.substeps
        sound = np.isfinite(forces).all(axis=-1)
        good = len(forces) if sound.all() else int(sound.argmin()) // substeps * substeps
        if not good:
            return y[None], None
        given, wanted = forces[:good, :m], forces[:good, m:] if self.formulas.limits else forces[:good]
        return states[: good + 1], Force(given, given != wanted)

    def _advanced(self, first: int) -> tuple[Array, Array]:
        """States (k + 1, m) of some whole periods, and forces (k, ...)."""
        substeps = self.task.schedule.substeps
        most = max(1, ROWS_AT_ONCE // substeps)
        if self._one is None:
            kept = self.room(most * substeps)
            self._one = self.loop(kept), kept
        loop, kept = self._one
        last = min(first + most, self.task.schedule.periods)
        self._prescribe(first, last)
        steps = (last - first) * substeps
        loop.restart()
        loop.run(np.arange(steps))
        done = int(loop.done[0] - loop.stopped[0]) // substeps * substeps
        *parts, forces = (values[0] for values in kept)
        end = self.state[0] if done == steps else np.concatenate([part[done] for part in parts])
        states = np.concatenate([np.concatenate([part[:done] for part in parts], axis=-1), end[None]])
        return states, forces[:done].copy()

    def rates_under(self, y: Array, force: Array) -> Array:
        """Time derivatives of states (k, m) under forces."""
        forces = [force] if force.shape[-1] else []
        found = np.concatenate(self._stage(*self.parted(y), *self._stills, 0.0, *forces, *self._fields), axis=-1)
        lost = np.isnan(found).any(axis=-1)
        if lost.any():
            found[lost] = self.space.rates_under(y[lost], force[lost])
        return found

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
        if formulas.added:
            rows, instant, _ = self.added.strides
            fixed[ADDED] = Place(self.added, 0, rows if len(self.added) > 1 else 0, instant)
        pairs = zip(formulas.slopes(), self._stills, strict=True)
        slopes = {name: Place(still) for name, still in pairs}
        first: list[Call] = []
        calls, ends = list(first), dict(state)
        for stage in range(len(self._ahead)):
            before = {**fixed, **slopes, AHEAD: Place(self._ahead, stage * NUMBER)}
            for name, target in zip(TARGET_ARGUMENTS, self.targets, strict=True):
                half = target.strides[0] if self.continuous else 0
                place = round(2 * self._ahead[stage] / formulas.h) * half
                before[name] = Place(target, place, 0, 2 * half or target.strides[0])
            if self._law is not None and (stage == 0 or self.continuous):
                (calls if stage else first).append(_call(self._law, before, [force]))
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
            checked=numbers if self.far else int(self.own is not None),
            limit=self.far or FINITE,
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
        target, added = self.task.target(k), self.task.added(k)
        wanted = [*(target or ()), *([] if added is None else [added])]
        given = [*self.task.gains.values(), *([] if self.limits is None else [self.limits])]
        found: Array = self._law(*state, *self._stills, 0.0, *wanted, *given)
        self._ask_again(k, np.arange(self.task.rows), self.state[: self.task.rows], found)
        return found

    def _ask_again(self, k: int, rows: Array, y: Array, force: Array) -> None:
        """Put the answer of the law's own methods where its formulas refuse one; not for gains, which these lack."""
        lost = np.isnan(force).any(axis=-1)
        if lost.any() and self.own is not None and self.task.controller is not None and not self.task.gains:
            lost &= np.isfinite(y).all(axis=-1)
            force[lost] = self._methods(self.own).forces(k, y[lost], rows[lost])

    def _methods(self, own: Callable[[], MethodLoop]) -> MethodLoop:
        if self._steps is None:
            self._steps = own()
            self._steps.reasons = self.reasons
        return self._steps

    def _prescribe(self, begin: int, end: int) -> None:
        """Targets and added forces of these periods."""
        task, count = self.task, end - begin
        if task.controller is not None and task.motion is not None:
            halves = np.arange(2 * begin, 2 * end + 1) if self.continuous else 2 * np.arange(begin, end)
            times = task.schedule.period * (halves / 2)
            for target, sampled in zip(self.targets, task.motion.sample(times), strict=True):
                target[: len(times)] = sampled
        if self._added is not None:
            forces = self._added[:, begin:end]
            self.added[:, :count] = padded(forces, task.rows) if len(forces) > 1 else forces

    def _mend(self, loop: TimeLoop, begin: int) -> None:
        """The last step of rows that the kernels have refused, by other steps. begin: period in which the loop began"""
        assert self.own is not None  # nothing stops the loop without
        lanes = rows_at_once()
        rows = (np.flatnonzero(loop.stopped)[:, None] * lanes + np.arange(lanes)).ravel()
        rows = rows[rows < self.task.rows]
        refused = np.isnan(self.state[rows, 0]) & np.isfinite(loop.before[rows]).all(axis=-1)
        rows = rows[refused]
        if not len(rows):
            return
        before, force = loop.before[rows], self.force[rows]
        periods = begin + (loop.done[rows // lanes] - 1) // self.task.schedule.substeps
        for k in np.unique(periods).tolist():
            now = np.flatnonzero(periods == k)
            answer = force[now]
            self._ask_again(k, rows[now], before[now], answer)
            force[now] = answer
        self.force[rows] = force
        self.state[rows] = self._methods(self.own).some_held(rows, before, force)
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
