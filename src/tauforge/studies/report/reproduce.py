"""Runs studies and writes their report, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tauforge.errors import ModelError
from tauforge.studies.registry import chosen, run
from tauforge.studies.report.csv_files import write_claims, write_panel, write_table
from tauforge.studies.report.files import CLAIMS_FILE, DATA, FIGURES, PAGE, check_names, files_of, panel_stems, stem
from tauforge.studies.report.page import GENERATOR, page
from tauforge.studies.report.whole_folder import not_writable, whole_folder
from tauforge.studies.study import Progress, Study, nothing


def reproduce(papers: Sequence[str] | None, out: Path, progress: Progress = nothing) -> Path:
    """Computes the studies (None: all) and writes OUT/index.html, OUT/figures and OUT/data; returns the page's path.

    progress: told, line by line, what is going on
    An earlier report in OUT is replaced when the new one is complete, and stays as it is if anything fails. Other files
    in OUT are kept.
    """
    names = chosen(papers)
    _need_drawing()
    with whole_folder(Path(out), mark=(PAGE, GENERATOR), own=files_of) as folder:
        studies = []
        for name in names:
            progress(f"{name}: computing")
            studies.append(run(name, partial(_prefixed, progress, name)))
        try:
            write_report(studies, folder, progress)
        except OSError as error:
            raise not_writable(Path(out), error) from error
    return Path(out) / PAGE


def write_report(studies: Sequence[Study], folder: Path, progress: Progress = nothing) -> None:
    """Figures, data and the page, into a folder that has none of them."""
    from tauforge.plots.with_matplotlib import save_images

    (folder / FIGURES).mkdir()
    (folder / DATA).mkdir()
    for study in studies:
        check_names(study)
        for k, figure in enumerate(study.figures, 1):
            progress(f"{study.name}: drawing figure {k} of {len(study.figures)}")
            save_images(figure, folder / FIGURES / stem(study, figure))
            for panel, name in zip(figure.panels, panel_stems(study, figure), strict=True):
                write_panel(panel, folder / DATA / f"{name}.csv")
        for table in study.tables:
            write_table(table, folder / DATA / f"{stem(study, table)}.csv")
    write_claims(studies, folder / DATA / CLAIMS_FILE)
    progress("writing the page")
    (folder / PAGE).write_text(page(studies, folder / FIGURES), encoding="utf-8")


def _prefixed(progress: Progress, name: str, text: str) -> None:
    progress(f"{name}: {text}")


def _need_drawing() -> None:
    """Asked before minutes of computing, not after."""
    try:
        import matplotlib  # noqa: F401
        import plotly  # noqa: F401
    except ImportError as error:
        raise ModelError(f"reports need {error.name}", remedy="pip install tauforge[plots]") from None
