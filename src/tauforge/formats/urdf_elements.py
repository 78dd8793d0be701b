"""Elements and attributes of URDF by declaration, those that are not known, and visuals.

A misspelt name would be read as absent, and many have defaults: it is refused. Others are some tool's own: unknown
attributes are ignored with a warning, unknown tags silently. Visuals are no physics: a bad one is left out with a
warning. Mesh files are named here and never opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tauforge import validation
from tauforge.algebra.vectors import NO_DISPLACEMENT, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formats.model_files import MANIFEST, PACKAGE, relative_parts
from tauforge.formats.xml_reader import Element, one_typo_away, shown, warn
from tauforge.robots.drawing import LARGEST_SIZE, Box, CylinderShape, MeshFile, Shape, Sphere, Visual
from tauforge.validation import Floats

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ZEROS = (0.0, 0.0, 0.0)


class Attribute(NamedTuple):
    """unit: None for a text; numbers: how many; default: None where it is needed; least, most: bounds of each"""

    unit: str | None
    numbers: int = 1
    default: Any = None
    least: float | None = None
    most: float | None = None


TEXT_VALUE = Attribute(None)
LENGTH_VALUE = Attribute("m", least=0.0, most=LARGEST_SIZE)
URDF_ATTRIBUTES = {
    "origin": {"xyz": Attribute("m", 3, ZEROS), "rpy": Attribute("rad", 3, ZEROS)},
    "mass": {"value": Attribute("kg", least=0.0)},
    "inertia": dict.fromkeys(MOMENTS, Attribute("kg m^2")),
    "axis": {"xyz": Attribute("1", 3)},
    "limit": {
        "lower": Attribute("rad or m", default=0.0),
        "upper": Attribute("rad or m", default=0.0),
        "effort": Attribute("N m or N", default=0.0, least=0.0),
        "velocity": Attribute("rad/s or m/s", default=0.0, least=0.0),
    },
    "dynamics": {
        "damping": Attribute("N m s or N s/m", default=0.0, least=0.0),
        "friction": Attribute("N m or N", default=0.0, least=0.0),
    },
    "parent": {"link": TEXT_VALUE},
    "child": {"link": TEXT_VALUE},
    "mimic": {
        "joint": TEXT_VALUE,
        "multiplier": Attribute("1", default=1.0),
        "offset": Attribute("rad or m", default=0.0),
    },
    "box": {"size": LENGTH_VALUE._replace(numbers=3)},
    "cylinder": {"radius": LENGTH_VALUE, "length": LENGTH_VALUE},
    "sphere": {"radius": LENGTH_VALUE},
    "mesh": {"filename": TEXT_VALUE, "scale": Attribute("1", 3, (1.0, 1.0, 1.0))},
}
URDF_CHILDREN = {
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
}
IGNORED_CHILDREN = ("visual", "collision", "calibration", "safety_controller")  # read elsewhere, or not used here
MAX_NAMED = 5  # that one warning names
MAX_VISUALS = 1000  # far above any robot, and drawn without trouble
SHAPE_CLASSES: dict[str, type[Shape]] = {"box": Box, "cylinder": CylinderShape, "sphere": Sphere, "mesh": MeshFile}
MESH_REMEDY = (
    "Keep meshes in the folder of the URDF, or name them package://FOLDER/... by a folder with a package.xml that the "
    "URDF is in"
)


def value(element: Element, name: str) -> Any:
    """An attribute as declared: a text, a number, or a tuple of several; a ModelError names element and attribute."""
    unit, count, default, least, most = URDF_ATTRIBUTES[element.tag][name]
    if unit is None:
        return element.text(name)
    if default is not None and name not in element.attributes:
        return default
    numbers = element.numbers(name, count)
    if least is not None and (min(numbers) < least or (most is not None and max(numbers) > most)):
        expected, got = f"a number >= {least:g}", f"{numbers[0]}"
        if most is not None:
            expected, got = f"lengths from {least:g} to {most:g} {unit}", shown(element.text(name))
        raise element.fault(f"expected {expected}, got {got}", field=f"{element.tag} {name}")
    return numbers[0] if count == 1 else numbers


def values(owner: Element, tag: str, *names: str) -> list[Any]:
    """Attributes of the child with this tag; if it may be absent and is, their defaults."""
    defaults = [URDF_ATTRIBUTES[tag][name].default for name in names]
    element = owner.child(tag) if None in defaults else owner.optional_child(tag)
    return defaults if element is None else [value(element, name) for name in names]


def read_origin(owner: Element) -> Transform:
    """The frame of the <origin> in an element, seen from the frame around it."""
    origin = owner.optional_child("origin")
    if origin is None:
        return NO_DISPLACEMENT
    rpy, xyz = value(origin, "rpy"), value(origin, "xyz")
    return Transform(validation.rotation_from_rpy(*rpy), Vector(*xyz))


def unknown_names(elements: Iterable[Element]) -> str:
    """Refuse what is misspelt in links and joints; name what else is unknown, for one warning about the file."""
    told: dict[tuple[str, str], str] = {}
    for element, what, name, meant in _unknown(elements):
        hint = f" (did you mean {meant}?)" if meant else ""
        told.setdefault((element.tag, name), f"{what} {shown(name)} of <{element.tag}> on line {element.line}{hint}")
    return validation.listed(told.values(), MAX_NAMED)


def _unknown(elements: Iterable[Element]) -> Iterator[tuple[Element, str, str, str | None]]:
    """Unknown names: the element with it, "tag" or "attribute", the name, and the known name one typo away."""
    for element in elements:
        known = URDF_CHILDREN[element.tag]
        present = {child.tag for child in element.children}
        for child in element.children:
            if child.tag in known:
                yield from _unknown_attributes(child)
            elif child.tag not in IGNORED_CHILDREN:
                meant = one_typo_away(child.tag, known)
                if meant is not None:
                    _refuse_if_absent(child, "tag", child.tag, meant, present, element.tag)
                    yield element, "tag", child.tag, meant
        yield from _unknown(child for child in element.children if child.tag == "inertial")


def _unknown_attributes(element: Element) -> Iterator[tuple[Element, str, str, str | None]]:
    known = tuple(URDF_ATTRIBUTES.get(element.tag, element.attributes))  # an <inertial> has none of its own
    for name in element.attributes:
        if name in known:
            continue
        if element.tag == "origin" and name.startswith("quat") and "rpy" not in element.attributes:
            raise element.unsupported(f"{name} is not URDF", field="origin", remedy="Give the rotation as rpy")
        meant = one_typo_away(name, known)
        if meant is not None:
            _refuse_if_absent(element, "attribute", name, meant, element.attributes, element.tag)
        yield element, "attribute", name, meant


def _refuse_if_absent(element: Element, what: str, name: str, meant: str, present: Iterable[str], where: str) -> None:
    if meant not in present:
        raise element.fault(f"unknown {what} {shown(name)}", field=where, remedy=f"Did you mean {meant}?")


# ------------------------------------------------------------------------------------------------------------ visuals


def read_visuals(robot: Element, places: Mapping[str, tuple[int, Transform]]) -> tuple[Visual, ...]:
    """The visuals of links that have a place; one TauforgeWarning names those that are left out, by line and element.

    places: number of the link that moves with it, and that link's frame <- the URDF's, by name of the URDF's link
    """
    links = [element for element in robot.children if element.tag == "link"]
    visuals = [(link, child) for link in links for child in link.children if child.tag == "visual"]
    materials = _materials(robot, [visual for _, visual in visuals])
    found: list[Visual] = []
    faults: list[tuple[str, ModelError]] = []
    for link, visual in visuals[:MAX_VISUALS]:
        name = link.text("name")
        try:
            origin, shape, rgba = _origin(visual), _shape(visual), _colour(visual, materials)
        except ModelError as error:
            faults.append((name, error))
            continue
        if name in places:
            number, outer = places[name]
            placement = validation.from_transform(outer.then(origin))
            found.append(Visual(name=name, link=number, placement=placement, shape=shape, rgba=rgba))
    if len(visuals) > MAX_VISUALS:
        name, visual = visuals[MAX_VISUALS][0].text("name"), visuals[MAX_VISUALS][1]
        faults.append((name, visual.fault(f"the robot has more than {MAX_VISUALS} visuals", field="visual")))
    if faults:
        told = (
            ": ".join(filter(None, (f"line {error.line}, link {shown(name)}", error.field, error.problem)))
            for name, error in faults
        )
        remedy = next((error.remedy for _, error in faults if error.remedy), None)
        warn(f"{robot.file}: visuals are left out: {validation.listed(told, MAX_NAMED, '; ')}", remedy)
    return tuple(found)


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
    """The file that a <mesh> names, in a folder (None for a text); ModelError where it is outside the model's.

    package://NAME/rest is rest in the folder of the URDF if that is called NAME, else in the nearest folder called NAME
    around it that has a package.xml. Where there is none, NAME is a folder beside the URDF. Every other name is
    relative to the URDF.
    """
    given: str = value(mesh, "filename")
    folder = mesh.file.absolute().parent if isinstance(mesh.file, Path) else None
    path = given.removeprefix(PACKAGE)
    package, slash, rest = path.partition("/")
    if folder is not None and given != path and package and slash and (around := _package(folder, package)):
        folder, path = around, rest
    try:
        parts = relative_parts(given, path)
    except ModelError as error:
        raise mesh.fault(error.problem, field="mesh filename", remedy=MESH_REMEDY) from None
    scale = value(mesh, "scale")
    if not all(0 < abs(factor) <= LARGEST_SIZE for factor in scale):
        raise mesh.fault(f"expected three factors other than 0, got {shown(mesh.text('scale'))}", field="mesh scale")
    return MeshFile(None if folder is None else str(folder), "/".join(parts), scale, given)


def _package(folder: Path, name: str) -> Path | None:
    """The package of this name that a folder is in. Any other folder around it, such as a home folder, is none."""
    if folder.name == name:
        return folder
    return next((one for one in folder.parents if one.name == name and (one / MANIFEST).is_file()), None)
