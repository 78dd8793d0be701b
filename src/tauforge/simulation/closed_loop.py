"""Controller, sensors, actuators and disturbance as one function of time and state, and the recorder of a run.

Sensors pass positions and velocities through converters with a number of bits, and add noise. The recorder works block
after block and needs no more memory than the rows that it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_number
from tauforge.control.controller import Controller, RunningLaw
from tauforge.errors import ConvergenceError, ModelError, ShapeError
from tauforge.motion.motion import Motion, MotionSample
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import Law, numbers
from tauforge.simulation.compiled_loop import ROWS_AT_ONCE, CompiledLoop, Force
from tauforge.simulation.events import Watch
from tauforge.simulation.integrators import ENDING_ERRORS, Rates, Stop
from tauforge.simulation.recording import METHODS, Recording
from tauforge.tables.robot_columns import state_columns

Disturbance = Callable[[float], ArrayLike] | None


class ClosedLoop:
    """Forces and wrenches at any time; the controller is reset when a loop is made."""

    def __init__(
        self,
        robot: Robot,
        controller: Law,
        motion: Motion | None,
        sensors: Sensors | None,
        disturbance: Disturbance,
        limits: Array | None,
    ) -> None:
        self.robot, self.space, self.actuators = robot, robot.state_space, len(robot.actuators)
        self.controller, self.motion, self.sensors = controller, motion, sensors
        self.disturbance, self.limits = disturbance, limits
        self._last: tuple[float, Array, Force] | None = None
        self._law = RunningLaw(controller) if isinstance(controller, Controller) else None
        self._seen: tuple[float, Array, Array, MotionSample] | None = None
        if sensors is not None:
            sensors.reset()
        if disturbance is not None and not callable(disturbance):
            raise ModelError(f"expected a callable of the time, got {disturbance!r}", field="disturbance")

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
        wanted = self._wanted(t, y)
        given = wanted if self.limits is None else np.clip(wanted, -self.limits, self.limits)
        if self._law is not None and self._seen is not None:
            self._law.remember(*self._seen, given)
        self._last = (t, y.copy(), Force(given, given != wanted))
        return self._last[2]

    def _wanted(self, t: float, y: Array) -> Array:
        """(m,) forces that the law asks for."""
        m = self.actuators
        if self.controller is None:
            return np.zeros(m)
        position, velocity = np.array(self.space.position(y)), np.array(self.space.velocity(y))
        if self.sensors is not None:
            measured, velocity = self.sensors.read(self.robot.positions.coordinates(position), velocity)
            position = self.robot.positions.at(measured, near=position)
        if self._law is not None:
            assert self.motion is not None
            self._seen = (t, position, velocity, self.motion.sample(t))
            wanted = self._law.force(*self._seen)
        else:
            assert not isinstance(self.controller, Controller)
            answer = self.controller(t, position, velocity)
            wanted = numbers(answer)
            if wanted.shape != (m,):
                raise ShapeError("controller", expected=f"{m} forces", got=f"{answer!r}")
        _check_finite(wanted, f"the controller returned non-finite forces at t = {t:.6g} s")
        return wanted

    @property
    def memory(self) -> list[Array]:
        """Memory of the law at this moment."""
        return [] if self._law is None else self._law.memory

    def recall(self, memory: Sequence[Array]) -> None:
        """Go on with another memory, when steps were made without this loop."""
        if self._law is not None:
            self._law.recall(memory)

    def wrench(self, t: float) -> Array | None:
        if self.disturbance is None:
            return None
        answer = self.disturbance(t)
        wrench = numbers(answer)
        if wrench.shape != (6,):
            raise ShapeError("disturbance", expected="(6,), a force and a moment", got=f"{answer!r}")
        _check_finite(wrench, f"the disturbance returned a non-finite wrench at t = {t:.6g} s")
        return wrench

    def rates(self, held: Force | None) -> Rates:
        """Time derivatives of the state under forces that are held, or that the law gives at any time."""

        def rates(t: float, y: Array) -> Array:
            force = (self.force(t, y) if held is None else held).given
            return self.space.rates_under(y, force, self.wrench(t))

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
                wrench = np.array([self.loop.wrench(t) for t in times[unknown].tolist()])
            rates[unknown] = space.rates_under(rows[unknown], force[unknown], wrench)
        place = slice(self._kept, self._kept + len(kept))
        found = (times, position, velocity, space.velocity(rates), force)
        for column, values in zip(self._columns.values(), found, strict=True):
            column[place] = values[kept]
        self._seen += len(times)
        self._kept = place.stop

    def recording(self, motion: Motion | None) -> Recording:
        self._flush(end=True)
        columns = {name: column[: self._kept] for name, column in self._columns.items()}
        controller = self.loop.controller
        if motion is None or (isinstance(controller, Controller) and controller.task_space):  # of the tool, not joints
            target_position = target_velocity = np.full_like(columns["velocity"], np.nan)
        else:
            target_position, target_velocity, _ = motion.sample(columns["time"])
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
            stepped_by=f"{METHODS}: {loop}" if isinstance(loop, str) else loop.stepped_by,
        )


class Sensors:
    """bits: of the position's converter over `span`, None for none; noise: standard deviations; seed: of the noise.

    span: rad or m that 2^bits steps cover, every coordinate alike: 12 bits over 2 pi have steps of 1.53e-3 rad. The
          converter counts on beyond it
    """

    def __init__(
        self,
        bits: int | None = None,
        span: float = 2 * np.pi,
        position_noise: float = 0.0,
        velocity_noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        whole = isinstance(bits, int | np.integer) and not isinstance(bits, bool)
        if bits is not None and not (whole and 1 <= bits <= 64):
            raise ModelError(f"expected a whole number from 1 to 64 or None, got {bits!r}", field="bits")
        for name, value in (("span", span), ("position_noise", position_noise), ("velocity_noise", velocity_noise)):
            if not 0 <= real_number(value) < np.inf:
                raise ModelError(f"expected a number >= 0, got {value!r}", field=name)
        if not span > 0:
            raise ModelError("expected a number > 0, got 0", field="span")
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ModelError(f"expected a whole number >= 0, got {seed!r}", field="seed")
        self.bits, self.span, self.seed = bits, float(span), seed
        self.position_noise, self.velocity_noise = float(position_noise), float(velocity_noise)
        self.reset()

    @property
    def resolution(self) -> float:
        """rad or m, one step of the converter; 0 without one."""
        return 0.0 if self.bits is None else self.span / 2**self.bits

    @property
    def noisy(self) -> bool:
        return self.position_noise > 0 or self.velocity_noise > 0

    def reset(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def read(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        if self.position_noise:
            position = position + self._rng.normal(0, self.position_noise, position.shape)
        if self.velocity_noise:
            velocity = velocity + self._rng.normal(0, self.velocity_noise, velocity.shape)
        if self.bits is not None:
            position = np.round(position / self.resolution) * self.resolution
        return position, velocity
