"""How the command behaves among others: exit codes, errors without tracebacks, broken pipes, Ctrl-C."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from tauforge.cli.output import error, warn
from tauforge.errors import ConvergenceError, ModelError, SingularityError, TauforgeError

FAILED, BAD_USE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141


class Failed(typer.Exit):
    """A check that did not hold; what it was has been said."""

    def __init__(self) -> None:
        super().__init__(FAILED)


class Commands(TyperGroup):
    """The commands, and one place that turns whatever ends them into an exit code and a readable block."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> NoReturn:
        given = list(sys.argv[1:] if args is None else args)
        debug, given = _without_debug(given)
        with warnings.catch_warnings():
            if not debug:
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = lambda message, *_, **__: warn(str(message))
            code = self._code(given, extra, debug)
        sys.exit(code)

    def _code(self, args: list[str], extra: dict[str, Any], debug: bool) -> int:
        returned: Any
        try:
            returned = super().main(args, standalone_mode=False, **extra)
            sys.stdout.flush()
        except SystemExit as end:  # of completion; and of typer, which has met a broken pipe
            return BROKEN_PIPE if type(sys.stdout).__name__ == "PacifyFlushWrapper" else int(end.code or 0)
        except BrokenPipeError:
            # whoever read us has enough; nothing may be flushed to it when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BROKEN_PIPE
        except (KeyboardInterrupt, typer.Abort):
            returned = INTERRUPTED
        except Exception as fault:
            if debug and not hasattr(fault, "format_message"):
                raise
            return _told(fault)
        if returned == INTERRUPTED:
            error("interrupted; files are as they were")
        return returned if isinstance(returned, int) else 0


def _without_debug(args: list[str]) -> tuple[bool, list[str]]:
    """--debug may stand anywhere before a bare --."""
    end = args.index("--") if "--" in args else len(args)
    return "--debug" in args[:end], [arg for k, arg in enumerate(args) if arg != "--debug" or k > end]


def _told(fault: Exception) -> int:
    if hasattr(fault, "format_message"):  # of typer: an argument that cannot be
        context = getattr(fault, "ctx", None)
        remedy = None if context is None else f"See {context.command_path} --help"
        error(fault.format_message(), remedy)
        return BAD_USE
    if isinstance(fault, ModelError):
        text = str(fault) if fault.remedy is None else str(fault)[: -len(f". {fault.remedy}")]
        error(text, fault.remedy)
        return BAD_USE
    if isinstance(fault, TauforgeError):
        error(str(fault))
        return FAILED if isinstance(fault, SingularityError | ConvergenceError | ArithmeticError) else BAD_USE
    if isinstance(fault, MemoryError):
        error("not enough memory", "Take fewer samples")
        return FAILED
    if isinstance(fault, OSError):
        error(f"{fault.filename}: {fault.strerror}" if fault.filename else str(fault))
        return FAILED
    error(f"{type(fault).__name__}: {fault}", "This is a fault of tauforge. Run again with --debug and report it")
    return FAILED
