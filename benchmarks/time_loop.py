"""A step of simulations and rollouts beside what is wanted, and beside a plain Python loop over the robot's methods.

`python time_loop.py` prints a table and writes results/time_loop/DATE.json. Candidates take turns on one core in one
process, and must agree first. Times are processor times, except for the threads. A call of 1,000 steps is divided by
them, its checks and its recording included; "and more" is the step that is added by another thousand.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import Task, nanoseconds, repeated, take_turns

import tauforge as tf
from tauforge.control import ComputedTorque

HERE = Path(__file__).parent
STEP, STEPS = 1e-3, 1000
AGREE = 1e-9  # of positions after the steps, between a recording and the plain loop
US, NS, TIMES = "us", "ns", "x"
UNITS = {US: 1e3, NS: 1.0, TIMES: 1.0}
SIMULATED = {"puma560": 1.0, "dasgupta1998": 2.0, "five-bar": 3.0, "delta": 3.0}  # us a step that are wanted
ROLLED = {  # robot and rows: what is wanted, in a unit
    ("puma560", 1): (0.5, US),
    ("dasgupta1998", 1): (2.0, US),
    ("delta", 1): (3.0, US),
    ("puma560", 64): (45.0, NS),
    ("dasgupta1998", 64): (220.0, NS),
    ("dasgupta1998", 1024): (200.0, NS),
}
STEPPED = {("puma560", 1): 20.0, ("dasgupta1998", 1): 20.0, ("puma560", 64): 20.0}  # us a call of a world
SHARE_OF_A_ROLLOUT = 1.2  # time of a call with many rows over that of a long rollout's step
THREADED, MANY = 1 / 1.8, 4096  # time on two threads over that on one, of so many rows
SUBCLASS, PAYLOAD = 1.05, 5.0


class Own(ComputedTorque):
    """An empty subclass."""


def robot_of(name: str) -> Any:
    robot = tf.load(name)
    return robot.without_friction() if name == "puma560" else robot


def motion_of(robot: Any) -> Any:
    q = robot.positions.coordinates(robot.positions.default)
    move = tf.motion.JointMove(q, q + 0.02, 2 * STEPS * STEP)
    return tf.motion.PoseMotion(move) if robot.positions.pose else move


def law_of(robot: Any, kind: type[ComputedTorque] = ComputedTorque) -> ComputedTorque:
    return kind(robot, 900.0, 60.0)


def simulation(robot: Any, steps: int = STEPS, law: Any = None) -> Callable[[], Any]:
    options = {"duration": steps * STEP, "step": STEP, "control_period": STEP}
    return partial(tf.simulate, robot, law or law_of(robot), motion_of(robot), **options)


def rollout(robot: Any, rows: int, steps: int, law: Any = None) -> Callable[[], Any]:
    q = robot.positions.coordinates(robot.positions.default)
    start = q + np.random.default_rng(0).normal(size=(rows, robot.n)) * 1e-3
    given = {"initial": (robot.positions.at(start), np.zeros(robot.n)), "duration": steps * STEP, "record_every": steps}
    return partial(tf.rollout, robot, law or law_of(robot), motion_of(robot), step=STEP, control_period=STEP, **given)


def plain_loop(robot: Any) -> Callable[[], Any]:
    """The law and Runge-Kutta's method, written down in Python."""
    space, law, targets = robot.state_space, law_of(robot), motion_of(robot).sample(STEP * np.arange(STEPS))
    start = motion_of(robot).sample(0.0)

    def loop() -> Any:
        y = space.pack(robot.positions.at(start.position), start.velocity)
        for k in range(STEPS):
            target = type(targets)(*(x[k] for x in targets))
            force = law.force(k * STEP, space.position(y), space.velocity(y), target)
            k1 = space.rates_under(y, force)
            k2 = space.rates_under(y + STEP / 2 * k1, force)
            k3 = space.rates_under(y + STEP / 2 * k2, force)
            k4 = space.rates_under(y + STEP * k3, force)
            y = space.renewed(y + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        return space.position(y)

    return loop


def simulated(seconds: float) -> list[dict[str, Any]]:
    tasks, short = [], {}
    for name in SIMULATED:
        robot = robot_of(name)
        one, plain = simulation(robot), plain_loop(robot)
        apart = float(np.abs(one().position[-1] - plain()).max())
        if not apart < AGREE:
            raise ValueError(f"{name}: the plain loop differs by {apart:.1e}: nothing is timed")
        tasks += [Task(name, one, STEPS), Task(f"{name} plain", plain, STEPS)]
        short[name] = simulation(robot, 2 * STEPS)
        tasks.append(Task(f"{name} twice", short[name], STEPS))
    best = {name: found["fastest"] for name, found in nanoseconds(take_turns(tasks, seconds, time.thread_time)).items()}
    rows = []
    for name, wanted in SIMULATED.items():
        beside = f"{best[f'{name} plain'] / UNITS[US]:.1f} us in plain Python"
        rows.append(row(f"tf.simulate, {name}", best[name], wanted, US, beside))
        rows.append(row(f"tf.simulate, {name}, and more", best[f"{name} twice"] - best[name], wanted, US))
    return rows


def rolled(seconds: float) -> list[dict[str, Any]]:
    tasks = [
        Task(f"tf.rollout, {name}, {rows} row{'s' * (rows > 1)}", rollout(robot_of(name), rows, steps), rows * steps)
        for (name, rows) in ROLLED
        for steps in [STEPS if rows <= 64 else 100]
    ]
    best = nanoseconds(take_turns(tasks, seconds, time.thread_time))
    return [
        row(task.name, best[task.name]["fastest"], wanted, unit)
        for task, (wanted, unit) in zip(tasks, ROLLED.values(), strict=True)
    ]


def stepped(seconds: float) -> list[dict[str, Any]]:
    """A call of `tf.World`, and one with many rows over a step of a rollout under the same forces."""
    tasks = []
    for name, rows in [*STEPPED, ("puma560", MANY)]:
        robot = robot_of(name)
        start = robot.positions.default, np.zeros(robot.n)
        forces = np.random.default_rng(0).normal(size=(rows, 100, len(robot.actuators)))
        run = partial(tf.rollout, robot, initial=start, step=STEP, control_period=STEP)
        world, held = tf.World(robot, rows, step=STEP), forces[:, 0].copy()
        for k in range(3):
            found = world.step(forces[:, k])[0]
        if not np.array_equal(found, run(forces=forces[:, :3]).position[:, -1]):
            raise ValueError(f"{name}: a world differs from a rollout: nothing is timed")
        tasks.append(Task(f"tf.World, {name}, {rows} row{'s' * (rows > 1)}", partial(world.step, held), 1))
    once, twice = (partial(run, forces=np.tile(forces, (1, k, 1)), record_every=200) for k in (1, 2))
    tasks += [Task("rollout", once, 1), Task("rollout twice", twice, 1)]
    best = {name: found["fastest"] for name, found in nanoseconds(take_turns(tasks, seconds, time.thread_time)).items()}
    *few, many = tasks[:-2]
    rows = [row(task.name, best[task.name], wanted, US) for task, wanted in zip(few, STEPPED.values(), strict=True)]
    share = best[many.name] / (best["rollout twice"] - best["rollout"]) * 100
    return [*rows, row(f"{many.name}, over a rollout's step", share, SHARE_OF_A_ROLLOUT, TIMES)]


def others(seconds: float) -> list[dict[str, Any]]:
    arm = robot_of("puma560")
    tasks = [
        Task("ours", rollout(arm, 64, 100), 1),
        Task("own", rollout(arm, 64, 100, law_of(arm, Own)), 1),
        Task("short", rollout(arm, 1, 1), 1),
        Task("payload", repeated(partial(tf.Payload, 1.0), 100), 100),
    ]
    best = {name: found["fastest"] for name, found in nanoseconds(take_turns(tasks, seconds, time.thread_time)).items()}
    return [
        row("an empty subclass of ComputedTorque", best["own"] / best["ours"], SUBCLASS, TIMES),
        row("a rollout of one step", best["short"], 20.0, US, "a world is for that"),
        row("tf.Payload(1.0)", best["payload"], PAYLOAD, US),
    ]


def threaded(seconds: float) -> list[dict[str, Any]]:
    call, best = rollout(robot_of("puma560"), MANY, 100), {1: np.inf, 2: np.inf}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for threads in best:
            tf.set_threads(threads)
            started = time.perf_counter()
            call()
            best[threads] = min(best[threads], time.perf_counter() - started)
    tf.set_threads(1)
    return [row(f"two threads over one, {MANY} rows", best[2] / best[1], THREADED, TIMES)]


def row(path: str, ns: float, wanted: float, unit: str, beside: str = "") -> dict[str, Any]:
    now = ns / UNITS[unit]
    print(f"{path:46} {now:9.2f} {unit:2}  wanted {wanted:6.2f}  {now / wanted:5.2f} of it  {beside}", flush=True)
    return {"path": path, "now": now, "wanted": wanted, "unit": unit, "beside": beside}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each part of the table")
    parser.add_argument("--quick", action="store_true", help="two seconds each, nothing written")
    given = parser.parse_args()
    seconds = 2.0 if given.quick else given.seconds
    cores = os.sched_getaffinity(0)
    found = threaded(seconds) if len(cores) > 1 else []
    os.sched_setaffinity(0, sorted(cores)[-1:])
    tf.set_threads(1)
    found += [*simulated(seconds), *rolled(seconds), *stepped(seconds), *others(seconds)]
    if not given.quick:
        from run import environment

        where = environment()
        report = {"environment": where, "load_average": os.getloadavg()[0], "rows": found}
        path = HERE / "results" / "time_loop" / f"{where['date'][:10]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
