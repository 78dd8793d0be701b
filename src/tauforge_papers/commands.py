"""`tauforge reproduce`: the papers' studies as one report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tauforge.cli import inputs
from tauforge.cli.options import File, Json, Lock, Smooth, Tip, complete_robot, setting
from tauforge.cli.output import bad, result, working


def complete_paper(incomplete: str) -> list[str]:
    from tauforge_papers.registry import STUDIES

    return [name for name in STUDIES if name.startswith(incomplete)]


def reproduce(
    papers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PAPER]...", help="Which; all if none is named.", autocompletion=complete_paper),
    ] = None,
    out: Annotated[
        Path | None,
        setting("DIR", "Where the report goes. Default: reports, with --robot own-figures."),
    ] = None,
    robot: Annotated[
        str | None,
        setting(
            "ROBOT", "Draw the papers' figures for this robot instead, without verdicts.", autocompletion=complete_robot
        ),
    ] = None,
    motion: Annotated[File, setting("FILE.csv", "The motion of --robot.")] = None,
    smooth: Smooth = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """Recompute the five papers: what was found, figures, tables and a verdict on every claim, as HTML."""
    if robot is None:
        for option, given in (("--motion", motion), ("--smooth", smooth), ("--tip", tip), ("--lock", lock)):
            if given is not None:
                raise bad(option, "there is no --robot that it belongs to")
        _judged(papers, out or Path("reports"), as_json)
        return
    from tauforge_papers.own_robot import check_robot, draw

    mine = inputs.load_robot(robot, tip, lock)
    names = check_robot(papers, mine)
    if motion is None:
        raise bad("--motion", f"the figures of {mine.name} need a motion")
    moves = inputs.read_motion(motion, mine, smooth)
    inputs.warn_of_motion(mine, moves)
    with _telling() as progress, inputs.rows_of(motion, moves.rows, moves.times):
        page = draw(names, mine, moves, str(motion), out or Path("own-figures"), progress)
    data = {"papers": names, "robot": mine.name, "derived": moves.derived, "report": page}
    result(as_json, data, lambda: [f"The figures are in {page}"])


def _judged(papers: list[str] | None, out: Path, as_json: bool) -> None:
    from tauforge_papers.registry import chosen
    from tauforge_papers.reproduce import reproduce as write

    names = chosen(papers)
    with _telling() as progress:
        page = write(names, out, progress)
    result(as_json, {"papers": names, "report": page}, lambda: [f"The report is in {page}"])


@contextmanager
def _telling() -> Iterator[Callable[[str], None]]:
    """What tells people how far the work is; a log wants all lines."""
    lines = not sys.stderr.isatty()
    with working("starting") as tell:

        def progress(what: str) -> None:
            if lines:
                print(what, file=sys.stderr, flush=True)
            tell(what)

        yield progress


COMMANDS = (("reproduce", reproduce),)
