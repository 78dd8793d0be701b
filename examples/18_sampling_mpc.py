"""
Swinging up by thousands of guesses
===================================

Sampling-based model predictive control (MPPI) guesses thousands of force sequences, simulates them all, and applies the
first forces of their average, weighted by what each of them cost. The two motors of this arm are too weak to lift it,
so it has to swing. Every decision is one call of `tf.rollout` with `forces=`. If CuPy and a GPU are there, all of it
runs on the GPU: the arrays decide.
"""

import importlib.util

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

xp, guesses = np, 1024
if importlib.util.find_spec("cupy") is not None:
    import cupy

    if cupy.cuda.is_available():
        xp, guesses = cupy, 16_384

arm = tf.load("planar-2r")
LIMITS = np.array([7.0, 3.5])  # N m
strongest = xp.asarray(LIMITS)
needed = arm.gravity_forces([0.0, 0.0])[0]  # N m at the shoulder, stretched out to the side
assert needed > 2 * LIMITS[0]

PERIOD, HORIZON, STEPS = 0.04, 36, 125
HELD = 3  # periods with the same change of the plan
TEMPERATURE = 2.0  # of the weights: small values follow the best guess alone
SPREADS = xp.linspace(0.02, 0.8, guesses)[:, None, None]  # some guesses stay near the plan, some look far away
random = xp.random.RandomState(0)


def cost(position, velocity):
    """From upright, (N, k, 2) each: angles and speeds along the way, (N,)."""
    shoulder = position[..., 0] - np.pi / 2
    angles = 6.0 * (1 - xp.cos(shoulder)) + 3.0 * (1 - xp.cos(shoulder + position[..., 1]))
    speeds = 0.04 * (velocity**2).sum(axis=-1)
    return (angles + speeds)[:, 1:].sum(axis=-1)


def decide(q, qd, plan):
    """A better plan (HORIZON, 2) for the coming periods."""
    changes = xp.repeat(random.standard_normal((guesses, HORIZON // HELD, 2)), HELD, axis=1)
    forces = xp.clip(plan + SPREADS * strongest * changes, -strongest, strongest)
    start = tuple(xp.tile(x, (guesses, 1)) for x in (q, qd))
    runs = tf.rollout(arm, initial=start, forces=forces, control_period=PERIOD, step=PERIOD / 2)
    costs = cost(runs.position, runs.velocity)
    weights = xp.exp((costs.min() - costs) / TEMPERATURE)
    return (weights[:, None, None] * forces).sum(axis=0) / weights.sum()


# %%
# The arm hangs down at rest. After every decision it moves for one period, with the true state fed back.

q, qd = xp.array([-np.pi / 2, 0.0]), xp.zeros(2)
plan = xp.zeros((HORIZON, 2))
positions, applied = [q], []
for _ in range(STEPS):
    plan = decide(q, qd, plan)
    moved = tf.rollout(
        arm, initial=(q[None], qd[None]), forces=plan[:1], control_period=PERIOD, step=PERIOD / 20, record_every=1
    )
    q, qd = moved.position[0, -1], moved.velocity[0, -1]
    positions.append(q)
    applied.append(plan[0])
    plan = xp.concatenate([plan[1:], plan[-1:]])

position, force = (x.get() if hasattr(x, "get") else x for x in (xp.stack(positions), xp.stack(applied)))
upright = np.cos(position[:, 0] - np.pi / 2)  # of the upper arm: -1 hanging, 1 upright
up = np.argmax(upright > 0.95)
print(f"{guesses} guesses a decision: upright after {up * PERIOD:.1f} s")
assert upright[up:].min() > 0.85  # and it stays there
assert (np.abs(force) <= LIMITS + 1e-9).all()

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", width_ratios=(2, 3))
for k in range(up + 1):
    elbow = 0.6 * np.array([np.cos(position[k, 0]), np.sin(position[k, 0])])
    both = position[k].sum()
    tip = elbow + 0.4 * np.array([np.cos(both), np.sin(both)])
    left.plot([0, elbow[0], tip[0]], [0, elbow[1], tip[1]], "-o", color=plt.colormaps["viridis"](k / up), markersize=3)
left.set_aspect("equal")
left.set_xlabel("x (m)")
left.set_ylabel("y (m)")
left.set_title(f"the first {up * PERIOD:.1f} s, from dark to light")
time = PERIOD * np.arange(STEPS)
right.step(time, force[:, 0], where="post", label="shoulder")
right.step(time, force[:, 1], where="post", label="elbow")
right.axhline(needed, color="0.6", linestyle="--", linewidth=1)
right.text(time[-1], needed, "to hold it stretched out", ha="right", va="bottom", color="0.4")
right.set_xlabel("time (s)")
right.set_ylabel("motor torque (N m)")
right.legend(frameon=False)
for panel in (left, right):
    panel.grid(alpha=0.3)
plt.show()
