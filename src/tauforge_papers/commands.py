"""`tauforge reproduce`: the papers' studies as one report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tauforge.cli.options import Json
from tauforge.cli.output import result, working


def complete_paper(incomplete: str) -> list[str]:
    from tauforge_papers.registry import STUDIES

    return [name for name in STUDIES if name.startswith(incomplete)]


def reproduce(
    papers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PAPER]...", help="Which; all if none is named.", autocompletion=complete_paper),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the report goes.")] = Path("reports"),
    as_json: Json = False,
) -> None:
    """Recompute the five papers: figures, tables and a verdict on every claim, as one page of HTML."""
    from tauforge_papers.registry import chosen
    from tauforge_papers.reproduce import reproduce as write

    names = chosen(papers)
    lines = not sys.stderr.isatty()  # a log wants them all
    with working("starting") as tell:

        def progress(what: str) -> None:
            if lines:
                print(what, file=sys.stderr, flush=True)
            tell(what)

        page = write(names, out, progress)
    result(as_json, {"papers": names, "report": page}, lambda: [f"The report is in {page}"])


COMMANDS = (("reproduce", reproduce),)
