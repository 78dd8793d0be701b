"""How the TOML files of a kind of robot are read, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tauforge.robots.robot import Robot


class Format(NamedTuple):
    """How the TOML files of a kind of robot are read.

    read:     the robot of a file's values; ModelError names the field that is wrong
    example:  a robot of the catalogue whose file has good values, which `tauforge check` puts in place of bad ones
    suitable: values that are good where those of the example are not, beside other values of a file
    """

    read: Callable[[dict[str, Any]], Robot]
    example: str | None = None
    suitable: Mapping[str, Any] = MappingProxyType({})
