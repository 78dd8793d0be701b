"""Options that several commands share: how they are written and completed, and what their texts mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tauforge.robots.loads import Payload
    from tauforge.robots.robot import Robot as AnyRobot

CATALOGUE = Path(__file__).parent.parent / "formats" / "catalogue"  # its names without loading what loads robots
NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s].*)?")
VOWELS = ("a", "e", "i", "o", "u")


def complete_robot(incomplete: str) -> list[str]:
    """Names of the catalogue; files are left to the shell."""
    return [name for name in sorted(path.stem for path in CATALOGUE.glob("*.toml")) if name.startswith(incomplete)]


def complete_platform(incomplete: str) -> list[str]:
    """Those whose files have the format of platforms."""
    names = complete_robot(incomplete)
    return [name for name in names if "tauforge-platform-" in (CATALOGUE / f"{name}.toml").read_text(encoding="utf-8")]


def names_in(module: str, *tables: str) -> Callable[[str], list[str]]:
    """Completes names in tables of a module, which is imported when a shell asks."""

    def complete(incomplete: str) -> list[str]:
        names = (name for table in tables for name in getattr(import_module(module), table))
        return [name for name in names if name.startswith(incomplete)]

    return complete


# for arms and for platforms: the shell does not tell which robot is meant
complete_formulation = names_in("tauforge", "FORMULATIONS", "STEWART_MODELS")


Texts = list[str] | None  # of an option that may be repeated
File = Path | None


def setting(metavar: str, help: str, *names: str, **settings: Any) -> Any:
    """An option with a value, which its help calls `metavar`."""
    return typer.Option(*names, metavar=metavar, help=help, **settings)


def switch(name: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help)


Robot = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A robot of the catalogue, or a .toml, .urdf or .xml (MJCF) file. A .toml file closes loops of a URDF.",
        autocompletion=complete_robot,
    ),
]
Platform = Annotated[
    str,
    typer.Argument(
        metavar="PLATFORM", help="A platform of the catalogue, or a .toml file.", autocompletion=complete_platform
    ),
]
Tip = Annotated[
    str | None, setting("LINK", "The link of a URDF whose frame is the tool's. Default: the last of the chain.")
]
Lock = Annotated[
    Texts, setting("JOINT=VALUE", "Hold a joint of a URDF and its mimics at a coordinate, rad or m. May be repeated.")
]
Json = Annotated[bool, switch("--json", "The result as JSON, and nothing else on stdout.")]
PayloadOption = Annotated[
    str | None,
    setting(
        "MASS[,X,Y,Z]",
        "A body carried by the tool or on the platform: kg, and m of its mass centre in that frame.",
        "--payload",
    ),
]
Wrench = Annotated[
    str | None,
    setting(
        "FX,FY,FZ,MX,MY,MZ",
        "N and N m on the tool (world axes) or on the platform (base axes), at its origin.",
        "--wrench",
    ),
]
Smooth = Annotated[
    float | None,
    setting(
        "HZ",
        "Smooth what is differentiated, without delay: -3 dB at this frequency. Good: 4 to 5 times the motion's.",
        "--smooth",
    ),
]
Output = Annotated[str | None, setting("FILE", "Where the result goes; - for stdout.", "--output", "-o")]
Motion = Annotated[
    Path,
    typer.Argument(metavar="MOTION.csv", help=r"time \[s], then q1 \[rad] ..., or x \[m], y, z, theta_x \[rad], ..."),
]


# ------------------------------------------------------------------------------------------- texts and their meaning


def bad(option: str, problem: str) -> typer.BadParameter:
    return typer.BadParameter(problem, param_hint=option)


def load_robot(name: str, tip: str | None = None, lock: list[str] | None = None) -> AnyRobot:
    from tauforge.formats.loading import load

    locked = pairs("--lock", lock, "JOINT=VALUE")
    held = {joint: quantity("--lock", value, "rad", "m") for joint, value in locked}
    return load(name, tip=tip, lock=held or None)


def kind_of(robot: AnyRobot) -> str:
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
