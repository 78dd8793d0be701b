"""What a link looks like: simple bodies and mesh files, placed in its frame. For pictures alone, never for physics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tauforge import validation
from tauforge.errors import ModelError
from tauforge.field_docs import with_field_docs
from tauforge.validation import IDENTITY_ROWS, Floats, Rows

LARGEST_SIZE = 1e6  # m, of a body or a displacement: browsers draw in 32-bit numbers


@with_field_docs
class Box(NamedTuple):
    """A box, its centre at the origin.

    size: (3,) m, the full lengths of its edges along x, y and z
    """

    size: Floats


@with_field_docs
class Cylinder(NamedTuple):
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


Shape = Box | Cylinder | Sphere | MeshFile


@dataclass(frozen=True, kw_only=True)
class Visual:
    """One shape that moves with a link.

    name:      what it is a part of, such as a link of a URDF
    link:      0 for the base, i for the link of joint i
    placement: 4 x 4, link frame <- shape
    shape:     Box, Cylinder, Sphere or MeshFile
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
            raise ModelError(
                f"{visual.name} belongs to link {visual.link}, and there are {links}",
                field="visuals",
                remedy="Give visuals=() as well",
            )
    return tuple(visuals)
