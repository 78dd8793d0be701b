"""Two checkouts side by side: every case in both, in turns, and the ratio of their times with its 95 % interval.

    python two_commits.py BEFORE [AFTER] [--rounds 21] [--json FILE]

BEFORE and AFTER are checkouts (folders with src/tauforge); AFTER is this one unless it is given. Each side runs in a
process of its own with the interpreter that runs this file, and only one of them works at a time. A round times every
case once on each side, in alternating order; a ratio is that of one round, so that a disturbance of the machine falls
on both. Each round has new processes: where memory lies differs from one to the next, and large results show it. Only
public names are used, so that commits far apart can be compared.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
RESAMPLES = 10_000  # of the bootstrap
ALLOWED = 1.03
FIRST_USES = {
    "puma560 inverse dynamics": "tf.load('puma560').inverse_dynamics(*np.zeros((3, 6)))",
    "puma560 forward dynamics": "tf.load('puma560').forward_dynamics(*np.zeros((3, 6)))",
    "puma560 forward derivatives": "tf.load('puma560').forward_dynamics_derivatives(*np.zeros((3, 6)))",
    "platform inverse dynamics": "tf.load('dasgupta1998').inverse_dynamics(np.eye(6)[2], *np.zeros((2, 6)))",
    "platform forward dynamics": "tf.load('dasgupta1998').forward_dynamics(np.eye(6)[2], *np.zeros((2, 6)))",
    "five-bar forward dynamics": "(m := tf.load('five-bar')).forward_dynamics(m.home, *np.zeros((2, 2)))",
    "delta inverse dynamics": "(m := tf.load('delta')).inverse_dynamics(m.home, *np.zeros((2, 3)))",
}


def cases() -> dict[str, tuple[Callable[[], Any], int]]:
    """What one call does, and how many pieces that are; run in the process of one side."""
    import tauforge as tf

    def times(count: int, call: Callable[[], Any]) -> Callable[[], Any]:
        def loop() -> None:
            for _ in range(count):
                call()

        return loop

    tf.set_threads(1)
    rng = np.random.default_rng(0)
    arm, platform = tf.load("puma560"), tf.load("dasgupta1998")
    many = 20_000
    q, qd, qdd = rng.normal(size=(3, many, 6))
    pose = np.array([0.1, 0.0, 1.0, 0.1, 0.2, 0.1]) + 0.05 * rng.normal(size=(many, 6))
    twist, acceleration = rng.normal(size=(2, many, 6))
    forces, lengths = platform.inverse_dynamics(pose, twist, acceleration), platform.inverse_kinematics(pose)
    one, at = (q[0].copy(), qd[0].copy(), qdd[0].copy()), (pose[0].copy(), twist[0].copy(), acceleration[0].copy())
    small = tuple(x[:64].copy() for x in (q, qd, qdd))
    free = arm.without_friction()  # Coulomb friction cannot be integrated
    law = tf.control.ComputedTorque(free)
    move = tf.motion.JointMove(np.zeros(6), np.full(6, 0.5), 0.1)
    rig_law = tf.control.ComputedTorque(platform)
    rig_move = tf.motion.PoseMotion(tf.motion.JointMove(pose[0], pose[0] + 0.01, 0.01))
    of_mechanisms: dict[str, tuple[Callable[[], Any], int]] = {}
    for name in ("five-bar", "delta", "hexapod-6rus"):
        m = tf.load(name)
        x, rates, accelerations = m.random_states(many, 0)
        force = m.inverse_dynamics(x, rates, accelerations)
        for what, given in (("inverse", accelerations), ("forward", force)):
            call = functools.partial(getattr(m, f"{what}_dynamics"), x, rates, given)
            single = functools.partial(getattr(m, f"{what}_dynamics"), x[0].copy(), rates[0].copy(), given[0].copy())
            of_mechanisms[f"batch, {name} {what} dynamics"] = call, many
            of_mechanisms[f"one call, {name} {what} dynamics"] = times(5000, single), 5000

    return {
        "one call, arm inverse dynamics": (times(5000, lambda: arm.inverse_dynamics(*one)), 5000),
        "one call, arm forward dynamics": (times(5000, lambda: arm.forward_dynamics(*one)), 5000),
        "one call, platform inverse dynamics": (times(5000, lambda: platform.inverse_dynamics(*at)), 5000),
        "64 states, arm inverse dynamics": (times(500, lambda: arm.inverse_dynamics(*small)), 500 * 64),
        "batch, arm inverse dynamics": (times(5, lambda: arm.inverse_dynamics(q, qd, qdd)), 5 * many),
        "batch, arm forward dynamics": (times(5, lambda: arm.forward_dynamics(q, qd, qdd)), 5 * many),
        "batch, arm mass matrix": (times(5, lambda: arm.mass_matrix(q)), 5 * many),
        "batch, arm inverse derivatives": (lambda: arm.inverse_dynamics_derivatives(q, qd, qdd), many),
        "batch, arm forward derivatives": (lambda: arm.forward_dynamics_derivatives(q, qd, qdd), many),
        "batch, arm joint wrenches": (lambda: arm.joint_wrenches(q, qd, qdd), many),
        "batch, arm regressor": (lambda: arm.regressor(q, qd, qdd), many),
        "batch, platform inverse dynamics": (lambda: platform.inverse_dynamics(pose, twist, acceleration), many),
        "batch, platform forward dynamics": (lambda: platform.forward_dynamics(pose, twist, forces), many),
        "batch, platform inverse kinematics": (times(5, lambda: platform.inverse_kinematics(pose)), 5 * many),
        "batch, platform forward kinematics": (lambda: platform.forward_kinematics(lengths, pose + 1e-3), many),
        "batch, platform condition number": (lambda: platform.condition_number(pose[:5000]), 5000),
        "batch, platform joint reactions": (lambda: platform.joint_reactions(pose, twist, acceleration), many),
        "rollout, arm step": (
            lambda: tf.rollout(free, law, move, initial=(q[:2000] * 0.1, qd[:2000] * 0), control_period=1e-3),
            2000 * 100,
        ),
        "rollout, platform step": (
            lambda: tf.rollout(platform, rig_law, rig_move, initial=(pose[:500], twist[:500] * 0), control_period=1e-3),
            500 * 10,
        ),
        "simulate, arm step": (lambda: tf.simulate(free, law, move), 100),
        "simulate, platform step": (lambda: tf.simulate(platform, rig_law, rig_move), 10),
        **of_mechanisms,
    }


def serve() -> None:
    """The process of one side: reads names of cases, answers with ns for a piece."""
    found = cases()
    for call, _ in found.values():
        call()
    print(json.dumps(list(found)), flush=True)
    for line in sys.stdin:
        call, pieces = found[json.loads(line)]
        call()  # finds the caches full of the other side's data
        start = time.perf_counter()
        call()
        print(json.dumps((time.perf_counter() - start) / pieces * 1e9), flush=True)


class Side:
    """One checkout and its process."""

    def __init__(self, checkout: Path, folder: str) -> None:
        self.environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "TAUFORGE_CACHE": folder}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def case(self, name: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(name) + "\n")
        self.process.stdin.flush()
        return float(self._answer())

    def first_use(self, expression: str, *, compiled: bool) -> float:
        """ns from the start of `import tauforge` to the answer, in a new process; with or without a filled cache."""
        code = (
            "import time, numpy as np; start = time.perf_counter(); import tauforge as tf; "
            f"{expression}; print(time.perf_counter() - start)"
        )
        environment = self.environment if compiled else {**self.environment, "TAUFORGE_CACHE": "off"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout) * 1e9


def interval(ratios: np.ndarray) -> tuple[float, float]:
    """95 % of the medians of resampled rounds."""
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(ratios, (RESAMPLES, len(ratios))), axis=1)
    low, high = np.quantile(medians, (0.025, 0.975))
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("after", type=Path, nargs="?", default=HERE.parent)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        folders = ((given.before, one), (given.after, other))
        sides = [Side(*folder) for folder in folders]
        tasks: dict[str, Callable[[Side], float]] = {}
        for name in sides[0].names:
            tasks[name] = lambda side, name=name: side.case(name)
        for name, expression in FIRST_USES.items():
            for compiled in (True, False):
                what = f"first use, {'cached' if compiled else 'compiled'}: {name}"
                tasks[what] = lambda side, e=expression, c=compiled: side.first_use(e, compiled=c)
        tasks = {name: task for name, task in tasks.items() if given.only in name}
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in tasks}
        for k in range(given.rounds):
            if k:
                sides = [Side(*folder) for folder in folders]
            for name, task in tasks.items():
                if k % 2:
                    after, before = task(sides[1]), task(sides[0])
                else:
                    before, after = task(sides[0]), task(sides[1])
                times[name].append((before, after))
            for side in sides:
                side.process.kill()
            print(f"round {k + 1} of {given.rounds}", file=sys.stderr)
    rows = []
    for name, pairs in times.items():
        before, after = np.array(pairs).T
        low, high = interval(after / before)
        ratio = float(np.median(after / before))
        rows.append({"case": name, "before_ns": np.median(before), "after_ns": np.median(after), "ratio": ratio})
        rows[-1] |= {"low": low, "high": high, "holds": bool(low <= ALLOWED)}
    print(f"{'case':45} {'before':>12} {'after':>12} {'ratio':>7}  95 % interval")
    for row in rows:
        mark = "" if row["holds"] else "  SLOWER"
        print(
            f"{row['case']:45} {row['before_ns']:9.1f} ns {row['after_ns']:9.1f} ns {row['ratio']:7.3f}  "
            f"{row['low']:.3f} to {row['high']:.3f}{mark}"
        )
    if given.json:
        given.json.write_text(json.dumps({"rounds": given.rounds, "allowed": ALLOWED, "cases": rows}, indent=1))


if __name__ == "__main__":
    main()
