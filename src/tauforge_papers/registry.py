"""The studies by name; a study's module is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

from tauforge.errors import ModelError
from tauforge_papers.contents_table import contents_table
from tauforge_papers.report.progress import Progress
from tauforge_papers.report.study import Study

STUDIES = {  # name on the command line -> module with study(progress) -> Study
    "dasgupta1998": "tauforge_papers.dasgupta1998.study",
    "pedrammehr2012": "tauforge_papers.pedrammehr2012.study",
    "turney1980": "tauforge_papers.turney1980.study",
    "lee1982": "tauforge_papers.lee1982.study",
    "angeles": "tauforge_papers.angeles.study",
}


def chosen(names: Sequence[str] | None) -> list[str]:
    """The names asked for, each once and in the order of the registry; all where none are named."""
    for name in names or ():
        if name not in STUDIES:
            raise ModelError(f"no study is called {name!r}", remedy=f"The studies are {', '.join(STUDIES)}")
    return [name for name in STUDIES if not names or name in names]


def run(name: str, progress: Progress) -> Study:
    """Computes one study, and the table of everything in its paper."""
    result: Study = import_module(STUDIES[name]).study(progress)
    return replace(result, tables=(*result.tables, contents_table(result)))
