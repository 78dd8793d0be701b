"""The command `tauforge`: its commands, exit codes, errors without tracebacks, broken pipes and Ctrl-C."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from tauforge import settings
from tauforge.cli import interrupts
from tauforge.cli.output import FAILED, error, seconds, warn
from tauforge.errors import DivergenceError, TauforgeError
from tauforge.plugins import plugins

COMMANDS = {
    "Robots": ("robots", "show", "check", "workspace", "view", "export-c", "design"),
    "Motions": ("inverse-dynamics", "forward-kinematics", "simulate", "sizing", "sweep"),
    "Formulations": ("compare", "complexity", "bench"),
}
BAD_USE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


class WithBareFlags:
    """Its help names no type beside a flag, which takes no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class Command(WithBareFlags, TyperCommand):
    """One command."""


class Commands(WithBareFlags, TyperGroup):
    """The commands, and one place that turns whatever ends them into an exit code and a readable block."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or added_commands().get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        return [*added_commands(), *super().list_commands(ctx)]

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # for which some versions of typer print an empty line
            raise typer.Exit(INTERRUPTED) from None

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> NoReturn:
        given = list(sys.argv[1:] if args is None else args)
        debug, given = _without_debug(given)
        nowhere = io.StringIO()
        if sys.stdout is None:  # closed by the shell, as in >&-
            sys.stdout = nowhere
        if sys.stderr is None:
            sys.stderr = io.StringIO()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # not every terminal has every character, of a name for one
                stream.reconfigure(errors="backslashreplace")
        with warnings.catch_warnings():
            if not debug:
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = lambda message, *_, **__: warn(str(message))
            code = self._code(given or ["--help"], extra, debug)
        if code == 0 and not given:
            code = BAD_USE  # a command was expected
        if code == 0 and nowhere.getvalue():
            error("stdout is closed, the result went nowhere")
            code = FAILED
        try:
            sys.stderr.flush()
        except OSError:  # nobody was told, but the exit code is right
            _give_up(sys.stderr)
        sys.exit(code)

    def _code(self, args: list[str], extra: dict[str, Any], debug: bool) -> int:
        returned: Any
        try:
            returned = super().main(args, standalone_mode=False, **extra)
            sys.stdout.flush()
        except SystemExit as end:
            if not isinstance(end.__context__, BrokenPipeError):  # of completion
                return int(end.code or 0)
            _give_up(sys.stdout)  # of typer or rich, who met a closed pipe
            return BROKEN_PIPE
        except BrokenPipeError:  # whoever read us has enough
            _give_up(sys.stdout)
            return BROKEN_PIPE
        except (KeyboardInterrupt, typer.Abort):
            returned = INTERRUPTED
        except Exception as fault:
            if not interrupts.came():
                return _code_told(fault, debug)
            returned = INTERRUPTED
        if returned != INTERRUPTED:
            return returned if isinstance(returned, int) else 0
        code = interrupts.end()
        tell_interrupted()
        return code


@cache
def added_commands() -> Mapping[str, Any]:
    """Commands of other packages by name, each group under a heading of its own."""
    app = typer.Typer(rich_markup_mode="rich")
    for heading, module in plugins("tauforge.commands").items():
        for name, command in module.COMMANDS:
            app.command(name, cls=Command, rich_help_panel=heading.capitalize())(command)
    return typer.main.get_group(app).commands if app.registered_commands else {}


def tell_interrupted() -> None:
    error("interrupted; no file is half written")


def _without_debug(args: list[str]) -> tuple[bool, list[str]]:
    """--debug may stand anywhere before a bare --."""
    end = args.index("--") if "--" in args else len(args)
    return "--debug" in args[:end], [arg for k, arg in enumerate(args) if arg != "--debug" or k > end]


def _give_up(stream: Any) -> None:
    """Leads a stream that cannot be written to nowhere, so that Python does not flush it again at its end."""
    with suppress(OSError):  # in tests it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _code_told(fault: Exception, debug: bool) -> int:
    if isinstance(fault, OSError) and not fault.filename:
        _give_up(sys.stdout)
    if debug and not hasattr(fault, "format_message"):
        traceback.print_exc()
    else:
        _tell(fault)
    if isinstance(fault, TauforgeError):
        return FAILED if isinstance(fault, ArithmeticError | RuntimeError) else BAD_USE
    return BAD_USE if hasattr(fault, "format_message") else FAILED


def _tell(fault: Exception) -> None:
    if hasattr(fault, "format_message"):  # of typer: an argument that cannot be
        context = getattr(fault, "ctx", None)
        error(fault.format_message(), None if context is None else f"See {context.command_path} --help")
    elif isinstance(fault, DivergenceError):
        error(
            f"the simulation ends at t = {seconds(fault.time)} s: {fault.reason}", "Try other gains or a shorter --step"
        )
    elif isinstance(fault, TauforgeError):
        error(fault.statement, fault.remedy)
    elif isinstance(fault, MemoryError):
        error("not enough memory", "Take fewer samples")
    elif isinstance(fault, OSError):
        error(f"{fault.filename or 'stdout'}: {fault.strerror or fault}")
    else:
        error(f"{type(fault).__name__}: {fault}", "This is a fault of tauforge. Run again with --debug and report it")


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
