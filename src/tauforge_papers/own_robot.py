"""The figures of the studies for a robot and a motion of anybody's: images, the numbers of each curve, a short page."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from string import Template
from typing import NamedTuple

from tauforge.charts.figure import Figure, description
from tauforge.errors import ModelError
from tauforge.evaluation.functions import has
from tauforge.motion import CsvMotion
from tauforge.robots.robot import Robot, noun_of
from tauforge_papers.registry import chosen
from tauforge_papers.report.csv_files import write_panel
from tauforge_papers.report.files import DATA, FIGURES, PAGE, files_of
from tauforge_papers.report.progress import Progress, nothing
from tauforge_papers.report.texts import escaped
from tauforge_papers.report.whole_folder import not_writable, whole_folder

MARK = '<meta name="generator" content="tauforge reproduce --robot">'


class Figures(NamedTuple):
    """module: with figures(robot, motion); functions, robots: what they need of a robot, and what has it"""

    module: str
    functions: tuple[str, ...]
    robots: str


LEGS, LINKS = ("leg_motion", "force_matrix"), ("link_motions", "coriolis_coefficients")
OWN = {
    "dasgupta1998": Figures("tauforge_papers.dasgupta1998.own_robot", LEGS, "platforms"),
    "pedrammehr2012": Figures("tauforge_papers.pedrammehr2012.own_robot", LEGS, "platforms"),
    "turney1980": Figures("tauforge_papers.turney1980.own_robot", LINKS, "arms"),
    "lee1982": Figures("tauforge_papers.lee1982.own_robot", LINKS, "arms"),
}
PAGE_TEXT = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
$mark
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="data:,">
<style>
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #1d2026; }
figure { margin: 2rem 0; }
img { width: 100%; height: auto; }
</style>
</head>
<body>
<h1>$title</h1>
<p>$origin</p>
$studies
</body>
</html>
""")


def check_robot(papers: Sequence[str] | None, robot: Robot) -> list[str]:
    """The names asked for, each once. ModelError where one has no such figures, or has them of other robots."""
    names = chosen(papers) if papers else []
    of_robot = [name for name, own in OWN.items() if has(robot, *own.functions)]
    known = f"Of {noun_of(robot)}s: {', '.join(of_robot)}" if of_robot else f"There are none of {noun_of(robot)}s"
    if not names:
        raise ModelError("no paper is named whose figures are to be drawn", remedy=f"Name one or more. {known}")
    for name in names:
        if name not in OWN:
            raise ModelError(f"{name} has no figures along a motion", remedy=known)
        if name not in of_robot:
            raise ModelError(f"{name} has figures of {OWN[name].robots}; {robot.name} is no such robot", remedy=known)
    return names


def draw(
    papers: Sequence[str], robot: Robot, motion: CsvMotion, source: str, out: Path, progress: Progress = nothing
) -> Path:
    """Writes OUT/index.html, OUT/figures and OUT/data with the figures of these studies; returns the page's path.

    papers: of `check_robot`; source: what the motion is called on the page
    Claims of the papers are not judged: they are about the papers' robots. As for `reproduce`, an earlier folder of
    this kind is replaced when the new one is complete.
    """
    from tauforge.charts.with_matplotlib import save_images

    with whole_folder(Path(out), mark=(PAGE, MARK), own=files_of) as folder:
        drawn: dict[str, tuple[Figure, ...]] = {}
        for name in papers:
            progress(f"{name}: computing")
            drawn[name] = import_module(OWN[name].module).figures(robot, motion)
        try:
            for part in (FIGURES, DATA):
                (folder / part).mkdir()
            for name, figures in drawn.items():
                for figure in figures:
                    progress(f"{name}: drawing {figure.name}")
                    save_images(figure, folder / FIGURES / f"{name}-{figure.name}")
                    for stem, panel in zip(_stems(name, figure), figure.panels, strict=True):
                        write_panel(panel, folder / DATA / f"{stem}.csv")
            (folder / PAGE).write_text(_page(drawn, robot, source), encoding="utf-8")
        except OSError as error:
            raise not_writable(Path(out), error) from error
    return Path(out) / PAGE


def _stems(paper: str, figure: Figure) -> list[str]:
    """The names, without suffix, of the CSV of each panel."""
    own = f"{paper}-{figure.name}"
    return [own] if len(figure.panels) == 1 else [f"{own}-{k}" for k in range(1, len(figure.panels) + 1)]


def _page(drawn: dict[str, tuple[Figure, ...]], robot: Robot, source: str) -> str:
    origin = (
        f"The figures of {', '.join(drawn)} for {robot.name} along {source}. The claims of the papers are not judged "
        f"here: they are about the papers' own robots and motions, and tauforge reproduce judges them."
    )
    studies = (
        f"<h2>{escaped(name)}</h2>\n" + "\n".join(_figure(name, figure) for figure in figures)
        for name, figures in drawn.items()
    )
    title = f"Figures of the papers for {robot.name}"
    return PAGE_TEXT.substitute(mark=MARK, title=escaped(title), origin=escaped(origin), studies="\n".join(studies))


def _figure(paper: str, figure: Figure) -> str:
    stem = f"{FIGURES}/{paper}-{figure.name}"
    titles = [panel.title or "CSV" for panel in figure.panels]
    links = ", ".join(
        f'<a href="{DATA}/{one}.csv">{escaped(title)}</a>'
        for one, title in zip(_stems(paper, figure), titles, strict=True)
    )
    images = ", ".join(f'<a href="{stem}.{end}">{end.upper()}</a>' for end in ("png", "svg"))
    return (
        f'<figure>\n<img src="{stem}.svg" alt="{escaped(description(figure))}">\n'
        f"<figcaption>{escaped(figure.caption)}<br>Image: {images}. Data as CSV: {links}</figcaption>\n</figure>"
    )
