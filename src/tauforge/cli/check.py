"""`check` tells everything that is wrong with a model file, not only the first fault."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from tauforge.cli.inputs import load_and_listen
from tauforge.cli.options import Json, Lock, Tip, switch
from tauforge.cli.output import Failed, bad, headline, item, result
from tauforge.errors import ModelError


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .toml, .urdf or .xml (MJCF) file.")],
    tip: Tip = None,
    lock: Lock = None,
    strict: Annotated[bool, switch("--strict", "Warnings fail the check too.")] = False,
    as_json: Json = False,
) -> None:
    """Is a model file good? Exit code 0 if so, 1 if not, with everything that is wrong in it."""
    report = checked(file, tip, lock)
    good = not report.problems and not (strict and report.warnings)
    data = {"file": str(file), "good": good, **report._asdict()}

    def shown() -> Any:
        count = len(report.problems)
        if good:
            yield f"{file}: good. {report.summary}"
        elif count:
            yield f"{file}: {count} problem{'s' * (count > 1)}"
        else:
            yield f"{file}: not good enough for --strict. {report.summary}"
        yield from (item(problem, mark=f"{k}.") for k, problem in enumerate(report.problems, 1))
        yield from (item(warning, mark="warning:") for warning in report.warnings)

    result(as_json, data, shown)
    if not good:
        raise Failed


class Checked(NamedTuple):
    """summary: what the robot is, if the file is good."""

    problems: list[str]
    warnings: list[str]
    summary: str


def checked(path: Path, tip: str | None, lock: list[str] | None) -> Checked:
    from tauforge.formats.loading import further_faults

    if path.suffix.lower() not in (".toml", ".urdf", ".xml"):
        raise bad("FILE", f"expected a name that ends in .toml, .urdf or .xml, got {str(path)!r}")
    if not path.is_file():
        raise bad("FILE", f"{path} is not a file")
    try:
        robot, texts = load_and_listen(str(path), tip, lock)
    except ModelError as error:
        others = further_faults(path, error) if path.suffix.lower() == ".toml" else []
        return Checked([_text(fault) for fault in (error, *others)], [], "")
    return Checked([], texts + robot.issues(), headline(robot.summary()))


def _text(error: ModelError) -> str:
    """Without the file, which stands above all of them."""
    place = [] if error.line is None else [f"line {error.line}"]
    text = ": ".join([*place, *filter(None, [error.field]), error.reason])
    return text if error.remedy is None else f"{text}. {error.remedy}"
