"""A robot as pictures show it, as data: points, segments, frames and solids in the world.

Shapes of links are for pictures alone, never for physics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tauforge import validation
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError
from tauforge.validation import IDENTITY_ROWS, Floats, Rows

LARGEST_SIZE = 1e6  # m, of a body or a displacement: browsers draw in 32-bit numbers


@with_field_docs
class Box(NamedTuple):
    """A box, its centre at the origin.

    size: (3,) m, the full lengths of its edges along x, y and z
    """

    size: Floats


@with_field_docs
class CylinderShape(NamedTuple):
    """A cylinder along z, its centre at the origin.

    radius: m
    length: m, along z
    """

    radius: float
    length: float


@with_field_docs
class Sphere(NamedTuple):
    """A sphere, its centre at the origin.

    radius: m
    """

    radius: float


@with_field_docs
class MeshFile(NamedTuple):
    """Triangles in a file, which is read only when somebody draws.

    folder: what nobody may leave when the file is opened; None where the description came from no file
    name:   parts of the path within the folder, with slashes between them; never ".."
    scale:  (3,) factors along x, y and z, other than 0; a file's unit is then m
    given:  how the description names it, for messages
    """

    folder: str | None
    name: str
    scale: Floats = (1.0, 1.0, 1.0)
    given: str = ""


Shape = Box | CylinderShape | Sphere | MeshFile


@dataclass(frozen=True, kw_only=True)
class Visual:
    """One shape that moves with a link.

    name:      what it is a part of, such as a link of a URDF
    link:      0 for the base, i for the link of joint i
    placement: 4 x 4, link frame <- shape
    shape:     Box, CylinderShape, Sphere or MeshFile
    rgba:      (4,) red, green, blue and opacity, 0 to 1; None where nothing is said
    """

    name: str
    link: int
    shape: Shape
    placement: Rows = IDENTITY_ROWS
    rgba: Floats | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise ModelError(f"expected a shape, got {validation.shown(self.shape)}", field="visual shape")
        object.__setattr__(self, "placement", validation.transform(self.placement, "visual placement"))


def check_visuals(visuals: object, links: int) -> tuple[Visual, ...]:
    """The visuals as a tuple; ModelError where they are none, or belong to a link beyond those there are."""
    if not isinstance(visuals, tuple | list) or not all(isinstance(visual, Visual) for visual in visuals):
        raise ModelError(f"expected a sequence of Visual, got {validation.shown(visuals)}", field="visuals")
    for visual in visuals:
        if not 0 <= visual.link <= links:
            problem = f"{visual.name} belongs to link {visual.link}, and there are {links}"
            raise ModelError(problem, field="visuals", remedy="Give visuals=() as well")
    return tuple(visuals)


class Segment(NamedTuple):
    """A straight line between two points.

    part:   what it belongs to, such as "link", "leg" or "base"
    sleeve: m from the start, how long the first of its two telescoping parts is; None where it is one piece
    """

    name: str
    start: Array
    end: Array
    part: str = "link"
    sleeve: float | None = None


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
    """Place and axis at which an actuator acts.

    name:  the actuator's
    place: (..., 3) m, world
    axis:  (..., 3) unit vector, world: along a positive force, or about a positive torque
    turns: whether it is a torque
    """

    name: str
    place: Array
    axis: Array
    turns: bool


class Ellipsoid(NamedTuple):
    """A solid ellipsoid of uniform density that has a body's mass and inertia.

    name:      the body's
    transform: (..., 4, 4) world <- its principal axes, at its centre of mass
    semi_axes: (3,) m
    """

    name: str
    transform: Array
    semi_axes: Array


class Solid(NamedTuple):
    """A body as its description shows it.

    name:      what it is a part of
    transform: (..., 4, 4) world <- shape
    shape:     Box, CylinderShape, Sphere or MeshFile; a file is read by whoever draws it
    rgba:      (4,) 0 to 1, or None where the description has no colour
    """

    name: str
    transform: Array
    shape: Shape
    rgba: tuple[float, ...] | None = None


class Reaction(NamedTuple):
    """Force and moment that one body exerts on the next at a joint.

    name:   the joint's
    place:  (..., 3) m, world: where the force acts, and the point that the moment is about
    force:  (..., 3) N, world axes; NaN where a component is not unique
    moment: (..., 3) N m, world axes; likewise
    """

    name: str
    place: Array
    force: Array
    moment: Array


class Drawing(NamedTuple):
    """All in world axes, m. Leading dimensions are those of the position that was drawn.

    points:     joints and mass centres
    segments:   links, legs, the outlines of bodies
    frames:     base, links, tool or platform; that of the robot's moved body has its name
    actions:    one for each actuator, in their order; empty where the robot does not say
    ellipsoids: of bodies with a mass and an inertia
    solids:     what the bodies look like; none where the description does not say
    """

    points: tuple[Point, ...] = ()
    segments: tuple[Segment, ...] = ()
    frames: tuple[Frame, ...] = ()
    actions: tuple[Action, ...] = ()
    ellipsoids: tuple[Ellipsoid, ...] = ()
    solids: tuple[Solid, ...] = ()

    @property
    def extent(self) -> tuple[Array, Array]:
        """(3,) the smallest and the largest coordinates of points, segments and frames."""
        places = [point.place for point in self.points]
        places += [end for segment in self.segments for end in (segment.start, segment.end)]
        places += [frame.transform[..., :3, 3] for frame in self.frames]
        every = np.concatenate([np.asarray(place, float).reshape(-1, 3) for place in places])
        return every.min(axis=0), every.max(axis=0)


def inertia_ellipsoid(
    name: str, frame: Array, mass: float, com: Sequence[float], inertia: Sequence[Sequence[float]]
) -> Ellipsoid | None:
    """The ellipsoid of a body; None for one without mass or inertia.

    frame:   (..., 4, 4) world <- body
    com:     (3,) m, in the body's frame
    inertia: (3, 3) kg m^2, about the centre of mass, in the body's axes
    """
    moments, axes = np.linalg.eigh(np.array(inertia, float))
    if not mass > 0 or not moments.max() > 0:
        return None
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    own = np.eye(4)
    own[:3, :3], own[:3, 3] = axes, com
    # A published inertia may break the triangle inequality: then the ellipsoid is flat.
    squares = 2.5 / mass * np.maximum(moments.sum() - 2 * moments, 0.0)
    return Ellipsoid(name, frame @ own, np.sqrt(squares))
