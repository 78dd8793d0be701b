"""The studies by name; a study's module is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

from tauforge.errors import ModelError
from tauforge.report.progress import Progress
from tauforge.report.study import Study
from tauforge.studies.contents_table import contents_table

STUDIES = {  # name on the command line -> module with study(progress) -> Study
    "dasgupta1998": "tauforge.studies.dasgupta1998.study",
    "pedrammehr2012": "tauforge.studies.pedrammehr2012.study",
    "turney1980": "tauforge.studies.turney1980.study",
    "lee1982": "tauforge.studies.lee1982.study",
    "angeles": "tauforge.studies.angeles.study",
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
