"""
What the joints of a hexapod carry
==================================

Leg forces say how strong the actuators must be. The joints carry more: the weight of the legs, side loads that bend a
ball screw, the moment that a universal joint must hold. Here the platform carries 200 kg along two circles.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

rig = tf.load("motion-rig")
turn = tf.motion.Circle([0, 0, 1.0, 0, 0, 0], radius=0.12, duration=2.0, turns=2)
t = np.linspace(0, 2, 401)
state = turn.sample(t)
forces = rig.inverse_dynamics(*state)  # (401, 6) N
reactions = rig.joint_reactions(*state)  # three arrays (401, 6 legs, 6), force and moment, base axes
legs = rig.leg_motion(*state)

# %%
# By Newton's law for the whole machine, the forces of the base on all six legs accelerate everything and carry its
# weight. Over one circle the mean force is the weight.

weight = 9.81 * (rig.platform_mass + sum(rig.lower_mass) + sum(rig.upper_mass))
given = reactions.universal[..., :3].sum(axis=1)
mean = given[:200].mean(axis=0)
assert np.allclose(mean, [0, 0, weight], atol=1e-3 * weight)
print(f"the base carries {mean[2]:.0f} N on average, the machine weighs {weight:.0f} N")

along = (reactions.prismatic[..., :3] * legs.directions).sum(-1)
side = np.linalg.norm(reactions.prismatic[..., :3] - along[..., None] * legs.directions, axis=-1)
sphere = np.linalg.norm(reactions.spherical[..., :3], axis=-1)
universal = np.linalg.norm(reactions.universal[..., :3], axis=-1)
holding = np.linalg.norm(reactions.universal[..., 3:], axis=-1)
print(
    f"largest: actuator {np.abs(forces).max():.0f} N, universal joint {universal.max():.0f} N and "
    f"{holding.max():.2f} N m, spherical joint {sphere.max():.0f} N, side load of a slide {side.max():.0f} N"
)

# %%
# Along a leg the slide's force is the actuator's, less friction and the force that accelerates screw and rotor.

lost = rig.friction[1] * legs.rates + np.array(rig.reflected_mass) * legs.accelerations
assert np.allclose(along, forces - lost)

figure, axes = plt.subplots(2, 2, figsize=(10, 6), sharex=True, layout="constrained")
panels = (
    ("actuator force (N)", forces),
    ("side load of the slide (N)", side),
    ("force at the universal joint (N)", universal),
    ("moment at the universal joint (N m)", holding),
)
for panel, (label, values) in zip(axes.ravel(), panels, strict=True):
    lines = panel.plot(t, values)
    panel.set_ylabel(label)
    panel.grid(alpha=0.3)
for panel in axes[1]:
    panel.set_xlabel("time (s)")
names = [f"leg {i}" for i in range(1, 7)]
figure.legend(lines, names, loc="outside upper center", ncols=6, frameon=False)
plt.show()
