"""
Two thousand arms at once
=========================

How good is a controller when no two arms of a series weigh the same? `tf.rollout` runs the simulations together. Masses
and payloads vary from row to row, and each row equals the result of `tf.simulate`.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

arm = tf.load("puma560").without_friction()
move = tf.motion.JointMove([0, 0.8, -2.0, 0, 0.3, 0], [0.8, 0.0, -1.2, 0.4, -0.2, 0.5], duration=0.8)
law = tf.control.ComputedTorque(arm, kp=100.0, kv=20.0)

N = 2000
random = np.random.default_rng(0)
nominal = np.array([joint.mass for joint in arm.joints])
factors = random.uniform(0.8, 1.2, N)  # all links of an arm alike
masses = factors[:, None] * nominal  # (N, 6) kg
held = random.uniform(0.0, 0.4, N)  # kg in the hand
payload = tf.Payload(held, com=np.tile([0.0, 0.0, 0.08], (N, 1)))
runs = tf.rollout(arm, law, move, varying={"mass": masses}, payload=payload, step=0.002, control_period=0.01)
assert runs.finite.all()

worst = np.abs(runs.error).max(axis=(1, 2))  # (N,) rad
print(f"{N} runs: median {np.median(worst):.4f} rad, 99 % below {np.percentile(worst, 99):.4f} rad")

# %%
# Any row can be simulated again by itself.

row = int(worst.argmax())
alone = arm.replace(mass=masses[row]).carrying(tf.Payload(held[row], com=(0, 0, 0.08)))
again = tf.simulate(arm, law, move, plant=alone, step=0.002, control_period=0.01, record_every=1)
assert np.allclose(again.position, runs.position[row], atol=1e-9)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
joint = int(np.abs(runs.error).max(axis=(0, 1)).argmax())
bands = np.percentile(1e3 * runs.error[..., joint], [1, 25, 50, 75, 99], axis=0)
left.fill_between(runs.time, bands[0], bands[4], alpha=0.2, color="tab:blue", label="98 % of the arms")
left.fill_between(runs.time, bands[1], bands[3], alpha=0.4, color="tab:blue", label="half of them")
left.plot(runs.time, bands[2], color="tab:blue", label="median")
left.set_xlabel("time (s)")
left.set_ylabel(f"error of joint {joint + 1} (mrad)")
left.legend(frameon=False)
picture = right.scatter(held, 1e3 * worst, c=factors, s=6, cmap="viridis")
figure.colorbar(picture, ax=right, label="links' mass, of the nominal (-)")
right.set_xlabel("payload (kg)")
right.set_ylabel("largest error of any joint (mrad)")
for panel in (left, right):
    panel.grid(alpha=0.3)
plt.show()
