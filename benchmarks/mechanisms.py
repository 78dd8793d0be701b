"""Mechanisms with closed loops and trees beside Pinocchio's C++: one core, interleaved, equality checked first.

`python mechanisms.py` writes results/mechanisms/DATE.json. Pinocchio's inverse dynamics of a mechanism with loops is
rnea with a dense projection; its forward dynamics is constraintDynamics, and its loop-constrained articulated-body
algorithm where that agrees. Trees are compared with rnea and aba. Both sides get the same positions with closed loops.
Times are processor times of the one thread that works, so they may be taken on a machine that others use as well.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import Task, nanoseconds, ratios, take_turns
from mechanism_cases import LOOPS, URDF, Case, hexapod_rus, hexapod_ups, tree
from pinocchio_loops import PinocchioMechanism
from widths import has_wider, narrow, narrow_name

import tauforge as tf
from tauforge.analysis.comparison import relative_error
from tauforge.kernels.cpu.kernel import CpuKernel
from tauforge.robots.mechanism.positions import followed
from tauforge.robots.robot import Robot
from tauforge.tracing.counting import count

HERE = Path(__file__).parent
STATES, THEIR_STATES = 16_384, 1024
AGREE = 1e-9  # of results relative to the largest
LOOSELY = 1e-4  # of the loop solver, which stops early
INVERSE, FORWARD, CONFIGURATION = "inverse_dynamics", "forward_dynamics", "configuration"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="for each mechanism")
    parser.add_argument("--only", nargs="*", help="parts of names")
    parser.add_argument("--quick", action="store_true", help="a second each, nothing written")
    given = parser.parse_args()
    os.environ["TAUFORGE_CACHE"] = "off"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    found = mechanisms(1.0 if given.quick else given.seconds, given.only)
    if not (given.quick or given.only):
        from run import environment

        where = environment()
        folder = HERE / "results" / "mechanisms"
        folder.mkdir(parents=True, exist_ok=True)
        report = {"environment": where, "load_average": os.getloadavg()[0], "states": STATES, "mechanisms": found}
        path = folder / f"{where['date'][:10]}.json"
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        print(path)


def text(row: dict[str, Any]) -> str:
    parts = [f"{row['name']}: made {row['construction_s']:.2f} s"]
    for name in (INVERSE, FORWARD):
        own = row[name]
        others = ", ".join(f"{other} x {r['fastest']:.2f}" for other, r in own["ratio"].items())
        parts.append(
            f"  {name}: {own['multiplications']} / {own['additions']} + {own['sincos']}, {own['selects']} selects, "
            f"{own['ns']['tauforge']['fastest']:.1f} ns, "
            f"first use {own['first_use_s']:.2f} s; {others}"
        )
    if CONFIGURATION in row:
        own = row[CONFIGURATION]
        search = own["ratio"]["Newton"]["fastest"]
        parts.append(f"  {CONFIGURATION}: {own['ns']['tauforge']['fastest']:.0f} ns; Newton's method x {search:.1f}")
    return "\n".join(parts)


def mechanisms(seconds: float, only: list[str] | None = None) -> list[dict[str, Any]]:
    threads = tf.get_threads()
    tf.set_threads(1)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tf.UnphysicalInertiaWarning)  # published numbers, and masses of URDF files

        def wanted(name: str) -> bool:
            return only is None or any(part in name for part in only)

        def add(row: dict[str, Any]) -> None:
            print(text(row), flush=True)
            found.append(row)

        for make in (*LOOPS, lambda: hexapod_rus("platform")):
            started = time.process_time()
            case = make()
            if wanted(case.name):
                add(loops(case, time.process_time() - started, seconds))
        if wanted("6-UPS"):
            add(beside_the_platform(seconds))
        for name in URDF:
            if wanted(name):
                add(branches(name, seconds))
    tf.set_threads(threads)
    return found


def outline(case: Case, construction: float) -> dict[str, Any]:
    m = case.mechanism
    freedom = m.structure.freedom
    return {"name": case.name, "joints": len(m.model.frames), "freedom": freedom, "construction_s": construction}


def function(case: Case, name: str) -> dict[str, Any]:
    """The kernel's operations, and what tracing and compiling it cost."""
    started = time.process_time()
    case.mechanism.kernel(name).loaded(64)
    first_use = time.process_time() - started
    graph = case.mechanism.specification(name).graph
    operations = count(graph)
    return {
        "multiplications": operations.multiplications,
        "additions": operations.additions,
        "divisions": operations.divisions,
        "sincos": operations.sincos,
        "selects": sum(node.op == "select" for node in graph.nodes),
        "nodes": len(graph.nodes),
        "first_use_s": first_use,
    }


def own_tasks(m: Robot, name: str, *state: np.ndarray, label: str = "tauforge") -> list[Task]:
    """With the widest vectors, and with narrower ones where there are wider."""
    kernels, narrower = {label: m.kernel(name)}, narrow_name(label)
    if has_wider():
        kernels[narrower] = CpuKernel(m.specification(name))
        with narrow():
            kernels[narrower].loaded(64)
        assert relative_error(kernels[narrower](*state), kernels[label](*state)) < AGREE
    return [Task(label, partial(kernel, *state), STATES) for label, kernel in kernels.items()]


def timed(row: dict[str, Any], tasks: dict[str, list[Task]], seconds: float) -> dict[str, Any]:
    """Both functions of one mechanism in one run."""
    named = [task._replace(name=f"{name} {task.name}") for name, own in tasks.items() for task in own]
    turns = take_turns(named, seconds, time.thread_time)
    for name, own in tasks.items():
        mine = {task.name: turns[f"{name} {task.name}"] for task in own}
        row[name] = row.get(name, {}) | {"ns": nanoseconds(mine), "ratio": ratios(mine, "tauforge")}
    return row


def positions(case: Case) -> np.ndarray:
    """With closed loops, independent coordinates spread about home."""
    m = case.mechanism
    q = m.positions.coordinates(m.home) + np.random.default_rng(0).uniform(-case.spread, case.spread, (STATES, m.n))
    x = m.configuration(q)
    assert m.loop_gap(x).max() < 1e-12
    return x


def configuration_tasks(case: Case, x: np.ndarray) -> dict[str, list[Task]]:
    """From the independent coordinates to all: in closed form beside Newton's method, where there is a closed form."""
    m = case.mechanism
    if not m.structure.in_closed_form:
        return {}
    q, home = m.positions.coordinates(x), np.broadcast_to(m.home, x.shape)
    ways = {"tauforge": "closing_legs", "Newton": "closing_steps"}
    return {
        CONFIGURATION: [Task(name, partial(followed, m, way, q, home, 1), STATES) for name, way in ways.items()],
    }


def agree(found: np.ndarray, expected: np.ndarray, tolerance: float = AGREE) -> float:
    error = float(relative_error(found, expected))
    assert error < tolerance, error
    return error


def loops(case: Case, construction: float, seconds: float) -> dict[str, Any]:
    m = case.mechanism
    row = outline(case, construction)
    x = positions(case)
    rng = np.random.default_rng(1)
    qd, qdd = rng.normal(size=(2, STATES, m.n))
    row |= {name: function(case, name) for name in (INVERSE, FORWARD)}
    inverse, forward = m.kernel(INVERSE), m.kernel(FORWARD)
    tau = inverse(x, qd, qdd)
    row["round_trip"] = agree(forward(x, qd, tau), qdd)

    theirs = PinocchioMechanism(m, case.planar)
    v, a = theirs.tree_motion(x, qd, qdd)
    n = theirs.m.n
    forces = np.zeros((STATES, n))
    forces[:, list(theirs.m.actuated)] = tau
    q, v, expected = theirs.q(x), theirs.v(x, v), theirs.a(x, v, a)
    some = slice(0, THEIR_STATES)
    full = theirs.call("constraint_dynamics", (q, v, forces), n)
    row["agrees_with_constraint_dynamics"] = agree(full(), expected)
    short = tuple(array[some] for array in (q, v, forces))
    tasks = {
        INVERSE: own_tasks(m, INVERSE, x, qd, qdd),
        FORWARD: [
            *own_tasks(m, FORWARD, x, qd, tau),
            Task("constraintDynamics", theirs.call("constraint_dynamics", short, n), THEIR_STATES),
        ],
    }
    solver = theirs.call("loop_constrained_aba", short, n)
    error = float(relative_error(solver(), expected[some]))
    row["loop_solver_error"] = error if np.isfinite(error) else None
    if error < LOOSELY:
        tasks[FORWARD].append(Task("lcaba", solver, THEIR_STATES))
    if theirs.m.actuated == theirs.m.independent:
        theirs.split(x)
        states = tuple(array[some] for array in (q, qd, qdd))
        projection = theirs.call("project", states, m.n)
        row["agrees_with_projection"] = agree(projection(), tau[some])
        tasks[INVERSE].append(Task("rnea and projection", projection, THEIR_STATES))
    return timed(row, tasks | configuration_tasks(case, x), seconds)


def beside_the_platform(seconds: float) -> dict[str, Any]:
    """The 6-UPS as a mechanism beside the hand-made model of the same machine."""
    started = time.process_time()
    case, platform = hexapod_ups()
    row = outline(case, time.process_time() - started)
    m, x = case.mechanism, positions(case)
    pose = m.positions.coordinates(x)
    qd, qdd = np.random.default_rng(1).normal(size=(2, STATES, 6))
    row |= {name: function(case, name) for name in (INVERSE, FORWARD)}
    force = platform.kernel(INVERSE)(pose, qd, qdd)
    row["agrees_with_platform"] = agree(m.kernel(INVERSE)(x, qd, qdd), force)
    agree(m.kernel(FORWARD)(x, qd, force), platform.kernel(FORWARD)(pose, qd, force))
    tasks = {}
    for name, last in ((INVERSE, qdd), (FORWARD, force)):
        hand_made = own_tasks(platform, name, pose, qd, last, label="StewartPlatform")
        tasks[name] = [*own_tasks(m, name, x, qd, last), *hand_made]
    return timed(row, tasks | configuration_tasks(case, x), seconds)


def branches(name: str, seconds: float) -> dict[str, Any]:
    case = tree(name)
    started = time.process_time()
    again = tf.Mechanism(bodies=case.mechanism.bodies, joints=case.mechanism.joints, gravity=case.mechanism.gravity)
    row = outline(case, time.process_time() - started)
    del again
    m = case.mechanism
    row |= {name: function(case, name) for name in (INVERSE, FORWARD)}
    rng = np.random.default_rng(1)
    x = rng.uniform(-case.spread, case.spread, (STATES, m.n))
    qd, qdd = rng.normal(size=(2, STATES, m.n))
    theirs = PinocchioMechanism(m, planar=False)
    inverse, forward = m.kernel(INVERSE), m.kernel(FORWARD)
    order = np.argsort(theirs.m.independent)  # from places of independent rates to places in the tree
    q, v, a = theirs.q(x), qd[:, order], qdd[:, order]
    some = slice(0, THEIR_STATES)
    torque = theirs.call("rnea", (q, v, a), m.n)()
    row["agrees_with_rnea"] = agree(inverse(x, qd, qdd)[:, order], torque)
    tau = inverse(x, qd, qdd)
    row["round_trip_of_forces"] = agree(inverse(x, qd, forward(x, qd, tau)), tau)
    # accelerations of bodies almost without mass depend on rounding: forces that they need are compared
    theirs_back = theirs.call("aba", (q, v, torque), m.n)()[:, np.argsort(order)]
    row["agrees_with_aba"] = agree(inverse(x, qd, theirs_back), tau)
    tasks = {}
    for function_name, routine, last, given in ((INVERSE, "rnea", qdd, a), (FORWARD, "aba", tau, torque)):
        short = tuple(array[some] for array in (q, v, given))
        other = Task(routine, theirs.call(routine, short, m.n), THEIR_STATES)
        tasks[function_name] = [*own_tasks(m, function_name, x, qd, last), other]
    return timed(row, tasks, seconds)


if __name__ == "__main__":
    main()
