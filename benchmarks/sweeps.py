"""A sweep over many poses of a platform: `python sweeps.py` prints its rate, its memory and what writing costs.

It computes leg lengths, holding forces, all limits and the condition number, and stores the limit's code (uint8), the
condition number and the largest force (float32). The same study by the methods of an older commit (--old, from the
repository's history) is timed on the same machine at equal threads, in turn with ours, on a part of the grid.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OLD = "48afce8"
NEEDED_THEN = "lazy_loader"  # by that commit, and no longer by us
SAMPLE = 100_000  # poses by the older methods
TURNS = 5
BY_METHODS = f"""
import time
import numpy as np
import tauforge as tf

rig = tf.load("motion-rig")
grid = np.stack(np.meshgrid(*(np.linspace(-0.3, 0.3, 10) for _ in range(5)), indexing="ij"), -1).reshape(-1, 5)
pose = np.insert(grid, 2, 1.0, axis=1)[: {SAMPLE}]
pose = np.ascontiguousarray(pose)
zero = np.zeros(6)


def study(pose):
    lengths = rig.inverse_kinematics(pose)
    forces = rig.inverse_dynamics(pose, zero, zero, on_singular="nan")
    found = rig.within_limits(pose, forces)
    condition = rig.condition_number(pose)
    margins = [found.stroke, found.base_cone, found.platform_cone, found.clearance[:, None], found.force]
    exceeded = np.concatenate(margins, axis=1) < 0
    code = np.where(exceeded.any(axis=1), exceeded.argmax(axis=1) + 1, 0).astype(np.uint8)
    return code, condition.astype(np.float32), np.abs(forces).max(axis=1).astype(np.float32), lengths


study(pose[:100])
began = time.perf_counter()
for start in range(0, len(pose), 8192):
    study(pose[start : start + 8192])
print((time.perf_counter() - began) / len(pose))
"""
BY_SWEEP = f"""
import time
import numpy as np
import tauforge as tf
from tauforge.kernels.cpu.threads import on_this_thread

axes = [tf.sweeps.Axis(name, np.linspace(-0.3, 0.3, 10)) for name in ("x", "y", "theta_x", "theta_y", "theta_z")]
study = tf.sweeps.ready_study("workspace", tf.load("motion-rig"), axes, at={{"z": 1.0}})
grid = np.stack(np.meshgrid(*(axis.values for axis in axes), indexing="ij"), -1).reshape(-1, 5)[: {SAMPLE}]
block = {{axis.name: np.ascontiguousarray(grid[:, k]) for k, axis in enumerate(axes)}}
study.compute({{name: x[:100] for name, x in block.items()}})
began = time.perf_counter()
study.compute(block)
print((time.perf_counter() - began) / len(grid))
"""
WHOLE = """
import json, resource, sys, time
import numpy as np
import tauforge as tf

points, store, threads = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
across = round((points / 100) ** 0.5)
axes = [
    tf.sweeps.Axis("x", np.linspace(-0.4, 0.4, across)),
    tf.sweeps.Axis("y", np.linspace(-0.4, 0.4, across)),
    tf.sweeps.Axis("z", np.linspace(0.7, 1.3, 100)),
]
study = tf.sweeps.ready_study("workspace", tf.load("motion-rig"), axes)
if store == "none":
    from concurrent.futures import ThreadPoolExecutor

    from tauforge.kernels.cpu.threads import on_this_thread
    from tauforge.sweeps.grid import grid_of

    grid = grid_of([len(axis) for axis in axes], study.block_points)

    def work(index):
        with on_this_thread():
            study.computed(grid.coordinates(study.axes, index))

    study.compute({axis.name: axis.values[:1] for axis in axes})
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, np.ndindex(*grid.counts)))
    seconds = time.perf_counter() - began
else:
    seconds = tf.sweeps.run(study, store, threads=threads, progress=False).seconds
count = across * across * 100
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"points": count, "seconds": seconds, "points_per_s": count / seconds, "peak_MiB": peak}))
"""


def python(code: str, *arguments: str, path: Path | None = None, threads: int = 1) -> str:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "TAUFORGE_THREADS": str(threads)}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def beside_older_methods(commit: str) -> dict[str, Any]:
    """Seconds a pose on one thread, the older methods and ours in turn."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "src"], cwd=HERE.parent, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", f"{folder}/src"]
        subprocess.run([*install, NEEDED_THEN], check=True)
        pairs = [
            (float(python(BY_METHODS, path=Path(folder, "src"))), float(python(BY_SWEEP, path=HERE.parent / "src")))
            for _ in range(TURNS)
        ]
    ratios = [old / new for old, new in pairs]
    return {
        "commit": commit,
        "threads": 1,
        "older_ns_per_pose": [1e9 * old for old, _ in pairs],
        "ns_per_pose": [1e9 * new for _, new in pairs],
        "ratios": ratios,
        "median_ratio": statistics.median(ratios),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=float, default=1e8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--old", default=OLD)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        part = str(int(given.points / 10))
        turns = []
        for k in range(3):
            for name in ("none", str(folder / f"{k}.zarr")):
                turns.append(json.loads(python(WHOLE, part, name, str(given.threads), path=HERE.parent / "src")))
        without, with_writing = turns[::2], turns[1::2]
        shares = [a["points_per_s"] / b["points_per_s"] for a, b in zip(with_writing, without, strict=True)]
        store = folder / "whole.zarr"
        whole = json.loads(
            python(WHOLE, str(int(given.points)), str(store), str(given.threads), path=HERE.parent / "src")
        )
        whole["GB_stored"] = sum(f.stat().st_size for f in store.rglob("*") if f.is_file()) / 1e9
    finally:
        shutil.rmtree(folder)
    report = {
        "date": time.strftime("%Y-%m-%d"),
        "robot": "motion-rig",
        "threads": given.threads,
        "whole": whole,
        "without_writing": without,
        "with_writing": with_writing,
        "share_of_the_rate_without_writing": statistics.median(shares),
        "beside_older_methods": beside_older_methods(given.old),
    }
    text = json.dumps(report, indent=1)
    print(text)
    if given.json:
        given.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
