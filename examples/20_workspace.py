"""
Where can the motion rig go, and what stops it?
===============================================

The first question of everyone who buys a hexapod. The answer names the leg, and says what a heavy load takes away.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

rig = tf.load("motion-rig")
home = [0, 0, 1.05, 0, 0, 0]
reach = tf.workspace.reach(rig, home)
print(reach)

# %%
# A position beyond the limits is explained: which leg, too long or too short, and by how much.

found = tf.workspace.explain(rig, [0.3, 0.1, 1.2, 0, 0.1, 0])
for finding in found.exceeded:
    print(f"{finding.name}: {finding.value:.3f} m, {-finding.margin * 1000:.0f} mm beyond its end")
assert not found.holds

# %%
# The workspace at one orientation, seen along rays and counted in cells: both agree. With 900 kg on the platform the
# actuators are too weak at its rim.

surface = tf.workspace.surface(rig, home)
volume = tf.workspace.volume(rig, home=home)
assert np.isclose(surface.volume, volume.volume, rtol=0.01)
heavy = tf.Payload(900.0)
lost = tf.workspace.compare(rig, {"empty": {}, "900 kg": {"payload": heavy}}, home=home)
print(f"{volume.volume:.3f} m^3; 900 kg take away {100 * lost.taken('900 kg'):.0f} %")

# `polar(...).plot()` draws one such plane; here both share their colours and their scale.
planes = [tf.workspace.polar(rig, ("x", "z"), home, payload=load) for load in (None, heavy)]
names = sorted({name for plane in planes for name in plane.limits})
colour = dict(zip(names, plt.colormaps["tab20"].colors, strict=False))
figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", subplot_kw={"projection": "polar"})
for axes, plane, title in zip(panels, planes, ("empty", "with 900 kg"), strict=True):
    axes.bar(plane.angle, plane.distance, 2 * np.pi / len(plane.angle), color=[colour[n] for n in plane.limits])
    axes.set_title(f"{title}: m along x and z", loc="left")
    axes.set_rmax(0.7)
    axes.set_xticks(np.arange(4) * np.pi / 2, ["+x", "+z", "-x", "-z"])
handles = [plt.Rectangle((0, 0), 1, 1, color=colour[name]) for name in names]
figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
plt.show()
