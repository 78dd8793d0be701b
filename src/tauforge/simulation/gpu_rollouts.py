"""Rollouts on a GPU: law, dynamics and Runge-Kutta steps in one CUDA kernel, one thread a row, arrays by CuPy."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.kernels.cuda import arrays, compiling
from tauforge.kernels.cuda.loop_source import BLOCK, Loop, loop_source
from tauforge.motion.motion import Motion
from tauforge.robots.robot import Robot
from tauforge.robots.varying import in_rows
from tauforge.simulation.compiled_steps import STATE, TARGET, Fields, can_compile, step_specifications
from tauforge.simulation.integrators import FAR

DTYPES = ("float64", "float32")
RECENT = 32  # kernels that are kept
_recent: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


class Schedule(NamedTuple):
    """How long and how finely.

    step:     s, of the integrator
    period:   s, between two questions to the law
    substeps: in a period
    periods:  in the rollout
    every:    so many periods one is recorded
    """

    step: float
    period: float
    substeps: int
    periods: int
    every: int

    @property
    def kept(self) -> list[int]:
        """The instants that are recorded, counted in periods; the last always is."""
        return [*range(0, self.periods, self.every), self.periods]


def is_on_gpu(initial: Any) -> bool:
    return isinstance(initial, tuple | list) and any(map(arrays.is_on_gpu, initial))


def loop_of(controller: Controller, plant: Robot, fields: Sequence[str], step: float) -> Loop:
    """What the kernel repeats; its source (`loop_source`) needs no GPU."""
    if not can_compile(controller, plant):
        raise UnsupportedFeatureError(
            "on a GPU the law must be one of ours, and the robot's state position and velocity", field="rollout"
        )
    first, later = step_specifications(controller, plant, tuple(fields), step)
    return Loop(first, later, len(STATE), len(TARGET))


def gpu_rollout(
    controller: Controller, plant: Robot, fields: Fields, initial: Any, motion: Motion, schedule: Schedule
) -> tuple[Array, Any, Any, Any, Array]:
    """Times, positions, velocities, forces and targets as in `Rollout`; the arrays of all rows are CuPy's."""
    cupy = arrays.cupy()
    loop = loop_of(controller, plant, tuple(fields), schedule.step)
    q, qd = _states(initial, plant.n)
    dtype, count = str(q.dtype), len(q)
    times = schedule.period * np.arange(schedule.periods + 1)
    wanted = motion.sample(times)
    with q.device:
        prescribed = cupy.asarray(np.concatenate(wanted, axis=1), dtype)
        fixed = [np.reshape(value, (count, -1)).T for value in in_rows(plant, fields, count).values()]
        constants = cupy.asarray(np.concatenate(fixed), dtype) if fixed else cupy.empty(0, dtype)
        state: list[Any] = []
        for array in (q, qd):
            way = arrays.walk(array, (count,), (plant.n,))
            state += [way.array, np.int64(way.row), np.int64(way.step)]
        kept, m = schedule.kept, len(plant.actuators)
        records = cupy.empty((len(kept), 2 * plant.n + m, count), dtype)
        function = _function(loop, 8 * q.dtype.itemsize)
        integers = (np.int32(schedule.periods), np.int32(schedule.every), np.int32(schedule.substeps))
        numbers = (np.int64(count), *integers, prescribed, constants, records, *state)
        function((-(-count // BLOCK),), (BLOCK,), numbers)
    rows = records.transpose(2, 0, 1)
    parts = rows[..., : plant.n], rows[..., plant.n : 2 * plant.n], rows[..., 2 * plant.n :]
    return times[kept], *parts, wanted.position[kept]


def _function(loop: Loop, bits: int) -> Any:
    """The kernel on the current GPU; the last ones are kept."""
    key = (loop.step.identity, loop.held.identity, bits, arrays.cupy().cuda.Device().id)
    if key not in _recent:
        _recent[key] = compiling.function(loop_source(loop, bits, FAR), "loop")
    _recent.move_to_end(key)
    if len(_recent) > RECENT:
        _recent.popitem(last=False)
    return _recent[key]


def _states(initial: Sequence[Any], n: int) -> list[Any]:
    """Positions and velocities (N, n) on one GPU, in one precision."""
    if len(initial) != 2:
        raise ShapeError("initial", expected="positions and velocities", got=f"{len(initial)} arrays")
    found = [arrays.on_device("initial", x) for x in initial]
    if any(x.ndim != 2 or x.shape[1] != n for x in found) or found[0].shape != found[1].shape or not len(found[0]):
        raise ShapeError("initial", expected=f"two arrays (N, {n})", got=", ".join(str(x.shape) for x in found))
    if found[0].dtype != found[1].dtype or str(found[0].dtype) not in DTYPES:
        got = ", ".join(str(x.dtype) for x in found)
        raise ShapeError("initial", expected="float64 or float32 numbers, both the same", got=got)
    if found[0].device != found[1].device:
        raise ShapeError("initial", expected="arrays on one GPU", got="arrays on two")
    return found
