"""URDF and MJCF are read with this: XML as small elements that know their line, misspelt names, and masses of links.

Nothing a hostile file could use is read: no DTD, no entities, UTF-8 only; size, depth and number of elements are
capped. Text between tags is dropped.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from tauforge import validation
from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.vectors import NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector
from tauforge.errors import ModelError, TauforgeWarning, UnsupportedFeatureError, in_file
from tauforge.files import decoded, read_capped
from tauforge.robots.mechanism.parts import Body
from tauforge.robots.plausibility import levels_to_the_caller
from tauforge.validation import LARGEST

MAX_XML_BYTES = 4 * 2**20
MAX_XML_DEPTH = 64
MAX_XML_ELEMENTS = 50_000
MAX_NUMBER_LENGTH = 100  # characters of one number

# float() alone would also take nan, inf, 1_000 and digits of other scripts
DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WORD = re.compile(r"[^ \t\r\n]+")
XACRO_REMEDY = "Expand the file with xacro first: xacro robot.urdf.xacro > robot.urdf"


@dataclass(slots=True)
class Element:
    """A tag with its attributes and children, and where it starts."""

    tag: str
    attributes: dict[str, str]
    file: str | Path
    line: int
    children: list[Element] = field(default_factory=list)

    def fault(self, problem: str, *, field: str | None = None, remedy: str | None = None) -> ModelError:
        return ModelError(problem, file=self.file, line=self.line, field=field, remedy=remedy)

    def unsupported(
        self, problem: str, *, field: str | None = None, remedy: str | None = None
    ) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(problem, file=self.file, line=self.line, field=field, remedy=remedy)

    def optional_child(self, tag: str) -> Element | None:
        """The child with this tag, if there is one; two are refused."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) > 1:
            raise found[1].fault(f"there is a second <{tag}> in the same <{self.tag}>", remedy="Keep one of them")
        return found[0] if found else None

    def child(self, tag: str) -> Element:
        found = self.optional_child(tag)
        if found is None:
            raise self.fault(f"<{self.tag}> has no <{tag}>", field=tag)
        return found

    def text(self, attribute: str) -> str:
        """A required attribute that is not empty."""
        value = self.attributes.get(attribute)
        if not value:
            missing = "is missing" if value is None else "is empty"
            raise self.fault(f"the attribute {attribute!r} {missing}", field=f"{self.tag} {attribute}")
        return value

    def number(self, attribute: str, default: float | None = None) -> float:
        """One finite number; required if there is no default."""
        return self.numbers(attribute, 1, None if default is None else (default,))[0]

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Exactly `count` finite numbers, separated by blanks; required if there is no default."""
        if default is not None and attribute not in self.attributes:
            return default
        words = WORD.findall(self.text(attribute))
        if len(words) != count:
            expected = "1 number" if count == 1 else f"{count} numbers separated by blanks"
            got = shown(self.attributes[attribute])
            raise self.fault(f"expected {expected}, got {got}", field=f"{self.tag} {attribute}")
        return tuple([self._number(attribute, word) for word in words])

    def _number(self, attribute: str, word: str) -> float:
        if len(word) > MAX_NUMBER_LENGTH or not DECIMAL.fullmatch(word):
            problem, remedy = f"expected a finite number, got {shown(word)}", _remedy(word)
        elif abs(found := float(word)) > LARGEST:
            problem, remedy = f"expected a finite number of at most {LARGEST:g}, got {word}", None
        else:
            return found
        raise self.fault(problem, field=f"{self.tag} {attribute}", remedy=remedy)

    def up_to(self, attribute: str, most: int) -> tuple[float, ...]:
        """At most so many numbers; none if the attribute is absent."""
        if attribute not in self.attributes:
            return ()
        count = len(WORD.findall(self.attributes[attribute]))
        return self.numbers(attribute, min(max(count, 1), most))

    def word(self, attribute: str, words: tuple[str, ...], default: str) -> str:
        """The value of an attribute that is one of a few words."""
        value = self.attributes.get(attribute, default)
        if value not in words:
            problem = f"expected {', '.join(words[:-1])} or {words[-1]}, got {shown(value)}"
            raise self.fault(problem, field=f"{self.tag} {attribute}")
        return value

    def is_true(self, attribute: str, default: bool) -> bool:
        return self.word(attribute, ("true", "false"), str(default).lower()) == "true"

    def rgba(self) -> tuple[float, ...]:
        """Red, green, blue and opacity from 0 to 1, of the attribute that both URDF and MJCF call so."""
        found = self.numbers("rgba", 4)
        if not all(0 <= part <= 1 for part in found):
            got = shown(self.attributes["rgba"])
            raise self.fault(f"expected numbers from 0 to 1, got {got}", field=f"{self.tag} rgba")
        return found


def _remedy(word: str) -> str | None:
    if "$" in word:
        return XACRO_REMEDY
    return "Write the decimal point as a point" if "," in word else None


def shown(text: str) -> str:
    """A text from the file in quotes, cut where it would flood the message."""
    return repr(text if len(text) <= 60 else text[:60] + "...")


def warn(text: str, remedy: str | None = None) -> None:
    """A warning about a robot in a file, for the code that reads or writes it."""
    warnings.warn(TauforgeWarning(text, remedy=remedy), stacklevel=levels_to_the_caller())


def unused(name: str, names: Container[str]) -> str:
    """The name, with as many apostrophes as make it a new one."""
    while name in names:
        name += "'"
    return name


def read_xml(path: Path) -> Element:
    """The root element of a file; ModelError with file and line for anything but plain, modest XML."""
    return parse_xml(read_capped(path, MAX_XML_BYTES), path)


def parse_xml(data: bytes, file: str | Path) -> Element:
    """file: what messages call it"""
    with in_file(file):
        text = decoded(data, MAX_XML_BYTES)
    parser = expat.ParserCreate()
    roots: list[Element] = []
    open_elements: list[Element] = []
    numbers = count(1)

    def fault(problem: str, remedy: str | None = None) -> ModelError:
        return ModelError(problem, file=file, line=parser.CurrentLineNumber, remedy=remedy)

    def start(tag: str, attributes: dict[str, str]) -> None:
        if next(numbers) > MAX_XML_ELEMENTS:
            raise fault(f"the file has more than {MAX_XML_ELEMENTS} elements")
        if len(open_elements) >= MAX_XML_DEPTH:
            raise fault(f"elements are nested more than {MAX_XML_DEPTH} deep")
        element = Element(tag, attributes, file, parser.CurrentLineNumber)
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def refuse_doctype(*_declaration: object) -> None:
        raise fault("a DOCTYPE is not accepted: it could define entities", "Remove the DOCTYPE and its entities")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _tag: open_elements.pop()
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(text, True)  # a str, so that an encoding named in the file is never looked up
    except expat.ExpatError as error:
        problem = f"not well-formed XML: {expat.ErrorString(error.code)}, column {error.offset + 1}"
        raise ModelError(problem, file=file, line=error.lineno) from None
    return roots[0]


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
    """Known names by what is left without one of their letters; and the most letters of a name one typo away."""
    variants = {variant: word for word in reversed(known) for variant in reversed(_shortened(word))}
    return variants, 1 + max(map(len, known))


def _shortened(word: str) -> list[str]:
    """The word, and what is left of it without one of its letters."""
    return [word, *(word[:i] + word[i + 1 :] for i in range(len(word)))]


# -------------------------------------------------------------------------------------------------- masses of links


class Inertial(NamedTuple):
    """mass kg, com m, inertia kg m^2 about the centre of mass; in the axes of a named frame."""

    mass: float
    com: Vector
    inertia: Matrix

    def seen_from(self, placement: Transform) -> Inertial:
        """The same in the outer frame of the placement."""
        R, p = placement
        return Inertial(self.mass, R @ self.com + p, rotated(self.inertia, R))

    @property
    def is_massless(self) -> bool:
        return self.mass == 0 and all(x == 0 for row in self.inertia.rows for x in row)

    def as_body(self, name: str, frame: Transform) -> Body:
        """A body of a mechanism. frame: world <- the frame that this is in"""
        own = self.seen_from(frame)
        turned = frame.rotation != NO_DISPLACEMENT.rotation
        return Body(
            name,
            own.mass,
            tuple(own.com),
            tuple(tuple(row) for row in own.inertia.rows),
            origin=None if turned else tuple(frame.translation),
            frame=validation.from_transform(frame) if turned else None,
        )


NO_INERTIAL = Inertial(0.0, ZERO, Matrix((ZERO, ZERO, ZERO)))


def together(parts: Iterable[Inertial]) -> Inertial:
    """Several as one, all in the same frame."""
    bodies = list(parts)
    heavy = [body for body in bodies if body.mass > 0]
    mass = math.fsum(body.mass for body in heavy)
    if len(heavy) == 1:
        com = heavy[0].com  # as given, not rounded by a product and a quotient
    else:
        com = sum((body.com * (body.mass / mass) for body in heavy), ZERO)
    inertia = NO_INERTIAL.inertia
    for body in bodies:
        inertia = inertia + body.inertia + point_mass_inertia(body.mass, body.com - com)
    return Inertial(mass, com, (inertia + inertia.T) * 0.5)
