"""Figures 1 and 2 of the paper, drawn from our model of its platform."""

from __future__ import annotations

import numpy as np

from tauforge.charts.figure import Figure
from tauforge.formats.loading import load
from tauforge.pictures.schematic import View
from tauforge_papers.sketch import Sketch
from tauforge_papers.stewart_paths import SINGULAR, SLOW
from tauforge_papers.stewart_sketches import (
    CENTRES,
    FRAMES,
    along,
    draw_leg,
    draw_platform,
    number_joints,
    scene,
)

HALFWAY = 3.0  # s, of 6 s of path I
LEG = 1  # the second leg, whose vectors cover each other least


def schematics() -> tuple[Figure, ...]:
    return _platform(), _leg()


def _platform() -> Figure:
    place = scene(load("dasgupta1998"), SLOW, HALFWAY)
    sketch = Sketch(View(-58.0, 20.0))
    draw_platform(sketch, place)
    sketch.points("universal joints", *(leg.b for leg in place.legs))
    sketch.points("spherical joints", *(leg.a for leg in place.legs))
    number_joints(sketch, place, "b", "p")
    sketch.frame(FRAMES, np.zeros(3), np.eye(3), 0.14, "xyz")
    sketch.frame(FRAMES, place.X, place.R, 0.14, "xyz")
    return Figure(
        "fig-1",
        "Fig. 1: the Stewart platform",
        "Drawn from our model of the paper's manipulator halfway along path I, not copied; the joints are those of the "
        "appendix. b are the universal joints at the base and p the spherical joints at the platform. How far the two "
        "parts of a leg reach into each other is our choice.",
        (sketch.panel(),),
    )


def _leg() -> Figure:
    place = scene(load("dasgupta1998"), SINGULAR, 0.0)
    leg, O = place.legs[LEG], np.zeros(3)
    sketch = Sketch(View(20.0, 20.0))
    draw_leg(sketch, leg)
    vectors = "vectors"
    sketch.arrow(vectors, O, leg.b, "b", (0.0, 5.0), 0.5)
    sketch.arrow(vectors, O, place.X, "t", (-5.0, 5.0), 0.5)
    sketch.arrow(vectors, place.X, leg.a, "q", (-4.0, -5.0), 0.5)
    sketch.note("S", along(leg, 0.75), (-5.0, 5.0))
    sketch.frame(FRAMES, O, np.eye(3), 0.2, "xyz")
    sketch.frame(FRAMES, place.X, place.R, 0.2, "xyz")
    sketch.frame(FRAMES, leg.b, leg.T, 0.2, ("", "y", "z"))
    sketch.frame(FRAMES, leg.a, leg.T, 0.2, "xyz")
    sketch.note("base frame", O, (12.0, -24.0))
    sketch.note("frame P", place.X, (-8.0, 0.0))
    sketch.note("frame D", leg.b, (2.0, -52.0))
    sketch.note("frame U", leg.a, (10.0, 0.0))
    sketch.line("fixed axis of the universal joint", leg.b - 0.25 * leg.u, leg.b + 0.25 * leg.u, style="dashed")
    sketch.note("k", leg.b + 0.25 * leg.u, (4.0, 2.0))
    for centre, name, side in ((leg.lower_centre, "r_d", (-6.0, 2.0)), (leg.upper_centre, "r_u", (6.0, -2.0))):
        sketch.line("mass centres, from the base joint", leg.b, centre, style="dotted")
        sketch.points(CENTRES, centre)
        sketch.note(name, centre, side)
    return Figure(
        "fig-2",
        "Fig. 2: details of one leg",
        "Drawn from our model of the paper's manipulator, leg 2 at the start of path III, not copied. S leads from the "
        "universal joint (frame D, lower part) to the spherical joint (frame U, upper part); both frames have x along "
        "the leg and y along the moving axis of the universal joint, whose fixed axis is k. The mass centres are those "
        "of the appendix and do not lie on the leg. How far the parts reach into each other is our choice.",
        (sketch.panel(),),
    )
