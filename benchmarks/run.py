"""`make bench`: the kernels beside the best of the others, one core, interleaved in one run, equality checked first.

Writes a dated JSON with processor, versions and commit, and two plots, to benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import plots
import widths
from candidates import SKIPPED
from cases import batch_sizes, batches, long_arms, single_call, single_precision
from compiled import CACHE
from kinematics_cases import inverse_kinematics
from rollout_cases import platform_rollouts, rollouts
from startup import first_use
from stewart_cases import assembly_modes, platform_cases
from threads import threads

import tauforge as tf
from tauforge.kernels.cpu.engine import host

HERE = Path(__file__).parent
LEVEL_2 = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")
PACKAGES = (
    "tauforge",
    "numpy",
    "llvmlite",
    "pin",
    "casadi",
    "mujoco",
    "jax",
    "roboticstoolbox-python",
    "adam-robotics",
)


def environment() -> dict[str, Any]:
    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True, check=False).stdout.strip()

    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": host().cpu,
        "vector_bits": host().vector_bits,
        "narrow_vector_bits": widths.BITS if widths.has_wider() else None,
        "level_2_cache": LEVEL_2.read_text().strip() if LEVEL_2.exists() else None,
        "python": platform.python_version(),
        "versions": {name: installed(name) for name in PACKAGES},
        "commit": git("rev-parse", "--short", "HEAD"),
        "source_changed_since": bool(git("status", "--porcelain", "--", "../src")),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="for every case; 6, or 1 with --quick")
    parser.add_argument("--quick", action="store_true", help="a look only: short, and written to cache, not to results")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    seconds = given.seconds or (1.0 if given.quick else 6.0)
    os.environ["TAUFORGE_CACHE"] = "off"  # every kernel is made from the source as it is now
    cores = sorted(os.sched_getaffinity(0))
    arm = tf.load("puma560").without_friction()
    report: dict[str, Any] = {"environment": environment(), "seconds_per_case": seconds}
    report["threads"] = threads(arm, 3 * seconds)  # longer, for all cores must be left alone at once
    os.sched_setaffinity(0, cores[-1:])
    report["batches"] = [*batches(arm, seconds), single_precision(arm, seconds), single_call(arm, seconds)]
    report["platforms"] = platform_cases(seconds)
    report["assembly_modes"] = assembly_modes()
    report["inverse_kinematics"] = inverse_kinematics(seconds)
    report["rollouts"] = rollouts(arm, seconds)
    report["platform_rollouts"] = platform_rollouts(seconds)
    report["batch_sizes"] = batch_sizes(arm, seconds, largest=100_000 if given.quick else 1_000_000)
    report["long_arms"] = long_arms(seconds)
    report["first_use"] = first_use(processes=2 if given.quick else 9)
    report["skipped"] = SKIPPED
    folder = CACHE if given.quick else HERE / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{report['environment']['date'][:10]}.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(path)
    plots.draw(report, folder)


if __name__ == "__main__":
    main()
