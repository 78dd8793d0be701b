"""Tags and attributes of a URDF that the reader does not know, beside those that it takes its numbers from.

A misspelt one would be read as absent, and many have defaults: it is refused. Others are some tool's own: unknown
attributes are ignored with a warning, unknown tags silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from tauforge.formats.xml_lines import Element, shown

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ATTRIBUTES = {
    "origin": ("xyz", "rpy"),
    "mass": ("value",),
    "inertia": MOMENTS,
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "parent": ("link",),
    "child": ("link",),
    "mimic": ("joint", "multiplier", "offset"),
}
CHILDREN = {
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
}
OTHER_CHILDREN = ("visual", "collision", "calibration", "safety_controller")  # known to URDF, but not used here
MOST = 5  # that one warning names


def unknown_names(elements: Iterable[Element]) -> str | None:
    """Refuse what is misspelt in links and joints; name what else is unknown, for one warning about the file."""
    told: dict[tuple[str, str], str] = {}
    left_out = 0
    for element, what, name, meant in _unknown(elements):
        key = (element.tag, name)
        if len(told) < MOST and key not in told:
            hint = f" (did you mean {meant}?)" if meant else ""
            told[key] = f"{what} {shown(name)} of <{element.tag}> on line {element.line}{hint}"
        elif key not in told:
            left_out += 1
    return ", ".join(told.values()) + (f" and {left_out} more" if left_out else "") or None


def _unknown(elements: Iterable[Element]) -> Iterator[tuple[Element, str, str, str | None]]:
    """Where an unknown name is, whether it is a tag or an attribute, the name, and the known one it is nearest to."""
    for element in elements:
        known = CHILDREN[element.tag]
        present = {child.tag for child in element.children}
        for child in element.children:
            if child.tag in known:
                yield from _unknown_attributes(child)
            elif child.tag not in OTHER_CHILDREN:
                meant = one_typo_away(child.tag, known)
                if meant is not None:
                    _refuse_if_absent(child, "tag", child.tag, meant, present, element.tag)
                    yield element, "tag", child.tag, meant
        yield from _unknown(child for child in element.children if child.tag == "inertial")


def _unknown_attributes(element: Element) -> Iterator[tuple[Element, str, str, str | None]]:
    known = ATTRIBUTES.get(element.tag)
    if known is None:  # an <inertial>, which has none
        return
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
