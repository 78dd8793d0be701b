"""The rows of a world, where they are stepped: in a compiled loop, by the robot's own methods, or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tauforge.arrays import Array
from tauforge.kernels.backends import backend_of
from tauforge.kernels.cuda import arrays
from tauforge.simulation.compiled_loop import STEPS_AT_ONCE, CompiledLoop
from tauforge.simulation.gpu_rollouts import gpu_formulas
from tauforge.simulation.method_loop import MethodLoop
from tauforge.simulation.rollouts import loop_of
from tauforge.simulation.task import RolloutTask

Found = Sequence[Any]  # positions (n, N) and velocities (n, n), new arrays


class WorldRows(Protocol):
    """All rows, where they are stepped. loop: what steps them and knows their reasons; None on a GPU"""

    @property
    def loop(self) -> CompiledLoop | MethodLoop | None: ...

    def put(self, rows: Array, y: Array) -> None:
        """Let these rows have other states (k, numbers)."""

    def vary(self) -> None:
        """Take the fields of the task, whose numbers were changed."""

    def read(self) -> Found: ...

    def step(self, force: Any, steps: int) -> Found:
        """force: (n, m) or (m,), held over all steps"""


class CompiledRows:
    """All rows in the columns of a compiled loop."""

    def __init__(self, loop: CompiledLoop) -> None:
        self.loop, rows = loop, loop.task.rows
        self._shapes = [(rows, width) for width in loop.widths]
        self._loop = loop.loop(loop.room(1)[: len(loop.widths)])
        self._force = loop.force.swapaxes(1, 2)  # (blocks, lanes, m)
        full, last = divmod(rows, self._force.shape[1])
        self._full, self._last, self._whole = self._force[:full], self._force[full:, :last], rows - last
        self._places, self._most = np.array([-1, 0]), max(1, STEPS_AT_ONCE // rows)

    def put(self, rows: Array, y: Array) -> None:
        self.loop.put(rows, y)

    def vary(self) -> None:
        self.loop.vary(self.loop.task.fields)

    def read(self) -> Found:
        return self.loop.read(self.loop.state_now)

    def step(self, force: Array, steps: int) -> Found:
        if force.ndim == 1:
            self._force[...] = force
        else:
            self._full[...] = force[: self._whole].reshape(self._full.shape)
            self._last[...] = force[self._whole :]
        kept = [np.empty(shape) for shape in self._shapes]
        self._loop.keep(kept)
        for left in range(steps, 0, -self._most):
            count = min(left, self._most)
            if len(self._places) != count + 1:
                self._places = np.full(count + 1, -1)
            self._places[-1] = 0 if count == left else -1
            self.loop.run(self._loop, self._places)
        return self.loop.read(kept)


class MethodRows:
    """All rows as states of the integrators."""

    def __init__(self, loop: MethodLoop) -> None:
        self.loop, task = loop, loop.task
        self.y = np.array(loop.space.pack(task.position, task.velocity))

    def put(self, rows: Array, y: Array) -> None:
        self.y[rows] = y

    def vary(self) -> None:
        before, self.loop = self.loop, MethodLoop(self.loop.task)
        self.loop.stepped_by, self.loop.reasons = before.stepped_by, before.reasons

    def read(self) -> Found:
        return np.array(self.loop.space.position(self.y)), np.array(self.loop.space.velocity(self.y))

    def step(self, force: Array, steps: int) -> Found:
        forces = np.array(np.broadcast_to(force, (len(self.y), force.shape[-1])))
        with np.errstate(all="ignore"):
            for _ in range(steps):
                self.y = self.loop.held(self.y, forces)
        return self.read()


class GpuRows:
    """All rows on a GPU: one kernel makes a step, by which the state stays there."""

    loop = None

    def __init__(self, task: RolloutTask) -> None:
        formulas, cupy, cuda, dtype = gpu_formulas(task), arrays.cupy(), backend_of("cuda"), str(task.position.dtype)
        self._held = cuda.compile(formulas.held_step(), dtype)
        self._unpacked = cuda.compile(formulas.unpacked(), dtype) if task.may_refuse else None
        self._forced, self._widths = bool(formulas.forces), [numbers for (numbers,) in formulas.state.values()]
        self._state: list[Any] = [cupy.empty((task.rows, width), dtype) for width in self._widths]
        self._fixed = [cupy.asarray(value, dtype) for value in task.plant_numbers.values()]

    def put(self, rows: Array, y: Array) -> None:
        cupy = arrays.cupy()
        for part, values in zip(self._state, np.split(y, np.cumsum(self._widths)[:-1], axis=-1), strict=True):
            part[cupy.asarray(rows)] = cupy.asarray(values, part.dtype)

    def vary(self) -> None:
        """The kernel reads the fields of the task themselves."""

    def read(self) -> Found:
        return [x.copy() for x in self._state] if self._unpacked is None else self._unpacked(*self._state)

    def step(self, force: Any, steps: int) -> Found:
        for _ in range(steps):
            found = self._held(*self._state, *([force] if self._forced else []), *self._fixed)
            self._state = list(found) if isinstance(found, tuple) else [found]
        return self.read()


def rows_of(task: RolloutTask) -> WorldRows:
    if task.on_gpu:
        return GpuRows(task)
    loop = loop_of(task)
    return CompiledRows(loop) if isinstance(loop, CompiledLoop) else MethodRows(loop)
