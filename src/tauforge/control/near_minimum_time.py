"""Near-minimum-time control within limits of the forces (Lee, Chung, Mudge & Turney 1982, section 4, cite Kahn & Roth
1971 for it and give no equations).

Kahn and Roth replace the coupled model by double integrators, one for each coordinate, whose fastest stop is known.
Here one double integrator stands for the whole robot: all coordinates approach the target together, and the coupled
model says at every state how hard the weakest actuator lets them brake.
"""

from __future__ import annotations

from functools import reduce

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

DIVISION_GUARD = 1e-30  # N m or N: avoids 0 / 0


@ours
class NearMinimumTime(ModelBasedLaw):
    """Forces at their limits, towards the target and then against it; near the target computed torque.

    Braking is possible with the second rates -b e, where b is the largest for which the forces h - b M e keep within
    their limits in this state (h: forces without acceleration). From a distance e a robot that brakes by B = b |e|
    stops on the target if its rate is sqrt(2 B |e|). With x = min(braking b / gain^2, 1) the law asks for the rates
    gain sqrt(x (2 - x)) e: that, joined smoothly to the rates gain e of the last stretch. What it asks for beyond the
    limits is shortened and keeps its direction, so that a robot at rest approaches a target at rest along a straight
    line in its coordinates.

    robot:        as `ComputedTorque` takes it, and so are `formulation` and `wrench`
    force_limits: (m,) or a number, N m or N; "robot" for the robot's own
    gain:         1/s, of the last stretch, which is critically damped: kp = gain^2 and kv = 2 gain
    braking:      share of the possible braking that the law counts on, above 0 and at most 1

    Identity: where no force reaches its limit and x = 1, the forces are those of ComputedTorque(robot, gain^2, 2 gain).
    """

    def __init__(
        self,
        robot: Robot,
        force_limits: ArrayLike | str = "robot",
        *,
        gain: float = 20.0,
        braking: float = 0.9,
        formulation: str | None = None,
        wrench: MeasuredWrench = None,
    ) -> None:
        super().__init__(robot, formulation, wrench)
        self.limits = _limits(robot, force_limits)
        self.gain, self.braking = positive("gain", gain), positive("braking", braking)
        if self.braking > 1:
            raise ModelError(f"expected a share of the force limits, at most 1, got {braking!r}", field="braking")

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        e, e_dot, second = self.errors(position, velocity, target)
        idle = self.forces(t, position, velocity, 0.0 * e)  # h
        hardest = _share(idle, idle - self.forces(t, position, velocity, e), self.limits)  # b: h - b M e
        x = np.minimum(self.braking * hardest / self.gain**2, 1.0)
        approach = 2 * np.sqrt(x * (2 - x)) - x  # braking by x gain^2 e is known beforehand
        wanted = second + 2 * self.gain * e_dot + self.gain**2 * approach * e
        more = self.forces(t, position, velocity, wanted) - idle
        forces = idle + np.minimum(_share(idle, more, self.limits), 1.0) * more
        return np.asanyarray(np.clip(forces, -self.limits, self.limits))

    def feedback(self) -> Feedback:
        """That of the last stretch."""
        one = np.eye(self.robot.n)
        return Feedback(self.gain**2 * one, 2 * self.gain * one)


def _share(idle: Array, more: Array, limits: Array) -> Array:
    """(..., 1) the largest share of `more` that keeps idle + share more (..., m) within the limits; 0 where none."""
    room = np.maximum(limits - np.sign(more) * idle, 0.0)
    shares = np.split(room / (np.abs(more) + DIVISION_GUARD), len(limits), axis=-1)
    return np.asanyarray(reduce(np.minimum, shares))


def _limits(robot: Robot, given: ArrayLike | str) -> Array:
    """(m,) N m or N; ModelError where a force has no limit."""
    m, own = len(robot.actuators), isinstance(given, str) and given == "robot"
    found = np.array(robot.max_forces if own else real_array("force_limits", given), float)
    if found.shape not in ((), (m,)) or not (np.isfinite(found) & (found > 0)).all():
        problem = f"NearMinimumTime needs a finite limit > 0 of each of {m} forces, got {found.tolist()}"
        remedy = f"{robot.name} lacks some: give force_limits=" if own else "Give one number, or one for each actuator"
        raise ModelError(problem, field="force_limits", remedy=remedy)
    return np.broadcast_to(found, (m,)).copy()
