"""The figures of Lee, Chung, Mudge & Turney for an arm and a motion of anybody's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tauforge.charts.along_time import TIME_LABEL
from tauforge.charts.figure import ChartPanel, Figure, Line, Style
from tauforge.control import ComputedTorque
from tauforge.motion import CsvMotion
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.simulate import simulate
from tauforge_papers.lee1982.control import HOLD_STEPS, KP, KV, ONE_BIT, PERIOD

FORMULATIONS: Mapping[str, Style] = {"newton-euler": "line", "lagrange-euler": "dashed"}


def figures(arm: SerialArm, motion: CsvMotion) -> tuple[Figure, ...]:
    """Figs 3 to 8: the position error of each joint, under both controllers that the paper compares."""
    bare = arm.without_friction()
    runs = {
        name: simulate(
            bare,
            ComputedTorque(bare, KP, KV, formulation=name),
            motion,
            step=PERIOD / HOLD_STEPS,
            control_period=PERIOD,
        )
        for name in FORMULATIONS
    }
    panels = []
    for joint, coordinate in enumerate(arm.coordinates):
        lines = [Line(name, run.time, run.error[:, joint], FORMULATIONS[name]) for name, run in runs.items()]
        if coordinate.unit == "rad":
            ends = runs["newton-euler"].time[[0, -1]]
            lines += [
                Line("one bit, as printed", ends, np.full(2, ONE_BIT), "dotted"),
                Line("minus one bit", ends, np.full(2, -ONE_BIT), "dotted", like="one bit, as printed"),
            ]
        panels.append(ChartPanel(coordinate.name, TIME_LABEL, f"position error ({coordinate.unit})", tuple(lines)))
    caption = (
        f"Computed torque with the right model, Kp = {KP:g} and Kv = {KV:g}, sampled every {PERIOD:g} s, on the "
        "Newton-Euler and on the Lagrange-Euler formulation. Joints without friction, as in the paper; the time begins "
        "with the motion."
    )
    return (Figure("position-errors", "Figs 3 to 8: position error of each joint", caption, tuple(panels), columns=3),)
