"""
Sizing the actuators of a hexapod
=================================

A seat swings. How strong, how fast and how long must the legs be, and how near does the motion come to the limits of
the machine? Every state is a point in the plane of speed and force, from which drives are chosen.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf
from tauforge.analysis import size_actuators

rig = tf.load("motion-rig")
swing = tf.motion.PoseMotion(
    tf.motion.Sine(
        centre=[0, 0, 1.0, 0, 0, 0],
        amplitude=[0.08, 0.05, 0.06, 0.08, 0.10, 0.05],  # m and rad
        frequency=[0.5, 0.5, 1.0, 0.5, 1.0, 0.5],  # Hz
        duration=2.0,
        phase=[0, 1.2, 0.5, 2.0, 0, 0],
    )
)
t = np.linspace(0, 2, 1001)
pose, twist, acceleration = swing.sample(t)
found = size_actuators(rig, t, pose, twist, acceleration)

force, leg, when = found.peak_force.worst
speed, fast_leg, _ = found.peak_speed.worst
print(
    f"peak force {force:.0f} N in leg {leg} at {when:.2f} s; peak speed {speed:.2f} m/s in leg {fast_leg}; "
    f"stroke used {found.stroke_used.max():.3f} m"
)
for margin in found.margins:
    print(f"{margin.limit}: {margin.value:.3g} {margin.unit} to spare")
assert found.within_limits

# %%
# Over a whole period, friction takes the energy that the actuators give.

legs = rig.leg_motion(pose, twist)
power = (found.forces * legs.rates).sum(axis=1)
W, relative = legs.angular_velocities, legs.angular_velocities - twist[:, None, 3:]
c_u, c_p, c_s = rig.friction
lost = c_u * (W**2).sum(axis=(1, 2)) + c_p * (legs.rates**2).sum(axis=1) + c_s * (relative**2).sum(axis=(1, 2))
assert np.isclose(np.trapezoid(power, t), np.trapezoid(lost, t), rtol=1e-4)
print(f"friction takes {np.trapezoid(lost, t):.1f} J in two seconds")

figure, (plane, stroke) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", width_ratios=(3, 2))
for i in range(6):
    plane.plot(legs.rates[:, i], found.forces[:, i], label=f"leg {i + 1}", linewidth=1.4)
v = np.linspace(0.05, 0.8, 200)
most = np.abs(found.peak_power.value).max()
for sign in (-1, 1):
    plane.plot(sign * v, most / v, "--", color="0.5", linewidth=1, label=f"{most:.0f} W" if sign > 0 else None)
    plane.plot(sign * v, -most / v, "--", color="0.5", linewidth=1)
plane.set_ylim(-300, 1600)
plane.set_xlim(-0.75, 0.75)
plane.set_xlabel("leg speed (m/s)")
plane.set_ylabel("actuator force (N)")
plane.grid(alpha=0.3)
plane.legend(frameon=False, ncols=4, fontsize="small")
lower, upper = rig.stroke[0]
names = [f"leg {i}" for i in range(1, 7)]
stroke.bar(names, found.longest - found.shortest, bottom=found.shortest)
stroke.axhline(lower, color="tab:red", linewidth=1)
stroke.axhline(upper, color="tab:red", linewidth=1)
stroke.set_ylim(lower - 0.05, upper + 0.05)
stroke.set_ylabel("leg length used, limits in red (m)")
stroke.grid(alpha=0.3, axis="y")
plt.show()
