"""A robot as a picture shows it: named points, segments and frames in the world, as data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array


class Segment(NamedTuple):
    """A straight line between two points.

    part: what it belongs to, such as "link", "leg" or "base"
    """

    name: str
    start: Array
    end: Array
    part: str = "link"


class Frame(NamedTuple):
    """A frame: name and (..., 4, 4) world <- frame."""

    name: str
    transform: Array


class Point(NamedTuple):
    """A point: name and (..., 3) m, world; part as for a segment, such as "joint" or "centre of mass"."""

    name: str
    place: Array
    part: str = "joint"


class Action(NamedTuple):
    """Where an actuator acts.

    name:  the actuator's
    place: (..., 3) m, world
    axis:  (..., 3) unit vector, world: along a positive force, or about a positive torque
    turns: whether it is a torque
    """

    name: str
    place: Array
    axis: Array
    turns: bool


class Drawing(NamedTuple):
    """All in world axes, m. Leading dimensions are those of the position that was drawn.

    points:   joints and mass centres
    segments: links, legs, the outlines of bodies
    frames:   base, links, tool or platform
    actions:  one for each actuator, in their order; empty where the robot does not say
    """

    points: tuple[Point, ...] = ()
    segments: tuple[Segment, ...] = ()
    frames: tuple[Frame, ...] = ()
    actions: tuple[Action, ...] = ()

    @property
    def extent(self) -> tuple[Array, Array]:
        """(3,) the smallest and the largest coordinates of all that is drawn."""
        places = [point.place for point in self.points]
        places += [end for segment in self.segments for end in (segment.start, segment.end)]
        places += [frame.transform[..., :3, 3] for frame in self.frames]
        every = np.concatenate([np.asarray(place, float).reshape(-1, 3) for place in places])
        return every.min(axis=0), every.max(axis=0)
