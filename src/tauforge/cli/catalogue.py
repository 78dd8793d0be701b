"""Robots: `robots` lists the catalogue, `show` describes one, `check` judges a file."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from tauforge.cli.arguments import CATALOGUE, Json, Lock, Robot, Tip, bad, complete_robot, load_robot
from tauforge.cli.output import item, result, table
from tauforge.cli.shell import Failed

SHORT = 60  # characters of a source in the list
CHOICE = "By choice"  # of what no source gives


def what_it_is(text: str) -> str:
    """The comment at the top of a catalogue file."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    return " ".join(lines)


def _short(sources: list[str]) -> str:
    """The first source, cut, and how many there are besides."""
    named = [source for source in sources if source != CHOICE] or sources
    first = named[0].split(";")[0]
    cut = first if len(first) <= SHORT else first[:SHORT].rsplit(" ", 1)[0].rstrip(",") + " ..."
    more = f", and {len(named) - 1} more" if len(named) > 1 else ""
    return f"from {cut}{more}"


def robots(as_json: Json = False) -> None:
    """The robots that come along: what they are, and where their numbers come from."""
    import tomllib  # and no more: the files are ours, and the list should come at once

    found: list[dict[str, Any]] = []
    for name in complete_robot(""):
        text = (CATALOGUE / f"{name}.toml").read_text(encoding="utf-8")
        values = tomllib.loads(text)
        letters = [joint["kind"] for joint in values.get("joint", [])]
        kinds = "".join(letters) if all(len(letter) == 1 for letter in letters) else ""  # those of an arm
        sources = list(dict.fromkeys(source["source"] for source in values["source"]))
        kind = values["format"].split("-")[1] + (f", {kinds}" if kinds else "")
        found.append({"name": name, "kind": kind, "description": what_it_is(text), "sources": sources})

    def shown() -> Any:
        from rich.text import Text

        rows = []
        for entry in found:
            text = Text(re.split(r"[.:;](?: |$)", entry["description"])[0])
            text.append(f"\n{_short(entry['sources'])}", "dim")
            rows.append((entry["name"], entry["kind"], text))
        yield table("", ("name", "kind", "what it is, and where its numbers come from"), rows, texts=3)
        yield "tauforge show NAME gives the numbers, and the sources in full."

    result(as_json, {"robots": found}, shown)


def show(
    robot: Robot,
    tip: Tip = None,
    lock: Lock = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Also draw it: .png, .svg or .pdf.")
    ] = None,
    schematic: Annotated[bool, typer.Option("--schematic", help="Draw its frames and their names, flat.")] = False,
    as_json: Json = False,
) -> None:
    """A robot: structure, masses, inertias, limits, and what is known to be odd about it."""
    from tauforge.cli import describing

    if schematic and picture is None:
        raise bad("--schematic", "it needs a file: give --picture FILE")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mine = load_robot(robot, tip, lock)
    texts = [str(warning.message) for warning in caught]
    if picture is not None:
        from tauforge.pictures.plot import save_picture

        save_picture(mine, picture, schematic=schematic)
    result(as_json, describing.data(mine, texts), lambda: describing.shown(mine, texts))


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .toml, .urdf or .xml (MJCF) file.")],
    tip: Tip = None,
    lock: Lock = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail the check too.")] = False,
    as_json: Json = False,
) -> None:
    """Is a model file good? Exit code 0 if so, 1 if not, with everything that is wrong in it."""
    from tauforge.cli.checking import checked

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


COMMANDS = (("robots", robots), ("show", show), ("check", check))
