"""What other packages add to tauforge, found by entry points.

Groups, and what an entry point of each is:
`tauforge.commands`:   a module with COMMANDS, pairs of a name and a function for typer. Its name heads them in help.
`tauforge.complexity`: a module with `papers_data()` and `papers_tables()`, published operation counts.
`tauforge.motions`:    a function that takes a robot and returns motions for it by name.
"""

from __future__ import annotations

from typing import Any


def plugins(group: str) -> dict[str, Any]:
    """The objects that installed packages offer under this group, by the names of their entry points."""
    from importlib.metadata import entry_points  # reads every installed package: only those pay who ask

    return {entry.name: entry.load() for entry in entry_points(group=group)}
