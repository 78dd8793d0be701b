"""Controller, sensors, actuators and disturbance as one function of time and state, and the recorder of a run.

The recorder works block after block and needs no more memory than the rows that it keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller, RunningLaw
from tauforge.errors import ConvergenceError, ShapeError, UnsupportedFeatureError
from tauforge.evaluation.arguments import in_rows
from tauforge.motion.motion import MotionSample
from tauforge.robots.loads import Payload
from tauforge.robots.poses import pose_error, transforms
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import Law, numbers
from tauforge.simulation.compiled_loop import ROWS_AT_ONCE, CompiledLoop, Force
from tauforge.simulation.events import Watch
from tauforge.simulation.integrators import ENDING_ERRORS, Rates, Stop
from tauforge.simulation.method_loop import RatesUnder, rates_of
from tauforge.simulation.recording import METHODS, Recording
from tauforge.simulation.sensors import Actuation
from tauforge.simulation.task import RolloutTask, VaryingPayload
from tauforge.tables.robot_columns import state_columns


class ClosedLoop:
    """Forces and wrenches at any time; the controller is reset when a loop is made."""

    def __init__(self, controller: Law, task: RolloutTask) -> None:
        self.task, self.robot, self.space = task, task.plant, task.plant.state_space
        self.controller, self.disturbance = controller, task.disturbance
        self.actuators = len(self.robot.actuators)
        self.actuation = Actuation(self.robot, task.sensing, task.limits, task.delay, task.position, alone=True)
        self._last: tuple[float, Array, Force] | None = None
        self._carrying: tuple[bytes, RatesUnder] | None = None  # of the payload whose numbers these are
        self._law: RunningLaw | None = None
        if isinstance(controller, Controller):
            controller.reset()
            self._law = RunningLaw(controller)
        self._seen: tuple[float, Array, Array, MotionSample] | None = None

    def asked(self, t: float, y: Array) -> tuple[Force, Stop | None]:
        """The forces at a row of the recording. Where the law fails they are NaN, and the second result says why."""
        try:
            return self.force(t, y), None
        except ENDING_ERRORS as error:
            none = np.full(self.actuators, np.nan)
            return Force(none, np.zeros(self.actuators, bool)), Stop(error.reason, error)

    def force(self, t: float, y: Array) -> Force:
        """The forces at a state. A law may keep state between calls, so it is called only once for each time."""
        if self._last is not None and self._last[0] == t and np.array_equal(self._last[1], y):
            return self._last[2]
        k = round(t / self.task.schedule.period)
        asked, added = self._asked(k, t, y), self.task.added(k)
        given, wanted = (x[0] for x in self.actuation.given(asked[None], 0.0 if added is None else added))
        if self._law is not None and self._seen is not None:
            self._law.remember(*self._seen, given)
        self._last = (t, y.copy(), Force(given, given != wanted))
        return self._last[2]

    def _asked(self, k: int, t: float, y: Array) -> Array:
        """(m,) forces that the law asks for."""
        m, motion = self.actuators, self.task.motion
        if self.controller is None:
            return np.zeros(m)
        state = np.array(self.space.position(y))[None], np.array(self.space.velocity(y))[None]
        position, velocity = (x[0] for x in self.actuation.sensed(k, *state))
        if self._law is not None:
            assert motion is not None
            self._seen = (t, position, velocity, motion.sample(t))
            asked = self._law.force(*self._seen)
        else:
            assert not isinstance(self.controller, Controller)
            answer = self.controller(t, position, velocity)
            asked = numbers(answer)
            if asked.shape != (m,):
                raise ShapeError("controller", expected=f"{m} forces", got=f"{answer!r}")
        _check_finite(asked, f"the controller returned non-finite forces at t = {t:.6g} s")
        return asked

    @property
    def memory(self) -> list[Array]:
        """Memory of the law, and of what is around it, at this moment."""
        return [*([] if self._law is None else self._law.memory), *self.actuation.memory]

    def recall(self, memory: Sequence[Array]) -> None:
        """Go on with another memory, when steps were made without this loop."""
        own = len(memory) - len(self.actuation.memory)
        if self._law is not None:
            self._law.recall(memory[:own])
        self.actuation.recall(memory[own:])

    def wrench(self, t: float, y: Array) -> Array | None:
        if self.disturbance is None:
            return None
        return self.disturbance.alone(t, self.space.position(y), self.space.velocity(y))

    def rates(self, held: Force | None, period: int) -> Rates:
        """Time derivatives of the state under forces that are held, or that the law gives at any time.

        period: its number, which says what the plant holds
        """
        under = self.rates_in(period)

        def rates(t: float, y: Array) -> Array:
            force = (self.force(t, y) if held is None else held).given
            return under(y, force, self.wrench(t, y))

        return rates

    def rates_in(self, period: int) -> RatesUnder:
        """Time derivatives of a state under a force and a wrench, in a control period."""
        payload = self.task.payload
        if not isinstance(payload, VaryingPayload):
            return self.space.rates_under
        held = payload.at(period)
        numbers = held.numbers().tobytes()
        if self._carrying is None or self._carrying[0] != numbers:
            self._carrying = numbers, self._rates_with(held, period)
        return self._carrying[1]

    def _rates_with(self, payload: Payload, period: int) -> RatesUnder:
        row = rates_of(self.robot, in_rows(self.robot, self.task.fields_in(period), 1), 1)

        @cache
        def by_methods() -> RatesUnder:
            return self.robot.carrying(payload).state_space.rates_under

        def rates(y: Array, force: Array, wrench: Array | None) -> Array:
            try:
                return np.asarray(row(y[None], force[None], None if wrench is None else wrench[None])[0])
            except UnsupportedFeatureError:  # fields vary in kernels only
                return by_methods()(y, force, wrench)

        return rates


def _check_finite(values: Array, problem: str) -> None:
    if not np.isfinite(values).all():
        raise ConvergenceError(f"{problem}: {values}", residual=np.nan, iterations=0)


class RecordingBuilder:
    """Makes a recording of rows of states. Every row is searched for events; one in `every` and the last are kept.

    stepped_by: the time loop by kernels, or the reason why there is none
    """

    def __init__(self, loop: ClosedLoop, every: int, steps: int, stepped_by: CompiledLoop | str) -> None:
        self.loop, self.robot, self.every, self.stepped_by = loop, loop.robot, every, stepped_by
        self.watch = Watch(self.robot, [actuator.name for actuator in self.robot.actuators])
        count, n, robot = -(-steps // every) + 1, self.robot.n, self.robot
        widths = {"position": robot.positions.size, "velocity": n, "acceleration": n, "force": len(robot.actuators)}
        self._columns = {"time": np.empty(count), **{k: np.empty((count, width)) for k, width in widths.items()}}
        self._pending: list[tuple[Array, ...]] = []
        self._seen = self._kept = 0

    @property
    def begun(self) -> bool:
        return bool(self._seen or self._pending)

    def write(self, times: Array, rows: Array, force: Force, rates: Array | None = None) -> None:
        """Add rows at the first of the times, under these forces; one row at a time if the law is asked in between."""
        if not len(rows):
            return
        if sum(len(block[0]) for block in self._pending) >= ROWS_AT_ONCE:  # what comes last stays to be kept
            self._flush()
        rates = np.full(rows.shape, np.nan) if rates is None else rates[: len(rows)]
        given, clipped = (x[: len(rows)] if x.ndim > 1 else np.broadcast_to(x, (len(rows), len(x))) for x in force)
        self._pending.append((times[: len(rows)], rows, given, clipped, rates))

    def _flush(self, *, end: bool = False) -> None:
        if not self._pending:
            return
        times, rows, force, clipped, rates = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        self._pending.clear()
        space = self.loop.space
        position, velocity = space.position(rows), space.velocity(rows)
        self.watch.look(times, position, velocity, clipped)
        kept = np.arange((-self._seen) % self.every, len(times), self.every)
        if end and (not len(kept) or kept[-1] != len(times) - 1):
            kept = np.append(kept, len(times) - 1)
        unknown = kept[np.isnan(rates[kept]).any(axis=-1)]  # most often all or none
        if len(unknown):
            wrench = None
            if self.loop.disturbance is not None:
                wrench = np.array([self.loop.wrench(times[k], rows[k]) for k in unknown])
            rates[unknown] = self._rates(times[unknown], rows[unknown], force[unknown], wrench)
        place = slice(self._kept, self._kept + len(kept))
        found = (times, position, velocity, space.velocity(rates), force)
        for column, values in zip(self._columns.values(), found, strict=True):
            column[place] = values[kept]
        self._seen += len(times)
        self._kept = place.stop

    def _rates(self, times: Array, rows: Array, force: Array, wrench: Array | None) -> Array:
        """Time derivatives of rows of states, (k, m)."""
        if not isinstance(self.loop.task.payload, VaryingPayload):
            return self.loop.space.rates_under(rows, force, wrench)
        schedule = self.loop.task.schedule
        periods = np.floor((times + schedule.step / 2) / schedule.period).astype(int).tolist()
        pushes = [None] * len(rows) if wrench is None else wrench
        return np.array([self.loop.rates_in(k)(*row) for k, *row in zip(periods, rows, force, pushes, strict=True)])

    def recording(self) -> Recording:
        self._flush(end=True)
        motion = self.loop.task.motion
        columns = {name: column[: self._kept] for name, column in self._columns.items()}
        controller, tool_error = self.loop.controller, None
        target_position = target_velocity = np.full_like(columns["velocity"], np.nan)
        if motion is not None:
            target_position, target_velocity, _ = motion.sample(columns["time"])
            if isinstance(controller, Controller) and controller.task_space:
                tool_error = error_of_tool(self.robot, columns["position"], target_position)
                target_position = target_velocity = np.full_like(columns["velocity"], np.nan)
        robot, entries, loop = self.robot, self.robot.positions.entries, self.stepped_by
        return Recording(
            **columns,
            target_position=np.array(target_position),
            target_velocity=np.array(target_velocity),
            names=tuple(entry.name for entry in entries),
            force_names=tuple(actuator.name for actuator in robot.actuators),
            units=tuple(entry.unit for entry in entries),
            force_units=tuple(actuator.unit for actuator in robot.actuators),
            robot=robot.name,
            events=tuple(sorted(self.watch.events)),
            columns=tuple(column.name for group in state_columns(robot) for column in group),
            wrapped=tuple(entry.name for entry in entries if entry.wraps),
            coordinates=() if entries == robot.coordinates else tuple(c.name for c in robot.coordinates),
            tool_error=tool_error,
            stepped_by=f"{METHODS}: {loop}" if isinstance(loop, str) else loop.stepped_by,
        )


def error_of_tool(robot: Robot, position: Array, target: Array) -> Array | None:
    """(..., 6) from the tool to poses (..., 6): translation and rotation vector in world axes; None without a tool."""
    return None if robot.moved_body is None else pose_error(transforms(target), robot.moved_body.frames(position))
