"""Thousands of simulations at once: ours under computed torque beside MuJoCo's own rollout of the arm let go."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from arms import mujoco_model
from candidates import missing
from measure import Task, nanoseconds, ratios, take_turns

import tauforge as tf

WORLDS, STEPS, STEP = 4096, 1000, 1e-3
THEIR_WORLDS = 16  # a step costs them the same, whatever the number
REQUIRED = 30
EQUAL = 1e-8  # after a quarter of a second of free fall
CHECKED_STEPS = 250


def rollouts(arm: tf.SerialArm, seconds: float) -> dict[str, Any]:
    """Steps of fourth-order Runge-Kutta, one core; computed torque is asked at every step."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(2, WORLDS, arm.n)) * 0.3
    move = tf.motion.JointMove(np.zeros(arm.n), np.full(arm.n, 0.3), STEPS * STEP)
    law = tf.control.ComputedTorque(arm)
    ours = partial(
        tf.rollout, arm, law, move, initial=tuple(states), step=STEP, control_period=STEP, record_every=STEPS
    )
    tasks = [Task("tauforge", ours, WORLDS * STEPS)]
    if not missing("MuJoCo rollout", "mujoco"):
        tasks.append(mujoco_rollout(arm, states[:, :THEIR_WORLDS]))
    turns = take_turns(tasks, seconds)
    row = {
        "function": "rollout",
        "states": WORLDS,
        "steps": STEPS,
        "required": REQUIRED,
        "ns": nanoseconds(turns),
        "ratios": ratios(turns, "tauforge"),
    }
    print(
        f"rollout of {WORLDS} worlds, {STEPS} steps: {row['ns']['tauforge']['fastest']:.0f} ns a step, {row['ratios']}"
    )
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
