"""The tool body of a mechanism, and the position that brings it nearest to a pose.

That is found by damped least squares on the independent rates. Loops are closed after every step, so the
mechanism stays assembled as it is. A mechanism rarely has all six freedoms:
the place of the tool body counts most, its orientation only where it costs the place little.
Source: Levenberg 1944; Marquardt 1963, with the step that a limit allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.unmodified import ours
from tauforge.robots.mechanism.actuator_map import freedoms_of
from tauforge.robots.poses import pose_error
from tauforge.robots.positions import MovedBody

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism

POSE_STEPS = 40
ANGLE_WEIGHT = 0.01  # of the mechanism's size: a radian counts as an error of place so large
LONGEST_POSE_STEP = 0.3  # rad, or share of the size: of one step
LEAST_DAMPING, MOST_DAMPING = 1e-9, 1e9  # damping, as a share of the largest diagonal term
POSE_TOLERANCE = 1e-11  # of the size
SHORTEST_POSE_STEP = 1e-12  # rad or share of the size: a step that no longer counts
LIMIT_ROUNDING = 1e-12  # of a limit: rounding


@ours
class ToolBody(MovedBody):
    """The body that carries a payload and takes the external wrench."""

    robot: Mechanism

    @property
    def name(self) -> str:
        return self.robot.tool_body

    def frames(self, position: Array) -> Array:
        return self.robot.forward_kinematics(position)

    def towards(self, pose: Array, near: Array) -> Array:
        """Loops closed; the place of the body counts more than its orientation."""
        return _towards(self.robot, np.asarray(pose, float), np.asarray(near, float))

    def jacobian(self, position: Array) -> Array:
        return self.robot.jacobian(position)

    def condition(self, position: Array, characteristic_length: float | None = None) -> Array | None:
        """None where the body cannot move."""
        moves = freedoms_of(self.robot, self.robot._number_of(None))
        return self.robot.condition_number(position, None, characteristic_length) if moves else None


def _towards(m: Mechanism, pose: Array, near: Array) -> Array:
    """(N,) loops closed, within the limits that hold at `near`."""
    if not np.isfinite(pose).all():
        return near
    size, x = m._analysis.size, m.positions.at(near)
    scale = np.array([1.0 if c.turns else size for c in m.coordinates])
    weights = np.array([1.0 / size] * 3 + [ANGLE_WEIGHT] * 3)
    room = np.minimum(m.bounds.margins(x), 0.0) - LIMIT_ROUNDING
    error, damping = weights * pose_error(pose, m.forward_kinematics(x)), 1e-3
    for _ in range(POSE_STEPS):
        J = weights[:, None] * m.jacobian(x, on_singular="nan") * scale
        if not np.isfinite(J).all() or np.abs(error).max() <= POSE_TOLERANCE:
            break
        while damping < MOST_DAMPING:
            moved = _stepped(m, x, J, error, damping, scale)
            if moved is None:
                return x
            if np.isfinite(moved).all() and (m.bounds.margins(moved) >= room).all():
                now = weights * pose_error(pose, m.forward_kinematics(moved))
                if now @ now < error @ error:
                    x, error, damping = moved, now, max(0.1 * damping, LEAST_DAMPING)
                    break
            damping *= 10.0
        else:
            break
    return x


def _stepped(m: Mechanism, x: Array, J: Array, error: Array, damping: float, scale: Array) -> Array | None:
    """A step from x, NaN where its loops do not close; None where it goes nowhere.

    J: (6, f) by rates in units of `scale`. A coordinate at its limit stays there if the step would take it beyond.
    """
    q = m.positions.coordinates(x)
    low, high = (np.array([getattr(c, side) for c in m.coordinates]) for side in ("lower", "upper"))
    free = np.ones(m.n, bool)
    for _ in range(m.n + 1):
        own = J[:, free]
        A = own.T @ own
        step = np.zeros(m.n)
        if not A.any():
            return None
        step[free] = np.linalg.solve(A + damping * A.diagonal().max() * np.eye(len(A)), own.T @ error)
        blocked = free & (((q <= low) & (step < 0)) | ((q >= high) & (step > 0)))
        if not blocked.any():
            break
        free &= ~blocked
    longest = np.abs(step).max(initial=0.0)
    if longest <= SHORTEST_POSE_STEP:
        return None
    step *= scale * min(1.0, LONGEST_POSE_STEP / longest)
    to = q + m.positions.rates(x, step)[0]
    inside = np.where((q >= low) & (q <= high), np.clip(to, low, high), to)
    return m.configuration(inside, x, on_failure="nan")
