"""Simple geoms of MJCF: mass and inertia for bodies without an <inertial>, and shapes to draw.

Drawn are those that MuJoCo shows at first. Visuals are no physics: bad ones are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tauforge import validation
from tauforge.algebra.rotations import rotation_to
from tauforge.algebra.vectors import IDENTITY, ZERO, Matrix, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formats.mjcf_elements import Values, children
from tauforge.formats.model_files import relative_parts
from tauforge.formats.xml_reader import NO_INERTIAL, Element, Inertial, shown, together
from tauforge.robots.drawing import LARGEST_SIZE, Box, CylinderShape, MeshFile, Shape, Sphere, Visual
from tauforge.validation import Floats

DEFAULT_DENSITY = 1000.0  # kg/m^3, the default density
SIZE_COUNTS = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
WITHOUT_MASS = ("plane", "hfield")
MAX_VISUALS = 1000  # far above any robot, and drawn without trouble
SHOWN_GROUPS = 2  # MuJoCo shows groups 0 to 2 at first; others are for collisions
NOT_DRAWN = ("plane", "hfield", "ellipsoid", "sdf")


def body_of_geoms(values: Values, geoms: Sequence[tuple[Element, Transform]]) -> Inertial:
    """The geoms of a body together, in its frame. geoms: with the body <- the frame around each."""
    bodies = (_body_of(values, geom).seen_from(outer) for geom, outer in geoms)
    return together(body for body in bodies if body.mass > 0)


def _body_of(values: Values, geom: Element) -> Inertial:
    kind = geom.attributes.get("type", "mesh" if "mesh" in geom.attributes else "sphere")
    by_mass = "mass" in geom.attributes
    given = geom.number("mass" if by_mass else "density", DEFAULT_DENSITY)
    if kind in WITHOUT_MASS or given == 0:
        return NO_INERTIAL
    if kind not in SIZE_COUNTS or "mesh" in geom.attributes:
        raise geom.unsupported(
            f"the inertia of a geom of type {shown(kind)} is not computed",
            field="geom",
            remedy='Give the body an <inertial>, or the geom mass="0" where it is only to be seen',
        )
    if geom.attributes.get("shellinertia") == "true":
        raise geom.unsupported("shellinertia is not supported", field="geom", remedy="Give the body an <inertial>")
    place, size = _placed(values, geom, kind)
    if not all(x > 0 for x in size):
        raise geom.fault(f"expected {SIZE_COUNTS[kind]} sizes > 0", field="geom size")
    volume, moments = _solid(kind, size)
    mass = given if by_mass else given * volume
    if mass < 0:
        raise geom.fault(f"expected a mass >= 0, got {mass:g}", field="geom mass")
    return Inertial(mass, ZERO, Matrix.diagonal(*(mass * x for x in moments))).seen_from(place)


def _placed(values: Values, geom: Element, kind: str) -> tuple[Transform, tuple[float, ...]]:
    """Its pose, and its sizes: radii and half lengths."""
    size, count = geom.up_to("size", 3), SIZE_COUNTS[kind]
    if "fromto" not in geom.attributes or kind == "sphere":
        if len(size) < count:
            raise geom.fault(f"expected {count} sizes, got {len(size)}", field="geom size")
        return values.pose(geom), size[:count]
    ends = geom.numbers("fromto", 6)
    a, b = Vector(*ends[:3]), Vector(*ends[3:])
    length = math.hypot(*(b - a))
    if length == 0:
        raise geom.fault("its two ends coincide", field="geom fromto")
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
        case "box" | "ellipsoid":
            x, y, z = size
            unit, part = (8, 3) if kind == "box" else (4 / 3 * math.pi, 5)
            return unit * x * y * z, ((y * y + z * z) / part, (x * x + z * z) / part, (x * x + y * y) / part)
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


# ------------------------------------------------------------------------------------------------------------ visuals


class BodyGeom(NamedTuple):
    """outer: body <- the frame around the geom"""

    body: str
    geom: Element
    outer: Transform


def visuals_of(
    root: Element, values: Values, geoms: Sequence[BodyGeom], numbers: Mapping[str, int]
) -> tuple[tuple[Visual, ...], list[str]]:
    """The shapes of a file's geoms, and what is left out. numbers: of bodies, by name; 0 for the ground"""
    assets = _Assets(root, values)
    found: list[Visual] = []
    left_out: list[str] = []
    for body, geom, outer in geoms:
        try:
            if geom.number("group", 0.0) > SHOWN_GROUPS:
                continue
            shapes = list(_shapes(values, assets, geom))
            rgba = assets.colour(geom)
        except ModelError as error:
            source = "" if geom.file == root.file else f" of {Path(geom.file).name}"
            left_out.append(f"the picture of a geom on line {geom.line}{source}: {error.problem}")
            continue
        for place, shape in shapes:
            placement = validation.from_transform(outer.then(place))
            found.append(Visual(name=body, link=numbers[body], placement=placement, shape=shape, rgba=rgba))
    if len(found) > MAX_VISUALS:
        left_out.append(f"pictures of geoms beyond {MAX_VISUALS}")
    return tuple(found[:MAX_VISUALS]), left_out


def _shapes(values: Values, assets: _Assets, geom: Element) -> Iterator[tuple[Transform, Shape]]:
    kind = geom.attributes.get("type", "mesh" if "mesh" in geom.attributes else "sphere")
    if kind in NOT_DRAWN:
        return
    if "mesh" in geom.attributes:
        yield values.pose(geom), assets.mesh(geom)
        return
    if kind not in SIZE_COUNTS:
        raise geom.fault(f"shapes of type {shown(kind)} are not drawn", field="geom type")
    place, size = _placed(values, geom, kind)
    if not all(0 < x <= LARGEST_SIZE for x in size):
        raise geom.fault(f"expected sizes from 0 to {LARGEST_SIZE:g} m", field="geom size")
    match kind:
        case "box":
            yield place, Box(tuple(2 * x for x in size))
        case "sphere":
            yield place, Sphere(size[0])
        case _:
            radius, half = size
            yield place, CylinderShape(radius, 2 * half)
            if kind == "capsule":
                for end in (-half, half):
                    yield place.then(Transform(IDENTITY, Vector(0.0, 0.0, end))), Sphere(radius)


class _Assets:
    """Meshes and materials of a file by name."""

    def __init__(self, root: Element, values: Values) -> None:
        self.file = root.file
        self.folder = ""
        for compiler in (child for child in root.children if child.tag == "compiler"):
            self.folder = compiler.attributes.get("meshdir", compiler.attributes.get("assetdir", self.folder))
        assets = [values.merged(child, None) for child in children(root, "asset") if child.tag in ("mesh", "material")]
        self.materials = {one.attributes.get("name", ""): one for one in assets if one.tag == "material"}
        self.meshes = {_mesh_name(one): one for one in assets if one.tag == "mesh"}

    def mesh(self, geom: Element) -> MeshFile:
        name = geom.text("mesh")
        if name not in self.meshes:
            raise geom.fault(f"there is no mesh named {shown(name)}", field="geom mesh")
        mesh = self.meshes[name]
        if "refpos" in mesh.attributes or "refquat" in mesh.attributes:
            raise mesh.fault("meshes with refpos or refquat are not drawn", field="mesh")
        given = mesh.text("file")
        scale = mesh.numbers("scale", 3, (1.0, 1.0, 1.0))
        if not all(0 < abs(factor) <= LARGEST_SIZE for factor in scale):
            raise mesh.fault("expected three factors other than 0", field="mesh scale")
        parts = relative_parts(given, f"{self.folder}/{given}" if self.folder else given)
        folder = str(self.file.absolute().parent) if isinstance(self.file, Path) else None
        return MeshFile(folder, "/".join(parts), scale, given)

    def colour(self, geom: Element) -> Floats | None:
        """The geom's own colour, or that of its material."""
        material = self.materials.get(geom.attributes.get("material", ""))
        owner = geom if "rgba" in geom.attributes or material is None else material
        return owner.rgba() if "rgba" in owner.attributes else None


def _mesh_name(mesh: Element) -> str:
    """Its name, or that of its file without the suffix."""
    return mesh.attributes.get("name") or PurePosixPath(mesh.attributes.get("file", "")).stem
