"""The controller, its sensors, its actuators and the world around, as one function of time and state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.control.controller import Controller
from tauforge.errors import ModelError, ShapeError
from tauforge.motion.motion import Motion
from tauforge.simulation.integrators import Rates
from tauforge.simulation.sensors import Sensors
from tauforge.simulation.state import StateSpace

Array = NDArray[Any]
Law = Controller | Callable[[float, Array, Array], ArrayLike] | None
Disturbance = Callable[[float], ArrayLike] | None


class ClosedLoop:
    """Asked at any time; a controller starts afresh with every loop."""

    def __init__(
        self,
        space: StateSpace,
        controller: Law,
        motion: Motion | None,
        sensors: Sensors | None,
        disturbance: Disturbance,
        limits: Array | None,
    ) -> None:
        self.space, self.controller, self.motion, self.sensors = space, controller, motion, sensors
        self.disturbance, self.limits = disturbance, limits
        if isinstance(controller, Controller):
            controller.reset()
            if motion is None:
                raise ModelError("a controller needs a motion to follow", field="motion")
        if sensors is not None:
            sensors.reset()

    def force(self, t: float, y: Array) -> Array:
        """(n,) of the actuators."""
        n = self.space.n
        if self.controller is None:
            return np.zeros(n)
        position, velocity = np.array(self.space.position(y)), np.array(self.space.velocity(y))
        if self.sensors is not None:
            position, velocity = self.sensors.read(position, velocity)
        if isinstance(self.controller, Controller):
            assert self.motion is not None
            wanted = self.controller.force(t, position, velocity, self.motion.sample(t))
        else:
            wanted = np.asarray(self.controller(t, position, velocity), float)
            if wanted.shape != (n,):
                raise ShapeError("controller", expected=f"{n} forces", got=f"shape {wanted.shape}")
        return wanted if self.limits is None else np.clip(wanted, -self.limits, self.limits)

    def wrench(self, t: float) -> Array | None:
        if self.disturbance is None:
            return None
        wrench = np.asarray(self.disturbance(t), float)
        if wrench.shape != (6,):
            raise ShapeError("disturbance", expected="(6,), a force and a moment", got=f"shape {wrench.shape}")
        return wrench

    def rates(self, forces: Callable[[float, Array], Array]) -> Rates:
        """Time derivatives of the state under these forces."""
        space = self.space

        def rates(t: float, y: Array) -> Array:
            force = forces(t, y)
            acceleration = space.acceleration(space.position(y), space.velocity(y), force, self.wrench(t))
            return space.rates(y, acceleration)

        return rates
