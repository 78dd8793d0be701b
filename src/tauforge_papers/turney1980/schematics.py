"""Figures 1 to 4 of the paper, drawn from our model of the PUMA 560."""

from __future__ import annotations

import math

import numpy as np

from tauforge.charts.figure import Figure
from tauforge.formats.loading import load
from tauforge.pictures.schematic import View
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge_papers.serial_sketches import (
    ACCELERATIONS,
    CENTRES,
    FRAMES,
    PUMA_POSE,
    RATES,
    ArmScene,
    arm_scene,
    draw_links,
    free_body,
    outline,
)
from tauforge_papers.sketch import Sketch

VIEW = View(-100.0, 20.0)
PEDESTAL = (0.0, 0.0, -0.25)  # m: where we let the base begin
SOURCE = "Drawn from our model of the PUMA 560, not copied; the pose is ours."
LINK = 2  # of figures 3 and 4
ALONG = 3  # z of this frame lies along the next link
BODY = ((-0.4318, 0.0, 0.2275), (0.0, 0.0, 0.2275), 0.09)  # m, in frame 2: ends and radius of our outline of link 2
PIECE = (-0.1, 0.05, 0.2275)  # m, in frame 2: ours


def schematics() -> tuple[Figure, ...]:
    arm = load("puma560")
    place = arm_scene(arm, PUMA_POSE, RATES, ACCELERATIONS)
    return _frames(place), _chain(place), _piece(place), _free_body(arm, place)


def _frames(place: ArmScene) -> Figure:
    O = np.zeros(3)
    arm = Sketch(VIEW)
    arm.line("base", PEDESTAL, O, style="thick")
    draw_links(arm, place, 1, 4)
    for k in range(5):
        arm.frame(FRAMES, place.origins[k], place.axes[k], 0.13, ("", "", "" if k == ALONG else f"z_{k}"))
    arm.note(f"z_{ALONG}", place.origins[ALONG] + 0.13 * place.axes[ALONG][:, 2], (6.0, 6.0))
    joint = Sketch(View(-35.0, 25.0))
    joint.frame("frame 0", O, place.axes[0], 1.0, ("x_0", "y_0", "z_0 = y_1"))
    joint.frame("frame 1", O, place.axes[1], 1.0, ("x_1", "", "z_1"))
    x, z = place.axes[0][:, 0], place.axes[0][:, 2]
    joint.arc("angles", O, 0.7 * x, z, PUMA_POSE[0], "ϑ_1", (0.0, -6.0))
    joint.arc("angles", O, 0.5 * z, place.axes[1][:, 0], math.pi / 2, "φ_1")
    caption = (
        f"{SOURCE} Left: frames 0 to 4. Joint i turns about z of frame i-1; frames 0 and 1 have the same origin. "
        "Right: joint 1 turns by ϑ about z of frame 0, and the fixed turn φ = 90° about x of frame 1 completes frame 1."
    )
    panels = (arm.panel("The arm"), joint.panel("Joint 1", unit=""))
    return Figure("fig-1", "Fig. 1: frames of the links", caption, panels, columns=2)


def _chain(place: ArmScene) -> Figure:
    sketch = Sketch(VIEW)
    origins = place.origins
    for k, shift in ((2, (-5.0, 4.0)), (3, (0.0, 6.0)), (4, (5.0, 4.0))):
        sketch.arrow("displacements between origins", origins[k - 1], origins[k], f"r_{k}", shift, 0.5)
    sketch.arrow("position of origin 4", origins[0], origins[4], "p_0^4", (0.0, -5.0), 0.5)
    sketch.arrow("from an origin to the mass centre", origins[3], place.centres[3], "r̄_3")
    sketch.points("origins of the frames", *origins[1:5])
    for k, name, shift in (
        (0, "0, 1", (-6.0, 0.0)),
        (2, "2", (0.0, 6.0)),
        (3, "3", (0.0, 6.0)),
        (4, "4, 5, 6", (6.0, 0.0)),
    ):
        sketch.note(name, origins[k], shift)
    sketch.points(CENTRES, place.centres[3])
    caption = (
        f"{SOURCE} r_i leads from origin i-1 to origin i and r̄_i from origin i to the mass centre of link i, both "
        "fixed in link i; the position p of origin 4 from the base is the sum of the r. Those of links 1, 5 "
        "and 6 are zero."
    )
    return Figure("fig-2", "Fig. 2: displacements between the frames", caption, (sketch.panel(),))


def _piece(place: ArmScene) -> Figure:
    sketch = Sketch(VIEW)
    O, origin, axes = place.origins[0], place.origins[LINK], place.axes[LINK]
    piece, centre = origin + axes @ np.array(PIECE), place.centres[LINK]
    outline(sketch, place, LINK, BODY)
    sketch.frame(FRAMES, O, place.axes[0], 0.1, ("x_0", "y_0", "z_0"))
    sketch.frame(FRAMES, origin, axes, 0.1, ("x_q", "y_q", "z_q"))
    vectors = "vectors"
    sketch.arrow(vectors, O, origin, "p_0^q", (-4.0, 4.0), 0.5)
    sketch.arrow(vectors, O, piece, "s", (4.0, -4.0), 0.75)
    sketch.arrow(vectors, origin, piece, "d_q", (5.0, 3.0), 0.75)
    sketch.arrow(vectors, origin, centre, "r̄_q", (-4.0, 4.0), 0.7)
    sketch.points("piece of mass dm", piece)
    sketch.note("dm", piece, (6.0, 0.0))
    sketch.points(CENTRES, centre)
    caption = (
        f"{SOURCE} Link q = 2: s = p + d leads to a piece of mass dm, and r̄ to the mass centre. The outline of the "
        "link and the place of the piece are our choice."
    )
    return Figure("fig-3", "Fig. 3: a piece of a link", caption, (sketch.panel(),))


def _free_body(arm: SerialArm, place: ArmScene) -> Figure:
    sketch = Sketch(VIEW)
    outline(sketch, place, LINK, BODY)
    weight = arm.joints[LINK - 1].mass * np.array(arm.gravity)
    names = ("f_i", "-f_{i+1}", "m_i g", "n_i", "-n_{i+1}")
    scales = free_body(sketch, place, LINK, weight, names, 0.25)
    caption = (
        f"{SOURCE} Link i = 2, with joint rates and accelerations of our choice: f_i and n_i of the lower links act at "
        f"origin i-1, those of the upper links at origin i. The paper has gravity in the acceleration of the base, we "
        f"draw the weight. The mass centre lies beside the line between the origins. {scales}"
    )
    return Figure("fig-4", "Fig. 4: forces and moments on a link", caption, (sketch.panel(),))
