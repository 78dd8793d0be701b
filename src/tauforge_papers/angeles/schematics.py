"""Figures 7.2 to 7.5 of the chapter, drawn from our model of an arm in which nothing is aligned.

Angeles' frame i stands at joint i: his O_i is the origin of our frame i-1.
"""

from __future__ import annotations

import numpy as np

from tauforge.charts.figure import Figure
from tauforge.pictures.schematic import View
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge_papers.random_arms import random_arm
from tauforge_papers.serial_sketches import CENTRES, ArmScene, arm_scene, draw_links, free_body
from tauforge_papers.sketch import Arrows, Sketch

KINDS, SEED = "RRPR", 9
POSE = (0.4, 0.6, 0.4, 0.3)  # rad and m
RATES, ACCELERATIONS = (0.6, -0.8, 0.5, 0.7), (1.5, 2.0, -1.0, 1.0)
FORCE, MOMENT = (10.0, 0.0, -20.0), (1.0, 0.5, 1.0)  # N, N m: on the end-effector
REVOLUTE, PRISMATIC = 2, 3  # joints of figures 7.2 and 7.3
VIEW = View(-60.0, 20.0)
SOURCE = (
    f"Drawn from our model of an arm ({KINDS}) with random dimensions, not copied; arm and motion are our choice, for "
    "the chapter names none."
)
VECTORS, POINTS, UNIT_VECTOR = "vectors", "points O", "unit vector along the joint"


def schematics() -> tuple[Figure, ...]:
    arm = random_arm(np.random.default_rng(SEED), KINDS)
    place = arm_scene(arm, POSE, RATES, ACCELERATIONS)
    return _revolute(place), _prismatic(place), _free_body(arm, place), _end_effector(arm, place)


def _revolute(place: ArmScene) -> Figure:
    i = REVOLUTE
    before, O = place.origins[i - 2 : i]
    e = place.axes[i - 1][:, 2]
    sketch = Sketch(VIEW)
    draw_links(sketch, place, i - 1, i)
    sketch.line("axis of the joint", O - 0.2 * e, O + 0.25 * e, style="dashed")
    sketch.arrow(UNIT_VECTOR, O, O + 0.12 * e, "e_i", (6.0, 3.0))
    sketch.arrow(VECTORS, before, place.centres[i - 1], "ρ_{i-1}", (-5.0, 4.0), 0.5)
    sketch.arrow(VECTORS, place.centres[i - 1], O, "δ_{i-1}", (5.0, 4.0), 0.5)
    sketch.arrow(VECTORS, O, place.centres[i], "ρ_i", (-5.0, 0.0), 0.6)
    sketch.note("a_{i-1}", 0.5 * (before + O), (-4.0, -5.0))
    sketch.points(CENTRES, place.centres[i - 1], place.centres[i])
    sketch.note("C_{i-1}", place.centres[i - 1], (0.0, 6.0))
    sketch.note("C_i", place.centres[i], (6.0, 0.0))
    sketch.points(POINTS, before, O)
    sketch.note("O_{i-1}", before, (-6.0, 0.0))
    sketch.note("O_i", O, (6.0, 0.0))
    caption = (
        f"{SOURCE} Joint i = {i}: ρ leads from O to the mass centre C of its link, and δ = a - ρ on to the next O."
    )
    return Figure("fig-7-2", "Fig. 7.2: a revolute joint", caption, (sketch.panel(),))


def _prismatic(place: ArmScene) -> Figure:
    i = PRISMATIC
    before, O, after = place.origins[i - 2 : i + 1]
    e = place.axes[i - 1][:, 2]
    moved = O + e * (e @ (after - O))
    sketch = Sketch(VIEW)
    sketch.line("links", before, O, moved, after, style="thick")
    sketch.arrow(UNIT_VECTOR, O, O + 0.12 * e, "e_i", (6.0, 4.0))
    sketch.arrow(VECTORS, before, place.centres[i - 1], "ρ_{i-1}", (5.0, 3.0), 0.5)
    sketch.arrow(VECTORS, place.centres[i - 1], O, "δ_{i-1}", (5.0, -4.0), 0.5)
    sketch.arrow(VECTORS, O, moved, "b_i e_i", (-6.0, -4.0), 0.5)
    sketch.arrow(VECTORS, moved, place.centres[i], "ρ_i", (0.0, -6.0), 0.5)
    sketch.note("d_{i-1}", 0.5 * (before + O), (-7.0, 0.0))
    sketch.points(CENTRES, place.centres[i - 1], place.centres[i])
    sketch.note("C_{i-1}", place.centres[i - 1], (6.0, 0.0))
    sketch.note("C_i", place.centres[i], (0.0, 6.0))
    sketch.points(POINTS, before, O)
    sketch.note("O_{i-1}", before, (0.0, 6.0))
    sketch.note("O_i", O, (0.0, -6.0))
    caption = (
        f"{SOURCE} Joint i = {i} slides by b along e; δ, b e and ρ lead from the mass centre of link i-1 to that of "
        "link i."
    )
    return Figure("fig-7-3", "Fig. 7.3: a prismatic joint", caption, (sketch.panel(),))


def _free_body(arm: SerialArm, place: ArmScene) -> Figure:
    i = REVOLUTE
    sketch = Sketch(VIEW)
    weight = arm.joints[i - 1].mass * np.array(arm.gravity)
    names = ("f_i^P", "-f_{i+1}^P", "m_i g", "n_i^P", "-n_{i+1}^P")
    scales = free_body(sketch, place, i, weight, names, 0.25)
    caption = (
        f"{SOURCE} Link i = {i}. The chapter has gravity in the acceleration of the base, we draw the weight. {scales}"
    )
    return Figure("fig-7-4", "Fig. 7.4: free-body diagram of a link", caption, (sketch.panel(),))


def _end_effector(arm: SerialArm, place: ArmScene) -> Figure:
    O, C = place.origins[-2], place.centres[-1]
    wrench = (*FORCE, *(np.array(MOMENT) + np.cross(C - place.origins[-1], FORCE)))  # moved to the tool's origin
    under_load = arm_scene(arm, POSE, RATES, ACCELERATIONS, wrench)
    sketch = Sketch(VIEW)
    sketch.line("link", O, C, style="thick")
    sketch.note("ρ_n", 0.5 * (O + C), (6.0, 0.0))
    sketch.points(CENTRES, C)
    sketch.points(POINTS, O)
    weight = arm.joints[-1].mass * np.array(arm.gravity)
    forces = Arrows("forces", "N", (under_load.forces[-1], np.array(FORCE), weight), 0.3)
    moments = Arrows("moments", "N m", (under_load.moments[-1], np.array(MOMENT)), 0.2)
    forces.draw(sketch, 0, O, "f_n^P")
    forces.draw(sketch, 1, C, "f")
    forces.draw(sketch, 2, C, "m_n g")
    moments.draw(sketch, 0, O, "n_n^P")
    moments.draw(sketch, 1, C, "n")
    caption = (
        f"{SOURCE} Link n = {len(KINDS)}, with an external force f at the mass centre and a moment n, also our choice. "
        f"An arrow of 0.1 m stands for {forces.scale} of a force and {moments.scale} of a moment."
    )
    return Figure("fig-7-5", "Fig. 7.5: free-body diagram of the end-effector", caption, (sketch.panel(),))
