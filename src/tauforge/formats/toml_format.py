"""How the TOML files of a kind of robot are read, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tauforge.errors import ModelError
from tauforge.formats.relative_names import file_beside
from tauforge.robots.robot import Robot


class Format(NamedTuple):
    """How the TOML files of a kind of robot are read.

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
