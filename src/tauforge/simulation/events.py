"""Events of a simulation: limits that are left, singular poses that are crossed, and the drift of energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.robots.positions import singularity
from tauforge.robots.robot import Robot

SINGULAR_POSE = "singular pose"
CHANGE = "coordinates changed"
STOPPED = "stopped"
SHORTLY = 0.1  # s, after which an event of a kind is one of its own
ENERGY_ROUNDING = 1e-12  # of the energy: changes so small say nothing of the step


@with_field_docs
class Event(NamedTuple):
    """Something that happened: a limit that was left, an actuator that gave all it has, a singular pose, other
    coordinates by which a mechanism is computed from there on, a step that could not be made.

    What happens again within 0.1 s, as forces that chatter do, is one event with a count.

    time:        s, of the first
    what:        what happened, in a few words
    which:       the joint, leg or coordinate it happened to, or why it happened
    occurrences: how often
    last:        s, of the last; None where it happened once
    """

    time: float
    what: str
    which: str
    occurrences: int = 1
    last: float | None = None

    @property
    def repeats(self) -> str:
        """Count and last time in words; empty if it happened once."""
        return "" if self.last is None else f", {self.occurrences} times until {self.last:.6g} s"


class Watch:
    """Searches rows of a simulation, block after block, for limits that are left."""

    def __init__(self, robot: Robot, actuators: Sequence[str]) -> None:
        self.robot, self.actuators = robot, actuators
        self.events: list[Event] = []
        self._clipped = np.zeros(len(actuators), bool)
        self._last: tuple[float, Array] | None = None  # time of the row before, and its margins
        self._used: tuple[str, ...] | None = None
        self._places: dict[tuple[str, str], int] = {}  # among the events, of the last of each kind

    def add(self, event: Event) -> None:
        """Events of a kind come in the order of time."""
        place = self._places.get(event[1:3])
        if place is not None:
            before = self.events[place]
            if event.time - (before.time if before.last is None else before.last) <= SHORTLY:
                self.events[place] = before._replace(occurrences=before.occurrences + 1, last=event.time)
                return
        self._places[event[1:3]] = len(self.events)
        self.events.append(event)

    def look(self, times: Array, position: Array, velocity: Array, clipped: Array) -> None:
        """clipped: (k, n) whether an actuator gives less than it is asked for."""
        for i in np.flatnonzero(clipped.any(axis=0) | self._clipped).tolist():
            now = clipped[:, i]
            begins = now & ~np.r_[self._clipped[i], now[:-1]]
            for t in times[begins].tolist():
                self.add(Event(t, "force limit", self.actuators[i]))
        self._clipped = clipped[-1]
        quantities = self.robot.bounds.quantities(position, velocity)
        sides = np.array([[x.values - x.lower, x.upper - x.values] for x in quantities]).reshape(-1, 2, len(times))
        start, before = self._last or (times[0], np.zeros(sides.shape[:2]))  # a start outside is an event at once
        t, margins = np.r_[start, times], np.concatenate([before[..., None], sides], axis=-1)
        for i in np.flatnonzero((margins < 0).any(axis=(1, 2))).tolist():
            m, least = margins[i], margins[i].min(axis=0)
            for k in np.flatnonzero((least[1:] < 0) & (least[:-1] >= 0)):
                start, end = m[m[:, k + 1].argmin(), k : k + 2]  # of the limit that is left
                share = start / (start - end)  # of the way between the rows, as if the margin were straight
                self.add(Event(float(t[k] + share * (t[k + 1] - t[k])), "limit", quantities[i].name))
        self._last = float(times[-1]), sides[..., -1]
        for time, used in zip(times, self.robot.state_space.coordinates_used(position) or (), strict=False):
            if used != self._used and self._used is not None:
                self.add(Event(float(time), CHANGE, ", ".join(used)))
            self._used = used


def singular_crossing(robot: Robot, times: Array, position: Array) -> tuple[int, Event] | None:
    """The first pair of rows between which the `singularity` of the moved body changes its sign.

    Returns the number of the row before, and the event at the time where the determinant would vanish on a line.
    """
    determinant = singularity(robot, position)
    if determinant is None:
        return None
    changes = np.flatnonzero(determinant[:-1] * determinant[1:] < 0)
    if not len(changes):
        return None
    k = int(changes[0])
    share = determinant[k] / (determinant[k] - determinant[k + 1])
    time = float(times[k] + share * (times[k + 1] - times[k]))
    return k, Event(time, SINGULAR_POSE, f"the actuators of {robot.name} cannot hold it")


def energy_drift(robot: Robot, position: Array, velocity: Array) -> float:
    """Largest change of the energy, relative to the largest kinetic energy; none where rounding explains it."""
    kinetic, potential = robot.energy(position, velocity)
    total = kinetic + potential
    change, largest = float(np.abs(total - total[0]).max()), float(np.max(kinetic))
    rounding = ENERGY_ROUNDING * float(np.max(np.abs(potential) + kinetic))
    return change / largest if change > rounding else 0.0
