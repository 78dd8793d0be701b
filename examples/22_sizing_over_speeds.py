"""
How fast with how much
======================

A hexapod makes a motion at its planned speed. How much faster may it be, and with which payload? The study "sizing"
computes all combinations into a store, and goes on there if it is interrupted.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

try:
    import xarray
except ImportError:
    raise SystemExit("This example needs xarray: pip install '.[sweeps]' in the checkout") from None

rig = tf.load("motion-rig")
speeds, payloads = np.linspace(0.5, 4.0, 50), np.linspace(0.0, 400.0, 30)
axes = [tf.sweeps.Axis("speed", speeds), tf.sweeps.Axis("payload", payloads, "kg")]
start, end = dict(zip("xyz", (-0.1, 0.0, 1.0), strict=True)), "0.1,0.05,1.1,0.05,0.1,0"
study = tf.sweeps.ready_study("sizing", rig, axes, at=start, options={"end": end, "duration": "0.8s"})

with tempfile.TemporaryDirectory() as folder:
    store = Path(folder) / "sizing.zarr"
    outcome = tf.sweeps.run(study, store)
    found = tf.sweeps.open_dataset(store).load()
assert isinstance(found, xarray.Dataset)
print(f"{outcome.points:,} combinations")

# %%
# The quickest motion with each payload is where the first leg reaches its force limit.

holds = found.limits == 0
quickest = [float(speeds[column.values].max()) for column in holds.transpose()]
print(f"empty: {quickest[0]:.2f} times the planned speed; with {payloads[-1]:.0f} kg: {quickest[-1]:.2f} times")
assert (np.diff(quickest) <= 0).all()

# %%
# Any combination can be computed again by itself: here the fastest, with the largest payload.

move = tf.motion.PoseMotion(tf.motion.JointMove([-0.1, 0, 1, 0, 0, 0], [float(x) for x in end.split(",")], 0.8))
pose, twist, acceleration = move.sample(np.linspace(0.0, 0.8, 201))
forces = rig.inverse_dynamics(pose, 4.0 * twist, 16.0 * acceleration, payload=tf.Payload(400.0))
assert np.allclose(np.abs(forces).max(axis=0), found.peak_force[-1, -1])

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
filled = left.contourf(speeds, payloads, 100 * found.force_share.values.T, levels=20, cmap="viridis")
left.step(quickest, payloads, color="white", linewidth=2)
left.annotate("the force limit", (quickest[15], payloads[15]), (12, 0), textcoords="offset points", color="white")
figure.colorbar(filled, ax=left, label="largest share of the force limit (%)")
left.set_xlabel("speed, of the planned one (-)")
left.set_ylabel("payload (kg)")
for k, name in enumerate(found.attrs["actuator"]):
    right.plot(speeds, found.rms_force[:, 15, k], label=name)
right.set_xlabel("speed, of the planned one (-)")
right.set_ylabel(f"root mean square force with {payloads[15]:.0f} kg (N)")
right.legend(frameon=False, ncols=2)
right.grid(alpha=0.3)
plt.show()
