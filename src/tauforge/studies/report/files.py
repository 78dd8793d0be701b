"""What the files of a report are called."""

from __future__ import annotations

from tauforge.plots.figure import Figure
from tauforge.studies.study import Study, Table

PAGE = "index.html"
FIGURES = "figures"
DATA = "data"
CLAIMS_FILE = "claims.csv"


def stem(study: Study, thing: Figure | Table) -> str:
    """Of a figure's images or a table's CSV; also the thing's anchor in the page."""
    return thing.name if thing.name.startswith(f"{study.name}-") else f"{study.name}-{thing.name}"


def things(study: Study) -> list[Figure | Table]:
    """All that has a name of its own."""
    return [*study.figures, *study.tables]


def panel_stems(study: Study, figure: Figure) -> list[str]:
    """Of the CSV of each panel."""
    own = stem(study, figure)
    return [own] if len(figure.panels) == 1 else [f"{own}-panel-{k}" for k in range(1, len(figure.panels) + 1)]
