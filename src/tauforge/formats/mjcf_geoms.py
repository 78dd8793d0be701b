"""Mass and inertia of simple geoms of MJCF, for bodies without an <inertial>."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tauforge.algebra.rotations import rotation_to
from tauforge.algebra.vectors import ZERO, Matrix, Transform, Vector
from tauforge.formats.mjcf_values import Values, up_to
from tauforge.formats.urdf_tree import NO_BODY, Inertial, together
from tauforge.formats.xml_lines import Element, shown

WATER = 1000.0  # kg/m^3, the default density
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
WITHOUT_MASS = ("plane", "hfield")


def body_of_geoms(values: Values, geoms: Sequence[tuple[Element, Transform]]) -> Inertial:
    """The geoms of a body together, in its frame. geoms: with the body <- the frame around each."""
    bodies = (_body_of(values, geom).seen_from(outer) for geom, outer in geoms)
    return together(body for body in bodies if body.mass > 0)


def _body_of(values: Values, geom: Element) -> Inertial:
    kind = geom.attributes.get("type", "mesh" if "mesh" in geom.attributes else "sphere")
    if "mass" in geom.attributes:
        mass: float | None = geom.number("mass")
    else:
        mass = 0.0 if geom.number("density", WATER) == 0 else None
    if kind in WITHOUT_MASS or mass == 0:
        return NO_BODY
    if kind not in SIZES or "mesh" in geom.attributes:
        raise geom.unsupported(
            f"the inertia of a geom of type {shown(kind)} is not computed",
            field="geom",
            remedy='Give the body an <inertial>, or the geom mass="0" where it is only to be seen',
        )
    if geom.attributes.get("shellinertia") == "true":
        raise geom.unsupported("shellinertia is not supported", field="geom", remedy="Give the body an <inertial>")
    place, size = placed(values, geom, kind)
    if not all(x > 0 for x in size):
        raise geom.fault(f"expected {SIZES[kind]} sizes > 0", field="geom size")
    volume, moments = _solid(kind, size)
    if mass is None:
        mass = geom.number("density", WATER) * volume
    if mass < 0:
        raise geom.fault(f"expected a mass >= 0, got {mass:g}", field="geom mass")
    return Inertial(mass, ZERO, Matrix.diagonal(*(mass * x for x in moments))).seen_from(place)


def placed(values: Values, geom: Element, kind: str) -> tuple[Transform, tuple[float, ...]]:
    """Where it is, and its sizes: radii and half lengths."""
    count = SIZES[kind]
    if "fromto" not in geom.attributes or kind == "sphere":
        size = up_to(geom, "size", 3)
        if len(size) < count:
            raise geom.fault(f"expected {count} sizes, got {len(size)}", field="geom size")
        return values.pose(geom), size[:count]
    ends = geom.numbers("fromto", 6)
    a, b = Vector(*ends[:3]), Vector(*ends[3:])
    length = math.hypot(*(b - a))
    if length == 0:
        raise geom.fault("its two ends coincide", field="geom fromto")
    size = up_to(geom, "size", 3)
    if not size:
        raise geom.fault("its size is missing", field="geom size")
    radii = size[:1] * (count - 1)  # as MuJoCo has it, a box between two points is square
    z = (a - b) * (1.0 / length)  # from the second end to the first, as in MuJoCo: a box's sides depend on it
    return Transform(rotation_to(z), (a + b) * 0.5), (*radii, length / 2)


def _solid(kind: str, size: tuple[float, ...]) -> tuple[float, tuple[float, float, float]]:
    """Volume, and principal moments per kg about the centre."""
    match kind:
        case "sphere":
            (r,) = size
            return 4 / 3 * math.pi * r**3, (0.4 * r * r,) * 3
        case "box":
            x, y, z = size
            return 8 * x * y * z, ((y * y + z * z) / 3, (x * x + z * z) / 3, (x * x + y * y) / 3)
        case "ellipsoid":
            x, y, z = size
            moments = ((y * y + z * z) / 5, (x * x + z * z) / 5, (x * x + y * y) / 5)
            return 4 / 3 * math.pi * x * y * z, moments
        case "cylinder":
            r, h = size
            across = r * r / 4 + h * h / 3
            return math.pi * r * r * 2 * h, (across, across, r * r / 2)
        case _:
            r, h = size
            whole = 2 * h + 4 / 3 * r
            tube, ball = 2 * h / whole, 4 / 3 * r / whole  # shares of the volume
            # a half ball's centre of mass is 3/8 r beyond the tube's end, and 2/5 r^2 is about the ball's centre
            across = tube * (r * r / 4 + h * h / 3) + ball * (0.4 * r * r + h * h + 0.75 * h * r)
            return math.pi * r * r * whole, (across, across, tube * r * r / 2 + ball * 0.4 * r * r)
