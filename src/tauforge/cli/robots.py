"""`robots` lists the catalogue: what its robots are, and where their numbers come from."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

from tauforge.cli.options import CATALOGUE, Json, complete_robot
from tauforge.cli.output import result, table

SHORT = 60  # characters of a source in the list
CHOICE = "By choice"  # of what no source gives


def what_it_is(text: str) -> str:
    """The comment at the top of a catalogue file."""
    comment = takewhile(lambda line: line.startswith("#"), text.splitlines())
    return " ".join(line.lstrip("# ").rstrip() for line in comment)


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
