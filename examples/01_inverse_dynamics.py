"""
What a move costs, joint by joint
=================================

A PUMA 560 swings its arm in one second. Inverse dynamics gives the torques. Their parts show what the motors work
against: the inertia of links and rotors, velocities, gravity or friction.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

arm = tf.load("puma560")
move = tf.motion.JointMove([0, 0.8, -2.0, 0, 0.3, 0], [1.2, -0.4, -0.9, 0.8, -0.5, 1.0], duration=1.0)
t = np.linspace(0, 1, 401)
q, qd, qdd = move.sample(t)  # (401, 6) each
tau = arm.inverse_dynamics(q, qd, qdd)  # (401, 6) N m

# %%
# The torques have four parts. Each is a method of its own, and their sum is the whole.

parts = {
    "inertia": np.einsum("kij,kj->ki", arm.mass_matrix(q), qdd),
    "velocities": np.einsum("kij,kj->ki", arm.coriolis_matrix(q, qd), qd),
    "gravity": arm.gravity_forces(q),
    "friction": arm.friction_forces(qd),
}
assert np.allclose(sum(parts.values()), tau)

for i, joint in enumerate(arm.joints[:3]):
    shares = ", ".join(f"{name} {np.abs(part[:, i]).max():.1f}" for name, part in parts.items())
    print(f"{joint.name}: at most {np.abs(tau[:, i]).max():.1f} N m; {shares}")

# %%
# The power of the torques without friction is the rate of the arm's energy, which is an independent check of all parts.

kinetic, potential = arm.energy(q, qd)
power = (qd * (tau - parts["friction"])).sum(axis=1)
gained = np.gradient(kinetic + potential, t, edge_order=2)
assert np.abs(power - gained).max() < 1e-3 * np.abs(power).max()

figure, axes = plt.subplots(3, 1, figsize=(7.5, 7), sharex=True, layout="constrained")
for i, panel in enumerate(axes):
    panel.plot(t, tau[:, i], color="black", linewidth=2, label="all of it")
    for name, part in parts.items():
        panel.plot(t, part[:, i], label=name)
    panel.set_ylabel(f"torque of {arm.joints[i].name} (N m)")
    panel.grid(alpha=0.3)
axes[-1].set_xlabel("time (s)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, frameon=False)
plt.show()
