"""The time loop over compiled steps, each of three kernels: the law, a stage of Runge-Kutta, and the end of a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.control.law_graph import TARGETS, TIME
from tauforge.evaluation.evaluator import kernels_allowed
from tauforge.kernels.backends import Kernel, NoKernelError, backend_of
from tauforge.kernels.cpu.engine import Loaded
from tauforge.kernels.cpu.time_loop import Call, Place, Record, TimeLoop, block_kernel, columns, fill, rows_at_once
from tauforge.kernels.specification import Shape, Specification
from tauforge.robots.capabilities import Fields
from tauforge.robots.formulations import WRENCH
from tauforge.robots.loads import PAYLOAD
from tauforge.robots.state_space import PlainState
from tauforge.simulation.disturbances import stage_times
from tauforge.simulation.integrators import AHEAD as STAGES
from tauforge.simulation.method_loop import MethodLoop
from tauforge.simulation.recording import MACHINE_CODE, METHODS
from tauforge.simulation.sensors import Noise
from tauforge.simulation.step_formulas import ADDED, AHEAD, FORCE, NOISE, PUSH_TIME, StepFormulas
from tauforge.simulation.task import RolloutTask, VaryingPayload
from tauforge.validation import counted

STEPS_AT_ONCE = 2**18  # of single rows, between two looks at the keyboard: some hundredths of a second
ROWS_AT_ONCE = 512  # of a recording, which are looked at and completed at once
PUSHES_AT_ONCE = 2**14  # steps of a disturbance
PERIODS_AT_ONCE = 4096  # for whose targets there is room
SHARED = (*TARGETS, TIME, AHEAD, PUSH_TIME)  # arguments that all rows share
Named = tuple[Loaded, list[str]]  # machine code, and the names of its arguments
Places = Mapping[str, Place]  # of operands, by the names of the formulas


class Force(NamedTuple):
    """Forces of the actuators, and a mask of those that give less than the law asks for.

    (m,) that hold for some steps, or (k, m), those of each
    """

    given: Array
    clipped: Array


class CompiledLoop:
    """All rows of a task, from period to period.

    state, force: (blocks, numbers, lanes), stepped in place; with limits, forces are followed by those wanted
    own:          makes the steps for rows that the kernels refuse, which become NaN; None leaves them so
    continuous:   whether the law is asked in every stage of a step, which is the control period
    watched:      whether a row that loses its state stops its block; where others make steps, it does
    NoKernelError where there is no machine code to be had: too many operations, no memory for it, or a method of the
    user's own.
    """

    def __init__(
        self,
        task: RolloutTask,
        formulas: StepFormulas,
        own: Callable[[], MethodLoop] | None = None,
        *,
        continuous: bool = False,
        watched: bool = False,
    ) -> None:
        self.task, self.formulas, self.space, self.own = task, formulas, task.plant.state_space, own
        self.continuous, self.watched = continuous, watched or own is not None
        self.reasons: dict[int, str] = {}
        self.by_methods = 0  # steps of single rows that others make
        self._steps: MethodLoop | None = None
        self._one: tuple[TimeLoop, list[Array]] | None = None  # of `advance`
        schedule, m = task.schedule, len(task.plant.actuators)
        self._law = _compiled(formulas.law()) if m and (formulas.targets or formulas.added) else None
        self._stage, self._end = _compiled(formulas.stage()), _compiled(formulas.end())
        self.widths = [numbers for (numbers,) in formulas.state.values()]
        self.state = columns(task.rows, sum(self.widths))
        self.force = columns(task.rows, *formulas.answer_shape)
        self.most = max(1, min(schedule.periods, PERIODS_AT_ONCE, STEPS_AT_ONCE // (task.rows * schedule.substeps)))
        instants = (2 if continuous else 1) * self.most + 1
        self.targets = [np.zeros((instants, math.prod(core))) for core in formulas.targets.values()]
        self.memory = [columns(task.rows, self.most + 2, math.prod(core)) for core in formulas.memory.values()]
        self._added: Array | None = None
        if formulas.added and task.forces is not None:
            self._added = task.forces.reshape(-1, schedule.periods, m)
            self.added = columns(len(self._added), self.most + 1, m)
        self.push = self._push_room()
        self.noise = columns(task.rows, self.most + 1, *formulas.noise.get(NOISE, (0,)))
        self._drawn: Noise | None = None
        self._still, self._ahead = columns(1, max(self.widths)), formulas.h * np.array((0.0, *STAGES))
        cores = formulas.gains | formulas.fields | formulas.limits
        given = zip(cores.items(), task.constants, strict=True)
        self._fixed = {name: _of_rows(value, core) for (name, core), value in given}
        if isinstance(task.payload, VaryingPayload):
            self.payloads = columns(1, self.most + 1, *PAYLOAD.core)
            self._fixed[PAYLOAD.name] = Place(self.payloads, 0, 0, self.payloads.strides[1])

    @property
    def stepped_by(self) -> str:
        return f"{MACHINE_CODE}; {counted(self.by_methods, 'step')} by {METHODS}" if self.by_methods else MACHINE_CODE

    def records(
        self, kept: Sequence[int], report: Callable[[float], None], memory: Sequence[Array] = ()
    ) -> tuple[Array, Array, Array]:
        """Positions, velocities and forces (N, k, ...) at these instants, which are counted in periods.

        With limits, forces are followed by those wanted.
        memory: from `memory_room`, to keep the memory, too
        """
        task, schedule = self.task, self.task.schedule
        fill(self.state, self.space.pack(task.position, task.velocity))
        self.begin()
        found = self.room(len(kept))
        for k in self.walk(found, np.array(kept) * schedule.substeps, 0, schedule.periods, memory):
            report(k / schedule.periods)
        *last, force = (part[:, -1] for part in found)
        self._ask_again(schedule.periods, 0, np.arange(task.rows), np.concatenate(last, axis=-1), force)
        return (*self.read(found[:-1]), found[-1])

    def segment(
        self, y: Array, memory: Sequence[Array], first: int, last: int
    ) -> tuple[Sequence[Array], Array, list[Array]]:
        """The parts of the state, the forces, and at the begin of periods the memory, (N, k, ...) before every step.

        y, memory: at the first of the periods
        """
        fill(self.state, y)
        self.recall(memory)
        substeps = self.task.schedule.substeps
        count = (last - first) * substeps
        (*parts, force), remembered = self.room(count), self.memory_room(count)
        for _ in self.walk([*parts, force], np.arange(count) + first * substeps, first, last, remembered):
            pass
        return parts, force, remembered

    def walk(
        self, kept: Sequence[Array], steps: Array, first: int, last: int, memory: Sequence[Array] = ()
    ) -> Iterator[int]:
        """From one period to another, a part at a time: gives the period that is reached.

        kept, memory: from `room` and `memory_room`
        steps:        what is kept is before these, in order; the last may be the end
        """
        loop, substeps, place = self.loop(kept), self.task.schedule.substeps, 0
        for begin in range(first, last, self.most):
            end = min(begin + self.most, last)
            self._prescribe(begin, end)
            places = np.full((end - begin) * substeps + 1, -1)
            following = int(np.searchsorted(steps, end * substeps, side="right" if end == last else "left"))
            now, places_now = steps[place:following] - begin * substeps, np.arange(place, following)
            places[now] = places_now
            place = following
            self.run(loop, places, begin, kept[len(self.widths)])
            asked = now % substeps == 0
            for into, known in zip(memory, self.memory, strict=False):
                into[:, places_now[asked]] = _rows(known[:, now[asked] // substeps])[: len(into)]
            self._remember(end - begin)
            yield end

    def run(self, loop: TimeLoop, places: Array, begin: int = 0, forces: Array | None = None) -> None:
        """All steps of a loop, those included that its kernels refuse.

        places: as `TimeLoop.run` has them; begin: period in which the loop begins; forces: memory of their records
        """
        loop.restart()
        while not loop.run(places):
            self._mend(loop, begin, places, forces)

    def advance(self, y: Array, first: int) -> tuple[Array, Array, Force | None]:
        """A single row: states (k, m) of each step, from that at a period on, their rates, and the forces.

        Forces and rates are those until the last state, and at the end of the run its own. There is the state alone and
        no force where the first period runs away, has forces that are not finite, or is left to the robot's own
        methods.
        """
        schedule, m = self.task.schedule, len(self.task.plant.actuators)
        most = max(1, ROWS_AT_ONCE // schedule.substeps)
        if self._one is None:
            kept = self.room(most * schedule.substeps + 1, rates=True)
            self._one = self.loop(kept), kept
        loop, kept = self._one
        fill(self.state, y[None])
        if not first:
            self.begin()
        last = min(first + most, schedule.periods)
        self._prescribe(first, last)
        steps = (last - first) * schedule.substeps
        loop.restart()
        loop.run(np.arange(steps + 1))
        *parts, forces, rates = (values[0] for values in kept)
        done = int(loop.done[0] - loop.stopped[0])
        at_the_end = done == steps and last == schedule.periods
        sound = np.isfinite(forces[: done + at_the_end]).all(axis=-1)
        until = len(sound) if sound.all() else int(sound.argmin())
        good = min(until, done) // schedule.substeps * schedule.substeps
        self._remember(good // schedule.substeps)
        until = until if until > done else good
        given, wanted = forces[:until, :m].copy(), forces[:until, m:] if self.formulas.limits else forces[:until]
        force = Force(given, given != wanted) if until else None
        return np.concatenate([part[: good + 1] for part in parts], axis=-1), rates[:until].copy(), force

    def _push_room(self) -> Array | None:
        """Memory for the wrenches and the times of all stages; None without a disturbance."""
        if self.task.disturbance is None:
            return None
        self.most = max(1, min(self.most, PUSHES_AT_ONCE // self.task.schedule.substeps))
        steps = self.most * self.task.schedule.substeps + 1
        self.push_times = np.zeros((steps, 3))
        return columns(self.task.disturbance.sampled_rows if WRENCH in self.formulas.push else 1, steps, 3, 6)

    def begin(self) -> None:
        """Let the memory and the noise be those at the begin of a run."""
        self.recall(self.task.memory)
        if self.formulas.noise and self.task.sensing is not None:
            self._drawn = Noise(self.task.sensing, self.task.rows)

    def room(self, places: int, *, rates: bool = False) -> list[Array]:
        """Memory for so many records: the parts of the state, the forces, and the rates of the state."""
        numbers = [*self.widths, self.force.shape[1], *([self.state.shape[1]] if rates else [])]
        return [np.empty((self.task.rows, places, each)) for each in numbers]

    def memory_room(self, places: int) -> list[Array]:
        """The same for the memory, at the begin of periods."""
        return [np.empty((self.task.rows, places, known.shape[2])) for known in self.memory]

    def loop(self, kept: Sequence[Array]) -> TimeLoop:
        """kept: from `room`, or the first of these"""
        formulas, stages = self.formulas, len(self._ahead)
        number = self.state.itemsize
        column = number * rows_at_once()
        at = [column * sum(self.widths[:k]) for k in range(len(self.widths))]
        size = column * sum(self.widths)

        def parts(names: Mapping[str, Shape], array: Array | None, place: int = 0) -> dict[str, Place]:
            block = 0 if array is None else array.strides[0]
            return {name: Place(array, place * size + k, block) for name, k in zip(names, at, strict=True)}

        state, force = parts(formulas.state, self.state), Place(self.force, 0, self.force.strides[0])
        fixed = {**state, **self._fixed, FORCE: force}
        sources = [*state.values(), force, Place(None)]
        with_rates = len(kept) == len(sources)  # they are those of the first stage
        if self._added is not None:
            block, instant = self.added.strides[:2]
            fixed[ADDED] = Place(self.added, 0, block if len(self.added) > 1 else 0, instant)
        if self.push is not None:
            block, each = self.push.strides[:2]
            fixed[WRENCH] = Place(self.push, 0, block if len(self.push) > 1 else 0, 0, each)
            fixed[PUSH_TIME] = Place(self.push_times, 0, 0, 0, self.push_times.strides[0])
        fixed[NOISE] = Place(self.noise, 0, *self.noise.strides[:2])
        renewed = []  # the memory of the next instant has another place: results must not overwrite arguments
        for name, memory in zip(formulas.memory, self.memory, strict=True):
            block, instant = memory.strides[:2]
            fixed[name] = Place(memory, 0, block, instant)
            renewed.append(Place(memory, instant, block, instant))
        calls: tuple[list[Call], list[Call], list[Call]] = ([], [], [])
        slopes, ends = dict.fromkeys(formulas.slopes(), Place(self._still)), dict(state)
        for stage in range(stages):
            before = {**fixed, **slopes, AHEAD: Place(self._ahead, stage * number)}
            for name, target in zip(formulas.targets, self.targets, strict=True):
                instant = target.strides[0]
                halves = round(2 * self._ahead[stage] / formulas.h) if self.continuous else 0
                before[name] = Place(target, halves * instant, 0, 2 * instant if self.continuous else instant)
            if self.push is not None:
                part = round(2 * self._ahead[stage] / formulas.h)  # of a step, in halves
                for name, array, inner in ((WRENCH, self.push, 2), (PUSH_TIME, self.push_times, 1)):
                    before[name] = fixed[name]._replace(offset=part * array.strides[inner])
            if self._law is not None and (stage == 0 or self.continuous):
                calls[2 if stage else 0].append(_call(self._law, before, [force, *renewed]))
            slopes = parts(formulas.slopes(), None, stage)
            calls[1 if with_rates and not stage else 2].append(_call(self._stage, before, list(slopes.values())))
            ends |= parts(formulas.slopes(stage), None, stage)
        calls[2].append(_call(self._end, ends, list(parts(formulas.state, None, stages).values())))
        return TimeLoop(
            calls,
            [Record(source, array) for source, array in zip(sources, kept, strict=False)],
            self.state,
            self.task.rows,
            private=(stages + 1) * size,
            reached=stages * size,
            hold=self.task.schedule.substeps,
            watched=self.watched,
        )

    def parted(self, y: Array) -> list[Array]:
        return np.split(y, np.cumsum(self.widths)[:-1], axis=-1)

    def read(self, parts: Sequence[Array]) -> tuple[Array, Array]:
        """Positions and velocities."""
        if type(self.space) is PlainState:
            return parts[0], parts[1]
        position, velocity = self._unpack(*parts)
        return position, velocity

    @computed_once
    def _unpack(self) -> Kernel:
        """From the parts of states to positions and velocities."""
        return backend_of("cpu").compile(self.formulas.unpacked(), "float64")

    @property
    def memory_now(self) -> list[Array]:
        """(rows, numbers) each, at the instant that is reached."""
        return [_rows(memory[:, 0])[: self.task.rows] for memory in self.memory]

    def recall(self, memory: Sequence[Array]) -> None:
        """Go on with another memory, of each row or of all."""
        for kept, given in zip(self.memory, memory, strict=True):
            fill(kept[:, 0], np.broadcast_to(given.reshape(-1, kept.shape[2]), (self.task.rows, kept.shape[2])))

    def _remember(self, instants: int) -> None:
        """Let the memory that was reached be the first."""
        for memory in self.memory:
            memory[:, 0] = memory[:, instants]

    def _ask_again(self, begin: int, instant: int, rows: Array, y: Array, force: Array) -> None:
        """Put the answer of the law's own methods, and the memory after it, where its formulas refuse one.

        instant: since the period `begin`, as in the memory
        """
        lost = np.isnan(force).any(axis=-1) & np.isfinite(y).all(axis=-1)
        if self.own is None or self.task.controller is None or not lost.any():
            return
        chosen = rows[lost]
        block, lane = np.divmod(chosen, rows_at_once())
        known = [memory[block, instant, :, lane] for memory in self.memory]
        force[lost], renewed = self._methods(self.own).forces(begin + instant, y[lost], chosen, known)
        for memory, numbers in zip(self.memory, renewed, strict=True):
            memory[block, instant + 1, :, lane] = numbers

    def _methods(self, own: Callable[[], MethodLoop]) -> MethodLoop:
        if self._steps is None:
            self._steps = own()
            self._steps.reasons = self.reasons
        if self._drawn is not None:
            self._steps.actuation.noise = self._drawn
        return self._steps

    def _prescribe(self, begin: int, end: int) -> None:
        """Targets and added forces of these periods, and of the instant at their end."""
        task, count = self.task, end + 1 - begin
        if task.controller is not None and task.motion is not None:
            halves = np.arange(2 * begin, 2 * end + 1) if self.continuous else 2 * np.arange(begin, end + 1)
            times = task.schedule.period * (halves / 2)
            for target, sampled in zip(self.targets, (*task.motion.sample(times), times[:, None]), strict=False):
                target[: len(times)] = sampled
        if self._added is not None:
            given = self._added[:, begin : end + 1]
            fill(self.added[:, : given.shape[1]], given)
            self.added[:, given.shape[1] : count] = 0.0
        if isinstance(task.payload, VaryingPayload):
            fill(self.payloads[:, :count], task.payload.numbers(begin, end + 1)[None])
        if self.push is not None and task.disturbance is not None:
            first, last = begin * task.schedule.substeps, end * task.schedule.substeps
            times = stage_times(task.schedule.step, np.arange(first, last + 1))
            times = np.minimum(times, task.schedule.step * task.schedule.periods * task.schedule.substeps)
            self.push_times[: len(times)] = times
            if WRENCH in self.formulas.push:
                fill(self.push[:, : len(times)], np.moveaxis(task.disturbance.sampled(times), -2, 0))
        if self._drawn is not None:
            fill(self.noise[:, :count], self._drawn.between(begin, end + 1))

    def _mend(self, loop: TimeLoop, begin: int, places: Array, kept: Array | None) -> None:
        """The last step of rows that the kernels have refused, by other steps."""
        assert self.own is not None  # nothing stops the loop without
        lanes, (blocks,) = rows_at_once(), np.nonzero(loop.stopped)
        reached, before, force = (_rows(x[blocks]) for x in (self.state, loop.before, self.force))
        rows = (blocks[:, None] * lanes + np.arange(lanes)).ravel()
        refused = np.isnan(reached[:, 0]) & np.isfinite(before).all(axis=-1) & (rows < self.task.rows)
        rows = rows[refused]
        if not len(rows):
            return
        self.by_methods += len(rows)
        before, force, steps = before[refused], force[refused], loop.done[rows // lanes] - 1
        for step in np.unique(steps).tolist():
            now = np.flatnonzero(steps == step)
            answer = force[now]
            self._ask_again(begin, step // self.task.schedule.substeps, rows[now], before[now], answer)
            force[now] = answer
            if kept is not None and places[step] >= 0:
                kept[rows[now], places[step]] = answer
        self.force[rows // lanes, :, rows % lanes] = force
        self.put(
            rows, self._methods(self.own).some_held(rows, before, force, begin * self.task.schedule.substeps + steps)
        )

    def put(self, rows: Array, y: Array) -> None:
        """Let rows have other states (k, numbers); the last one fills the last block."""
        lanes = rows_at_once()
        self.state[rows // lanes, :, rows % lanes] = y
        last = (self.task.rows - 1) % lanes
        self.state[-1, :, last + 1 :] = self.state[-1, :, last : last + 1]

    def vary(self, fields: Fields) -> None:
        """Take other fields of the plant, (rows, *core) each. Those of the task must be changed as well."""
        for name, value in fields.items():
            array = self._fixed[name].array
            assert array is not None  # no thread has fields of its own
            fill(array, value.reshape(len(value), -1))
        self._steps = None

    @property
    def state_now(self) -> list[Array]:
        """The parts of the states, (rows, numbers) each."""
        return self.parted(_rows(self.state)[: self.task.rows])


def compiled_loop(task: RolloutTask, own: Callable[[], MethodLoop] | None = None, **options: Any) -> CompiledLoop | str:
    """The loop, or the reason why there is none."""
    if not kernels_allowed():
        return "kernels are switched off"
    try:
        return CompiledLoop(task, task.formulas(), own, **options)
    except NoKernelError as error:
        return str(error)


def _compiled(specification: Specification) -> Named:
    return block_kernel(specification, SHARED), [name for name, _ in specification.arguments]


def _call(kernel: Named, places: Places, results: Sequence[Place]) -> Call:
    code, names = kernel
    return Call(code, [*(places[name] for name in names), *results])


def _rows(values: Array) -> Array:
    """(rows, ...) of columns (blocks, ..., lanes), in memory of their own."""
    rows = np.moveaxis(values, -1, 1).copy()
    return rows.reshape(len(rows) * rows.shape[1], *rows.shape[2:])


def _of_rows(value: Array, core: Shape) -> Place:
    """Of a value (core), (1, *core) or (rows, *core)."""
    rows = np.reshape(value, (-1, math.prod(core)))
    whole = columns(len(rows), rows.shape[1])
    fill(whole, rows)
    return Place(whole, 0, whole.strides[0] if len(rows) > 1 else 0)
