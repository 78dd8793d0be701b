"""
Pick and place with a Delta robot
=================================

A Delta lifts half a kilogram by 60 mm, carries it 250 mm across and sets it down in 0.4 s. What torque must its three
motors have, and how much of it is for the load?
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

delta = tf.load("delta").replace(independent="platform")
start = delta.positions.coordinates(delta.home)
print(f"{delta.name}: {delta.n} degrees of freedom, independent {', '.join(delta.structure.independent)}")

# %%
# The platform cannot turn: of its pose only x, y and z are independent. Two quintic moves, one of height and one
# across, overlap: the path has round corners.


def quintic(s):
    """From 0 to 1 with rest at both ends: value, first and second derivative."""
    s = np.clip(s, 0.0, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2, 60 * s * (1 - s) * (1 - 2 * s)


duration, across, up, turned = 0.4, 0.25, 0.06, 0.5  # s, m, m, rad
t = np.linspace(0.0, duration, 401)
first, middle = t / (0.35 * duration), (t - 0.15 * duration) / (0.7 * duration)
last = (t - 0.65 * duration) / (0.35 * duration)
rates = 1 / (0.35 * duration), 1 / (0.7 * duration)
lift, sink, slide = quintic(first), quintic(last), quintic(middle)
motion = []
for order in range(3):
    z = up * (lift[order] - sink[order]) * rates[0] ** order
    along = across * (slide[order] - (0.5 if order == 0 else 0.0)) * rates[1] ** order
    motion.append(np.column_stack([along * np.cos(turned), along * np.sin(turned), z]))
position, velocity, acceleration = motion
position = start + position

# %%
# Loops are closed from the platform's place, and inverse dynamics gives the torques, without and with the load.

x = delta.configuration(position)
assert delta.loop_gap(x).max() < 1e-12
box = tf.Payload(0.5, (0.0, 0.0, -0.05))
empty = delta.inverse_dynamics(x, velocity, acceleration)
loaded = delta.inverse_dynamics(x, velocity, acceleration, payload=box)
speed = delta.sensors.motion(x, velocity)[1]
energy = sum(delta.energy(x, velocity, payload=box))
work = np.trapezoid((loaded * speed).sum(axis=1), t)
assert abs(work - (energy[-1] - energy[0])) < 1e-3 * np.ptp(energy)  # it ends at the height where it began
peak, largest = np.abs(loaded).max(), np.abs(acceleration).max() / 9.81
print(f"{np.abs(empty).max():.1f} N m empty, {peak:.1f} N m with the load; the platform reaches {largest:.1f} g")
print(f"the fastest motor turns at {np.abs(speed).max() * 30 / np.pi:.0f} rpm")

figure = plt.figure(figsize=(10, 4.6), layout="constrained")
space = figure.add_subplot(1, 2, 1, projection="3d", computed_zorder=False)
space.view_init(elev=14, azim=-60)
tf.plot(delta, x[[0, -1]], axes=space)
space.plot(*position.T, color="#c2261b", linewidth=2)
space.set_title("Delta: pick, carry, place", loc="left")
curves = figure.add_subplot(1, 2, 2)
for k in range(3):
    (line,) = curves.plot(t, loaded[:, k], label=f"motor {k + 1}")
    curves.plot(t, empty[:, k], color=line.get_color(), linestyle=":", label="empty" if k == 2 else None)
curves.set(xlabel="time (s)", ylabel="torque (N m)")
curves.legend(frameon=False)
curves.grid(alpha=0.3)
plt.show()
