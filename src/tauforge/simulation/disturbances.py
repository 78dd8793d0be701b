"""Wrenches that disturb a motion: functions of the time, or of time, position and velocity."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.control.controller import Controller
from tauforge.control.law_graph import LawGraph
from tauforge.errors import ConvergenceError, ModelError, ShapeError, UnsupportedFeatureError
from tauforge.motion.motion import MotionSample
from tauforge.robots.formulations import WRENCH
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import numbers

WrenchFunction = Callable[..., ArrayLike]


class Disturbance:
    """A wrench (6,) on the tool or the moved body of a robot, or one of each row, (N, 6).

    rows:      of a rollout; None for a simulation
    of_state:  whether the function takes the time, positions and velocities, not the time alone
    traceable: whether it says that it can be traced
    """

    def __init__(self, given: WrenchFunction, robot: Robot, rows: int | None = None) -> None:
        if not callable(given):
            raise ModelError(f"expected a callable of the time, got {given!r}", field="disturbance")
        if not robot.formulations.take_wrench:
            raise UnsupportedFeatureError(f"{robot.name} takes no external wrench", field="disturbance")
        self.given, self._rows, self.of_state = given, rows, _takes(given, 3) and not _takes(given, 1)
        self.traceable = self.of_state and bool(getattr(given, "traceable", False))

    @computed_once
    def sampled_rows(self) -> int:
        """1, or N of a function of the time that gives each row a wrench of its own."""
        return int(self.sampled(np.zeros(1)).shape[-2])

    def at(self, t: float, position: Array, velocity: Array) -> Array:
        """(6,) or (N, 6) in a state (n,), or in those of rows (N, n)."""
        return self._checked(self.given(t, position, velocity) if self.of_state else self.given(t), len(position))

    def _checked(self, answer: ArrayLike, count: int) -> Array:
        wrench = numbers(answer)
        if wrench.shape != (6,) and (self._rows is None or wrench.shape not in ((count, 6), (self._rows, 6))):
            expected = "(6,), a force and a moment" + ("" if self._rows is None else f", or ({self._rows}, 6)")
            raise ShapeError("disturbance", expected=expected, got=f"{answer!r}")
        return wrench

    def alone(self, t: float, position: Array, velocity: Array) -> Array:
        """(6,) in a state (n,); ConvergenceError where it is not finite."""
        wrench = self.at(t, position, velocity)
        if not np.isfinite(wrench).all():
            problem = f"the disturbance returned a non-finite wrench at t = {t:.6g} s: {wrench}"
            raise ConvergenceError(problem, residual=np.nan, iterations=0)
        return wrench

    def of_rows(self, t: Array, position: Array, velocity: Array, rows: Array) -> Array:
        """(k, 6) in states (k, n) of these rows, at times (k,)."""
        found = np.empty((len(rows), 6))
        for time in np.unique(t):
            now = np.flatnonzero(t == time)
            wrench = self.at(float(time), position[now], velocity[now])
            whole = wrench.ndim > 1 and (not self.of_state or len(now) == self._rows)
            found[now] = wrench[rows[now]] if whole else wrench
        return found

    def sampled(self, times: Array) -> Array:
        """(..., N or 1, 6) of a function of the time at times (...)."""
        known, places = np.unique(times, return_inverse=True)
        answers = [self.given(t) for t in known.tolist()]
        with suppress(ValueError):  # all at once, which is many times quicker
            found = np.array(answers)
            if found.dtype.kind in "biuf" and found.shape[1:] == (6,):
                return found.astype(float)[:, None][places.reshape(times.shape)]
        checked = [self._checked(x, 0) for x in answers]
        shape = np.broadcast_shapes((1, 6), *{x.shape for x in checked})
        found = np.array([np.broadcast_to(x, shape) for x in checked])
        return found[places.reshape(times.shape)]

    def graph(self, robot: Robot) -> LawGraph:
        """The function of the state over any scalars. It may raise NoKernelError."""
        return LawGraph(_AsLaw(self.given), robot, shape=(6,))


class _AsLaw(Controller):
    traceable = True

    def __init__(self, given: WrenchFunction) -> None:
        self.given = given

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        return np.asanyarray(self.given(t, position, velocity))


def wrench_load(robot: Robot, wrench: Any) -> dict[str, Any]:
    """The wrench as the formula of forward dynamics takes it."""
    known = robot.functions["forward_dynamics"].optional
    return {argument.name: wrench for argument in known if WRENCH in (argument.name, argument.also)}


def stage_times(step: float, steps: Array) -> Array:
    """(..., 3) s, at the begin, in the middle and at the end of steps that are counted from the start."""
    begin = step * steps
    length = step * (steps + 1) - begin
    return np.stack([begin, begin + length / 2, begin + length], axis=-1)


def _takes(given: WrenchFunction, count: int) -> bool:
    try:
        inspect.signature(given).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # a function that does not tell
        return count == 1
    return True
