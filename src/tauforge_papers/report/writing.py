"""Writes a report: figures as images, their data as CSV, and both pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tauforge_papers.report.csv_files import write_claims, write_panel, write_table
from tauforge_papers.report.everything import everything
from tauforge_papers.report.files import CLAIMS_FILE, DATA, EVERYTHING, FIGURES, PAGE, check_names, panel_stems, stem
from tauforge_papers.report.finding import Finding
from tauforge_papers.report.frame import Front
from tauforge_papers.report.page import Digest, page
from tauforge_papers.report.portrait import Portrait
from tauforge_papers.report.progress import Progress, nothing
from tauforge_papers.report.study import Study


def write_report(
    studies: Sequence[Study],
    front: Front,
    folder: Path,
    progress: Progress = nothing,
    portraits: Sequence[Portrait] = (),
    findings: Sequence[Finding] = (),
    digests: Mapping[str, Digest] | None = None,
) -> None:
    """Figures, data and both pages, of which the first begins with the findings, into a folder that has none."""
    from tauforge.charts.with_matplotlib import save_images

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
    progress("writing the pages")
    (folder / PAGE).write_text(page(studies, front, portraits, findings, digests), encoding="utf-8")
    (folder / EVERYTHING).write_text(everything(studies, front), encoding="utf-8")
