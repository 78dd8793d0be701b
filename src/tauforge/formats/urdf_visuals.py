"""The <visual> elements of a URDF as plain data. Visuals are no physics: a bad one is left out with a warning.

Mesh files are named here and never opened.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

from tauforge.algebra.vectors import Transform
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.formats.file_names import MANIFEST, PACKAGE, relative_parts
from tauforge.formats.urdf_elements import URDF_ATTRIBUTES, value
from tauforge.formats.urdf_tree import read_origin
from tauforge.formats.xml_lines import Element, shown
from tauforge.robots.drawing import LARGEST_SIZE, Box, Cylinder, MeshFile, Shape, Sphere
from tauforge.robots.plausibility import levels_to_the_caller
from tauforge.validation import Floats

MAX_VISUALS = 1000  # far above any robot, and drawn without trouble
MAX_NAMED = 5  # faults that the warning names
SHAPE_CLASSES: dict[str, type[Shape]] = {"box": Box, "cylinder": Cylinder, "sphere": Sphere, "mesh": MeshFile}
MESH_REMEDY = (
    "Keep meshes in the folder of the URDF, or name them package://FOLDER/... by a folder with a package.xml that the "
    "URDF is in"
)


class UrdfVisual(NamedTuple):
    """A <visual> as read; `origin` is link <- shape, `rgba` None where no colour is given."""

    link: str
    origin: Transform
    shape: Shape
    rgba: Floats | None


def read_visuals(robot: Element) -> list[UrdfVisual]:
    """The visuals of all links; one TauforgeWarning names those that are left out, by line and element."""
    links = [element for element in robot.children if element.tag == "link"]
    visuals = [(link, child) for link in links for child in link.children if child.tag == "visual"]
    materials = _materials(robot, [visual for _, visual in visuals])
    found: list[UrdfVisual] = []
    faults: list[tuple[str, ModelError]] = []
    for link, visual in visuals[:MAX_VISUALS]:
        name = link.text("name")
        try:
            found.append(UrdfVisual(name, _origin(visual), _shape(visual), _colour(visual, materials)))
        except ModelError as error:
            faults.append((name, error))
    if len(visuals) > MAX_VISUALS:
        name, visual = visuals[MAX_VISUALS][0].text("name"), visuals[MAX_VISUALS][1]
        faults.append((name, visual.fault(f"the robot has more than {MAX_VISUALS} visuals", field="visual")))
    if faults:
        _warn(robot, faults)
    return found


def _warn(robot: Element, faults: list[tuple[str, ModelError]]) -> None:
    told = [
        ": ".join(filter(None, (f"line {error.line}, link {shown(name)}", error.field, error.problem)))
        for name, error in faults
    ]
    more = f" and {len(told) - MAX_NAMED} more" if len(told) > MAX_NAMED else ""
    text = f"{robot.file}: visuals are left out: {'; '.join(told[:MAX_NAMED])}{more}"
    remedy = next((error.remedy for _, error in faults if error.remedy), None)
    warnings.warn(TauforgeWarning(text, remedy=remedy), stacklevel=levels_to_the_caller())


def _materials(robot: Element, visuals: list[Element]) -> dict[str, Element]:
    """The <color> of every material that has a name and one: those of the robot, then those of its visuals."""
    defined = [child for element in (robot, *visuals) for child in element.children if child.tag == "material"]
    colours: dict[str, Element] = {}
    for material in defined:
        colour = next((child for child in material.children if child.tag == "color"), None)
        if colour is not None and material.attributes.get("name"):
            colours.setdefault(material.attributes["name"], colour)
    return colours


def _colour(visual: Element, materials: dict[str, Element]) -> Floats | None:
    """The visual's own colour, or that of the material it names; a name without a colour says nothing."""
    material = visual.optional_child("material")
    if material is None:
        return None
    colour = material.optional_child("color") or materials.get(material.attributes.get("name", ""))
    return None if colour is None else colour.rgba()


def _origin(visual: Element) -> Transform:
    found = read_origin(visual)
    if not all(abs(part) <= LARGEST_SIZE for part in found.translation):
        origin = visual.child("origin")
        raise origin.fault(f"expected at most {LARGEST_SIZE:g} m, got {shown(origin.text('xyz'))}", field="origin xyz")
    return found


def _shape(visual: Element) -> Shape:
    geometry = visual.child("geometry")
    if len(geometry.children) != 1 or geometry.children[0].tag not in SHAPE_CLASSES:
        tags = ", ".join(f"<{child.tag[:20]}>" for child in geometry.children[:3]) or "nothing"
        raise geometry.fault(f"expected one of {', '.join(SHAPE_CLASSES)}, got {tags}", field="geometry")
    element = geometry.children[0]
    if element.tag == "mesh":
        return _mesh(element)
    return SHAPE_CLASSES[element.tag](*(value(element, name) for name in URDF_ATTRIBUTES[element.tag]))


def _mesh(mesh: Element) -> MeshFile:
    folder, name = _mesh_place(mesh)
    scale = value(mesh, "scale")
    if not all(0 < abs(factor) <= LARGEST_SIZE for factor in scale):
        raise mesh.fault(f"expected three factors other than 0, got {shown(mesh.text('scale'))}", field="mesh scale")
    return MeshFile(folder, name, scale, value(mesh, "filename"))


def _mesh_place(mesh: Element) -> tuple[str | None, str]:
    """The folder (None for a text) and the file in it that a <mesh> names; ModelError where it is outside the model's.

    package://NAME/rest is rest in the folder of the URDF if that is called NAME, else in the nearest folder called NAME
    around it that has a package.xml. Where there is none, NAME is a folder beside the URDF. Every other name is
    relative to the URDF.
    """
    given: str = value(mesh, "filename")
    folder = mesh.file.absolute().parent if isinstance(mesh.file, Path) else None
    path = given
    if given.startswith(PACKAGE):
        path = given.removeprefix(PACKAGE)
        package, slash, rest = path.partition("/")
        around = None if folder is None else _package(folder, package)
        if package and slash and around is not None:
            folder, path = around, rest
    try:
        parts = relative_parts(given, path)
    except ModelError as error:
        raise mesh.fault(error.problem, field="mesh filename", remedy=MESH_REMEDY) from None
    return (None if folder is None else str(folder)), "/".join(parts)


def _package(folder: Path, name: str) -> Path | None:
    """The package of this name that a folder is in. Any other folder around it, such as a home folder, is none."""
    if folder.name == name:
        return folder
    return next((one for one in folder.parents if one.name == name and (one / MANIFEST).is_file()), None)
