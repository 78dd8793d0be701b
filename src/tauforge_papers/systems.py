"""What the papers describe that a robot of anybody's can have: systems, methods, worked examples, families of figures.

Each paper lists its own beside its contents; `tools/paper_systems.py` writes them into the docs.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple


class System(NamedTuple):
    """One thing that a paper describes.

    name:    the letter of the paper, and a number
    where:   section, equations, figures or tables of the paper
    what:    in a few words
    calls:   public names that do it: expressions of `tf`, an `arm` or a `platform`, or commands
    test:    below `tests`, "file::function": on a robot that is not the paper's
    missing: what is not there, or why; "" if it is complete
    """

    name: str
    where: str
    what: str
    calls: tuple[str, ...] = ()
    test: str = ""
    missing: str = ""


def systems_of(paper: str) -> tuple[System, ...]:
    """Those of one study, in the order of the paper."""
    found: tuple[System, ...] = import_module(f"tauforge_papers.{paper}.systems").SYSTEMS
    return found
