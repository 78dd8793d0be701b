"""The command `tauforge`: every command under its heading."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from tauforge import settings
from tauforge.cli.shell import Command, Commands

COMMANDS = {
    "Robots": ("robots", "show", "check", "workspace", "view", "export-c", "design"),
    "Motions": ("inverse-dynamics", "forward-kinematics", "simulate", "sizing", "sweep"),
    "Formulations": ("compare", "complexity", "bench"),
}
app = typer.Typer(
    name="tauforge",
    cls=Commands,
    help="The dynamics of serial arms, Stewart platforms and mechanisms. SI units and radians if nothing else is said.",
    epilog="Exit codes: 0 well, 1 a check failed or there is no answer, 2 bad use or bad input, 130 interrupted.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from tauforge import __version__

        typer.echo(f"tauforge {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version, and no more.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Tracebacks instead of error messages.")] = False,
) -> None:
    """The dynamics of serial arms, Stewart platforms and mechanisms. SI units and radians if nothing else is said."""
    settings.check()


for heading, names in COMMANDS.items():
    for name in names:
        function = name.replace("-", "_")  # in a module of the same name
        command = getattr(import_module(f"tauforge.cli.{function}"), function)
        app.command(name, cls=Command, rich_help_panel=heading)(command)
