"""Keys of TOML tables by declaration: what a key's value is, how it is read and written, and how a line with it looks.

Every fault names its field, says what was expected and how to write it.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tauforge import validation
from tauforge.algebra.vectors import Matrix, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formats.model_files import file_beside
from tauforge.robots.records import KnownException, Source
from tauforge.robots.robot import Robot
from tauforge.validation import IDENTITY_ROWS, Floats, Rows, shown

MULTIPLE_OF_PI = re.compile(  # of a text without blanks at its ends
    r"""
    (?P<sign> [+-]?) [ ]*
    (?: (?P<times> [0-9]{1,12} (?: \.[0-9]{1,12} )? ) [ ]* \* [ ]* )?
    pi
    (?: [ ]* / [ ]* (?P<over> [0-9]{1,12} ) )?
    """,
    re.VERBOSE,
)
# other names for keys of arms and of platforms
OTHER_KEY_NAMES = {
    "rotor_inertia": ("motor_inertia", "reflected_mass"),
    "motor_inertia": ("reflected_mass",),
    "max_force": ("force_limit",),
    "max_torque": ("max_force",),
    "force_limit": ("max_force",),
    "travel": ("stroke",),
    "damping": ("viscous", "friction"),
}
KEY_SIMILARITY = 0.8  # of a misspelt key to the one that was meant: "rotor_inertia" and "lower_inertia" have 0.77


class Key(NamedTuple):
    """A key of a table.

    example: how a line with it looks, for messages where it is missing or wrong
    read:    what a file's value means; the place makes the error of a bad one
    written: the file's value of a robot's; None leaves the key out
    needed:  whether every table must have it
    """

    example: str
    read: Callable[[Entry, Any], Any] = lambda _place, value: value
    written: Callable[[Any], Any] = lambda value: value
    needed: bool = False


Keys = Mapping[str, Key]


class Table:
    """A table of a file, with its path in the file and the keys that it may have.

    outer: keys of the file's top level, to explain a key that slipped below a table header
    """

    def __init__(self, values: Any, path: str, keys: Keys, outer: Keys | None = None) -> None:
        if not isinstance(values, dict):
            raise ModelError(f"expected a table, got {shown(values)}", field=path)
        self.values: dict[str, Any] = values
        self.path, self.keys = path, keys
        for key in values:
            if key not in keys:
                raise self._unknown(key, outer or {})

    def _unknown(self, key: str, outer: Keys) -> ModelError:
        meant = [name for name in OTHER_KEY_NAMES.get(key, ()) if name in self.keys]
        near = meant or difflib.get_close_matches(key.lower(), self.keys, n=1, cutoff=KEY_SIMILARITY)
        remedy = f"Did you mean {near[0]}? " if near else ""
        remedy += f"Known: {', '.join(self.keys)}"
        if key in outer:
            remedy = f"{key} belongs at the top of the file, above the first line in brackets"
        return ModelError(f"unknown key {shown(key)}", field=self.path or None, key=key, remedy=remedy)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def at(self, key: str) -> Entry:
        return Entry(f"{self.path}.{key}" if self.path else key, self.keys[key].example, self)

    def value(self, key: str) -> Any:
        """The value of a key as its declaration reads it; ModelError if the key is missing."""
        place = self.at(key)
        if key not in self.values:
            raise place.fault("the key is missing")
        return self.keys[key].read(place, self.values[key])

    def get(self, key: str, otherwise: Any = None) -> Any:
        return self.value(key) if key in self else otherwise

    def given(self, *, but: Iterable[str] = ()) -> dict[str, Any]:
        """The meaning of all keys that are given, needed ones included, but for some."""
        return {
            key: self.value(key)
            for key, declared in self.keys.items()
            if (declared.needed or key in self) and key not in but
        }

    def made(self, kind: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        """A part made of values; an error names its key in the table."""
        try:
            return kind(**given)
        except ModelError as error:  # names the part and the field, or the field alone
            key = (error.field or "").rpartition(".")[2]
            field = f"{self.path}.{key}" if self.path else key
            remedy = error.remedy or (self.at(key).hint if key in self.keys else None)
            raise ModelError(error.problem, field=field, remedy=remedy) from None


class Entry(NamedTuple):
    """The place of a value: its field, an example of a line with it, and its table."""

    field: str
    example: str
    table: Table

    @property
    def hint(self) -> str:
        return f"Write for example {self.example}"

    def fault(self, problem: str) -> ModelError:
        return ModelError(problem, field=self.field, remedy=self.hint)


def values_of(part: object, keys: Keys, *, defaults: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """The values of a part's table. defaults: values that are left out, by key"""
    found = {key: declared.written(getattr(part, key)) for key, declared in keys.items() if hasattr(part, key)}
    return {key: value for key, value in found.items() if key not in defaults or repr(value) != repr(defaults[key])}


# ------------------------------------------------------------------------------------------------- kinds of values


def text(place: Entry, value: Any) -> str:
    if not isinstance(value, str):
        raise place.fault(f"expected a string in quotes, got {shown(value)}")
    return value


def texts(place: Entry, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise place.fault(f"expected a list of strings, got {shown(value)}")
    return tuple(value)


def text_or_texts(place: Entry, value: Any) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else texts(place, value)


def number(place: Entry, value: Any) -> float:
    try:
        return validation.real(value, place.field)
    except ModelError as error:
        raise place.fault(error.problem) from None


def angle(place: Entry, value: Any) -> float:
    """Radians, as a number or as a text such as -pi/2."""
    if not isinstance(value, str):
        return number(place, value)
    match = MULTIPLE_OF_PI.fullmatch(value.strip(" "))
    over = 1.0 if match is None or match["over"] is None else float(match["over"])
    if match is None or over == 0:
        raise place.fault(f"expected radians as a number or a multiple of pi, got {shown(value)}")
    size = float(match["times"] or 1) * math.pi / over
    return -size if match["sign"] == "-" else size


def several(read: Callable[[Entry, Any], float], count: int) -> Callable[[Entry, Any], Floats]:
    """So many numbers or angles."""

    def numbers(place: Entry, value: Any) -> Floats:
        if not isinstance(value, list) or len(value) != count:
            raise place.fault(f"expected {count} numbers, got {shown(value)}")
        return tuple(read(place, item) for item in value)

    return numbers


vector = several(number, 3)


def matrix(place: Entry, value: Any) -> Rows:
    """Three rows of three numbers."""
    if not isinstance(value, list) or len(value) != 3:
        raise place.fault(f"expected 3 rows of 3 numbers, got {shown(value)}")
    return tuple(vector(place, row) for row in value)


def _inertia(place: Entry, value: Any) -> Floats | Rows:
    is_matrix = isinstance(value, list) and any(isinstance(row, list) for row in value)
    return matrix(place, value) if is_matrix else vector(place, value)


def _moments(inertia: Rows) -> Floats | Rows:
    """The principal moments, where there are no products."""
    principal = all(inertia[i][j] == 0 for i in range(3) for j in range(3) if i != j)
    return tuple(inertia[i][i] for i in range(3)) if principal else inertia


def tables(keys: Keys, most: int | None = None) -> Callable[[Entry, Any], list[Table]]:
    """The tables under [[key]]; key[1] is the first."""

    def read(place: Entry, value: Any) -> list[Table]:
        if not isinstance(value, list):
            raise place.fault(f"expected tables under [[{place.field}]], got {shown(value)}")
        if most is not None and len(value) > most:
            problem = f"there are {len(value)} tables [[{place.field}]]; at most {most} are accepted"
            raise ModelError(problem, field=place.field)
        return [Table(item, f"{place.field}[{i}]", keys, place.table.keys) for i, item in enumerate(value, 1)]

    return read


# ------------------------------------------------------------------------------------------- keys of several formats

FRAME_KEYS = {
    "translation": Key("translation = [0.0, 0.0, 0.1]", vector),
    "rpy": Key('rpy = [0.0, "pi/2", 0.0]', several(angle, 3)),
    "rotation": Key("rotation = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]", matrix),
}


def frame(place: Entry, value: Any) -> Rows:
    """A 4 x 4 transform from translation and rpy or rotation."""
    table = Table(value, place.field, FRAME_KEYS)
    if "rpy" in table and "rotation" in table:
        raise ModelError("both rpy and rotation are given", field=place.field, remedy="Keep one of them")
    given = table.given()
    if "rpy" in given:
        rotation = validation.rotation_from_rpy(*given["rpy"])
    else:
        own = given.get("rotation", tuple(row[:3] for row in IDENTITY_ROWS[:3]))
        R = validation.rotation(own, f"{place.field}.rotation", "rpy = [roll, pitch, yaw]")
        rotation = Matrix.of(validation.rows(R))
    return validation.from_transform(Transform(rotation, Vector(*given.get("translation", (0.0, 0.0, 0.0)))))


def frame_parts(transform: Rows) -> dict[str, Floats | Rows]:
    return {"rotation": tuple(row[:3] for row in transform[:3]), "translation": tuple(row[3] for row in transform[:3])}


INERTIA_KEY = Key("inertia = [0.01, 0.02, 0.02], or three such rows", _inertia, _moments)
DRIVE_KEYS = {
    "viscous": Key("viscous = 0.001", number),
    "coulomb": Key("coulomb = [0.4, 0.4], the magnitudes for either direction", several(number, 2)),
    "motor_inertia": Key("motor_inertia = 2e-4", number),
    "gear_ratio": Key("gear_ratio = 100.0", number),
    "max_speed": Key("max_speed = 2.0", number),
    "max_force": Key("max_force = 80.0", number),
}
GRAVITY_KEY = Key("gravity = [0.0, 0.0, -9.81]", vector)
COULOMB_SPEED_KEY = Key("coulomb_speed = 0.01", number)
KNOWN_EXCEPTION_KEYS = {
    "body": Key('body = "link of joint1"', text, needed=True),
    "reason": Key('reason = "as published"', text, needed=True),
}
SOURCE_KEYS = {
    "fields": Key('fields = ["mass", "com"]', texts, needed=True),
    "source": Key('source = "author, title, year, table"', text, needed=True),
    "note": Key('note = "read from a transcription"', text),
}
PROVENANCE_KEYS = {
    "known_exception": Key("[[known_exception]] and below it body and reason", tables(KNOWN_EXCEPTION_KEYS)),
    "source": Key("[[source]] and below it fields and source", tables(SOURCE_KEYS)),
}


def provenance(top: Table) -> dict[str, Any]:
    """The arguments `known_exceptions` and `sources` of a robot."""
    return {
        "known_exceptions": tuple(KnownException(**table.given()) for table in top.get("known_exception", [])),
        "sources": tuple(Source(**table.given()) for table in top.get("source", [])),
    }


def provenance_values(robot: Any) -> dict[str, list[dict[str, Any]]]:
    """The tables of a robot's known exceptions and sources."""
    return {
        "known_exception": [values_of(exception, KNOWN_EXCEPTION_KEYS) for exception in robot.known_exceptions],
        "source": [values_of(source, SOURCE_KEYS) for source in robot.sources],
    }


# ------------------------------------------------------------------------------------------------------------ formats


class TomlFormat(NamedTuple):
    """The reader of the TOML files of one kind of robot.

    read:     the robot of a file's values; ModelError names the field that is wrong
    example:  a robot of the catalogue whose file has good values, which `tauforge check` puts in place of bad ones
    suitable: values that are good where those of the example are not, beside other values of a file
    files:    keys whose values name files beside the TOML file, with examples; `read` gets their paths
    """

    read: Callable[[dict[str, Any]], Robot]
    example: str | None = None
    suitable: Mapping[str, Any] = MappingProxyType({})
    files: Mapping[str, str] = MappingProxyType({})

    def with_paths(self, values: dict[str, Any], model: Path) -> dict[str, Any]:
        """The values of a file with the paths of the files that they name."""
        found = dict(values)
        for key, example in self.files.items():
            name = values.get(key)
            if isinstance(name, str):
                try:
                    found[key] = file_beside(model, name)
                except ModelError as error:
                    raise ModelError(error.problem, field=key, remedy=f"Write for example {example}") from None
        return found
