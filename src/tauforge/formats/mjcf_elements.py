"""Elements of MJCF: included files, defaults by class, and attributes as numbers, angles and poses."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from tauforge.algebra.rotations import Quaternion, rotation_about, rotation_to
from tauforge.algebra.vectors import E_X, E_Y, E_Z, IDENTITY, Matrix, Transform, Vector, cross
from tauforge.errors import ModelError
from tauforge.formats.model_files import file_beside
from tauforge.formats.xml_reader import MAX_XML_DEPTH, MAX_XML_ELEMENTS, Element, one_typo_away, read_xml, shown

MAX_FILES = 64  # of one model
INCLUDE_REMEDY = "Keep included files in the folder of the model or below it"
ROTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
EULER_AXES = {"x": E_X, "y": E_Y, "z": E_Z}
ZERO_LENGTH = 1e-10  # of an axis or a quaternion: below, MuJoCo calls it zero
ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion")
KNOWN_ATTRIBUTES = {  # attributes that are read, by tag; one that is a letter away from them is misspelt
    "body": ("name", "childclass", "mocap", "pos", "gravcomp", *ROTATIONS),
    "frame": ("name", "childclass", "pos", *ROTATIONS),
    "joint": ("name", "class", "type", "pos", "axis", "range", "limited", "ref", "stiffness", "damping", "armature")
    + ("frictionloss", "springdamper", "springref", "margin", "group", "user"),
    "freejoint": ("name", "group", "align"),
    "inertial": ("pos", "mass", "diaginertia", "fullinertia", *ROTATIONS),
    "geom": ("name", "class", "type", "size", "pos", "fromto", "mass", "density", "group", "mesh", *ROTATIONS),
    "connect": ("name", "class", "active", "body1", "body2", "anchor", "site1", "site2"),
    "weld": ("name", "class", "active", "body1", "body2", "anchor", "site1", "site2", "relpose"),
    "motor": ("name", "class", "joint", "gear", "ctrlrange", "forcerange", "ctrllimited", "forcelimited"),
    "option": ("gravity", "wind", "density", "viscosity"),
    "compiler": ("angle", "eulerseq", "autolimits", "inertiafromgeom", "inertiagrouprange", "coordinate"),
}


@dataclass(frozen=True)
class Values:
    """Settings of a file that say how its values are meant.

    classes:            attributes of tags by class, those of the outer classes merged in
    inertia_from_geoms: "true", "false", or "auto": where a body has no <inertial>
    geom_groups:        the first and the last group of geoms that count
    """

    classes: Mapping[str, Mapping[str, Mapping[str, str]]]
    degrees: bool = True
    sequence: str = "xyz"
    autolimits: bool = True
    inertia_from_geoms: str = "auto"
    geom_groups: tuple[float, ...] = (0.0, 5.0)

    def merged(self, element: Element, childclass: str | None) -> Element:
        """With the attributes of its class, of that of the body around it, or of the outermost class."""
        check_spelling(element)
        given = element.attributes.get("class")
        if given is not None and given not in self.classes:
            raise element.fault(f"there is no default class {shown(given)}", field=f"{element.tag} class")
        name = given or childclass or "main"
        tag = "actuator" if element.tag in ACTUATORS else element.tag
        defaults = self.classes.get(name, {}).get(tag, {})
        return replace(element, attributes={**defaults, **element.attributes})

    def is_limited(self, element: Element, prefix: str = "") -> bool:
        """True if the attribute `range` counts, or that of a prefix, such as `forcerange`."""
        given = element.word(f"{prefix}limited", ("true", "false", "auto"), "auto")
        return given == "true" or (given == "auto" and self.autolimits and f"{prefix}range" in element.attributes)

    def angle(self, value: float) -> float:
        return math.radians(value) if self.degrees else value

    def pose(self, element: Element) -> Transform:
        """Frame around it <- the element's own."""
        return Transform(self.rotation(element), Vector(*element.numbers("pos", 3, (0.0, 0.0, 0.0))))

    def rotation(self, element: Element) -> Matrix:
        given = [name for name in ROTATIONS if name in element.attributes]
        if len(given) > 1:
            raise element.fault(f"both {given[0]} and {given[1]} are given", field=element.tag, remedy="Keep one")
        match given:
            case ["quat"]:
                w, x, y, z = element.numbers("quat", 4)
                length = math.hypot(w, x, y, z)
                if length < ZERO_LENGTH:
                    raise element.fault("the quaternion is zero", field=f"{element.tag} quat")
                return Quaternion(w / length, x / length, y / length, z / length).rotation()
            case ["axisangle"]:
                x, y, z, angle = element.numbers("axisangle", 4)
                return rotation_about(unit(element, "axisangle", Vector(x, y, z)), self.angle(angle))
            case ["euler"]:
                return self._euler([self.angle(value) for value in element.numbers("euler", 3)])
            case ["xyaxes"]:
                six = element.numbers("xyaxes", 6)
                x_axis = unit(element, "xyaxes", Vector(*six[:3]))
                y_given = Vector(*six[3:])
                along = sum(a * b for a, b in zip(x_axis, y_given, strict=True))
                y_axis = unit(element, "xyaxes", y_given - x_axis * along)
                return Matrix((x_axis, y_axis, cross(x_axis, y_axis))).T
            case ["zaxis"]:
                return rotation_to(unit(element, "zaxis", Vector(*element.numbers("zaxis", 3))))
        return IDENTITY

    def _euler(self, angles: list[float]) -> Matrix:
        """Letters of the sequence: small ones turn with the frame, capitals stay."""
        R = IDENTITY
        for letter, angle in zip(self.sequence, angles, strict=True):
            turn = rotation_about(EULER_AXES[letter.lower()], angle)
            R = R.times(turn) if letter.islower() else turn.times(R)
        return R


def unit(element: Element, attribute: str, v: Vector) -> Vector:
    length = math.hypot(*v)
    if length < ZERO_LENGTH:
        raise element.fault("the axis is zero", field=f"{element.tag} {attribute}")
    return Vector(*(x / length for x in v))


def check_spelling(element: Element) -> None:
    known = KNOWN_ATTRIBUTES.get(element.tag, ())
    for name in element.attributes:
        if known and name not in known:
            meant = one_typo_away(name, known)
            if meant is not None and meant not in element.attributes:
                raise element.fault(
                    f"unknown attribute {shown(name)}", field=element.tag, remedy=f"Did you mean {meant}?"
                )


def classes_of(sections: list[Element]) -> dict[str, dict[str, dict[str, str]]]:
    """The attributes that each default class gives to each tag; actuators of all kinds share one set."""
    found: dict[str, dict[str, dict[str, str]]] = {}

    def visit(element: Element, outer: dict[str, dict[str, str]], name: str) -> None:
        own = {tag: dict(attributes) for tag, attributes in outer.items()}
        for child in element.children:
            if child.tag != "default":
                check_spelling(child)
                tag = "actuator" if child.tag in ACTUATORS else child.tag
                own.setdefault(tag, {}).update(child.attributes)
        if name in found and name != "main":
            raise element.fault(f"there is a second default class {shown(name)}", field="default class")
        found[name] = own
        for child in element.children:
            if child.tag == "default":
                visit(child, own, child.text("class"))

    for section in sections:
        visit(section, found.get("main", {}), section.attributes.get("class", "main"))
    return found


def children(root: Element, tag: str) -> Iterator[Element]:
    """Children of all sections with this tag: a section may stand in a file several times."""
    for section in root.children:
        if section.tag == tag:
            yield from section.children


# ---------------------------------------------------------------------------------------------------- included files


def with_includes(root: Element) -> Element:
    """The root with the children of included files in place of each <include>.

    Names are relative to the first file, as in MuJoCo; no file is included twice, and none outside its folder.
    """
    model = root.file
    # realpath, for Path.resolve raises RuntimeError for a link to itself
    met = {os.path.realpath(model)} if isinstance(model, Path) else set[str]()
    numbers = count(1)

    def spliced(element: Element, depth: int) -> Element:
        if next(numbers) > MAX_XML_ELEMENTS:
            raise element.fault(f"the files have more than {MAX_XML_ELEMENTS} elements together")
        if depth > MAX_XML_DEPTH:
            raise element.fault(f"elements are nested more than {MAX_XML_DEPTH} deep")
        found: list[Element] = []
        for child in element.children:
            if child.tag == "include":
                found += spliced(included(child), depth).children
            else:
                found.append(spliced(child, depth + 1))
        return replace(element, children=found)

    def included(include: Element) -> Element:
        name = include.text("file")
        if include.children:
            raise include.children[0].fault("an include has no elements inside")
        if not isinstance(model, Path):
            raise include.fault(f"a text has no folder in which {shown(name)} could be", field="include file")
        try:
            path = file_beside(model, name)
        except ModelError as error:
            raise include.fault(error.problem, field="include file", remedy=INCLUDE_REMEDY) from None
        file = os.path.realpath(path)
        if file in met:
            raise include.fault(f"{shown(name)} is included a second time", field="include file")
        met.add(file)
        if len(met) > MAX_FILES:
            raise include.fault(f"more than {MAX_FILES} files are included", field="include file")
        return read_xml(path)

    return spliced(root, 1)
