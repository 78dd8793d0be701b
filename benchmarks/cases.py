"""What is measured on one core: batches beside the other libraries, single calls, batch sizes and long arms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from arms import general_arm, pinocchio_model
from candidates import (
    Candidate,
    adam,
    jax_formula,
    missing,
    mujoco_loop,
    narrow_method,
    pinocchio_loop,
    pinocchio_parallel,
    tauforge_method,
    toolbox,
)
from compiled import casadi_c, pinocchio_cpp
from measure import Task, nanoseconds, ratio, ratios, repeated, take_turns, take_turns_together, timed

import tauforge as tf

EQUAL = 1e-10
BATCHES = [  # function, batch size, how many times faster than the C++ core it must be
    ("inverse_dynamics", 16_384, 50),
    ("forward_dynamics", 16_384, 75),
    ("mass_matrix", 1_024, 22),
    ("mass_matrix", 16_384, None),
    ("inverse_dynamics_derivatives", 1_024, 27),
    ("forward_dynamics_derivatives", 1_024, 27),
]
ARGUMENTS = {"mass_matrix": 1}
SINGLE_CALLS = 1_000
SHORTEST = 1_000  # states: smaller batches are timed several at once
TOGETHER = 10_000  # states: larger batches take too long for all sizes to take turns
JOINTS = (6, 12, 24, 48)
EQUAL_DATA = 12_288  # numbers in each array


def several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def difference(results: Any, expected: Any) -> float:
    pairs = zip(several(results), several(expected), strict=True)
    return max(float(np.abs(np.asarray(a) - b[: len(a)]).max() / np.abs(b).max()) for a, b in pairs)


def checked(candidates: list[Candidate | None], arguments: tuple[np.ndarray, ...]) -> list[Task]:
    """The installed candidates as tasks over the same batch, the first being who is right; ends if one differs."""
    tasks: list[Task] = []
    expected = None
    for candidate in candidates:
        if candidate is None:
            continue
        part = tuple(a[: candidate.most] for a in arguments)
        call = candidate.prepare(*part)
        expected = call() if expected is None else expected
        error = difference(call(), expected)
        if not error < EQUAL:
            raise ValueError(f"{candidate.name} differs by {error:.1e}: nothing is timed")
        tasks.append(Task(candidate.name, call, len(part[0])))
    return tasks


def random_states(count: int, n: int) -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(0).normal(size=(3, count, n)))


def measured(function: str, states: int, required: float | None, tasks: list[Task], seconds: float) -> dict[str, Any]:
    turns = take_turns(tasks, seconds)
    row = {
        "function": function,
        "states": states,
        "required": required,
        "rounds": len(turns["tauforge"]),
        "ns": nanoseconds(turns),
        "ratios": ratios(turns, "tauforge"),
        "states_per_call": {task.name: task.pieces for task in tasks},
    }
    print(describe(row), flush=True)
    return row


def describe(row: dict[str, Any]) -> str:
    own = row["ns"]["tauforge"]
    wanted = "" if row["required"] is None else f"; {row['required']} x wanted"
    lines = [
        f"{row['function']}, {row['states']:,} states: {own['fastest']:.1f} ns a state, median {own['median']:.1f}, "
        f"{row['rounds']} rounds{wanted}"
    ]
    for name, times in row["ratios"].items():
        ns = row["ns"][name]["fastest"]
        lines.append(f"    {name:<28}{ns:>10.1f} ns {times['fastest']:>8.1f} x, median {times['median']:.1f} x")
    return "\n".join(lines)


def batches(arm: tf.SerialArm, seconds: float) -> list[dict[str, Any]]:
    rows = []
    for function, states, required in BATCHES:
        candidates = [tauforge_method(arm, function), narrow_method(arm, function), pinocchio_cpp(arm, function)]
        if function == "inverse_dynamics":
            others = (casadi_c, pinocchio_parallel, pinocchio_loop, jax_formula, mujoco_loop, toolbox, adam)
            candidates += [other(arm) for other in others]
        tasks = checked(candidates, random_states(states, arm.n)[: ARGUMENTS.get(function, 3)])
        rows.append(measured(function, states, required, tasks, seconds))
    return rows


def single_precision(arm: tf.SerialArm, seconds: float) -> dict[str, Any]:
    states = 16_384
    arguments = tuple(a.astype(np.float32) for a in random_states(states, arm.n))
    own = [candidate for candidate in (tauforge_method(arm), narrow_method(arm)) if candidate is not None]
    tasks = [Task(candidate.name, candidate.prepare(*arguments), states) for candidate in own]
    return measured("inverse_dynamics in float32", states, None, tasks, seconds)


def single_call(arm: tf.SerialArm, seconds: float) -> dict[str, Any]:
    """One state at a time, as a control loop in Python asks."""
    q, qd, qdd = (a[0] for a in random_states(1, arm.n))
    expected = arm.inverse_dynamics(q, qd, qdd)
    own = [candidate for candidate in (tauforge_method(arm), narrow_method(arm)) if candidate is not None]
    tasks = []
    for candidate in own:
        method = candidate.prepare(q, qd, qdd).func

        def ours(method: Callable[..., Any] = method) -> None:
            for _ in range(SINGLE_CALLS):
                method(q, qd, qdd)

        tasks.append(Task(candidate.name, ours, SINGLE_CALLS))
    if not missing("Pinocchio from Python", "pinocchio"):
        from pinocchio import rnea

        model = pinocchio_model(arm)
        data = model.createData()
        if not difference(rnea(model, data, q, qd, qdd), expected) < EQUAL:
            raise ValueError("Pinocchio from Python differs: nothing is timed")

        def theirs() -> None:
            for _ in range(SINGLE_CALLS):
                rnea(model, data, q, qd, qdd)

        tasks.append(Task("Pinocchio from Python", theirs, SINGLE_CALLS))
    return measured("one inverse dynamics call from Python", 1, 4, tasks, seconds)


def batch_sizes(arm: tf.SerialArm, seconds: float, largest: int) -> list[dict[str, Any]]:
    """Nanoseconds per state of inverse dynamics against the batch size; those of short calls all take turns."""
    sizes = [10**k for k in range(len(str(largest)))]
    rows = []
    for together in ([size for size in sizes if size <= TOGETHER], *([size] for size in sizes if size > TOGETHER)):
        groups = {}
        for states in together:
            candidates = [tauforge_method(arm), pinocchio_cpp(arm), pinocchio_loop(arm, most=None)]
            times = max(1, SHORTEST // states)
            groups[states] = [
                Task(task.name, repeated(task.call, times), states * times)
                for task in checked(candidates, random_states(states, arm.n))
            ]
        for states, turns in take_turns_together(groups, seconds).items():
            rows.append({"states": states, "ns": nanoseconds(turns), "ratios": ratios(turns, "tauforge")})
            found = ", ".join(f"{name} {ns['fastest']:,.0f} ns" for name, ns in rows[-1]["ns"].items())
            print(f"batches of {states:,}: {found}", flush=True)
    return rows


def long_arms(seconds: float) -> list[dict[str, Any]]:
    """Cost of general arms against their number of joints, all of them taking turns in one run.

    Once with equal numbers of joint states, 0.4 MB of arrays that a level-2 cache holds; and with equal numbers of
    states, where those of 48 joints are 1.5 MB and 3 MB and come from level 3.
    """
    arms = {n: general_arm(n) for n in JOINTS}
    first = {n: timed(partial(arm.inverse_dynamics, *random_states(1, n))) for n, arm in arms.items()}
    rows = []
    for data, count in (("equal data", lambda n: EQUAL_DATA // n), ("", lambda n: 1_024), ("", lambda n: 2_048)):
        groups = {}
        for n, arm in arms.items():
            tasks = checked([tauforge_method(arm), pinocchio_cpp(arm)], random_states(count(n), n))
            groups[n] = [task._replace(pieces=count(n) * n) for task in tasks]
        found = take_turns_together(groups, seconds)
        for n, turns in found.items():
            times = nanoseconds(turns)
            states = count(n)
            row: dict[str, Any] = {"joints": n, "states": states, "data": data, "first_use_s": first[n]}
            row["ns"] = {name: {key: ns * n for key, ns in spread.items()} for name, spread in times.items()}
            row["ns_per_joint"] = times
            row["ratio_to_6"] = {name: ratio(rounds, found[6][name]) for name, rounds in turns.items()}
            rows.append(row)
            own = row["ratio_to_6"]["tauforge"]
            print(
                f"{n} joints, {states:,} states: {times['tauforge']['fastest']:.2f} ns a joint, {own['fastest']:.2f} x "
                f"that of 6 joints (median {own['median']:.2f} x); first answer {first[n]:.2f} s",
                flush=True,
            )
    return rows
