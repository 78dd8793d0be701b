"""Thousands of simulations at once: ours under computed torque beside MuJoCo's own rollout of the arm let go."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from arms import mujoco_model
from candidates import missing
from measure import Task, nanoseconds, ratios, take_turns
from widths import NARROW, has_wider, narrowed

import tauforge as tf

WORLDS, STEPS, STEP = 4096, 1000, 1e-3
PLATFORM_WORLDS, PLATFORM_STEPS = 1024, 100
THEIR_WORLDS = 16  # a step costs them the same, whatever the number
REQUIRED = 30
EQUAL = 1e-8  # after a quarter of a second of free fall
CHECKED_STEPS = 250


def rollouts(arm: tf.SerialArm, seconds: float) -> dict[str, Any]:
    """Steps of an arm by fourth-order Runge-Kutta, one core; computed torque is asked at every step."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(2, WORLDS, arm.n)) * 0.3
    move = tf.motion.JointMove(np.zeros(arm.n), np.full(arm.n, 0.3), STEPS * STEP)
    tasks = own_tasks(arm, move, states, STEPS)
    if not missing("MuJoCo rollout", "mujoco"):
        tasks.append(mujoco_rollout(arm, states[:, :THEIR_WORLDS]))
    return measured_steps("rollout", WORLDS, STEPS, REQUIRED, tasks, seconds)


def platform_rollouts(seconds: float) -> dict[str, Any]:
    """The same of a platform."""
    platform = tf.load("dasgupta1998")
    start, end = np.array([0, 0, 1.5, 0, 0, 0]), np.array([0.1, 0.1, 1.6, 0.1, 0, 0])
    move = tf.motion.PoseMotion(tf.motion.JointMove(start, end, PLATFORM_STEPS * STEP))
    rng = np.random.default_rng(0)
    states = np.stack([start + rng.normal(size=(PLATFORM_WORLDS, 6)) * 0.01, np.zeros((PLATFORM_WORLDS, 6))])
    tasks = own_tasks(platform, move, states, PLATFORM_STEPS)
    return measured_steps("platform: rollout", PLATFORM_WORLDS, PLATFORM_STEPS, None, tasks, seconds)


def own_tasks(robot: Any, move: tf.motion.Motion, states: np.ndarray, steps: int) -> list[Task]:
    def ours(one: Any) -> Callable[[], Any]:
        law = tf.control.ComputedTorque(one)
        sampled = {"step": STEP, "control_period": STEP, "record_every": steps}
        return partial(tf.rollout, one, law, move, initial=tuple(states), **sampled)

    pieces = states.shape[1] * steps
    tasks = [Task("tauforge", ours(robot), pieces)]
    if has_wider():
        tasks.append(Task(NARROW, narrowed(ours(robot.replace())), pieces))
    return tasks


def measured_steps(
    function: str, worlds: int, steps: int, required: float | None, tasks: list[Task], seconds: float
) -> dict[str, Any]:
    turns = take_turns(tasks, seconds)
    row = {
        "function": function,
        "states": worlds,
        "steps": steps,
        "required": required,
        "ns": nanoseconds(turns),
        "ratios": ratios(turns, "tauforge"),
    }
    took = row["ns"]["tauforge"]["fastest"]
    print(f"{function} of {worlds} worlds, {steps} steps: {took:.0f} ns a step, {row['ratios']}", flush=True)
    return row


def mujoco_rollout(arm: tf.SerialArm, states: np.ndarray) -> Task:
    import mujoco
    from mujoco import rollout as theirs

    model = mujoco_model(arm)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = STEP
    data = mujoco.MjData(model)
    initial = np.concatenate([np.zeros((states.shape[1], 1)), states[0], states[1]], axis=1)  # time, qpos, qvel
    call = partial(theirs.rollout, model, data, initial)
    found = call(nstep=CHECKED_STEPS)[0][:, -1, 1:]
    still = tf.motion.JointMove(np.zeros(arm.n), np.zeros(arm.n), CHECKED_STEPS * STEP)
    free = tf.rollout(arm, tf.control.PD(arm, 0.0, 0.0), still, initial=tuple(states), control_period=STEP)
    mine = np.concatenate([free.position[:, -1], free.velocity[:, -1]], axis=1)
    error = np.abs(found - mine).max() / np.abs(mine).max()
    if not error < EQUAL:
        raise ValueError(f"MuJoCo's rollout differs by {error:.1e}: nothing is timed")
    return Task("MuJoCo rollout", partial(call, nstep=STEPS), states.shape[1] * STEPS)
