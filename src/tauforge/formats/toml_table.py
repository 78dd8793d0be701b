"""A TOML table read key by key: every fault names its field, says what was expected and how to write it."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import Any

from tauforge import validation
from tauforge.errors import ModelError
from tauforge.validation import Floats, Rows, shown

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
MEANT = {
    "rotor_inertia": ("motor_inertia", "reflected_mass"),
    "motor_inertia": ("reflected_mass",),
    "max_force": ("force_limit",),
    "max_torque": ("max_force",),
    "force_limit": ("max_force",),
    "travel": ("stroke",),
    "damping": ("viscous", "friction"),
}
NEAR = 0.8  # similarity of a misspelt key to the one that was meant: "rotor_inertia" and "lower_inertia" have 0.77


class Table:
    """A table with its path in the file, and an example of every key it may have.

    examples: key -> how a line with it looks, shown where it is missing or wrong
    outer:    keys of the file's top level, to explain a key that slipped below a table header
    """

    def __init__(
        self, values: Any, path: str, examples: Mapping[str, str], outer: Mapping[str, str] | None = None
    ) -> None:
        if not isinstance(values, dict):
            raise ModelError(f"expected a table, got {shown(values)}", field=path)
        self.values: dict[str, Any] = values
        self.path, self.examples = path, examples
        for key in values:
            if key not in examples:
                raise self._unknown(key, outer or {})

    def _unknown(self, key: str, outer: Mapping[str, str]) -> ModelError:
        meant = [name for name in MEANT.get(key, ()) if name in self.examples]
        near = meant or difflib.get_close_matches(key.lower(), self.examples, n=1, cutoff=NEAR)
        remedy = f"Did you mean {near[0]}? " if near else ""
        remedy += f"Known: {', '.join(self.examples)}"
        if key in outer:
            remedy = f"{key} belongs at the top of the file, above the first line in brackets"
        return ModelError(f"unknown key {shown(key)}", field=self.path or None, key=key, remedy=remedy)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def field(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def fault(self, key: str, problem: str) -> ModelError:
        return ModelError(problem, field=self.field(key), remedy=self.hint(key))

    def hint(self, key: str) -> str:
        return f"Write for example {self.examples[key]}"

    def value(self, key: str) -> Any:
        if key not in self.values:
            raise self.fault(key, "the key is missing")
        return self.values[key]

    def text(self, key: str) -> str:
        value = self.value(key)
        if not isinstance(value, str):
            raise self.fault(key, f"expected a string in quotes, got {shown(value)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.value(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fault(key, f"expected a list of strings, got {shown(value)}")
        return tuple(value)

    def number(self, key: str, *, angle: bool = False) -> float:
        return self._number(key, self.value(key), angle)

    def numbers(self, key: str, count: int, *, angle: bool = False) -> Floats:
        return self._numbers(key, self.value(key), count, angle)

    def matrix(self, key: str) -> Rows:
        """Three rows of three numbers."""
        value = self.value(key)
        if not isinstance(value, list) or len(value) != 3:
            raise self.fault(key, f"expected 3 rows of 3 numbers, got {shown(value)}")
        return tuple(self._numbers(key, row, 3, False) for row in value)

    def table(self, key: str, examples: Mapping[str, str]) -> Table:
        return Table(self.value(key), self.field(key), examples)

    def tables(self, key: str, examples: Mapping[str, str]) -> list[Table]:
        """The tables under [[key]], none if absent; key[1] is the first."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.fault(key, f"expected tables under [[{key}]], got {shown(value)}")
        outer = self.examples if not self.path else None
        return [Table(item, f"{self.field(key)}[{i}]", examples, outer) for i, item in enumerate(value, 1)]

    def _numbers(self, key: str, value: Any, count: int, angle: bool) -> Floats:
        if not isinstance(value, list) or len(value) != count:
            raise self.fault(key, f"expected {count} numbers, got {shown(value)}")
        return tuple(self._number(key, item, angle) for item in value)

    def _number(self, key: str, value: Any, angle: bool) -> float:
        if angle and isinstance(value, str):
            return self._multiple_of_pi(key, value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fault(key, f"expected a number, got {shown(value)}")
        try:
            return validation.real(value, self.field(key))
        except ModelError as error:
            raise self.fault(key, error.problem) from None

    def _multiple_of_pi(self, key: str, text: str) -> float:
        match = MULTIPLE_OF_PI.fullmatch(text.strip(" "))
        over = 1.0 if match is None or match["over"] is None else float(match["over"])
        if match is None or over == 0:
            raise self.fault(key, f"expected radians as a number or a multiple of pi, got {shown(text)}")
        size = float(match["times"] or 1) * math.pi / over
        return -size if match["sign"] == "-" else size
