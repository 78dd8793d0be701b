"""What a search over designs costs: 100,000 designs of a platform, each judged at 20 states.

`python designs.py` writes results/designs/DATE.json. 200 of the designs are compared with those of
`designs.redesign`, one by one. Wall time depends on what else the machine does, so processor time is written beside it.
The first call in a fresh process, with an empty kernel cache, is timed apart. The peak memory is what a call with all
designs adds to a process that has judged 1,000 of them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import resource
import statistics
import subprocess
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
DESIGNS, STATES, COMPARED, REPEATS = 100_000, 20, 200, 9
MEASURES = ("condition", "mean_condition", "stiffness", "force", "within_limits")
BOUNDS = {
    "base_radius": (0.7, 1.1),
    "base_angle": (0.1, 0.9),
    "platform_radius": (0.4, 0.8),
    "platform_angle": (0.1, 0.9),
    "longest_leg": (1.2, 1.5),
    "z": (0.95, 1.15),
}
TOLERANCE = 1e-12  # relative


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the designs, nothing written")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TAUFORGE_CACHE"] = cache
        found = measured(DESIGNS // 10 if quick else DESIGNS)
    text = json.dumps(found, indent=2) + "\n"
    print(text, end="")
    if not quick:
        folder = HERE / "results" / "designs"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{found['date']}.json").write_text(text, encoding="utf-8")


def measured(count: int) -> dict[str, object]:
    import tauforge as tf
    from tauforge.kernels.cpu.engine import host

    rig = tf.load("motion-rig")
    states = tf.designs.states_around(rig, STATES)
    rng = np.random.default_rng(0)
    designs = {name: rng.uniform(low, high, count) for name, (low, high) in BOUNDS.items()}
    started = time.perf_counter()
    tf.designs.evaluate(rig, {name: x[:1000] for name, x in designs.items()}, MEASURES, states=states)
    first = time.perf_counter() - started
    before = peak_memory()
    values = tf.designs.evaluate(rig, designs, MEASURES, states=states)
    added = peak_memory() - before
    walls, processors = [], []
    for _ in range(REPEATS):
        wall, processor = time.perf_counter(), time.process_time()
        tf.designs.evaluate(rig, designs, MEASURES, states=states)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    error = largest_error(rig, designs, values, states)
    assert error < TOLERANCE, error
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "designs": count,
        "states": STATES,
        "measures": MEASURES,
        "seconds": min(walls),
        "median_seconds": statistics.median(walls),
        "processor_seconds": min(processors),
        "first_call_of_1000_seconds": first,
        "peak_memory_added_MiB": round(added / 2**20, 1),
        "compared_with_redesigned": COMPARED,
        "largest_relative_error": error,
        "threads": tf.get_threads(),
        "load_average": os.getloadavg()[0],
        "cpu": host().cpu,
        "vector_bits": host().vector_bits,
        "python": platform.python_version(),
        "numpy": version("numpy"),
    }


def largest_error(rig: object, designs: dict, values: dict, states: object) -> float:
    """The largest relative difference of a measure between the family and single robots, by their own methods."""
    os.environ["TAUFORGE_KERNELS"] = "0"  # each of them would be compiled
    worst = 0.0
    for i in np.linspace(0, len(designs["z"]) - 1, COMPARED).astype(int):
        row = {name: float(x[i]) for name, x in designs.items()}
        home = states.home.copy()
        home[2] = row.pop("z")
        robot, poses = rig.designs.redesign(**row), home + states.offsets
        condition = robot.condition_number(poses)
        forces = np.abs(robot.holding_forces(poses))
        holds = (robot.bounds.margins(poses) >= 0).all(axis=1) & (forces <= np.array(robot.force_limit)).all(axis=1)
        smallest = np.linalg.svd(robot.force_matrix(poses), compute_uv=False)[:, -1].min()
        expected = (condition.max(), condition.mean(), smallest**2, forces.max(), holds.mean())
        for name, value in zip(MEASURES, expected, strict=True):
            worst = max(worst, float(abs(values[name][i] - value)) / max(float(value), 1e-300))
    return worst


def peak_memory() -> int:
    """Bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
