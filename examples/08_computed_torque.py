"""
Computed torque, and a payload it does not know
===============================================

Computed torque cancels the arm's dynamics by its model. With the right model the only error is that of sampling. With
two kilograms in the hand that the controller does not know of, gravity pulls the arm down as far as the gains allow.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

arm = tf.load("puma560").without_friction()
move = tf.motion.JointMove([0, 0.8, -2.0, 0, 0.3, 0], [0.8, 0.0, -1.2, 0.4, -0.2, 0.5], duration=1.5)
payload = tf.Payload(2.0, com=(0, 0, 0.08))
heavier = arm.carrying(payload)

laws = {
    "model exact": (tf.control.ComputedTorque(arm, kp=100.0, kv=20.0), arm),
    "2 kg unknown": (tf.control.ComputedTorque(arm, kp=100.0, kv=20.0), heavier),
    "2 kg unknown, gains x 9": (tf.control.ComputedTorque(arm, kp=900.0, kv=60.0), heavier),
    "2 kg known": (tf.control.ComputedTorque(heavier, kp=100.0, kv=20.0), heavier),
}
runs = {
    name: tf.simulate(arm, law, move, plant=plant, control_period=0.005, duration=2.5)
    for name, (law, plant) in laws.items()
}
for name, run in runs.items():
    print(f"{name}: at most {np.abs(run.error).max():.1e} rad, {np.abs(run.error[-1]).max():.1e} rad at the end")

# %%
# At rest the error follows from the missing torque: Kp e = M^-1 (gravity of the payload).

last = runs["2 kg unknown"]
q = last.position[-1]
missing = arm.gravity_forces(q, payload=payload) - arm.gravity_forces(q)
expected = np.linalg.solve(arm.mass_matrix(q), missing) / 100.0
assert np.allclose(last.error[-1], expected, atol=2e-4)
assert np.abs(runs["2 kg known"].error[-1]).max() < 1e-3

figure, axes = plt.subplots(2, 2, figsize=(10, 6), sharex=True, layout="constrained")
for panel, (name, run) in zip(axes.ravel(), runs.items(), strict=True):
    lines = panel.plot(run.time, 1e3 * run.error)
    panel.set_title(name, loc="left")
    panel.grid(alpha=0.3)
for panel in axes[:, 0]:
    panel.set_ylabel("joint error (mrad)")
for panel in axes[1]:
    panel.set_xlabel("time (s)")
figure.legend(lines, runs["2 kg known"].names, loc="outside upper center", ncols=6, frameon=False)
plt.show()
