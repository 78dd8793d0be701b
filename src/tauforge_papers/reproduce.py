"""Runs studies and writes their report, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tauforge.errors import ModelError
from tauforge.extras import how_to_install
from tauforge_papers.digests import DIGESTS
from tauforge_papers.findings import findings
from tauforge_papers.portraits import portraits
from tauforge_papers.registry import chosen, run
from tauforge_papers.report.files import PAGE, files_of
from tauforge_papers.report.frame import Front
from tauforge_papers.report.progress import Progress, nothing
from tauforge_papers.report.whole_folder import not_writable, whole_folder
from tauforge_papers.report.writing import write_report

FRONT = Front(
    title="Papers on manipulator dynamics, reproduced",
    made_by="tauforge reproduce",
    sources="The texts of the papers were read by a machine (OCR). Some of the misprints listed here may be errors of "
    "that reading. They are marked, get no verdict, and are not held against the paper.\n\n"
    "Only the captions of the papers' figures were at hand. Our figures are computed from the papers' equations and "
    "numbers, or drawn from our models; they were not compared with the printed curves.",
    origin="All measured numbers were computed when this report was made. The papers' printed numbers, sums of them "
    "where that is said, and the settings of our own runs were typed in.",
)


def reproduce(papers: Sequence[str] | None, out: Path, progress: Progress = nothing) -> Path:
    """Computes the studies (None: all) and writes OUT/index.html, its path, OUT/everything.html, figures and data.

    progress: told, line by line, what is going on
    An earlier report in OUT is replaced when the new one is complete, and stays as it is if anything fails. Other files
    in OUT are kept.
    """
    names = chosen(papers)
    _need_drawing()
    with whole_folder(Path(out), mark=(PAGE, FRONT.mark), own=files_of) as folder:
        studies = []
        for name in names:
            progress(f"{name}: computing")
            studies.append(run(name, partial(_prefixed, progress, name)))
        try:
            write_report(studies, FRONT, folder, progress, portraits(names), findings(studies), DIGESTS)
        except OSError as error:
            raise not_writable(Path(out), error) from error
    return Path(out) / PAGE


def _prefixed(progress: Progress, name: str, text: str) -> None:
    progress(f"{name}: {text}")


def _need_drawing() -> None:
    """Asked before minutes of computing, not after."""
    try:
        import matplotlib  # noqa: F401
        import plotly  # noqa: F401
    except ImportError as error:
        raise ModelError(f"reports need {error.name}", remedy=how_to_install("plots")) from None
