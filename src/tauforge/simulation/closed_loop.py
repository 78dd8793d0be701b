"""The controller, its sensors, its actuators and the world around, as one function of time and state."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.errors import ConvergenceError, ModelError, ShapeError
from tauforge.motion.motion import Motion
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import Law, numbers
from tauforge.simulation.integrators import LOST, Rates, Stop
from tauforge.simulation.sensors import Sensors

Disturbance = Callable[[float], ArrayLike] | None


class Force(NamedTuple):
    """(m,) of the actuators, and which of them give less than the law asks for."""

    given: Array
    clipped: Array


class ClosedLoop:
    """Asked at any time; a controller starts afresh with every loop."""

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
        if isinstance(controller, Controller):
            controller.reset()
        if sensors is not None:
            sensors.reset()
        if disturbance is not None and not callable(disturbance):
            raise ModelError(f"expected a callable of the time, got {disturbance!r}", field="disturbance")

    def asked(self, t: float, y: Array) -> tuple[Force, Stop | None]:
        """The forces at a row of the recording. Where the law fails they are NaN, and the second result says why."""
        try:
            return self.force(t, y), None
        except LOST as error:
            none = np.full(self.actuators, np.nan)
            return Force(none, np.zeros(self.actuators, bool)), Stop(error.reason, error)

    def force(self, t: float, y: Array) -> Force:
        """The forces at a state. A law may keep state between calls, so it is called only once for each time."""
        if self._last is not None and self._last[0] == t and np.array_equal(self._last[1], y):
            return self._last[2]
        wanted = self._wanted(t, y)
        given = wanted if self.limits is None else np.clip(wanted, -self.limits, self.limits)
        self._last = (t, y.copy(), Force(given, given != wanted))
        return self._last[2]

    def _wanted(self, t: float, y: Array) -> Array:
        """(m,) that the law asks for."""
        m = self.actuators
        if self.controller is None:
            return np.zeros(m)
        position, velocity = np.array(self.space.position(y)), np.array(self.space.velocity(y))
        if self.sensors is not None:
            measured, velocity = self.sensors.read(self.robot.positions.coordinates(position), velocity)
            position = self.robot.positions.at(measured, near=position)
        if isinstance(self.controller, Controller):
            assert self.motion is not None
            wanted = self.controller.force(t, position, velocity, self.motion.sample(t))
        else:
            answer = self.controller(t, position, velocity)
            wanted = numbers(answer)
            if wanted.shape != (m,):
                raise ShapeError("controller", expected=f"{m} forces", got=f"{answer!r}")
        if not np.isfinite(wanted).all():
            raise ConvergenceError(
                f"the controller returned non-finite forces at t = {t:.6g} s: {wanted}", residual=np.nan, iterations=0
            )
        return wanted

    def wrench(self, t: float) -> Array | None:
        if self.disturbance is None:
            return None
        answer = self.disturbance(t)
        wrench = numbers(answer)
        if wrench.shape != (6,):
            raise ShapeError("disturbance", expected="(6,), a force and a moment", got=f"{answer!r}")
        if not np.isfinite(wrench).all():
            raise ConvergenceError(
                f"the disturbance returned a non-finite wrench at t = {t:.6g} s: {wrench}",
                residual=np.nan,
                iterations=0,
            )
        return wrench

    def rates(self, held: Force | None) -> Rates:
        """Time derivatives of the state under forces that are held, or that the law gives at any time."""

        def rates(t: float, y: Array) -> Array:
            force = (self.force(t, y) if held is None else held).given
            return self.space.rates_under(y, force, self.wrench(t))

        return rates
