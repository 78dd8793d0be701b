"""Figures 5 to 10 of Pedrammehr, Mahboubkhah & Khani 2012, and four that the paper does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tauforge.analysis.stewart_curves import rotation_panels
from tauforge.arrays import Array
from tauforge.charts.along_time import TIME_LABEL, Curve, panels_along, with_difference
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge_papers.pedrammehr2012.measured import (
    CLOSED,
    EXACT,
    IMPROVED,
    MODELS,
    SIMPLIFIED,
    Measured,
)
from tauforge_papers.stewart_paths import LEGS

QUANTITIES = (("angular velocities", "velocity"), ("angular accelerations", "acceleration"))
COMPARED = "Our source has the caption of this figure but not its curves: computed anew from the equations."
NAMES = {EXACT: "exact", SIMPLIFIED: "simplified, Dasgupta 1998", IMPROVED: "improved", CLOSED: "improved, closed form"}


def figures(m: Measured) -> tuple[Figure, ...]:
    return (
        _rotations(m, 5, "1", 0),
        _rotations(m, 5, "1 whole", 0),
        _rotations(m, 6, "1", 1),
        _rotations(m, 6, "1 whole", 1),
        _rotations(m, 7, "2", 0),
        _rotations(m, 8, "2", 1),
        _forces(m, 9, "2"),
        _forces(m, 10, "3"),
        _errors(m, "2"),
        _errors(m, "3"),
        _spins(m),
        _powers(m),
        _closed_form(m),
    )


def _rotations(m: Measured, number: int, name: str, kind: int) -> Figure:
    path, rotation = m.paths[name], m.rotations[name][kind]
    words, quantity = QUANTITIES[kind]
    caption = (
        "Magnitudes with the spin that the universal joint gives the pods, by the equations of Dasgupta 1998, which "
        f"leave it out, and their difference. {COMPARED}"
    )
    if name == "1":
        caption += (
            f" Constant 0.08 m/s for 6 s: ends at x = {path.states.position[-1, 0]:.2f} m, not at the printed 0.60 m. "
            "The printed distance, time and velocity contradict each other."
        )
    if name == "1 whole":
        caption += " At 0.5/6 m/s, which covers the printed distance in the printed time."
    whole = name == "1 whole"
    return Figure(
        f"fig-{number}" + "-whole-distance" * whole,
        f"Fig. {number}: {path.name[0].upper()}{path.name[1:]}, {words}",
        caption,
        rotation_panels(path.t, quantity, rotation.full, rotation.simplified, "pod"),
        columns=3,
    )


def _forces(m: Measured, number: int, name: str) -> Figure:
    found = m.forces[name]
    caption = (
        "By the equations of this paper in vector form, and by those of Dasgupta & Mruthyunjaya 1998. The text calls "
        f"the paths of Figs 9 and 10 1 and 2; they are 2 and 3, as the captions have it. {COMPARED}"
    )
    title = f"Fig. {number}: Path {name}, pod forces"
    return Figure(f"fig-{number}", title, caption, both_forces(m.paths[name].t, found), columns=3)


def both_forces(t: Array, found: Mapping[str, Array], **options: Any) -> tuple[ChartPanel, ...]:
    """The improved and the simplified model's, N, (k, 6), of those by model. options: of the panels."""
    pair = ("improved", found[IMPROVED]), ("simplified, Dasgupta 1998", found[SIMPLIFIED])
    return panels_along("pod", t, "force (N)", with_difference(*pair), **options)


def _errors(m: Measured, name: str) -> Figure:
    panels = errors_of_forces(m.paths[name].t, m.forces[name])
    caption = (
        "Forces of each model less those of the exact one. The improved model is better on the slow path 2; on the "
        "fast path 3 it is better in some pods and worse in others."
    )
    return Figure(f"errors-{name}", f"Both models against the exact one, path {name}", caption, panels, columns=3)


def errors_of_forces(t: Array, found: Mapping[str, Array], **options: Any) -> tuple[ChartPanel, ...]:
    """Each model's forces less the exact ones, of those by model. options: of the panels."""
    curves: list[Curve] = [
        ("improved", found[IMPROVED] - found[EXACT], "line"),
        ("simplified, Dasgupta 1998", found[SIMPLIFIED] - found[EXACT], "dashed"),
        ("improved, closed form", found[CLOSED] - found[EXACT], "dotted"),
    ]
    return panels_along("pod", t, "error of force (N)", curves, **options)


def _spins(m: Measured) -> Figure:
    panels = tuple(
        ChartPanel(
            m.paths[name].name,
            TIME_LABEL,
            "spin about the pod (rad/s)",
            tuple(Line(f"pod {i + 1}", m.paths[name].t, m.rotations[name][0].along[:, i]) for i in range(LEGS)),
        )
        for name in ("1", "2", "3")
    )
    caption = "Angular velocity of the pods about their own axes, which the simplified model takes to be zero."
    return Figure("spins", "How the pods spin", caption, panels, columns=3)


def _powers(m: Measured) -> Figure:
    panels = []
    for name, found in m.powers.items():
        path = m.paths[name]
        lines = tuple(Line(NAMES[model], path.t, found[model].imbalance) for model in MODELS)
        panels.append(ChartPanel(path.name, TIME_LABEL, "imbalance of power (W)", lines))
    caption = "Power of actuators, gravity and friction less the rate of the kinetic energy: zero for the true forces."
    return Figure("power", "Balance of power", caption, tuple(panels), columns=2)


def _closed_form(m: Measured) -> Figure:
    path = m.paths["3"]
    apart = m.forces["3"][CLOSED] - m.forces["3"][IMPROVED]
    lines = tuple(Line(f"pod {i + 1}", path.t, apart[:, i]) for i in range(LEGS))
    panel = ChartPanel(path.name, TIME_LABEL, "closed less vector form (N)", lines)
    caption = "Eqs 41-43 and 48, 51 beside eqs 29-40, 45-50 of the same paper, which should be equal."
    return Figure("closed-form", "The paper's closed form against its vector form", caption, (panel,))
