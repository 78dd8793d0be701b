"""Write the table of docs/paper-systems.md: what the papers describe, and the public names that do it.

`--check` compares.
"""

from __future__ import annotations

from pathlib import Path

from pages import markdown, settle, with_tables
from tauforge_papers.registry import STUDIES
from tauforge_papers.systems import System, systems_of

PAGE = Path(__file__).parent.parent / "docs" / "paper-systems.md"
COLUMNS = ("", "where", "what", "call", "test", "status")


def row(system: System) -> tuple[str, ...]:
    calls = "; ".join(f"`{call}`" for call in system.calls)
    test = f"`{system.test}`" if system.test else ""
    return system.name, system.where, system.what, calls, test, system.missing or "complete"


def count() -> str:
    every = [system for paper in STUDIES for system in systems_of(paper)]
    complete = sum(not system.missing for system in every)
    return f"Of {len(every)} rows {complete} are complete; the last column of the others says what is missing.\n"


def tables() -> str:
    return "".join(f"\n## {paper}\n\n{markdown(COLUMNS, map(row, systems_of(paper)))}" for paper in STUDIES)


def page() -> str:
    parts = {"count": count(), "systems": tables()}
    return with_tables(PAGE.read_text(encoding="utf-8"), parts)


if __name__ == "__main__":
    raise SystemExit(settle({PAGE: page()}))
