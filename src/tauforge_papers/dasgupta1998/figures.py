"""Figures 3 to 10 of Dasgupta & Mruthyunjaya 1998 from our numbers, and four that the paper does not have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tauforge.analysis.stewart_curves import SHOWN, broken, force_panels, fraction_panels, part_panels, sign_changes
from tauforge.arrays import Array
from tauforge.charts.along_time import TIME_LABEL, Curve
from tauforge.charts.figure import ChartPanel, Figure, Line, Style
from tauforge.motion import pose_rates
from tauforge_papers.dasgupta1998.leg_forces import MODEL, poles
from tauforge_papers.dasgupta1998.measured import WHOLE, Measured

CUT = 1e6  # N, of Fig. 9: beyond the largest force in the paper's steps
MASSES = np.geomspace(2.0, 400.0, 60)  # kg
SCATTERED = 2000  # of the random poses are drawn


def figures(m: Measured) -> tuple[Figure, ...]:
    return (
        _trajectory(m),
        _forces(m, 4, "I"),
        _condition(m, 5, "I"),
        _fractions(m, 6, "I"),
        _forces(m, 7, "II"),
        _fractions(m, 8, "II"),
        _forces(m, 9, "III"),
        _condition(m, 10, "III"),
        _errors(m),
        _parts(m),
        _condition_and_force(m),
        _masses(m),
    )


def _trajectory(m: Measured) -> Figure:
    path = m.paths["I"]
    pose, twist, acceleration = path.states
    rates, seconds = pose_rates(pose, twist, acceleration)
    panels = [
        ChartPanel(title, TIME_LABEL, label, (Line("t_x", path.t, y[:, 0]),))
        for title, label, y in (
            ("position", "t_x (m)", pose),
            ("velocity", "rate of t_x (m/s)", rates),
            ("acceleration", "second rate of t_x (m/s²)", seconds),
        )
    ]
    caption = "Linear with parabolic blends: constant acceleration, constant velocity, constant deceleration. Path I, "
    caption += "eqs 39 and 40."
    return Figure("fig-3", "Fig. 3: Typical trajectory for each coordinate", caption, tuple(panels))


def _forces(m: Measured, number: int, name: str) -> Figure:
    f = m.forces[name]
    caption = "By the paper's model: total force T, force S with massless legs and smooth joints, and D = T - S."
    singular = name == "III"
    T, S = f.T, f.S
    if singular:
        nearest = np.abs(m.paths[name].t - m.singular_time).argmin()
        gap = np.arange(len(f.T)) == nearest  # no stroke joins the two sides of the pole
        T, S = (np.where(gap[:, None], np.nan, y) for y in (T, S))
        caption += (
            " Lines: steps of 0.01 s; points: T in the paper's steps of 0.1 s, in which the largest force is "
            f"{np.abs(m.papers_steps[1]).max():.1e} N. Cut at {-CUT:.0e} and {CUT:.0e} N: the forces grow without "
            f"bound at the singularity, det H = 0 at {m.singular_time:.2f} s (broken line)."
        )
    panels = force_panels(
        m.paths[name].t,
        T,
        S,
        marks=((m.singular_time, ""),) if singular else (),
        y_range=(-CUT, CUT) if singular else None,
    )
    if singular:
        path, sampled, _ = m.papers_steps
        points = [Line("T, paper's steps", path.t, y, "points", "T, total") for y in sampled.T]
        panels = tuple(replace(x, lines=(*x.lines, line)) for x, line in zip(panels, points, strict=True))
    return Figure(f"fig-{number}", f"Fig. {number}: Path {name}, leg forces", caption, panels, columns=3)


def _condition(m: Measured, number: int, name: str) -> Figure:
    singular = name == "III"
    panel = ChartPanel(
        "",
        TIME_LABEL,
        "condition number of H",
        (Line("condition number", m.paths[name].t, m.conditions[name]),),
        log_y=singular,
        marks=((m.singular_time, "det H = 0"),) if singular else (),
    )
    caption = "Ratio of the extreme singular values of H, moments in N m and forces in N as the paper has them."
    return Figure(f"fig-{number}", f"Fig. {number}: Path {name}, condition number", caption, (panel,))


def _legs(which: Array) -> str:
    """which: (k, 6), whether it is so at any time."""
    legs = [str(leg + 1) for leg in np.flatnonzero(which.any(axis=0))]
    return f"leg{'s' * (len(legs) != 1)} {', '.join(legs) or 'none'}"


def _fractions(m: Measured, number: int, name: str) -> Figure:
    f, path = m.forces[name], m.paths[name]
    caption = (
        "Part of the total force that leg inertia, leg weight and friction make up, by the paper's model and exactly; "
        f"cut at {SHOWN[0]} and {SHOWN[1]}."
    )
    curves: list[Curve] = []
    styles: tuple[Style, ...] = ("line", "dotted")
    models = (("paper's model", f.T, f.fraction), ("exact model", f.exact, f.exact_fraction))
    for (label, total, fraction), style in zip(models, styles, strict=True):
        at_poles = poles(total, path)
        curves.append((label, broken(fraction, at_poles, total), style))
        caption += f" By the {label} it has poles, where the total force goes through zero, in {_legs(at_poles)}"
        leaps = np.asarray(sign_changes(total) & ~at_poles)
        if leaps.any():
            caption += f"; where the acceleration steps, the force of {_legs(leaps)} leaps over zero"
        for leg in np.flatnonzero(~at_poles.any(axis=0) & (np.abs(fraction).max(axis=0) > SHOWN[1])):
            farthest = fraction[np.abs(fraction[:, leg]).argmax(), leg]
            caption += f"; leg {leg + 1} leaves the figure without one, to {farthest:.1f}"
        caption += "."
    panels = fraction_panels(path.t, curves)
    title = f"Fig. {number}: Path {name}, fraction of dynamic forces"
    return Figure(f"fig-{number}", title, caption, panels, columns=3)


def _errors(m: Measured) -> Figure:
    panels = []
    for name in ("I", "II"):
        f, path = m.forces[name], m.paths[name]
        error = f.T - f.exact
        lines = tuple(Line(f"leg {i + 1}", path.t, error[:, i]) for i in range(error.shape[1]))
        panels.append(ChartPanel(path.name, TIME_LABEL, "error of leg force (N)", lines))
    caption = "Forces of the paper's model less those of the exact one. The causes are leg spin, the direction of the "
    "universal "
    caption += "joint's moment and a parallel-axis term counted twice."
    return Figure("errors", "The paper's model against the exact one", caption, tuple(panels), columns=2)


def _parts(m: Measured) -> Figure:
    parts = m.parts["II"][MODEL]
    caption = "Weight of the legs, their inertia and friction of the joints, which add up to D, by the paper's model. "
    caption += "On path I the weight is the same, the inertia a hundredth and the friction a tenth of what is drawn."
    panels = part_panels(m.paths["II"].t, *parts[2:])
    return Figure("parts-of-difference", "What D consists of on path II", caption, panels, columns=3)


def _condition_and_force(m: Measured) -> Figure:
    poses = m.random_poses[WHOLE]
    lines = [Line(f"random poses {WHOLE}, at rest", poses.condition[:SCATTERED], poses.force[:SCATTERED], "points")]
    for name, path in m.paths.items():
        lines.append(Line(path.name, m.conditions[name], np.abs(m.forces[name].T).max(axis=1)))
    panel = ChartPanel("", "condition number of H", "largest leg force (N)", tuple(lines), log_x=True, log_y=True)
    caption = "Near a singularity (path III) the forces follow the condition number; elsewhere they spread over more "
    caption += "than a decade at the same number. The region of the random poses is our choice."
    return Figure("condition-and-force", "Condition number and leg forces", caption, (panel,))


def _masses(m: Measured) -> Figure:
    lines = tuple(Line(m.paths[name].name, MASSES, m.shares_by_mass(name, MASSES)) for name in ("I", "II"))
    panel = ChartPanel("", "mass of platform and payload (kg)", "median of |F_d / F|", lines, log_x=True)
    caption = "Over all legs and times, the platform's inertia about its mass centre kept; each leg has 4 kg."
    return Figure("payload", "The legs' share of the force against the payload", caption, (panel,))
