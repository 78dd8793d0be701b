"""Computed torque with gains that adapt (Lee, Chung, Mudge & Turney 1982, section 5, names them and gives no law)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Feedback
from tauforge.control.model_based import MeasuredWrench, ModelBasedLaw
from tauforge.errors import ModelError
from tauforge.evaluation.unmodified import ours
from tauforge.motion.motion import MotionSample, positive
from tauforge.robots.robot import Robot
from tauforge.validation import real_array


@ours
class AdaptiveGains(ModelBasedLaw):
    """Computed torque with Kp = l^2 and Kv = 2 l for each coordinate, where l grows with the error:

    l' = growth s^2 - decay (l - slowest), with s = e' + l e and slowest <= l <= quickest

    robot:            as `ComputedTorque` takes it, and so are `formulation` and `wrench`
    slowest, quickest: 1/s, a number or (n,); equal bounds give computed torque. The period must bear the quickest
    growth:           1/rad^2 or 1/m^2, a number or (n,)
    decay:            1/s, a number or (n,): how quickly l falls back where there is no error
    period:           s, between two calls: the control period of the simulation
    """

    memory = ("rate",)

    def __init__(
        self,
        robot: Robot,
        slowest: ArrayLike = 10.0,
        quickest: ArrayLike = 50.0,
        *,
        growth: ArrayLike = 1e5,
        decay: ArrayLike = 0.5,
        period: float,
        formulation: str | None = None,
        wrench: MeasuredWrench = None,
    ) -> None:
        super().__init__(robot, formulation, wrench)
        given = {"slowest": slowest, "quickest": quickest, "growth": growth, "decay": decay}
        self.slowest, self.quickest, self.growth, self.decay = (_each(k, x, robot.n) for k, x in given.items())
        if not ((self.slowest > 0) & (self.slowest <= self.quickest)).all():
            raise ModelError("expected 0 < slowest <= quickest", field="slowest")
        self.period: float = positive("period", period)
        self.rate = self.slowest.copy()

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        e, e_dot, second = self.errors(position, velocity, target)
        return self.forces(t, position, velocity, second + 2 * self.rate * e_dot + self.rate**2 * e)

    def update(
        self, t: float, position: Array, velocity: Array, target: MotionSample, force: Array
    ) -> dict[str, Array]:
        e, e_dot, _ = self.errors(position, velocity, target)
        slope = self.growth * (e_dot + self.rate * e) ** 2 - self.decay * (self.rate - self.slowest)
        return {"rate": np.clip(self.rate + self.period * slope, self.slowest, self.quickest)}

    def feedback(self) -> Feedback:
        """With the quickest gains, which the period must bear."""
        return Feedback(np.diag(self.quickest**2), np.diag(2 * self.quickest))


def _each(name: str, given: ArrayLike, n: int) -> Array:
    found = np.array(real_array(name, given), float)
    if found.shape not in ((), (n,)) or not (np.isfinite(found) & (found >= 0)).all():
        raise ModelError(f"expected a number >= 0, or {n} of them, got {given!r}", field=name)
    return np.broadcast_to(found, (n,)).copy()
