"""The figures of Turney, Mudge & Lee 1980 for an arm and a motion of anybody's."""

from __future__ import annotations

import numpy as np

from tauforge.analysis.complexity import operation_count
from tauforge.charts.along_time import TIME_LABEL
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.formulations.serial import INVERSE_DYNAMICS
from tauforge.motion import CsvMotion
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge_papers.turney1980.significance import torque_panel
from tauforge_papers.turney1980.simulation import FALL, STEP, simulated
from tauforge_papers.turney1980.terms import GROUPS, along, tracking_without

NO_FRICTION = "Joints without friction, as in the paper; the time begins with the motion."


def figures(arm: SerialArm, motion: CsvMotion) -> tuple[Figure, ...]:
    """What the torques are made of, what leaving a part out costs, simulation by strobing, and operations."""
    bare = arm.without_friction()
    t, groups, torque = along(bare, motion, len(motion.times))
    made_of = [
        torque_panel(actuator.name, t, groups, torque, i, actuator.unit) for i, actuator in enumerate(arm.actuators)
    ]
    return (
        Figure(
            "torques",
            "Sections 3 and 6: what the torques are made of",
            f"Groups of terms along the motion. {NO_FRICTION}",
            tuple(made_of),
            columns=3,
        ),
        _dropped(bare, motion),
        _simulation(bare, motion),
        _operations(arm),
    )


def _dropped(arm: SerialArm, motion: CsvMotion) -> Figure:
    found = {name: tracking_without(arm, name, motion) for name in GROUPS}
    kept = {name: error for name, error in found.items() if error is not None}
    gone = [f'"{name}"' for name in found if name not in kept]
    caption = "Largest position error of any joint under computed torque whose model lacks the group."
    caption += f" Without {' or '.join(gone)} the arm runs away." if gone else ""
    bars = Line("largest error", list(kept), np.array(list(kept.values())), "points")
    panel = ChartPanel("", "left out", "largest error (rad or m)", (bars,), log_y=True)
    return Figure("terms-dropped", "Sections 3 and 6: what leaving a group of terms out costs", caption, (panel,))


def _simulation(arm: SerialArm, motion: CsvMotion) -> Figure:
    duration = STEP * round(min(FALL, motion.duration) / STEP)
    runs = simulated(arm, motion, duration)
    moved = [
        Line(coordinate.name, runs.time, runs.fall[:, i] - runs.fall[0, i])
        for i, coordinate in enumerate(arm.coordinates)
    ]
    distances = (
        Line("falling, from forward dynamics", runs.time, runs.apart),
        Line("driven, from the wanted move", runs.time, runs.missed),
    )
    return Figure(
        "simulation",
        "Section 7: simulation by strobing",
        "The arm falls freely from the start of the motion; how far this is from the fall by forward dynamics, and an "
        f"arm that is driven by the computed torques from the motion. The first {duration:g} s in steps of {STEP:g} s. "
        f"{NO_FRICTION}",
        (
            ChartPanel("Free fall", TIME_LABEL, "moved (rad or m)", tuple(moved)),
            ChartPanel("Distance", TIME_LABEL, "largest difference (rad or m)", distances, log_y=True),
        ),
        columns=2,
    )


def _operations(arm: SerialArm) -> Figure:
    counts = {name: operation_count(arm, name) for name in INVERSE_DYNAMICS}
    lines = tuple(
        Line(what, list(counts), np.array([getattr(one, what) for one in counts.values()], float), "bars")
        for what in ("multiplications", "additions")
    )
    panel = ChartPanel("", "formulation", "operations (-)", lines)
    caption = "Of one inverse dynamics of this arm, traced: what its zeros save is left out."
    return Figure("operations", "Table 1: operations of the formulations", caption, (panel,))
