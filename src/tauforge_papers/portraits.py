"""Pictures of the robots that the studies compute with."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from tauforge.formats.loading import load
from tauforge.pictures.plot import plot
from tauforge_papers.report.portrait import Portrait

ROBOTS = {  # name of a study -> names in the catalogue
    "dasgupta1998": ("dasgupta1998",),
    "pedrammehr2012": ("pedrammehr2012",),
    "turney1980": ("puma560",),
    "lee1982": ("puma560",),
    "angeles": ("puma560", "stanford", "scara"),
}
SIZE = (3.0, 2.6)  # inches: small, so that lines are thick enough on a page
ZOOM = 1.4  # there are no labels to leave room for


def portraits(studies: Sequence[str]) -> list[Portrait]:
    """One of each robot of these studies, in their order."""
    names = dict.fromkeys(name for study in studies for name in ROBOTS[study])
    return [_portrait(name, tuple(study for study in studies if name in ROBOTS[study])) for name in names]


def _portrait(name: str, studies: tuple[str, ...]) -> Portrait:
    import matplotlib

    robot = load(name)
    frames = robot.drawing(robot.positions.default).frames
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "tauforge"}):  # the same picture gives the same file
        figure = plot(robot, frames=[frames[0].name, frames[-1].name])
        figure.set_size_inches(SIZE)
        (axes,) = figure.axes
        axes.set_title("")  # the page has the name below it
        axes.set_axis_off()
        spans = [np.ptp(limits) for limits in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())]
        axes.set_box_aspect(spans, zoom=ZOOM)
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return Portrait(name, f"{name} in space, with its first and its last frame", file.getvalue(), studies)
