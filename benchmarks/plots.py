"""Plots of a result: cost against the number of joints and against the batch size, and rates on a GPU."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

COLOURS = {
    "tauforge": "#c2410c",
    "Pinocchio C++": "#1d4ed8",
    "Pinocchio in a Python loop": "#64748b",
}
LIFTS = {"Pinocchio in a Python loop": 8, "Pinocchio C++": -8}  # points: keeps neighbouring names apart
GPU_LINES = {
    ("inverse_dynamics", "float32"): ("#c2410c", 14),
    ("forward_dynamics", "float32"): ("#15803d", 4),
    ("inverse_dynamics", "float64"): ("#1d4ed8", -2),
    ("forward_dynamics", "float64"): ("#64748b", -9),
}  # colours, and points that keep neighbouring names apart
INK, QUIET, FAINT = "#1f2937", "#6b7280", "#9ca3af"
STYLE = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "svg.hashsalt": "tauforge",  # the same picture gives the same file
}


def draw(report: dict[str, Any], folder: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        print("no plots: matplotlib is not installed")
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        for name, plot in (("cost-against-joints", against_joints), ("cost-against-batch", against_batch)):
            figure, axes = pyplot.subplots(figsize=(7, 4.4), layout="constrained")
            plot(axes, report)
            axes.set_ylabel("ns per state")
            where = report["environment"]
            figure.supxlabel(
                f"one core, {where['cpu']}, {where['vector_bits']}-bit vectors; fastest call; "
                f"{where['date'][:10]}, commit {where['commit']}",
                fontsize=8,
                color=QUIET,
            )
            figure.savefig(folder / f"{name}.png", dpi=200)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            pyplot.close(figure)
            print(folder / f"{name}.png")


def draw_gpu(report: dict[str, Any], folder: Path) -> None:
    """States a second against the size of the batch."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=(7, 4.4), layout="constrained")
        axes.set(xscale="log", yscale="log", xlabel="states in a batch", ylabel="G states/s")
        for (name, dtype), (colour, lift) in GPU_LINES.items():
            rows = [row for row in report["batches"] if (row["function"], row["dtype"]) == (name, dtype)]
            xs, ys = [row["states"] for row in rows], [row["G_per_s"] for row in rows]
            axes.plot(xs, ys, color=colour, marker="o", markersize=4, linewidth=2)
            label = f"{name.partition('_')[0]}, {dtype} {ys[-1]:.0f}"
            beside(axes, label, (xs[-1], ys[-1]), (8, lift), color=colour, va="center", fontweight="bold", fontsize=9)
        ticks(axes, xs[::2])
        axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g}")
        headings(
            axes, "Dynamics of the PUMA 560 on a GPU", "calls from Python one after another, results over old ones"
        )
        figure.supxlabel(f"one {report['gpu']}, {report['date']}", fontsize=8, color=QUIET)
        for ending, options in (("png", {"dpi": 200}), ("svg", {"metadata": {"Date": None}})):
            figure.savefig(folder / f"throughput-against-batch.{ending}", **options)
        pyplot.close(figure)


def series(rows: list[dict[str, Any]], key: str) -> dict[str, tuple[list[int], list[float]]]:
    """The points (row[key], fastest) of every candidate."""
    found: dict[str, tuple[list[int], list[float]]] = {}
    for row in rows:
        for name, ns in row["ns"].items():
            xs, ys = found.setdefault(name, ([], []))
            xs.append(row[key])
            ys.append(ns["fastest"])
    return found


def line(axes: Any, name: str, xs: list[int], ys: list[float], lift: int = 0) -> None:
    """Named at its right end, in its own colour: no legend to look up."""
    axes.plot(xs, ys, color=COLOURS[name], marker="o", markersize=5, linewidth=2)
    label = f"{name.replace('in a Python loop', 'from Python')}\n{ys[-1]:,.0f} ns"
    beside(axes, label, (xs[-1], ys[-1]), (10, lift), color=COLOURS[name], va="center", fontweight="bold")


def beside(axes: Any, text: str, point: tuple[float, float], offset: tuple[int, int], **look: Any) -> None:
    axes.annotate(text, point, xytext=offset, textcoords="offset points", **look)


def headings(axes: Any, title: str, note: str) -> None:
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", pad=22)
    beside(axes, note, (0, 1), (0, 8), xycoords="axes fraction", fontsize=9, color=QUIET)


def ticks(axes: Any, places: list[int]) -> None:
    """At the measured places only."""
    axes.set_xticks(places, [short(place) for place in places])
    axes.minorticks_off()
    axes.set_xlim(places[0] / 1.4, places[-1] * 1.2)
    low, high = axes.get_ylim()
    axes.set_ylim(low / 1.3, high * 1.3)
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")


def short(number: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number // size}{letter}"
    return str(number)


def against_joints(axes: Any, report: dict[str, Any]) -> None:
    alike = [row for row in report["long_arms"] if not row.get("data")]
    states = min(row["states"] for row in alike)
    rows = [row for row in alike if row["states"] == states]
    axes.set(xscale="log", yscale="log", xlabel="joints")
    for name, (xs, ys) in series(rows, "joints").items():
        axes.plot(xs, [ys[0] * x / xs[0] for x in xs], color=FAINT, linewidth=1, linestyle="--", zorder=1)
        line(axes, name, xs, ys)
        for x, y in zip(xs, ys, strict=True):
            beside(axes, f"{y / x:.3g}", (x, y), (-4, 6), ha="right", fontsize=9, color=COLOURS[name])
    ticks(axes, [row["joints"] for row in rows])
    headings(
        axes,
        f"Inverse dynamics of general arms, batches of {states:,} states",
        "small numbers: ns per joint; dashed: if every joint cost what it costs in an arm of 6",
    )


def against_batch(axes: Any, report: dict[str, Any]) -> None:
    axes.set(xscale="log", yscale="log", xlabel="states in a batch")
    for name, (xs, ys) in series(report["batch_sizes"], "states").items():
        line(axes, name, xs, ys, LIFTS.get(name, 0))
    ticks(axes, [row["states"] for row in report["batch_sizes"]])
    headings(
        axes,
        "Inverse dynamics of the PUMA 560, called from Python",
        "the C++ core is called through ctypes, which shows in the smallest batches",
    )


if __name__ == "__main__":
    source = Path(sys.argv[1])
    found = json.loads(source.read_text())
    (draw_gpu if "batches" in found else draw)(found, source.parent)
