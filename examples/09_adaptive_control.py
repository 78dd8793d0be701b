"""
An arm that learns what it holds
================================

The adaptive law of Slotine and Li needs no payload: it adapts the arm's inertial parameters until the errors vanish. It
does not have to find the true parameters, only some that explain this motion.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

arm = tf.load("planar-2r")
heavier = arm.carrying(tf.Payload(1.5))
sway = tf.motion.Sine(centre=[-0.8, 0.6], amplitude=[0.6, 0.9], frequency=[0.5, 0.8], duration=12.0)
period = 0.002

adaptive = tf.control.AdaptiveComputedTorque(arm, rate=8.0, damping=[10.0, 3.0], learning=0.05, period=period)
fixed = tf.control.ComputedTorque(arm, kp=64.0, kv=16.0)
start = sway.sample(0.0)
initial = (start.position, start.velocity)
settings = {"plant": heavier, "control_period": period, "step": period, "initial": initial, "record_every": 5}

learnt = []


def watched(t, position, velocity):
    """Call the adaptive law and record its parameters."""
    force = adaptive.force(t, position, velocity, sway.sample(t))
    learnt.append(adaptive.parameters.copy())
    return force


adaptive.reset()
runs = {
    "adaptive": tf.simulate(arm, watched, duration=sway.duration, **settings),
    "fixed model": tf.simulate(arm, fixed, sway, **settings),
}
errors = {name: np.abs(sway.sample(run.time).position - run.position).max(axis=1) for name, run in runs.items()}
first, last = runs["adaptive"].time < 1, runs["adaptive"].time > 11
for name, error in errors.items():
    print(f"{name}: {error[first].max():.4f} rad in the first second, {error[last].max():.4f} rad in the last")
assert errors["adaptive"][last].max() < 0.2 * errors["adaptive"][first].max()
assert errors["adaptive"][last].max() < 0.2 * errors["fixed model"][last].max()

# %%
# The law has not learnt each parameter, but their sum in the torques. Along the motion the learnt parameters give
# nearly the torques of the true arm.

q, qd, qdd = sway.sample(np.linspace(10, 12, 200))
Y = arm.regressor(q, qd, qdd)
true, known, now = (Y @ p for p in (heavier.inertial_parameters, arm.inertial_parameters, learnt[-1]))
before, after = (np.abs(x - true).max(axis=0) for x in (known, now))
print(f"torques by the model off by {before.round(2)} N m before, {after.round(2)} N m after")
assert (after < 0.5 * before).all()

figure, axes = plt.subplots(2, 1, figsize=(7.5, 6), layout="constrained")
for name, error in errors.items():
    axes[0].semilogy(runs[name].time, np.maximum(error, 1e-6), label=name)
axes[0].set_ylabel("largest joint error (rad)")
axes[0].set_ylim(1e-5, 1)
axes[0].legend(frameon=False)
t = np.linspace(10, 12, 200)
for values, name, style in ((true, "true", "-"), (known, "before", ":"), (now, "learnt", "--")):
    axes[1].plot(t, values[:, 0], style, label=name)
axes[1].set_ylabel("torque of joint 1 (N m)")
axes[1].set_xlabel("time (s)")
axes[1].legend(frameon=False, ncols=3)
for panel in axes:
    panel.grid(alpha=0.3)
plt.show()
