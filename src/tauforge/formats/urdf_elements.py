"""The elements and attributes of URDF that are read, by declaration; and those that are not known.

A misspelt name would be read as absent, and many have defaults: it is refused. Others are some tool's own: unknown
attributes are ignored with a warning, unknown tags silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from tauforge.formats.xml_lines import Element, shown
from tauforge.robots.drawing import LARGEST_SIZE

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


def unknown_names(elements: Iterable[Element]) -> str | None:
    """Refuse what is misspelt in links and joints; name what else is unknown, for one warning about the file."""
    told: dict[tuple[str, str], str] = {}
    left_out = 0
    for element, what, name, meant in _unknown(elements):
        key = (element.tag, name)
        if len(told) < MAX_NAMED and key not in told:
            hint = f" (did you mean {meant}?)" if meant else ""
            told[key] = f"{what} {shown(name)} of <{element.tag}> on line {element.line}{hint}"
        elif key not in told:
            left_out += 1
    return ", ".join(told.values()) + (f" and {left_out} more" if left_out else "") or None


def _unknown(elements: Iterable[Element]) -> Iterator[tuple[Element, str, str, str | None]]:
    """Where an unknown name is, whether it is a tag or an attribute, the name, and the known one it is nearest to."""
    for element in elements:
        known = URDF_CHILDREN[element.tag]
        present = {child.tag for child in element.children}
        for child in element.children:
            if child.tag in known:
                # an <inertial> has no attributes of its own
                if not child.attributes.keys() <= URDF_ATTRIBUTES.get(child.tag, child.attributes).keys():
                    yield from _unknown_attributes(child)
            elif child.tag not in IGNORED_CHILDREN:
                meant = one_typo_away(child.tag, known)
                if meant is not None:
                    _refuse_if_absent(child, "tag", child.tag, meant, present, element.tag)
                    yield element, "tag", child.tag, meant
        yield from _unknown(child for child in element.children if child.tag == "inertial")


def _unknown_attributes(element: Element) -> Iterator[tuple[Element, str, str, str | None]]:
    known = tuple(URDF_ATTRIBUTES[element.tag])
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


def one_typo_away(name: str, known: tuple[str, ...]) -> str | None:
    """The known name that differs by one letter more, less, changed or swapped with its neighbour, or in case.

    Quick for any number of names: a file may have 50,000.
    """
    variants, longest = _variants(known)
    if len(name) > longest:
        return None
    return next((variants[variant] for variant in _shortened(name.lower()) if variant in variants), None)


@cache
def _variants(known: tuple[str, ...]) -> tuple[dict[str, str], int]:
    """What is left of each known name without one of its letters; and the most letters of a name one typo away."""
    variants = {variant: word for word in reversed(known) for variant in reversed(_shortened(word))}
    return variants, 1 + max(map(len, known))


def _shortened(word: str) -> list[str]:
    """The word, and what is left of it without one of its letters."""
    return [word, *(word[:i] + word[i + 1 :] for i in range(len(word)))]
