"""Studies that nobody published: every kind of figure and table, and texts that would break a careless page."""

from __future__ import annotations

import numpy as np

from tauforge.plots.figure import Figure, Line, Panel
from tauforge.studies.rules import true_or_mended, true_or_not
from tauforge.studies.study import Claim, Study, Table

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
        panels.append(Panel(title, "time (s)", name, tuple(lines), marks=((0.5, "switch"), (1.5, "switch"))))
    return Figure("forces", "Leg forces on two paths", "The forces of the six legs.", tuple(panels), columns=2)


def bars_figure() -> Figure:
    names = ["Lagrange-Euler", "Newton-Euler", "orthogonal complement", "joint frames, ours"]
    counts = np.array([101348, 852, 1014, 436])
    printed = np.array([101348.0, 800.0, 1015.0, np.nan])
    lines = (Line("multiplications", names, counts, "bars"), Line("printed", names, printed, "points"))
    panel = Panel("", "formulation", "multiplications of one evaluation", lines, log_y=True)
    return Figure("counts", "Operation counts", "Bars: counted; points: printed.", (panel,))


def mixed_figure() -> Figure:
    """Three panels with lines of their own: a legend each, another x for each line, logarithms, nasty texts."""
    x = np.geomspace(1e-3, 1e3, 61)
    first = Panel(
        "error", "step (s)", "error (rad)", (Line("order 4", x, x**4), Line("", x[::5], x[::5], "points")), True, True
    )
    second = Panel(
        NASTY,
        f"x {NASTY}",
        f"y {NASTY}",
        (Line(NASTY, np.arange(3), np.arange(3) ** 2), Line("_hidden", np.arange(4.0), np.ones(4), "dashed")),
        marks=((1.0, NASTY),),
    )
    third = Panel(
        "",
        "n",
        "cost",
        (Line("cost", np.arange(1, 9), np.arange(1, 9) ** 3, "dotted"),),
        log_x=True,
        marks=((4.0, "four"),),
    )
    return Figure("mixed", f"Mixed: {NASTY}", f"Caption: {NASTY}", (first, second, third), columns=2)


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
    figures = (time_figure(), bars_figure(), mixed_figure())
    return Study(name, paper, "It holds in part. The rest is wrong in the way shown.", claims, figures, tables, ())
