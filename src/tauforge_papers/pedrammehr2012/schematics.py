"""Figures 1 to 4 of the paper, drawn from our model of its platform."""

from __future__ import annotations

import numpy as np

from tauforge.charts.figure import Figure
from tauforge.formats.loading import load
from tauforge.pictures.schematic import View
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.sketch import Arrows, Sketch
from tauforge_papers.stewart_paths import SLOW
from tauforge_papers.stewart_sketches import CENTRES, FRAMES, PLATFORM, Scene, along, draw_leg, draw_platform, scene

HALFWAY = 3.0  # s, of 6 s of path 2
FIRST, THIRD, LAST = (
    0,
    2,
    5,
)  # pods: vectors of the first cover each other least; u and n of the third are far from normal
VECTORS = "vectors"
FORCE, MOMENT = (0.0, 0.0, -200.0), (0.0, 0.0, 30.0)  # N, N m: ours, for figure 4
SOURCE = "Drawn from our model of the paper's manipulator halfway along path 2, not copied."
OVERLAPPING = "How far the parts of a pod reach into each other is our choice."


def schematics() -> tuple[Figure, ...]:
    platform = load("pedrammehr2012")
    place = scene(platform, SLOW, HALFWAY)
    return _mechanism(place), _universal(place), _pod(platform, place), _moving_platform(platform, place)


def _mechanism(place: Scene) -> Figure:
    leg, O = place.legs[FIRST], np.zeros(3)
    sketch = Sketch(View(-58.0, 20.0))
    draw_platform(sketch, place)
    sketch.frame(FRAMES, O, np.eye(3), 0.14, "xyz")
    sketch.frame(FRAMES, place.X, place.R, 0.14, "xyz")
    sketch.note("{W}", O, (2.0, -7.0))
    sketch.note("{P}", place.X, (-6.0, 3.0))
    sketch.arrow(VECTORS, O, leg.b, "b_i", (0.0, -5.0), 0.7)
    sketch.arrow(VECTORS, O, place.X, "X", (-4.0, 3.0), 0.4)
    sketch.arrow(VECTORS, place.X, leg.a, "q_i", (0.0, 4.0), 0.7)
    sketch.arrow(VECTORS, O, leg.a, "a_i", (5.0, -5.0), 0.6)
    sketch.note("L_i", along(leg, 0.5), (8.0, 2.0))
    caption = f"{SOURCE} The vectors are those of pod 1; L_i leads from b_i to a_i. {OVERLAPPING}"
    return Figure("fig-1", "Fig. 1: Stewart platform and the vectors of one pod", caption, (sketch.panel(),))


def _universal(place: Scene) -> Figure:
    leg = place.legs[THIRD]
    sketch = Sketch(View(-112.0, 14.0))
    sketch.line("pod", leg.b, leg.b + 1.4 * leg.s, style="thick")
    joint, pod = "axes of the joint, and their normal", "frame of the pod"
    sketch.arrow(joint, leg.b, leg.b + leg.u, "u_i")
    sketch.arrow(joint, leg.b, leg.b + leg.v, "v_i")
    sketch.arrow(joint, leg.b, leg.b + leg.c, "c_i = u_i × v_i")
    sketch.arrow(pod, leg.b, leg.b + leg.s, "n_i", (6.0, -6.0))
    sketch.arrow(pod, leg.b, leg.b + np.cross(leg.s, leg.v), "c'_i = n_i × v_i", (0.0, -5.0))
    caption = (
        f"{SOURCE} Unit vectors at the universal joint of pod 3: u is fixed to the base and v to the pod. n and u are "
        f"far from normal to each other (n·u = {leg.s @ leg.u:.2f}): n, u, c and c' lie in one plane, normal to v, and "
        f"c is not along n (n·c = {leg.s @ leg.c:.2f}). Sign conventions of c and c' are ours."
    )
    return Figure("fig-2", "Fig. 2: kinematic model of the universal joint", caption, (sketch.panel(unit=""),))


def _pod(platform: StewartPlatform, place: Scene) -> Figure:
    leg, reaction = place.legs[THIRD], platform.joint_reactions(*place.state)
    sketch = Sketch(View(-112.0, 14.0))
    draw_leg(sketch, leg)
    sketch.points(CENTRES, leg.lower_centre, leg.upper_centre)
    at_base, at_platform = reaction.universal[THIRD], reaction.spherical[THIRD]
    moment = (at_base[3:] @ leg.c) * leg.c
    gravity = np.array(platform.gravity)
    forces = Arrows("forces", "N", (at_base[:3], at_platform[:3]), 0.28)
    parts = platform.parameters.legs[THIRD]
    weights = Arrows("weights", "N", [part.mass * gravity for part in (parts.lower, parts.upper)], 0.2)
    moments = Arrows("moment", "N m", (moment,), 0.2)
    forces.draw(sketch, 0, leg.b, "F_b", pushing=True)
    forces.draw(sketch, 1, leg.a, "F_i", pushing=True)
    weights.draw(sketch, 0, leg.lower_centre, "m_d G")
    weights.draw(sketch, 1, leg.upper_centre, "m_u G")
    moments.draw(sketch, 0, leg.b, "M_i = m_i c_i")
    caption = (
        f"{SOURCE} Pod 3. F_i is the force of the platform on the pod, F_b that of the base. The mass centres are "
        "those of the appendix: that of the upper part, m_u, lies 0.6 m below the platform joint and so near the "
        f"base. An arrow of 0.1 m stands for {forces.scale}, of the weights for {weights.scale}, of the moment for "
        f"{moments.scale}. {OVERLAPPING}"
    )
    return Figure("fig-3", "Fig. 3: free body diagram of one pod", caption, (sketch.panel(),))


def _moving_platform(platform: StewartPlatform, place: Scene) -> Figure:
    external = np.array([*FORCE, *MOMENT])
    reaction = platform.joint_reactions(*place.state, external_wrench=external)
    sketch = Sketch(View(-58.0, 20.0))
    sketch.closed(PLATFORM, *(leg.a for leg in place.legs))
    sketch.points(CENTRES, place.centre)
    of_pods = Arrows("forces of the pods", "N", tuple(-one[:3] for one in reaction.spherical), 0.3)
    for k, leg in enumerate(place.legs):
        of_pods.draw(sketch, k, leg.a, f"-F_{k + 1}", (-5.0, 2.0) if k == LAST else None)
    weight = platform.parameters.body.mass * np.array(platform.gravity)
    others = Arrows("weight and external force", "N", (weight, np.array(FORCE)), 0.2)
    others.draw(sketch, 0, place.centre, "m_p G")
    others.draw(sketch, 1, place.X, "F_{ext}", (-5.0, 4.0))
    moments = Arrows("external moment", "N m", (np.array(MOMENT),), 0.2)
    moments.draw(sketch, 0, place.X, "M_{ext}")
    caption = (
        f"{SOURCE} Each pod acts with -F_i. The external force (200 N down) and moment (30 N m about z) are our "
        f"choice. An arrow of 0.1 m stands for {of_pods.scale}, of weight and external force for {others.scale}, of "
        f"the moment for {moments.scale}."
    )
    return Figure("fig-4", "Fig. 4: free body diagram of the moving platform", caption, (sketch.panel(),))
