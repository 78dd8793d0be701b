"""What the files of a report are called."""

from __future__ import annotations

import re
from pathlib import Path

from tauforge.charts.figure import Figure
from tauforge.errors import ModelError
from tauforge_papers.report.study import Study
from tauforge_papers.report.table import Table

PAGE, EVERYTHING = "index.html", "everything.html"  # the first page, and the one of all claims, figures and tables
FIGURES = "figures"
DATA = "data"
CLAIMS_FILE = "claims.csv"
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LINK = re.compile(rf'href="((?:{DATA}|{FIGURES})/[^"/]+)"')


def stem(study: Study, thing: Figure | Table) -> str:
    """The name, without suffix, of a figure's images or a table's CSV. It is also the anchor in the page."""
    kind = "table-" if isinstance(thing, Table) and not thing.name.startswith("table-") else ""
    return f"{study.name}-{kind}{thing.name.removeprefix(f'{study.name}-')}"


def panel_stems(study: Study, figure: Figure) -> list[str]:
    """The name, without suffix, of each panel's CSV."""
    own = stem(study, figure)
    return [own] if len(figure.panels) == 1 else [f"{own}-panel-{k}" for k in range(1, len(figure.panels) + 1)]


def files_of(report: Path) -> set[str]:
    """Names of the files that were written into a report, relative to it: its pages, and what they link to.

    None of a folder without a page, which may have been empty.
    """
    pages = [name for name in (PAGE, EVERYTHING) if (report / name).is_file()]
    texts = ((report / name).read_text(encoding="utf-8", errors="replace") for name in pages)
    return {*pages, *(link for text in texts for link in LINK.findall(text))}


def check_names(study: Study) -> None:
    """Names become names of files: none may be lost under another, or lead out of the folder."""
    data = [name for figure in study.figures for name in panel_stems(study, figure)]
    for names in ([stem(study, figure) for figure in study.figures], data + [stem(study, one) for one in study.tables]):
        for name in names:
            if not NAME.fullmatch(name) or names.count(name) > 1:
                problem = "would be written twice" if names.count(name) > 1 else "is not a valid file name"
                remedy = "Give each figure and table its own name, of lower-case letters and digits with dashes between"
                raise ModelError(f"study {study.name}: {name!r} {problem}", remedy=remedy)
