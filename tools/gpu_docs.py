"""Tables of what was measured on a GPU, for docs/gpu.md."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from pages import markdown

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results" / "gpu"
PRECISIONS = ("float32", "float64")


def newest(kind: str) -> dict[str, Any]:
    """The newest result of one kind: functions, rollouts, jax or batches."""
    found: dict[str, Any] = json.loads(max(RESULTS.glob(f"*-{kind}.json")).read_text(encoding="utf-8"))
    return found


def page_tables() -> str:
    """From the newest results of `benchmarks/gpu.py`, `gpu_rollouts.py` and `gpu_jax.py`."""
    report, rolled = newest("functions"), newest("rollouts")
    rollouts, gradients = rolled["rollouts"], rolled["gradients"]
    states, worlds, periods = report["functions"][0]["states"], rollouts[0]["worlds"], rollouts[0]["periods"]
    steps = [(r["dtype"], f"{r['G_steps_per_s']:.1f} G steps/s", f"{r['first_use_s']:.1f} s") for r in rollouts]
    slopes = [
        (r["by"], r["dtype"], f"{r['ratio']:.1f}", f"{r['G_steps_per_s']:.2f} G steps/s", f"{r['first_use_s']:.1f} s")
        for r in gradients
    ]
    return "\n".join(
        [
            f"{report['gpu']}, {report['date']}, {states:,} states:\n",
            markdown(
                ("robot", "function", "", "columns, share of copy", "rows, share of copy", "error"), functions(report)
            ),
            *([f"{report['note']}\n"] if "note" in report else []),
            f"PUMA under computed torque, RK4, {worlds:,} rows of {periods} steps:\n",
            markdown(("", "rate", "first use"), steps),
            "Such a rollout and its gradient, beside a rollout alone:\n",
            markdown(("gradient by", "", "times as long", "rate", "first use"), slopes),
            beside_jax(),
        ]
    )


def functions(report: dict[str, Any]) -> list[tuple[str, ...]]:
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in report["functions"]:
        key = (row["robot"], row["function"].replace("_", " "), row["dtype"])
        found.setdefault(key, {})[row["layout"]] = row["G_per_s"]
        found[key][f"{row['layout']} share"] = row["share_of_copy"]
        found[key]["error"] = max(row["error"] or math.nan, found[key].get("error", 0.0))
    return [
        (
            *key,
            *(f"{one[layout]:.1f} G/s, {one[f'{layout} share']:.0%}" for layout in ("columns", "rows")),
            "" if math.isnan(one["error"]) else f"{one['error']:.0e}",
        )
        for key, one in found.items()
    ]


def beside_jax() -> str:
    """JAX evaluates the same graphs on the same GPU."""
    report = newest("jax")
    rows = [
        (
            row["what"].replace("_", " "),
            row["dtype"],
            f"{row['tauforge_G_per_s']:.1f} G/s",
            f"{row['jax_G_per_s']:.1f} G/s",
            f"{row['ratio']:.1f}",
            f"{row['jax_first_use_s']:.1f} s",
        )
        for row in report["rows"]
    ]
    head = ("PUMA", "", "tauforge", "JAX", "times as fast", "first use of JAX")
    return f"JAX {report['jax']} evaluating the same graphs under `jit`, calls from Python included:\n\n" + markdown(
        head, rows
    )


def fastest(robot: str, function: str, dtype: str) -> dict[str, Any]:
    """The measurement of a function in its fastest layout."""
    rows = newest("functions")["functions"]
    return max(
        (row for row in rows if (row["robot"], row["function"], row["dtype"]) == (robot, function, dtype)),
        key=lambda row: row["G_per_s"],
    )


def summary_table() -> str:
    """The fastest layout of each function, and what JAX takes for the same."""
    report, rolled, jax = newest("functions"), newest("rollouts"), newest("jax")
    wanted = {
        ("puma560", "inverse_dynamics"): "PUMA: inverse dynamics",
        ("puma560", "forward_dynamics"): "PUMA: forward dynamics",
        ("puma560", "forward_dynamics_derivatives"): "PUMA: derivatives of forward dynamics",
        ("dasgupta1998", "inverse_dynamics"): "platform: inverse dynamics",
        ("dasgupta1998", "forward_dynamics"): "platform: forward dynamics",
    }
    ratios = {(row["what"], row["dtype"]): row["ratio"] for row in jax["rows"]}

    def beside(what: str) -> str:
        return " / ".join(f"{ratios[what, dtype]:.1f}" for dtype in PRECISIONS) if (what, "float32") in ratios else ""

    rows = []
    for (robot, name), label in wanted.items():
        best = {dtype: fastest(robot, name, dtype) for dtype in PRECISIONS}
        rates = [f"{best[dtype]['G_per_s']:.1f} ({best[dtype]['share_of_copy']:.0%})" for dtype in PRECISIONS]
        rows.append((label, *rates, beside(name) if robot == "puma560" else ""))
    steps = {row["dtype"]: f"{row['G_steps_per_s']:.1f}" for row in rolled["rollouts"]}
    label = "step of a rollout under computed torque"
    rows.append((label, *(steps[dtype] for dtype in PRECISIONS), beside("rollout under computed torque, steps")))
    slopes = {
        row["dtype"]: f"{row['G_steps_per_s']:.1f}" for row in rolled["gradients"] if row["by"] == "initial states"
    }
    rows.append(("the same and its gradient", *(slopes[dtype] for dtype in PRECISIONS), ""))
    head = ("G states/s, and share of a copy", *PRECISIONS, "times as fast as JAX")
    note = f" {report['note']}" if "note" in report else ""
    return markdown(head, rows) + f"\nMeasured on one {report['gpu']}, {report['date']}.{note}\n"
