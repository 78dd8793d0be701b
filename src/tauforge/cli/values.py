"""Texts of options as what they mean: robots, quantities with units, wrenches, payloads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from tauforge.robots.loads import Payload
    from tauforge.robots.robot import Robot

NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s].*)?")
VOWELS = ("a", "e", "i", "o", "u")


def bad(option: str, problem: str) -> typer.BadParameter:
    return typer.BadParameter(problem, param_hint=option)


def load_robot(name: str, tip: str | None = None, lock: list[str] | None = None) -> Robot:
    from tauforge.formats.loading import load

    locked = pairs("--lock", lock, "JOINT=VALUE")
    held = {joint: quantity("--lock", value, "rad", "m") for joint, value in locked}
    return load(name, tip=tip, lock=held or None)


def kind_of(robot: Robot) -> str:
    """Such as "an arm"."""
    from tauforge.robots.robot import noun_of

    noun = noun_of(robot)
    return f"{'an' if noun[:1].lower() in VOWELS else 'a'} {noun}"


def quantity(option: str, text: str, *kinds: str) -> float:
    """A number, in SI units unless it carries one of its own, such as 90deg or 20mm.

    kinds: the SI units of what it may measure; without any, no unit fits
    """
    from tauforge.units import UNITS

    fitting = {name: factor for name, (kind, factor) in UNITS.items() if kind in kinds}
    found = NUMBER.fullmatch(text)
    unit = (found[2] or "").strip() if found else ""
    if found is None or (unit and unit not in fitting) or not math.isfinite(float(found[1])):
        units = f" in {' or '.join(kinds)}, or one with its unit ({', '.join(fitting)})" if kinds else " without a unit"
        raise bad(option, f"expected a number{units}, got {text!r}")
    return float(found[1]) * (fitting[unit] if unit else 1.0)


def quantities(option: str, text: str, kinds: Sequence[str]) -> list[float]:
    """Numbers with commas between them, each of its kind."""
    parts, count = text.split(","), len(kinds)
    if len(parts) != count:
        raise bad(option, f"expected {count} number{'s' * (count > 1)} separated by commas, got {len(parts)}")
    return [quantity(option, part, kind) for part, kind in zip(parts, kinds, strict=True)]


def parse_wrench(text: str | None) -> list[float] | None:
    """N and N m, (6,)."""
    return None if text is None else quantities("--wrench", text, ["N"] * 3 + ["N m"] * 3)


def parse_payload(text: str | None) -> Payload | None:
    from tauforge.robots.loads import Payload

    if text is None:
        return None
    count = text.count(",") + 1
    if count not in (1, 4):
        raise bad("--payload", f"expected a mass, or a mass and three coordinates, got {count} numbers")
    values = quantities("--payload", text, ("kg", "m", "m", "m")[:count])
    return Payload(values[0], values[1:] or (0.0, 0.0, 0.0))


def robot_carrying(robot: Any, text: str | None) -> Any:
    """The robot with the payload as part of it."""
    payload = parse_payload(text)
    return robot if payload is None else robot.carrying(payload)


def pairs(option: str, texts: list[str] | None, form: str = "NAME=VALUE") -> Iterator[tuple[str, str]]:
    """Names and values of an option that may be repeated."""
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise bad(option, f"expected {form}, got {text!r}")
        yield name.strip(), value
