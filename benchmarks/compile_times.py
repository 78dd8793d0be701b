"""How long mechanisms take until their first answer: construction, and tracing and compiling of their dynamics.

All mechanisms of the catalogue, and random trees of hinges with full inertias. Without a cache, on one core, in process
time, every go in a process of its own. Writes benchmarks/results/compile-times.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import tauforge as tf

HERE = Path(__file__).parent
TREES = (4, 8, 16, 24, 32)
BRANCHING = 0.25  # share of the links that do not hang from the last one
FUNCTIONS = ("inverse_dynamics", "forward_dynamics")


def random_tree(joints: int) -> tf.Mechanism:
    """Hinges in any direction, the worst case of a tree: no axis is parallel to another."""
    rng = np.random.default_rng(joints)
    bodies, hinges = [], []
    for k in range(joints):
        at = rng.uniform(-1, 1, 3)
        root = rng.normal(size=(3, 3))
        inertia = np.trace(root @ root.T) * np.eye(3) - root @ root.T  # of some body: no triangle is violated
        bodies.append(tf.Body(f"b{k}", 1.0, (at + 0.1).tolist(), inertia.tolist()))
        inner = int(rng.integers(k)) if k and rng.random() < BRANCHING else k - 1
        parent = "ground" if inner < 0 else f"b{inner}"
        axis = rng.normal(size=3).tolist()
        hinges.append(tf.Hinge(f"j{k}", parent, f"b{k}", at=at.tolist(), axis=axis, actuated=True))
    return tf.Mechanism(bodies=bodies, joints=hinges, name=f"random tree, {joints} hinges")


def made(name: str) -> tf.Mechanism:
    """A mechanism of the catalogue, or the random tree with this number of joints."""
    robot = random_tree(int(name)) if name.isdigit() else tf.load(name)
    assert isinstance(robot, tf.Mechanism)
    return robot


def measured(name: str) -> dict[str, Any]:
    """In this process, which must not have made the robot before: kernels are kept as long as a robot uses them."""
    random_tree(2).kernel("inverse_dynamics").loaded(64)  # the compiler's import is not their cost
    started = time.process_time()
    m = made(name)
    seconds = {"construction": time.process_time() - started}
    nodes = {}
    for function in FUNCTIONS:
        if function != "inverse_dynamics" or len(m.actuators) >= m.n:
            started = time.process_time()
            m.kernel(function).loaded(64)
            seconds[function] = time.process_time() - started
            nodes[function] = len(m.specification(function).graph.nodes)
    return {"name": m.name, "joints": len(m.model.frames), "freedom": m.n, "seconds": seconds, "nodes": nodes}


def in_processes(name: str, goes: int) -> dict[str, Any]:
    """The least of several processes."""
    rows = []
    for _ in range(goes):
        done = subprocess.run(
            [sys.executable, __file__, "--one", name],
            env=os.environ | {"TAUFORGE_CACHE": "off"},
            capture_output=True,
            text=True,
            check=True,
        )
        rows.append(json.loads(done.stdout))
    row: dict[str, Any] = rows[0]
    row["seconds"] = {key: min(one["seconds"][key] for one in rows) for key in row["seconds"]}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goes", type=int, default=3, help="processes for each mechanism")
    parser.add_argument("--quick", action="store_true", help="one process each, nothing written")
    parser.add_argument("--one", help="what one process does")
    given = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    if given.one is not None:
        print(json.dumps(measured(given.one)))
        return
    robots = [name for name in tf.catalogue() if isinstance(tf.load(name), tf.Mechanism)]
    rows = []
    for name in (*robots, *map(str, TREES)):
        rows.append(in_processes(name, 1 if given.quick else given.goes))
        print(rows[-1], flush=True)
    if given.quick:
        return
    from run import environment

    where = environment()
    folder = HERE / "results" / "compile-times"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{where['date'][:10]}.json"
    report = {"environment": where, "load_average": os.getloadavg()[0], "goes": given.goes, "mechanisms": rows}
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
