"""What happens on the way: limits that are left, singular poses that are crossed, energy that drifts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Robot
from tauforge.field_docs import with_field_docs
from tauforge.robots.serial.serial_arm import SerialArm

SINGULAR = "singular pose"


@with_field_docs
class Event(NamedTuple):
    """Something that happened: a limit that was left, an actuator that gave all it has, a singular pose.

    time:  s
    what:  what happened, in a few words
    which: the joint, leg or coordinate it happened to, or why it happened
    """

    time: float
    what: str
    which: str


class Watch:
    """Looks at rows of a simulation, block after block, for limits that are being left."""

    def __init__(self, robot: Robot, actuators: Sequence[str]) -> None:
        self.robot, self.actuators = robot, actuators
        self.events: list[Event] = []
        self._clipped: dict[str, bool] = {}
        self._last: dict[tuple[str, str], tuple[float, float]] = {}  # time and margin of the row before

    def look(self, times: Array, position: Array, velocity: Array, clipped: Array) -> None:
        """clipped: (k, n) whether an actuator gives less than it is asked for."""
        for i, actuator in enumerate(self.actuators):
            now = clipped[:, i]
            begins = now & ~np.r_[self._clipped.get(actuator, False), now[:-1]]
            self.events += [Event(float(t), "force limit", actuator) for t in times[begins]]
            self._clipped[actuator] = bool(now[-1])
        for (what, which), margin in self._margins(position, velocity).items():
            before = self._last.get((what, which), (times[0], 0.0))  # a start outside is an event at once
            t, m = np.r_[before[0], times], np.r_[before[1], margin]
            for k in np.flatnonzero((m[1:] < 0) & (m[:-1] >= 0)):
                share = m[k] / (m[k] - m[k + 1])  # of the way between the rows, as if the margin were straight
                self.events.append(Event(float(t[k] + share * (t[k + 1] - t[k])), what, which))
            self._last[what, which] = (float(times[-1]), float(margin[-1]))

    def _margins(self, position: Array, velocity: Array) -> dict[tuple[str, str], Array]:
        robot, margins = self.robot, dict[tuple[str, str], Array]()
        if isinstance(robot, SerialArm):
            lower, upper = robot.limits.T
            inside = np.minimum(position - lower, upper - position)
            margins |= {("limit", f"limit of {j.name}"): inside[:, i] for i, j in enumerate(robot.joints)}
            for i, joint in enumerate(robot.joints):
                if joint.max_speed is not None:
                    margins["limit", f"speed of {joint.name}"] = joint.max_speed - np.abs(velocity[:, i])
            return margins
        found = robot.within_limits(position)
        for name, margin in (
            ("stroke", found.stroke),
            ("base cone", found.base_cone),
            ("platform cone", found.platform_cone),
        ):
            if margin is not None:
                margins |= {("limit", f"{name} of leg {i + 1}"): margin[:, i] for i in range(6)}
        if found.clearance is not None:
            margins["limit", "clearance of legs"] = found.clearance
        return margins


def singular_crossing(robot: Robot, times: Array, position: Array) -> tuple[int, Event] | None:
    """The first pair of rows between which a platform's force matrix H changes the sign of its determinant.

    Returns the number of the row before, and the event at the time where the determinant would vanish on a line.
    """
    if isinstance(robot, SerialArm):
        return None
    determinant = np.linalg.det(robot.force_matrix(position))
    changes = np.flatnonzero(determinant[:-1] * determinant[1:] < 0)
    if not len(changes):
        return None
    k = int(changes[0])
    share = determinant[k] / (determinant[k] - determinant[k + 1])
    time = float(times[k] + share * (times[k + 1] - times[k]))
    return k, Event(time, SINGULAR, "the legs cannot hold the platform: det H changes its sign")


def energy_drift(robot: Robot, position: Array, velocity: Array) -> float:
    """Largest change of the energy, relative to the largest kinetic energy."""
    kinetic, potential = robot.energy(position, velocity)
    total = kinetic + potential
    largest = float(np.max(kinetic))
    return float(np.abs(total - total[0]).max()) / largest if largest > 0 else 0.0


def conservative(robot: Robot) -> bool:
    """Whether nothing in the robot itself takes energy."""
    if isinstance(robot, SerialArm):
        return not any(joint.viscous or any(joint.coulomb) for joint in robot.joints)
    return not any(robot.friction)
