"""
The best designs of a hexapod
=============================

How large should a motion simulator be? A wide base moves the platform with even ease in all directions. A small one
saves room. Which designs are surpassed by no other one, and what do they look like?
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

try:
    import pymoo  # noqa: F401
except ImportError:
    raise SystemExit("This example needs pymoo: pip install '.[design]' in the checkout") from None

rig = tf.load("motion-rig")
states = tf.designs.states_around(rig, 20, distance=0.05, angle=np.deg2rad(5))
bounds = {
    "base_radius": (0.5, 1.2),
    "base_angle": (0.1, 0.9),
    "platform_radius": (0.3, 0.8),
    "platform_angle": (0.1, 0.9),
    "z": (0.8, 1.2),  # the height of home
}
objectives = ("condition", "base_radius", "force")
front = tf.designs.pareto(rig, bounds, objectives, states=states, evaluations=4000, seed=1)

# %%
# The catalogue's machine is not among them: designs that are no larger are better in both other objectives.

own = tf.designs.evaluate(rig, {"z": states.home[2]}, ["condition", "force"], states=states)
own_radius = rig.designs.parameters[0].value
same = front.objectives[:, 1] <= own_radius
better = same & (front.objectives[:, 0] < own["condition"]) & (front.objectives[:, 2] < own["force"])
assert better.any()
print(f"{len(front)} designs of {front.evaluations} are surpassed by no other")
print(f"{better.sum()} of them are better than the machine of the catalogue in every objective")

# %%
# What a front says of a design is what the changed robot has.

last = len(front) - 1
poses = states.home + states.offsets
poses[:, 2] += front.design(last)["z"] - states.home[2]
assert np.isclose(front.robot(last).condition_number(poses).max(), front.judged(last)["condition"], rtol=1e-12)

figure = plt.figure(figsize=(10, 4.4), layout="constrained")
grid = figure.add_gridspec(1, 3, width_ratios=(2.2, 1, 1))
plane = figure.add_subplot(grid[0])
plane.plot(front.tried[:, 1], front.tried[:, 0], ".", color="0.8", markersize=3, zorder=1, label="tried")
condition, radius, force = front.objectives.T
dots = plane.scatter(radius, condition, c=force, s=10, zorder=2, label="Pareto front")
plane.plot(own_radius, own["condition"], "r*", markersize=12, zorder=3, label="catalogue")
plane.set_ylim(0.9 * condition.min(), 1.1 * max(condition.max(), own["condition"]))
plane.set_xlabel("base radius (m)")
plane.set_ylabel("largest condition number")
plane.grid(alpha=0.3)
plane.legend(frameon=False)
figure.colorbar(dots, ax=plane, label="largest force at rest (N)")
for k, (i, title) in enumerate(((0, "most even"), (int(radius.argmin()), "smallest"))):
    robot, z = front.robot(i), front.design(i)["z"]
    axes = figure.add_subplot(grid[k + 1])
    base, top = np.array(robot.base_points), np.array(robot.platform_points)
    for b, p in zip(base, top, strict=True):
        axes.plot([b[0], p[0]], [b[1], p[1]], color="0.6", linewidth=1)
    axes.plot(*np.vstack([base, base[:1]])[:, :2].T, "o-", markersize=4, label="base")
    axes.plot(*np.vstack([top, top[:1]])[:, :2].T, "o-", markersize=4, label="platform")
    axes.set_title(f"{title}: {z:.2f} m high", fontsize="medium")
    axes.set_aspect("equal")
    axes.set_xlim(-1.3, 1.3)
    axes.set_ylim(-1.3, 1.3)
    axes.set_xlabel("x (m)")
    axes.grid(alpha=0.3)
axes.legend(frameon=False, loc="lower center", ncols=2, fontsize="small")
plt.show()
