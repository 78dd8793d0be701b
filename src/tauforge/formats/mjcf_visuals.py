"""Geoms of MJCF as shapes to draw: those that MuJoCo shows at first. Visuals are no physics: bad ones are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tauforge import validation
from tauforge.algebra.vectors import IDENTITY, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formats.file_names import relative_parts
from tauforge.formats.mjcf_geoms import SIZES, placed
from tauforge.formats.mjcf_values import Values, children
from tauforge.formats.xml_lines import Element, shown
from tauforge.robots.visuals import LARGEST_SIZE, Box, Cylinder, MeshFile, Shape, Sphere, Visual
from tauforge.validation import Floats

MAX_VISUALS = 1000  # far above any robot, and drawn without trouble
SHOWN_GROUPS = 2  # MuJoCo shows groups 0 to 2 at first; others are for collisions
NOT_DRAWN = ("plane", "hfield", "ellipsoid", "sdf")


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
    if kind not in SIZES:
        raise geom.fault(f"shapes of type {shown(kind)} are not drawn", field="geom type")
    place, size = placed(values, geom, kind)
    if not all(0 < x <= LARGEST_SIZE for x in size):
        raise geom.fault(f"expected sizes from 0 to {LARGEST_SIZE:g} m", field="geom size")
    match kind:
        case "box":
            yield place, Box(tuple(2 * x for x in size))
        case "sphere":
            yield place, Sphere(size[0])
        case _:
            radius, half = size
            yield place, Cylinder(radius, 2 * half)
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
