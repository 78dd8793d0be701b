"""
A five-bar follows a circle, and what its joints carry
======================================================

Two motors on the ground move the tip of a closed loop. The tip is led along a circle; Newton's method finds the motors'
angles, and the dynamics of the closed loop give their torques.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

five_bar = tf.load("five-bar")
print(five_bar.structure)

# %%
# The tip is a hinge between the rods. Its velocity by the motors' rates is a 2 x 2 matrix, so that Newton's method
# finds the motors' angles for a wanted place. Every point starts near the last one.

tip = np.array(five_bar.joints[-1].at)
t = np.linspace(0.0, 1.0, 201)
phase = 2 * np.pi * (t - np.sin(2 * np.pi * t) / (2 * np.pi))  # begins and ends at rest
radius = 0.06
wanted = tip[[0, 2]] + radius * np.column_stack([np.cos(phase) - 1, np.sin(phase)])


def tip_at(x):
    frame = five_bar.forward_kinematics(x, "left rod")
    body = five_bar.bodies[1]
    return (frame[:3, :3] @ (tip - np.array(body.origin)) + frame[:3, 3])[[0, 2]]


x, places = five_bar.home, []
for target in wanted:
    for _ in range(5):
        J = five_bar.jacobian(x, "left rod", point=tip)[[0, 2]]
        q = five_bar.positions.coordinates(x) + np.linalg.solve(J, target - tip_at(x))
        x = five_bar.configuration(q, near=x)
    places.append(x)
x = np.array(places)
assert five_bar.loop_gap(x).max() < 1e-12
assert max(np.linalg.norm(tip_at(one) - target) for one, target in zip(x, wanted, strict=True)) < 1e-12

# %%
# Rates by differences of the angles, torques and reactions by the exact model. The power of the motors is the change of
# energy.

q = five_bar.positions.coordinates(x)
qd = np.gradient(q, t, axis=0, edge_order=2)
qdd = np.gradient(qd, t, axis=0, edge_order=2)
tau = five_bar.inverse_dynamics(x, qd, qdd)
forces = five_bar.joint_wrenches(x, qd, qdd)[..., [0, 2]]  # N, in the plane; across it they are not unique
power = (tau * qd).sum(axis=1)
energy = sum(five_bar.energy(x, qd))
work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(t))])
assert np.abs(energy - energy[0] - work).max() < 0.01 * np.abs(work).max()
largest = np.linalg.norm(forces, axis=-1).max(axis=0)
for joint, force in zip(five_bar.joints, largest, strict=True):
    print(f"{joint.name:12} carries up to {force:5.1f} N")

figure = plt.figure(figsize=(10, 4.4), layout="constrained")
space = figure.add_subplot(1, 2, 1, projection="3d", computed_zorder=False)
space.view_init(elev=10, azim=-80)
tf.plot(five_bar, x[[60, 100, 0]], forces=tau[[60, 100, 0]], axes=space)
space.plot(wanted[:, 0], 0 * t, wanted[:, 1], color="#c2261b", linewidth=1.5)
space.set_yticks([])
space.set_title("five-bar: the tip on its circle", loc="left")
curves = figure.add_subplot(1, 2, 2)
for k, name in enumerate(("left", "right")):
    curves.plot(t, tau[:, k], label=f"{name} motor")
curves.set(xlabel="time (s)", ylabel="torque (N m)")
curves.legend(frameon=False)
curves.grid(alpha=0.3)
plt.show()
