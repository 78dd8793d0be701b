"""Options and arguments that several commands share: how they are written and completed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

CATALOGUE = Path(__file__).parent.parent / "formats" / "catalogue"  # its names without loading what loads robots


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
        "MASS[,X,Y,Z]", "A body carried by the tool or on the platform: kg, and m of its mass centre in that frame."
    ),
]
Wrench = Annotated[
    str | None,
    setting("FX,FY,FZ,MX,MY,MZ", "N and N m on the tool (world axes) or on the platform (base axes), at its origin."),
]
Smooth = Annotated[
    float | None,
    setting(
        "HZ", "Smooth what is differentiated, without delay: -3 dB at this frequency. Good: 4 to 5 times the motion's."
    ),
]
Output = Annotated[str | None, setting("FILE", "Where the result goes; - for stdout.", "--output", "-o")]
Motion = Annotated[
    Path,
    typer.Argument(metavar="MOTION.csv", help=r"time \[s], then q1 \[rad] ..., or x \[m], y, z, theta_x \[rad], ..."),
]
