"""Studies that nobody published: every kind of figure and table, and texts that would break a careless page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.pictures.schematic import View
from tauforge_papers.contents import equations
from tauforge_papers.contents_table import contents_table
from tauforge_papers.report.finding import Bar, Finding
from tauforge_papers.report.page import Digest
from tauforge_papers.report.study import Claim, Item, Study
from tauforge_papers.report.table import Table
from tauforge_papers.rules import not_judged, true_in_parts, true_or_mended, true_or_not
from tauforge_papers.sketch import Plane, Sketch

NASTY = """a < b & "c" > 'd' </script> $x^2$ <b>bold</b>"""


def time_figure() -> Figure:
    """Two panels over time with six lines each: one legend for both; marks, and a gap."""
    t = np.linspace(0.0, 2.0, 301)
    panels = []
    for k, (title, name) in enumerate([("slow path", "leg force (N)"), ("fast path", "leg force (N)")]):
        lines = []
        for leg in range(6):
            y = 1000.0 / (leg + 1) * np.cos((1 + 2 * k) * t + leg)
            y[100:110] = np.nan
            lines.append(Line(f"leg {leg + 1}", t, y))
        panels.append(ChartPanel(title, "time (s)", name, tuple(lines), marks=((0.5, "switch"), (1.5, "switch"))))
    return Figure("forces", "Leg forces on two paths", "The forces of the six legs.", tuple(panels), columns=2)


def bars_figure() -> Figure:
    names = ["Lagrange-Euler", "Newton-Euler", "orthogonal complement", "joint frames, ours"]
    counts = np.array([101348, 852, 1014, 436])
    printed = np.array([101348.0, 800.0, 1015.0, np.nan])
    lines = (Line("multiplications", names, counts, "bars"), Line("printed", names, printed, "points"))
    panel = ChartPanel("", "formulation", "multiplications of one evaluation", lines, log_y=True)
    return Figure("counts", "Operation counts", "Bars: counted; points: printed.", (panel,))


def mixed_figure() -> Figure:
    """Three panels with lines of their own: a legend each, another x for each line, logarithms, nasty texts."""
    x = np.geomspace(1e-3, 1e3, 61)
    first = ChartPanel(
        "error", "step (s)", "error (rad)", (Line("order 4", x, x**4), Line("", x[::5], x[::5], "points")), True, True
    )
    second = ChartPanel(
        NASTY,
        f"x {NASTY}",
        f"y {NASTY}",
        (Line(NASTY, np.arange(3), np.arange(3) ** 2), Line("_hidden", np.arange(4.0), np.ones(4), "dashed")),
        marks=((1.0, NASTY),),
    )
    third = ChartPanel(
        "",
        "n",
        "cost",
        (Line("cost", np.arange(1, 9), np.arange(1, 9) ** 3, "dotted"),),
        log_x=True,
        marks=((4.0, "four"),),
    )
    return Figure("mixed", f"Mixed: {NASTY}", f"Caption: {NASTY}", (first, second, third), columns=2)


def sketch_figure() -> Figure:
    """A tripod in space and a box in the plane: every style of a sketch, scripts, a curved arrow, nasty words."""
    tripod = Sketch(View(-60.0, 20.0))
    feet = np.array([[1.0, 0.0, 0.0], [-0.5, 0.8, 0.0], [-0.5, -0.8, 0.0]])
    top = np.array([0.1, 0.2, 1.5])
    tripod.closed("ground", *feet)
    for foot in feet:
        tripod.line("legs", foot, top, style="thick")
    tripod.points("joints", *feet, top)
    tripod.arrow("forces", top, top + [0.0, 0.0, -0.6], "f_{i+1}^P")
    tripod.arc("turns", top, [0.4, 0.0, 0.0], [0.0, 0.0, 1.0], 2.5, "ω_i")
    tripod.line("axis", top, top + [0.0, 0.0, 0.5], style="dashed")
    plane = Sketch(Plane())
    plane.closed("boxes", (0, 0), (4, 0), (4, 1), (0, 1))
    plane.note(NASTY, (2.0, 0.5))
    plane.line("way", (4, 0.5), (5, 0.5), (5, 2.0), (2, 2.0), (2, 1.0), style="arrow")
    panels = (tripod.panel("A tripod"), plane.panel("A box", unit=""))
    return Figure("sketch", "Fig. 1: a sketch", "Drawn from our model of a tripod, not copied.", panels, columns=2)


def study(
    name: str = "dasgupta1998", paper: str = "Somebody, A. (1998). A paper. Journal of Examples 3, 1-12."
) -> Study:
    claims = (
        Claim(
            name="share",
            where="section 5",
            claim="Legs carry 20-40 % of the force",
            printed="20-40 %",
            measured="23-38 %",
            reason="Measured on path I.",
            rule=true_or_not("It holds if all shares are between.", lambda least, most: 20 <= least <= most <= 40),
            evidence={"least": 23.0, "most": 38.0},
        ),
        Claim(
            name="shift",
            where="eq 16",
            claim="The inertia shift is right",
            printed="0 N",
            measured="27.7 N",
            reason="Counted twice; the shift must go.",
            rule=true_or_mended(
                "It holds if nothing is off.", lambda printed, mended: printed == 0, lambda printed, mended: mended == 0
            ),
            evidence={"printed": 27.7, "mended": 0.0},
            timed="0.25 s",
        ),
        Claim(
            name="nasty",
            where=NASTY,
            claim=NASTY,
            printed=NASTY,
            measured=NASTY,
            reason=f"{NASTY}\n\nA second paragraph.",
            rule=true_or_not(NASTY, lambda: False),
        ),
        Claim(
            name="speed",
            where="sec. 5.1, Figs 7 and 8",
            claim="Ten times the speed raises the forces and the fractions significantly",
            printed="significant rise of both",
            measured="peak 1434 to 2133 N, median fraction 20.7 to 23.5 %",
            reason="The forces rise, the fractions hardly.",
            rule=true_in_parts(
                'It holds if both rise ("significantly": by a quarter or more).',
                lambda force, fraction: (force >= 1.25, fraction >= 1.25),
            ),
            evidence={"force": 2133 / 1434, "fraction": 23.5 / 20.7},
        ),
        Claim(
            name="cost",
            where="sec. 6",
            claim="One evaluation takes 1.58 s",
            printed="1.58 s",
            measured="a few microseconds",
            reason="The machine of the paper is forty years old.",
            rule=not_judged("Times of another machine are no claim about the method."),
        ),
    )
    contents = (
        *equations("1 2 3", "inverse kinematics of a leg: vector, length and direction", judged_by=("share",)),
        *equations("4 5 6 7 8 9", "velocities and accelerations of a leg", judged_by=("shift", "speed")),
        *equations(" ".join(map(str, range(10, 37))), "dynamics of a leg and of the platform", judged_by=("shift",)),
        Item("algorithm", "4.1", "from the motion to the forces", remark="The order of the equations, which is kept."),
        Item("figure", "1", "a sketch", shown_as="sketch", remark="Drawn from our model; it claims nothing."),
        Item("figure", "2", "leg forces", judged_by=("share", "speed"), shown_as="forces"),
        Item("table", "1", NASTY, judged_by=("nasty",), shown_as="counts-table"),
    )
    rows = (("Lagrange-Euler", 101348, 0.1 + 0.2, None), ("ours", 436, 1e-300, NASTY))
    tables = (
        Table(
            "counts-table", "Counts", "What was counted.", ("formulation", "multiplications", "time (s)", "note"), rows
        ),
        Table(
            "wide",
            "Wide",
            "Many columns.",
            tuple(f"column {k} (N)" for k in range(16)),
            (tuple(float(k) / 3 for k in range(16)),) * 30,
        ),
    )
    figures = (sketch_figure(), time_figure(), bars_figure(), mixed_figure())
    summary = "It holds in part. The rest is wrong in the way shown."
    one = Study(name, paper, summary, claims, figures, tables, contents)
    return replace(one, tables=(*tables, contents_table(one)))


def findings() -> list[Finding]:
    """As many as the first screen has, long and short, with a name that would break a careless page."""
    bars = (Bar("a name as long as any", 120.7, "120.7 N"), Bar("left", -40.0, "-40.0 N"), Bar(NASTY, 0.0, "0.0 N"))
    proofs = (("dasgupta1998", "shift"), ("turney1980", "share"))
    long = Finding(f"A sentence as long as sentences are: {NASTY}", "27.7 N of 2133 N", NASTY, bars * 2, proofs)
    return [long, *(replace(long, title=f"Sentence {k}", bars=bars) for k in range(2, 6))]


DIGEST = Digest(f"Use this: {NASTY}", "Correct eq. 16.", "shift", ("share", "speed", "shift", "cost"))
