"""
A free arm, and the energy it keeps
===================================

Two rods fall from the horizontal without motors: a double pendulum. Nothing takes energy, so any change of it is the
integrator's error. Two starts a millionth of a radian apart show how long the motion can be predicted.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

arm = tf.load("planar-2r")
start = (np.zeros(2), np.zeros(2))
runs = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", tf.EnergyDriftWarning)  # the drift is measured below
    for name, method, step in (
        ("rk4, 10 ms", "rk4", 0.01),
        ("symplectic, 10 ms", "symplectic", 0.01),
        ("rk4, 1 ms", "rk4", 0.001),
        ("dormand-prince", "dormand-prince", 0.01),
    ):
        runs[name] = tf.simulate(arm, initial=start, duration=5.0, step=step, method=method)

drifts = {}
for name, run in runs.items():
    kinetic, potential = arm.energy(run.position, run.velocity)
    energy = kinetic + potential
    drifts[name] = np.abs(energy - energy[0]) / kinetic.max()
    print(f"{name}: energy off by at most {drifts[name].max():.1e} of the largest kinetic energy")
assert drifts["dormand-prince"].max() < 1e-9 < drifts["rk4, 1 ms"].max() < drifts["rk4, 10 ms"].max()

# %%
# The same fall starts a millionth of a radian higher.

nudged = tf.simulate(arm, initial=([1e-6, 0.0], [0.0, 0.0]), duration=5.0, step=0.01, method="dormand-prince")
exact = runs["dormand-prince"]
apart = np.abs(nudged.position - exact.position).max(axis=1)
assert apart[-1] > 20 * apart[0]
print(f"1e-6 rad at the start are {apart[-1]:.1e} rad after 5 s")

figure, axes = plt.subplot_mosaic([["path", "energy"], ["path", "apart"]], figsize=(10, 5), layout="constrained")
tips = arm.forward_kinematics(exact.position)[:, :2, 3]
elbows = arm.link_frames(exact.position)[:, 1, :2, 3]
axes["path"].plot(*elbows.T, color="0.75", label="elbow")
axes["path"].plot(*tips.T, linewidth=1, label="tip")
axes["path"].set_aspect("equal")
axes["path"].set_xlabel("x (m)")
axes["path"].set_ylabel("y (m)")
axes["path"].legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
for name, drift in drifts.items():
    axes["energy"].semilogy(runs[name].time[1:], np.maximum(drift[1:], 1e-17), label=name, linewidth=1.2)
axes["energy"].set_ylabel("energy error (-)")
axes["energy"].legend(frameon=False, fontsize="small", ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
axes["apart"].semilogy(exact.time, np.maximum(apart, 1e-9), color="tab:red")
axes["apart"].set_ylabel("two starts apart (rad)")
axes["apart"].set_xlabel("time (s)")
for name in ("energy", "apart"):
    axes[name].grid(alpha=0.3)
plt.show()
