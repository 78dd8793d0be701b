"""Figures 1 and 2 of the paper: a joint of our PUMA 560, and the way of our simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from tauforge.charts.figure import Figure
from tauforge.formats.loading import load
from tauforge.pictures.schematic import View
from tauforge_papers.sketch import Plane, Sketch

JOINT = 3  # the only one of the PUMA with a, d and alpha that are not zero
ANGLE = math.radians(50.0)  # of that joint, ours
AXIS = 0.05  # m, length of the drawn axes
HALF_WIDTH, HALF_HEIGHT, STEP = 3.9, 0.42, 1.3  # of a box, and from one to the next


def schematics() -> tuple[Figure, ...]:
    return _parameters(), _flow_chart()


def _parameters() -> Figure:
    arm = load("puma560")
    q = np.zeros(len(arm.joints))
    q[JOINT - 1] = ANGLE
    before, after = arm.link_frames(q)[JOINT - 1 : JOINT + 1]
    step = np.linalg.inv(before) @ after  # frame i seen from frame i-1
    row = arm.joints[JOINT - 1].dh
    assert row is not None
    O, end, axes = np.zeros(3), step[:3, 3], step[:3, :3]
    x, z = np.eye(3)[:, 0], np.eye(3)[:, 2]
    foot = end[2] * z  # of the common normal
    sketch = Sketch(View(-25.0, 20.0))
    sketch.line("axes of joints i and i+1", -0.5 * AXIS * z, foot + 1.6 * AXIS * z, style="dashed")
    sketch.line(
        "axes of joints i and i+1", end - 1.5 * AXIS * axes[:, 2], end + 1.8 * AXIS * axes[:, 2], style="dashed"
    )
    sketch.frame("frame i-1", O, np.eye(3), AXIS, ("x_{i-1}", "y_{i-1}", ""))
    sketch.note("z_{i-1}", AXIS * z, (6.0, -4.0))
    sketch.frame("frame i", end, axes, AXIS, ("x_i", "y_i", ""))
    sketch.note("z_i", end + AXIS * axes[:, 2], (6.0, -2.0))
    sketch.line("direction of x of frame i", O, 1.2 * AXIS * axes[:, 0], style="dotted")
    sketch.line("lengths", AXIS * z, foot, end, style="thick")
    sketch.note("d_i", 0.7 * foot, (-7.0, 0.0))
    sketch.note("a_i", 0.5 * (foot + end), (-3.0, 6.0))
    sketch.arc("angles", O, 0.8 * AXIS * x, z, ANGLE, "ϑ_i", (6.0, -3.0))
    sketch.arc("angles", end, 0.8 * AXIS * z, axes[:, 0], float(row.alpha), "α_i")
    caption = (
        "Drawn from our model of the PUMA 560, not copied: joint 3, turned by 50° (our choice), seen from frame i-1. "
        f"d_i = {row.d:g} m along z of frame i-1 and a_i = {row.a:g} m along x of frame i lead from origin i-1 to "
        f"origin i; α_i = {math.degrees(float(row.alpha)):.0f}°."
    )
    return Figure("fig-1", "Fig. 1: parameters of a coordinate system", caption, (sketch.panel(),))


def _flow_chart() -> Figure:
    """Boxes from top to bottom, and the way back up on the right."""
    boxes = (
        "start: t = 0, ϑ = initial angles",
        "set point ϑ^d, ϑ'^d, ϑ''^d at t",
        "errors e = ϑ^d - ϑ and e'",
        "wanted: ϑ''^d + K_v e' + K_p e",
        "torques τ by Newton-Euler",
        "arm: D(ϑ) ϑ'' = τ - h - g",
        "integration over 0.01 s, τ held",
        "t = t + 0.01 s, e recorded",
        "end of the move?",
        "stop: errors are drawn",
    )
    sketch = Sketch(Plane())
    heights = [-STEP * k for k in range(len(boxes))]
    for text, y in zip(boxes, heights, strict=True):
        sketch.closed(
            "steps",
            (-HALF_WIDTH, y - HALF_HEIGHT),
            (HALF_WIDTH, y - HALF_HEIGHT),
            (HALF_WIDTH, y + HALF_HEIGHT),
            (-HALF_WIDTH, y + HALF_HEIGHT),
        )
        sketch.note(text, (0.0, y))
    for upper, lower in pairwise(heights):
        sketch.arrow("order", (0.0, upper - HALF_HEIGHT), (0.0, lower + HALF_HEIGHT))
    aside, last = HALF_WIDTH + 0.8, heights[-2]
    back = ((HALF_WIDTH, last), (aside, last), (aside, heights[1]), (HALF_WIDTH, heights[1]))
    sketch.line("order", *back, style="arrow")
    sketch.note("no", (HALF_WIDTH, last), (5.0, 5.0))
    sketch.note("yes", (0.0, last - STEP / 2), (6.0, 0.0))
    caption = (
        "The flow chart of our own simulation of the proposed controller, drawn from its steps, not copied; of the "
        "paper's we know the caption only. Sampling period and control law (eq. 4.4) are the paper's."
    )
    return Figure(
        "fig-2", "Fig. 2: flow chart of the simulation of the proposed controller", caption, (sketch.panel(unit=""),)
    )
