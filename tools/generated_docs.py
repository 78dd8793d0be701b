"""Write the generated parts of README.md and of the pages in docs, and all of docs/complexity.md.

`--check` compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpu_docs
import tauforge as tf
from pages import markdown, settle, with_tables
from tauforge.analysis.complexity import general_cost, general_operation_count, operation_count
from tauforge.analysis.costs_by_line import line_costs
from tauforge_papers import published_counts as published
from tauforge_papers.lee1982 import control as lee1982
from tauforge_papers.lee1982 import tracking
from tauforge_papers.published_comparison import count_comparisons, step_comparison
from tauforge_papers.stewart_paths import FAST, SLOW, sampled
from tauforge_papers.stewart_tables import assumption_costs
from tauforge_papers.stewart_tables import flops_table as operations

Array = NDArray[np.float64]
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
STARTS, APART = 128, 1e-9  # runs of one row of the table of legs; their starts, m and rad
SURE = 6.0  # standard errors in the last digit: means of two machines differ by more in one of fifty thousand


def reasons(folder: str) -> str:
    """Four reasons for tauforge, with their newest measured values. folder: of the pages, from where this is read"""
    arms, mechanisms = (newest(kind) for kind in (".", "mechanisms"))
    one = next(c for c in arms["batches"] if (c["function"], c["states"]) == ("inverse_dynamics", 16384))
    delta = next(c for c in mechanisms["mechanisms"] if c["name"] == "Delta, six rods")["forward_dynamics"]
    call = next(c for c in arms["batches"] if c["states"] == 1)
    fast, closed, single = ({name: times["fastest"] for name, times in c["ns"].items()} for c in (one, delta, call))
    rate = gpu_docs.fastest("puma560", "inverse_dynamics", "float32")["G_per_s"]
    count = next(c for c in newest("instructions")["found"] if c["code"] == "ours")["most"]
    where = arms["environment"]
    widths = f"{where['vector_bits']}-bit or {where['narrow_vector_bits']}-bit vectors"
    return "".join(
        f"- **{title}** {text}\n"
        for title, text in (
            (
                "Fast.",
                f"Inverse dynamics of a PUMA 560 takes {fast['tauforge']:.0f} ns a state in a batch on one core; "
                f"Pinocchio's C++ takes {slower(fast, 'Pinocchio C++')} times as long ({widths}). A call from Python "
                f"takes {single['tauforge'] / 1e3:.1f} µs. [Measured]({folder}speed.md#measured)",
            ),
            (
                "Loops are never opened and nothing is stabilised.",
                "The equations are those of the independent motions, so a simulation does not drift. Forward dynamics "
                f"of a Delta robot with six rods takes {closed['tauforge']:.0f} ns; Pinocchio's `constraintDynamics` "
                f"takes {slower(closed, 'constraintDynamics')} times as long. [Mechanisms]({folder}mechanisms.md)",
            ),
            (
                "Formulations that check each other.",
                "Seven formulations for arms agree to 1e-12, and so do two exact models of the "
                "Stewart platform. Each is one readable file with the paper's equation numbers beside its lines. Tests "
                f"compare them with Pinocchio and MuJoCo, and [five papers]({folder}papers.md) are judged claim by "
                "claim.",
            ),
            (
                "C and GPU from the same source.",
                "The C99 for a controller has no allocation and no branches: that inverse dynamics "
                f"takes {count} instructions, whatever the state. An NVIDIA H200 computes {rate:.0f} billion states a "
                "second in float32. "
                f"[C]({folder}c-code.md), [GPU]({folder}gpu.md)",
            ),
        )
    )


def slower(ns: dict[str, float], other: str) -> str:
    """Times of another program over ours, with the vectors that serve us worst and best."""
    ratios = [
        ns.get(f"{other}{width}", ns[other]) / time
        for name, time in ns.items()
        if name.startswith("tauforge")
        for width in [name.removeprefix("tauforge")]
    ]
    return f"{min(ratios):.0f} to {max(ratios):.0f}"


def counts_table() -> str:
    puma = tf.load("puma560")
    rows = []
    for name in tf.FORMULATIONS:
        own, general = operation_count(puma, name), general_operation_count(6, name)
        multiplications, additions = general_cost(name)
        rows.append(
            (
                name,
                f"{own.multiplications} / {own.additions} + {own.sincos}",
                f"{general.multiplications} / {general.additions} + {general.sincos}",
                f"{multiplications} / {additions}",
            )
        )
    return markdown(("formulation", "PUMA 560", "general 6R", "general nR"), rows)


def speed_table() -> str:
    """From the newest result of `make bench`; with a column for narrower vectors if they were measured."""
    report = json.loads(max((ROOT / "benchmarks" / "results").glob("*.json")).read_text(encoding="utf-8"))
    where = report["environment"]
    wide, narrow = where["vector_bits"], where.get("narrow_vector_bits")
    steps = [
        {**report[key], "function": f"step of {whose} rollout under computed torque"}
        for key, whose in (("rollouts", "an arm's"), ("platform_rollouts", "a platform's"))
        if key in report
    ]
    rows = []
    for case in (*report["batches"], *report["platforms"], *steps):
        ns = {name: times["fastest"] for name, times in case["ns"].items()}
        own = [ns.pop("tauforge"), *([ns.pop(f"tauforge, {narrow}-bit vectors", None)] if narrow else [])]
        others = (f"{name} {' / '.join(f'{value / x:.0f} x' for x in own if x)}" for name, value in ns.items())
        times = ("" if x is None else f"{x:.1f} ns" for x in own)
        rows.append((case["function"].replace("_", " "), f"{case['states']:,}", *times, ", ".join(others)))
    widths = f"{wide}-bit and with {narrow}" if narrow else wide
    note = (
        "\nThe robots are the PUMA 560 without friction and the platform of Dasgupta 1998. Times are for one state on "
        f"one core of {where['cpu']} with {widths}-bit vectors, with ordinary row-major arrays ({where['date'][:10]}, "
        f"commit {where['commit']}). The last column says how many times longer the others take.\n"
    )
    columns = [f"tauforge, {bits}-bit" for bits in (wide, narrow)] if narrow else ["tauforge, per state"]
    return markdown(("function", "states", *columns, "others"), rows) + note


SHORT = {"inverse_dynamics": "inverse", "forward_dynamics": "forward"}


def mechanisms_table() -> str:
    """From the newest result of `benchmarks/mechanisms.py`."""
    report = newest("mechanisms")
    where = report["environment"]
    wide, narrow = where["vector_bits"], where.get("narrow_vector_bits")
    widths = ["", *([f", {narrow}-bit vectors"] if narrow else [])]
    rows = []
    for case in report["mechanisms"]:
        for name, label in SHORT.items():
            found = case[name]
            ns = {key: times["fastest"] for key, times in found["ns"].items()}
            mine = [ns[f"tauforge{width}"] for width in widths]
            others = []
            for key in (key for key in ns if key != "tauforge" and not key.endswith("-bit vectors")):
                theirs = [ns.get(f"{key}{width}", ns[key]) for width in widths]
                ratios = " / ".join(f"{x / y:.3g} x" for x, y in zip(theirs, mine, strict=True))
                others.append(f"{key} {ratios}")
            operations = f"{found['multiplications']} / {found['additions']} + {found['sincos']}"
            seconds = duration(found["first_use_s"])
            times = " / ".join(f"{x:.0f}" for x in mine)
            rows.append((case["name"], case["joints"], label, operations, f"{times} ns", seconds, ", ".join(others)))
    bits = f"{wide}-bit / {narrow}-bit" if narrow else f"{wide}-bit"
    note = (
        f"\nOne core of {where['cpu']}, {bits} vectors, {report['states']:,} states, ordinary row-major arrays "
        f"({where['date'][:10]}, commit {where['commit']}); {loaded(report)} Multiplications / additions + sines and "
        "cosines are those of one state; the first use traces and compiles. The last column says how many times longer "
        "the others take: Pinocchio's C++ with `-O3 -march=native`, and for the 6-UPS our own `StewartPlatform`.\n"
    )
    head = ("mechanism", "joints", "dynamics", "operations", "per state", "first use", "others")
    return markdown(head, rows) + note


def compile_table() -> str:
    """From the newest result of `benchmarks/compile_times.py`."""
    report = newest("compile-times")
    where = report["environment"]
    rows = []
    for case in report["mechanisms"]:
        own = case["seconds"]
        times = ("" if key not in own else duration(own[key]) for key in ("construction", *SHORT))
        rows.append((case["name"], case["joints"], case["freedom"], *times))
    note = (
        f"\nProcess time without a cache on one core of {where['cpu']}, every mechanism in a process of its own "
        f"({where['date'][:10]}, commit {where['commit']}); {loaded(report)} A mechanism without actuators has no "
        "inverse dynamics.\n"
    )
    return markdown(("mechanism", "joints of the tree", "freedom", "made", "inverse", "forward"), rows) + note


def mechanism_rollouts_table() -> str:
    """From the newest result of `benchmarks/mechanism_rollouts.py`."""
    report = newest("mechanism_rollouts")
    where = report["environment"]
    rows = []
    for case in report["mechanisms"]:
        mine, methods = (case["ns"][name]["fastest"] for name in ("tauforge", "step by step"))
        times = (f"{mine:.0f} ns", f"{1e3 / mine:.2g} million", f"{methods:.0f} ns", f"{methods / mine:.1f} x")
        rows.append((case["name"], f"{case['operations']:,}", *times, duration(case["first_use_s"])))
    note = (
        f"\nOne core of {where['cpu']}, {where['vector_bits']}-bit vectors, {report['worlds']:,} rows under computed "
        f"torque that is asked in every step ({where['date'][:10]}, commit {where['commit']}); {loaded(report)} "
        "Measured by `python mechanism_rollouts.py` in `benchmarks`. Operations are those of a step; without compiled "
        "steps law and dynamics are called one after the other for all rows; the first use traces and compiles.\n"
    )
    head = ("mechanism", "operations", "a step", "steps a second", "not compiled", "", "first use")
    return markdown(head, rows) + note


def loaded(report: dict[str, Any]) -> str:
    """What else the machine did."""
    if report["load_average"] < 1.5:
        return "the machine did nothing else."
    return f"the machine was busy (load {report['load_average']:.0f}), so ratios say more than times."


def verdict_table() -> str:
    """Errors of every simplification on the papers' paths, by the library itself."""
    paths = [sampled("path I (6 s)", SLOW), sampled("path II (0.6 s)", FAST)]
    costs = assumption_costs(tf.load("dasgupta1998"), paths)
    rows = [("largest exact force", "", *(f"{peak:.0f}" for peak in costs.peaks))]
    rows += [
        (chosen.name, chosen.source, f"{slow:.2f}", f"{fast:.1f}") for chosen, (slow, fast) in costs.errors.items()
    ]
    return markdown(("assumption, everything else exact", "source", *costs.paths), rows)


def flops_table() -> str:
    table = operations(tf.load("dasgupta1998"))
    rows = [["" if cell is None else cell for cell in row] for row in table.rows]
    return markdown(("inverse dynamics of Dasgupta's robot", *table.columns[1:]), rows)


def lee_table() -> str:
    """Errors of the PUMA under computed torque against duration and sampling period, without and with rotors."""
    rows = []
    for rotors, arm in lee1982.ARMS.items():
        for duration, measured, estimated in zip(tracking.DURATIONS, *tracking.errors(rotors), strict=True):
            cells = (f"{error:.1e} ({guess:.1e})" for error, guess in zip(measured, estimated, strict=True))
            rows.append((arm, f"{duration:.0f} s", *cells))
    return markdown(("arm", "duration", *(f"every {period} s" for period in tracking.PERIODS)), rows)


def held(values: Array) -> str:
    """The mean of a sample, to the digits that another sample holds too, two at most."""
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(len(values))
    size = np.floor(np.log10(mean))
    decimals = 1 if error == 0 else min(1, int(size - np.ceil(np.log10(SURE * error))))
    if decimals < 0:
        raise ValueError(f"{mean:.1e} +- {error:.1e} holds no digit: expected more than {len(values)} values")
    return f"{mean:.{decimals}e}"


def legs_table() -> str:
    """Dasgupta's platform along path I, controlled in its legs with forward kinematics in the loop.

    A converter turns the last digit of a length into a whole step now and then, and the runs part from there: which way
    they go is chance, and differs between processors. So each row is the mean of many runs from starts that hardly
    differ.
    """
    platform, period = tf.load("dasgupta1998"), 5e-3
    scatter = APART * np.random.default_rng(0).normal(size=(STARTS, 6))
    initial = SLOW.sample(0.0).position + scatter, np.zeros((STARTS, 6))
    rows = []
    for resolution in (0.0, 1e-6, 1e-5, 1e-4):
        law = tf.control.LegSpaceComputedTorque(platform, resolution=resolution)
        run = tf.rollout(platform, law, SLOW, initial=initial, step=period, control_period=period)
        errors = np.abs(run.error)
        cells = (held(errors[..., part].max(axis=(1, 2))) for part in (slice(0, 3), slice(3, 6)))
        rows.append(("exact" if not resolution else f"{resolution * 1e6:g} um", *cells))
    return markdown(("leg lengths", "largest error of x, y, z, m", "of the angles, rad"), rows)


def page() -> str:
    parts = [
        "# What the formulations cost\n\n"
        "`make docs` counts these multiplications / additions of one inverse dynamics from the source itself. Sums and "
        "differences are additions; negations and products with 0, 1 and -1 are free; what follows from the robot's "
        "parameters alone is precomputed; sines and cosines are counted apart. Bodies are rigid, the base is at rest "
        "and gravity is along the first axis. *As written* counts every operation of the source, *traced* shares "
        "common subexpressions and drops dead code. The general arm has n revolute joints and no known parameter.\n\n"
        "## As functions of n\n\n"
    ]
    rows = []
    for name in tf.FORMULATIONS:
        traced, written = general_cost(name), general_cost(name, as_written=True)
        rows.append((name, f"{traced[0]} / {traced[1]}", f"{written[0]} / {written[1]}"))
    parts.append(markdown(("formulation", "traced", "as written"), rows))
    parts.append("\n## Beside the papers, n = 6\n\n")
    counts = count_comparisons(6)
    steps = step_comparison(6)
    rows = [
        (r.source, r.formulation, *(f"{a} / {b}" for a, b in (r.printed, r.as_written, r.traced)), r.why)
        for r in counts
    ]
    path = f"{steps.critical_path[0]} / {steps.critical_path[1]} (critical path)"
    printed = f"{steps.printed[0]} / {steps.printed[1]}"
    rows.append(("Turney Table 5, steps", "modified-newton-euler", printed, "", path, steps.why))
    parts.append(markdown(("printed in", "formulation", "printed", "as written", "traced", "why they differ"), rows))
    parts.append("\n## The papers' tables, row by row\n\n")
    for table in published.BREAKDOWNS:
        sums = table.sums()
        verdict = "adds up" if table.adds_up() else f"differs: rows sum to {sums.multiplications} / {sums.additions}"
        parts.append(f"### {table.title}\n\n")
        parts.append(markdown(("item", "multiplications", "additions"), [*table.rows, table.total]))
        parts.append(f"\nThe printed total {verdict}. {table.erratum}".rstrip() + "\n\n")
    parts.append("### Angeles Tables 7.3 and 7.4\n\n")
    formulas = {row.item: row for row in published.ANGELES_7_3}
    rows = []
    for item, (multiplications, additions) in published.ANGELES_7_4.items():
        formula = formulas.get(item)
        text = "" if formula is None else f"{formula.multiplications} / {formula.additions}"
        rows.append((item, text, f"{multiplications} / {additions}"))
    ours = general_operation_count(6)
    rows.append(
        ("tauforge, joint-frames, traced", " / ".join(map(str, general_cost("joint-frames"))), f"{ours[0]} / {ours[1]}")
    )
    parts.append(markdown(("authors and method", "n", "n = 6, as printed"), rows))
    parts.append(f"\n{published.ANGELES_7_4_ERRATUM}\n\n## Our sources, line by line, as written\n")
    for name in tf.FORMULATIONS:
        parts.append(f"\n### {name}\n\n")
        rows = [(f"`{cost.text}`", cost.multiplications, cost.additions) for cost in line_costs(name)]
        parts.append(markdown(("line", "multiplications", "additions"), rows))
    return "".join(parts)


def newest(folder: str) -> dict[str, Any]:
    """The newest result in a folder of benchmarks/results."""
    path = max((ROOT / "benchmarks" / "results" / folder).glob("*.json"))
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def differentiable_table() -> str:
    """From the newest result of `benchmarks/differentiable.py`."""
    report = newest("differentiable")
    seconds, versions = report["seconds"], report["versions"]
    names = {"jax": "JAX", "torch": "torch"}
    labels = dict.fromkeys(label for library in names for label in seconds.get(library, {}))
    rows = [
        (label, *(duration(seconds[key][label]) if label in seconds.get(key, {}) else "" for key in names))
        for label in labels
    ]
    title = ", ".join(f"{names[key]} {versions[key].partition('+')[0]}" for key in names if key in versions)
    where = f"{report['cores']} cores of {report['cpu']}, {report['date']}, commit {report['commit']}"
    return f"The PUMA on {where}; {title}:\n\n" + markdown(("", *names.values()), rows)


def duration(seconds: float) -> str:
    """Two digits, in the unit that fits."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.1 * factor or factor == 1e-6:
            return f"{float(f'{seconds / factor:.2g}'):g} {unit}"
    raise AssertionError


CODES = {
    "ours": "exported",
    "casadi": "CasADi's C of the same formula, sines of glibc",
    "pinocchio": "Pinocchio's `rnea`, C++",
}


def instructions_table() -> str:
    """From the newest result of `benchmarks/instructions.py`."""
    report = newest("instructions")
    scales = list(report["found"][0]["mean_by_scale_of_angles"])
    rows = []
    for one in report["found"]:
        flags = " ".join(flag for flag in one["flags"].split()[1:] if not flag.startswith("-std"))
        means = (f"{one['mean_by_scale_of_angles'][scale]:.0f}" for scale in scales)
        rows.append((CODES[one["code"]], f"`{flags}`", *means, f"{one['states']:,}"))
    names = (f"{scale.replace('e+0', 'e')} rad" for scale in scales)
    return f"{report['compiler']}, {report['machine']}, {report['date']}:\n\n" + markdown(
        ("code", "flags", *names, "states"), rows
    )


def main() -> int:
    tables = {
        ROOT / "README.md": {"reasons": reasons("docs/")},
        DOCS / "index.md": {"reasons": reasons("")},
        DOCS / "speed.md": {"speed": speed_table(), "mechanisms": mechanisms_table()},
        DOCS / "formulations.md": {"counts": counts_table()},
        DOCS / "stewart.md": {"verdicts": verdict_table(), "flops": flops_table()},
        DOCS / "lee-puma.md": {"lee": lee_table(), "legs": legs_table()},
        DOCS / "gpu.md": {"gpu_summary": gpu_docs.summary_table(), "gpu": gpu_docs.page_tables()},
        DOCS / "differentiable.md": {"differentiable": differentiable_table()},
        DOCS / "c-code.md": {"instructions": instructions_table()},
        DOCS / "mechanisms.md": {"mechanism_rollouts": mechanism_rollouts_table(), "compile": compile_table()},
    }
    written = {path: with_tables(path.read_text(encoding="utf-8"), parts) for path, parts in tables.items()}
    written[DOCS / "complexity.md"] = page()
    return settle(written)


if __name__ == "__main__":
    raise SystemExit(main())
